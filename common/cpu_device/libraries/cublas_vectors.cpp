// SPDX-License-Identifier: MIT
//
// cuBLAS's calls with vectors: reductions, updates, and products with one matrix.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "common/cpu_device/libraries/cublas_handle.hpp"

namespace cpu_device::blas {
namespace {

// How the library computes what the interface calls T.
template <class T>
struct ComputedAs {
    using type = T;
};
template <>
struct ComputedAs<float2> {
    using type = std::complex<float>;
};
template <>
struct ComputedAs<double2> {
    using type = std::complex<double>;
};
template <class T>
using Computed = typename ComputedAs<T>::type;

template <class T>
Computed<T>* computed(T* of) {
    return reinterpret_cast<Computed<T>*>(of);
}
template <class T>
const Computed<T>* computed(const T* of) {
    return reinterpret_cast<const Computed<T>*>(of);
}

template <class T>
T conjugate(const T& x) {
    if constexpr (is_complex<T>) {
        return std::conj(x);
    } else {
        return x;
    }
}

// Elements `step` apart; with a negative step the first lies last.
template <class T>
struct Vector {
    T* low;
    int64_t n, step;

    Vector(T* at, int64_t count, int64_t inc)
        : low(inc < 0 && count > 0 ? at - inc * (count - 1) : at), n(count), step(inc) {}
    T& operator[](int64_t i) const { return low[i * step]; }
};

LibraryOperand vector_operand(const char* name, cudaDataType type, const void* at, int64_t n,
                              int64_t inc, bool is_read, bool is_written) {
    return operand_of(name, matrix(type, at, 1, n, std::max<int64_t>(1, std::abs(inc))), is_read,
                      is_written);
}

void require_vector(Call& call, int n) {
    call.require(n >= 0, "n is %d", n);
}

// A result, which goes to the host or to the device.
template <class T, class Compute>
cublasStatus_t reduce(Call& call, T* result, const std::vector<LibraryOperand>& operands,
                      Compute compute) {
    const Scalar to = call.scalar("result", type_of<T>(), result);
    const char* const name = call.name();
    return call.submit([=] {
        std::vector<LibraryOperand> all = operands;
        if (to.is_on_device) all.push_back({"result", result, sizeof(T), 1, 0, false, true});
        return use_operands(name, all, [&] { *computed(result) = compute(); });
    });
}

// A result of the one vector x; cuBLAS takes a negative size or step for an empty vector.
template <class T, class Result, class Compute>
cublasStatus_t reduce_vector(const char* name, cublasHandle_t handle, int n, const T* x, int incx,
                             Result* result, Compute compute) {
    Call call(name, handle);
    if (n < 0 || incx <= 0) n = 0;
    return reduce(call, result, {vector_operand("x", type_of<T>(), x, n, incx, true, false)},
                  [=] { return compute(Vector<const Computed<T>>(computed(x), n, incx)); });
}

// Calls work(x, y) for each pair of their elements. y is written, and so is x unless it is const.
template <class X, class T, class Work>
cudaError_t use_pairs(const char* name, int n, X* x, int incx, T* y, int incy, bool is_y_read,
                      Work work) {
    constexpr cudaDataType type = type_of<T>();
    return use_operands(name,
                        {vector_operand("x", type, x, n, incx, true, !std::is_const_v<X>),
                         vector_operand("y", type, y, n, incy, is_y_read, true)},
                        [&] {
                            const Vector a(computed(x), n, incx);
                            const Vector b(computed(y), n, incy);
                            for (int i = 0; i < n; ++i) work(a[i], b[i]);
                        });
}

// |re| + |im|, as BLAS takes the size of a complex number.
template <class T>
auto size_of(const T& x) {
    if constexpr (is_complex<T>) {
        return std::abs(x.real()) + std::abs(x.imag());
    } else {
        return std::abs(x);
    }
}

// Position of the extreme, from 1 on; 0 where there is nothing.
template <class T, class Better>
cublasStatus_t extreme(const char* name, cublasHandle_t handle, int n, const T* x, int incx,
                       int* result, Better better) {
    return reduce_vector(name, handle, n, x, incx, result, [=](const auto& of) {
        int found = 0;
        for (int i = 1; i < of.n; ++i) {
            if (better(size_of(of[i]), size_of(of[found]))) found = i;
        }
        return of.n == 0 ? 0 : found + 1;
    });
}

template <class T, class Real>
cublasStatus_t sum_of_sizes(const char* name, cublasHandle_t handle, int n, const T* x, int incx,
                            Real* result) {
    return reduce_vector(name, handle, n, x, incx, result, [](const auto& of) {
        double sum = 0;
        for (int i = 0; i < of.n; ++i) sum += size_of(of[i]);
        return static_cast<Real>(sum);
    });
}

// In double, so that squares of floats do not overflow; those of doubles are scaled by the largest.
template <class T, class Real>
cublasStatus_t euclidean(const char* name, cublasHandle_t handle, int n, const T* x, int incx,
                         Real* result) {
    return reduce_vector(name, handle, n, x, incx, result, [](const auto& of) {
        double largest = 0, sum = 0;
        for (int i = 0; i < of.n; ++i) {
            const double size = std::abs(of[i]);
            if (!(size <= largest)) largest = size;
        }
        if (largest == 0 || !std::isfinite(largest)) return static_cast<Real>(largest);
        for (int i = 0; i < of.n; ++i) sum += std::norm(std::abs(of[i]) / largest);
        return static_cast<Real>(largest * std::sqrt(sum));
    });
}

template <class T>
cublasStatus_t inner_product(const char* name, cublasHandle_t handle, int n, const T* x, int incx,
                             const T* y, int incy, T* result, bool conjugates) {
    Call call(name, handle);
    require_vector(call, n);
    return reduce(call, result,
                  {vector_operand("x", type_of<T>(), x, n, incx, true, false),
                   vector_operand("y", type_of<T>(), y, n, incy, true, false)},
                  [=] {
                      const Vector<const Computed<T>> a(computed(x), n, incx),
                          b(computed(y), n, incy);
                      Computed<T> sum{};
                      for (int i = 0; i < n; ++i) {
                          sum += (conjugates ? conjugate(a[i]) : a[i]) * b[i];
                      }
                      return sum;
                  });
}

template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, int n, const T* alpha, const T* x,
                    int incx, T* y, int incy) {
    Call call(name, handle);
    require_vector(call, n);
    const cudaDataType type = type_of<T>();
    const Scalar by = call.scalar("alpha", type, alpha);
    return call.submit([=] {
        Number value = 0;
        if (const cudaError_t error = read_scalar(name, by, value)) return error;
        if (value == 0.0) return cudaSuccess;
        const auto factor = element_of<Computed<T>>(value);
        return use_pairs(name, n, x, incx, y, incy, true,
                         [=](const auto& from, auto& to) { to += factor * from; });
    });
}

template <class T>
cublasStatus_t copy(const char* name, cublasHandle_t handle, int n, const T* x, int incx, T* y,
                    int incy) {
    Call call(name, handle);
    require_vector(call, n);
    return call.submit([=] {
        return use_pairs(name, n, x, incx, y, incy, false,
                         [](const auto& from, auto& to) { to = from; });
    });
}

template <class T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, int n, T* x, int incx, T* y,
                    int incy) {
    Call call(name, handle);
    require_vector(call, n);
    return call.submit([=] {
        return use_pairs(name, n, x, incx, y, incy, true,
                         [](auto& a, auto& b) { std::swap(a, b); });
    });
}

