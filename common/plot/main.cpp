// SPDX-License-Identifier: MIT
// The verbs `plot` and `compare`: from records to pictures.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>

#include <CLI/CLI.hpp>

#include "common/io/command_line.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"
#include "common/plot/compare.hpp"
#include "common/plot/output.hpp"
#include "common/plot/pictures.hpp"
#include "common/plot/records.hpp"

namespace {

using namespace plot;
using io::say;

enum ExitCode { kGood = 0, kWrong = 1, kUsage = 2 };

const std::filesystem::path kRecorded =
    std::filesystem::path(STAGES_SOURCE_DIRECTORY) / "common/recorded";
constexpr const char* kResults = "results";

struct Words {  // as typed
    std::vector<std::string> stages;
    std::vector<std::string> from;
    std::vector<std::string> formats = {"png"};
    std::string out = std::string(kResults) + "/pictures";
    std::vector<std::string> only;  // pictures
    Choice choice;
    bool terminal = false;
    bool check = false;      // compare with what is in `out` instead of writing
    bool after_run = false;  // say little, and that on standard error
};

// No line is longer than a page is wide.
// ------------------------------------------------------------------- what to show

bool means(const std::string& stage, const std::string& word) {
    const std::string number = word.size() == 1 ? "0" + word : word;
    const std::string name = stage.substr(stage.find('_') + 1);
    return !word.empty() && (stage.starts_with(number) || name.starts_with(word));
}

// The stages that words mean, in the course's order; all where there are no words.
std::vector<std::string> chosen_stages(const std::vector<std::string>& words,
                                       const std::vector<std::string>& all) {
    std::set<std::string> chosen;
    for (const std::string& word : words) {
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const std::string& stage) { return means(stage, word); });
        if (found == all.end()) {
            std::string known;
            for (const std::string& stage : all) known += " " + stage;
            throw InputError("no records of a stage '" + io::printable(word) +
                             "'; there are records of:" + known);
        }
        chosen.insert(*found);
    }
    return words.empty() ? all : std::vector<std::string>(chosen.begin(), chosen.end());
}

// Where the records come from: those to draw, and those to take counts from, best first.
struct Sources {
    std::vector<RecordFolder> drawn, counted;
    std::vector<HardwareCount> counters;
};

// Of each stage the newer of its full and its partial run.
RecordFolder newest_in(const std::filesystem::path& path) {
    RecordFolder folder = read_folder(path);
    keep_newer_runs(folder);
    return folder;
}

RecordFolder recorded_gpu() {
    return newest_in(kRecorded / "nvidia_h200");
}

bool timed(const RecordFolder& folder, const std::vector<std::string>& words) {
    return std::any_of(folder.files.begin(), folder.files.end(), [&](const RecordFile& file) {
        return std::any_of(file.records.begin(), file.records.end(), [&](const Record& record) {
            return record.timed() &&
                   (words.empty() || std::any_of(words.begin(), words.end(), [&](const auto& word) {
                        return means(record.stage, word);
                    }));
        });
    });
}

Sources sources_for(const Words& words) {
    Sources sources;
    if (!words.from.empty()) {
        for (const std::string& path : words.from) sources.drawn.push_back(newest_in(path));
    } else if (is_record_folder(kResults)) {
        sources.drawn.push_back(newest_in(kResults));
    }
    sources.counted = sources.drawn;
    const bool any_timed =
        std::any_of(sources.drawn.begin(), sources.drawn.end(),
                    [&](const auto& folder) { return timed(folder, words.stages); });
    // Without times of its own a run is shown what a GPU reached; so is who names no folder.
    if (!any_timed && (words.from.empty() || words.after_run)) {
        if (!words.after_run)
            say(stdout, std::string("no GPU times in ") + kResults +
                            "/: drawing what is recorded of an NVIDIA H200");
        sources.drawn = {recorded_gpu()};
    }
    const std::filesystem::path counts = kRecorded / "cpu_device";
    if (is_record_folder(counts)) sources.counted.push_back(newest_in(counts));
    mark_overflowing(sources.drawn, sources.drawn);
    mark_overflowing(sources.drawn, sources.counted);
    // What DRAM saw no CPU can count: a folder's own counters, or those committed.
    for (const RecordFolder& folder : sources.drawn) {
        if (sources.counters.empty()) sources.counters = folder.counters;
    }
    if (sources.counters.empty()) sources.counters = recorded_gpu().counters;
    return sources;
}

