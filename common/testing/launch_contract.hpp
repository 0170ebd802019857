// SPDX-License-Identifier: MIT
// What every launcher promises, whatever it computes: it works on its stream and on that alone, can be
// captured into a graph, and leaves no error behind. A workspace belongs to one call at a time.
#pragma once
#include <cuda_runtime.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/runner/build_info.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/tensors.hpp"
#include "common/runner/timing.hpp"

namespace testing {

// One problem for a variant: inputs, poisoned outputs, scratch of its own.
class LaunchCase {
public:
    LaunchCase(const runner::Variant& variant, const runner::Shape& shape, runner::DType dtype,
               uint64_t seed = 1)
        : variant_(variant),
          shape_(shape),
          dtype_(dtype),
          inputs_(filled_inputs(*variant.operation, shape, dtype, variant.operation->usual_input(),
                                seed)),
          outputs_(poisoned_outputs(*variant.operation, shape, dtype, inputs_.view())),
          launch_(variant, shape, dtype, inputs_.view(), outputs_.view()) {
        runner::check_cuda(cudaDeviceSynchronize(), "preparing a launch");
        poison_ = bytes(nullptr);
    }

    void launch(cudaStream_t stream) { launch_(stream); }
    void poison() {
        outputs_.poison();
        runner::check_cuda(cudaDeviceSynchronize(), "poisoning results");
    }
    // As the stream sees it: whatever runs on others is not waited for.
    bool is_untouched(cudaStream_t stream) const { return bytes(stream) == poison_; }
    // What is wrong with the results; empty where nothing is.
    std::string fault() const {
        const runner::Report report = variant_.operation->check(
            shape_, dtype_, inputs_.view(),
            {variant_.operation, arithmetic_of(variant_, shape_, dtype_), outputs_.view()});
        return report.good() ? "" : describe(report);
    }

private:
    std::vector<unsigned char> bytes(cudaStream_t stream) const {
        std::vector<unsigned char> all;
        for (const runner::Operand& operand : outputs_.operands()) {
            const auto size = static_cast<size_t>(operand.bytes());
            const size_t before = all.size();
            all.resize(before + size);
            runner::check_cuda(
                cudaMemcpyAsync(all.data() + before, outputs_.view()[operand.name].data, size,
                                cudaMemcpyDeviceToHost, stream),
                "reading results");
        }
        runner::check_cuda(cudaStreamSynchronize(stream), "reading results");
        return all;
    }

    const runner::Variant& variant_;
    runner::Shape shape_;
    runner::DType dtype_;
    runner::Tensors inputs_;
    runner::Tensors outputs_;
    runner::Launcher launch_;
    std::vector<unsigned char> poison_;
};

// That the default stream knows nothing of.
class NonBlockingStream {
public:
    NonBlockingStream() {
        runner::check_cuda(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking),
                           "creating a stream");
    }
    NonBlockingStream(const NonBlockingStream&) = delete;
    NonBlockingStream& operator=(const NonBlockingStream&) = delete;
    ~NonBlockingStream() { cudaStreamDestroy(handle); }
    cudaStream_t handle = nullptr;
};

inline std::string left_behind() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? "" : std::string("it left behind ") + cudaGetErrorName(error);
}

// Captured, nothing runs; replayed, all of it does, as often as it is replayed.
inline std::string breaks_in_a_graph(const runner::Variant& variant, const runner::Shape& shape,
                                     runner::DType dtype) {
    LaunchCase one(variant, shape, dtype);
    const NonBlockingStream stream;
    cudaGraph_t graph = nullptr;
    runner::check_cuda(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal),
                       "beginning a capture");
    std::string wrong;
    try {
        one.launch(stream.handle);
    } catch (const runner::CudaError& error) {
        wrong = std::string("captured: ") + error.what();
    }
    const cudaError_t ended = cudaStreamEndCapture(stream.handle, &graph);
    if (!wrong.empty()) return wrong;
    if (ended != cudaSuccess) {
        cudaGetLastError();  // said here
        return std::string("captured: ") + cudaGetErrorName(ended);
    }
    wrong = left_behind();
    if (!wrong.empty()) return wrong;
    cudaGraphExec_t replay = nullptr;
    runner::check_cuda(cudaGraphInstantiate(&replay, graph, 0), "making a graph ready");
    runner::check_cuda(cudaDeviceSynchronize(), "waiting for what runs beside a capture");
    if (!one.is_untouched(nullptr)) wrong = "captured: something ran at once, on another stream";
    for (int time = 0; time < 2 && wrong.empty(); ++time) {
        one.poison();
        runner::check_cuda(cudaGraphLaunch(replay, stream.handle), "replaying");
        runner::check_cuda(cudaStreamSynchronize(stream.handle), "running a graph");
        wrong = one.fault();
        if (!wrong.empty()) wrong = "replayed: " + wrong;
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    return wrong.empty() ? left_behind() : wrong;
}

// Beside a default stream that is busy, where there is a GPU; two at once, each with scratch of its own.
inline std::string breaks_on_streams(const runner::Variant& variant, const runner::Shape& shape,
                                     runner::DType dtype) {
    const bool gpu = runner::on_gpu();
    LaunchCase first(variant, shape, dtype, 1);
    LaunchCase second(variant, shape, dtype, 2);
    const NonBlockingStream one;
    const NonBlockingStream other;
    constexpr long long kBusy = 50'000'000;  // ns
    if (gpu) {
        first.launch(one.handle);  // kernels are loaded now, which may wait for the GPU
        runner::check_cuda(cudaDeviceSynchronize(), "warming up");
        first.poison();
        runner::spin_for(kBusy, nullptr);
    }
    first.launch(one.handle);
    second.launch(other.handle);
    runner::check_cuda(cudaStreamSynchronize(one.handle), "running on a stream");
    runner::check_cuda(cudaStreamSynchronize(other.handle), "running on a stream");
    if (gpu) {
        if (first.is_untouched(one.handle)) return "it works on another stream than its own";
        const cudaError_t busy = cudaStreamQuery(nullptr);
        if (busy == cudaSuccess) return "it waited for the default stream";
        cudaGetLastError();  // cudaErrorNotReady is an answer
    }
    const std::string wrong = first.fault() + second.fault();
    return wrong.empty() ? left_behind() : wrong;
}

// What of the contract the launcher breaks; empty where it keeps it. (On the CPU device a launch has ended when it
// returns: two at once are no more than two.)
inline std::string breach_of_contract(const runner::Variant& variant, const runner::Shape& shape,
                                      runner::DType dtype) {
    const std::string wrong = breaks_in_a_graph(variant, shape, dtype);
    return wrong.empty() && runner::on_gpu() ? breaks_on_streams(variant, shape, dtype) : wrong;
}

}  // namespace testing
