// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/gemm_tuner, version 1.1
//
// Finds the fastest of several ways to compute a product on this GPU once, and records it in a file.
//   new here   a choice by measurement in place of a rule (the front call's plan); a file that several programs share
//   candidates anything that computes the same: rungs, mma_gemm, kernels of a library. The tuner skips candidates that
//              refuse a problem
//   the file   JSON: one GPU, driver and library, and the fastest candidate of each problem. If the file cannot be read
//              or is from another machine, the tuner reports this in one line and tunes again. It replaces the file as
//              a whole, so no reader sees half of it
//   needs      nlohmann-json
//   source     FasterTransformer's gemm_test, which trusted its file: a missing column made it loop forever
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <nlohmann/json.hpp>

#include "double_buffering.cuh"
#include "few_rows.cuh"
#include "gemm.cuh"

namespace batched_gemm {

// A way to compute the product. The file refers to it by its name, so the name must stay the same.
template <class T>
struct Candidate {
    std::string name;
    std::function<cudaError_t(const Problem<T>&, cudaStream_t)> launch;
};

// Returns the kernels of this stage that accept T.
template <class T>
std::vector<Candidate<T>> own_candidates() {
    std::vector<Candidate<T>> all = {
        {"naive", naive<T>}, {"tiled", tiled<T>}, {"register_tiled", register_tiled<T>}};
    if constexpr (std::is_same_v<T, float>) all.push_back({"double_buffered", double_buffered});
    if constexpr (sizeof(T) == 2) {
        all.push_back({"tensor_core", tensor_core<T>});
        all.push_back({"mma", [](const Problem<T>& g, cudaStream_t stream) {
                           return mma_with(g, Plain{}, stream);
                       }});
        all.push_back({"hopper", [](const Problem<T>& g, cudaStream_t stream) {
                           return hopper_with(g, Plain{}, stream);
                       }});
        all.push_back({"few_rows", [](const Problem<T>& g, cudaStream_t stream) {
                           return few_rows_with(g, Plain{}, stream);
                       }});
        all.push_back({"split_k", [](const Problem<T>& g, cudaStream_t stream) {
                           return split_k_gemm(g, split_k_parts(g), stream);
                       }});
    }
    return all;
}

// What a measured time is valid for. library: the version of the timed code, such as "1.0, cuBLAS 13.1".
struct Machine {
    std::string gpu, driver, library;
    bool operator==(const Machine& other) const {
        return gpu == other.gpu && driver == other.driver && library == other.library;
    }
    std::string text() const { return gpu + ", driver " + driver + ", library " + library; }
};

// Returns the driver's version, such as "580.159.04", from its kernel module. Without that module it returns the newest
// CUDA version that the driver supports, which many drivers share.
inline std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        if (word.find('.') != std::string::npos &&
            word.find_first_not_of("0123456789.") == std::string::npos)
            return word;
    }
    int newest = 0;
    cudaDriverGetVersion(&newest);
    return "CUDA " + std::to_string(newest / 1000) + "." + std::to_string(newest % 1000 / 10);
}

inline Machine this_machine(const std::string& library) {
    int device = 0;
    cudaDeviceProp properties{};
    cudaGetDevice(&device);
    cudaGetDeviceProperties(&properties, device);
    return {properties.name, driver_version(), library};
}

// Returns as text what determines the time: sizes, type, and whether lines consist of packs, but no addresses.
template <class T>
std::string problem_text(const Problem<T>& g) {
    const char* const type = sizeof(T) == 4              ? "float"
                             : std::is_same_v<T, __half> ? "half"
                                                         : "bfloat16";
    std::ostringstream text;
    text << type << ' ' << g.batch << 'x' << g.m << 'x' << g.n << 'x' << g.k
         << (g.a.transposed ? " A transposed" : "") << (g.b.transposed ? " B transposed" : "")
         << (g.beta != 0.f ? " beta" : "")
         << (g.a.each || g.b.each || g.c.each ? " by pointers" : "")
         << (consists_of_packs(g) ? "" : " single elements");
    return text.str();
}

// Queues the work to time on a stream.
using Launch = std::function<cudaError_t(cudaStream_t)>;
// Returns the microseconds that a launch takes on this stream, or NAN if it cannot be timed.
using Clock = std::function<double(const Launch&, cudaStream_t)>;

