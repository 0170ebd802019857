// SPDX-License-Identifier: MIT
// The runtime API beyond memory, streams and launches: pools, advice, graphs that the program builds, several devices, and
// what is refused.
#include <cuComplex.h>
#include <cuda_profiler_api.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/cpu_device/devices.hpp"
#include "failures.cuh"
#include "stream.cuh"

namespace {

__global__ void add(int* x, int n, int value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] += value;
}

__global__ void count_down(int* x, cudaGraphConditionalHandle goes_on) {
    *x -= 1;
    cudaGraphSetConditional(goes_on, *x > 0 ? 1 : 0);
}

uint64_t bytes_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t bytes = 0;
    REQUIRE(cudaMemPoolGetAttribute(pool, attribute, &bytes) == cudaSuccess);
    return bytes;
}

TEST_CASE("a pool counts what it gave, and keeps as much as its threshold says") {
    cudaMemPoolProps of{};
    of.allocType = cudaMemAllocationTypePinned;
    of.location = {cudaMemLocationTypeDevice, 0};
    of.maxSize = 1 << 20;
    cudaMemPool_t pool = nullptr;
    REQUIRE(cudaMemPoolCreate(&pool, &of) == cudaSuccess);
    const Stream stream;
    char *first = nullptr, *second = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&first, 1000, pool, stream) == cudaSuccess);
    REQUIRE(cudaMallocAsync(&second, 3000, pool, stream) == cudaSuccess);
    CHECK(bytes_of(pool, cudaMemPoolAttrUsedMemCurrent) == 4000);
    CHECK(cudaMallocFromPoolAsync(&first, 1 << 20, pool, stream) == cudaErrorMemoryAllocation);
    uint64_t threshold = 2000;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) ==
          cudaSuccess);
    CHECK(cudaFreeAsync(second, stream) == cudaSuccess);
    CHECK(bytes_of(pool, cudaMemPoolAttrUsedMemCurrent) == 1000);
    CHECK(bytes_of(pool, cudaMemPoolAttrReservedMemCurrent) == 2000);
    CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
    CHECK(bytes_of(pool, cudaMemPoolAttrReservedMemCurrent) == 1000);
    CHECK(bytes_of(pool, cudaMemPoolAttrUsedMemHigh) == 4000);
    // The device's own pool is not chosen, and cannot be destroyed.
    cudaMemPool_t chosen = nullptr;
    REQUIRE(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
    REQUIRE(cudaDeviceGetMemPool(&chosen, 0) == cudaSuccess);
    CHECK(chosen == pool);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    REQUIRE(cudaDeviceGetMemPool(&chosen, 0) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(chosen) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolTrimTo(pool, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("advice on managed memory is kept") {
    int* managed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 4096) == cudaSuccess);
    const cudaMemLocation host{cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, host) == cudaSuccess);
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetAccessedBy, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 4096, 0) == cudaSuccess);
    const auto attribute = [&](cudaMemRangeAttribute which) {
        int value = 77;
        CHECK(cudaMemRangeGetAttribute(&value, sizeof value, which, managed, 4096) == cudaSuccess);
        return value;
    };
    CHECK(attribute(cudaMemRangeAttributeReadMostly) == 1);
    CHECK(attribute(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
    CHECK(attribute(cudaMemRangeAttributeAccessedBy) == 0);
    CHECK(attribute(cudaMemRangeAttributeLastPrefetchLocation) == 0);
    CHECK(cudaMemPrefetchAsync(managed, 4096, 1) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(managed, 4097, 0) == cudaErrorInvalidValue);
    CHECK(cudaFree(managed) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("streams say what they are") {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100) == cudaSuccess);
    int priority = 0, device = -1;
    unsigned flags = 0;
    CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
    CHECK(priority == -5);
    CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
    CHECK(flags == cudaStreamNonBlocking);
    CHECK(cudaStreamGetDevice(stream, &device) == cudaSuccess);
    CHECK(device == 0);
    cudaStreamAttrValue value{};
    value.accessPolicyWindow.num_bytes = 64;
    const auto window = cudaStreamAttributeAccessPolicyWindow;
    CHECK(cudaStreamSetAttribute(stream, window, &value) == cudaSuccess);
    const Stream other;
    CHECK(cudaStreamCopyAttributes(other, stream) == cudaSuccess);
    value = {};
    CHECK(cudaStreamGetAttribute(other, window, &value) == cudaSuccess);
    CHECK(value.accessPolicyWindow.num_bytes == 64);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("every attribute of a device has a value") {
    for (int i = 1; i <= cudaDevAttrHostMemoryPoolsSupported; i++) {
        int value = 0;
        const auto attribute = static_cast<cudaDeviceAttr>(i);
        const bool is_named = (i < 92 || i > 96 || i == 95 || i == 96) && i != 44 &&
                              !(i >= 102 && i <= 105) && i != 107 && i != 110 &&
                              !(i >= 122 && i <= 124) && !(i >= 127 && i <= 129) && i != 132 &&
                              i != 136 && i != 137 && i != 141;
        CAPTURE(i);
        CHECK((cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess) == is_named);
    }
    cudaGetLastError();
}

// ---------------------------------------------------------------- graphs

TEST_CASE("a graph of nodes runs them behind what they depend on") {
    DeviceArray<int> x(100);
    std::vector<int> result(100, -1);
    int n = 100, value = 3;
    int* data = x.data();
    void* arguments[] = {&data, &n, &value};
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaKernelNodeParams kernel{(void*)add, dim3(4), dim3(32), 0, arguments, nullptr};
    cudaMemsetParams fill{data, 0, 1, 4, 100, 1};
    cudaGraphNode_t copied = nullptr, added = nullptr, filled = nullptr;
    REQUIRE(cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, result.data(), data,
                                     100 * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &kernel) == cudaSuccess);
    REQUIRE(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill) == cudaSuccess);
    const cudaGraphNode_t from[] = {filled, added}, to[] = {added, copied};
    REQUIRE(cudaGraphAddDependencies(graph, from, to, 2) == cudaSuccess);
    CHECK(cudaGraphAddDependencies(graph, from, to, 1) == cudaErrorInvalidValue);
    size_t roots = 0;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess);
    CHECK(roots == 1);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(result[99] == 4);

    // The node keeps its arguments; the executable graph can get others, and a changed graph's.
    value = 5;
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(result[0] == 4);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, added, &kernel) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(result[0] == 6);
    fill.value = 10;
    CHECK(cudaGraphMemsetNodeSetParams(filled, &fill) == cudaSuccess);
    cudaGraphExecUpdateResultInfo update;
    CHECK(cudaGraphExecUpdate(exec, graph, &update) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(result[0] == 13);
    CHECK(cudaGraphNodeSetEnabled(exec, added, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(result[0] == 10);
    CHECK(cudaGraphRemoveDependencies(graph, from, to, 1) == cudaSuccess);
    CHECK(cudaGraphExecUpdate(exec, graph, &update) == cudaErrorGraphExecUpdateFailure);
    CHECK(update.result == cudaGraphExecUpdateErrorTopologyChanged);
    const cudaGraphNode_t back[] = {copied};
    CHECK(cudaGraphAddDependencies(graph, back, from + 1, 1) == cudaSuccess);
    cudaGraphExec_t none = nullptr;
    CHECK(cudaGraphInstantiate(&none, graph) == cudaErrorInvalidValue);  // a circle
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaGraphNodeGetDependencies(added, nullptr, &roots) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a conditional node runs its graph while the kernel says so") {
    DeviceArray<int> x(2);
    x.fill({4, 0});
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaGraphConditionalHandle goes_on = 0;
    REQUIRE(cudaGraphConditionalHandleCreate(&goes_on, graph, 1, cudaGraphCondAssignDefault) ==
            cudaSuccess);
    cudaGraphNodeParams of{};
    of.type = cudaGraphNodeTypeConditional;
    of.conditional = {goes_on, cudaGraphCondTypeWhile, 1, nullptr};
    cudaGraphNode_t loop = nullptr, inner = nullptr;
    REQUIRE(cudaGraphAddNode(&loop, graph, nullptr, 0, &of) == cudaSuccess);
    int *counter = x.data(), *turns = x.data() + 1, one = 1;
    void* of_count[] = {&counter, &goes_on};
    void* of_add[] = {&turns, &one, &one};
    cudaKernelNodeParams count{(void*)count_down, dim3(1), dim3(1), 0, of_count, nullptr};
    cudaKernelNodeParams turn{(void*)add, dim3(1), dim3(1), 0, of_add, nullptr};
    cudaGraph_t body = of.conditional.phGraph_out[0];
    REQUIRE(cudaGraphAddKernelNode(&inner, body, nullptr, 0, &count) == cudaSuccess);
    REQUIRE(cudaGraphAddKernelNode(&inner, body, &inner, 1, &turn) == cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(x.read() == std::vector<int>{0, 4});
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a graph's memory is there from its node to the one that frees it, at each launch") {
    const Stream stream;
    std::vector<int> result(32, 0);
    int* memory = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaMallocAsync(&memory, 32 * sizeof(int), stream) == cudaSuccess);
    CHECK(cudaMemsetAsync(memory, 0, 32 * sizeof(int), stream) == cudaSuccess);
    add<<<1, 32, 0, stream>>>(memory, 32, 7);
    CHECK(cudaMemcpyAsync(result.data(), memory, 32 * sizeof(int), cudaMemcpyDeviceToHost,
                          stream) == cudaSuccess);
    CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    for (int turn = 0; turn < 2; turn++) {
        result[31] = 0;
        CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
        CHECK(result[31] == 7);
        CHECK(cudaMemset(memory, 0, 4) == cudaErrorInvalidValue);  // freed again
    }
    uint64_t used = 1, most = 0;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used) == cudaSuccess);
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most) == cudaSuccess);
    CHECK(used == 0);
    CHECK(most == 32 * sizeof(int));
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a stream joins a capture by an event, and has to come back") {
    const Stream first, second;
    DeviceArray<int> x(32);
    x.fill(std::vector<int>(32, 0));
    cudaEvent_t fork = nullptr, join = nullptr;
    REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
    REQUIRE(cudaEventCreate(&join) == cudaSuccess);
    for (const bool comes_back : {true, false}) {
        REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
        add<<<1, 32, 0, first>>>(x.data(), 32, 1);
        CHECK(cudaEventRecord(fork, first) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(second, fork) == cudaSuccess);
        add<<<1, 32, 0, second>>>(x.data(), 32, 2);
        CHECK(cudaEventRecord(join, second) == cudaSuccess);
        if (comes_back) {
            CHECK(cudaStreamWaitEvent(first, join) == cudaSuccess);
        }
        cudaGraph_t graph = nullptr;
        const cudaError_t ended = cudaStreamEndCapture(first, &graph);
        CHECK(ended == (comes_back ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
        if (graph == nullptr) continue;
        cudaGraphExec_t exec = nullptr;
        REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
        CHECK(x.read()[31] == 0);
        CHECK(cudaGraphLaunch(exec, first) == cudaSuccess);
        CHECK(x.read()[31] == 3);
        CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    CHECK(cudaEventDestroy(fork) == cudaSuccess);
    CHECK(cudaEventDestroy(join) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a kernel is launched by its address alone") {
    DeviceArray<int> x(32);
    x.fill(std::vector<int>(32, 0));
    int n = 32, value = 9;
    int* data = x.data();
    void* arguments[] = {&data, &n, &value};
    const void* const address = (const void*)add;
    CHECK(cudaLaunchKernel(address, dim3(1), dim3(32), arguments) == cudaSuccess);
    CHECK(x.read()[31] == 9);
    CHECK(cudaLaunchKernel(static_cast<const void*>(&n), dim3(1), dim3(32), arguments) ==
          cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

// ---------------------------------------------------------------- several devices

TEST_CASE("each device has memory and streams of its own, and lets others in when asked") {
    cpu_device::have_devices(2);
    int count = 0, can = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(count == 2);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess);
    CHECK(can == 1);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    int* of_second = nullptr;
    REQUIRE(cudaMalloc(&of_second, 32 * sizeof(int)) == cudaSuccess);
    const Stream stream_of_second;
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, of_second) == cudaSuccess);
    CHECK(attributes.device == 1);
    DeviceArray<int> of_first(32);
    of_first.fill(std::vector<int>(32, 5));
    CHECK(cudaMemcpyPeer(of_second, 1, of_first.data(), 0, 32 * sizeof(int)) == cudaSuccess);

    add<<<1, 32>>>(of_second, 32, 1);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("memory of device 1, which a kernel of device 0 may use only "
                                 "after cudaDeviceEnablePeerAccess"));
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    add<<<1, 32>>>(of_second, 32, 1);
    CHECK(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cudaMemcpy(of_first.data(), of_second, 32 * sizeof(int), cudaMemcpyDefault) ==
          cudaSuccess);
    CHECK(of_first.read()[31] == 6);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaSuccess);

    add<<<1, 32, 0, stream_of_second>>>(of_first.data(), 32, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaFree(of_second) == cudaSuccess);
    cpu_device::have_devices(1);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

// ---------------------------------------------------------------- what is refused, and small headers

TEST_CASE("what the device cannot do says so once, by name") {
    cudaIpcMemHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&handle, nullptr) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("cudaIpcGetMemHandle"));
    CHECK(cudaGraphicsUnregisterResource(nullptr) == cudaErrorNotSupported);
    CHECK(cudaIpcGetMemHandle(&handle, nullptr) == cudaErrorNotSupported);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("cudaGraphicsUnregisterResource"));
    cudaGetLastError();
}

TEST_CASE("complex numbers are pairs") {
    const cuComplex product = cuCmulf(make_cuComplex(1, 2), make_cuComplex(3, -1));
    CHECK(product.x == 5);
    CHECK(product.y == 5);
    const cuDoubleComplex large = make_cuDoubleComplex(std::ldexp(3, 600), std::ldexp(4, 600));
    CHECK(cuCabs(large) == std::ldexp(5, 600));
    CHECK(cuCdiv(large, large).x == 1);
    CHECK(cuCdiv(large, large).y == 0);
    CHECK(cudaProfilerStart() == cudaSuccess);
}

}  // namespace
