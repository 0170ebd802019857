// SPDX-License-Identifier: MIT
#include "wgmma_operands.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "access.hpp"
#include "async_proxy.hpp"
#include "matrix_elements.hpp"
#include "program_image.hpp"
#include "shared_memory.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr unsigned kSideBySide = 16;   // bytes that always lie side by side
constexpr unsigned kRowsOfBlock = 8;   // of a core matrix
constexpr uint32_t kReach = 1u << 18;  // of a descriptor's address

struct Descriptor {
    uint32_t address;
    uint32_t leading, stride;  // bytes
    uint32_t base;
    unsigned span;  // of the swizzle, in bytes; 0: none

    explicit Descriptor(uint64_t bits)
        : address(field(bits, 0)),
          leading(field(bits, 16)),
          stride(field(bits, 32)),
          base(static_cast<uint32_t>(bits >> 49 & 7)) {
        constexpr unsigned kSpans[] = {0, 128, 64, 32};
        span = kSpans[bits >> 62];
    }

    // Chunks change places within a span as bits 7 and up of their address say.
    uint32_t swizzled(uint32_t at) const {
        if (span == 0) return at;
        const uint32_t chunks = span / kSideBySide - 1;
        return at ^ (((at >> 7) - base) & chunks) << 4;
    }

private:
    static uint32_t field(uint64_t bits, unsigned from) {
        constexpr uint64_t kField = 0x3fff;
        return static_cast<uint32_t>(bits >> from & kField) << 4;
    }
};

// Completes an address from the 18 bits that a descriptor holds. On a GPU they suffice; here a static variable may lie
// more than 256 KB from the dynamic array.
uint32_t whole_address(const Worker& worker, uint32_t address) {
    const uintptr_t dynamic = worker.dynamic_shared.low;
    const uint32_t begin = shared_address(reinterpret_cast<const void*>(dynamic));
    address |= begin >> kRankShift << kRankShift;  // this block's, in a cluster
    if (address - begin < worker.dynamic_shared.high - dynamic) return address;
    const std::vector<Symbol>& variables = program_image().shared;
    uint32_t found = address;
    for (size_t i = variables.size(); i-- > 0;) {
        const uintptr_t low = worker.thread_locals.low + variables[i].value;
        if (low == dynamic) continue;
        const uint32_t there = shared_address(reinterpret_cast<const void*>(low));
        const uint32_t offset = (address - there) % kReach;
        if (offset >= variables[i].size) continue;
        found = there + offset;
        if (worker.shared_is_used[i] != 0) break;  // others may be another kernel's
    }
    return found;
}

// The part of a block's shared memory that holds an address: the dynamic array, or a variable. Empty where none does.
AddressRange part_of_shared(const Worker& worker, uintptr_t address) {
    if (worker.dynamic_shared.holds(address)) return worker.dynamic_shared;
    if (!worker.thread_locals.holds(address) || dynamic_array(worker, worker).holds(address))
        return {};
    if (program_image().shared.empty()) return worker.thread_locals;
    const Symbol* const variable = nearest_shared_variable(address - worker.thread_locals.low);
    if (variable == nullptr) return {};
    const uintptr_t low = worker.thread_locals.low + variable->value;
    return {low, low + variable->size};
}

[[noreturn]] void fail_outside(const MatrixInMemory& matrix, uintptr_t address, unsigned row,
                               unsigned k) {
    Failure failure = failure_of_running_lane(cudaErrorIllegalAddress);
    describe_bad_address(failure, address, kSideBySide, "read by wgmma");
    const size_t length = std::strlen(failure.what);
    std::snprintf(failure.what + length, sizeof failure.what - length,
                  "; it is where the descriptor of %c, 0x%" PRIx64 ", has %s %u from k = %u on",
                  matrix.name, matrix.descriptor, matrix.name == 'A' ? "row" : "column", row, k);
    fail_here(failure);
}

