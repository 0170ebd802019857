// SPDX-License-Identifier: MIT
//
// cuBLAS on the CPU device: the common calls, computed by the host (common/cpu_device/libraries). Matrices are
// column-major, as in BLAS. Calls that
// are not here say so where they are made: cpu_device/cublas_missing.h.
#pragma once
#define CUBLAS_API_H_

#include "cpu_device/refused_library.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130000

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = CUBLAS_OP_C,
    CUBLAS_OP_CONJG = 3
};
enum cublasFillMode_t {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
};
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1,
    CUBLAS_GEMM_ALGO2,
    CUBLAS_GEMM_ALGO3,
    CUBLAS_GEMM_ALGO4,
    CUBLAS_GEMM_ALGO5,
    CUBLAS_GEMM_ALGO6,
    CUBLAS_GEMM_ALGO7,
    CUBLAS_GEMM_ALGO8,
    CUBLAS_GEMM_ALGO9,
    CUBLAS_GEMM_ALGO10,
    CUBLAS_GEMM_ALGO11,
    CUBLAS_GEMM_ALGO12,
    CUBLAS_GEMM_ALGO13,
    CUBLAS_GEMM_ALGO14,
    CUBLAS_GEMM_ALGO15,
    CUBLAS_GEMM_ALGO16,
    CUBLAS_GEMM_ALGO17,
    CUBLAS_GEMM_ALGO18,
    CUBLAS_GEMM_ALGO19,
    CUBLAS_GEMM_ALGO20,
    CUBLAS_GEMM_ALGO21,
    CUBLAS_GEMM_ALGO22,
    CUBLAS_GEMM_ALGO23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO1_TENSOR_OP,
    CUBLAS_GEMM_ALGO2_TENSOR_OP,
    CUBLAS_GEMM_ALGO3_TENSOR_OP,
    CUBLAS_GEMM_ALGO4_TENSOR_OP,
    CUBLAS_GEMM_ALGO5_TENSOR_OP,
    CUBLAS_GEMM_ALGO6_TENSOR_OP,
    CUBLAS_GEMM_ALGO7_TENSOR_OP,
    CUBLAS_GEMM_ALGO8_TENSOR_OP,
    CUBLAS_GEMM_ALGO9_TENSOR_OP,
    CUBLAS_GEMM_ALGO10_TENSOR_OP,
    CUBLAS_GEMM_ALGO11_TENSOR_OP,
    CUBLAS_GEMM_ALGO12_TENSOR_OP,
    CUBLAS_GEMM_ALGO13_TENSOR_OP,
    CUBLAS_GEMM_ALGO14_TENSOR_OP,
    CUBLAS_GEMM_ALGO15_TENSOR_OP,
    CUBLAS_GEMM_AUTOTUNE = 999
};
// None of them changes a result here: float is computed in float.
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
    CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79
};
using cublasDataType_t = cudaDataType;

struct cublasContext;
using cublasHandle_t = cublasContext*;

// ---------------------------------------------------------------- the handle

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
size_t cublasGetCudartVersion();
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);

// Older spellings.
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasGetVersion_v2 cublasGetVersion
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSetWorkspace_v2 cublasSetWorkspace
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasDnrm2_v2 cublasDnrm2
#define cublasSscal_v2 cublasSscal
#define cublasDscal_v2 cublasDscal

// ---------------------------------------------------------------- copies of vectors and matrices

cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy);
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy);
cublasStatus_t cublasSetVectorAsync(int n, int element_bytes, const void* x, int incx, void* y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int element_bytes, const void* x, int incx, void* y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                    int lda, void* b, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                    int lda, void* b, int ldb, cudaStream_t stream);

// ---------------------------------------------------------------- what differs in its type alone

// A call's prototype by its name and types, which the library's definitions use as well.
// NOLINTBEGIN(bugprone-macro-parentheses): they are types
#define CPU_DEVICE_CUBLAS_AMAX(name, T) \
    cublasStatus_t name(cublasHandle_t handle, int n, const T* x, int incx, int* result)
