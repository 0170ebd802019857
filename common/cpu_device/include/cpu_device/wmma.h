// SPDX-License-Identifier: MIT
// nvcuda::wmma for half, bfloat16 and tf32: fragments, their loads and stores, and their product.
//
// What a load or store of a fragment touches is what nvcc 13.0 makes of it for sm_90, as its machine code
// says. Matrices are moved in blocks of 8 x 8 elements:
//   A, B of half, shared memory  LDSM (ldmatrix), up to four blocks at once: lane i gives row i % 8 of block
//                                i / 8, 16 bytes. Counted as a shared load of 16 bytes a lane, which takes as
//                                many wavefronts. Whether a GPU's counters of shared loads take ldmatrix in
//                                is not known here.
//   A, B elsewhere               four bytes a lane and block; of bfloat16 in shared memory, too, of which
//                                nvcc makes generic loads
//   accumulators of float        8 bytes a lane and block where the two that it holds are neighbours in
//                                memory, else twice 4
//   accumulators of half         4 bytes a lane and block
//   A, B of tf32                 4 bytes a lane and element (assumed, not read off)
// It is assumed that nvcc knows which memory a pointer points to. Where it does not, it makes generic loads
// of four bytes of all.
//
// Products are exact here, summed up in double precision and rounded once to the accumulator. A GPU cuts
// digits off on the way (see common/operations/gemm/judge.cuh).
#pragma once
#include "cpu_device/integers.h"
#include <type_traits>

#include "cpu_device/core.h"
#include "cpu_device/matrix_places.h"
#include "cpu_device/qualifiers.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a {
    static constexpr auto use = cpu_device::MatrixUse::a;
};
struct matrix_b {
    static constexpr auto use = cpu_device::MatrixUse::b;
};
struct accumulator {
    static constexpr auto use = cpu_device::MatrixUse::accumulator;
};
enum layout_t { mem_row_major, mem_col_major };

// Types of elements that are kept in another: tf32 in float.
namespace precision {
struct tf32;
}
// Products of integers of 4 bits and of bits: known by name, for libraries that mention them, and refused where used.
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

// Rounded to the 10 bits of mantissa that a product looks at: to the nearest, halfway away from 0.
__host__ __device__ inline float __float_to_tf32(float in) {
    if (in - in != 0) return in;  // infinite, or no number
    constexpr uint32_t kHalf = 0x1000, kKept = 0xffffe000;
    return cpu_device::bit_cast<float>((cpu_device::bit_cast<uint32_t>(in) + kHalf) & kKept);
}

namespace detail {
template <class T>
inline constexpr bool is_tf32 = std::is_same_v<T, precision::tf32>;

// What an element is kept in.
template <class T>
using Kept = std::conditional_t<is_tf32<T>, float, T>;

// Of two sizes, which may be equal.
__host__ __device__ constexpr int size_if(bool condition, int size, int otherwise) {
    return condition ? size : otherwise;
}
}  // namespace detail

// A warp's matrix: each lane holds some elements, in x. Which, is left open: only what is done to all
// elements alike may be done to x.
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
    static constexpr bool kIsSum = std::is_same_v<Use, accumulator>;
    static_assert(
        kIsSum
            ? std::is_same_v<T, float> || std::is_same_v<T, __half>
            : std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> || detail::is_tf32<T>,
        "the CPU device's wmma multiplies half, bfloat16 or tf32, and adds in float or half");
    static_assert(
        k == 8 ? m == 16 && n == 16 && (detail::is_tf32<T> || std::is_same_v<T, float>)
               : k == 16 && !detail::is_tf32<T> &&
                     ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32)),
        "fragments of 16-bit floats are 16x16x16, 32x8x16 or 8x32x16, those of tf32 16x16x8");
    static_assert(std::is_void_v<Layout> == kIsSum,
                  "A and B have a layout, row_major or col_major; accumulators have none");

