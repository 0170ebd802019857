// SPDX-License-Identifier: MIT
// The verbs `plot` and `compare`: from records to pictures.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "common/plot/compare.hpp"
#include "common/plot/pictures.hpp"
#include "common/plot/records.hpp"
#include "common/plot/render.hpp"
#include "common/plot/script.hpp"
#include "common/plot/select.hpp"

namespace {

using namespace plot;

enum ExitCode { kGood = 0, kWrong = 1, kUsage = 2 };

const std::filesystem::path kRecorded =
    std::filesystem::path(STAGES_SOURCE_DIRECTORY) / "common/recorded/nvidia_h200";
constexpr const char* kResults = "results";

struct PlotWords {  // as typed
    std::vector<std::string> stages;
    std::vector<std::string> from;
    std::vector<std::string> formats = {"png"};
    std::string out;
    Wish wish;
    bool terminal = false;
    bool check = false;      // compare with what is in `out` instead of writing
    bool after_run = false;  // say little; without GPU times, show the recorded ones beside the counts
};

// ------------------------------------------------------------------- what to show

bool means(const std::string& stage, const std::string& word) {
    const std::string name = stage.substr(3);
    return word == stage || word == name || word == stage.substr(0, 2) ||
           (stage[0] == '0' && word == stage.substr(1, 1)) || word == name.substr(0, name.find('_'));
}

std::vector<std::string> chosen_stages(const std::vector<std::string>& words,
                                       const std::vector<std::string>& all) {
    std::vector<std::string> chosen;
    for (const std::string& word : words) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const std::string& stage) {
            return means(stage, word);
        });
        if (found == all.end()) {
            std::string known;
            for (const std::string& stage : all) known += " " + stage;
            throw InputError("no records of a stage '" + word + "'; there are records of:" + known);
        }
        chosen.push_back(*found);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen.empty() ? all : chosen;
}

std::vector<RecordFolder> read_folders(const std::vector<std::string>& paths) {
    std::vector<RecordFolder> folders;
    for (const std::string& path : paths) folders.push_back(read_folder(path));
    return folders;
}

bool any_timed(const std::vector<RecordFolder>& folders) {
    return std::any_of(folders.begin(), folders.end(),
                       [](const RecordFolder& folder) { return folder.timed(); });
}

// A folder's own counters, or those committed: what DRAM saw, no CPU can count.
std::vector<HardwareCount> counters_for(const std::vector<RecordFolder>& folders) {
    for (const RecordFolder& folder : folders) {
        if (!folder.counters.empty()) return folder.counters;
    }
    return read_folder(kRecorded).counters;
}

void append(std::vector<Figure>& to, std::vector<Figure> more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Figure> figures_for(const std::vector<RecordFolder>& folders, const Wish& wish,
                                bool all_kinds) {
    std::vector<Figure> figures = staircases(folders, wish);
    for (const std::string& stage : wish.stages) {
        append(figures, variants(folders, stage, wish));
        append(figures, peers(folders, stage, wish));
        if (!all_kinds) continue;
        append(figures, times(folders, stage, wish));
        append(figures, traffic(folders, stage, counters_for(folders)));
    }
    // A line without points is a wish that these records do not answer.
    std::erase_if(figures, [](const Figure& figure) { return figure.lines.empty() && !figure.bars; });
    return figures;
}

// After a run on the CPU device: what was counted here, and what a GPU has reached.
std::vector<Figure> figures_without_times(const RecordFolder& results, Wish wish) {
    std::vector<Figure> figures;
    const std::vector<RecordFolder> recorded = {read_folder(kRecorded)};
    for (const std::string& stage : wish.stages)
        append(figures, traffic({results}, stage, recorded.front().counters));
    wish.stages.clear();
    append(figures, staircases(recorded, wish));
    return figures;
}

[[noreturn]] void nothing_matches(const std::vector<RecordFolder>& folders, const Wish& wish) {
    std::set<std::string> dtypes, ops, figures;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                dtypes.insert(record.dtype);
                ops.insert(record.op);
                for (const char* y : {"gbps", "speedup", "tflops"}) {
                    if (record.figure(y)) figures.insert(y);
                }
                if (record.timed()) figures.insert("us");
            }
        }
    }
    const auto list = [](const std::set<std::string>& all) {
        std::string text;
        for (const std::string& each : all) text += " " + each;
        return text.empty() ? std::string(" none") : text;
    };
    std::string where;
    for (const RecordFolder& folder : folders) where += " " + folder.path.string();
    throw InputError("no record in" + where + " matches: --dtype there:" + list(dtypes) +
                     "; --op there:" + list(ops) + "; --y there:" + list(figures) + "; --x was " +
                     wish.x);
}

// ------------------------------------------------------------------- where it goes