#define CPU_DEVICE_CUBLAS_NORM(name, T, Real) \
    cublasStatus_t name(cublasHandle_t handle, int n, const T* x, int incx, Real* result)
#define CPU_DEVICE_CUBLAS_DOT(name, T)                                                            \
    cublasStatus_t name(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, \
                        T* result)
#define CPU_DEVICE_CUBLAS_AXPY(name, T)                                                           \
    cublasStatus_t name(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, \
                        int incy)
#define CPU_DEVICE_CUBLAS_COPY(name, T) \
    cublasStatus_t name(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy)
#define CPU_DEVICE_CUBLAS_SWAP(name, T) \
    cublasStatus_t name(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy)
#define CPU_DEVICE_CUBLAS_SCAL(name, T, Alpha) \
    cublasStatus_t name(cublasHandle_t handle, int n, const Alpha* alpha, T* x, int incx)
#define CPU_DEVICE_CUBLAS_ROT(name, T)                                                            \
    cublasStatus_t name(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const T* c, \
                        const T* s)
#define CPU_DEVICE_CUBLAS_GEMV(name, T)                                                            \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, \
                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy)
#define CPU_DEVICE_CUBLAS_SYMV(name, T)                                                      \
    cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha, \
                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy)
#define CPU_DEVICE_CUBLAS_GER(name, T)                                                             \
    cublasStatus_t name(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, \
                        const T* y, int incy, T* a, int lda)
#define CPU_DEVICE_CUBLAS_GEMM(name, T)                                                        \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                        int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,  \
                        int ldb, const T* beta, T* c, int ldc)
#define CPU_DEVICE_CUBLAS_GEMM_BATCHED(name, T)                                                \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                        int m, int n, int k, const T* alpha, const T* const a[], int lda,      \
                        const T* const b[], int ldb, const T* beta, T* const c[], int ldc,     \
                        int batch)
#define CPU_DEVICE_CUBLAS_GEMM_STRIDED(name, T)                                                \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                        int m, int n, int k, const T* alpha, const T* a, int lda,              \
                        long long stride_a, const T* b, int ldb, long long stride_b,           \
                        const T* beta, T* c, int ldc, long long stride_c, int batch)
#define CPU_DEVICE_CUBLAS_GEAM(name, T)                                                        \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                        int m, int n, const T* alpha, const T* a, int lda, const T* beta,      \
                        const T* b, int ldb, T* c, int ldc)
#define CPU_DEVICE_CUBLAS_DGMM(name, T)                                                         \
    cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, \
                        int lda, const T* x, int incx, T* c, int ldc)
#define CPU_DEVICE_CUBLAS_SYRK(name, T)                                                            \
    cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, int n, \
                        int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc)
#define CPU_DEVICE_CUBLAS_SYMM(name, T)                                                         \
    cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,    \
                        int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb, \
                        const T* beta, T* c, int ldc)
#define CPU_DEVICE_CUBLAS_TRSM(name, T)                                                      \
    cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                        cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,       \
                        const T* alpha, const T* a, int lda, T* b, int ldb)
// NOLINTEND(bugprone-macro-parentheses)

