// SPDX-License-Identifier: MIT
//
// cuBLAS's products of matrices: gemm in all its forms, and what is one of a special matrix.
#include <algorithm>

#include "common/cpu_device/libraries/cublas_handle.hpp"

namespace cpu_device::blas {
namespace {

struct Given {
    const void* at;
    cudaDataType type;
    int ld;
    long long stride = 0;               // from one matrix of a batch to the next, in elements
    const void* const* each = nullptr;  // or an address for each, on the device
};

struct Gemm {
    cublasOperation_t op_a, op_b;
    int m, n, k;
    const void *alpha, *beta;
    Given a, b, c;
    int batch = 1;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

cudaDataType scale_type(const Gemm& gemm) {
    const bool is_complex_product = gemm.a.type == CUDA_C_32F || gemm.a.type == CUDA_C_64F;
    switch (gemm.compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return CUDA_R_16F;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return CUDA_R_32I;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return is_complex_product ? CUDA_C_64F : CUDA_R_64F;
        default:
            return is_complex_product ? CUDA_C_32F : CUDA_R_32F;
    }
}

Arithmetic arithmetic_of(cudaDataType scale) {
    return scale == CUDA_R_32I   ? Arithmetic::of_integers
           : scale == CUDA_R_64F ? Arithmetic::of_double
           : scale == CUDA_C_32F ? Arithmetic::of_complex_float
           : scale == CUDA_C_64F ? Arithmetic::of_complex_double
                                 : Arithmetic::of_float;
}

void require_gemm(Call& call, const Gemm& gemm) {
    call.require(gemm.m >= 0 && gemm.n >= 0 && gemm.k >= 0 && gemm.batch >= 0,
                 "m, n, k are %d, %d, %d, of %d matrices", gemm.m, gemm.n, gemm.k, gemm.batch);
    call.require_type("A", gemm.a.type);
    call.require_type("B", gemm.b.type);
    call.require_type("C", gemm.c.type);
    call.require_ld("a", gemm.a.ld, gemm.op_a == CUBLAS_OP_N ? gemm.m : gemm.k);
    call.require_ld("b", gemm.b.ld, gemm.op_b == CUBLAS_OP_N ? gemm.k : gemm.n);
    call.require_ld("c", gemm.c.ld, gemm.m);
}

const void* address_of(const Given& given, int i) {
    if (given.each != nullptr) return given.each[i];
    return static_cast<const char*>(given.at) +
           given.stride * i * static_cast<long long>(bytes_of(given.type));
}

// What `op` makes rows x columns of.
Matrix operand(const Given& given, int i, int rows, int columns, cublasOperation_t op) {
    if (op == CUBLAS_OP_T || op == CUBLAS_OP_C) std::swap(rows, columns);
    return operated(matrix(given.type, address_of(given, i), rows, columns, given.ld), op);
}

cudaError_t multiply_one(const char* name, const Gemm& gemm, int i, const Number& alpha,
                         const Number& beta) {
    const Matrix a = operand(gemm.a, i, gemm.m, gemm.k, gemm.op_a),
                 b = operand(gemm.b, i, gemm.k, gemm.n, gemm.op_b),
                 c = operand(gemm.c, i, gemm.m, gemm.n, CUBLAS_OP_N);
    std::vector<LibraryOperand> operands{operand_of("C", c, beta != 0.0, true)};
    if (alpha != 0.0 && gemm.k != 0) {
        operands.push_back(operand_of("A", a, true, false));
        operands.push_back(operand_of("B", b, true, false));
    }
    return use_operands(name, operands, [&] {
        multiply({a, b, c, c, arithmetic_of(scale_type(gemm)), alpha, beta, {}});
    });
}

cublasStatus_t run(const char* name, cublasHandle_t handle, const Gemm& gemm) {
    Call call(name, handle);
    require_gemm(call, gemm);
    const Scalar alpha = call.scalar("alpha", scale_type(gemm), gemm.alpha),
                 beta = call.scalar("beta", scale_type(gemm), gemm.beta);
    return call.submit([=] {
        if (gemm.m == 0 || gemm.n == 0) return cudaSuccess;
        Number by = 0, plus = 0;
        if (const cudaError_t error = read_scalar(name, alpha, by)) return error;
        if (const cudaError_t error = read_scalar(name, beta, plus)) return error;
        for (const Given* const given : {&gemm.a, &gemm.b, &gemm.c}) {
            if (given->each == nullptr) continue;
            const LibraryOperand addresses{"an array of pointers", given->each,
                                           static_cast<size_t>(gemm.batch) * sizeof(void*)};
            if (const cudaError_t error = use_operands(name, {addresses}, [] {})) return error;
        }
        for (int i = 0; i < gemm.batch; ++i) {
            if (const cudaError_t error = multiply_one(name, gemm, i, by, plus)) return error;
        }
        return cudaSuccess;
    });
}

template <class T>
cublasComputeType_t compute_type() {
    const cudaDataType type = type_of<T>();
    return type == CUDA_R_16F                         ? CUBLAS_COMPUTE_16F
           : type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F
                                                      : CUBLAS_COMPUTE_32F;
}

template <class T>
const void* const* addresses(T* const* of) {
    return reinterpret_cast<const void* const*>(of);
}

// ---------------------------------------------------------------- special matrices

// A symmetric matrix of which one half is stored, whole.
template <class T>
std::vector<T> whole_symmetric(const T* a, int n, int lda, cublasFillMode_t fill) {
    std::vector<T> whole(static_cast<size_t>(n) * n);
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < n; ++i) {
            const bool is_stored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
            whole[i + j * n] = is_stored ? a[i + j * lda] : a[j + i * lda];
        }
    }
    return whole;
}

template <class T>
cublasStatus_t symm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, int m, int n, const T* alpha, const T* a, int lda,
                    const T* b, int ldb, const T* beta, T* c, int ldc) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const int size = is_left ? m : n;
    call.require(m >= 0 && n >= 0, "m, n are %d, %d", m, n);
    call.require_ld("a", lda, size);
    call.require_ld("b", ldb, m);
    call.require_ld("c", ldc, m);
    const Scalar by = call.scalar("alpha", type, alpha), plus = call.scalar("beta", type, beta);
    return call.submit([=] {
        Number alpha_value = 0, beta_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        if (const cudaError_t error = read_scalar(name, plus, beta_value)) return error;
        const Matrix to = matrix(type, c, m, n, ldc), other = matrix(type, b, m, n, ldb);
        // The half that is not stored may be unwritten.
        LibraryOperand half = operand_of("A", matrix(type, a, size, size, lda), false, false);
        return use_operands(name,
                            {operand_of("C", to, beta_value != 0.0, true), half,
                             operand_of("B", other, true, false)},
                            [&] {
                                const std::vector<T> whole = whole_symmetric(a, size, lda, fill);
                                const Matrix symmetric =
                                    matrix(type, whole.data(), size, size, size);
                                multiply({is_left ? symmetric : other,
                                          is_left ? other : symmetric,
                                          to,
                                          to,
                                          arithmetic_of(type),
                                          alpha_value,
                                          beta_value,
                                          {}});
                            });
    });
}

