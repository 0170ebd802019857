// SPDX-License-Identifier: MIT
//
// demo ROOT STAGE [--auto SECONDS] [--from STEP] [--prepare] [--steps] [--device DEVICE]: a stage's lecture at a terminal
// (lecture.hpp), step by step. Enter or n: on; b: back; a number and Enter: to that step; r: runs the step's command
// again; e: edits a copy of the stage's header and checks it; q: ends. Where standard input is no terminal it gives a
// line for each key.
//   --auto      needs no keyboard: a step every so many seconds, to the end
//   --prepare   runs once whatever the steps run, so that nothing is compiled later
//   --steps     lists the steps
// Exit status 0; 1 where something that was prepared fails; 2 where words make no sense.
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "common/course/demo/screen.hpp"
#include "common/io/command.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"

namespace {

namespace fs = std::filesystem;
using course::Lecture;
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

struct Ran {
    std::string output;
    int status = 0;
    double seconds = 0;
};

// What ./stages prints for these words, both streams; it installs nothing.
Ran run_stages(const Options& options, const std::string& words) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string command = "cd " + io::quoted(options.root) + " && ./stages " + words +
                                (options.device.empty() ? "" : " --device " + options.device) +
                                " --no-install 2>&1 </dev/null";
    std::fflush(stdout);
    Ran ran;
    const int status = io::run(command, ran.output);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return ran;
}

// The copy of a stage's header that a lecture edits; made where it is not there.
std::string copy_of_header(const Options& options) {
    const std::string name = "my/" + options.stage.substr(0, 2) + "_demo.cuh";
    const fs::path path = options.root / name;
    if (fs::exists(path)) return name;
    fs::create_directories(path.parent_path());
    const Ran header = run_stages(options, "header " + options.stage);
    if (header.status != 0) throw std::runtime_error(header.output);
    io::replace_file(path, header.output);
    return name;
}

// ---------------------------------------------------------------- the terminal

termios before_keys{};  // the terminal as it was

// Ctrl-C and the like leave a terminal that shows what is typed.
void end_by(int signal) {
    tcsetattr(STDIN_FILENO, TCSANOW, &before_keys);
    _exit(128 + signal);
}

