// SPDX-License-Identifier: MIT
//
// main() of a program that knows one stage, compiled so that every variable can be read: becomes
// gdb, stopped inside one CUDA thread of a kernel on the CPU device. gdb runs this same program,
// which then launches the variant once. A block's threads are fibers of one OS thread, so that a
// breakpoint with a condition on threadIdx and blockIdx finds any of them, and `next` keeps to it, until
// another thread comes to a breakpoint without such a condition.

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "common/cpu_device/observer.hpp"
#include "common/io/command_line.hpp"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"
#include "common/xray/variant_run.hpp"

namespace {

struct Options {
    std::string variant;  // empty: the stage's first
    std::string kernel;   // part of its name; empty: the first that the variant launches
    std::string block = "0", thread = "0";
    std::string shape;
    std::string dtype = "float32";
    std::vector<std::string> batch;  // what gdb is to do before it leaves; empty: it asks the user
    bool under_debugger = false;     // this is the process that gdb runs
};

struct KernelLaunch {
    std::string kernel;  // without namespace and template arguments
    dim3 grid, block;
};

// "block_per_row_kernel" of "online_softmax::block_per_row_kernel<256, Softmax>(float const*)".
std::string plain_name(std::string name) {
    constexpr const char* kNowhere = "(anonymous namespace)::";
    if (const size_t at = name.find(kNowhere); at != std::string::npos) {
        name.erase(at, std::string(kNowhere).size());
    }
    name.resize(std::min(name.size(), name.find_first_of("<([")));
    return name.substr(name.find_last_of(": ") + 1);
}

// Thrown as the launch begins, which thereby does not take place: the kernel to be debugged may
// well be one that never ends.
struct Found {
    KernelLaunch launch;
};

class LaunchFinder : public cpu_device::Observer {
public:
    explicit LaunchFinder(std::string wanted) : wanted_(std::move(wanted)) {
        cpu_device::set_observer(this);
    }
    ~LaunchFinder() override { cpu_device::set_observer(nullptr); }
    LaunchFinder(const LaunchFinder&) = delete;
    LaunchFinder& operator=(const LaunchFinder&) = delete;

    const std::string& seen() const { return seen_; }

