// SPDX-License-Identifier: MIT
#include "common/cpu_device/libraries/product.hpp"

#include <algorithm>
#include <thread>

namespace cpu_device::blas {
namespace {

// A matrix as numbers, column after column.
template <class T>
std::vector<T> numbers_of(const Matrix& of) {
    std::vector<T> numbers(static_cast<size_t>(of.rows * of.columns));
    with_type(of.type, [&](auto* element) {
        using Element = std::remove_reference_t<decltype(*element)>;
        const auto* const from = static_cast<const Element*>(of.at);
        T* to = numbers.data();
        for (int64_t j = 0; j < of.columns; ++j) {
            for (int64_t i = 0; i < of.rows; ++i) {
                *to = number_of<T>(from[i * of.row_step + j * of.column_step]);
                if constexpr (is_complex<T>) {
                    if (of.is_conjugate) *to = std::conj(*to);
                }
                ++to;
            }
        }
    });
    return numbers;
}

template <class T>
void store(const Matrix& to, const std::vector<T>& numbers) {
    with_type(to.type, [&](auto* element) {
        using Element = std::remove_reference_t<decltype(*element)>;
        auto* const at = static_cast<Element*>(to.at);
        const T* from = numbers.data();
        for (int64_t j = 0; j < to.columns; ++j) {
            for (int64_t i = 0; i < to.rows; ++i) {
                at[i * to.row_step + j * to.column_step] = element_of<Element>(*from++);
            }
        }
    });
}

// sums += A B for columns [first, last) of B, in pieces of A that a cache holds.
template <class T>
void add_products(T* sums, const T* a, const T* b, int64_t m, int64_t k, int64_t first,
                  int64_t last) {
    constexpr int64_t kRows = 512, kDepth = 64;
    for (int64_t p0 = 0; p0 < k; p0 += kDepth) {
        const int64_t p1 = std::min(k, p0 + kDepth);
        for (int64_t i0 = 0; i0 < m; i0 += kRows) {
            const int64_t rows = std::min(m - i0, kRows);
            for (int64_t j = first; j < last; ++j) {
                T* const to = sums + j * m + i0;
                for (int64_t p = p0; p < p1; ++p) {
                    const T factor = b[j * k + p];
                    const T* const column = a + p * m + i0;
                    for (int64_t i = 0; i < rows; ++i) to[i] += factor * column[i];
                }
            }
        }
    }
}

// A product that is worth it, over the processor's cores.
template <class T>
void add_products_in_parallel(T* sums, const T* a, const T* b, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kWorthAThread = 1 << 22;
    const int64_t work = m * n * k / kWorthAThread;
    const int64_t threads =
        std::clamp<int64_t>(std::min<int64_t>(work, n), 1, std::thread::hardware_concurrency());
    std::vector<std::thread> others;
    for (int64_t t = 1; t < threads; ++t) {
        others.emplace_back(add_products<T>, sums, a, b, m, k, t * n / threads,
                            (t + 1) * n / threads);
    }
    add_products(sums, a, b, m, k, 0, n / threads);
    for (std::thread& other : others) other.join();
}

template <class T>
T scalar_of(const Number& number) {
    return element_of<T>(number);
}

template <class T>
void multiply_in(const Product& product) {
    const int64_t m = product.d.rows, n = product.d.columns, k = product.a.columns;
    std::vector<T> sums(static_cast<size_t>(m * n));
    if (product.alpha != 0.0 && k != 0) {
        const std::vector<T> a = numbers_of<T>(product.a), b = numbers_of<T>(product.b);
        add_products_in_parallel(sums.data(), a.data(), b.data(), m, n, k);
        const T alpha = scalar_of<T>(product.alpha);
        for (T& sum : sums) sum *= alpha;
    }
    if (product.beta != 0.0) {
        const std::vector<T> c = numbers_of<T>(product.c);
        const T beta = scalar_of<T>(product.beta);
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += beta * c[i];
    }
    if constexpr (!is_complex<T>) {
        if (product.finish) {
            std::vector<double> values(sums.begin(), sums.end());
            product.finish(values);
            return store(product.d, values);
        }
    }
    store(product.d, sums);
}

}  // namespace

Matrix matrix(cudaDataType type, const void* at, int64_t rows, int64_t columns, int64_t ld) {
    return {type, const_cast<void*>(at), rows, columns, 1, ld};
}

Matrix operated(Matrix of, cublasOperation_t op) {
    if (op == CUBLAS_OP_T || op == CUBLAS_OP_C) {
        std::swap(of.rows, of.columns);
        std::swap(of.row_step, of.column_step);
    }
    if (op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG) of.is_conjugate = !of.is_conjugate;
    return of;
}

LibraryOperand operand_of(const char* name, const Matrix& of, bool is_read, bool is_written) {
    const bool by_columns = of.row_step == 1;
    const auto bytes = static_cast<int64_t>(bytes_of(of.type));
    const int64_t run = by_columns ? of.rows : of.columns, runs = by_columns ? of.columns : of.rows;
    const int64_t pitch = by_columns ? of.column_step : of.row_step;
    return {name,
            of.at,
            static_cast<size_t>(run * bytes),
            static_cast<size_t>(runs),
            static_cast<size_t>(pitch * bytes),
            is_read,
            is_written};
}

void multiply(const Product& product) {
    switch (product.arithmetic) {
        case Arithmetic::of_float:
            return multiply_in<float>(product);
        case Arithmetic::of_double:
            return multiply_in<double>(product);
        case Arithmetic::of_complex_float:
            return multiply_in<std::complex<float>>(product);
        case Arithmetic::of_complex_double:
            return multiply_in<std::complex<double>>(product);
        case Arithmetic::of_integers:
            return multiply_in<int64_t>(product);
    }
}

}  // namespace cpu_device::blas