// Takes keys as they are pressed, and gives the terminal back as it was.
class Keys {
public:
    Keys() : is_terminal_(isatty(STDIN_FILENO) != 0) {
        if (!is_terminal_) return;
        tcgetattr(STDIN_FILENO, &before_keys);
        for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, end_by);
        take();
    }
    ~Keys() { give_back(); }
    Keys(const Keys&) = delete;
    Keys& operator=(const Keys&) = delete;

    // Enter as "", other keys as themselves, several digits as a number; "q" at the end of the input.
    std::string next() const {
        std::string line;
        if (!is_terminal_) return std::getline(std::cin, line) ? line : "q";
        for (char key = 0; read(STDIN_FILENO, &key, 1) == 1;) {
            if (key == '\n' || key == '\r') return line;
            if (key == '\x1b') return arrow();
            if (key < '0' || key > '9') return key == '\x04' ? "q" : std::string(1, key);
            line += key;
            std::printf("%c", key);
            std::fflush(stdout);
        }
        return "q";
    }
    void take() {
        if (!is_terminal_) return;
        termios raw = before_keys;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    void give_back() {
        if (is_terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &before_keys);
    }

private:
    // Right, down and the key that turns pages: on; left and up: back.
    static std::string arrow() {
        char code[2] = {};
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (poll(&input, 1, 50) <= 0 || read(STDIN_FILENO, code, 2) != 2) return "?";
        if (code[1] == 'C' || code[1] == 'B') return "n";
        if (code[1] == 'D' || code[1] == 'A') return "b";
        char rest = 0;
        while (poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &rest, 1) == 1) {
        }
        return code[1] == '6' ? "n" : code[1] == '5' ? "b" : "?";
    }

    bool is_terminal_;
};

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
        for (size_t i = 0; i < lecture_.steps.size(); ++i)
            std::printf("%2zu  %s\n", i + 1, lecture_.steps[i].title.c_str());
        return 0;
    }

    // Whatever is run later is run once: 1 where something of it fails.
    int prepare() const {
        // What is run, and the words that the steps want to see of it.
        std::map<std::string, std::vector<std::string>> commands;
        for (const Step& step : lecture_.steps) {
            if (!step.run.empty()) commands[step.run].push_back(step.show);
            if (!step.edit.empty()) commands["try " + copy_of_header(options_) + " " + step.edit];
        }
        int failures = 0;
        for (const auto& [words, shown] : commands) {
            std::printf("./stages %s ... ", words.c_str());
            const Ran ran = run_stages(options_, words);
            std::string missing;
            for (const std::string& each : shown) {
                if (ran.output.find(each) == std::string::npos) missing = each;
            }
            const bool is_ready = ran.status == 0 && missing.empty();
            std::printf("%s (%.0f s)\n", is_ready ? "ready" : "FAILED", ran.seconds);
            if (ran.status != 0) std::printf("%s\n", ran.output.c_str());
            if (ran.status == 0 && !is_ready)
                std::printf("It does not print '%s', which a step shows.\n", missing.c_str());
            failures += is_ready ? 0 : 1;
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
        for (;;) {
            show("Enter on   b back   number jump   r again   e edit   q end  ");
            const std::string key = keys.next();
            if (key == "q") break;
            if (key.empty() || key == "n" || key == " ") {
                if (!forward()) break;
            } else if (key == "b" || key == "p") {
                if (step_ > 0) --step_;
            } else if (key == "r") {
                shown_[step_].output.reset();
            } else if (key == "e") {
                keys.give_back();
                edit();
                keys.take();
                std::printf("Enter goes back to the lecture ");
                std::fflush(stdout);
                keys.next();
            } else if (key.find_first_not_of("0123456789") == std::string::npos) {
                const size_t to = key.size() < 4 ? std::stoul(key) : 0;
                if (to >= 1 && to <= lecture_.steps.size()) step_ = to - 1;
            }
        }
        std::printf("\n");
        return 0;
    }

private:
    const Step& step() const { return lecture_.steps[step_]; }

    // False behind the last step.
    bool forward() {
        if (step().prediction && !shown_[step_].answered) {
            shown_[step_].answered = true;
            return true;
        }
        if (step_ + 1 == lecture_.steps.size()) return false;
        ++step_;
        return true;
    }

    void print(const std::string& below) {
        if (on_terminal()) std::printf("\x1b[H\x1b[2J\x1b[3J");
        std::fputs(
            course::printed(rows_of(lecture_, step_, shown_[step_], facts_, size_of_screen()),
                            wants_colours())
                .c_str(),
            stdout);
        std::printf("%s%s", below.c_str(), below.empty() || !on_terminal() ? "\n" : "");
        std::fflush(stdout);
    }
    void show(const std::string& below) {
        Shown& shown = shown_[step_];
        if (!step().run.empty() && !shown.output) {
            if (on_terminal()) print("running ...");
            shown.output = run_stages(options_, step().run).output;
        }
        print(below);
    }

    void edit() {
        if (step().edit.empty()) {
            std::printf("\nNothing is edited at this step; ./stages check %s has exercises.\n",
                        options_.stage.substr(0, 2).c_str());
            return;
        }
        const std::string name = copy_of_header(options_);
        const std::string command = editor() + " " + io::quoted(options_.root / name);
        std::printf("\n");
        std::fflush(stdout);
        if (std::system(command.c_str()) != 0) {
            std::printf("The editor `%s` failed; EDITOR names another.\n", command.c_str());
            return;
        }
        std::printf("$ ./stages try %s %s\n", name.c_str(), step().edit.c_str());
        std::fflush(stdout);
        std::istringstream said(run_stages(options_, "try " + name + " " + step().edit).output);
        // What is wrong comes first: it stays on the screen.
        size_t left = size_of_screen().rows - 4, more = 0;
        for (std::string line; std::getline(said, line);) {
            if (left > 0) {
                std::printf("%s\n", line.c_str());
                --left;
            } else {
                ++more;
            }
        }
        if (more > 0) std::printf("... %zu more lines: the command prints them all\n", more);
    }

    const Options& options_;
    Lecture lecture_;
    course::Facts facts_;
    size_t step_ = 0;
    std::map<size_t, Shown> shown_;
};

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
                options.from = std::stoul(value());
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