// Times with events and returns the fastest of several rounds. A round is a graph of several launches in a row, so the
// host's time per launch, which may exceed the kernel's, does not count. The inputs may stay in the caches.
class ClockOfGraphs {
public:
    double operator()(const Launch& launch, cudaStream_t stream) const {
        constexpr double kRoundMs = 0.5;
        constexpr int kMostLaunches = 16, kRounds = 8;
        const double first = least_ms(2, stream, [&] { return launch(stream); });
        const int launches =
            first > 0 ? static_cast<int>(std::clamp(kRoundMs / first, 1., double{kMostLaunches}))
                      : 1;
        const Graph graph(launch, launches);
        if (graph.runs == nullptr) return NAN;
        const double ms =
            least_ms(kRounds, stream, [&] { return cudaGraphLaunch(graph.runs, stream); });
        return 1e3 * ms / launches;
    }

private:
    struct Graph {
        Graph(const Launch& launch, int launches) {
            cudaStream_t own = nullptr;  // the caller's stream may not be capturable
            if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) return;
            bool good =
                cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
            for (int i = 0; i < launches && good; ++i) good = launch(own) == cudaSuccess;
            good = cudaStreamEndCapture(own, &nodes) == cudaSuccess && good;
            if (good && cudaGraphInstantiate(&runs, nodes, 0) != cudaSuccess) runs = nullptr;
            cudaStreamDestroy(own);
            if (runs == nullptr) cudaGetLastError();  // runs == nullptr reports it
        }
        Graph(const Graph&) = delete;
        Graph& operator=(const Graph&) = delete;
        ~Graph() {
            if (runs != nullptr) cudaGraphExecDestroy(runs);
            if (nodes != nullptr) cudaGraphDestroy(nodes);
        }
        cudaGraph_t nodes = nullptr;
        cudaGraphExec_t runs = nullptr;
    };

    // Returns the milliseconds of the fastest round after the first, which warms up; NAN if a round failed.
    static double least_ms(int rounds, cudaStream_t stream,
                           const std::function<cudaError_t()>& queue_round) {
        cudaEvent_t start = nullptr, stop = nullptr;
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
        float least = INFINITY;
        for (int i = 0; i < rounds; ++i) {
            float ms = 0.f;
            cudaEventRecord(start, stream);
            const bool good = queue_round() == cudaSuccess;
            cudaEventRecord(stop, stream);
            if (!good || cudaEventSynchronize(stop) != cudaSuccess) least = NAN;
            if (i > 0 && cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms < least)
                least = ms;
        }
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
        return static_cast<double>(least);
    }
};

class GemmTuner {
public:
    struct Found {
        std::string candidate;
        double us;
    };
    using Say = std::function<void(const std::string& line)>;

    // Reads the file if it exists. Passes messages for the user to `say`, one line each.
    GemmTuner(std::filesystem::path file, Machine machine, Clock clock, Say say)
        : file_(std::move(file)),
          machine_(std::move(machine)),
          clock_(std::move(clock)),
          say_(std::move(say)) {
        try {
            found_ = read();
        } catch (const std::exception& error) {
            tell(file_.string() + " " + error.what() + ": tuned again");
        }
    }

    // Returns the fastest candidate, or null if the problem was not tuned or no candidate has the recorded name.
    // ending: names what the candidates compute in addition, such as " and bias"; the file then has it as another
    // problem.
    template <class T>
    const Candidate<T>* find(const Problem<T>& g, const std::vector<Candidate<T>>& candidates,
                             const std::string& ending = "") const {
        const size_t found = find(problem_text(g) + ending, names_of(candidates));
        return found < candidates.size() ? &candidates[found] : nullptr;
    }

    // Times all candidates, unless the problem is known, and keeps the fastest. Overwrites C and waits for the stream.
    // Returns cudaErrorNotSupported if no candidate takes the problem.
    template <class T>
    cudaError_t tune(const Problem<T>& g, const std::vector<Candidate<T>>& candidates,
                     cudaStream_t stream, const std::string& ending = "") {
        const auto measure = [&](size_t i) {
            const Launch launch = [&](cudaStream_t on) { return candidates[i].launch(g, on); };
            if (launch(stream) == cudaSuccess) return clock_(launch, stream);
            cudaGetLastError();  // a refusal: the next call must not find it
            return double{NAN};
        };
        const size_t found = choose(problem_text(g) + ending, names_of(candidates), measure);
        const cudaError_t status = cudaStreamSynchronize(stream);
        if (status != cudaSuccess) return status;
        return found < candidates.size() ? cudaSuccess : cudaErrorNotSupported;
    }

    // Returns the index of the name to use for a problem: the recorded name if there is one, otherwise the name i with
    // the least measure(i), in microseconds, and records it. measure(i) is NAN if candidate i refuses the problem.
    // Returns names.size() if all refuse.
    size_t choose(const std::string& problem, const std::vector<std::string>& names,
                  const std::function<double(size_t)>& measure) {
        size_t fastest = find(problem, names);
        if (fastest < names.size()) return fastest;
        double least = INFINITY;
        for (size_t i = 0; i < names.size(); ++i) {
            const double us = measure(i);
            if (us > 0 && us < least) fastest = i, least = us;  // a time of 0 is no time
        }
        if (fastest == names.size()) return fastest;
        found_[problem] = {names[fastest], least};
        save();
        return fastest;
    }

