// SPDX-License-Identifier: MIT
// cuBLAS's calls against sums in double: every operation and type, leading dimensions beyond the matrix, batches, what
// captures, and what is wrong with the arguments.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "device_map.cuh"

namespace {

using Value = std::complex<double>;

template <class T>
Value value_of(T x) {
    return Value(static_cast<double>(static_cast<float>(x)));
}
Value value_of(double x) {
    return x;
}
Value value_of(float2 x) {
    return {x.x, x.y};
}
Value value_of(double2 x) {
    return {x.x, x.y};
}
template <class T>
T made_of(double re, double) {
    return T(static_cast<float>(re));
}
template <>
float2 made_of<float2>(double re, double im) {
    return make_float2(static_cast<float>(re), static_cast<float>(im));
}
template <>
double2 made_of<double2>(double re, double im) {
    return make_double2(re, im);
}

// Small integers: sums of them are exact in every type.
template <class T>
std::vector<T> random_values(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i) {
        const double re = static_cast<int>(random() % 5) - 2,
                     im = static_cast<int>(random() % 5) - 2;
        values.push_back(made_of<T>(re, im));
    }
    return values;
}

struct Handle {
    cublasHandle_t handle = nullptr;
    Handle() { REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS); }
    ~Handle() { cublasDestroy(handle); }
    operator cublasHandle_t() const { return handle; }
};

Value element(const std::vector<Value>& of, size_t low, int ld, cublasOperation_t op, int i,
              int j) {
    const Value x = op == CUBLAS_OP_N ? of[low + i + j * ld] : of[low + j + i * ld];
    return op == CUBLAS_OP_C ? std::conj(x) : x;
}

template <class T>
std::vector<Value> values_of(const std::vector<T>& of) {
    std::vector<Value> values;
    for (const T& x : of) values.push_back(value_of(x));
    return values;
}

// A batch of two products, as one call for each, one for strides and one for pointers.
template <class T, class One, class Strided, class Pointers>
void check_products(One one, Strided strided, Pointers pointers) {
    constexpr int m = 3, n = 4, k = 5, ld = 7, stride = 7 * 7, batch = 2;
    const Handle handle;
    const std::vector<T> a = random_values<T>(stride * batch, 1),
                         b = random_values<T>(stride * batch, 2),
                         c = random_values<T>(stride * batch, 3);
    const T alpha = made_of<T>(2, 1), beta = made_of<T>(-1, 2);
    const std::vector<Value> of_a = values_of(a), of_b = values_of(b), of_c = values_of(c);
    for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
            std::vector<Value> expected = of_c;
            for (int each = 0; each < batch; ++each) {
                for (int j = 0; j < n; ++j) {
                    for (int i = 0; i < m; ++i) {
                        Value sum = 0;
                        for (int p = 0; p < k; ++p) {
                            sum += element(of_a, each * stride, ld, op_a, i, p) *
                                   element(of_b, each * stride, ld, op_b, p, j);
                        }
                        Value& to = expected[each * stride + i + j * ld];
                        to = value_of(alpha) * sum + value_of(beta) * to;
                    }
                }
            }
            const DeviceVector<T> on_a(a), on_b(b), by_one(c), by_stride(c), by_pointer(c);
            std::vector<const T*> all_a, all_b;
            std::vector<T*> all_c;
            for (int each = 0; each < batch; ++each) {
                all_a.push_back(on_a.data() + each * stride);
                all_b.push_back(on_b.data() + each * stride);
                all_c.push_back(by_pointer.data() + each * stride);
                CHECK(one(handle, op_a, op_b, m, n, k, &alpha, all_a.back(), ld, all_b.back(), ld,
                          &beta, by_one.data() + each * stride, ld) == CUBLAS_STATUS_SUCCESS);
            }
            const DeviceVector<const T*> pointers_a(all_a), pointers_b(all_b);
            const DeviceVector<T*> pointers_c(all_c);
            CHECK(strided(handle, op_a, op_b, m, n, k, &alpha, on_a.data(), ld, stride, on_b.data(),
                          ld, stride, &beta, by_stride.data(), ld, stride,
                          batch) == CUBLAS_STATUS_SUCCESS);
            CHECK(pointers(handle, op_a, op_b, m, n, k, &alpha, pointers_a.data(), ld,
                           pointers_b.data(), ld, &beta, pointers_c.data(), ld,
                           batch) == CUBLAS_STATUS_SUCCESS);
            CHECK(values_of(by_one.values()) == expected);
            CHECK(values_of(by_stride.values()) == expected);
            CHECK(values_of(by_pointer.values()) == expected);
        }
    }
}

}  // namespace

