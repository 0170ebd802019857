// SPDX-License-Identifier: MIT
//
// demo ROOT STAGE [--auto SECONDS] [--from STEP] [--prepare] [--steps] [--device DEVICE]: a stage's lecture at a terminal
// (lecture.hpp), step by step. Enter or n: on; b: back; a number and Enter: to that step, with a g before it while a
// question waits; r: runs the step's command again; e: edits a copy of the stage's header and checks it; ?: lists the
// keys; q: ends. While a command runs, n or Ctrl-C stops it. Where standard input is no terminal it gives a line for
// each key.
//   --auto      needs no keyboard: a step every so many seconds, to the end
//   --prepare   runs once whatever the steps run, so that nothing is compiled later
//   --steps     lists the steps
// Exit status 0; 1 where something that was prepared fails; 2 where words make no sense; 130 after Ctrl-C.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <stdexcept>

#include "common/course/check/in_my.hpp"
#include "common/course/demo/keys.hpp"
#include "common/course/demo/running.hpp"
#include "common/course/demo/screen.hpp"
#include "common/io/command.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;
using course::Keys;
using course::Lecture;
using course::Ran;
using course::Shown;
using course::Step;

struct Options {
    fs::path root;
    std::string stage;
    double seconds = -1;  // of --auto
    size_t from = 1;
    bool prepare = false, steps = false;
    std::string device;
};

// What ./stages prints for these words, both streams; it installs nothing, and compilers quote in ASCII.
Ran run_stages(
    const Options& options, const std::string& words,
    const std::function<bool()>& is_to_stop = [] { return false; }) {
    const std::string command = "cd " + io::quoted(options.root) + " && LC_ALL=C ./stages " +
                                (options.device.empty() ? "" : "--device " + options.device + " ") +
                                "--no-install " + words;
    std::fflush(stdout);
    return course::run_until(command, is_to_stop);
}

using Lines = std::vector<std::string>;

std::string number_of(const Options& options) {
    return options.stage.substr(0, 2);
}

// The stage's header, named from the root, and what it would be in my/.
std::string header_of(const Options& options) {
    return options.stage + "/" + options.stage.substr(3) + ".cuh";
}
std::string header_in_my(const Options& options) {
    std::string text;
    for (const std::string& line : course::lines_in_my(
             io::lines_in(io::text_in(options.root / header_of(options))), header_of(options)))
        text += line + "\n";
    return text;
}

// The copy of the header that a lecture edits, with the same lines; made where it is not there.
std::string copy_of_header(const Options& options) {
    const std::string name = "my/" + number_of(options) + "_demo.cuh";
    const fs::path path = options.root / name;
    if (fs::exists(path)) return name;
    fs::create_directories(path.parent_path());
    io::replace_file(path, header_in_my(options));
    return name;
}

// The lines from the compiler's first error to its next, or all.
Lines first_error_in(const Lines& said) {
    const auto is_error = [](const std::string& line) {
        return line.find(" error: ") != std::string::npos;
    };
    const auto first = std::find_if(said.begin(), said.end(), is_error);
    if (first == said.end()) return said;
    return {first, std::find_if(first + 1, said.end(), is_error)};
}

bool on_terminal() {
    return isatty(STDOUT_FILENO) != 0;
}

bool wants_colours() {
    const char *const none = std::getenv("NO_COLOR"), *const kind = std::getenv("TERM");
    return on_terminal() && (none == nullptr || *none == '\0') && kind != nullptr &&
           std::string(kind) != "dumb";
}

course::Size size_of_screen() {
    winsize size{};
    if (!on_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 10)
        return {};
    // Wider than 80 columns no line is easier to read.
    return {size.ws_row, std::min<size_t>(80, std::max<size_t>(40, size.ws_col))};
}

std::string editor() {
    for (const char* const name : {"VISUAL", "EDITOR"}) {
        const char* const value = std::getenv(name);
        if (value != nullptr && *value != '\0') return value;
    }
    return "vi";
}

// The editor's command for a file, at a line if the editor is known to take one.
std::string editor_at(const fs::path& path, size_t line) {
    static const std::vector<std::string> kTakesLine = {
        "vi",   "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient",
        "jove", "mg",  "joe",  "jed",  "ne",   "kak",  "micro"};
    const std::string program = editor();
    const std::string name = fs::path(program.substr(0, program.find(' '))).filename();
    const bool takes = std::find(kTakesLine.begin(), kTakesLine.end(), name) != kTakesLine.end();
    return program + (takes && line > 0 ? " +" + std::to_string(line) : "") + " " +
           io::quoted(path);
}

