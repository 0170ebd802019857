// SPDX-License-Identifier: MIT
#include "common/course/gdb.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace course {
namespace {

std::string text_of(uint3 index) {
    return std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z);
}

// "70" (x runs fastest) or "6,1" or "6,1,0" as an index below `extent`.
uint3 parse_index(const std::string& flag, const std::string& text, dim3 extent) {
    std::vector<uint64_t> numbers;
    std::stringstream words(text);
    bool good = !text.empty() && text.back() != ',';
    for (std::string word; good && std::getline(words, word, ',');) {
        good = !word.empty() && word.size() < 19 &&
               word.find_first_not_of("0123456789") == std::string::npos;
        if (good) numbers.push_back(std::stoull(word));
    }
    if (!good || numbers.size() > 3) {
        throw NoSuchThread(flag + " " + text + ": a number, or x,y,z");
    }
    const uint64_t count = uint64_t{extent.x} * extent.y * extent.z;
    if (numbers.size() == 1) {
        const uint64_t linear = numbers[0];
        numbers = {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
    }
    numbers.resize(3);
    if (numbers[0] >= extent.x || numbers[1] >= extent.y || numbers[2] >= extent.z) {
        throw NoSuchThread(flag + " " + text + ": there are " + std::to_string(count) +
                           ", the last is " + std::to_string(count - 1) + " or " +
                           text_of({extent.x - 1, extent.y - 1, extent.z - 1}));
    }
    return {static_cast<unsigned>(numbers[0]), static_cast<unsigned>(numbers[1]),
            static_cast<unsigned>(numbers[2])};
}

std::string is_at(const std::string& variable, uint3 index) {
    return variable + ".x == " + std::to_string(index.x) + " && " + variable +
           ".y == " + std::to_string(index.y) + " && " + variable +
           ".z == " + std::to_string(index.z);
}

// As is_at(), where there is anything to tell apart.
std::string is_among(const std::string& variable, uint3 index, dim3 extent) {
    std::string condition;
    const auto add = [&](const char* axis, unsigned value, unsigned count) {
        if (count == 1) return;
        condition += (condition.empty() ? "" : " && ") + variable + axis;
        condition += " == " + std::to_string(value);
    };
    add(".x", index.x, extent.x);
    add(".y", index.y, extent.y);
    add(".z", index.z, extent.z);
    return condition;
}

// What to say where the thread is reached.
std::string hint(const KernelLaunch& launch, uint3 block, uint3 thread) {
    const std::string in_block = is_among("threadIdx", thread, launch.block);
    const std::string in_grid = is_among("blockIdx", block, launch.grid);
    if (in_block.empty() && in_grid.empty()) return {};
    const std::string both =
        in_block + (in_block.empty() || in_grid.empty() ? "" : " && ") + in_grid;
    return "echo `next` keeps to this thread, but a breakpoint stops any that comes there.\\n\n"
           "echo Only this one:\\n\n"
           "echo \\ \\ break LINE if " +
           both + "\\n\n";
}

// As an argument of gdb's `echo`.
std::string echoed(const std::string& text) {
    std::string line;
    for (const char c : text) line += c == '\\' ? "\\\\" : std::string(1, c);
    return "echo " + line + "\\n\n";
}

// Where the program has ended gdb has no thread: says why, and leaves.
std::string leave_if_ended(const std::string& why) {
    return "if $_thread == 0\n" + echoed("stages: " + why) + "quit 1\nend\n";
}

std::string name_of(uint3 block, uint3 thread) {
    return "thread (" + text_of(thread) + ") of block (" + text_of(block) + ")";
}

// Whether a command looks at a program that runs, or goes on with it.
bool needs_program(const std::string& command) {
    static const std::set<std::string> needing = {
        "advance", "awatch", "backtrace", "bt",    "c",      "call",   "continue", "display",
        "down",    "f",      "fin",       "frame", "finish", "jump",   "n",        "next",
        "nexti",   "ni",     "p",         "print", "return", "rwatch", "s",        "si",
        "step",    "stepi",  "until",     "up",    "watch",  "where",  "x"};
    const std::string word = command.substr(0, command.find_first_of(" /\t"));
    // What gdb knows of the end itself, as $_exitcode, can be asked then.
    return needing.count(word) != 0 && command.find("$_") == std::string::npos;
}

// Whether lines behind it belong to it.
bool begins_lines(const std::string& command) {
    static const std::set<std::string> beginning = {"commands", "define", "document", "if",
                                                    "python",   "py",     "while"};
    return beginning.count(command.substr(0, command.find(' '))) != 0;
}

// The user's commands. Where one comes too late, gdb itself would only say that the program is not
// being run.
std::string batch_script(const std::vector<std::string>& batch, const std::string& thread) {
    const bool plain = std::none_of(batch.begin(), batch.end(), begins_lines);
    std::string script;
    for (const std::string& command : batch) {
        if (plain && &command != &batch.front() && needs_program(command)) {
            script += leave_if_ended("`" + command +
                                     "` comes too late, the program has ended: " + thread +
                                     " has come to its end, and no thread to a breakpoint "
                                     "after the last stop");
        }
        script += command + "\n";
    }
    return script;
}

// For whoever types the commands: gdb itself would only say that the program is not being run.
std::string end_is_said(const std::string& thread) {
    std::string script;
    for (const char* const command : {"continue", "next", "step", "finish", "until"}) {
        script += std::string("define hook-") + command + "\nif $_thread == 0\n" +
                  echoed(thread + " has come to its end, and so has the program.") + "end\nend\n";
    }
    return script;
}

// Goes to the launch, to the block and to the thread. The last breakpoint alone would do, but the
// program itself launches kernels before, and gdb takes its time to look at every thread of a grid.
std::string gdb_script(const KernelLaunch& launch, const Entry& entry, uint3 block, uint3 thread,
                       const std::vector<std::string>& batch) {
    std::ostringstream script;
    const std::string name = name_of(block, thread);
    const auto go_to = [&](const std::string& place, const std::string& how,
                           const std::string& otherwise) {
        script << "pipe tbreak " << place << " | cat >/dev/null\ncommands\nsilent\nend\n"
               << how << "\n"
               << leave_if_ended(otherwise);
    };
    script << "set pagination off\nset confirm off\nset print thread-events off\n"
              "set breakpoint pending off\n";
    const std::string skipped = "ignore $bpnum " + std::to_string(entry.calls_before) + "\n";
    go_to(entry.function, (entry.calls_before == 0 ? "" : skipped) + "run",
          "the program, run again in gdb, ended before it launched " + launch.kernel +
              ": it does not do the same each time");
    const std::string ended = " never began: the launch of " + launch.kernel +
                              " ended before. What ended it, and in which thread, is said above; "
                              "--block and --thread stop there";
    go_to("cpu_device::run_block if " + is_at("worker.block", block), "continue",
          "block (" + text_of(block) + ")" + ended);
    script << "pipe tbreak -function " << launch.kernel << " if " << is_at("threadIdx", thread)
           << " && " << is_at("blockIdx", block) << " | cat >/dev/null\ncontinue\n"
           << leave_if_ended(name + ended) << hint(launch, block, thread);
    script << (batch.empty() ? end_is_said(name) : batch_script(batch, name));
    return script.str();
}

// Where gdb finds the script: a file without a name that lasts as long as gdb.
std::string nameless_file(const std::string& text) {
    const int file = memfd_create("gdb_script", 0);
    std::string path = "/proc/self/fd/" + std::to_string(file);
    std::ofstream out(path);
    out << text;
    if (!out.flush()) throw std::system_error(errno, std::generic_category(), path);
    return path;
}

[[noreturn]] void become(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    throw std::system_error(errno, std::generic_category(), words[0]);
}

}  // namespace