void append(std::vector<Figure>& to, const std::vector<Figure>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<Figure> figures_of(const Sources& sources, const Choice& choice) {
    std::vector<Figure> figures = staircases(sources.drawn, choice);
    const bool usual =
        choice.y.empty() && choice.x == "cols" && choice.op.empty() && choice.dtype.empty();
    for (const std::string& stage : choice.stages) {
        append(figures, stage_pictures(sources.drawn, stage, choice));
        if (usual) append(figures, traffic(sources.counted, stage, sources.counters));
    }
    return figures;
}

// "variants" for 01_naive_softmax_variants.
std::string name_without_stage(const Figure& figure) {
    return figure.stage.empty() ? figure.name : figure.name.substr(figure.stage.size() + 1);
}

std::string in_a_row(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// The kinds of pictures among these, each once.
std::vector<std::string> kinds_of(const std::vector<Figure>& figures) {
    std::vector<std::string> kinds;
    for (const Figure& figure : figures) {
        if (std::find(kinds.begin(), kinds.end(), figure.kind) == kinds.end())
            kinds.push_back(figure.kind);
    }
    return kinds;
}

// Those that --only names: a kind, or one picture as its file is called, with or without the stage.
std::vector<Figure> only(const std::vector<std::string>& names,
                         const std::vector<Figure>& figures) {
    if (names.empty()) return figures;
    std::set<std::string> met;
    std::vector<Figure> chosen;
    for (const Figure& figure : figures) {
        bool wanted = false;
        for (const std::string& name : names) {
            if (name != figure.kind && name != figure.name && name != name_without_stage(figure))
                continue;
            met.insert(name);
            wanted = true;
        }
        if (wanted) chosen.push_back(figure);
    }
    for (const std::string& name : names) {
        if (met.count(name) == 0)
            throw InputError("no picture is called '" + io::printable(name) +
                             "'; there are: " + in_a_row(kinds_of(figures)));
    }
    return chosen;
}

// Of each stage the picture of its variants, else its first: a page or two, not twenty.
std::vector<Figure> first_of_each_stage(const std::vector<Figure>& figures) {
    std::map<std::string, const Figure*> first;
    for (const Figure& figure : figures) {
        const Figure*& at = first[figure.stage];
        const bool better = at != nullptr && figure.kind == "variants" && at->kind != "variants";
        if (at == nullptr || better) at = &figure;
    }
    if (first.size() > 1) first.erase("");  // what is of several stages is none's first
    std::vector<Figure> chosen;
    for (const auto& [stage, figure] : first) chosen.push_back(*figure);
    return chosen;
}

// Two inputs may have the same short name; neither picture may take the other's file.
void make_names_different(std::vector<Figure>& figures) {
    std::set<std::string> taken;
    for (Figure& figure : figures) {
        const std::string name = figure.name;
        for (int i = 2; !taken.insert(figure.name).second; ++i)
            figure.name = name + "_" + std::to_string(i);
    }
}

[[noreturn]] void nothing_matches(const std::vector<RecordFolder>& folders, const Choice& choice) {
    std::set<std::string> dtypes, ops, figures, sizes;
    std::string where;
    for (const RecordFolder& folder : folders) {
        where += " " + io::printable(folder.path.string());
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (!record.timed()) continue;
                dtypes.insert(record.dtype);
                ops.insert(record.op);
                figures.insert("us");
                for (const auto& [name, size] : record.shape) sizes.insert(name);
                for (const char* y : {"gbps", "speedup", "tflops"}) {
                    if (record.figure(y)) figures.insert(y);
                }
            }
        }
    }
    if (figures.empty())
        throw InputError("no GPU times in" + where + "; `./stages run` on a GPU records some");
    const auto list = [](const std::set<std::string>& all) {
        std::string text;
        for (const std::string& each : all) text += " " + each;
        return text;
    };
    throw InputError("no record in" + where + " matches --x " + choice.x +
                     (choice.y.empty() ? "" : " --y " + choice.y) +
                     (choice.dtype.empty() ? "" : " --dtype " + io::printable(choice.dtype)) +
                     (choice.op.empty() ? "" : " --op " + io::printable(choice.op)) +
                     ". There: element types" + list(dtypes) + "; operations" + list(ops) +
                     "; sizes" + list(sizes) + "; figures" + list(figures));
}

// ------------------------------------------------------------------- the verbs

// One line a folder; after a run on standard error, for what a run says itself is on standard output.
void report(const Written& written, const Words& words, const std::string& partial) {
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

int plot_verb(Words words) {
    const Sources sources = sources_for(words);
    std::vector<RecordFolder> all = sources.drawn;
    if (words.after_run) all.insert(all.end(), sources.counted.begin(), sources.counted.end());
    words.choice.stages = chosen_stages(words.stages, stages_in(all));
    std::vector<Figure> figures = figures_of(sources, words.choice);
    if (figures.empty()) nothing_matches(sources.drawn, words.choice);
    make_names_different(figures);
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
    report(write_pictures(figures, words.out, words.formats), words,
           partial_in(sources, words.choice.stages));
    return kGood;
}

int compare_verb(const std::string& a, const std::string& b, const Words& words,
                 bool only_changes) {
    RecordFolder folder_a = read_folder(a);
    RecordFolder folder_b = read_folder(b);
    keep_comparable_runs(folder_a, folder_b);
    const Comparison comparison = compare(folder_a, folder_b);
    print(comparison, folder_a, folder_b, only_changes);
    const std::vector<Figure> figures = pictures_of(comparison, folder_a, folder_b);
    if (!figures.empty()) {
        std::printf("\n");
        report(write_pictures(figures, words.out, words.formats), words, "");
    }
    return kGood;
}

// ------------------------------------------------------------------- the command line

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
    plot->add_option("--from", words.from,
                     "folder of records; may be repeated. Default: results where a GPU was timed "
                     "there, else what is recorded of an NVIDIA H200")
        ->allow_extra_args(false);
    plot->add_option("--dtype", words.choice.dtype, "only this element type, such as float32");
    plot->add_option("--op", words.choice.op,
                     "this operation, such as log_softmax, instead of each stage's first");
    plot->add_option("--x", words.choice.x, "cols (default), rows, k or size")
        ->check(CLI::IsMember({"cols", "rows", "k", "size"}));
    plot->add_option("--y", words.choice.y,
                     "gbps, us, speedup or tflops; default: tflops where recorded, else gbps")
        ->check(CLI::IsMember({"gbps", "us", "speedup", "tflops"}));
    plot->add_option("--title", words.choice.title, "instead of the usual title");
    plot->add_option("--only", words.only,
                     "only these pictures: variants, peers, floor, widths, traffic, staircase")
        ->delimiter(',');
    add_output_flags(*plot, words);
    plot->add_flag(
        "--terminal", words.terminal,
        "draw here, with letters; write no file. Each stage's variants, or what --only names");
    plot->add_flag("--check", words.check,
                   "write nothing; exit 1 if what is in --out is not what would be written");
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
