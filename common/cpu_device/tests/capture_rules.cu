// SPDX-License-Identifier: MIT
// What may not be done while a stream captures, and how CUDA says so. All of it is CUDA, for a GPU
// as well: nvcc compiles this file as it is, and the codes are those of an H100 with CUDA 13.0.
#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_map.cuh"
#include "stream.cuh"

namespace {

__global__ void set(int* to, int value) {
    *to = value;
}

cudaError_t launch(int* to, cudaStream_t stream, unsigned threads = 1) {
    set<<<1, threads, 0, stream>>>(to, 1);
    return cudaPeekAtLastError();
}

constexpr unsigned kBlocking = cudaStreamDefault;
constexpr unsigned kNonBlocking = cudaStreamNonBlocking;
constexpr cudaStreamCaptureMode kModes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

using Call = std::function<cudaError_t(cudaStream_t capturing)>;

// Makes the call while a stream captures. If it gives an error, that must invalidate the capture.
void check_call(unsigned flags, cudaStreamCaptureMode mode, const Call& call, cudaError_t wanted,
                bool in_another_thread = false) {
    const Stream stream(flags);
    CAPTURE(flags, mode, in_another_thread);
    REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
    cudaError_t returned = cudaSuccess, last = cudaSuccess;
    const auto make_call = [&] {
        returned = call(stream);
        last = cudaGetLastError();
    };
    if (in_another_thread) {
        std::thread(make_call).join();
    } else {
        make_call();
    }
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    const bool good = wanted == cudaSuccess;
    CHECK(returned == wanted);
    CHECK(last == wanted);
    CHECK(status == (good ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated));
    CHECK(ended == (good ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
    CHECK((graph != nullptr) == good);
    if (graph != nullptr) CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    cudaGetLastError();
    // The stream is as good as new.
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

// What is allowed in relaxed mode only.
cudaError_t unless_relaxed(cudaStreamCaptureMode mode) {
    return mode == cudaStreamCaptureModeRelaxed ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

}  // namespace

TEST_CASE("work on the legacy stream ends the capture of a blocking stream, and of no other") {
    const DeviceVector<int> data({0, 0});
    int* const to = data.data();
    int host = 0;
    cudaEvent_t event = nullptr;
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    const std::vector<std::pair<std::string, Call>> calls{
        {"launch", [&](cudaStream_t) { return launch(to, nullptr); }},
        {"launch, by name", [&](cudaStream_t) { return launch(to, cudaStreamLegacy); }},
        {"fill", [&](cudaStream_t) { return cudaMemsetAsync(to, 0, 4, nullptr); }},
        {"cudaMemset", [&](cudaStream_t) { return cudaMemset(to, 0, 4); }},
        {"copy",
         [&](cudaStream_t) { return cudaMemcpyAsync(to, &host, 4, cudaMemcpyDefault, nullptr); }},
        {"cudaMemcpy",
         [&](cudaStream_t) { return cudaMemcpy(&host, to, 4, cudaMemcpyDeviceToHost); }},
        {"event", [&](cudaStream_t) { return cudaEventRecord(event, nullptr); }},
    };
    for (const auto& [name, call] : calls) {
        CAPTURE(name);
        for (const cudaStreamCaptureMode mode : kModes) {
            check_call(kBlocking, mode, call, cudaErrorStreamCaptureImplicit);
            check_call(kBlocking, mode, call, cudaErrorStreamCaptureImplicit, true);
            check_call(kNonBlocking, mode, call, cudaSuccess);
        }
    }
    CHECK(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("the legacy stream cannot say whether it captures while a blocking stream does") {
    for (const unsigned flags : {kBlocking, kNonBlocking}) {
        const Stream stream(flags);
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        CHECK(cudaStreamIsCapturing(nullptr, &status) ==
              (flags == kBlocking ? cudaErrorStreamCaptureImplicit : cudaSuccess));
        cudaGetLastError();
        CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
        CHECK(status == cudaStreamCaptureStatusActive);  // to ask is allowed
        cudaGraph_t graph = nullptr;
        CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
}

TEST_CASE("nobody waits for what is only being captured") {
    const Stream other;
    for (const cudaStreamCaptureMode mode : kModes) {
        for (const unsigned flags : {kBlocking, kNonBlocking}) {
            for (const bool elsewhere : {false, true}) {
                const auto refused = [&](const Call& call) {
                    check_call(flags, mode, call, cudaErrorStreamCaptureUnsupported, elsewhere);
                };
                refused([](cudaStream_t) { return cudaDeviceSynchronize(); });
                refused([](cudaStream_t stream) { return cudaStreamSynchronize(stream); });
                refused([](cudaStream_t stream) { return cudaStreamQuery(stream); });
            }
            check_call(
                flags, mode, [&](cudaStream_t) { return cudaStreamSynchronize(other); },
                unless_relaxed(mode));
            check_call(
                flags, mode, [](cudaStream_t) { return cudaStreamSynchronize(nullptr); },
                flags == kBlocking ? cudaErrorStreamCaptureImplicit : unless_relaxed(mode));
        }
    }
}

TEST_CASE("what may hide a dependency from a capture is allowed as its mode says") {
    const auto allocate = [](cudaStream_t) {
        void* memory = nullptr;
        const cudaError_t error = cudaMalloc(&memory, 64);
        return error == cudaSuccess ? cudaFree(memory) : error;
    };
    const auto free_nothing = [](cudaStream_t) { return cudaFree(nullptr); };
    const auto allocate_for_host = [](cudaStream_t) {
        void* memory = nullptr;
        const cudaError_t error = cudaMallocHost(&memory, 64);
        return error == cudaSuccess ? cudaFreeHost(memory) : error;
    };
    for (const cudaStreamCaptureMode mode : kModes) {
        for (const Call& call : {Call(allocate), Call(free_nothing), Call(allocate_for_host)}) {
            check_call(kNonBlocking, mode, call, unless_relaxed(mode));
            const bool everywhere = mode == cudaStreamCaptureModeGlobal;
            check_call(kNonBlocking, mode, call,
                       everywhere ? cudaErrorStreamCaptureUnsupported : cudaSuccess, true);
        }
        // A thread may say that it knows what it does.
        const auto allocate_all_the_same = [&](cudaStream_t stream) {
            cudaStreamCaptureMode own = cudaStreamCaptureModeRelaxed;
            CHECK(cudaThreadExchangeStreamCaptureMode(&own) == cudaSuccess);
            CHECK(own == cudaStreamCaptureModeGlobal);
            const cudaError_t error = allocate(stream);
            CHECK(cudaThreadExchangeStreamCaptureMode(&own) == cudaSuccess);
            CHECK(own == cudaStreamCaptureModeRelaxed);
            return error;
        };
        check_call(kNonBlocking, mode, allocate_all_the_same, cudaSuccess);
    }
}

TEST_CASE("a capture frees nothing that it did not allocate") {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 64) == cudaSuccess);
    const Stream stream;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaFreeAsync(memory, stream) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("questions are answered while a stream captures") {
    check_call(
        kBlocking, cudaStreamCaptureModeGlobal,
        [](cudaStream_t) {
            size_t free_bytes = 0, total_bytes = 0;
            cudaStream_t another = nullptr;
            CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
            CHECK(cudaStreamCreate(&another) == cudaSuccess);
            return cudaStreamDestroy(another);
        },
        cudaSuccess);
}

TEST_CASE("events in a capture order what is captured, and tell no time") {
    const Stream other;
    cudaEvent_t outside = nullptr, inside = nullptr;
    REQUIRE(cudaEventCreate(&outside) == cudaSuccess);
    REQUIRE(cudaEventCreate(&inside) == cudaSuccess);
    REQUIRE(cudaEventRecord(outside, other) == cudaSuccess);
    for (const cudaStreamCaptureMode mode : kModes) {
        const auto check = [&](const Call& call, cudaError_t wanted) {
            check_call(kNonBlocking, mode, call, wanted);
        };
        check([&](cudaStream_t stream) { return cudaEventRecord(inside, stream); }, cudaSuccess);
        check(
            [&](cudaStream_t stream) {
                CHECK(cudaEventRecord(inside, stream) == cudaSuccess);
                return cudaStreamWaitEvent(stream, inside, 0);
            },
            cudaSuccess);
        check(
            [&](cudaStream_t stream) {
                CHECK(cudaEventRecord(inside, stream) == cudaSuccess);
                return cudaEventQuery(inside);
            },
            cudaErrorCapturedEvent);
        check(
            [&](cudaStream_t stream) {
                CHECK(cudaEventRecord(inside, stream) == cudaSuccess);
                return cudaEventSynchronize(inside);
            },
            cudaErrorCapturedEvent);
        check(
            [&](cudaStream_t stream) {
                CHECK(cudaEventRecord(inside, stream) == cudaSuccess);
                return cudaStreamWaitEvent(nullptr, inside, 0);
            },
            cudaErrorStreamCaptureImplicit);
        check([&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, outside, 0); },
              cudaErrorStreamCaptureIsolation);
        check([&](cudaStream_t) { return cudaEventQuery(outside); }, unless_relaxed(mode));
    }
    // What was recorded in a capture says nothing once that is over.
    check_call(
        kNonBlocking, cudaStreamCaptureModeGlobal,
        [&](cudaStream_t stream) { return cudaEventRecord(inside, stream); }, cudaSuccess);
    CHECK(cudaEventQuery(inside) == cudaErrorInvalidValue);
    CHECK(cudaEventSynchronize(inside) == cudaErrorInvalidValue);
    CHECK(cudaStreamWaitEvent(other, inside, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaEventRecord(inside, other) == cudaSuccess);
    CHECK(cudaEventSynchronize(inside) == cudaSuccess);
    CHECK(cudaEventDestroy(outside) == cudaSuccess);
    CHECK(cudaEventDestroy(inside) == cudaSuccess);
}

TEST_CASE("a launch that is wrong, and one into an invalidated capture") {
    const DeviceVector<int> data({0});
    for (const cudaStreamCaptureMode mode : kModes) {
        check_call(
            kNonBlocking, mode,
            [&](cudaStream_t stream) { return launch(data.data(), stream, 2000); },
            cudaErrorInvalidValue);
        check_call(
            kNonBlocking, mode,
            [&](cudaStream_t stream) {
                set<<<1, 1, 99999, stream>>>(data.data(), 1);
                return cudaPeekAtLastError();
            },
            cudaErrorInvalidValue);
        check_call(
            kNonBlocking, mode,
            [&](cudaStream_t stream) {
                CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
                cudaGetLastError();
                return launch(data.data(), stream);
            },
            cudaErrorStreamCaptureInvalidated);
    }
}

TEST_CASE("launching graphs, and making them, while a stream captures") {
    const Stream other;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(other, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    for (const cudaStreamCaptureMode mode : kModes) {
        check_call(
            kBlocking, mode, [&](cudaStream_t) { return cudaGraphLaunch(exec, other); },
            cudaSuccess);
        check_call(
            kBlocking, mode, [&](cudaStream_t) { return cudaGraphLaunch(exec, nullptr); },
            cudaErrorStreamCaptureImplicit);
        check_call(
            kBlocking, mode, [&](cudaStream_t stream) { return cudaGraphLaunch(exec, stream); },
            cudaErrorStreamCaptureUnsupported);
        check_call(
            kNonBlocking, mode,
            [&](cudaStream_t) {
                cudaGraphExec_t another = nullptr;
                const cudaError_t error = cudaGraphInstantiate(&another, graph, 0);
                return error == cudaSuccess ? cudaGraphExecDestroy(another) : error;
            },
            unless_relaxed(mode));
    }
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("captures begin and end where they may") {
    cudaGraph_t graph = nullptr;
    const Stream stream, other;
    CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
          cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    CHECK(cudaStreamEndCapture(nullptr, &graph) == cudaErrorIllegalState);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
    CHECK(cudaStreamEndCapture(other, &graph) == cudaErrorIllegalState);
    CHECK(cudaGetLastError() == cudaErrorIllegalState);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(graph != nullptr);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    check_call(
        kBlocking, cudaStreamCaptureModeRelaxed,
        [&](cudaStream_t) { return cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal); },
        cudaErrorStreamCaptureImplicit);
    cudaGetLastError();
}

TEST_CASE("only a relaxed capture is ended by another thread") {
    for (const cudaStreamCaptureMode mode : kModes) {
        const Stream stream;
        REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
        cudaGraph_t graph = nullptr;
        cudaError_t ended = cudaSuccess;
        std::thread([&] { ended = cudaStreamEndCapture(stream, &graph); }).join();
        const bool relaxed = mode == cudaStreamCaptureModeRelaxed;
        CHECK(ended == (relaxed ? cudaSuccess : cudaErrorStreamCaptureWrongThread));
        CHECK((graph != nullptr) == relaxed);
        if (graph != nullptr) CHECK(cudaGraphDestroy(graph) == cudaSuccess);
        // It is over, all the same.
        CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
        CHECK(cudaGetLastError() == cudaErrorIllegalState);
    }
}

TEST_CASE("no graph") {
    cudaGraphExec_t exec = nullptr;
    size_t count = 0;
    CHECK(cudaGraphInstantiate(&exec, nullptr, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(nullptr, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaGraphExecDestroy(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaGraphDestroy(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaGraphGetNodes(nullptr, nullptr, &count) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}