// Decodes a chunk. One function per type, so that the type is tested once per matrix.
using Decode = void (*)(const uint32_t* words, double* to);
template <Element element>
void decode_chunk(const uint32_t* words, double* to) {
    for (unsigned i = 0; i < kSideBySide / sizeof(uint32_t); ++i)
        to = append(to, element, words + i);
}
Decode decode_of(Element element) {
    switch (element) {
        case Element::tf32:
            return decode_chunk<Element::tf32>;
        case Element::f16:
            return decode_chunk<Element::f16>;
        case Element::bf16:
            return decode_chunk<Element::bf16>;
        case Element::e4m3:
            return decode_chunk<Element::e4m3>;
        case Element::e5m2:
            return decode_chunk<Element::e5m2>;
        case Element::s8:
            return decode_chunk<Element::s8>;
        case Element::u8:
            return decode_chunk<Element::u8>;
        default:
            return decode_chunk<Element::b1>;
    }
}

// Reads chunks of one matrix.
class ChunkReader {
public:
    ChunkReader(const MatrixInMemory& matrix, NotedReads noted)
        : matrix_(matrix),
          descriptor_(matrix.descriptor),
          decode_(decode_of(matrix.element)),
          noted_(noted),
          begin_(whole_address(*current.worker, descriptor_.address)) {}

    const Descriptor& descriptor() const { return descriptor_; }

    // Reads the elements `offset` bytes from the beginning, as counted before the swizzle. Messages name row and k.
    void read(uint32_t offset, unsigned row, unsigned k, double* to) {
        const auto address = as_address(shared_pointer(descriptor_.swizzled(begin_ + offset)));
        if (address < part_.low || address + kSideBySide > part_.high) {
            part_ = part_of_shared(*current.worker, address);
            if (address < part_.low || address + kSideBySide > part_.high)
                fail_outside(matrix_, address, row, k);
        }
        if (noted_.operation != 0 && read_by_wgmma(address, noted_.operation, noted_.place,
                                                   static_cast<uint8_t>(descriptor_.span)))
            *noted_.any_written = true;
        uint32_t words[kSideBySide / sizeof(uint32_t)];
        std::memcpy(words, reinterpret_cast<const void*>(address), sizeof words);
        decode_(words, to);
    }

private:
    const MatrixInMemory& matrix_;
    const Descriptor descriptor_;
    const Decode decode_;
    const NotedReads noted_;
    const uint32_t begin_;
    AddressRange part_{};
};

constexpr unsigned kMostInChunk = 128;  // bits

// A chunk holds elements of one row.
void gather_rows(ChunkReader& reader, unsigned per_chunk, unsigned first, unsigned rows,
                 const Numbers& to) {
    const Descriptor& descriptor = reader.descriptor();
    const unsigned row_bytes = descriptor.span == 0 ? kSideBySide : descriptor.span;
    const unsigned chunk_step = descriptor.span == 0 ? descriptor.leading : kSideBySide;
    double values[kMostInChunk];
    for (unsigned i = 0; i < rows; ++i) {
        const unsigned row = first + i;
        double* const of_row = to.row(i);
        for (unsigned chunk = 0; chunk < 2; ++chunk) {
            reader.read(row / kRowsOfBlock * descriptor.stride + row % kRowsOfBlock * row_bytes +
                            chunk * chunk_step,
                        row, chunk * per_chunk, values);
            double* const part = of_row + chunk * per_chunk * to.k_step;
            for (unsigned k = 0; k < per_chunk; ++k) part[k * to.k_step] = values[k];
        }
    }
}