template <class T, class Alpha>
cublasStatus_t scale(const char* name, cublasHandle_t handle, int n, const Alpha* alpha, T* x,
                     int incx) {
    Call call(name, handle);
    require_vector(call, n);
    const cudaDataType type = type_of<T>();
    const Scalar by = call.scalar("alpha", type_of<Alpha>(), alpha);
    return call.submit([=] {
        Number value = 0;
        if (const cudaError_t error = read_scalar(name, by, value)) return error;
        return use_operands(name, {vector_operand("x", type, x, n, incx, true, true)}, [&] {
            const Vector<Computed<T>> of(computed(x), n, incx);
            const auto factor = element_of<Computed<Alpha>>(value);
            for (int i = 0; i < n; ++i) of[i] *= factor;
        });
    });
}

template <class T>
cublasStatus_t rotate(const char* name, cublasHandle_t handle, int n, T* x, int incx, T* y,
                      int incy, const T* c, const T* s) {
    Call call(name, handle);
    require_vector(call, n);
    const cudaDataType type = type_of<T>();
    const Scalar cosine = call.scalar("c", type, c), sine = call.scalar("s", type, s);
    return call.submit([=] {
        Number by_c = 0, by_s = 0;
        if (const cudaError_t error = read_scalar(name, cosine, by_c)) return error;
        if (const cudaError_t error = read_scalar(name, sine, by_s)) return error;
        const T cos = element_of<T>(by_c), sin = element_of<T>(by_s);
        return use_pairs(name, n, x, incx, y, incy, true, [=](T& a, T& b) {
            const T first = cos * a + sin * b;
            b = cos * b - sin * a;
            a = first;
        });
    });
}