public:
    static constexpr int rows = detail::size_if(std::is_same_v<Use, matrix_b>, k, m);
    static constexpr int cols = detail::size_if(std::is_same_v<Use, matrix_a>, k, n);
    static constexpr int different_elements = rows * cols / 32;

    // A and B of half take as much room as on the first GPUs with wmma, where two lanes held each element.
    static constexpr int num_elements =
        !kIsSum && std::is_same_v<T, __half> ? 16 : different_elements;
    static constexpr int num_storage_elements = num_elements;
    using element_type = T;
    using storage_element_type = detail::Kept<T>;
    detail::Kept<T> x[num_elements];
};

namespace detail {

// The lane's two neighbours in a block of 8 x 8, whose lines lie ld elements apart.
template <class T>
__device__ inline const T* part_of_block(const T* block, unsigned ld) {
    const unsigned lane = cpu_device::lane_id();
    return block + lane / 4 * ld + lane % 4 * 2;
}

// A and B. lines: as they lie in memory, of `length` elements.
template <class T>
__device__ inline void note_loads(const T* from, unsigned ld, int lines, int length) {
    const int down = lines / 8, blocks = down * (length / 8);
    const auto block = [=](int number) {
        return from + static_cast<unsigned>(number % down * 8) * ld + number / down * 8;
    };
    if (std::is_same_v<T, __half> && cpu_device::is_shared(from)) {
        const int lane = static_cast<int>(cpu_device::lane_id());
        for (int first = 0; first < blocks; first += 4) {
            const int mine = first + lane / 8;
            if (mine < blocks)
                cpu_device::note_load(block(mine) + static_cast<unsigned>(lane % 8) * ld, 16);
        }
    } else {
        for (int number = 0; number < blocks; ++number)
            cpu_device::note_load(part_of_block(block(number), ld), 4);
    }
}

// Accumulators. note: what notes a load or a store.
template <int m, class T, class Note>
__device__ inline void note_sums(const T* place, unsigned ld, int lines, int length, bool by_rows,
                                 Note note) {
    const bool pairs_are_neighbours = by_rows == (m != 8);
    for (int line = 0; line < lines; line += 8) {
        for (int at = 0; at < length; at += 8) {
            const T* const block = place + static_cast<unsigned>(line) * ld + at;
            if (sizeof(T) == 2 || pairs_are_neighbours) {
                note(part_of_block(block, ld), static_cast<int>(2 * sizeof(T)));
            } else {
                const unsigned lane = cpu_device::lane_id();
                for (unsigned second = 0; second < 2; ++second)
                    note(block + (lane % 4 * 2 + second) * ld + lane / 4,
                         static_cast<int>(sizeof(T)));
            }
        }
    }
}

// Visits the elements that the lane holds: visit(index, where it lies in memory).
template <class Use, int m, int n, int k, class T, class Layout, class Visit>
__device__ inline void for_each_element(const fragment<Use, m, n, k, T, Layout>&, unsigned ld,
                                        bool by_rows, Visit visit) {
    using Fragment = fragment<Use, m, n, k, T, Layout>;
    const int lane = static_cast<int>(cpu_device::lane_id());
    for (int i = 0; i < Fragment::num_elements; ++i) {
        const auto place =
            cpu_device::matrix_place(Use::use, m, n, k, lane, i % Fragment::different_elements);
        const auto row = static_cast<unsigned>(place.row), col = static_cast<unsigned>(place.col);
        visit(i, by_rows ? row * ld + col : col * ld + row);
    }
}

// An element as a product takes it: of tf32 without the digits that it does not look at.
template <class T>
__device__ inline float multiplied(Kept<T> element) {
    if constexpr (is_tf32<T>) {
        constexpr uint32_t kUsed = 0xffffe000;
        return cpu_device::bit_cast<float>(cpu_device::bit_cast<uint32_t>(element) & kUsed);
    } else {
        return static_cast<float>(element);
    }
}

template <class Fragment, class T>
__device__ inline void read(Fragment& f, const T* from, unsigned ld, bool by_rows) {
    for_each_element(f, ld, by_rows, [&](int i, unsigned at) {
        cpu_device::copy_element(&f.x[i], from + at, sizeof(T));
    });
}

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout, class Value>
__device__ inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const Value& value) {
    for (auto& each : f.x) each = static_cast<detail::Kept<T>>(value);
}

