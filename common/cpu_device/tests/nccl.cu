// SPDX-License-Identifier: MIT
// NCCL's collectives between devices: what each computes, by one thread in a group and by a thread per rank; and what is
// said where ranks disagree, are missing, or name wrong memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/cpu_device/devices.hpp"
#include "common/cpu_device/observer.hpp"
#include "failures.cuh"

namespace {

// A communicator over all of several devices, each with two arrays.
template <class T>
class Ranks {
public:
    Ranks(int count, size_t elements) : comms(static_cast<size_t>(count)), elements_(elements) {
        cpu_device::have_devices(count);
        REQUIRE(ncclCommInitAll(comms.data(), count, nullptr) == ncclSuccess);
        for (int rank = 0; rank < count; ++rank) {
            REQUIRE(cudaSetDevice(rank) == cudaSuccess);
            in.push_back(std::make_unique<DeviceArray<T>>(elements));
            out.push_back(std::make_unique<DeviceArray<T>>(elements));
            std::vector<T> values;
            for (size_t i = 0; i < elements; ++i) values.push_back(value(rank, i));
            in.back()->fill(values);
        }
    }
    ~Ranks() {
        for (const ncclComm_t comm : comms) ncclCommDestroy(comm);
        in.clear();
        out.clear();
        cudaSetDevice(0);
        cpu_device::have_devices(1);
    }
    // Small integers: bfloat16 holds their products exactly.
    static T value(int rank, size_t i) {
        return static_cast<T>(static_cast<float>((rank + 1) * (static_cast<int>(i) % 3 + 1)));
    }
    int count() const { return static_cast<int>(comms.size()); }

    // Calls call(rank, comm, in, out) for all ranks in one group.
    template <class Call>
    ncclResult_t in_group(const Call& call) {
        REQUIRE(ncclGroupStart() == ncclSuccess);
        for (size_t rank = 0; rank < comms.size(); ++rank)
            call(static_cast<int>(rank), comms[rank], in[rank]->data(), out[rank]->data());
        return ncclGroupEnd();
    }
    // Holds the first elements of a rank's output to wanted(i).
    void check(int rank, size_t first, const std::function<double(size_t)>& wanted) const {
        const std::vector<T> got = out[static_cast<size_t>(rank)]->read();
        bool is_right = true;
        for (size_t i = 0; i < first; ++i)
            is_right = is_right && static_cast<double>(static_cast<float>(got[i])) == wanted(i);
        INFO("rank " << rank);
        CHECK(is_right);
    }

    std::vector<ncclComm_t> comms;
    std::vector<std::unique_ptr<DeviceArray<T>>> in, out;

private:
    size_t elements_;
};

template <class T>
double number(int rank, size_t i) {
    return static_cast<double>(static_cast<float>(Ranks<T>::value(rank, i)));
}

template <class T>
void reductions_of(ncclDataType_t type) {
    constexpr size_t kElements = 12;
    Ranks<T> ranks(3, kElements);
    const struct {
        ncclRedOp_t operation;
        std::function<double(double, double, double)> of;
    } all[] = {{ncclSum, [](double a, double b, double c) { return a + b + c; }},
               {ncclProd, [](double a, double b, double c) { return a * b * c; }},
               {ncclMax,
                [](double a, double b, double c) {
                    return std::max({a, b, c});
                }},
               {ncclMin,
                [](double a, double b, double c) {
                    return std::min({a, b, c});
                }},
               {ncclAvg, [](double a, double b, double c) { return (a + b + c) / 3; }}};
    for (const auto& each : all) {
        const auto wanted = [&](size_t i) {
            return each.of(number<T>(0, i), number<T>(1, i), number<T>(2, i));
        };
        REQUIRE(ranks.in_group([&](int, ncclComm_t comm, T* in, T* out) {
            CHECK(ncclAllReduce(in, out, kElements, type, each.operation, comm, nullptr) ==
                  ncclSuccess);
        }) == ncclSuccess);
        for (int rank = 0; rank < 3; ++rank) ranks.check(rank, kElements, wanted);
        REQUIRE(ranks.in_group([&](int, ncclComm_t comm, T* in, T* out) {
            ncclReduceScatter(in, out, kElements / 3, type, each.operation, comm, nullptr);
        }) == ncclSuccess);
        for (int rank = 0; rank < 3; ++rank)
            ranks.check(rank, kElements / 3, [&](size_t i) {
                return wanted(i + static_cast<size_t>(rank) * kElements / 3);
            });
    }
}

__global__ void pairs_of_slice(const float* x, int count, float2* pair) {
    float m = -INFINITY, d = 0;
    for (int i = 0; i < count; ++i) m = fmaxf(m, x[i]);
    for (int i = 0; i < count; ++i) d += expf(x[i] - m);
    *pair = make_float2(m, d);
}
__global__ void softmax_of_slice(const float* x, int count, const float2* pairs, int ranks,
                                 float* y) {
    float m = -INFINITY, d = 0;
    for (int rank = 0; rank < ranks; ++rank) m = fmaxf(m, pairs[rank].x);
    for (int rank = 0; rank < ranks; ++rank) d += pairs[rank].y * expf(pairs[rank].x - m);
    for (int i = threadIdx.x; i < count; i += blockDim.x) y[i] = expf(x[i] - m) / d;
}

}  // namespace