// A chunk holds elements of one k.
void gather_columns(ChunkReader& reader, unsigned per_chunk, unsigned first, unsigned rows,
                    unsigned all_k, const Numbers& to) {
    const Descriptor& descriptor = reader.descriptor();
    // Rows that are contiguous for one k, and the distances to the next rows and to the next eight k.
    const unsigned span = descriptor.span == 0 ? kSideBySide : descriptor.span;
    const unsigned side_by_side = span / kSideBySide * per_chunk;
    const uint32_t to_next_rows = descriptor.span == 0 ? descriptor.stride : descriptor.leading;
    const uint32_t to_next_k = descriptor.span == 0 ? descriptor.leading : descriptor.stride;
    double values[kMostInChunk];
    for (unsigned k = 0; k < all_k; ++k) {
        const uint32_t of_k = k / kRowsOfBlock * to_next_k + k % kRowsOfBlock * span;
        for (unsigned i = 0; i < rows; i += per_chunk) {
            const unsigned row = first + i;
            reader.read(of_k + row / side_by_side * to_next_rows +
                            row % side_by_side / per_chunk * kSideBySide,
                        row, k, values);
            for (unsigned j = 0; j < per_chunk; ++j) to.row(i + j)[k * to.k_step] = values[j];
        }
    }
}

// ---------------------------------------------------------------- products

using Four [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

// Each element of a block of B is multiplied by those of `rows` rows before the next is loaded. Unrolled, so that the
// sums stay in registers.
template <unsigned rows>
[[gnu::always_inline]] inline void multiply_block(const double* a, const double* b, unsigned k,
                                                  unsigned n, double* sums) {
    Four sum[rows][2] = {};
    for (unsigned i = 0; i < k; ++i) {
        const Four low = *reinterpret_cast<const Four*>(b + size_t{i} * kRowsOfBlock);
        const Four high = *reinterpret_cast<const Four*>(b + size_t{i} * kRowsOfBlock + 4);
#pragma GCC unroll 4
        for (unsigned row = 0; row < rows; ++row) {
            sum[row][0] += a[row * k + i] * low;
            sum[row][1] += a[row * k + i] * high;
        }
    }
#pragma GCC unroll 4
    for (unsigned row = 0; row < rows; ++row) {
        *reinterpret_cast<Four*>(sums + size_t{row} * n) = sum[row][0];
        *reinterpret_cast<Four*>(sums + size_t{row} * n + 4) = sum[row][1];
    }
}

template <unsigned rows>
[[gnu::always_inline]] inline void multiply_all(const double* a, const double* b, unsigned k,
                                                unsigned n, double* sums) {
    for (unsigned column = 0; column < n; column += kRowsOfBlock) {
        for (unsigned row = 0; row < kRowsOfWarp; row += rows) {
            multiply_block<rows>(a + size_t{row} * k, b + size_t{column} * k, k, n,
                                 sums + size_t{row} * n + column);
        }
    }
}

// The sums are the same on every processor: the products are exact, so a fused addition rounds as a separate one.
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_by_avx2(const double* a, const double* b, unsigned k,
                                                  unsigned n, double* sums) {
    multiply_all<4>(a, b, k, n, sums);
}
bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}
#endif

// The bytes between groups of eight rows, where K is contiguous.
void check_rows(const MatrixInMemory& matrix, const Descriptor& descriptor, unsigned rows) {
    const unsigned bytes = kRowsOfBlock * (descriptor.span == 0 ? kSideBySide : descriptor.span);
    if (matrix.is_transposed || rows <= kRowsOfBlock || descriptor.stride >= bytes) return;
    char swizzle[48] = "without a swizzle";
    if (descriptor.span != 0)
        std::snprintf(swizzle, sizeof swizzle, "with a swizzle of %u bytes", descriptor.span);
    fail_at_wgmma(
        cudaErrorLaunchFailure,
        "wgmma's descriptor of %c, 0x%" PRIx64
        ", has a stride byte offset of %u: %s eight %s take %u bytes, so those from number 8 on "
        "overlap those before",
        matrix.name, matrix.descriptor, descriptor.stride, swizzle,
        matrix.name == 'A' ? "rows" : "columns", bytes);
}

}  // namespace

