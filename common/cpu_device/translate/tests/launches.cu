// SPDX-License-Identifier: MIT
// Launches in every form that nvcc takes, some of them on purpose hard to read. Compiled as it is
// by nvcc and translated for the CPU device; each case checks what its kernel wrote.
#include <cuda_runtime.h>

#include <utility>

#include "common/testing/catch.hpp"

extern __shared__ __align__(16) unsigned char global_bytes[];
namespace elsewhere {
extern __shared__ float2 pairs[];
}

namespace {

// An int on the device that kernels write to.
class Cell {
public:
    Cell() {
        cudaMalloc(&data_, sizeof(int));
        cudaMemset(data_, 0, sizeof(int));
    }
    Cell(const Cell&) = delete;
    ~Cell() { cudaFree(data_); }
    int* data() { return data_; }
    int read() {
        int value = -1;
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaMemcpy(&value, data_, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
        return value;
    }

private:
    int* data_ = nullptr;
};

__global__ void add(int* cell, int value) {
    atomicAdd(cell, value);
}
__global__ void add(int* cell, float value) {
    atomicAdd(cell, static_cast<int>(value * 10));
}
__global__ void count(int* cell) {
    atomicAdd(cell, 1);
}
__global__ void count_dynamic(int* cell) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = 1;
    __syncthreads();
    atomicAdd(cell, tile[blockDim.x - 1 - threadIdx.x]);
}

template <int kValue>
__global__ void add_constant(int* cell) {
    atomicAdd(cell, kValue);
}
template <int kFactor, class T>
__global__ void add_product(int* cell, T value) {
    atomicAdd(cell, static_cast<int>(kFactor * value));
}
template <class... Values>
__global__ void add_all(int* cell, Values... values) {
    atomicAdd(cell, (0 + ... + values));
}

template <int kValue>
struct Constant {
    static constexpr int value = kValue;
};
template <class T>
struct Wrapped {
    using type = T;
};
template <class T>
constexpr int one_of(int) {
    return 1;
}
template <int kValue>
constexpr int same(int value) {
    return kValue + value;
}

// Each of these names sees what was written through the others.
__device__ float* block_array() {
    extern __shared__ __align__(8) float values[];
    return values;
}
template <class Row>
__global__ void sum_rows(int* cell) {
    extern __shared__ volatile int rows[][4];
    rows[threadIdx.x][3] = static_cast<int>(sizeof(Row));
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned i = 0; i < blockDim.x; ++i) {
        const int in_bytes = *reinterpret_cast<const int*>(global_bytes + 16 * i + 12);
        const int in_pairs = __float_as_int(elsewhere::pairs[2 * i + 1].y);
        const int in_block = __float_as_int(block_array()[4 * i + 3]);
        atomicAdd(cell, in_bytes + 10 * in_pairs + 100 * in_block);
    }
}

namespace outer {
namespace inner {
template <class T>
__global__ void add_size(int* cell) {
    atomicAdd(cell, static_cast<int>(sizeof(T)));
}
}  // namespace inner
}  // namespace outer

using Kernel = void (*)(int*);
Kernel pick(int which) {
    return which == 0 ? add_constant<5> : count;
}

struct Holder {
    Kernel kernel = add_constant<3>;
    void launch(int* cell) {
        this->kernel<<<1, 1>>>(cell);
        (*this).kernel<<<1, 1>>>(cell);
    }
};

template <class T, int kRows>
struct Launcher {
    static constexpr int kTwice = 2 * kRows;
    static void run(int* cell) {
        constexpr int kThrice = 3 * kRows;
        add_constant<kTwice><<<1, 1>>>(cell);
        add_constant<kThrice><<<1, 1>>>(cell);
        add_product<kRows><<<1, 1>>>(cell, T(2));
        outer::inner::add_size<typename Wrapped<T>::type><<<1, 1>>>(cell);
    }
};

template <class... Values>
void launch_pack(int* cell, Values... values) {
    add_all<<<1, 1>>>(cell, values...);
    add_all<Values...><<<1, 1>>>(cell, std::forward<Values>(values)...);
}