TEST_CASE("NCCL reduces in every type, with every operation") {
    reductions_of<float>(ncclFloat32);
    reductions_of<double>(ncclFloat64);
    reductions_of<__half>(ncclFloat16);
    reductions_of<__nv_bfloat16>(ncclBfloat16);
    reductions_of<int32_t>(ncclInt32);
    reductions_of<int64_t>(ncclInt64);
}

TEST_CASE("NCCL moves elements between ranks, in place as well") {
    constexpr size_t kElements = 8;
    Ranks<float> ranks(4, kElements);
    constexpr ncclDataType_t kType = ncclFloat32;
    REQUIRE(ranks.in_group([&](int, ncclComm_t comm, float* in, float* out) {
        ncclBroadcast(in, out, kElements, kType, 2, comm, nullptr);
    }) == ncclSuccess);
    for (int rank = 0; rank < 4; ++rank)
        ranks.check(rank, kElements, [](size_t i) { return number<float>(2, i); });
    REQUIRE(ranks.in_group([&](int, ncclComm_t comm, float* in, float* out) {
        ncclAllGather(in, out, 2, kType, comm, nullptr);
    }) == ncclSuccess);
    for (int rank = 0; rank < 4; ++rank)
        ranks.check(rank, kElements,
                    [](size_t i) { return number<float>(static_cast<int>(i / 2), i % 2); });
    // Around a ring; and both directions of one pair in one group.
    REQUIRE(ranks.in_group([&](int rank, ncclComm_t comm, float* in, float* out) {
        ncclSend(in, kElements, kType, (rank + 1) % 4, comm, nullptr);
        ncclRecv(out, kElements, kType, (rank + 3) % 4, comm, nullptr);
    }) == ncclSuccess);
    for (int rank = 0; rank < 4; ++rank)
        ranks.check(rank, kElements, [&](size_t i) { return number<float>((rank + 3) % 4, i); });
    // Only the root gets a reduction; in place, the outputs replace the inputs.
    REQUIRE(ranks.in_group([&](int, ncclComm_t comm, float* in, float* out) {
        ncclReduce(in, out, kElements, kType, ncclSum, 1, comm, nullptr);
        ncclAllReduce(in, in, kElements, kType, ncclSum, comm, nullptr);
    }) == ncclSuccess);
    ranks.check(1, kElements, [](size_t i) { return 10 * number<float>(0, i); });
    ranks.check(0, kElements,
                [](size_t i) { return number<float>(3, i); });  // still what the ring brought
    CHECK(ranks.in[3]->read()[4] == 10 * number<float>(0, 4));
}

