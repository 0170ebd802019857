// SPDX-License-Identifier: MIT
// The verbs `plot` and `compare`: from records to pictures.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/io/command_line.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"
#include "common/report/compare.hpp"
#include "common/report/pictures/output.hpp"
#include "common/report/pictures/pages.hpp"
#include "common/report/pictures/picking.hpp"
#include "common/report/pictures/pictures.hpp"
#include "common/report/pictures/timeline.hpp"
#include "common/report/records.hpp"
#include "common/report/sources.hpp"

namespace {

using namespace report;
using io::say;

enum ExitCode { kGood = 0, kWrong = 1, kUsage = 2 };

struct Words {  // as typed
    std::vector<std::string> stages;
    std::vector<std::string> from;
    std::vector<std::string> formats = {"png"};
    std::string out = std::string(kResults) + "/pictures";
    std::vector<std::string> only;  // pictures
    std::string shown_in;           // a repository: what its pages show
    Choice choice;
    bool terminal = false;
    bool check = false;      // compare with what is in `out` instead of writing
    bool after_run = false;  // say little, and that on standard error
};

void append(std::vector<Figure>& to, const std::vector<Figure>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<Figure> figures_of(const Sources& sources, const Choice& choice) {
    std::vector<Figure> figures = staircases(sources.drawn, choice);
    const bool usual = choice.y.empty() && (choice.x.empty() || choice.x == "cols") &&
                       choice.op.empty() && choice.dtype.empty();
    for (const std::string& stage : choice.stages) {
        append(figures, stage_pictures(sources.drawn, stage, choice));
        if (!usual) continue;
        append(figures, traffic(sources.counted, stage, sources.counters, choice.known));
        append(figures, rooflines(sources.drawn, stage, choice));
        append(figures, timelines(sources.drawn, stage, choice.known));
        append(figures, kernels(stage, sources.counters, choice.known));
    }
    return figures;
}

// One line a folder; after a run on standard error, for what a run says itself is on standard output.
void say_what_was_written(const Written& written, const Words& words, const std::string& partial) {
    std::FILE* to = words.after_run ? stderr : stdout;
    const std::string in = " in " + io::printable(words.out);
    const std::string of = partial.empty() ? "" : ", of " + partial;
    if (!written.pictures.empty())
        say(to, std::to_string(written.pictures.size()) + " pictures" + in + of);
    if (!written.scripts.empty()) {
        say(to, std::to_string(written.scripts.size()) +
                    " gnuplot scripts (.gp) with their numbers (.csv), not drawn," + in + of +
                    ": " + written.obstacle);
    }
    for (const std::string& failure : written.failures) say(stderr, "WRONG: " + failure);
    if (words.after_run) return;
    for (const std::string& picture : written.pictures)
        std::printf("  %s\n", io::printable(picture).c_str());
    for (const std::string& script : written.scripts)
        std::printf("  %s\n", io::printable(script).c_str());
}

// What of the stages' runs is of partial ones.
std::string partial_in(const Sources& sources, const std::vector<std::string>& stages) {
    std::vector<const RecordFile*> files;
    for (const RecordFolder& folder : sources.drawn) {
        for (const RecordFile& file : folder.files) {
            if (file.run() && std::find(stages.begin(), stages.end(), file.stage()) != stages.end())
                files.push_back(&file);
        }
    }
    return partial_words(files);
}

void show_in_terminal(const std::vector<Figure>& figures, bool chosen_by_name) {
    const std::vector<Figure> shown = chosen_by_name ? figures : first_of_each_stage(figures);
    draw_in_terminal(shown);
    std::vector<std::string> others = kinds_of(figures);
    for (const std::string& kind : kinds_of(shown)) std::erase(others, kind);
    if (!chosen_by_name && !others.empty()) {
        std::printf("\n");
        say(stdout, "more pictures, by --only: " + in_a_row(others));
    }
}

// Draws or compares those pictures of one folder that pages show.
int plot_shown(const std::vector<Figure>& all, const Words& words,
               const std::set<std::string>& shown) {
    std::vector<Figure> figures;
    std::set<std::string> missing = shown;
    for (const Figure& figure : all) {
        if (shown.count(figure.name) == 0) continue;
        figures.push_back(figure);
        missing.erase(figure.name);
    }
    for (const std::string& name : missing)
        say(stderr, "WRONG: a page shows " + io::printable(words.out + "/" + name) +
                        ".svg, which no records make");
    bool good = missing.empty();
    if (words.check) {
        for (const std::string& path : stale_shown_pictures(figures, words.out)) {
            say(stdout, "stale: " + io::printable(path));
            good = false;
        }
        return good ? kGood : kWrong;
    }
    const Written written = write_shown_pictures(figures, words.out);
    say_what_was_written(written, words, "");
    return good && written.failures.empty() ? kGood : kWrong;
}

int plot_all_shown(const std::vector<Figure>& all, Words words) {
    int status = kGood;
    for (const auto& [folder, shown] :
         shown_pictures(words.shown_in, std::filesystem::path(words.from.front()).filename())) {
        words.out = folder;
        status = std::max(status, plot_shown(all, words, shown));
    }
    return status;
}

int plot_verb(Words words) {
    if (!words.shown_in.empty() && words.from.empty()) words.from = {records::kShown};
    const Sources sources = sources_for(words.from, words.stages, words.after_run);
    std::vector<RecordFolder> all = sources.drawn;
    if (words.after_run) all.insert(all.end(), sources.counted.begin(), sources.counted.end());
    words.choice.stages = chosen_stages(words.stages, stages_in(all));
    words.choice.known = known_stages(all);
    std::vector<Figure> figures = figures_of(sources, words.choice);
    if (figures.empty()) nothing_matches(sources.drawn, words.choice);
    make_names_different(figures);
    if (!words.shown_in.empty()) return plot_all_shown(figures, words);
    figures = only(words.only, figures);
    if (words.terminal) {
        show_in_terminal(figures, !words.only.empty());
        return kGood;
    }
    if (words.check) {
        const std::vector<std::string> stale =
            stale_pictures(figures, words.out, words.formats, words.only.empty());
        for (const std::string& path : stale) say(stdout, "stale: " + io::printable(path));
        return stale.empty() ? kGood : kWrong;
    }
    const Written written = write_pictures(figures, words.out, words.formats);
    say_what_was_written(written, words, partial_in(sources, words.choice.stages));
    return written.failures.empty() ? kGood : kWrong;
}

int compare_verb(const std::string& a, const std::string& b, const Words& words,
                 bool only_changes) {
    RecordFolder folder_a = read_folder(a);
    RecordFolder folder_b = read_folder(b);
    keep_comparable_runs(folder_a, folder_b);
    const Comparison comparison = compare(folder_a, folder_b);
    print(comparison, folder_a, folder_b, only_changes);
    const std::vector<Figure> figures =
        pictures_of(comparison, folder_a, folder_b, known_stages({folder_a, folder_b}));
    if (!figures.empty()) {
        std::printf("\n");
        const Written written = write_pictures(figures, words.out, words.formats);
        say_what_was_written(written, words, "");
        if (!written.failures.empty()) return kWrong;
    }
    return kGood;
}

void add_output_flags(CLI::App& verb, Words& words) {
    verb.add_option("--format", words.formats,
                    "png (default), svg, pdf or several of them: png,svg")
        ->delimiter(',')
        ->check(CLI::IsMember({"png", "svg", "pdf"}));
    verb.add_option("--out", words.out, "folder for the pictures (default: results/pictures)");
}

int parse_and_run(int argc, char** argv) {
    CLI::App app("Pictures of records, and two folders of records side by side.");
    app.name("./stages");
    app.require_subcommand(1);

    Words words;
    CLI::App* plot = app.add_subcommand("plot", "draw records");
    plot->add_option("stage,--stage", words.stages, "stages: 03, online or several: 03,05")
        ->delimiter(',');
    plot->add_option(
            "--from", words.from,
            "folder of records, or a GPU whose records are committed, such as nvidia_h200; "
            "may be repeated. Default: results where a GPU was timed there, else what is "
            "recorded")
        ->allow_extra_args(false);
    plot->add_option("--dtype", words.choice.dtype, "only this element type, such as float32");
    plot->add_option("--op", words.choice.op,
                     "this operation, as the records call it, instead of each stage's first");
    plot->add_option(
        "--x", words.choice.x,
        "cols, rows, k, ... or size: all sizes together; default: the one that varies");
    plot->add_option("--y", words.choice.y,
                     "gbps, us, speedup or tflops; default: tflops where recorded, else gbps")
        ->check(CLI::IsMember({"gbps", "us", "speedup", "tflops"}));
    plot->add_option("--title", words.choice.title, "instead of the usual title");
    plot->add_option("--only", words.only,
                     "only these pictures: variants, times, further, peers, peers_times, floor, "
                     "operations, roofline, timeline, kernels, widths, traffic, staircase; or one "
                     "by its name, such as 03_online_softmax_variants")
        ->delimiter(',');
    add_output_flags(*plot, words);
    plot->add_option(
        "--shown-in", words.shown_in,
        "instead of all pictures those that the READMEs of this repository show, where they "
        "show them from, as SVG without scripts and numbers");
    plot->add_flag(
        "--terminal", words.terminal,
        "draw here, with letters; write no file. Each stage's variants, or what --only names");
    plot->add_flag("--check", words.check,
                   "write nothing; exit 1 if what is there is not what would be written");
    plot->add_flag("--after-run", words.after_run)->group("");  // for the front door

    std::string a, b;
    bool only_changes = false;
    CLI::App* compare = app.add_subcommand("compare", "two folders of records, time by time");
    compare->add_option("A", a, "folder of records")->required();
    compare->add_option("B", b, "another")->required();
    compare->add_flag("--changes", only_changes, "list only what differs by more than the noise");
    add_output_flags(*compare, words);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return io::explained(app, error);
    }
    return plot->parsed() ? plot_verb(words) : compare_verb(a, b, words, only_changes);
}

}  // namespace

int main(int argc, char** argv) {
    const auto fails = [](const std::exception& error, int status) {
        io::say(stderr, std::string("stages: ") + error.what());
        return status;
    };
    try {
        return io::finish_output(parse_and_run(argc, argv));
    } catch (const InputError& error) {
        return fails(error, kUsage);
    } catch (const io::FileError& error) {
        return fails(error, kUsage);
    } catch (const std::exception& error) {
        return fails(error, kWrong);
    }
}
