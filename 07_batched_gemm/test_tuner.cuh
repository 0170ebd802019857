// SPDX-License-Identifier: MIT
// What further/gemm_tuner.hpp chooses and records, and which files it trusts. A fake clock supplies the times.
#pragma once
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "07_batched_gemm/lt_candidates.hpp"
#include "07_batched_gemm/variants.hpp"
#include "common/operations/gemm/cublas.hpp"
#include "common/runner/device.hpp"
#include "common/runner/record.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "further/gemm_tuner.hpp"

namespace tuner_tests {

using namespace batched_gemm;
using nlohmann::json;
using runner::DType;

const Machine kHere{"Some GPU", "580.159.04", "1.0"};

// A product of 4 x 8 by 8 x 8 in memory of its own.
struct Case {
    Case() {
        g.batch = 1, g.m = 4, g.n = 8, g.k = 8;
        g.alpha = 1;
        g.a.data = a.data(), g.a.ld = 8, g.a.stride = 32;
        g.b.data = b.data(), g.b.ld = 8, g.b.stride = 64;
        g.c.data = c.data(), g.c.ld = 8, g.c.stride = 32;
    }
    runner::DeviceBuffer<float> a{std::vector<float>(32, 1.f)}, b{std::vector<float>(64, 1.f)},
        c{32};
    Problem<float> g{};
};

// Candidates that only count their launches; `us` is the time that the clock returns for each.
struct Fakes {
    struct Fake {
        std::string name;
        double us;
        cudaError_t status = cudaSuccess;
    };
    explicit Fakes(const std::vector<Fake>& all) {
        for (const Fake& each : all) {
            candidates.push_back({each.name, [this, each](const Problem<float>&, cudaStream_t) {
                                      launched.push_back(each.name);
                                      us = each.us;
                                      return each.status;
                                  }});
        }
    }
    Clock clock() {
        return [this](const Launch& launch, cudaStream_t stream) {
            CHECK(launch(stream) == cudaSuccess);
            return us;
        };
    }
    std::vector<Candidate<float>> candidates;
    std::vector<std::string> launched;
    double us = 0;
};

// A tuner with a file in this folder, and its messages.
struct Tuning {
    Tuning(const Folder& folder, Fakes& fakes, const Machine& machine = kHere)
        : tuner(folder.path / "found.json", machine, fakes.clock(),
                [this](const std::string& line) { said.push_back(line); }) {}
    std::vector<std::string> said;
    GemmTuner tuner;
};

// Checks that a tuner reports a file with this text and tunes again, among two candidates of which the second is
// faster.
void is_tuned_again(const std::string& text, const std::string& why) {
    const Folder folder;
    folder.write("found.json", text);
    const Case one;
    Fakes fakes({{"slow", 20}, {"fast", 10}});
    INFO(text.substr(0, 200));
    Tuning tuning(folder, fakes);
    REQUIRE(tuning.said.size() == 1);
    CHECK_THAT(tuning.said[0], ContainsSubstring("found.json " + why));
    CHECK_THAT(tuning.said[0], ContainsSubstring("tuned again"));
    CHECK(tuning.said[0].find('\n') == std::string::npos);
    CHECK(tuning.tuner.find(one.g, fakes.candidates) == nullptr);
    REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
    CHECK(tuning.tuner.find(one.g, fakes.candidates)->name == "fast");
    CHECK(tuning.said.size() == 1);
    Tuning next(folder, fakes);  // the file is good now
    CHECK(next.said.empty());
    CHECK(next.tuner.find(one.g, fakes.candidates)->name == "fast");
}

std::string file_of(const Machine& machine, const json& found, int format = 2) {
    return json{{"format", format},
                {"gpu", machine.gpu},
                {"driver", machine.driver},
                {"library", machine.library},
                {"found", found}}
        .dump();
}

TEST_CASE("the tuner finds the fastest candidate once, records it and uses it") {
    const Folder folder;
    const Case one;
    Fakes fakes({{"refuses", 1, cudaErrorNotSupported},
                 {"slow", 30},
                 {"fast", 10},
                 {"no time", NAN},
                 {"none either", 0},
                 {"later", 10}});
    {
        Tuning tuning(folder, fakes);
        CHECK(tuning.tuner.find(one.g, fakes.candidates) == nullptr);
        REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
        CHECK(tuning.tuner.find(one.g, fakes.candidates)->name == "fast");
        fakes.launched.clear();
        REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
        CHECK(fakes.launched.empty());
        CHECK(tuning.said.empty());
    }
    Tuning tuning(folder, fakes);
    REQUIRE(tuning.tuner.multiply(one.g, fakes.candidates, nullptr) == cudaSuccess);
    CHECK(fakes.launched == std::vector<std::string>{"fast"});
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);