CPU_DEVICE_CUBLAS_AMAX(cublasIsamax, float);
CPU_DEVICE_CUBLAS_AMAX(cublasIdamax, double);
CPU_DEVICE_CUBLAS_AMAX(cublasIcamax, cuComplex);
CPU_DEVICE_CUBLAS_AMAX(cublasIzamax, cuDoubleComplex);
CPU_DEVICE_CUBLAS_AMAX(cublasIsamin, float);
CPU_DEVICE_CUBLAS_AMAX(cublasIdamin, double);
CPU_DEVICE_CUBLAS_AMAX(cublasIcamin, cuComplex);
CPU_DEVICE_CUBLAS_AMAX(cublasIzamin, cuDoubleComplex);
CPU_DEVICE_CUBLAS_NORM(cublasSasum, float, float);
CPU_DEVICE_CUBLAS_NORM(cublasDasum, double, double);
CPU_DEVICE_CUBLAS_NORM(cublasScasum, cuComplex, float);
CPU_DEVICE_CUBLAS_NORM(cublasDzasum, cuDoubleComplex, double);
CPU_DEVICE_CUBLAS_NORM(cublasSnrm2, float, float);
CPU_DEVICE_CUBLAS_NORM(cublasDnrm2, double, double);
CPU_DEVICE_CUBLAS_NORM(cublasScnrm2, cuComplex, float);
CPU_DEVICE_CUBLAS_NORM(cublasDznrm2, cuDoubleComplex, double);
CPU_DEVICE_CUBLAS_DOT(cublasSdot, float);
CPU_DEVICE_CUBLAS_DOT(cublasDdot, double);
CPU_DEVICE_CUBLAS_DOT(cublasCdotu, cuComplex);
CPU_DEVICE_CUBLAS_DOT(cublasCdotc, cuComplex);
CPU_DEVICE_CUBLAS_DOT(cublasZdotu, cuDoubleComplex);
CPU_DEVICE_CUBLAS_DOT(cublasZdotc, cuDoubleComplex);
CPU_DEVICE_CUBLAS_AXPY(cublasSaxpy, float);
CPU_DEVICE_CUBLAS_AXPY(cublasDaxpy, double);
CPU_DEVICE_CUBLAS_AXPY(cublasCaxpy, cuComplex);
CPU_DEVICE_CUBLAS_AXPY(cublasZaxpy, cuDoubleComplex);
CPU_DEVICE_CUBLAS_COPY(cublasScopy, float);
CPU_DEVICE_CUBLAS_COPY(cublasDcopy, double);
CPU_DEVICE_CUBLAS_COPY(cublasCcopy, cuComplex);
CPU_DEVICE_CUBLAS_COPY(cublasZcopy, cuDoubleComplex);
CPU_DEVICE_CUBLAS_SWAP(cublasSswap, float);
CPU_DEVICE_CUBLAS_SWAP(cublasDswap, double);
CPU_DEVICE_CUBLAS_SWAP(cublasCswap, cuComplex);
CPU_DEVICE_CUBLAS_SWAP(cublasZswap, cuDoubleComplex);
CPU_DEVICE_CUBLAS_SCAL(cublasSscal, float, float);
CPU_DEVICE_CUBLAS_SCAL(cublasDscal, double, double);
CPU_DEVICE_CUBLAS_SCAL(cublasCscal, cuComplex, cuComplex);
CPU_DEVICE_CUBLAS_SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex);
CPU_DEVICE_CUBLAS_SCAL(cublasCsscal, cuComplex, float);
CPU_DEVICE_CUBLAS_SCAL(cublasZdscal, cuDoubleComplex, double);
CPU_DEVICE_CUBLAS_ROT(cublasSrot, float);
CPU_DEVICE_CUBLAS_ROT(cublasDrot, double);

CPU_DEVICE_CUBLAS_GEMV(cublasSgemv, float);
CPU_DEVICE_CUBLAS_GEMV(cublasDgemv, double);
CPU_DEVICE_CUBLAS_GEMV(cublasCgemv, cuComplex);
CPU_DEVICE_CUBLAS_GEMV(cublasZgemv, cuDoubleComplex);
CPU_DEVICE_CUBLAS_SYMV(cublasSsymv, float);
CPU_DEVICE_CUBLAS_SYMV(cublasDsymv, double);
CPU_DEVICE_CUBLAS_GER(cublasSger, float);
CPU_DEVICE_CUBLAS_GER(cublasDger, double);
CPU_DEVICE_CUBLAS_GER(cublasCgeru, cuComplex);
CPU_DEVICE_CUBLAS_GER(cublasCgerc, cuComplex);
CPU_DEVICE_CUBLAS_GER(cublasZgeru, cuDoubleComplex);
CPU_DEVICE_CUBLAS_GER(cublasZgerc, cuDoubleComplex);

