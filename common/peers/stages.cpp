// SPDX-License-Identifier: MIT
// The C ABI of stages.h over the stages' and peers' descriptions.
#include "common/peers/stages.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/peers/catalogue.hpp"
#include "common/peers/problem.hpp"
#include "common/peers/refusal.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/runner/record.hpp"
#include "common/runner/timing.hpp"

namespace {

using library::catalogue;
using library::Entry;
using library::guarded;
using library::Operands;
using library::Problem;
using library::Refusal;
using library::refuse;
using library::require;
using library::Subject;
using library::subject_named;

constexpr uint64_t kSeed = 2018;  // as `./stages run` has it

// A list of the catalogue's, or null and why.
template <class T>
const T* listed(const std::vector<T>& (*list_of)(), size_t* count) {
    const T* all = nullptr;
    const int status = guarded([&] {
        require(count != nullptr, "count is null");
        *count = 0;
        all = list_of().data();
        *count = list_of().size();
    });
    return status == cudaSuccess ? all : nullptr;
}

// Operands as C has them, and what their pointers point to.
class Description {
public:
    void describe(const std::vector<runner::Operand>& operands) {
        operands_ = operands;
        over_.clear();
        in_c_.clear();
        for (const runner::Operand& each : operands_) {
            std::string& over = over_.emplace_back();
            for (const std::string& name : each.may_lie_over)
                over += (over.empty() ? "" : " ") + name;
            in_c_.push_back({each.name.c_str(), name_of(each.role), name_of(each.type),
                             each.dims.data(), each.dims.size(), each.bytes(), over.c_str()});
        }
    }
    const std::vector<stages_operand_info>& in_c() const { return in_c_; }

private:
    std::vector<runner::Operand> operands_;
    std::deque<std::string> over_;
    std::vector<stages_operand_info> in_c_;
};

// Names and numbers as C has them.
template <class InC>
class Pairs {
public:
    template <class Name, class Number>
    void add(const Name& name, Number number) {
        in_c_.push_back({names_.emplace_back(name).c_str(), number});
    }
    const std::vector<InC>& in_c() const { return in_c_; }

private:
    std::deque<std::string> names_;
    std::vector<InC> in_c_;
};

// A shape as C has it.
struct ShapeInC {
    ShapeInC(const runner::Operation& operation, const runner::Shape& shape) {
        const std::vector<std::string> names = operation.size_names(shape);
        for (size_t i = 0; i < names.size(); ++i) sizes.add(names[i], shape[i]);
        for (const auto& [name, value] : shape.options()) options.add(name, value);
    }
    stages_problem problem() const {
        return {STAGES_FLOAT32, sizes.in_c().data(), sizes.in_c().size(), options.in_c().data(),
                options.in_c().size()};
    }

    Pairs<stages_size> sizes;
    Pairs<stages_option> options;
};

stages_timing in_c(const runner::Timing& timing) {
    return {timing.us_median, timing.us_min, timing.us_p10, timing.us_p90, timing.repeats};
}

// Refused where nothing can be timed.
std::vector<runner::Work> works_of(const stages_contender* contenders, size_t count) {
    require(contenders != nullptr, "a pointer is null");
    require(count > 0, "there is nothing to time");
    if (!runner::on_gpu())
        throw Refusal(cudaErrorNotSupported, "only on a GPU is there anything to time");
    std::vector<runner::Work> works;
    for (size_t i = 0; i < count; ++i) {
        const stages_contender each = contenders[i];
        require(each.work != nullptr, "a contender's work is null");
        works.emplace_back([each, i](cudaStream_t stream) {
            if (each.work(each.context, stream) == 0) return;
            throw Refusal(cudaErrorUnknown, "contender " + std::to_string(i) + " gave up");
        });
    }
    return works;
}

int64_t sum_of(const std::vector<int64_t>& all) {
    return std::accumulate(all.begin(), all.end(), int64_t{0});
}

template <class T>
void give(T* to, T value) {
    if (to != nullptr) *to = value;
}

}  // namespace