template <class T>
cublasStatus_t syrk(const char* name, cublasHandle_t handle, cublasFillMode_t fill,
                    cublasOperation_t op, int n, int k, const T* alpha, const T* a, int lda,
                    const T* beta, T* c, int ldc) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    call.require(n >= 0 && k >= 0, "n, k are %d, %d", n, k);
    call.require_ld("a", lda, op == CUBLAS_OP_N ? n : k);
    call.require_ld("c", ldc, n);
    const Scalar by = call.scalar("alpha", type, alpha), plus = call.scalar("beta", type, beta);
    return call.submit([=] {
        Number alpha_value = 0, beta_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        if (const cudaError_t error = read_scalar(name, plus, beta_value)) return error;
        const Matrix first = operated(
            op == CUBLAS_OP_N ? matrix(type, a, n, k, lda) : matrix(type, a, k, n, lda), op);
        const Matrix to = matrix(type, c, n, n, ldc);
        return use_operands(
            name, {operand_of("C", to, false, true), operand_of("A", first, true, false)}, [&] {
                std::vector<T> product(static_cast<size_t>(n) * n);
                const Matrix whole = matrix(type, product.data(), n, n, n);
                multiply({first,
                          operated(first, CUBLAS_OP_T),
                          whole,
                          whole,
                          arithmetic_of(type),
                          alpha_value,
                          0,
                          {}});
                for (int64_t j = 0; j < n; ++j) {
                    for (int64_t i = 0; i < n; ++i) {
                        if (fill == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) continue;
                        T& element = c[i + j * ldc];
                        const T before =
                            beta_value == 0.0 ? T{} : element_of<T>(beta_value) * element;
                        element = product[i + j * n] + before;
                    }
                }
            });
    });
}

