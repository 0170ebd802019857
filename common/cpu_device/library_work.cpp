// SPDX-License-Identifier: MIT
#include "library_work.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "api.hpp"
#include "capture.hpp"
#include "common/io/standard_output.hpp"
#include "cpu_device/refused_library.h"
#include "launch.hpp"
#include "memory.hpp"
#include "observer.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

size_t extent_of(const LibraryOperand& operand) {
    return operand.runs == 0 ? 0 : operand.pitch * (operand.runs - 1) + operand.bytes;
}

void say_once(const std::string& call) {
    static std::atomic<bool> is_said{false};
    if (!is_strict() || is_said.exchange(true)) return;
    io::say(stderr, "note: " + call +
                        ": calls of CUDA's libraries are computed by the host, and nothing of "
                        "them is counted");
}

cudaError_t check(const char* call, const std::vector<LibraryOperand>& operands) {
    for (const LibraryOperand& operand : operands) {
        const size_t bytes = extent_of(operand);
        if (operand.bytes == 0 || bytes == 0) continue;
        const std::string verb = std::string(call) + (operand.is_written ? " writes" : " reads") +
                                 " " + operand.name + ",";
        if (const cudaError_t error = check_device_range(operand.low, bytes, verb.c_str())) {
            remember_failure(cudaErrorIllegalAddress);
            return error;
        }
        if (const cudaError_t error = work_on_host(bytes)) return remembered(error);
    }
    return cudaSuccess;
}

void tell_observer(const std::vector<LibraryOperand>& operands, bool of_reads) {
    Observer* const watcher = observer();
    if (watcher == nullptr) return;
    for (const LibraryOperand& operand : operands) {
        if (of_reads ? !operand.is_read : !operand.is_written) continue;
        const bool is_one = operand.pitch == operand.bytes || operand.runs == 1;
        const size_t runs = is_one ? 1 : operand.runs;
        const size_t bytes = is_one ? operand.bytes * operand.runs : operand.bytes;
        for (size_t run = 0; run < runs; ++run) {
            const uintptr_t low = as_address(operand.low) + run * operand.pitch;
            if (of_reads) {
                watcher->read_by_host(low, bytes, true);
            } else {
                watcher->written_by_host(low, bytes);
            }
        }
    }
}

}  // namespace

void refuse_library_call(const char* library, const char* call) {
    static std::mutex mutex;
    static auto* const said = new std::set<std::string>;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!said->insert(call).second) return;
    explained(cudaErrorNotSupported, "%s: the CPU device does not have %s", call, library);
}

cudaError_t use_operands(const char* call, const std::vector<LibraryOperand>& operands,
                         const std::function<void()>& work) {
    if (const cudaError_t error = check(call, operands)) return error;
    tell_observer(operands, true);
    work();
    tell_observer(operands, false);
    return cudaSuccess;
}

cudaError_t submit_library_work(const char* call, cudaStream_t stream,
                                std::function<cudaError_t()> work) {
    refuse_to_kernels();
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    say_once(call);
    const auto unless_failed = [work = std::move(work)] {
        const cudaError_t failure = pending_failure();
        return failure == cudaSuccess ? work() : failure;
    };
    if (admission.capture == 0) return unless_failed();
    return record(admission, cudaGraphNodeTypeKernel, unless_failed);
}

}  // namespace cpu_device