CPU_DEVICE_CUBLAS_GEMM(cublasHgemm, __half);
CPU_DEVICE_CUBLAS_GEMM(cublasSgemm, float);
CPU_DEVICE_CUBLAS_GEMM(cublasDgemm, double);
CPU_DEVICE_CUBLAS_GEMM(cublasCgemm, cuComplex);
CPU_DEVICE_CUBLAS_GEMM(cublasZgemm, cuDoubleComplex);
CPU_DEVICE_CUBLAS_GEMM_BATCHED(cublasHgemmBatched, __half);
CPU_DEVICE_CUBLAS_GEMM_BATCHED(cublasSgemmBatched, float);
CPU_DEVICE_CUBLAS_GEMM_BATCHED(cublasDgemmBatched, double);
CPU_DEVICE_CUBLAS_GEMM_BATCHED(cublasCgemmBatched, cuComplex);
CPU_DEVICE_CUBLAS_GEMM_BATCHED(cublasZgemmBatched, cuDoubleComplex);
CPU_DEVICE_CUBLAS_GEMM_STRIDED(cublasHgemmStridedBatched, __half);
CPU_DEVICE_CUBLAS_GEMM_STRIDED(cublasSgemmStridedBatched, float);
CPU_DEVICE_CUBLAS_GEMM_STRIDED(cublasDgemmStridedBatched, double);
CPU_DEVICE_CUBLAS_GEMM_STRIDED(cublasCgemmStridedBatched, cuComplex);
CPU_DEVICE_CUBLAS_GEMM_STRIDED(cublasZgemmStridedBatched, cuDoubleComplex);
CPU_DEVICE_CUBLAS_GEAM(cublasSgeam, float);
CPU_DEVICE_CUBLAS_GEAM(cublasDgeam, double);
CPU_DEVICE_CUBLAS_GEAM(cublasCgeam, cuComplex);
CPU_DEVICE_CUBLAS_GEAM(cublasZgeam, cuDoubleComplex);
CPU_DEVICE_CUBLAS_DGMM(cublasSdgmm, float);
CPU_DEVICE_CUBLAS_DGMM(cublasDdgmm, double);
CPU_DEVICE_CUBLAS_DGMM(cublasCdgmm, cuComplex);
CPU_DEVICE_CUBLAS_DGMM(cublasZdgmm, cuDoubleComplex);
CPU_DEVICE_CUBLAS_SYRK(cublasSsyrk, float);
CPU_DEVICE_CUBLAS_SYRK(cublasDsyrk, double);
CPU_DEVICE_CUBLAS_SYMM(cublasSsymm, float);
CPU_DEVICE_CUBLAS_SYMM(cublasDsymm, double);
CPU_DEVICE_CUBLAS_TRSM(cublasStrsm, float);
CPU_DEVICE_CUBLAS_TRSM(cublasDtrsm, double);

// ---------------------------------------------------------------- types as arguments

cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha,
                            cudaDataType alpha_type, const void* x, cudaDataType x_type, int incx,
                            void* y, cudaDataType y_type, int incy, cudaDataType execution);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type,
                           int incx, const void* y, cudaDataType y_type, int incy, void* result,
                           cudaDataType result_type, cudaDataType execution);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType x_type,
                            int incx, void* result, cudaDataType result_type,
                            cudaDataType execution);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha,
                            cudaDataType alpha_type, void* x, cudaDataType x_type, int incx,
                            cudaDataType execution);

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                             int m, int n, int k, const float* alpha, const void* a,
                             cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                             int ldb, const float* beta, void* c, cudaDataType c_type, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const c[], cudaDataType c_type, int ldc,
                                   int batch, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

// As programs older than cublasComputeType_t call them.
cublasComputeType_t cublas_compute_type_of(cudaDataType type);
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* a, cudaDataType a_type, int lda, const void* b,
                                   cudaDataType b_type, int ldb, const void* beta, void* c,
                                   cudaDataType c_type, int ldc, cudaDataType compute,
                                   cublasGemmAlgo_t algorithm) {
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,
                        c_type, ldc, cublas_compute_type_of(compute), algorithm);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long stride_a,
    const void* b, cudaDataType b_type, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long stride_c, int batch, cudaDataType compute,
    cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a,
                                      b, b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c,
                                      batch, cublas_compute_type_of(compute), algorithm);
}

// The rest of cuBLAS: said where it is called.
#include "cpu_device/cublas_missing.h"