// op(A) X = alpha B, column by column, for a triangular A: `at(i, j)` is an element of op(A).
template <class T, class At>
void solve(At at, bool is_lower, bool is_unit, int64_t n, T* x, int64_t step) {
    for (int64_t turn = 0; turn < n; ++turn) {
        const int64_t i = is_lower ? turn : n - 1 - turn;
        T sum = x[i * step];
        const int64_t first = is_lower ? 0 : i + 1, last = is_lower ? i : n;
        for (int64_t j = first; j < last; ++j) sum -= at(i, j) * x[j * step];
        x[i * step] = is_unit ? sum : sum / at(i, i);
    }
}

template <class T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal, int m,
                    int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const int size = is_left ? m : n;
    call.require(m >= 0 && n >= 0, "m, n are %d, %d", m, n);
    call.require_ld("a", lda, size);
    call.require_ld("b", ldb, m);
    const Scalar by = call.scalar("alpha", type, alpha);
    return call.submit([=] {
        Number alpha_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        const Matrix to = matrix(type, b, m, n, ldb);
        LibraryOperand half = operand_of("A", matrix(type, a, size, size, lda), false, false);
        return use_operands(name, {operand_of("B", to, true, true), half}, [&] {
            const T factor = element_of<T>(alpha_value);
            for (int64_t j = 0; j < n; ++j) {
                for (int64_t i = 0; i < m; ++i) b[i + j * ldb] *= factor;
            }
            // X op(A) = B is op(A)^T X^T = B^T.
            const bool is_transposed = (op != CUBLAS_OP_N) == is_left;
            const auto at = [&](int64_t i, int64_t j) {
                return is_transposed ? a[j + i * lda] : a[i + j * lda];
            };
            const bool is_lower = (fill == CUBLAS_FILL_MODE_LOWER) != is_transposed;
            for (int64_t each = 0; each < (is_left ? n : m); ++each) {
                solve<T>(at, is_lower, diagonal == CUBLAS_DIAG_UNIT, size,
                         is_left ? b + each * ldb : b + each, is_left ? 1 : ldb);
            }
        });
    });
}

