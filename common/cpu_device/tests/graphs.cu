// SPDX-License-Identifier: MIT
// Streams that capture, and the graphs that come of it. All of it is CUDA, for a GPU as well: nvcc
// compiles this file as it is.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <thread>
#include <vector>

#include "common/testing/skip.hpp"
#include "device_map.cuh"
#include "stream.cuh"

namespace {

__global__ void add(int* to, int value) {
    to[threadIdx.x] += value;
}

__global__ void add_each(int* to, const int* values) {
    to[threadIdx.x] += values[threadIdx.x];
}

// What work() does to the stream, as a graph.
class Graph {
public:
    template <class Work>
    Graph(cudaStream_t stream, Work work) {
        // A non-blocking stream would not wait for what a cudaMemcpy has yet to move.
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        work();
        REQUIRE(cudaStreamEndCapture(stream, &graph_) == cudaSuccess);
        REQUIRE(cudaGraphInstantiate(&exec_, graph_, 0) == cudaSuccess);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        cudaGraphExecDestroy(exec_);
        cudaGraphDestroy(graph_);
    }

    void launch(cudaStream_t stream) const {
        REQUIRE(cudaGraphLaunch(exec_, stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    }

    std::vector<cudaGraphNodeType> node_types() const {
        size_t count = 0;
        REQUIRE(cudaGraphGetNodes(graph_, nullptr, &count) == cudaSuccess);
        std::vector<cudaGraphNode_t> nodes(count);
        if (count > 0) REQUIRE(cudaGraphGetNodes(graph_, nodes.data(), &count) == cudaSuccess);
        std::vector<cudaGraphNodeType> types(count);
        for (size_t i = 0; i < count; i++) {
            REQUIRE(cudaGraphNodeGetType(nodes[i], &types[i]) == cudaSuccess);
        }
        return types;
    }

private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};

cudaStreamCaptureStatus status_of(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    REQUIRE(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    return status;
}

struct Steps {
    int first;
    int second;
};

__global__ void add_steps(int* to, Steps steps) {
    to[0] += steps.first;
    to[1] += steps.second;
}

__global__ void add_cluster_size(int* to) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    to[blockIdx.x] += static_cast<int>(cooperative_groups::this_cluster().num_blocks());
#else
    (void)to;
#endif
}

// Catch2 is not for several threads: each says afterwards whether all went well.
bool capture_and_replay_often(int* data) {
    cudaStream_t stream = nullptr;
    bool good = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
    for (int i = 0; i < 20 && good; i++) {
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t exec = nullptr;
        good &= cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
        add<<<1, 32, 0, stream>>>(data, 1);
        good &= cudaGetLastError() == cudaSuccess;
        good &= cudaStreamEndCapture(stream, &graph) == cudaSuccess;
        good &= cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
        good &= cudaGraphLaunch(exec, stream) == cudaSuccess;
        add<<<1, 32, 0, stream>>>(data, 2);
        good &= cudaGetLastError() == cudaSuccess;
        good &= cudaStreamSynchronize(stream) == cudaSuccess;
        good &= cudaGraphExecDestroy(exec) == cudaSuccess;
        good &= cudaGraphDestroy(graph) == cudaSuccess;
    }
    return cudaStreamDestroy(stream) == cudaSuccess && good;
}

}  // namespace

// ---------------------------------------------------------------- what is captured

TEST_CASE("what a stream captures runs when its graph is launched, and each time") {
    const Stream stream;
    const DeviceVector<int> total({5, 5}), part({9, 9});
    CHECK(status_of(stream) == cudaStreamCaptureStatusNone);
    const Graph graph(stream, [&] {
        CHECK(status_of(stream) == cudaStreamCaptureStatusActive);
        CHECK(cudaMemsetAsync(part.data(), 0, 8, stream) == cudaSuccess);
        add<<<1, 2, 0, stream>>>(part.data(), 3);
        add_each<<<1, 2, 0, stream>>>(total.data(), part.data());
        CHECK(cudaGetLastError() == cudaSuccess);
    });
    CHECK(status_of(stream) == cudaStreamCaptureStatusNone);
    CHECK(graph.node_types() == std::vector<cudaGraphNodeType>{cudaGraphNodeTypeMemset,
                                                               cudaGraphNodeTypeKernel,
                                                               cudaGraphNodeTypeKernel});
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(total.values() == std::vector<int>{5, 5});
    CHECK(part.values() == std::vector<int>{9, 9});
    graph.launch(stream);
    CHECK(total.values() == std::vector<int>{8, 8});
    const Stream other;
    graph.launch(other);
    graph.launch(nullptr);
    CHECK(total.values() == std::vector<int>{14, 14});
}

TEST_CASE("a graph keeps the values of a kernel's arguments") {
    const Stream stream;
    const DeviceVector<int> data({0, 0}), elsewhere({0, 0});
    const Graph graph(stream, [&] {
        int* to = data.data();
        int value = 1;
        add<<<1, 2, 0, stream>>>(to, value);
        value = 10;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(1);
        config.blockDim = dim3(2);
        config.stream = stream;
        CHECK(cudaLaunchKernelEx(&config, add, to, value) == cudaSuccess);
        Steps steps{100, 200};
        void* arguments[] = {&to, &steps};
        CHECK(cudaLaunchKernel(add_steps, dim3(1), dim3(1), arguments, 0, stream) == cudaSuccess);
        steps = {7, 7};
        value = 7;
        to = elsewhere.data();
    });
    graph.launch(stream);
    CHECK(data.values() == std::vector<int>{111, 211});
    CHECK(elsewhere.values() == std::vector<int>{0, 0});
}

TEST_CASE("a graph keeps where a copy goes, and copies what lies there at each launch") {
    const Stream stream;
    const DeviceVector<int> data({0, 0, 0, 0}), copy({0, 0});
    std::vector<int> host{1, 2, 3, 4}, back(2);
    const Graph graph(stream, [&] {
        CHECK(cudaMemcpyAsync(data.data(), host.data(), 16, cudaMemcpyHostToDevice, stream) ==
              cudaSuccess);
        CHECK(cudaMemcpy2DAsync(copy.data(), 4, data.data(), 8, 4, 2, cudaMemcpyDeviceToDevice,
                                stream) == cudaSuccess);
        CHECK(cudaMemcpyAsync(back.data(), copy.data(), 8, cudaMemcpyDeviceToHost, stream) ==
              cudaSuccess);
        CHECK(cudaMemsetAsync(data.data(), 0, 0, stream) == cudaSuccess);
        CHECK(cudaMemcpyAsync(data.data(), host.data(), 0, cudaMemcpyDefault, stream) ==
              cudaSuccess);
    });
    CHECK(graph.node_types() ==
          std::vector<cudaGraphNodeType>(3, cudaGraphNodeTypeMemcpy));  // none for no bytes
    CHECK(back == std::vector<int>{0, 0});
    graph.launch(stream);
    CHECK(back == std::vector<int>{1, 3});
    host = {5, 6, 7, 8};
    graph.launch(stream);
    CHECK(back == std::vector<int>{5, 7});
}

TEST_CASE("a graph of nothing, and one that outlives what it was made from") {
    const Stream stream;
    const Graph nothing(stream, [] {});
    CHECK(nothing.node_types().empty());
    nothing.launch(stream);
    const DeviceVector<int> data({0});
    cudaGraph_t graph = nullptr;
    {
        const Stream short_lived;
        REQUIRE(cudaStreamBeginCapture(short_lived, cudaStreamCaptureModeGlobal) == cudaSuccess);
        add<<<1, 1, 0, short_lived>>>(data.data(), 1);
        REQUIRE(cudaStreamEndCapture(short_lived, &graph) == cudaSuccess);
    }
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    cudaGraphExec_t first = nullptr, second = nullptr;
    REQUIRE(cudaGraphInstantiate(&first, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphInstantiateWithFlags(&second, graph, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(first, stream) == cudaSuccess);
    CHECK(cudaGraphLaunch(second, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(data.values() == std::vector<int>{2});
    CHECK(cudaGraphExecDestroy(first) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(second) == cudaSuccess);
}

TEST_CASE("a graph's nodes are listed as far as there is room") {
    const Stream stream;
    const DeviceVector<int> data({0});
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    for (int i = 0; i < 2; i++) add<<<1, 1, 0, stream>>>(data.data(), 1);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphNode_t nodes[3] = {};
    size_t count = 1;
    CHECK(cudaGraphGetNodes(graph, nodes, &count) == cudaSuccess);
    CHECK((count == 1 && nodes[0] != nullptr && nodes[1] == nullptr));
    count = 3;
    nodes[2] = nodes[0];
    CHECK(cudaGraphGetNodes(graph, nodes, &count) == cudaSuccess);
    CHECK((count == 2 && nodes[1] != nullptr && nodes[2] == nullptr));
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

// ---------------------------------------------------------------- what is not

// How a test finds a launcher that uses a wrong stream.
TEST_CASE("work of another stream runs at once, and is in no graph") {
    const Stream stream;
    const Stream non_blocking;
    const Stream blocking(cudaStreamDefault);
    for (const cudaStream_t other : {cudaStream_t{non_blocking}, cudaStream_t{blocking},
                                     cudaStream_t{nullptr}, cudaStreamPerThread}) {
        const DeviceVector<int> data({0});
        const Graph graph(stream, [&] {
            add<<<1, 1, 0, other>>>(data.data(), 1);
            CHECK(cudaGetLastError() == cudaSuccess);
            add<<<1, 1, 0, stream>>>(data.data(), 10);
            CHECK(cudaGetLastError() == cudaSuccess);
        });
        CHECK(graph.node_types().size() == 1);
        REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
        CHECK(data.values() == std::vector<int>{1});
        graph.launch(stream);
        CHECK(data.values() == std::vector<int>{11});
    }
}

TEST_CASE("streams capture side by side") {
    const Stream first, second;
    const DeviceVector<int> data({0});
    cudaGraph_t graph = nullptr, none = nullptr;
    REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal) == cudaSuccess);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long first_id = 0, second_id = 0;
    CHECK(cudaStreamGetCaptureInfo(first, &status, &first_id) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamGetCaptureInfo(second, &status, &second_id) == cudaSuccess);
    CHECK(first_id != second_id);
    add<<<1, 1, 0, second>>>(data.data(), 1);
    CHECK(cudaStreamEndCapture(first, &none) == cudaSuccess);
    CHECK(cudaStreamEndCapture(second, &graph) == cudaSuccess);
    size_t count = 9;
    CHECK(cudaGraphGetNodes(none, nullptr, &count) == cudaSuccess);
    CHECK(count == 0);
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 1);
    CHECK(cudaGraphDestroy(none) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("two threads of the host capture, launch and replay at the same time") {
    const DeviceVector<int> data(std::vector<int>(64, 0));
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    bool good[2] = {};
    std::thread first([&] { good[0] = capture_and_replay_often(data.data()); });
    std::thread second([&] { good[1] = capture_and_replay_often(data.data() + 32); });
    first.join();
    second.join();
    CHECK((good[0] && good[1]));
    CHECK(data.values() == std::vector<int>(64, 60));
}

TEST_CASE("cooperative launches are captured") {
    const Stream stream;
    const DeviceVector<int> data({0});
    const Graph graph(stream, [&] {
        int* to = data.data();
        int value = 3;
        void* arguments[] = {&to, &value};
        CHECK(cudaLaunchCooperativeKernel(add, dim3(1), dim3(1), arguments, 0, stream) ==
              cudaSuccess);
    });
    graph.launch(stream);
    CHECK(data.values() == std::vector<int>{3});
}

TEST_CASE("launches of clusters are captured") {
    int has_clusters = 0;
    REQUIRE(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0) == cudaSuccess);
    if (has_clusters == 0) return testing::skip("this GPU has no clusters");
    const Stream stream;
    const DeviceVector<int> data({0, 0, 0, 0});
    const Graph graph(stream, [&] {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = 2;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(4);
        config.blockDim = dim3(1);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&config, add_cluster_size, data.data()) == cudaSuccess);
        attribute.val.clusterDim.x = 4;
    });
    graph.launch(stream);
    graph.launch(stream);
    CHECK(data.values() == std::vector<int>{4, 4, 4, 4});
}
