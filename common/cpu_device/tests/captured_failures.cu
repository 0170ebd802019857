// SPDX-License-Identifier: MIT
// What the CPU device alone says of captures and graphs: mistakes in kernels that were captured,
// what it cannot capture, and handles that are no longer good.
#include <string>

#include "failures.cuh"
#include "stream.cuh"

namespace {

cudaGraphExec_t capture(cudaStream_t stream, void (*work)(cudaStream_t stream, int* to), int* to) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    work(stream, to);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    return exec;
}

constexpr int kStoreLine = __LINE__ + 2;
__global__ void store_past_the_end(int* to) {
    to[32 + threadIdx.x] = 1;
}

TEST_CASE("a captured kernel's mistake is found when the graph is launched") {
    const Stream stream;
    DeviceArray<int> data(32);
    data.fill(std::vector<int>(32, 7));
    const auto work = [](cudaStream_t on, int* to) {
        store_past_the_end<<<1, 32, 0, on>>>(to);
        write_thread_numbers<<<1, 32, 0, on>>>(to);
        CHECK(cudaGetLastError() == cudaSuccess);
    };
    const cudaGraphExec_t exec = capture(stream, work, data.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, stream) == cudaErrorIllegalAddress);
        CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
        check_failure(cudaErrorIllegalAddress, {"kernel store_past_the_end", "store of 4 bytes",
                                                at_line("tests/captured_failures.cu", kStoreLine)});
        CHECK(data.read()[31] == 7);  // what comes after a mistake is not run
    }
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
}

TEST_CASE("memory that is freed between capture and launch") {
    const Stream stream;
    int* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 128) == cudaSuccess);
    const cudaGraphExec_t fill = capture(
        stream,
        [](cudaStream_t on, int* to) { CHECK(cudaMemsetAsync(to, 0, 128, on) == cudaSuccess); },
        memory);
    const cudaGraphExec_t kernel = capture(
        stream, [](cudaStream_t on, int* to) { write_thread_numbers<<<1, 32, 0, on>>>(to); },
        memory);
    REQUIRE(cudaGraphLaunch(fill, stream) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(kernel, stream) == cudaSuccess);
    REQUIRE(cudaFree(memory) == cudaSuccess);
    CHECK(cudaGraphLaunch(fill, stream) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(kernel, stream) == cudaErrorIllegalAddress);
    check_failure(cudaErrorIllegalAddress, {"kernel write_thread_numbers", "use after free"});
    CHECK(cudaGraphExecDestroy(fill) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(kernel) == cudaSuccess);
}

TEST_CASE("a copy of what is not there is refused, and harms no capture") {
    const Stream stream;
    DeviceArray<int> data(8);
    int host[8] = {};
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaMemcpyAsync(nullptr, data.data(), 4, cudaMemcpyDefault, stream) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(host, data.data(), 36, cudaMemcpyDeviceToHost, stream) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemsetAsync(data.data(), 0, 36, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(host, data.data(), 4, static_cast<cudaMemcpyKind>(9), stream) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    size_t count = 9;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 0);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a launch on the legacy stream says why it is refused") {
    const Stream stream(cudaStreamDefault);
    DeviceArray<int> data(32);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    write_thread_numbers<<<1, 32>>>(data.data());
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("kernel write_thread_numbers cannot be launched: the legacy "
                                 "default stream would wait for a stream that is capturing"));
    write_thread_numbers<<<1, 32, 0, stream>>>(data.data());
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("an earlier call has invalidated the capture"));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

// The capture must not seem to have gone well without what was left out of it.
template <class Call>
void check_unsupported(Call call, const char* what) {
    const Stream stream;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(call(stream) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    CHECK_THAT(std::string(cpu_device::last_error_text()), StartsWith(what));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

TEST_CASE("what the CPU device cannot capture, it says") {
    check_unsupported(
        [](cudaStream_t stream) { return cudaMemPrefetchAsync(nullptr, 64, 0, stream); },
        "cudaMemPrefetchAsync cannot be captured");
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal) ==
          cudaErrorNotSupported);
    CHECK_THAT(std::string(cpu_device::last_error_text()), StartsWith("cudaStreamPerThread"));
    cudaGetLastError();
}

TEST_CASE("handles that were given back, and streams that were destroyed") {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    DeviceArray<int> data(32);
    const cudaGraphExec_t exec = capture(
        stream, [](cudaStream_t, int*) {}, data.data());
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(exec) == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
    // A stream takes its capture with it.
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorInvalidResourceHandle);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    cudaGetLastError();
}

}  // namespace