// ---------------------------------------------------------------- with a matrix

// y = alpha A x + beta y, where `at(i, j)` is an element of A, rows x columns.
template <class T, class At>
void multiply_vector(At at, int64_t rows, int64_t columns, T alpha, T beta, Vector<const T> x,
                     Vector<T> y) {
    for (int64_t i = 0; i < rows; ++i) {
        T sum{};
        if (alpha != T{}) {
            for (int64_t j = 0; j < columns; ++j) sum += at(i, j) * x[j];
        }
        y[i] = beta == T{} ? alpha * sum : alpha * sum + beta * y[i];
    }
}

template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, int m, int n,
                    const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y,
                    int incy) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    call.require(m >= 0 && n >= 0 && incx != 0 && incy != 0,
                 "m, n are %d, %d, incx and incy %d, %d", m, n, incx, incy);
    call.require_ld("a", lda, m);
    const Scalar by = call.scalar("alpha", type, alpha), plus = call.scalar("beta", type, beta);
    return call.submit([=] {
        Number alpha_value = 0, beta_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        if (const cudaError_t error = read_scalar(name, plus, beta_value)) return error;
        const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
        std::vector<LibraryOperand> operands{
            vector_operand("y", type, y, rows, incy, beta_value != 0.0, true)};
        if (alpha_value != 0.0) {
            operands.push_back(operand_of("A", matrix(type, a, m, n, lda), true, false));
            operands.push_back(vector_operand("x", type, x, columns, incx, true, false));
        }
        return use_operands(name, operands, [&] {
            using Value = Computed<T>;
            const Value* const from = computed(a);
            const auto at = [&](int64_t i, int64_t j) {
                if (op == CUBLAS_OP_N) return from[i + j * lda];
                const Value element = from[j + i * lda];
                return op == CUBLAS_OP_C ? conjugate(element) : element;
            };
            multiply_vector<Value>(at, rows, columns, element_of<Value>(alpha_value),
                                   element_of<Value>(beta_value), {computed(x), columns, incx},
                                   {computed(y), rows, incy});
        });
    });
}