    // Multiplies with the recorded candidate, or with the front call if no candidate is recorded or it refuses the
    // problem. Never times.
    template <class T>
    cudaError_t multiply(const Problem<T>& g, const std::vector<Candidate<T>>& candidates,
                         cudaStream_t stream) const {
        const Candidate<T>* const best = find(g, candidates);
        if (best != nullptr && best->launch(g, stream) == cudaSuccess) return cudaSuccess;
        if (best != nullptr) cudaGetLastError();
        return softmax_stages::multiply(g, nullptr, 0, stream);
    }

    const std::map<std::string, Found>& found() const { return found_; }

private:
    using Json = nlohmann::json;
    static constexpr int kFormat = 2;  // 1 recorded the CUDA version in place of the driver's
    static constexpr std::uintmax_t kMostBytes = 1 << 24;

    template <class T>
    static std::vector<std::string> names_of(const std::vector<Candidate<T>>& candidates) {
        std::vector<std::string> names;
        for (const Candidate<T>& each : candidates) names.push_back(each.name);
        return names;
    }
    size_t find(const std::string& problem, const std::vector<std::string>& names) const {
        const auto found = found_.find(problem);
        if (found == found_.end()) return names.size();
        return static_cast<size_t>(std::find(names.begin(), names.end(), found->second.candidate) -
                                   names.begin());
    }

    // Returns the entries of the file, or none if there is no file. If the file cannot be used on this machine, throws
    // the reason, as the end of a sentence about the file.
    std::map<std::string, Found> read() const {
        namespace fs = std::filesystem;
        std::error_code error;
        const fs::file_status status = fs::status(file_, error);
        if (status.type() == fs::file_type::not_found) return {};
        // Reading a pipe, for example, might never end.
        if (status.type() != fs::file_type::regular)
            throw std::runtime_error("is not a regular file");
        if (fs::file_size(file_, error) > kMostBytes || error)
            throw std::runtime_error("is too large");
        std::ifstream stream(file_);
        const Json json = Json::parse(stream, nullptr, false);
        if (json.is_discarded() || !json.is_object())
            throw std::runtime_error("is no JSON of a tuner");
        try {
            if (json.at("format") != kFormat) throw std::runtime_error("has another format");
            const Machine of{json.at("gpu"), json.at("driver"), json.at("library")};
            if (!(of == machine_)) throw std::runtime_error("is of " + of.text());
            std::map<std::string, Found> found;
            for (const auto& [problem, each] : json.at("found").items()) {
                const double us = each.at("us");
                if (!(us > 0)) throw std::runtime_error("has an invalid time");
                found[problem] = {each.at("candidate"), us};
            }
            return found;
        } catch (const Json::exception&) {
            throw std::runtime_error("is no JSON of a tuner");
        }
    }

    // Writes the file, and keeps entries that other programs have written meanwhile. If two programs save at once, one
    // result may be lost, and a program tunes it again; but no reader sees half a file.
    void save() {
        try {
            for (const auto& [problem, each] : read()) found_.emplace(problem, each);
        } catch (const std::exception&) {
            // The constructor reported this file, or another program has written it since: replace it.
        }
        Json all = Json::object();
        for (const auto& [problem, each] : found_)
            all[problem] = {{"candidate", each.candidate}, {"us", each.us}};
        const Json json = {{"format", kFormat},
                           {"gpu", machine_.gpu},
                           {"driver", machine_.driver},
                           {"library", machine_.library},
                           {"found", all}};
        std::filesystem::path part = file_;
        part += "." + std::to_string(getpid()) + "." +
                std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".part";
        std::error_code error;
        {
            std::ofstream stream(part);
            stream << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
            stream.close();
            if (!stream) error = std::make_error_code(std::errc::io_error);
        }
        if (!error) std::filesystem::rename(part, file_, error);
        if (!error) return;
        std::error_code ignored;
        std::filesystem::remove(part, ignored);
        tell(file_.string() + " cannot be written (" + error.message() +
             "): what was found is lost when the program ends");
    }

    // Escapes control characters, such as \x1b, so that words from the file cannot control a terminal.
    void tell(const std::string& words) const {
        std::ostringstream line;
        for (const char each : words) {
            const auto byte = static_cast<unsigned char>(each);
            if (byte >= 0x20 && byte != 0x7f) {
                line << each;
            } else {
                line << "\\x"
                     << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
            }
        }
        say_(line.str());
    }

    std::filesystem::path file_;
    Machine machine_;
    Clock clock_;
    Say say_;
    std::map<std::string, Found> found_;
};

}  // namespace batched_gemm