// ---------------------------------------------------------------- the lecture

class Presenter {
public:
    explicit Presenter(const Options& options)
        : options_(options),
          lecture_(course::lecture_of(options.root, options.stage)),
          facts_(options.root) {
        if (options.from < 1 || options.from > lecture_.steps.size())
            throw std::invalid_argument("--from " + std::to_string(options.from) + ": there are " +
                                        std::to_string(lecture_.steps.size()) + " steps");
        step_ = options.from - 1;
    }

    int list() const {
        for (size_t i = 0; i < lecture_.steps.size(); ++i) {
            const Step& step = lecture_.steps[i];
            std::printf("%2zu  %s\n", i + 1, step.title.c_str());
            if (!step.picture.empty()) std::printf("      %s\n", step.picture.c_str());
        }
        return 0;
    }

    // Whatever is run later is run once: 1 where something of it fails.
    int prepare() const {
        // What is run, and the words that the steps want to see of it.
        std::vector<std::pair<std::string, Lines>> commands;
        const auto add = [&](const std::string& words, const std::string& shown) {
            auto found = std::find_if(commands.begin(), commands.end(),
                                      [&](const auto& each) { return each.first == words; });
            if (found == commands.end()) found = commands.insert(found, {words, {}});
            found->second.push_back(shown);
        };
        for (const Step& step : lecture_.steps) {
            if (!step.run.empty()) add(step.run, step.show);
        }
        for (const Step& step : lecture_.steps) {
            if (!step.edit.empty()) add("try " + copy_of_header(options_) + " " + step.edit, "");
        }
        int failures = 0;
        double seconds = 0;
        for (size_t i = 0; i < commands.size(); ++i) {
            std::printf("%zu of %zu", i + 1, commands.size());
            if (i > 0)
                std::printf(", about %.0f s to go", seconds / static_cast<double>(i) *
                                                        static_cast<double>(commands.size() - i));
            failures += prepare(commands[i].first, commands[i].second, seconds);
        }
        std::printf(failures > 0 ? "Not all is ready.\n"
                                 : "All is ready: nothing is compiled later.\n");
        return failures > 0 ? 1 : 0;
    }

    int show_by_itself(double seconds) {
        const auto wait = [&] {
            std::fflush(stdout);
            const double whole = std::floor(seconds);
            timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
            nanosleep(&time, nullptr);
        };
        for (;;) {
            show("");
            wait();
            if (step().prediction) {
                shown_[step_].answered = true;
                show("");
                wait();
            }
            if (step_ + 1 == lecture_.steps.size()) return 0;
            ++step_;
        }
    }

    int show_by_keys() {
        Keys keys;
        keys_ = &keys;
        const int status = show_by(keys);
        keys_ = nullptr;
        std::printf("\n");
        if (step_ + 1 < lecture_.steps.size())
            std::printf("./stages demo %s --from %zu goes on here.\n", number_of(options_).c_str(),
                        step_ + 1);
        return status;
    }

private:
    const Step& step() const { return lecture_.steps[step_]; }

    // Prepares a command, adds its time and returns how many have failed.
    int prepare(const std::string& words, const Lines& shown, double& seconds) const {
        std::printf(": ./stages %s ... ", words.c_str());
        const Ran ran = run_stages(options_, words);
        seconds += ran.seconds;
        const auto missing = std::find_if(shown.begin(), shown.end(), [&](const auto& each) {
            return ran.output.find(each) == std::string::npos;
        });
        const bool is_copy = words.rfind("try ", 0) == 0;
        const bool is_edited = is_copy && io::text_in(options_.root / copy_of_header(options_)) !=
                                              header_in_my(options_);
        const bool is_ready = (ran.status == 0 || is_edited) && missing == shown.end();
        std::printf("%s (%.0f s)\n", is_ready ? "ready" : "FAILED", ran.seconds);
        if (is_edited) {
            io::say(stdout, copy_of_header(options_) + " differs from " + header_of(options_) +
                                (ran.status == 0 ? "" : ", and something is wrong with it") +
                                ": delete it to begin anew.");
        } else if (ran.status != 0) {
            std::printf("%s\n", ran.output.c_str());
        } else if (!is_ready) {
            std::printf("It does not print '%s', which a step shows.\n", missing->c_str());
        }
        return is_ready ? 0 : 1;
    }

