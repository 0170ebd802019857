// SPDX-License-Identifier: MIT
// The host's calls: memory, copies, streams, events, attributes, limits, occupancy.
#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "failures.cuh"

namespace {

// ---------------------------------------------------------------- memory

TEST_CASE("allocations are aligned, apart, and found again") {
    char *first = nullptr, *second = nullptr;
    REQUIRE(cudaMalloc(&first, 1001) == cudaSuccess);
    REQUIRE(cudaMalloc(&second, 1) == cudaSuccess);
    CHECK(reinterpret_cast<uintptr_t>(first) % 256 == 0);
    CHECK(reinterpret_cast<uintptr_t>(second) % 256 == 0);
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, first + 1000) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeDevice);
    CHECK(attributes.hostPointer == nullptr);
    REQUIRE(cudaPointerGetAttributes(&attributes, &attributes) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(first) == cudaSuccess);
    CHECK(cudaFree(second) == cudaSuccess);
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaFree(first) == cudaErrorInvalidValue);
    CHECK(cudaFree(&attributes) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("no memory, and more than there is") {
    void* pointer = &pointer;
    CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
    CHECK(pointer == nullptr);
    size_t free_bytes = 0, total_bytes = 0;
    REQUIRE(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
    CHECK(free_bytes > 0);
    CHECK(free_bytes <= total_bytes);
    CHECK(cudaMalloc(&pointer, total_bytes + 1) == cudaErrorMemoryAllocation);
    CHECK(pointer == nullptr);
    CHECK(cudaMalloc(&pointer, SIZE_MAX) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("a large allocation works from end to end") {
    constexpr size_t kCount = size_t{100} << 20;
    DeviceArray<float> large(kCount);
    write_thread_numbers<<<1, 32>>>(reinterpret_cast<int*>(large.data()) + kCount - 32);
    CHECK(cudaGetLastError() == cudaSuccess);
    int last = 0;
    REQUIRE(cudaMemcpy(&last, large.data() + kCount - 1, sizeof last, cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(last == 31);
}

TEST_CASE("pinned host and managed memory serve both sides") {
    int* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 64 * sizeof(int)) == cudaSuccess);
    write_thread_numbers<<<2, 32>>>(pinned);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(pinned[63] == 63);
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, pinned) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
    CHECK(attributes.hostPointer == pinned);
    CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    int* managed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 64 * sizeof(int)) == cudaSuccess);
    write_thread_numbers<<<2, 32>>>(managed);
    CHECK(managed[63] == 63);
    CHECK(cudaFree(managed) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("copies and fills go where they may") {
    const std::vector<int> values{1, 2, 3, 4, 5, 6};
    DeviceArray<int> data(6);
    data.fill(values);
    CHECK(data.read() == values);
    DeviceArray<int> copy(6);
    REQUIRE(cudaMemcpyAsync(copy.data(), data.data(), 24, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(copy.read() == values);
    REQUIRE(cudaMemset(copy.data() + 1, 0, 8) == cudaSuccess);
    CHECK(copy.read() == std::vector<int>{1, 0, 0, 4, 5, 6});
    int columns[2][2] = {};
    REQUIRE(cudaMemcpy2D(columns, 8, data.data(), 12, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK((columns[0][0] == 1 && columns[0][1] == 2 && columns[1][0] == 4 && columns[1][1] == 5));

    int host[8] = {};
    CHECK(cudaMemcpy(host, data.data(), 28, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, data.data() + 5, 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, host + 4, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, host + 4, 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(nullptr, data.data(), 8, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, data.data(), 8, static_cast<cudaMemcpyKind>(9)) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemset(data.data(), 0, 25) == cudaErrorInvalidValue);
    CHECK(cudaMemset(host, 0, 8) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(columns, 4, data.data(), 12, 8, 2, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidPitchValue);
    cudaGetLastError();
}

TEST_CASE("a fill of rows leaves what is between them") {
    DeviceArray<unsigned char> data(24);
    data.fill(std::vector<unsigned char>(24, 9));
    REQUIRE(cudaMemset2D(data.data() + 1, 8, 0, 3, 3) == cudaSuccess);
    std::vector<unsigned char> wanted(24, 9);
    for (const size_t first : {1, 9, 17}) std::fill_n(wanted.begin() + first, 3, 0);
    CHECK(data.read() == wanted);
    CHECK(cudaMemset2D(data.data(), 2, 0, 3, 3) == cudaErrorInvalidPitchValue);
    CHECK(cudaMemset2D(data.data(), 8, 0, 9, 1) == cudaErrorInvalidPitchValue);
    CHECK(cudaMemset2D(data.data() + 1, 8, 0, 8, 3) == cudaErrorInvalidValue);
    CHECK(cudaMemset2D(data.data(), 8, 0, 8, 0) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("hints are taken for managed memory, and for nothing else") {
    int* managed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 64 * sizeof(int)) == cudaSuccess);
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(managed, 256, here, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 256, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 256, cudaCpuDeviceId) == cudaSuccess);
    CHECK(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
    CHECK(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 257, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(&managed, 4, cudaMemAdviseSetReadMostly, 0) == cudaErrorInvalidValue);
    CHECK(cudaFree(managed) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 256, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("host memory is registered once, and copied as ever") {
    std::vector<int> host(64, 3);
    REQUIRE(cudaHostRegister(host.data(), 256, cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(host.data() + 1, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    DeviceArray<int> data(64);
    REQUIRE(cudaMemcpy(data.data(), host.data(), 256, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(data.read() == host);
    CHECK(cudaHostUnregister(host.data() + 1) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaHostUnregister(host.data()) == cudaSuccess);
    CHECK(cudaHostUnregister(host.data()) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaHostRegister(nullptr, 4, 0) == cudaErrorInvalidValue);
    CHECK(cudaHostRegister(data.data(), 4, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a kernel uses host memory that is registered, up to its end") {
    std::vector<int> host(64, 3);
    REQUIRE(cudaHostRegister(host.data(), 256, cudaHostRegisterMapped) == cudaSuccess);
    int* mapped = nullptr;
    REQUIRE(cudaHostGetDevicePointer(&mapped, host.data(), 0) == cudaSuccess);
    CHECK(mapped == host.data());
    write_thread_numbers<<<1, 64>>>(mapped);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(host.front() == 0);
    CHECK(host.back() == 63);
    write_thread_numbers<<<1, 65>>>(mapped);
    check_failure(cudaErrorIllegalAddress, {"thread (64,0,0)", "which is host memory"});
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, mapped) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
    CHECK(attributes.devicePointer == mapped);
    CHECK(cudaHostUnregister(mapped) == cudaSuccess);
    CHECK(cudaHostGetDevicePointer(&mapped, host.data(), 0) == cudaErrorInvalidValue);
    cudaGetLastError();
    write_thread_numbers<<<1, 64>>>(host.data());
    check_failure(cudaErrorIllegalAddress, {"which is host memory"});
}

TEST_CASE("boxes are copied, slice by slice") {
    // 2 slices of 3 rows of 4 ints, of which the inner 2 x 2 x 2 go.
    std::vector<int> from(24), to(8, -1);
    for (int i = 0; i < 24; i++) from[static_cast<size_t>(i)] = i;
    const cudaExtent all = make_cudaExtent(4 * sizeof(int), 3, 2);
    cudaPitchedPtr device{};
    REQUIRE(cudaMalloc3D(&device, all) == cudaSuccess);
    REQUIRE(cudaMemset3D(device, 0, all) == cudaSuccess);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(from.data(), 16, 16, 3);
    copy.dstPtr = device;
    copy.extent = all;
    copy.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
    copy = {};
    copy.srcPtr = device;
    copy.srcPos = make_cudaPos(sizeof(int), 1, 0);
    copy.dstPtr = make_cudaPitchedPtr(to.data(), 8, 8, 2);
    copy.extent = make_cudaExtent(2 * sizeof(int), 2, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
    CHECK(to == std::vector<int>{5, 6, 9, 10, 17, 18, 21, 22});
    CHECK(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFree(device.ptr) == cudaSuccess);
}

TEST_CASE("a function of the host's runs in its place in a stream, and in each replay of a graph") {
    int least = 1, greatest = 1;
    REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK(greatest <= least);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess);
    int calls = 0;
    const auto count = [](void* data) { ++*static_cast<int*>(data); };
    CHECK(cudaLaunchHostFunc(stream, count, &calls) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(calls == 1);
    CHECK(cudaLaunchHostFunc(stream, nullptr, &calls) == cudaErrorInvalidValue);

    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(stream, count, &calls) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(calls == 1);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    for (int i = 0; i < 2; ++i) REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(calls == 3);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaGetLastError();
}

__device__ int counter_of_the_program = 5;
__constant__ int table_of_the_program[3] = {7, 8, 9};

__global__ void use_program_variables(int* to) {
    counter_of_the_program += 1;
    to[0] = counter_of_the_program + table_of_the_program[1];
}

TEST_CASE("device and constant variables") {
    DeviceArray<int> data(1);
    const int table[3] = {10, 20, 30};
    REQUIRE(cudaMemcpyToSymbol(table_of_the_program, table, sizeof table) == cudaSuccess);
    use_program_variables<<<1, 1>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(data.read()[0] == 26);
    int counter = 0;
    REQUIRE(cudaMemcpyFromSymbol(&counter, counter_of_the_program, sizeof counter) == cudaSuccess);
    CHECK(counter == 6);
}

// ---------------------------------------------------------------- streams and events

TEST_CASE("streams") {
    cudaStream_t stream = nullptr, other = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
    DeviceArray<int> data(64);
    write_thread_numbers<<<2, 32, 0, stream>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    int* late = nullptr;
    REQUIRE(cudaMallocAsync(&late, 256, stream) == cudaSuccess);
    CHECK(cudaMemsetAsync(late, 0, 256, other) == cudaSuccess);
    CHECK(cudaFreeAsync(late, stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(other) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
    write_thread_numbers<<<2, 32, 0, stream>>>(data.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("events measure time") {
    cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
    REQUIRE(cudaEventCreate(&start) == cudaSuccess);
    REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
    float milliseconds = -1.f;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
    DeviceArray<int> data(1024);
    REQUIRE(cudaEventRecord(start) == cudaSuccess);
    write_thread_numbers<<<1, 1024>>>(data.data());
    REQUIRE(cudaEventRecord(stop, nullptr) == cudaSuccess);
    REQUIRE(cudaEventRecord(untimed) == cudaSuccess);
    CHECK(cudaEventSynchronize(stop) == cudaSuccess);
    CHECK(cudaEventQuery(stop) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(nullptr, stop) == cudaSuccess);
    REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
    CHECK(milliseconds > 0.f);
    CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
    for (const cudaEvent_t event : {start, stop, untimed}) {
        CHECK(cudaEventDestroy(event) == cudaSuccess);
        CHECK(cudaEventRecord(event) == cudaErrorInvalidResourceHandle);
    }
    cudaGetLastError();
}

// ---------------------------------------------------------------- errors

TEST_CASE("errors have the toolkit's names and texts") {
    CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
          "an illegal memory access was encountered");
    CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(12345))) ==
          "unrecognized error code");
}

TEST_CASE("a thread of the host finds its own mistakes, and nobody else's") {
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaError_t elsewhere = cudaErrorUnknown;
    std::thread([&] {
        elsewhere = cudaGetLastError();
        cudaMalloc(static_cast<void**>(nullptr), 1);
    }).join();
    CHECK(elsewhere == cudaSuccess);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("a kernel's error is held until somebody asks, or the device is reset") {
    DeviceArray<int> data(32);
    write_thread_numbers<<<2, 32>>>(data.data());
    CHECK(cudaPeekAtLastError() == cudaErrorIllegalAddress);
    int value = 0;
    CHECK(cudaMemcpy(&value, data.data(), 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    CHECK(cudaStreamSynchronize(nullptr) == cudaErrorIllegalAddress);
    write_thread_numbers<<<1, 32>>>(data.data());  // runs, and hides nothing
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(data.read()[31] == 31);
}

// ---------------------------------------------------------------- device, kernels, occupancy

TEST_CASE("the device says what it is, with an H200's limits") {
    int count = 0, device = -1;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    REQUIRE(cudaGetDevice(&device) == cudaSuccess);
    CHECK((count == 1 && device == 0));
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    CHECK(std::string(properties.name) == "CPU device (softmax-stages)");
    CHECK((properties.major == 9 && properties.minor == 0));
    CHECK((properties.multiProcessorCount == 132 && properties.warpSize == 32));
    CHECK((properties.sharedMemPerBlock == 49152 && properties.sharedMemPerBlockOptin == 232448));
    const auto attribute = [](cudaDeviceAttr which) {
        int value = -1;
        CHECK(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
        return value;
    };
    CHECK(attribute(cudaDevAttrMultiProcessorCount) == 132);
    CHECK(attribute(cudaDevAttrL2CacheSize) == 50 << 20);
    CHECK(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == 2048);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == 232448);
    CHECK(attribute(cudaDevAttrMaxRegistersPerMultiprocessor) == 65536);
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) ==
          cudaErrorInvalidValue);
    CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
    CHECK(value >= 12000);
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
    CHECK(cudaCtxResetPersistingL2Cache() == cudaSuccess);
    cudaGetLastError();
}

template <int kBytes>
__global__ void declare_shared(char* to) {
    __shared__ char bytes[kBytes];
    bytes[threadIdx.x] = 1;
    __syncthreads();
    to[threadIdx.x] = bytes[0];
}

__global__ void use_dynamic(float* to, int count) {
    extern __shared__ float row[];
    row[count - 1] = 3.f;
    to[0] = row[count - 1];
}

TEST_CASE("dynamic shared memory beyond 48 KB must be asked for") {
    DeviceArray<float> data(1);
    constexpr int kMost = 227 * 1024;
    use_dynamic<<<1, 1, 50000>>>(data.data(), 12500);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kMost + 1) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost) ==
            cudaSuccess);
    use_dynamic<<<1, 1, kMost>>>(data.data(), kMost / 4);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(data.read()[0] == 3.f);
    cudaFuncAttributes attributes{};
    REQUIRE(cudaFuncGetAttributes(&attributes, use_dynamic) == cudaSuccess);
    CHECK(attributes.maxDynamicSharedSizeBytes == kMost);
    CHECK(attributes.maxThreadsPerBlock == 1024);
}

TEST_CASE("a kernel's own shared memory counts") {
    cudaFuncAttributes attributes{};
    REQUIRE(cudaFuncGetAttributes(&attributes, declare_shared<40000>) == cudaSuccess);
    CHECK(attributes.sharedSizeBytes == 40000);
    DeviceArray<char> data(32);
    declare_shared<40000><<<1, 32, 49152 - 40000>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    declare_shared<40000><<<1, 32, 49152 - 39999>>>(data.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    declare_shared<50000><<<1, 32>>>(data.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("__shared__ variables take 50000 bytes"));
    CHECK(cudaFuncSetAttribute(declare_shared<40000>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               232448 - 39999) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("occupancy follows the documented model") {
    const auto blocks = [](auto kernel, int threads, size_t shared) {
        int count = -1;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads, shared) ==
              cudaSuccess);
        return count;
    };
    CHECK(blocks(write_thread_numbers, 1024, 0) == 2);  // threads
    CHECK(blocks(write_thread_numbers, 256, 0) == 8);
    CHECK(blocks(write_thread_numbers, 250, 0) == 8);         // whole warps
    CHECK(blocks(write_thread_numbers, 32, 0) == 32);         // blocks
    CHECK(blocks(write_thread_numbers, 32, 48 * 1024) == 4);  // shared memory
    CHECK(blocks(declare_shared<40000>, 32, 0) == 5);
    CHECK(blocks(write_thread_numbers, 1025, 0) == 0);
    CHECK(blocks(write_thread_numbers, 32, 100000) == 0);
    int grid = 0, threads = 0;
    REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, write_thread_numbers) ==
            cudaSuccess);
    CHECK((threads == 1024 && grid == 264));
    REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, write_thread_numbers, 0, 300) ==
            cudaSuccess);
    CHECK(threads == 256);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(64);
    config.blockDim = dim3(1024);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 8;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    REQUIRE(cudaOccupancyMaxActiveClusters(&clusters, write_thread_numbers, &config) ==
            cudaSuccess);
    CHECK(clusters == 33);
    REQUIRE(cudaOccupancyMaxPotentialClusterSize(&clusters, write_thread_numbers, &config) ==
            cudaSuccess);
    CHECK(clusters == 8);
}

__global__ void add_up(int* to, short a, long b, double c) {
    *to = static_cast<int>(a + b + c);
}

TEST_CASE("kernels launched through the API convert their arguments") {
    DeviceArray<int> data(1);
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1);
    REQUIRE(cudaLaunchKernelEx(&config, add_up, data.data(), 1, 2, 3) == cudaSuccess);
    CHECK(data.read()[0] == 6);
    int* to = data.data();
    short a = 10;
    long b = 20;
    double c = 30;
    void* arguments[] = {&to, &a, &b, &c};
    REQUIRE(cudaLaunchKernel(add_up, dim3(1), dim3(1), arguments) == cudaSuccess);
    CHECK(data.read()[0] == 60);
    cudaLaunchAttribute serial{};
    serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &serial;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, add_up, data.data(), 1, 1, 1) == cudaSuccess);
}

}  // namespace