int stages_abi_version(void) {
    return STAGES_ABI_VERSION;
}

const char* stages_error(void) {
    return library::last_error().c_str();
}

const stages_callable* stages_callables(size_t* count) {
    return listed<stages_callable>(
        []() -> const std::vector<stages_callable>& { return catalogue().callables(); }, count);
}

const stages_operation* stages_operations(size_t* count) {
    return listed<stages_operation>(
        []() -> const std::vector<stages_operation>& { return catalogue().operations(); }, count);
}

int stages_describe(const char* what, const stages_problem* problem,
                    const stages_operand_info** operands, size_t* count) {
    static Description kept;
    return guarded([&] {
        require(operands != nullptr && count != nullptr, "operands or count is null");
        kept.describe(Problem(*subject_named(what).operation, problem).operands);
        *operands = kept.in_c().data();
        *count = kept.in_c().size();
    });
}

int stages_cost(const char* what, const stages_problem* problem, int64_t* bytes_read,
                int64_t* bytes_written, double* operations, int64_t* elements) {
    return guarded([&] {
        const runner::Operation& operation = *subject_named(what).operation;
        const Problem posed(operation, problem);
        const runner::Cost cost = operation.cost(posed.shape, posed.dtype);
        give(bytes_read, sum_of(cost.read));
        give(bytes_written, sum_of(cost.written));
        give(operations, cost.operations);
        give(elements, operation.elements(posed.shape));
    });
}

int stages_record_fields(const char* what, const stages_problem* problem,
                         const stages_size** fields, size_t* count) {
    static Pairs<stages_size> kept;
    return guarded([&] {
        require(fields != nullptr && count != nullptr, "fields or count is null");
        const runner::Operation& operation = *subject_named(what).operation;
        kept = {};
        for (const auto& [name, value] : operation.record_fields(Problem(operation, problem).shape))
            kept.add(name, value);
        if (operation.swept(Problem(operation, problem).shape)) kept.add("swept", 1);
        *fields = kept.in_c().data();
        *count = kept.in_c().size();
    });
}

int stages_measured_problems(const char* what, int quick, const stages_problem** problems,
                             size_t* count) {
    static std::deque<ShapeInC> shapes;
    static std::vector<stages_problem> kept;
    return guarded([&] {
        require(problems != nullptr && count != nullptr, "problems or count is null");
        const Subject subject = subject_named(what);
        std::vector<runner::Shape> measured =
            subject.operation->measured_at({runner::on_gpu(), quick != 0});
        if (subject.entry != nullptr && !subject.entry->variant.measured_at.empty())
            measured = subject.entry->variant.measured_at;
        shapes.clear();
        kept.clear();
        for (const runner::Shape& shape : measured)
            kept.push_back(shapes.emplace_back(*subject.operation, shape).problem());
        *problems = kept.data();
        *count = kept.size();
    });
}

int stages_workspace_bytes(const char* name, const stages_problem* problem, size_t* bytes) {
    return guarded([&] {
        require(bytes != nullptr, "bytes is null");
        const Entry& entry = library::callable_named(name);
        const Problem posed(*entry.variant.operation, problem);
        if (!posed.is_empty) require_taken(entry, posed.shape, posed.dtype);
        *bytes = posed.is_empty ? 0 : workspace_of(entry.variant, posed.shape, posed.dtype);
    });
}