void draw_in_terminal(const std::vector<Figure>& figures) {
    const std::string obstacle = drawing_obstacle();
    if (!obstacle.empty()) {
        std::printf("%s\n", obstacle.c_str());
        for (const Figure& figure : figures)
            std::printf("\n%s\n%s", figure.title.c_str(), csv_of(figure).c_str());
        return;
    }
    winsize window{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    const int width = known ? std::clamp<int>(window.ws_col, 60, 160) : 80;
    for (const Figure& figure : figures) run_gnuplot(".", terminal_script_of(figure, width, 30));
}

void report(const Written& written, bool brief) {
    if (brief) {
        const std::vector<std::string>& files =
            written.pictures.empty() ? written.scripts : written.pictures;
        if (files.empty()) return;
        const std::filesystem::path folder = std::filesystem::path(files.front()).parent_path();
        std::printf("%s in %s:", written.pictures.empty() ? "gnuplot scripts" : "pictures",
                    folder.c_str());
        for (const std::string& file : files)
            std::printf(" %s", std::filesystem::path(file).filename().c_str());
        std::printf("\n");
    } else {
        for (const std::string& picture : written.pictures)
            std::printf("picture: %s\n", picture.c_str());
        for (const std::string& script : written.scripts)
            std::printf("script, not drawn: %s (and .csv)\n", script.c_str());
    }
    if (!written.obstacle.empty()) std::printf("%s\n", written.obstacle.c_str());
}

int plot_verb(PlotWords words) {
    std::vector<RecordFolder> folders;
    if (!words.from.empty()) {
        folders = read_folders(words.from);
    } else {
        if (is_record_folder(kResults)) folders.push_back(read_folder(kResults));
        if (!any_timed(folders)) {
            std::printf("no GPU times in %s/: showing those recorded on NVIDIA H200\n", kResults);
            folders.insert(folders.begin(), read_folder(kRecorded));
        }
    }
    Wish& wish = words.wish;
    wish.stages = chosen_stages(words.stages, stages_in(folders));
    const bool counts_only = words.after_run && !any_timed(folders);
    const bool all_kinds = wish.y.empty() && wish.x == "cols";
    std::vector<Figure> figures = counts_only ? figures_without_times(folders.front(), wish)
                                              : figures_for(folders, wish, all_kinds);
    if (figures.empty()) nothing_matches(folders, wish);
    if (!wish.title.empty()) {
        for (Figure& figure : figures) figure.title = wish.title;
    }
    if (words.terminal) {
        draw_in_terminal(figures);
        return kGood;
    }
    const std::string out = words.out.empty() ? std::string(kResults) + "/pictures" : words.out;
    if (words.check) {
        const std::vector<std::string> stale = stale_pictures(figures, out, words.formats);
        for (const std::string& path : stale) std::printf("stale: %s\n", path.c_str());
        return stale.empty() ? kGood : kWrong;
    }
    report(write_pictures(figures, out, words.formats), words.after_run);
    return kGood;
}

int compare_verb(const std::string& a, const std::string& b, const std::string& out,
                 const std::vector<std::string>& formats, bool only_changes) {
    const RecordFolder folder_a = read_folder(a);
    const RecordFolder folder_b = read_folder(b);
    const Comparison comparison = compare(folder_a, folder_b);
    if (comparison.timed.empty() && comparison.counted == 0 && comparison.counts_only_in_a == 0 &&
        comparison.counts_only_in_b == 0)
        throw InputError(a + " and " + b + ": neither times nor counts in them");
    print(comparison, folder_a, folder_b, only_changes);
    const std::vector<Figure> figures = pictures_of(comparison, folder_a, folder_b);
    if (!figures.empty()) {
        std::printf("\n");
        report(write_pictures(figures, out, formats), true);
    }
    return kGood;
}

// ------------------------------------------------------------------- the command line

void add_formats(CLI::App& verb, std::vector<std::string>& formats) {
    verb.add_option("--format", formats, "png, svg, pdf or several of them: png,svg")
        ->delimiter(',')
        ->check(CLI::IsMember({"png", "svg", "pdf"}));
}

int parse_and_run(int argc, char** argv) {
    CLI::App app("Pictures of records, and two folders of records side by side.");
    app.name("./stages");
    app.require_subcommand(1);

    PlotWords words;
    CLI::App* plot = app.add_subcommand("plot", "draw records");
    plot->add_option("stage,--stage", words.stages, "stages: 03, online or several: 03,05")
        ->delimiter(',');
    plot->add_option("--from", words.from,
                     "folder of records; may be repeated. Default: results where a GPU was timed "
                     "there, else what is recorded of an NVIDIA H200");
    plot->add_option("--dtype", words.wish.dtype, "only this element type, such as float32");
    plot->add_option("--op", words.wish.op,
                     "only this operation, such as log_softmax; default: the stage's first");
    plot->add_option("--x", words.wish.x, "cols, rows, k or size (default: cols)")
        ->check(CLI::IsMember({"cols", "rows", "k", "size"}));
    plot->add_option("--y", words.wish.y,
                     "gbps, us, speedup or tflops; default: tflops where recorded, else gbps")
        ->check(CLI::IsMember({"gbps", "us", "speedup", "tflops"}));
    plot->add_option("--title", words.wish.title, "instead of the usual title");
    add_formats(*plot, words.formats);
    plot->add_flag("--terminal", words.terminal, "draw here, with letters; write no file");
    plot->add_option("--out", words.out, "folder for the pictures (default: results/pictures)");
    plot->add_flag("--check", words.check,
                   "write nothing; exit 1 if what is in --out is not what would be written");
    plot->add_flag("--after-run", words.after_run)->group("");  // for the front door

    std::string a, b;
    std::string out = std::string(kResults) + "/pictures";
    std::vector<std::string> formats = {"png"};
    bool only_changes = false;
    CLI::App* compare = app.add_subcommand("compare", "two folders of records, time by time");
    compare->add_option("A", a, "folder of records")->required();
    compare->add_option("B", b, "another")->required();
    compare->add_flag("--changes", only_changes, "only what differs by more than the noise");
    compare->add_option("--out", out, "folder for the pictures (default: results/pictures)");
    add_formats(*compare, formats);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kGood : kUsage;
    }
    return plot->parsed() ? plot_verb(words) : compare_verb(a, b, out, formats, only_changes);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return parse_and_run(argc, argv);
    } catch (const InputError& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return kUsage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return kWrong;
    }
}