#define LAUNCH(kernel, blocks, ...) kernel<<<blocks, 1>>>(__VA_ARGS__)
// clang-format off
#define LAUNCH_ON_ONE(kernel) \
    kernel<<<1,               \
             1>>>
// clang-format on
#define SUFFIXED(suffix) add_##suffix
#define LAUNCH_PASTED(suffix, value) add_##suffix<value><<<1, 1>>>
#define ONE_BLOCK 1, 1
#define PASS(...) __VA_ARGS__
#define AND_STATUS(launch, status) (launch, status)

}  // namespace

TEST_CASE("a configuration has one to four values") {
    Cell cell;
    count<<<3>>>(cell.data());
    count<<<3, 2>>>(cell.data());
    count_dynamic<<<1, 32, 32 * sizeof(int)>>>(cell.data());
    count<<<dim3(2, 2), dim3{2, 2}, 0, nullptr>>>(cell.data());
    count<<<ONE_BLOCK>>>(cell.data());
    CHECK(cell.read() == 3 + 6 + 32 + 16 + 1);
}

// clang-format off
TEST_CASE("template arguments may hold anything") {
    Cell cell;
    add_constant<Constant<7>::value><<<1, 1>>>(cell.data());
    outer::inner::add_size<Wrapped<Wrapped<double>>::type><<<1, 1>>>(cell.data());
    outer::inner::add_size<std::pair<Wrapped<int>, std::pair<int, int>>><<<1, 1>>>(cell.data());
    ::outer::inner::add_size<char [(4 > 3) ? 9 : 2]><<<1, 1>>>(cell.data());
    add_constant<(1 << 4)><<<1, 1>>>(cell.data());
    add_constant<1 << 4><<<1, 1>>>(cell.data());
    add_constant<(3 < 4)><<<1, 1>>>(cell.data());
    add_constant<1'000><<<1, 1>>>(cell.data());
    add_constant<'>'><<<1, 1>>>(cell.data());
    CHECK(cell.read() == 7 + 1 + 12 + 9 + 16 + 16 + 1 + 1000 + 62);
}
// clang-format on

TEST_CASE("deduced template arguments, overloads and packs") {
    Cell cell;
    add<<<1, 1>>>(cell.data(), 2);
    add<<<1, 1>>>(cell.data(), 0.5f);
    add_product<3><<<1, 1>>>(cell.data(), 1.5);
    launch_pack(cell.data(), 1, 2, 3);
    launch_pack(cell.data());
    CHECK(cell.read() == 2 + 5 + 4 + 6 + 6);
}

TEST_CASE("kernels of templates, and local constants") {
    Cell cell;
    Launcher<float, 4>::run(cell.data());
    constexpr int kLocal = 11;
    add_constant<kLocal><<<1, 1>>>(cell.data());
    const int local = 12;
    add_constant<local><<<1, local>>>(cell.data());
    CHECK(cell.read() == 8 + 12 + 8 + 4 + 11 + 144);
}

TEST_CASE("kernels held in variables and expressions") {
    Cell cell;
    Kernel local = add_constant<2>;
    Kernel table[] = {count, add_constant<4>};
    Kernel* pointer = &table[1];
    Holder holder;
    int calls = 0;
    const auto choose = [&](Kernel kernel) {
        ++calls;
        return kernel;
    };
    local<<<1, 1>>>(cell.data());
    table[calls + 1]<<<1, 1>>>(cell.data());
    (*pointer)<<<1, 1>>>(cell.data());
    (count)<<<1, 1>>>(cell.data());
    pick(0)<<<1, 1>>>(cell.data());
    choose(pick(1))<<<4, 32>>>(cell.data());
    holder.kernel<<<1, 1>>>(cell.data());
    holder.launch(cell.data());
    static_cast<Kernel>(count)<<<1, 1>>>(cell.data());
    [](Kernel parameter, int* data) { parameter<<<1, 1>>>(data); }(local, cell.data());
    CHECK(calls == 1);
    CHECK(cell.read() == 2 + 4 + 4 + 1 + 5 + 128 + 3 + 6 + 1 + 2);
}