// "block_per_row_kernel" of "online_softmax::block_per_row_kernel<256, Softmax>(float const*)".
std::string plain_name(std::string name) {
    constexpr const char* kNowhere = "(anonymous namespace)::";
    if (const size_t at = name.find(kNowhere); at != std::string::npos) {
        name.erase(at, std::string(kNowhere).size());
    }
    name.resize(std::min(name.size(), name.find_first_of("<([")));
    return name.substr(name.find_last_of(": ") + 1);
}

LaunchFinder::LaunchFinder(std::string wanted, Found found)
    : wanted_(std::move(wanted)), found_(std::move(found)) {
    cpu_device::set_observer(this);
}

void LaunchFinder::begin_launch(const cpu_device::ObservedLaunch& launch) {
    const std::string name = plain_name(launch.kernel_name);
    if (name.find(wanted_) != std::string::npos) {
        found_({name, launch.configuration.grid, launch.configuration.block}, before_);
    }
    seen_ += " " + name;
    before_++;
}

void become_gdb(const KernelLaunch& launch, const Entry& entry, const std::string& block,
                const std::string& thread, std::vector<std::string> batch,
                const std::vector<std::string>& program) {
    const uint3 block_index = parse_index("--block", block, launch.grid);
    const uint3 thread_index = parse_index("--thread", thread, launch.block);
    const bool interactive = batch.empty() && isatty(STDIN_FILENO) != 0;
    if (!interactive && batch.empty()) {
        for (std::string line; std::getline(std::cin, line);) batch.push_back(line);
    }
    const std::string script =
        nameless_file(gdb_script(launch, entry, block_index, thread_index, batch));
    std::vector<std::string> words = {"gdb", "--quiet", "-iex", "set debuginfod enabled off"};
    if (!interactive) words.emplace_back("--batch");
    words.insert(words.end(), {"-x", script, "--args"});
    words.insert(words.end(), program.begin(), program.end());
    // Whoever looks at a thread wants the others to wait, however long.
    setenv("CPU_DEVICE_THREADS", "1", 1);
    setenv("CPU_DEVICE_WATCHDOG_SECONDS", "0", 1);
    become(words);
}

}  // namespace course