template <class Use, int m, int n, int k, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                        const detail::Kept<T>* from, unsigned ld) {
    static_assert(!std::is_same_v<Use, accumulator>,
                  "a load of accumulators wants mem_row_major or mem_col_major");
    constexpr bool by_rows = std::is_same_v<Layout, row_major>;
    cpu_device::meet_at_matrix(cpu_device::Collective::matrix_load, from, ld, sizeof(*from));
    if constexpr (detail::is_tf32<T>) {
        detail::for_each_element(f, ld, by_rows, [&](int, unsigned at) {
            cpu_device::note_load(from + at, sizeof(float));
        });
    } else {
        detail::note_loads(from, ld, detail::size_if(by_rows, f.rows, f.cols),
                           detail::size_if(by_rows, f.cols, f.rows));
    }
    detail::read(f, from, ld, by_rows);
}

template <int m, int n, int k, class T>
__device__ inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from,
                                        unsigned ld, layout_t layout) {
    const bool by_rows = layout == mem_row_major;
    cpu_device::meet_at_matrix(cpu_device::Collective::matrix_load, from, ld, sizeof(T));
    detail::note_sums<m>(from, ld, detail::size_if(by_rows, m, n), detail::size_if(by_rows, n, m),
                         by_rows, [](const T* at, int bytes) { cpu_device::note_load(at, bytes); });
    detail::read(f, from, ld, by_rows);
}

template <int m, int n, int k, class T>
__device__ inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f,
                                         unsigned ld, layout_t layout) {
    const bool by_rows = layout == mem_row_major;
    cpu_device::meet_at_matrix(cpu_device::Collective::matrix_store, to, ld, sizeof(T));
    detail::note_sums<m>(static_cast<const T*>(to), ld, detail::size_if(by_rows, m, n),
                         detail::size_if(by_rows, n, m), by_rows,
                         [](const T* at, int bytes) { cpu_device::note_store(at, bytes); });
    detail::for_each_element(f, ld, by_rows, [&](int i, unsigned at) {
        cpu_device::copy_element(to + at, &f.x[i], sizeof(T));
    });
}

// d = a b + c; d may be c.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Sum>
__device__ inline void mma_sync(fragment<accumulator, m, n, k, Sum>& d,
                                const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                const fragment<accumulator, m, n, k, Sum>& c) {
    static_assert(std::is_same_v<T, __half> || std::is_same_v<Sum, float>,
                  "products of bfloat16 are added in float");
    float of_a[a.different_elements], of_b[b.different_elements];
    double sum[c.num_elements];
    for (int i = 0; i < a.different_elements; ++i) of_a[i] = detail::multiplied<T>(a.x[i]);
    for (int i = 0; i < b.different_elements; ++i) of_b[i] = detail::multiplied<T>(b.x[i]);
    for (int i = 0; i < c.num_elements; ++i) sum[i] = static_cast<float>(c.x[i]);
    cpu_device::multiply_matrices({m, n, k, of_a, of_b, sum});
    for (int i = 0; i < c.num_elements; ++i) d.x[i] = static_cast<Sum>(sum[i]);
}

// Fragments of bits cannot be made, so that nobody who has some calls this.
template <class Sum, class A, class B>
__device__ inline void bmma_sync(
    Sum&, const A&, const B&, const Sum&, experimental::bmmaBitOp = experimental::bmmaBitOpXOR,
    experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
    cpu_device::fail(cudaErrorNotSupported, "the CPU device's wmma multiplies no bits");
}

}  // namespace wmma
}  // namespace nvcuda
