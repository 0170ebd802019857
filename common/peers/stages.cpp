// SPDX-License-Identifier: MIT
// The C ABI of stages.h over the stages' and peers' descriptions.
#include "common/peers/stages.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/peers/peers.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/inputs.cuh"
#include "common/runner/record.hpp"
#include "common/runner/stage.hpp"
#include "common/runner/timing.hpp"

namespace {

using runner::DType;
using runner::Operation;
using runner::Shape;

constexpr uint64_t kSeed = 2018;  // as `./stages run` has it

struct Entry {
    runner::Variant variant;
    std::string group;
    std::string role;
    std::string obstacle;
    std::string name;
};

struct Catalogue {
    std::vector<Entry> entries;
    std::vector<stages_callable> callables;  // point into entries

    Catalogue() {
        for (const runner::Stage& stage : runner::all_stages()) add(stage, "ours", "");
        for (const peers::Peer& peer : peers::all_peers()) {
            add(peer.stage, peer.invalid ? "invalid" : "peer", peer.obstacle);
        }
        for (const Entry& entry : entries) {
            callables.push_back({entry.name.c_str(), entry.group.c_str(),
                                 entry.variant.name.c_str(), name_of(entry.variant.operation),
                                 entry.role.c_str(), entry.variant.summary.c_str(),
                                 entry.obstacle.empty() ? nullptr : entry.obstacle.c_str()});
        }
    }

    void add(const runner::Stage& stage, const std::string& role, const std::string& obstacle) {
        for (const runner::Variant& variant : stage.variants) {
            if (!is_plain(variant.operation)) continue;  // the ABI has one input, and its peers too
            entries.push_back(
                {variant, stage.name, role, obstacle, stage.name + "/" + variant.name});
        }
    }

    const Entry* find(std::string_view name) const {
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const Entry& entry) { return entry.name == name; });
        return found == entries.end() ? nullptr : &*found;
    }
};

const Catalogue& catalogue() {
    static const Catalogue all;
    return all;
}

std::string& last_error() {
    static std::string text;
    return text;
}

// A caller's mistake, or something that is not to be had: code and words.
class Refusal : public std::runtime_error {
public:
    Refusal(cudaError_t code, const std::string& words) : std::runtime_error(words), code_(code) {}
    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

int failed(cudaError_t code, const char* words) noexcept {
    try {
        last_error() = words;
    } catch (...) {
        last_error().clear();  // no memory even for that
    }
    return code;
}

// Runs a function's body: what it throws becomes a code and words.
template <class Body>
int guarded(Body body) noexcept {
    try {
        body();
        return cudaSuccess;
    } catch (const Refusal& refusal) {
        return failed(refusal.code(), refusal.what());
    } catch (const runner::CudaError& error) {
        return failed(error.code(), error.what());
    } catch (const std::bad_alloc&) {
        return failed(cudaErrorMemoryAllocation, "the host's memory is full");
    } catch (const std::exception& error) {
        return failed(cudaErrorUnknown, error.what());
    } catch (...) {
        return failed(cudaErrorUnknown, "something was thrown that is no exception");
    }
}

void require(bool condition, const std::string& otherwise) {
    if (!condition) throw Refusal(cudaErrorInvalidValue, otherwise);
}

DType dtype_of(int number) {
    switch (number) {
        case STAGES_FLOAT32:
            return DType::float32;
        case STAGES_FLOAT16:
            return DType::float16;
        case STAGES_BFLOAT16:
            return DType::bfloat16;
        case STAGES_FLOAT64:
            return DType::float64;
    }
    throw Refusal(cudaErrorInvalidValue,
                  "dtype " + std::to_string(number) + " is none that stages.h names");
}

const Entry& entry_of(const char* name) {
    require(name != nullptr, "the name is null");
    const Entry* entry = catalogue().find(name);
    require(entry != nullptr, std::string("nothing is called '") + name + "'");
    if (!entry->obstacle.empty()) {
        throw Refusal(cudaErrorNotSupported, entry->name + " " + entry->obstacle);
    }
    return *entry;
}

Shape shape_of(int64_t rows, int64_t cols) {
    require(rows >= 0 && cols >= 0, "a shape cannot be negative");
    require(cols == 0 || rows <= INT64_MAX / 16 / cols, "a shape of more bytes than 64 bits count");
    return {rows, cols};
}

void require_taken(const Entry& entry, Shape shape, DType dtype) {
    const std::string obstacle = obstacle_of(entry.variant, shape, dtype);
    if (!obstacle.empty()) throw Refusal(cudaErrorNotSupported, entry.name + ": " + obstacle);
}

// How to judge a result of `what`: a callable, or an operation done elsewhere.
runner::Rules rules_for(const char* what, Shape shape, DType dtype) {
    require(what != nullptr, "what to check for is null");
    if (const Entry* entry = catalogue().find(what)) {
        require_taken(*entry, shape, dtype);
        return rules_of(entry->variant, shape, dtype);
    }
    for (const Operation operation :
         {Operation::softmax, Operation::log_softmax, Operation::log_sum_exp}) {
        if (std::string_view(what) == name_of(operation)) return {operation, false, 256, dtype};
    }
    throw Refusal(cudaErrorInvalidValue,
                  std::string("'") + what + "' is neither a callable nor an operation");
}

stages_timing in_c(const runner::Timing& timing) {
    return {timing.us_median, timing.us_min, timing.us_p10, timing.us_p90, timing.repeats};
}

}  // namespace