template <class T>
cublasStatus_t symv(const char* name, cublasHandle_t handle, cublasFillMode_t fill, int n,
                    const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y,
                    int incy) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    call.require(n >= 0 && incx != 0 && incy != 0, "n is %d, incx and incy %d, %d", n, incx, incy);
    call.require_ld("a", lda, n);
    const Scalar by = call.scalar("alpha", type, alpha), plus = call.scalar("beta", type, beta);
    return call.submit([=] {
        Number alpha_value = 0, beta_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        if (const cudaError_t error = read_scalar(name, plus, beta_value)) return error;
        return use_operands(
            name,
            {vector_operand("y", type, y, n, incy, beta_value != 0.0, true),
             operand_of("A", matrix(type, a, n, n, lda), false, false),
             vector_operand("x", type, x, n, incx, true, false)},
            [&] {
                const auto at = [&](int64_t i, int64_t j) {
                    const bool is_stored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
                    return is_stored ? a[i + j * lda] : a[j + i * lda];
                };
                multiply_vector<T>(at, n, n, element_of<T>(alpha_value), element_of<T>(beta_value),
                                   {x, n, incx}, {y, n, incy});
            });
    });
}

template <class T>
cublasStatus_t ger(const char* name, cublasHandle_t handle, int m, int n, const T* alpha,
                   const T* x, int incx, const T* y, int incy, T* a, int lda, bool conjugates) {
    Call call(name, handle);
    const cudaDataType type = type_of<T>();
    call.require(m >= 0 && n >= 0 && incx != 0 && incy != 0,
                 "m, n are %d, %d, incx and incy %d, %d", m, n, incx, incy);
    call.require_ld("a", lda, m);
    const Scalar by = call.scalar("alpha", type, alpha);
    return call.submit([=] {
        Number value = 0;
        if (const cudaError_t error = read_scalar(name, by, value)) return error;
        if (value == 0.0) return cudaSuccess;
        return use_operands(
            name,
            {operand_of("A", matrix(type, a, m, n, lda), true, true),
             vector_operand("x", type, x, m, incx, true, false),
             vector_operand("y", type, y, n, incy, true, false)},
            [&] {
                using Value = Computed<T>;
                const Vector<const Value> left(computed(x), m, incx), right(computed(y), n, incy);
                Value* const to = computed(a);
                for (int64_t j = 0; j < n; ++j) {
                    const Value factor =
                        element_of<Value>(value) * (conjugates ? conjugate(right[j]) : right[j]);
                    for (int64_t i = 0; i < m; ++i) to[i + j * lda] += left[i] * factor;
                }
            });
    });
}

Number at_place(cudaDataType type, const void* x, int64_t i, int64_t n, int64_t inc) {
    const int64_t place = inc < 0 ? (i - (n - 1)) * inc : i * inc;
    return number_at(type,
                     static_cast<const char*>(x) + place * static_cast<int64_t>(bytes_of(type)));
}
void put_in_place(cudaDataType type, void* x, int64_t i, int64_t n, int64_t inc,
                  const Number& value) {
    const int64_t place = inc < 0 ? (i - (n - 1)) * inc : i * inc;
    set_number(type, static_cast<char*>(x) + place * static_cast<int64_t>(bytes_of(type)), value);
}

}  // namespace
}  // namespace cpu_device::blas

using namespace cpu_device::blas;
using cpu_device::LibraryOperand;
using cpu_device::use_operands;

#define VECTORS(T, amax_name, amin_name, copy_name, swap_name, axpy_name)       \
    CPU_DEVICE_CUBLAS_AMAX(amax_name, T) {                                      \
        return extreme(__func__, handle, n, x, incx, result, std::greater<>{}); \
    }                                                                           \
    CPU_DEVICE_CUBLAS_AMAX(amin_name, T) {                                      \
        return extreme(__func__, handle, n, x, incx, result, std::less<>{});    \
    }                                                                           \
    CPU_DEVICE_CUBLAS_COPY(copy_name, T) {                                      \
        return cpu_device::blas::copy(__func__, handle, n, x, incx, y, incy);   \
    }                                                                           \
    CPU_DEVICE_CUBLAS_SWAP(swap_name, T) {                                      \
        return cpu_device::blas::swap(__func__, handle, n, x, incx, y, incy);   \
    }                                                                           \
    CPU_DEVICE_CUBLAS_AXPY(axpy_name, T) {                                      \
        return axpy(__func__, handle, n, alpha, x, incx, y, incy);              \
    }