TEST_CASE("cuBLAS multiplies as sums in double say, in every type, operation and kind of batch") {
    check_products<__half>(cublasHgemm, cublasHgemmStridedBatched, cublasHgemmBatched);
    check_products<float>(cublasSgemm, cublasSgemmStridedBatched, cublasSgemmBatched);
    check_products<double>(cublasDgemm, cublasDgemmStridedBatched, cublasDgemmBatched);
    check_products<cuComplex>(cublasCgemm, cublasCgemmStridedBatched, cublasCgemmBatched);
    check_products<cuDoubleComplex>(cublasZgemm, cublasZgemmStridedBatched, cublasZgemmBatched);
}

TEST_CASE(
    "cuBLAS: a product too large for one piece is the sum of its pieces, and beta 0 reads no C") {
    const Handle handle;
    constexpr int m = 700, n = 9, k = 150;
    const std::vector<float> a = random_values<float>(m * k, 1), b = random_values<float>(k * n, 2);
    const DeviceVector<float> on_a(a), on_b(b),
        on_c(std::vector<float>(m * n, std::numeric_limits<float>::quiet_NaN()));
    const float one = 1, zero = 0;
    REQUIRE(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, on_a.data(), CUDA_R_32F,
                         m, on_b.data(), CUDA_R_32F, k, &zero, on_c.data(), CUDA_R_32F, m,
                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    const std::vector<float> c = on_c.values();
    int wrong = 0;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += a[i + p * m] * b[p + j * k];
            wrong += sum != c[i + j * m];
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "cuBLAS's vectors: steps back, a result on the device, an extreme from 1 on, large squares") {
    const Handle handle;
    const DeviceVector<float> x({3, -9, 4, 9}), y({1, 2, 3, 4}), result({0});
    int at = 0;
    CHECK(cublasIsamax(handle, 4, x.data(), 1, &at) == CUBLAS_STATUS_SUCCESS);
    CHECK(at == 2);
    CHECK(cublasIsamin(handle, 2, x.data(), 2, &at) == CUBLAS_STATUS_SUCCESS);
    CHECK(at == 1);
    const float two = 2;
    CHECK(cublasSaxpy(handle, 4, &two, x.data(), -1, y.data(), 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(y.values() == std::vector<float>{19, 10, -15, 10});
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    CHECK(cublasSdot(handle, 4, x.data(), 1, y.data(), 1, result.data()) == CUBLAS_STATUS_SUCCESS);
    CHECK(result.values()[0] == 57 - 90 - 60 + 90);
    CHECK(cublasSscal(handle, 2, result.data(), x.data(), 3) == CUBLAS_STATUS_SUCCESS);
    CHECK(x.values() == std::vector<float>{-9, -9, 4, -27});
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    const DeviceVector<double> large({3e200, 4e200});
    double norm = 0;
    CHECK(cublasDnrm2(handle, 2, large.data(), 1, &norm) == CUBLAS_STATUS_SUCCESS);
    CHECK(norm == Approx(5e200));
    float sum = 0;
    CHECK(cublasSasum(handle, 4, x.data(), 1, &sum) == CUBLAS_STATUS_SUCCESS);
    CHECK(sum == 49);
}

TEST_CASE(
    "cuBLAS: a matrix with a vector is a product of matrices, and a triangular solve undoes one") {
    const Handle handle;
    const std::vector<double> a = {2, 1, -1, 9, 3, 5, 9, 9, 4};  // below the diagonal 1, -1, 5
    const DeviceVector<double> on_a(a), x({1, 2, 3}), by_vector({1, 1, 1}), by_matrix({1, 1, 1});
    const double two = 2, three = 3, one = 1, zero = 0;
    CHECK(cublasDgemv(handle, CUBLAS_OP_T, 3, 3, &two, on_a.data(), 3, x.data(), 1, &three,
                      by_vector.data(), 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 1, 3, &two, on_a.data(), 3, x.data(), 3,
                      &three, by_matrix.data(), 3) == CUBLAS_STATUS_SUCCESS);
    CHECK(by_vector.values() == by_matrix.values());

    const DeviceVector<double> lower({2, 1, -1, 0, 3, 5, 0, 0, 4}), b({1, 2, 3, 4, 5, 6}),
        product({0, 0, 0, 0, 0, 0});
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        CHECK(cublasDgemm(handle, op, CUBLAS_OP_N, 3, 2, 3, &one, lower.data(), 3, b.data(), 3,
                          &zero, product.data(), 3) == CUBLAS_STATUS_SUCCESS);
        CHECK(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op,
                          CUBLAS_DIAG_NON_UNIT, 3, 2, &one, on_a.data(), 3, product.data(),
                          3) == CUBLAS_STATUS_SUCCESS);
        CHECK(product.values() == b.values());
        CHECK(cublasDgemm(handle, CUBLAS_OP_N, op, 2, 3, 3, &one, b.data(), 2, lower.data(), 3,
                          &zero, product.data(), 2) == CUBLAS_STATUS_SUCCESS);
        CHECK(cublasDtrsm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, op,
                          CUBLAS_DIAG_NON_UNIT, 2, 3, &one, on_a.data(), 3, product.data(),
                          2) == CUBLAS_STATUS_SUCCESS);
        CHECK(product.values() == b.values());
    }

    const DeviceVector<double> symmetric({2, 1, -1, 1, 3, 5, -1, 5, 4}), by_half({0, 0, 0}),
        by_whole({0, 0, 0});
    CHECK(cublasDsymv(handle, CUBLAS_FILL_MODE_LOWER, 3, &one, on_a.data(), 3, x.data(), 1, &zero,
                      by_half.data(), 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasDgemv(handle, CUBLAS_OP_N, 3, 3, &one, symmetric.data(), 3, x.data(), 1, &zero,
                      by_whole.data(), 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(by_half.values() == by_whole.values());

    const DeviceVector<double> transposed({0, 0, 0, 0, 0, 0});
    CHECK(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 3, &one, b.data(), 3, &zero, nullptr, 2,
                      transposed.data(), 2) == CUBLAS_STATUS_SUCCESS);
    CHECK(transposed.values() == std::vector<double>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("cuBLASLt: bias, GELU and its input, and rows instead of columns") {
    cublasLtHandle_t handle = nullptr;
    REQUIRE(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    // D is 2 x 3, by rows; A 2 x 2, B 2 x 3.
    const DeviceVector<float> a({1, 2, 3, 4}), b({1, 0, -1, 0, 1, 2}), d({0, 0, 0, 0, 0, 0}),
        bias({10, 20}), aux({0, 0, 0, 0, 0, 0});
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t by_rows_2x2 = nullptr, by_rows_2x3 = nullptr;
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&by_rows_2x2, CUDA_R_32F, 2, 2, 2);
    cublasLtMatrixLayoutCreate(&by_rows_2x3, CUDA_R_32F, 2, 3, 3);
    const cublasLtOrder_t rows = CUBLASLT_ORDER_ROW;
    for (const cublasLtMatrixLayout_t layout : {by_rows_2x2, by_rows_2x3}) {
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows);
    }
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    float *const bias_address = bias.data(), *const aux_address = aux.data();
    const int64_t aux_ld = 2;
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof epilogue);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_address,
                                   sizeof bias_address);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux_address,
                                   sizeof aux_address);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld,
                                   sizeof aux_ld);
    const float one = 1, zero = 0;
    REQUIRE(cublasLtMatmul(handle, product, &one, a.data(), by_rows_2x2, b.data(), by_rows_2x3,
                           &zero, d.data(), by_rows_2x3, d.data(), by_rows_2x3, nullptr, nullptr, 0,
                           nullptr) == CUBLAS_STATUS_SUCCESS);
    CHECK(aux.values() == std::vector<float>{11, 23, 12, 24, 13, 25});
    CHECK(d.values()[0] == Approx(11));
    CHECK(d.values()[3] == Approx(23));
    // What it does not have it does not compute.
    const cublasLtEpilogue_t mask = CUBLASLT_EPILOGUE_RELU_AUX;
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &mask, sizeof mask);
    CHECK(cublasLtMatmul(handle, product, &one, a.data(), by_rows_2x2, b.data(), by_rows_2x3, &zero,
                         d.data(), by_rows_2x3, d.data(), by_rows_2x3, nullptr, nullptr, 0,
                         nullptr) == CUBLAS_STATUS_NOT_SUPPORTED);
    cublasLtMatmulDescDestroy(product);
    cublasLtMatrixLayoutDestroy(by_rows_2x2);
    cublasLtMatrixLayoutDestroy(by_rows_2x3);
    cublasLtDestroy(handle);
}