uintptr_t beginning_of(const MatrixInMemory& matrix) {
    const Descriptor descriptor(matrix.descriptor);
    return as_address(
        shared_pointer(descriptor.swizzled(whole_address(*current.worker, descriptor.address))));
}

void fail_at_wgmma(cudaError_t code, const char* format, ...) {
    Failure failure = failure_of_running_lane(code);
    failure.tells_callers = true;
    va_list arguments;
    va_start(arguments, format);
    failure.set_what(format, arguments);
    va_end(arguments);
    fail_here(failure);
}

void check_descriptor(const MatrixInMemory& matrix, unsigned rows) {
    constexpr uint64_t kUnused = 0x3ff1c000c000c000u;
    const uint64_t unused = matrix.descriptor & kUnused;
    if (unused != 0) {
        fail_at_wgmma(
            cudaErrorLaunchFailure,
            "wgmma's descriptor of %c, 0x%" PRIx64
            ", has bit %d set, which must be 0: the "
            "address and the two offsets are bytes >> 4 in 14 bits each (at 0, 16, 32), the "
            "swizzle is in bits 62 and 63",
            matrix.name, matrix.descriptor, __builtin_ctzll(unused));
    }
    const Descriptor descriptor(matrix.descriptor);
    check_rows(matrix, descriptor, rows);
    if (descriptor.span == 0 || descriptor.base != 0) return;
    // Eight rows are what the swizzle repeats after.
    const uint32_t begin = whole_address(*current.worker, descriptor.address);
    const uint32_t repeats = descriptor.span * kRowsOfBlock;
    const uint32_t row = begin % repeats / descriptor.span;
    if (row == 0) return;
    // Tensor copies swizzle by address bits, as wgmma does: the pattern begins where it should, though the tile does not.
    // Threads that count rows from the tile's first put it elsewhere.
    const auto at = as_address(shared_pointer(begin));
    if (part_of_shared(*current.worker, at).holds(at) &&
        is_from_copy(at, static_cast<uint8_t>(descriptor.span)))
        return;
    fail_at_wgmma(
        cudaErrorMisalignedAddress,
        "wgmma's descriptor of %c, 0x%" PRIx64
        ", begins at shared address 0x%x, in row %u of a "
        "swizzle's eight: with a swizzle of %u bytes and base offset 0 a matrix begins within "
        "%u bytes after a multiple of %u",
        matrix.name, matrix.descriptor, begin, row, descriptor.span, descriptor.span, repeats);
}

void gather(const MatrixInMemory& matrix, unsigned first, unsigned rows, const Numbers& to,
            NotedReads noted) {
    ChunkReader reader(matrix, noted);
    const unsigned per_chunk = kSideBySide * 8 / bits_of(matrix.element);
    if (matrix.is_transposed) {
        gather_columns(reader, per_chunk, first, rows, matrix.k, to);
    } else {
        gather_rows(reader, per_chunk, first, rows, to);
    }
}

void gather_registers(Element element, unsigned k, const uint32_t (*of_lane)[4],
                      const Numbers& to) {
    const unsigned per_register = 32 / bits_of(element);
    double values[32];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        for (unsigned i = 0; i < 4; ++i) {
            append(values, element, &of_lane[lane][i]);
            double* const row = to.row(lane / 4 + i % 2 * kRowsOfBlock);
            const unsigned from = i / 2 * (k / 2) + lane % 4 * per_register;
            for (unsigned j = 0; j < per_register; ++j) row[(from + j) * to.k_step] = values[j];
        }
    }
}

void multiply_rows(const double* a, const double* b, unsigned k, unsigned n, double* sums) {
#if defined(__x86_64__)
    if (has_avx2()) return multiply_by_avx2(a, b, k, n, sums);
#endif
    multiply_all<2>(a, b, k, n, sums);
}

}  // namespace cpu_device