VECTORS(float, cublasIsamax, cublasIsamin, cublasScopy, cublasSswap, cublasSaxpy)
VECTORS(double, cublasIdamax, cublasIdamin, cublasDcopy, cublasDswap, cublasDaxpy)
VECTORS(cuComplex, cublasIcamax, cublasIcamin, cublasCcopy, cublasCswap, cublasCaxpy)
VECTORS(cuDoubleComplex, cublasIzamax, cublasIzamin, cublasZcopy, cublasZswap, cublasZaxpy)
#undef VECTORS

#define NORMS(T, Real, asum_name, nrm2_name)                       \
    CPU_DEVICE_CUBLAS_NORM(asum_name, T, Real) {                   \
        return sum_of_sizes(__func__, handle, n, x, incx, result); \
    }                                                              \
    CPU_DEVICE_CUBLAS_NORM(nrm2_name, T, Real) {                   \
        return euclidean(__func__, handle, n, x, incx, result);    \
    }
NORMS(float, float, cublasSasum, cublasSnrm2)
NORMS(double, double, cublasDasum, cublasDnrm2)
NORMS(cuComplex, float, cublasScasum, cublasScnrm2)
NORMS(cuDoubleComplex, double, cublasDzasum, cublasDznrm2)
#undef NORMS

#define DOT(name, T, conjugates)                                                         \
    CPU_DEVICE_CUBLAS_DOT(name, T) {                                                     \
        return inner_product(__func__, handle, n, x, incx, y, incy, result, conjugates); \
    }
DOT(cublasSdot, float, false)
DOT(cublasDdot, double, false)
DOT(cublasCdotu, cuComplex, false)
DOT(cublasCdotc, cuComplex, true)
DOT(cublasZdotu, cuDoubleComplex, false)
DOT(cublasZdotc, cuDoubleComplex, true)
#undef DOT

#define SCAL(name, T, Alpha)                               \
    CPU_DEVICE_CUBLAS_SCAL(name, T, Alpha) {               \
        return scale(__func__, handle, n, alpha, x, incx); \
    }
SCAL(cublasSscal, float, float)
SCAL(cublasDscal, double, double)
SCAL(cublasCscal, cuComplex, cuComplex)
SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex)
SCAL(cublasCsscal, cuComplex, float)
SCAL(cublasZdscal, cuDoubleComplex, double)
#undef SCAL

#define GEMV(name, T)                                                                   \
    CPU_DEVICE_CUBLAS_GEMV(name, T) {                                                   \
        return gemv(__func__, handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy); \
    }
GEMV(cublasSgemv, float)
GEMV(cublasDgemv, double)
GEMV(cublasCgemv, cuComplex)
GEMV(cublasZgemv, cuDoubleComplex)
#undef GEMV

#define GER(name, T, conjugates)                                                         \
    CPU_DEVICE_CUBLAS_GER(name, T) {                                                     \
        return ger(__func__, handle, m, n, alpha, x, incx, y, incy, a, lda, conjugates); \
    }
GER(cublasSger, float, false)
GER(cublasDger, double, false)
GER(cublasCgeru, cuComplex, false)
GER(cublasCgerc, cuComplex, true)
GER(cublasZgeru, cuDoubleComplex, false)
GER(cublasZgerc, cuDoubleComplex, true)
#undef GER