int stages_abi_version(void) {
    return STAGES_ABI_VERSION;
}

const char* stages_error(void) {
    return last_error().c_str();
}

const stages_callable* stages_callables(size_t* count) {
    const stages_callable* all = nullptr;
    const int status = guarded([&] {
        require(count != nullptr, "count is null");
        *count = 0;
        all = catalogue().callables.data();
        *count = catalogue().callables.size();
    });
    return status == cudaSuccess ? all : nullptr;
}

int stages_workspace_bytes(const char* name, int dtype, int64_t rows, int64_t cols, size_t* bytes) {
    return guarded([&] {
        require(bytes != nullptr, "bytes is null");
        const DType type = dtype_of(dtype);
        const Entry& entry = entry_of(name);
        const Shape shape = shape_of(rows, cols);
        if (elements(shape) > 0) require_taken(entry, shape, type);
        *bytes = workspace_of(entry.variant, shape, type);
    });
}

int stages_call(const char* name, int dtype, const void* x, void* y, int64_t rows, int64_t cols,
                void* workspace, size_t workspace_bytes, void* stream) {
    return guarded([&] {
        const Entry& entry = entry_of(name);
        const DType type = dtype_of(dtype);
        const Shape shape = shape_of(rows, cols);
        if (elements(shape) == 0) return;
        require_taken(entry, shape, type);
        require(x != nullptr && y != nullptr, "x or y is null");
        const size_t needed = workspace_of(entry.variant, shape, type);
        require(needed == 0 || (workspace != nullptr && workspace_bytes >= needed),
                entry.name + " needs a workspace of " + std::to_string(needed) + " bytes here");
        const runner::Call call{
            x, y, type, rows, cols, workspace, workspace_bytes, static_cast<cudaStream_t>(stream)};
        runner::check_cuda(entry.variant.launch(call), "launching " + entry.name);
    });
}

int stages_allocate(size_t bytes, void** memory) {
    return guarded([&] {
        require(memory != nullptr, "memory is null");
        *memory = nullptr;
        const cudaError_t status = cudaMalloc(memory, bytes);
        if (status != cudaSuccess) cudaGetLastError();  // said here, not to be found again later
        runner::check_cuda(status, "allocating " + std::to_string(bytes) + " bytes on the device");
    });
}

int stages_free(void* memory) {
    return guarded([&] { runner::check_cuda(cudaFree(memory), "freeing device memory"); });
}