    bool is_asking() { return step().prediction && !shown_[step_].answered; }

    int show_by(Keys& keys) {
        for (;;) {
            show(is_asking()
                     ? "Enter answer   p back   g and a number jump   ? keys   q end  "
                     : "Enter on   b back   number jump   r again   e edit   ? keys   q end  ");
            const std::string key = next_key(keys);
            if (key == Keys::kInterrupt) return 130;
            if (key == "q") return 0;
            if (key.empty() || key == "n" || key == " ") {
                if (!forward()) return 0;
            } else if ((key == "b" && !is_asking()) || key == "p") {
                if (step_ > 0) --step_;
            } else if (key == "r") {
                shown_[step_].output.reset();
            } else if (key == "e" || key == "?" || key == "h") {
                if (key == "e") {
                    keys.give_back();
                    edit(keys);
                } else {
                    list_keys();
                }
                std::printf("Enter goes back to the lecture ");
                std::fflush(stdout);
                if (next_key(keys) == Keys::kInterrupt) return 130;
            } else {
                jump(key);
            }
        }
    }

    std::string next_key(Keys& keys) {
        return keys.next(!is_asking(), [&] {
            const course::Size now = size_of_screen();
            return now.rows != drawn_.rows || now.columns != drawn_.columns;
        });
    }

    void jump(const std::string& key) {
        const bool is_sure = key[0] == 'g';
        const std::string digits = key.substr(is_sure ? 1 : 0);
        if ((is_asking() && !is_sure) || digits.empty() || digits.size() > 3 ||
            digits.find_first_not_of("0123456789") != std::string::npos)
            return;
        const size_t to = std::stoul(digits);
        if (to >= 1 && to <= lecture_.steps.size()) step_ = to - 1;
    }

    void list_keys() const {
        if (on_terminal()) std::printf("\x1b[H\x1b[2J");
        std::printf("%s",
                    "Enter, n, space, right, down   on; at a question, its answer\n"
                    "b, p, left, up                 back; at a question not b, an answer\n"
                    "a number and Enter             to that step; at a question g comes first: g7\n"
                    "r                              runs the step's command again\n"
                    "e                              edits a copy of the stage's header and "
                    "checks it\n"
                    "q                              ends\n"
                    "n or Ctrl-C, as a command runs stops it, and the lecture goes on\n"
                    "Ctrl-C                         ends\n\n");
    }

    // False behind the last step.
    bool forward() {
        if (is_asking()) {
            shown_[step_].answered = true;
            return true;
        }
        if (step_ + 1 == lecture_.steps.size()) return false;
        ++step_;
        return true;
    }

    // What ./stages prints, unless somebody stops it; what was typed meanwhile is dropped.
    Ran run_here(const std::string& words) const {
        const Ran ran =
            run_stages(options_, words, [&] { return keys_ != nullptr && keys_->stop(); });
        if (keys_ != nullptr) keys_->drop();
        return ran;
    }

    void print(const std::string& below) {
        if (on_terminal()) std::printf("\x1b[H\x1b[2J\x1b[3J");
        drawn_ = size_of_screen();
        std::fputs(course::printed(rows_of(lecture_, step_, shown_[step_], facts_, drawn_),
                                   wants_colours())
                       .c_str(),
                   stdout);
        std::printf("%s%s", below.c_str(), below.empty() || !on_terminal() ? "\n" : "");
        std::fflush(stdout);
    }
    void show(const std::string& below) {
        Shown& shown = shown_[step_];
        if (!step().run.empty() && !shown.output) {
            if (on_terminal())
                print(keys_ == nullptr ? "running ..." : "running ...   n or Ctrl-C stops it ");
            const Ran ran = run_here(step().run);
            shown.output = ran.is_stopped ? "stopped; r runs it again" : ran.output;
        }
        print(below);
    }

    // Where the editor opens the copy: at the first of the lines of it that the lecture showed last, 0 if it showed none.
    size_t line_to_edit(const Lines& copy) const {
        const std::string header = header_of(options_);
        for (size_t i = step_ + 1; i-- > 0;) {
            const Step& each = lecture_.steps[i];
            if (each.source.empty() || each.source_name != header) continue;
            const course::SourceLine& line = each.source.front();
            const auto number = static_cast<size_t>(line.number);
            if (number <= copy.size() && copy[number - 1] == line.text) return number;
            const auto moved = std::find(copy.begin(), copy.end(), line.text);
            return moved == copy.end() ? number : static_cast<size_t>(moved - copy.begin()) + 1;
        }
        return 0;
    }