// C = alpha op(A) + beta op(B).
template <class T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, int m, int n, const T* alpha, const T* a, int lda,
                    const T* beta, const T* b, int ldb, T* c, int ldc) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    call.require(m >= 0 && n >= 0, "m, n are %d, %d", m, n);
    call.require_ld("a", lda, op_a == CUBLAS_OP_N ? m : n);
    call.require_ld("b", ldb, op_b == CUBLAS_OP_N ? m : n);
    call.require_ld("c", ldc, m);
    const Scalar by = call.scalar("alpha", type, alpha), other = call.scalar("beta", type, beta);
    const Given first{a, type, lda}, second{b, type, ldb};
    return call.submit([=] {
        Number of_a = 0, of_b = 0;
        if (const cudaError_t error = read_scalar(name, by, of_a)) return error;
        if (const cudaError_t error = read_scalar(name, other, of_b)) return error;
        const Matrix to = matrix(type, c, m, n, ldc), from_a = operand(first, 0, m, n, op_a),
                     from_b = operand(second, 0, m, n, op_b);
        std::vector<LibraryOperand> operands{operand_of("C", to, false, true)};
        if (of_a != 0.0) operands.push_back(operand_of("A", from_a, true, false));
        if (of_b != 0.0) operands.push_back(operand_of("B", from_b, true, false));
        return use_operands(name, operands, [&] {
            const auto element = [](const Matrix& of, int64_t i, int64_t j) {
                const Number number = number_at(of.type, of.address(i, j));
                return of.is_conjugate ? std::conj(number) : number;
            };
            for (int64_t j = 0; j < n; ++j) {
                for (int64_t i = 0; i < m; ++i) {
                    Number sum = 0;
                    if (of_a != 0.0) sum += of_a * element(from_a, i, j);
                    if (of_b != 0.0) sum += of_b * element(from_b, i, j);
                    set_number(type, to.address(i, j), sum);
                }
            }
        });
    });
}

// C = diag(x) A, or A diag(x).
template <class T>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, int m, int n,
                    const T* a, int lda, const T* x, int incx, T* c, int ldc) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    const int64_t size = side == CUBLAS_SIDE_LEFT ? m : n, step = std::abs(incx);
    call.require(m >= 0 && n >= 0, "m, n are %d, %d", m, n);
    call.require_ld("a", lda, m);
    call.require_ld("c", ldc, m);
    return call.submit([=] {
        const Matrix from = matrix(type, a, m, n, lda), to = matrix(type, c, m, n, ldc),
                     diagonal = matrix(type, x, 1, size, step);
        return use_operands(name,
                            {operand_of("C", to, false, true), operand_of("A", from, true, false),
                             operand_of("x", diagonal, true, false)},
                            [&] {
                                for (int64_t j = 0; j < n; ++j) {
                                    for (int64_t i = 0; i < m; ++i) {
                                        const int64_t place = side == CUBLAS_SIDE_LEFT ? i : j;
                                        const int64_t at = incx < 0 ? size - 1 - place : place;
                                        set_number(type, to.address(i, j),
                                                   number_at(type, from.address(i, j)) *
                                                       number_at(type, diagonal.address(0, at)));
                                    }
                                }
                            });
    });
}

}  // namespace
}  // namespace cpu_device::blas

using namespace cpu_device::blas;

#define GEMM(name, T)                                         \
    CPU_DEVICE_CUBLAS_GEMM(name, T) {                         \
        constexpr cudaDataType type = type_of<T>();           \
        return run(__func__, handle,                          \
                   {op_a,                                     \
                    op_b,                                     \
                    m,                                        \
                    n,                                        \
                    k,                                        \
                    alpha,                                    \
                    beta,                                     \
                    {a, type, lda},                           \
                    {b, type, ldb},                           \
                    {c, type, ldc},                           \
                    1,                                        \
                    compute_type<T>()});                      \
    }                                                         \
    CPU_DEVICE_CUBLAS_GEMM_BATCHED(name##Batched, T) {        \
        constexpr cudaDataType type = type_of<T>();           \
        return run(__func__, handle,                          \
                   {op_a,                                     \
                    op_b,                                     \
                    m,                                        \
                    n,                                        \
                    k,                                        \
                    alpha,                                    \
                    beta,                                     \
                    {nullptr, type, lda, 0, addresses(a)},    \
                    {nullptr, type, ldb, 0, addresses(b)},    \
                    {nullptr, type, ldc, 0, addresses(c)},    \
                    batch,                                    \
                    compute_type<T>()});                      \
    }                                                         \
    CPU_DEVICE_CUBLAS_GEMM_STRIDED(name##StridedBatched, T) { \
        constexpr cudaDataType type = type_of<T>();           \
        return run(__func__, handle,                          \
                   {op_a,                                     \
                    op_b,                                     \
                    m,                                        \
                    n,                                        \
                    k,                                        \
                    alpha,                                    \
                    beta,                                     \
                    {a, type, lda, stride_a},                 \
                    {b, type, ldb, stride_b},                 \
                    {c, type, ldc, stride_c},                 \
                    batch,                                    \
                    compute_type<T>()});                      \
    }