// clang-format off
TEST_CASE("a configuration may hold templates, comparisons and calls") {
    Cell cell;
    const int n = 5, m = 3;
    count<<<one_of<Wrapped<Wrapped<int>>>(2), 1>>>(cell.data());
    count<<<same<Constant<1>::value>(1), (n >> 1)>>>(cell.data());
    count<<<n<m ? 7 : 2, 1>>>(cell.data());
    count<<<n > m, 1>>>(cell.data());
    count<<<(n > m ? 1 : 2), [&] { return m; }()>>>(cell.data());
    CHECK(cell.read() == 1 + 4 + 2 + 1 + 3);
}

TEST_CASE("launches in statements, expressions and arguments") {
    Cell cell;
    int* data = cell.data();
    if (data != nullptr) count<<<1, 1>>>(data); else add_constant<100><<<1, 1>>>(data);
    if (data == nullptr) add_constant<100><<<1, 1>>>(data); else count<<<1, 1>>>(data);
    if (data != nullptr) (*pick)(0)<<<1, 1>>>(data);
    for (int i = 0; i < 2; ++i) (count)<<<1, 1>>>(data);
    count<<<1, 1>>>(data); count<<<1, 1>>>(data); /* count<<<1, 1>>>(data); */ count<<<1, 1>>>(data);
    CHECK((count<<<1, 1>>>(data), cudaGetLastError()) == cudaSuccess);
    CHECK(AND_STATUS((add<<<1, 1>>>(data, 20)), cudaGetLastError()) == cudaSuccess);
    data != nullptr ? count<<<1, 1>>>(data) : add_constant<100><<<1, 1>>>(data);
    (void)(count<<<1, 1>>>(data), 0);
    [data] { return count<<<1, 1>>>(data); }();
    add<<<1, 1>>>(data, [&] { count<<<1, 1>>>(data); return 30; }());
    CHECK(cell.read() == 1 + 1 + 5 + 2 + 3 + 1 + 20 + 1 + 1 + 1 + 31);
}
// clang-format on

TEST_CASE("launches in macros and their arguments") {
    Cell cell;
    Kernel local = add_constant<2>;
    LAUNCH(count, 2, cell.data());
    LAUNCH((add_constant<3>), 1, cell.data());
    LAUNCH(local, 1, cell.data());
    LAUNCH_ON_ONE(count)(cell.data());
    LAUNCH_PASTED(constant, 10)(cell.data());
    PASS(count<<<1, 1>>>(cell.data()); add_product<2, int><<<1, 1>>>(cell.data(), 3));
    SUFFIXED(constant)<50><<<1, 1>>>(cell.data());
    CHECK(cell.read() == 2 + 3 + 2 + 1 + 10 + 1 + 6 + 50);
}

// clang-format off
TEST_CASE("launches over many lines") {
    Cell cell;
    const int line_before = __LINE__;
    add_product  // count<<<1, 1>>>(nullptr);
        <
            2,
            int
        >
        /* <<< */ <<<
            1,  // one
            1
        >>> (
            cell.data(),
            4);
    cou\
nt<<<1, 1>>>(cell.data());
    CHECK(__LINE__ == line_before + 14);
    CHECK(cell.read() == 9);
}
// clang-format on

TEST_CASE("dynamic shared memory has many names and is one array") {
    Cell cell;
    sum_rows<double><<<1, 8, 8 * 4 * sizeof(int)>>>(cell.data());
    CHECK(cell.read() == 8 * 888);
}

TEST_CASE("what only looks like a launch stays") {
    const char* text = "count<<<1, 1>>>(x)";
    const char* raw = R"(count<<<1, 1>>>(x) \
")";
    CHECK(text[5] == '<');
    CHECK(raw[18] == ' ');
    CHECK(raw[20] == '\n');
    CHECK("don't <<<"[6] == '<');
}
#if 0
It is no code: count<<<
#endif