    // With the terminal given back; takes it again.
    void edit(Keys& keys) {
        if (step().edit.empty()) {
            keys.take();
            std::printf("\nNothing is edited at this step; ./stages check %s has exercises.\n",
                        number_of(options_).c_str());
            return;
        }
        const std::string name = copy_of_header(options_);
        const std::string command = editor_at(
            options_.root / name, line_to_edit(io::lines_in(io::text_in(options_.root / name))));
        std::printf("\n");
        std::fflush(stdout);
        const bool is_edited = std::system(command.c_str()) == 0;
        keys.take();
        if (!is_edited) {
            std::printf("The editor `%s` failed; EDITOR names another.\n", command.c_str());
            return;
        }
        std::printf("$ ./stages try %s %s\ncompiling and checking %s ... n or Ctrl-C stops it\n",
                    name.c_str(), step().edit.c_str(), name.c_str());
        const Ran ran = run_here("try " + name + " " + step().edit);
        if (ran.is_stopped)
            std::printf("stopped\n");
        else
            print_said(io::lines_in(ran.output));
    }

    // What is wrong comes first: it stays on the screen.
    void print_said(const Lines& said) const {
        const course::Size size = size_of_screen();
        constexpr size_t kRowsAround =
            7;  // the command, in two lines at most, and what asks for the next key
        size_t left = size.rows - kRowsAround, printed = 0;
        for (const std::string& line : first_error_in(said)) {
            const Lines rows = io::lines_in(
                io::wrapped(io::printable(line, 4 * size.columns), size.columns) + "\n");
            if (rows.size() > left) break;
            left -= rows.size();
            ++printed;
            for (const std::string& row : rows) std::printf("%s\n", row.c_str());
        }
        if (printed < said.size())
            std::printf("... %zu more lines: the command prints them all\n", said.size() - printed);
    }

    const Options& options_;
    Lecture lecture_;
    course::Facts facts_;
    size_t step_ = 0;
    std::map<size_t, Shown> shown_;
    course::Size drawn_;          // of the terminal, when it was last drawn
    const Keys* keys_ = nullptr;  // where there is somebody to stop a command
};

size_t step_from(const std::string& text) {
    if (text.empty() || text.size() > 3 ||
        text.find_first_not_of("0123456789") != std::string::npos)
        throw std::invalid_argument(text);
    return std::stoul(text);
}

double seconds_from(const std::string& text) {
    size_t used = 0;
    const double seconds = std::stod(text, &used);
    if (used != text.size() || !(seconds >= 0 && seconds <= 3600))
        throw std::invalid_argument(text);
    return seconds;
}

Options options_from(int count, char** words) {
    Options options;
    std::vector<std::string> names;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto value = [&] {
            if (i + 1 == count) throw std::invalid_argument(word + " needs a value");
            return std::string(words[++i]);
        };
        try {
            if (word == "--auto")
                options.seconds = seconds_from(value());
            else if (word == "--from")
                options.from = step_from(value());
            else if (word == "--device")
                options.device = value();
            else if (word == "--prepare")
                options.prepare = true;
            else if (word == "--steps")
                options.steps = true;
            else if (word[0] == '-')
                throw std::invalid_argument("demo has no flag " + word);
            else
                names.push_back(word);
        } catch (const std::logic_error& error) {
            const bool is_ours = std::string(error.what()).find(' ') != std::string::npos;
            throw std::invalid_argument(is_ours ? error.what()
                                                : word + " " + words[i] + ": " +
                                                      (word == "--auto"
                                                           ? "seconds, from 0 to 3600, are wanted"
                                                           : "the number of a step is wanted"));
        }
    }
    if (names.size() != 2) throw std::invalid_argument("demo takes the repository and a stage");
    options.root = names[0];
    options.stage = names[1];
    return options;
}

int run(int count, char** words) {
    const Options options = options_from(count, words);
    course::end_by_signals();
    Presenter presenter(options);
    if (options.steps) return presenter.list();
    if (options.prepare) return presenter.prepare();
    return options.seconds >= 0 ? presenter.show_by_itself(options.seconds)
                                : presenter.show_by_keys();
}

}  // namespace

int main(int count, char** words) {
    try {
        return io::finish_output(run(count, words));
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
    }
    return 2;
}