int stages_call(const char* name, const stages_problem* problem, const stages_operand* operands,
                size_t count, void* workspace, size_t workspace_bytes, void* stream) {
    return guarded([&] {
        const Entry& entry = library::callable_named(name);
        const Problem posed(*entry.variant.operation, problem);
        const Operands given(posed, operands, count);
        const runner::View view = given.all();
        if (posed.is_empty) return;
        require_taken(entry, posed.shape, posed.dtype);
        given.require_apart();
        const size_t needed = workspace_of(entry.variant, posed.shape, posed.dtype);
        if (needed > 0 && (workspace == nullptr || workspace_bytes < needed))
            refuse(entry.name + " needs a workspace of " + std::to_string(needed) + " bytes here");
        const runner::Call call{posed.shape, posed.dtype,     view,
                                workspace,   workspace_bytes, static_cast<cudaStream_t>(stream)};
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

int stages_fill(const char* what, const stages_problem* problem, const char* input,
                const stages_operand* operands, size_t count) {
    return guarded([&] {
        const runner::Operation& operation = *subject_named(what).operation;
        require(input != nullptr, "the input's name is null");
        const Problem posed(operation, problem);
        const std::vector<runner::NamedInput> known = operation.inputs();
        if (std::none_of(known.begin(), known.end(),
                         [&](const runner::NamedInput& each) { return each.name == input; }))
            refuse(operation.name() + " has no input called '" + input + "'");
        const runner::View inputs = Operands(posed, operands, count).inputs();
        if (!posed.is_empty) operation.fill(posed.shape, posed.dtype, input, kSeed, inputs);
    });
}

int stages_check(const char* what, const stages_problem* problem, const stages_operand* operands,
                 size_t count, stages_report* report) {
    return guarded([&] {
        require(report != nullptr, "report is null");
        const Subject subject = subject_named(what);
        const Problem posed(*subject.operation, problem);
        runner::Result result{subject.operation, {}, {}};
        if (subject.entry != nullptr) {
            require_taken(*subject.entry, posed.shape, posed.dtype);
            result.arithmetic = arithmetic_of(subject.entry->variant, posed.shape, posed.dtype);
        }
        const Operands given(posed, operands, count);
        const runner::View inputs = given.inputs_before();
        result.outputs = given.outputs();
        require(!posed.is_empty, "there is nothing to check");
        const runner::Report found =
            subject.operation->check(posed.shape, posed.dtype, inputs, result);
        *report = {found.checked,
                   found.unchecked,
                   found.mismatches,
                   found.worst_share,
                   found.worst_relative_error,
                   {}};
        std::string description = describe(found);
        if (!found.judged()) report->share_of_bound = std::numeric_limits<double>::infinity();
        if (const auto overwritten = given.overwritten()) {
            report->mismatches += overwritten->elements;
            report->share_of_bound = std::numeric_limits<double>::infinity();
            description = overwritten->text;
        }
        std::snprintf(report->description, sizeof(report->description), "%s", description.c_str());
    });
}

int stages_time(const stages_contender* contenders, size_t contender_count, const char* what,
                const stages_problem* problem, const stages_operand* operands, size_t count,
                stages_timing* timings, stages_timing* roof_timing, stages_timing* empty_timing) {
    return guarded([&] {
        require(timings != nullptr && roof_timing != nullptr && empty_timing != nullptr,
                "a pointer is null");
        const runner::Operation& operation = *subject_named(what).operation;
        const Problem posed(operation, problem);
        const Operands given(posed, operands, count);
        const runner::View inputs = given.inputs();
        const runner::View outputs = given.outputs();
        require(!posed.is_empty, "there is nothing to time");
        const std::vector<runner::Work> works = works_of(contenders, contender_count);
        const runner::TimedTogether timed = runner::time_with_roof(
            works, runner::roof_for(operation, posed.shape, posed.dtype, inputs, outputs));
        std::transform(timed.works.begin(), timed.works.end(), timings, in_c);
        *roof_timing = in_c(timed.roof);
        *empty_timing = in_c(timed.empty);
    });
}

int stages_time_in_blocks(const stages_contender* contenders, size_t contender_count,
                          stages_timing* timings) {
    return guarded([&] {
        require(timings != nullptr, "a pointer is null");
        const std::vector<runner::Timing> timed =
            runner::time_in_blocks(works_of(contenders, contender_count));
        std::transform(timed.begin(), timed.end(), timings, in_c);
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
