// SPDX-License-Identifier: MIT
//
// main() of a program that knows one stage, compiled so that every variable can be read: becomes
// gdb, stopped inside one CUDA thread of a kernel on the CPU device. gdb runs this same program,
// which then launches the variant once.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "common/course/gdb.hpp"
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

// Thrown as the launch begins, which thereby does not take place.
struct Found {
    course::KernelLaunch launch;
};

course::KernelLaunch find_launch(const runner::Variant& variant, const runner::Shape& shape,
                                 runner::DType dtype, const std::string& kernel) {
    xray::VariantRun run(variant, shape, dtype);
    course::LaunchFinder finder(
        kernel, [](const course::KernelLaunch& launch, size_t) { throw Found{launch}; });
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

void debug(const runner::Stage& stage, const Options& options) {
    const runner::Variant& variant = choose_variant(stage, options.variant);
    const runner::Shape shape = options.shape.empty()
                                    ? runner::usual_shape_of(variant)
                                    : runner::parse_shape(options.shape, {variant.operation});
    const runner::DType dtype = runner::parse_dtype(options.dtype);
    if (options.under_debugger) {
        xray::VariantRun run(variant, shape, dtype);
        return run();
    }
    const course::KernelLaunch launch = find_launch(variant, shape, dtype, options.kernel);
    course::become_gdb(
        launch, {"xray::VariantRun::operator()"}, options.block, options.thread, options.batch,
        {std::filesystem::read_symlink("/proc/self/exe"), "--variant", variant.name, "--shape",
         runner::word_of(shape), "--dtype", options.dtype, "--under-debugger"});
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
    } catch (const course::NoSuchThread& error) {
        io::say(stderr, std::string("stages: ") + error.what());
        return runner::kUsage;
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
        return runner::kWrong;
    }
}