#define REAL(T, rot_name, symv_name)                                                   \
    CPU_DEVICE_CUBLAS_ROT(rot_name, T) {                                               \
        return cpu_device::blas::rotate(__func__, handle, n, x, incx, y, incy, c, s);  \
    }                                                                                  \
    CPU_DEVICE_CUBLAS_SYMV(symv_name, T) {                                             \
        return symv(__func__, handle, fill, n, alpha, a, lda, x, incx, beta, y, incy); \
    }
REAL(float, cublasSrot, cublasSsymv)
REAL(double, cublasDrot, cublasDsymv)
#undef REAL

// ---------------------------------------------------------------- types as arguments

cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha,
                            cudaDataType alpha_type, const void* x, cudaDataType x_type, int incx,
                            void* y, cudaDataType y_type, int incy, cudaDataType) {
    const char* const name = __func__;
    Call call(name, handle);
    require_vector(call, n);
    call.require_type("x", x_type);
    call.require_type("y", y_type);
    const Scalar by = call.scalar("alpha", alpha_type, alpha);
    return call.submit([=] {
        Number value = 0;
        if (const cudaError_t error = read_scalar(name, by, value)) return error;
        return use_operands(name,
                            {vector_operand("x", x_type, x, n, incx, true, false),
                             vector_operand("y", y_type, y, n, incy, true, true)},
                            [&] {
                                for (int i = 0; i < n; ++i) {
                                    put_in_place(y_type, y, i, n, incy,
                                                 value * at_place(x_type, x, i, n, incx) +
                                                     at_place(y_type, y, i, n, incy));
                                }
                            });
    });
}

cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha,
                            cudaDataType alpha_type, void* x, cudaDataType x_type, int incx,
                            cudaDataType) {
    const char* const name = __func__;
    Call call(name, handle);
    require_vector(call, n);
    call.require_type("x", x_type);
    const Scalar by = call.scalar("alpha", alpha_type, alpha);
    return call.submit([=] {
        Number value = 0;
        if (const cudaError_t error = read_scalar(name, by, value)) return error;
        return use_operands(name, {vector_operand("x", x_type, x, n, incx, true, true)}, [&] {
            for (int i = 0; i < n; ++i) {
                put_in_place(x_type, x, i, n, incx, value * at_place(x_type, x, i, n, incx));
            }
        });
    });
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type,
                           int incx, const void* y, cudaDataType y_type, int incy, void* result,
                           cudaDataType result_type, cudaDataType) {
    const char* const name = __func__;
    Call call(name, handle);
    require_vector(call, n);
    call.require_type("x", x_type);
    call.require_type("y", y_type);
    const Scalar to = call.scalar("result", result_type, result);
    return call.submit([=] {
        std::vector<LibraryOperand> operands{vector_operand("x", x_type, x, n, incx, true, false),
                                             vector_operand("y", y_type, y, n, incy, true, false)};
        if (to.is_on_device) {
            operands.push_back({"result", result, bytes_of(result_type), 1, 0, false, true});
        }
        return use_operands(name, operands, [&] {
            Number sum = 0;
            for (int i = 0; i < n; ++i) {
                sum += at_place(x_type, x, i, n, incx) * at_place(y_type, y, i, n, incy);
            }
            set_number(result_type, result, sum);
        });
    });
}

cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType x_type,
                            int incx, void* result, cudaDataType result_type, cudaDataType) {
    const char* const name = __func__;
    Call call(name, handle);
    require_vector(call, n);
    call.require_type("x", x_type);
    const Scalar to = call.scalar("result", result_type, result);
    return call.submit([=] {
        std::vector<LibraryOperand> operands{vector_operand("x", x_type, x, n, incx, true, false)};
        if (to.is_on_device) {
            operands.push_back({"result", result, bytes_of(result_type), 1, 0, false, true});
        }
        return use_operands(name, operands, [&] {
            double sum = 0;
            for (int i = 0; i < n; ++i) sum += std::norm(at_place(x_type, x, i, n, incx));
            set_number(result_type, result, std::sqrt(sum));
        });
    });
}