    void begin_launch(const cpu_device::ObservedLaunch& launch) override {
        const std::string name = plain_name(launch.kernel_name);
        if (name.find(wanted_) != std::string::npos) {
            throw Found{{name, launch.configuration.grid, launch.configuration.block}};
        }
        seen_ += " " + name;
    }
    void begin_block(unsigned, uint3, uintptr_t, uintptr_t) override {}
    void accesses(unsigned, unsigned, const cpu_device::WarpLogs&) override {}
    void warp_collective(unsigned, unsigned, unsigned, bool) override {}
    void block_barrier(unsigned) override {}
    void end_block(unsigned) override {}
    void end_launch(bool) override {}

private:
    std::string wanted_;
    std::string seen_;
};

KernelLaunch find_launch(const runner::Variant& variant, const runner::Shape& shape,
                         runner::DType dtype, const std::string& kernel) {
    xray::VariantRun run(variant, shape, dtype);
    LaunchFinder finder(kernel);
    try {
        run();
    } catch (const Found& found) {
        return found.launch;
    }
    throw runner::UsageError("--kernel " + kernel + ": " + variant.name + " launches" +
                             (finder.seen().empty() ? " none" : finder.seen()));
}

const runner::Variant& choose_variant(const runner::Stage& stage, const std::string& name) {
    for (const runner::Variant& variant : stage.variants) {
        if (name.empty() || name == variant.name) return variant;
    }
    throw runner::UsageError("--variant " + name + ": no such variant of " + stage.name +
                             "; `./stages list` names them");
}

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
        throw runner::UsageError(flag + " " + text + ": a number, or x,y,z");
    }
    const uint64_t count = uint64_t{extent.x} * extent.y * extent.z;
    if (numbers.size() == 1) {
        const uint64_t linear = numbers[0];
        numbers = {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
    }
    numbers.resize(3);
    if (numbers[0] >= extent.x || numbers[1] >= extent.y || numbers[2] >= extent.z) {
        throw runner::UsageError(flag + " " + text + ": there are " + std::to_string(count) +
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

// Goes to the launch, to the block and to the thread. The last breakpoint alone would do, but the
// program itself launches kernels before, and gdb takes its time to look at every thread of a grid.
std::string gdb_script(const KernelLaunch& launch, uint3 block, uint3 thread,
                       const std::vector<std::string>& batch) {
    std::ostringstream script;
    const auto go_to = [&](const std::string& place, const std::string& how) {
        script << "pipe tbreak " << place << " | cat >/dev/null\ncommands\nsilent\nend\n"
               << how << "\n";
    };
    script << "set pagination off\nset confirm off\nset print thread-events off\n"
              "set breakpoint pending off\n";
    go_to("xray::VariantRun::operator()", "run");
    go_to("cpu_device::run_block if " + is_at("worker.block", block), "continue");
    script << "pipe tbreak -function " << launch.kernel << " if " << is_at("threadIdx", thread)
           << " && " << is_at("blockIdx", block) << " | cat >/dev/null\ncontinue\n"
           << hint(launch, block, thread);
    for (const std::string& command : batch) script << command << "\n";
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

void debug(const runner::Stage& stage, const Options& options) {
    const runner::Variant& variant = choose_variant(stage, options.variant);
    const runner::Shape shape = options.shape.empty()
                                    ? variant.operation->usual_shape()
                                    : runner::parse_shape(options.shape, {variant.operation});
    const runner::DType dtype = runner::parse_dtype(options.dtype);
    if (options.under_debugger) {
        xray::VariantRun run(variant, shape, dtype);
        return run();
    }
    const KernelLaunch launch = find_launch(variant, shape, dtype, options.kernel);
    const uint3 block = parse_index("--block", options.block, launch.grid);
    const uint3 thread = parse_index("--thread", options.thread, launch.block);

    std::vector<std::string> batch = options.batch;
    const bool interactive = batch.empty() && isatty(STDIN_FILENO) != 0;
    if (!interactive && batch.empty()) {
        for (std::string line; std::getline(std::cin, line);) batch.push_back(line);
    }
    std::vector<std::string> words = {"gdb", "--quiet", "-iex", "set debuginfod enabled off"};
    if (!interactive) words.emplace_back("--batch");
    words.insert(words.end(),
                 {"-x", nameless_file(gdb_script(launch, block, thread, batch)), "--args",
                  std::filesystem::read_symlink("/proc/self/exe"), "--variant", variant.name,
                  "--shape", runner::word_of(shape), "--dtype", options.dtype, "--under-debugger"});
    // Whoever looks at a thread wants the others to wait, however long.
    setenv("CPU_DEVICE_THREADS", "1", 1);
    setenv("CPU_DEVICE_WATCHDOG_SECONDS", "0", 1);
    become(words);
}

void add_flags(CLI::App& app, Options& options) {
    app.add_option("--block", options.block,
                   "which block: 70 (x runs fastest) or 6,1,0; default: 0");
    app.add_option("--thread", options.thread, "which thread of it, likewise; default: 0");
    app.add_option("--variant", options.variant, "default: the stage's first");
    app.add_option("--kernel", options.kernel,
                   "part of a name; default: the first that the variant launches");
    app.add_option("--shape", options.shape, "as `run` takes it; default: 256x1024");
    app.add_option("--dtype", options.dtype,
                   "element type: " + runner::names_of(runner::all_dtypes()));
    app.add_option("--batch", options.batch,
                   "a command for gdb, which leaves afterwards; repeatable")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--under-debugger", options.under_debugger, "launch the variant once")
        ->group("");  // for itself
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const runner::Stage stage = runner::all_stages().front();
        CLI::App app("stops in gdb inside one thread of a kernel of " + stage.name);
        Options options;
        add_flags(app, options);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return io::explained(app, error);
        }
        debug(stage, options);
        return runner::kGood;
    } catch (const runner::UsageError& error) {
        io::say(stderr, std::string("stages: ") + error.what());
        return runner::kUsage;
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
        return runner::kWrong;
    }
}