int stages_copy(void* to, const void* from, size_t bytes) {
    return guarded([&] {
        require(bytes == 0 || (to != nullptr && from != nullptr), "to or from is null");
        runner::check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying");
    });
}

int stages_poison(void* memory, size_t bytes) {
    return guarded([&] {
        require(bytes == 0 || memory != nullptr, "memory is null");
        runner::check_cuda(cudaMemset(memory, 0xff, bytes), "poisoning device memory");
    });
}

int stages_free_memory(size_t* bytes) {
    return guarded([&] {
        require(bytes != nullptr, "bytes is null");
        size_t total = 0;
        runner::check_cuda(cudaMemGetInfo(bytes, &total), "asking for free memory");
    });
}

int stages_fill(const char* input, int dtype, void* x, int64_t rows, int64_t cols) {
    return guarded([&] {
        require(input != nullptr, "the input's name is null");
        const DType type = dtype_of(dtype);
        const Shape shape = shape_of(rows, cols);
        require(x != nullptr || elements(shape) == 0, "x is null");
        for (const runner::Input each : runner::all_inputs()) {
            if (std::string_view(input) != name_of(each)) continue;
            return runner::fill(x, type, shape, each, kSeed);
        }
        throw Refusal(cudaErrorInvalidValue, std::string("no input is called '") + input + "'");
    });
}

int stages_check(const char* what, int dtype, const void* x, const void* y, int64_t rows,
                 int64_t cols, stages_report* report) {
    return guarded([&] {
        const Shape shape = shape_of(rows, cols);
        const runner::Rules rules = rules_for(what, shape, dtype_of(dtype));
        require(x != nullptr && y != nullptr && report != nullptr, "x, y or report is null");
        require(elements(shape) > 0, "there is nothing to check");
        const runner::Report found = runner::check(x, shape, {y, rules});
        *report = {found.checked,
                   found.unchecked,
                   found.mismatches,
                   found.worst_share,
                   found.worst_relative_error,
                   {}};
        std::snprintf(report->description, sizeof(report->description), "%s",
                      describe(found).c_str());
    });
}

int stages_time(const stages_contender* contenders, size_t count, int roof, const void* x,
                size_t bytes, stages_timing* timings, stages_timing* roof_timing,
                stages_timing* empty_timing) {
    return guarded([&] {
        require(contenders != nullptr && timings != nullptr && roof_timing != nullptr &&
                    empty_timing != nullptr && x != nullptr,
                "a pointer is null");
        require(count > 0, "there is nothing to time");
        require(roof == STAGES_ROOF_COPY || roof == STAGES_ROOF_READ, "no such roof");
        if (runner::build_info().backend != "cuda") {
            throw Refusal(cudaErrorNotSupported, "only on a GPU is there anything to time");
        }
        std::vector<runner::Work> works;
        for (size_t i = 0; i < count; ++i) {
            const stages_contender each = contenders[i];
            require(each.work != nullptr, "a contender's work is null");
            works.emplace_back([each, i](cudaStream_t stream) {
                if (each.work(each.context, stream) == 0) return;
                throw Refusal(cudaErrorUnknown, "contender " + std::to_string(i) + " gave up");
            });
        }
        const runner::TimedTogether timed = runner::time_with_roof(
            works, roof == STAGES_ROOF_COPY ? runner::Roof::copy : runner::Roof::read, x,
            {static_cast<int64_t>(bytes), 0, static_cast<int64_t>(bytes)});
        std::transform(timed.works.begin(), timed.works.end(), timings, in_c);
        *roof_timing = in_c(timed.roof);
        *empty_timing = in_c(timed.empty);
    });
}

const char* stages_record_header(void) {
    static std::string text;
    const int status = guarded([&] { text = runner::record_header(); });
    return status == cudaSuccess ? text.c_str() : nullptr;
}

const char* stages_backend(void) {
    static const std::string backend = runner::build_info().backend;
    return backend.c_str();
}