GEMM(cublasHgemm, __half)
GEMM(cublasSgemm, float)
GEMM(cublasDgemm, double)
GEMM(cublasCgemm, cuComplex)
GEMM(cublasZgemm, cuDoubleComplex)
#undef GEMM

#define OTHERS(geam_name, dgmm_name, T)                                                       \
    CPU_DEVICE_CUBLAS_GEAM(geam_name, T) {                                                    \
        return geam(__func__, handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc); \
    }                                                                                         \
    CPU_DEVICE_CUBLAS_DGMM(dgmm_name, T) {                                                    \
        return dgmm(__func__, handle, side, m, n, a, lda, x, incx, c, ldc);                   \
    }
OTHERS(cublasSgeam, cublasSdgmm, float)
OTHERS(cublasDgeam, cublasDdgmm, double)
OTHERS(cublasCgeam, cublasCdgmm, cuComplex)
OTHERS(cublasZgeam, cublasZdgmm, cuDoubleComplex)
#undef OTHERS

#define REAL(symm_name, syrk_name, trsm_name, T)                                              \
    CPU_DEVICE_CUBLAS_SYMM(symm_name, T) {                                                    \
        return symm(__func__, handle, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc); \
    }                                                                                         \
    CPU_DEVICE_CUBLAS_SYRK(syrk_name, T) {                                                    \
        return syrk(__func__, handle, fill, op, n, k, alpha, a, lda, beta, c, ldc);           \
    }                                                                                         \
    CPU_DEVICE_CUBLAS_TRSM(trsm_name, T) {                                                    \
        return trsm(__func__, handle, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb); \
    }
REAL(cublasSsymm, cublasSsyrk, cublasStrsm, float)
REAL(cublasDsymm, cublasDsyrk, cublasDtrsm, double)
#undef REAL

cublasComputeType_t cublas_compute_type_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_16F:
            return CUBLAS_COMPUTE_16F;
        case CUDA_R_64F:
        case CUDA_C_64F:
            return CUBLAS_COMPUTE_64F;
        case CUDA_R_32I:
            return CUBLAS_COMPUTE_32I;
        default:
            return CUBLAS_COMPUTE_32F;
    }
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                             int m, int n, int k, const float* alpha, const void* a,
                             cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                             int ldb, const float* beta, void* c, cudaDataType c_type, int ldc) {
    return run(
        __func__, handle,
        {op_a, op_b, m, n, k, alpha, beta, {a, a_type, lda}, {b, b_type, ldb}, {c, c_type, ldc}});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    return run(__func__, handle,
               {op_a,
                op_b,
                m,
                n,
                k,
                alpha,
                beta,
                {a, a_type, lda},
                {b, b_type, ldb},
                {c, c_type, ldc},
                1,
                compute});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const c[], cudaDataType c_type, int ldc,
                                   int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
    return run(__func__, handle,
               {op_a,
                op_b,
                m,
                n,
                k,
                alpha,
                beta,
                {nullptr, a_type, lda, 0, a},
                {nullptr, b_type, ldb, 0, b},
                {nullptr, c_type, ldc, 0, addresses(c)},
                batch,
                compute});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
    return run(__func__, handle,
               {op_a,
                op_b,
                m,
                n,
                k,
                alpha,
                beta,
                {a, a_type, lda, stride_a},
                {b, b_type, ldb, stride_b},
                {c, c_type, ldc, stride_c},
                batch,
                compute});
}