    // If the recorded candidate no longer exists, the tuner chooses again without a message.
    fakes.candidates.erase(fakes.candidates.begin() + 2);
    CHECK(tuning.tuner.find(one.g, fakes.candidates) == nullptr);
    REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
    CHECK(tuning.tuner.find(one.g, fakes.candidates)->name == "later");
}

TEST_CASE("the front call multiplies what was not tuned and what the candidate refuses") {
    const Folder folder;
    Case one;
    Fakes fakes({{"refuses later", 10}});
    Tuning tuning(folder, fakes);
    const auto product = [&] {
        one.c.poison();
        REQUIRE(tuning.tuner.multiply(one.g, fakes.candidates, nullptr) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return one.c.download();
    };
    CHECK(product() == std::vector<float>(32, 8.f));
    REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
    fakes.candidates[0].launch = [](const Problem<float>&, cudaStream_t) {
        return cudaErrorNotSupported;
    };
    CHECK(product() == std::vector<float>(32, 8.f));
    CHECK(tuning.tuner.tune(one.g, {}, nullptr) == cudaErrorNotSupported);
}

TEST_CASE("the tuner reports a foreign, outdated or broken file in one line and tunes again") {
    const json good = {{"candidate", "slow"}, {"us", 1.0}};
    const std::string problem = problem_text(Case().g);
    const std::string right = file_of(kHere, {{problem, good}});
    is_tuned_again("", "is no JSON of a tuner");
    is_tuned_again("1 2 3", "is no JSON of a tuner");
    is_tuned_again("[]", "is no JSON of a tuner");
    is_tuned_again("{}", "is no JSON of a tuner");
    is_tuned_again(right.substr(0, right.size() / 2), "is no JSON of a tuner");  // half a file
    is_tuned_again(right + right, "is no JSON of a tuner");
    is_tuned_again(std::string(100000, '['), "is no JSON of a tuner");
    is_tuned_again(std::string("\0\xff\xfe", 3), "is no JSON of a tuner");
    is_tuned_again(std::string((1 << 24) + 1, ' '), "is too large");
    is_tuned_again(file_of(kHere, {{problem, good}}, 1), "has another format");
    is_tuned_again(file_of({"Other GPU", "580.159.04", "1.0"}, {{problem, good}}),
                   "is of Other GPU, driver");
    is_tuned_again(file_of({"Other\x1b[2J\n GPU", "580.159.04", "1.0"}, {{problem, good}}),
                   "is of Other\\x1b[2J\\x0a GPU, driver");
    is_tuned_again(file_of({"Some GPU", "580.95.05", "1.0"}, {{problem, good}}),
                   "is of Some GPU, driver 580.95.05");
    is_tuned_again(file_of({"Some GPU", "580.159.04", "0.9"}, {{problem, good}}),
                   "is of Some GPU, driver 580.159.04, library 0.9");
    for (const json& bad :
         {json("slow"), json{{"candidate", "slow"}}, json{{"us", 1.0}},
          json{{"candidate", 3}, {"us", 1.0}}, json{{"candidate", "slow"}, {"us", "1"}}})
        is_tuned_again(file_of(kHere, {{problem, bad}}), "is no JSON of a tuner");
    is_tuned_again(file_of(kHere, {{problem, {{"candidate", "slow"}, {"us", -1.0}}}}),
                   "has an invalid time");
}

TEST_CASE("the tuner's file names the same driver as the records") {
    const Machine here = this_machine("1.0");
    const json header = json::parse(runner::record_header());
    CHECK(here.driver == header.at("driver"));
    CHECK(here.gpu == header.at("gpu"));
}

TEST_CASE("the tuner reads no pipe, and keeps in memory what it cannot write") {
    const Folder folder;
    const Case one;
    Fakes fakes({{"fast", 10}});
    REQUIRE(mkfifo((folder.path / "found.json").c_str(), 0600) == 0);
    CHECK_THAT(Tuning(folder, fakes).said.at(0), ContainsSubstring("is not a regular file"));
    std::filesystem::remove(folder.path / "found.json");
    folder.write("found.json/inside", "");  // a folder: nothing takes its place
    Tuning tuning(folder, fakes);
    CHECK_THAT(tuning.said.at(0), ContainsSubstring("is not a regular file"));
    REQUIRE(tuning.tuner.tune(one.g, fakes.candidates, nullptr) == cudaSuccess);
    CHECK_THAT(tuning.said.at(1), ContainsSubstring("cannot be written"));
    CHECK(tuning.tuner.find(one.g, fakes.candidates)->name == "fast");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("when several tuners save at once, a reader always finds a whole file") {
    const Folder folder;
    const Case one;
    std::atomic<int> lines{0};  // Catch2's checks are for one thread
    const GemmTuner::Say say = [&](const std::string&) { ++lines; };
    const std::vector<Candidate<float>> candidates = {
        {"fast", [](const Problem<float>&, cudaStream_t) { return cudaSuccess; }}};
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([&, writer] {
            GemmTuner tuner(
                folder.path / "found.json", kHere, [](const Launch&, cudaStream_t) { return 1.0; },
                say);
            for (int64_t m = 1; m <= 20; ++m) {
                Problem<float> g = one.g;
                g.m = 100 * writer + m;
                tuner.tune(g, candidates, nullptr);
            }
        });
    }
    for (int i = 0; i < 200; ++i) GemmTuner(folder.path / "found.json", kHere, {}, say);
    for (std::thread& writer : writers) writer.join();
    CHECK(lines == 0);
    const GemmTuner all(folder.path / "found.json", kHere, {}, say);
    CHECK(all.found().size() >= 20);  // everything that the last one saved
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("problems that take different times have different names") {
    Case one;
    std::vector<std::string> names = {problem_text(one.g)};
    const auto add = [&](auto change) {
        Problem<float> g = one.g;
        change(g);
        names.push_back(problem_text(g));
    };
    add([](auto& g) { g.batch = 2; });
    add([](auto& g) { g.m = 5; });
    add([](auto& g) { g.n = 4; });
    add([](auto& g) { g.k = 4; });
    add([](auto& g) { g.a.transposed = true; });
    add([](auto& g) { g.b.transposed = true; });
    add([](auto& g) { g.beta = 2; });
    add([](auto& g) { g.c.data += 1; });
    names.push_back(problem_text(Problem<__half>{}));
    names.push_back(problem_text(Problem<__nv_bfloat16>{}));
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    one.g.alpha = 3;
    CHECK(problem_text(one.g) == problem_text(Case().g));
}

// With the device's own clock: any candidate may be the fastest.
TEST_CASE("our own candidates are tuned and multiply") {
    const Folder folder;
    Case one;
    GemmTuner tuner(folder.path / "found.json", this_machine("1.0"), ClockOfGraphs{},
                    [](const std::string& line) { FAIL_CHECK(line); });
    const auto candidates = own_candidates<float>();
    REQUIRE(tuner.tune(one.g, candidates, nullptr) == cudaSuccess);
    REQUIRE(tuner.find(one.g, candidates) != nullptr);
    one.c.poison();
    REQUIRE(tuner.multiply(one.g, candidates, nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(one.c.download() == std::vector<float>(32, 8.f));
    CHECK(own_candidates<__half>().back().name == "split_k");
}

// Tunes a square product of a batch of 16, or scores of attention, among our candidates and cuBLASLt's.
template <class T>
void tune_beside_cublas(const std::vector<testing::Shape>& shapes, bool is_printed) {
    const Folder folder;
    runner::DeviceBuffer<unsigned char> workspace(operations::gemm::kCublasWorkspace);
    const runner::Operation& operation = *operations::gemm::operation();
    GemmTuner tuner(folder.path / "found.json", this_machine("1.0, and cuBLASLt"), ClockOfGraphs{},
                    [](const std::string& line) { FAIL_CHECK(line); });
    for (const testing::Shape& shape : shapes) {
        const DType dtype = runner::dtype_of<T>;
        INFO(text_of(runner::Shape(shape)) << ", " << name_of(dtype));
        const runner::Tensors inputs = filled_inputs(operation, shape, dtype, "integers", 1);
        runner::DeviceBuffer<T> c(static_cast<size_t>(shape.batch * shape.m * shape.n));
        c.poison();
        runner::Call call{shape, dtype, inputs.view()};
        Problem<T> g = batched_gemm_variants::problem_of<T>(call);
        g.c.data = c.data();
        std::vector<Candidate<T>> candidates = own_candidates<T>();
        for (const Candidate<T>& each :
             batched_gemm_variants::lt_candidates_of(g, workspace.data())) {
            candidates.push_back(each);
            Problem<T> twice = g;
            twice.alpha *= 2;
            CHECK(each.launch(twice, nullptr) == cudaErrorNotSupported);
        }
        REQUIRE(tuner.tune(g, candidates, nullptr) == cudaSuccess);
        c.poison();
        REQUIRE(tuner.multiply(g, candidates, nullptr) == cudaSuccess);
        const operations::gemm::Operands operands{g.a.data, g.b.data, call.operands["c"].data};
        const runner::Report report = operations::gemm::check(operands, shape, dtype, c.data());
        INFO(describe(report));
        CHECK(report.good());
        const GemmTuner::Found& found = tuner.found().at(problem_text(g));
        if (is_printed)
            WARN(problem_text(g) << ": " << found.candidate << ", " << found.us << " us");
    }
}

TEST_CASE("cuBLASLt's kernels are candidates like others, where the library is available") {
    tune_beside_cublas<__half>({testing::Shape(2, 40, 24, 16).with_transposed(false, true)}, false);
    tune_beside_cublas<float>({testing::Shape(2, 17, 24, 16)}, false);
    Problem<__half> apart{};
    apart.m = apart.n = apart.k = apart.batch = 1;
    apart.a.ld = 2;
    CHECK(batched_gemm_variants::lt_candidates_of(apart, nullptr).empty());
}

// A cuBLASLt candidate serves one problem; problem_text() distinguishes fewer problems than are_alike().
TEST_CASE("problems are alike if they differ only in their addresses") {
    const Case one;
    const Problem<float>& g = one.g;
    const auto alike = [&](auto change) {
        Problem<float> other = g;
        change(other);
        return batched_gemm_variants::are_alike(g, other);
    };
    static float memory[4];
    CHECK(alike([](auto& of) { of.a.data = of.b.data = of.c.data = memory; }));
    CHECK_FALSE(alike([](auto& of) { of.batch = 3; }));
    CHECK_FALSE(alike([](auto& of) { of.m = 3; }));
    CHECK_FALSE(alike([](auto& of) { of.n = 3; }));
    CHECK_FALSE(alike([](auto& of) { of.k = 3; }));
    CHECK_FALSE(alike([](auto& of) { of.alpha = 0.125f; }));
    CHECK_FALSE(alike([](auto& of) { of.beta = 0.5f; }));
    CHECK_FALSE(alike([](auto& of) { of.a.ld += 8; }));
    CHECK_FALSE(alike([](auto& of) { of.b.transposed = true; }));
    CHECK_FALSE(alike([](auto& of) { of.c.stride += 8; }));
    // These have the same problem_text().
    Problem<float> scaled = g;
    scaled.alpha = 0.125f;
    CHECK(problem_text(scaled) == problem_text(g));
}

// On a GPU: prints what the tuner chooses at the measured shapes.
TEST_CASE("what is fastest here", "[tuned][.]") {
    std::vector<testing::Shape> shapes;
    for (const runner::Shape& each : operations::gemm::operation()->measured_at({true, false}))
        shapes.emplace_back(each);
    tune_beside_cublas<__half>(shapes, true);
    tune_beside_cublas<float>(shapes, true);
}

}  // namespace tuner_tests