TEST_CASE("cuBLAS: a captured call is done when its graph is launched, and not before") {
    const Handle handle;
    const DeviceVector<float> x({1, 2});
    const float two = 2;
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    cublasSetStream(handle, stream);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cublasSscal(handle, 2, &two, x.data(), 1) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(x.values()[1] == 2);
    REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(x.values()[1] == 8);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_CASE("cuBLAS: wrong arguments are refused, and what is too small spoils the device") {
    const Handle handle;
    const DeviceVector<float> x({1, 2, 3, 4});
    const float one = 1;
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x.data(), 1, x.data(), 2,
                      &one, x.data(), 2) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSscal(nullptr, 2, &one, x.data(), 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    CHECK(cublasSscal(handle, 2, x.data(), x.data(), 1) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cublasSscal(handle, 5, &one, x.data(), 1) == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    std::vector<float> of_host(4);
    CHECK(cublasSscal(handle, 4, &one, of_host.data(), 1) == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(cudaGetLastError() != cudaSuccess);
    // What cuBLAS has and the CPU device has not.
    CHECK(cublasStrmm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                      CUBLAS_DIAG_UNIT, 2, 2, &one, x.data(), 2, x.data(), 2, x.data(),
                      2) == CUBLAS_STATUS_NOT_SUPPORTED);
}