TEST_CASE("a thread per rank needs no group, and merges a softmax over the vocabulary") {
    constexpr int kRanks = 3, kSlice = 50;
    cpu_device::have_devices(kRanks);
    ncclUniqueId id;
    REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
    std::vector<std::vector<float>> slices(kRanks);
    std::vector<int> failures(kRanks, 0);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([&, rank] {
            ncclComm_t comm = nullptr;
            cudaStream_t stream = nullptr;
            float *x = nullptr, *y = nullptr;
            float2 *pair = nullptr, *pairs = nullptr;
            std::vector<float> logits;
            for (int i = 0; i < kSlice; ++i)
                logits.push_back(static_cast<float>((i * 7 + rank * 31) % 40) - 20);
            int wrong = 0;
            wrong += cudaSetDevice(rank) != cudaSuccess;
            wrong += ncclCommInitRank(&comm, kRanks, id, rank) != ncclSuccess;
            wrong += cudaStreamCreate(&stream) != cudaSuccess;
            cudaMalloc(&x, kSlice * sizeof(float));
            cudaMalloc(&y, kSlice * sizeof(float));
            cudaMalloc(&pair, sizeof(float2));
            cudaMalloc(&pairs, kRanks * sizeof(float2));
            cudaMemcpy(x, logits.data(), kSlice * sizeof(float), cudaMemcpyHostToDevice);
            pairs_of_slice<<<1, 1, 0, stream>>>(x, kSlice, pair);
            wrong += ncclAllGather(pair, pairs, 2, ncclFloat32, comm, stream) != ncclSuccess;
            softmax_of_slice<<<1, 32, 0, stream>>>(x, kSlice, pairs, kRanks, y);
            wrong += cudaStreamSynchronize(stream) != cudaSuccess;
            slices[static_cast<size_t>(rank)].resize(kSlice);
            cudaMemcpy(slices[static_cast<size_t>(rank)].data(), y, kSlice * sizeof(float),
                       cudaMemcpyDeviceToHost);
            for (void* memory : {static_cast<void*>(x), static_cast<void*>(y),
                                 static_cast<void*>(pair), static_cast<void*>(pairs)})
                cudaFree(memory);
            cudaStreamDestroy(stream);
            wrong += ncclCommDestroy(comm) != ncclSuccess;
            failures[static_cast<size_t>(rank)] = wrong;
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(failures == std::vector<int>(kRanks, 0));
    double sum = 0, exact = 0;
    for (const auto& slice : slices)
        for (const float value : slice) sum += value;
    CHECK(std::abs(sum - 1) < 1e-5);
    for (int rank = 0; rank < kRanks; ++rank)
        for (int i = 0; i < kSlice; ++i)
            exact += std::exp(static_cast<double>((i * 7 + rank * 31) % 40) - 20);
    CHECK(std::abs(slices[2][3] - std::exp(static_cast<double>((3 * 7 + 62) % 40) - 20) / exact) <
          1e-6);
    cpu_device::have_devices(1);
}

TEST_CASE("ranks that disagree or are missing end with a message, not a hang") {
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.2");
    const auto error = [] { return std::string(ncclGetLastError(nullptr)); };
    {
        Ranks<float> ranks(2, 8);
        CHECK(ranks.in_group([](int rank, ncclComm_t comm, float* in, float* out) {
            ncclAllReduce(in, out, rank == 0 ? 8 : 7, ncclFloat32, ncclSum, comm, nullptr);
        }) == ncclInvalidUsage);
        CHECK_THAT(error(),
                   ContainsSubstring(
                       "of 7 elements, called by rank 1, and ncclAllReduce of 8, by rank 0"));
        CHECK_THAT(error(), ContainsSubstring("another count"));
        CHECK(ranks.in_group([](int rank, ncclComm_t comm, float* in, float* out) {
            if (rank == 0) ncclAllReduce(in, out, 4, ncclFloat32, ncclSum, comm, nullptr);
            if (rank == 1) ncclAllGather(in, out, 4, ncclFloat32, comm, nullptr);
        }) == ncclInvalidUsage);
        CHECK_THAT(error(), ContainsSubstring("another collective"));
        CHECK(ranks.in_group([](int rank, ncclComm_t comm, float* in, float* out) {
            if (rank == 0) ncclSend(in, 4, ncclFloat32, 1, comm, nullptr);
            if (rank == 1) ncclRecv(out, 5, ncclFloat32, 0, comm, nullptr);
        }) == ncclInvalidUsage);
        // One thread that forgets the group, or a rank.
        CHECK(ncclAllReduce(ranks.in[0]->data(), ranks.out[0]->data(), 8, ncclFloat32, ncclSum,
                            ranks.comms[0], nullptr) == ncclInternalError);
        CHECK_THAT(error(), ContainsSubstring("ncclAllReduce of rank 0 waits for rank 1 of 2"));
        CHECK(ranks.in_group([](int rank, ncclComm_t comm, float*, float* out) {
            if (rank == 1) ncclRecv(out, 5, ncclFloat32, 0, comm, nullptr);
        }) == ncclInternalError);
        // What was given up does not meet what comes later.
        CHECK(ranks.in_group([](int, ncclComm_t comm, float* in, float* out) {
            ncclAllReduce(in, out, 8, ncclFloat32, ncclSum, comm, nullptr);
        }) == ncclSuccess);
        CHECK(ncclCommDestroy(ranks.comms[1]) == ncclSuccess);
        CHECK(ncclAllReduce(ranks.in[0]->data(), ranks.out[0]->data(), 8, ncclFloat32, ncclSum,
                            ranks.comms[0], nullptr) == ncclRemoteError);
        CHECK_THAT(error(), ContainsSubstring("whose communicator is destroyed"));
        CHECK(ncclAllReduce(ranks.in[1]->data(), ranks.out[1]->data(), 8, ncclFloat32, ncclSum,
                            ranks.comms[1], nullptr) == ncclInvalidArgument);
    }
    ncclUniqueId id;
    ncclComm_t comm = nullptr;
    REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
    CHECK(ncclCommInitRank(&comm, 3, id, 1) == ncclInternalError);
    CHECK_THAT(error(),
               ContainsSubstring("ncclCommInitRank of rank 1 waits for ranks 0 and 2 of 3"));
    ncclComm_t second = nullptr;
    CHECK(ncclCommInitRank(&second, 3, id, 0) == ncclInvalidUsage);
    CHECK_THAT(error(), ContainsSubstring("ranks 1 and 0 are both on device 0"));
    CHECK(ncclCommInitRank(&second, 2, id, 0) == ncclInvalidArgument);
    CHECK(ncclCommDestroy(comm) == ncclSuccess);
    ncclComm_t comms[2];
    CHECK(ncclCommInitAll(comms, 2, nullptr) == ncclInvalidArgument);
    CHECK_THAT(error(), ContainsSubstring("there is no device 1: there are 1"));
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
}

TEST_CASE("NCCL's calls name wrong memory, ranks, types and streams") {
    const auto error = [] { return std::string(ncclGetLastError(nullptr)); };
    Ranks<float> ranks(2, 8);
    const auto one = [&](const void* in, void* out, size_t count, ncclDataType_t type = ncclFloat32,
                         int root = 0, cudaStream_t stream = nullptr) {
        return ranks.in_group([&](int rank, ncclComm_t comm, float* own_in, float* own_out) {
            ncclReduce(rank == 0 ? in : own_in, rank == 0 ? out : own_out, count, type, ncclSum,
                       root, comm, rank == 0 ? stream : nullptr);
        });
    };
    float* const in = ranks.in[0]->data();
    float* const out = ranks.out[0]->data();
    CHECK(one(nullptr, out, 8) == ncclInvalidArgument);
    CHECK_THAT(error(), ContainsSubstring("sendbuff is a null pointer"));
    CHECK(one(in, out, 8, ncclFloat32, 2) == ncclInvalidArgument);
    CHECK_THAT(error(), ContainsSubstring("rank 2 is none of the communicator's 2"));
    CHECK(one(in, out, 8, ncclFloat8e4m3) == ncclInvalidArgument);
    CHECK_THAT(error(), ContainsSubstring("does not compute with type 10"));
    CHECK(one(ranks.in[1]->data(), out, 8) == ncclUnhandledCudaError);
    CHECK_THAT(error(),
               ContainsSubstring("sendbuff of rank 0 lies on device 1, and the rank is device 0"));
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    cudaStream_t of_second = nullptr;
    REQUIRE(cudaStreamCreate(&of_second) == cudaSuccess);
    CHECK(one(in, out, 8, ncclFloat32, 0, of_second) == ncclInvalidArgument);
    CHECK_THAT(error(), ContainsSubstring("the stream is of device 1, and rank 0 is device 0"));
    // A graph of one rank would wait for the others' for ever.
    REQUIRE(cudaStreamBeginCapture(of_second, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(ncclAllReduce(in, out, 8, ncclFloat32, ncclSum, ranks.comms[1], of_second) ==
          ncclUnhandledCudaError);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(of_second, &graph) != cudaSuccess);
    cudaGetLastError();
    CHECK(cudaStreamDestroy(of_second) == cudaSuccess);
    // Beyond an allocation: as an access of a kernel's.
    CHECK(one(in, out, 9) == ncclUnhandledCudaError);
    CHECK(cudaGetLastError() != cudaSuccess);
    int value = 0;
    CHECK(ncclCommCount(ranks.comms[1], &value) == ncclSuccess);
    CHECK(value == 2);
    CHECK(ncclCommUserRank(ranks.comms[1], &value) == ncclSuccess);
    CHECK(value == 1);
    CHECK(ncclCommCuDevice(ranks.comms[1], &value) == ncclSuccess);
    CHECK(value == 1);
    CHECK(one(in, out, 8) == ncclSuccess);
}
