// SPDX-License-Identifier: MIT
#include "common/cpu_device/libraries/cublas_handle.hpp"

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

#include "common/cpu_device/api.hpp"
#include "common/cpu_device/strict.hpp"

namespace cpu_device::blas {
namespace {

struct Handles {
    std::mutex mutex;
    std::set<cublasHandle_t> all;
};

Handles& handles() {
    static Handles* const instance = new Handles;
    return *instance;
}

bool is_handle(cublasHandle_t handle) {
    const std::lock_guard<std::mutex> lock(handles().mutex);
    return handles().all.count(handle) != 0;
}

}  // namespace

Call::Call(const char* name, cublasHandle_t handle) : name_(name) {
    if (!is_handle(handle)) {
        explained(cudaErrorInvalidResourceHandle,
                  "%s: the handle is none that cublasCreate made and nobody destroyed", name);
        status_ = CUBLAS_STATUS_NOT_INITIALIZED;
        return;
    }
    stream_ = handle->stream;
    scalars_on_device_ = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
}

Call::Call(const char* name, cudaStream_t stream, bool scalars_on_device)
    : name_(name), stream_(stream), scalars_on_device_(scalars_on_device) {}

void Call::require(bool right, const char* format, ...) {
    if (right || status_ != CUBLAS_STATUS_SUCCESS) return;
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    explained(cudaErrorInvalidValue, "%s: %s", name_, what);
    status_ = CUBLAS_STATUS_INVALID_VALUE;
}

void Call::require_ld(const char* matrix, int64_t ld, int64_t rows) {
    require(ld >= rows && ld >= 1, "ld%s is %lld, and a column has %lld elements", matrix,
            static_cast<long long>(ld), static_cast<long long>(rows));
}

void Call::require_type(const char* matrix, cudaDataType type) {
    if (bytes_of(type) != 0 || status_ != CUBLAS_STATUS_SUCCESS) return;
    explained(cudaErrorNotSupported, "%s: the CPU device computes nothing with %s's type, %d",
              name_, matrix, static_cast<int>(type));
    status_ = CUBLAS_STATUS_NOT_SUPPORTED;
}

Scalar Call::scalar(const char* name, cudaDataType type, const void* at) {
    Scalar scalar{at, type, scalars_on_device_, 0};
    require(at != nullptr, "%s is a null pointer", name);
    if (status_ != CUBLAS_STATUS_SUCCESS || scalars_on_device_) return scalar;
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, at);
    require(attributes.type != cudaMemoryTypeDevice,
            "%s is an address of the device's, and the pointer mode is CUBLAS_POINTER_MODE_HOST",
            name);
    if (status_ == CUBLAS_STATUS_SUCCESS) scalar.value = number_at(type, at);
    return scalar;
}

cublasStatus_t Call::submit(std::function<cudaError_t()> work) const {
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_;
    const cudaError_t error = submit_library_work(name_, stream_, std::move(work));
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cudaError_t read_scalar(const char* call, const Scalar& scalar, Number& value) {
    value = scalar.value;
    if (!scalar.is_on_device) return cudaSuccess;
    return use_operands(call, {{"a scalar", scalar.at, bytes_of(scalar.type)}},
                        [&] { value = number_at(scalar.type, scalar.at); });
}

}  // namespace cpu_device::blas

using namespace cpu_device::blas;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    const std::lock_guard<std::mutex> lock(handles().mutex);
    handles().all.insert(*handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    const std::lock_guard<std::mutex> lock(handles().mutex);
    if (handles().all.erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    *value = kVersion[type];
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion() {
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return static_cast<size_t>(version);
}

const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_ALLOC_FAILED:
            return "CUBLAS_STATUS_ALLOC_FAILED";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_ARCH_MISMATCH:
            return "CUBLAS_STATUS_ARCH_MISMATCH";
        case CUBLAS_STATUS_MAPPING_ERROR:
            return "CUBLAS_STATUS_MAPPING_ERROR";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        case CUBLAS_STATUS_INTERNAL_ERROR:
            return "CUBLAS_STATUS_INTERNAL_ERROR";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "CUBLAS_STATUS_NOT_SUPPORTED";
        case CUBLAS_STATUS_LICENSE_ERROR:
            return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "unknown cuBLAS status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "the call succeeded";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "the handle was not created";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "an argument is wrong";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "the work failed on the device";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "the call is not supported";
        default:
            return cublasGetStatusName(status);
    }
}

namespace {

// A handle's setting, set or read.
template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::*member, T value) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->*member = value;
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t get(cublasHandle_t handle, T cublasContext::*member, T* value) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *value = handle->*member;
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    return set(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
    return get(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    return set(handle, &cublasContext::pointer_mode, mode);
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return get(handle, &cublasContext::pointer_mode, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    return set(handle, &cublasContext::atomics_mode, mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return get(handle, &cublasContext::atomics_mode, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return set(handle, &cublasContext::math_mode, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return get(handle, &cublasContext::math_mode, mode);
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t) {
    return set(handle, &cublasContext::workspace, workspace);
}

// ---------------------------------------------------------------- copies

namespace {

cublasStatus_t copy(int rows, int columns, int element_bytes, const void* from, int from_ld,
                    void* to, int to_ld, cudaMemcpyKind kind, cudaStream_t stream) {
    if (rows < 0 || columns < 0 || element_bytes <= 0 || from_ld < rows || to_ld < rows ||
        from_ld < 1 || to_ld < 1) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto bytes = static_cast<size_t>(element_bytes);
    const cudaError_t error = cudaMemcpy2DAsync(
        to, static_cast<size_t>(to_ld) * bytes, from, static_cast<size_t>(from_ld) * bytes,
        static_cast<size_t>(rows) * bytes, static_cast<size_t>(columns), kind, stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

// A vector whose elements lie `inc` apart is a row of a matrix with `inc` rows. Contiguous ones are one column.
cublasStatus_t cublasSetVectorAsync(int n, int element_bytes, const void* x, int incx, void* y,
                                    int incy, cudaStream_t stream) {
    if (incx == 1 && incy == 1) {
        return copy(n, 1, element_bytes, x, std::max(n, 1), y, std::max(n, 1),
                    cudaMemcpyHostToDevice, stream);
    }
    return copy(1, n, element_bytes, x, incx, y, incy, cudaMemcpyHostToDevice, stream);
}
cublasStatus_t cublasGetVectorAsync(int n, int element_bytes, const void* x, int incx, void* y,
                                    int incy, cudaStream_t stream) {
    if (incx == 1 && incy == 1) {
        return copy(n, 1, element_bytes, x, std::max(n, 1), y, std::max(n, 1),
                    cudaMemcpyDeviceToHost, stream);
    }
    return copy(1, n, element_bytes, x, incx, y, incy, cudaMemcpyDeviceToHost, stream);
}
cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy) {
    return cublasSetVectorAsync(n, element_bytes, x, incx, y, incy, nullptr);
}
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy) {
    return cublasGetVectorAsync(n, element_bytes, x, incx, y, incy, nullptr);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                    int lda, void* b, int ldb, cudaStream_t stream) {
    return copy(rows, columns, element_bytes, a, lda, b, ldb, cudaMemcpyHostToDevice, stream);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                    int lda, void* b, int ldb, cudaStream_t stream) {
    return copy(rows, columns, element_bytes, a, lda, b, ldb, cudaMemcpyDeviceToHost, stream);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb) {
    return cublasSetMatrixAsync(rows, columns, element_bytes, a, lda, b, ldb, nullptr);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb) {
    return cublasGetMatrixAsync(rows, columns, element_bytes, a, lda, b, ldb, nullptr);
}
