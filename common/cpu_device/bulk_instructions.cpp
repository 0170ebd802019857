// SPDX-License-Identifier: MIT
//
// Bulk copies and tensor copies at their issue: whether their operands are good, and which bytes they move. How and when
// these move is in bulk_copies.cpp.
#include <cinttypes>
#include <cstring>
#include <string>
#include <type_traits>

#include "access.hpp"
#include "cpu_device/small_float_names.h"
#include "cpu_device/tensor_map.h"
#include "memory.hpp"
#include "tensor_maps.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr size_t kMapBytes = sizeof(CUtensorMap);
constexpr uintptr_t kMapAlignment = 64;
constexpr uintptr_t kBulkAlignment = 16, kTensorAlignment = 128, kMbarrierAlignment = 8;

// ---------------------------------------------------------------- operands

void check_alignment(const char* instruction, const void* pointer, uintptr_t alignment,
                     const char* what) {
    const uintptr_t past = as_address(pointer) % alignment;
    if (past == 0) return;
    fail(cudaErrorMisalignedAddress,
         "%s: %s is %" PRIuPTR " bytes past a multiple of %" PRIuPTR
         ": it must be aligned to %" PRIuPTR " bytes",
         instruction, what, past, alignment, alignment);
}

void check_source(const char* instruction, const void* pointer, uintptr_t alignment) {
    if (!is_shared(pointer)) {
        fail(cudaErrorIllegalAddress, "%s: the source %p is not in shared memory of this block",
             instruction, pointer);
    }
    check_alignment(instruction, pointer, alignment, "the source");
}

// Where a load goes. The mbarrier counts the bytes in the block that they go to.
struct Destination {
    const void *to, *mbarrier;
};

Destination destination(const char* instruction, const void* to, uintptr_t alignment,
                        const void* mbarrier, uint16_t blocks) {
    const Worker* const owner = owner_of_shared(*current.worker, as_address(to));
    if (owner == nullptr) {
        fail(cudaErrorIllegalAddress,
             "%s: the destination %p is not in shared memory of this block or its cluster",
             instruction, to);
    }
    check_alignment(instruction, to, alignment, "the destination");
    const Worker* const counting = owner_of_shared(*current.worker, as_address(mbarrier));
    if (counting != owner) {
        fail(cudaErrorIllegalAddress,
             "%s: the mbarrier %p is not in shared memory of the block that the bytes go to%s",
             instruction, mbarrier,
             counting == nullptr ? "" : ": use mapa for both, with the same rank");
    }
    check_alignment(instruction, mbarrier, kMbarrierAlignment, "the mbarrier");
    if (blocks == 0) return {to, mbarrier};
    // A multicast means the same place in each of its blocks, whichever block's the address is.
    const auto of_this_block = [&](const void* pointer) {
        return reinterpret_cast<const void*>(as_address(pointer) - owner->thread_locals.low +
                                             current.worker->thread_locals.low);
    };
    return {of_this_block(to), of_this_block(mbarrier)};
}

void check_size(const char* instruction, uint32_t bytes) {
    if (bytes % kBulkAlignment == 0) return;
    fail(cudaErrorInvalidValue, "%s of %u bytes: the size must be a multiple of 16 bytes",
         instruction, bytes);
}

void check_global(const char* instruction, const void* pointer, uint32_t bytes) {
    if (as_address(pointer) % kBulkAlignment != 0) {
        fail(cudaErrorMisalignedAddress,
             "%s: the address %p in global memory must be aligned to 16 bytes", instruction,
             pointer);
    }
    check_size(instruction, bytes);
}

// ---------------------------------------------------------------- maps

bool is_in_arguments(const unsigned char* map) {
    const LaunchRequest& request = *current.worker->launch->request;
    const auto* const all = static_cast<const unsigned char*>(request.invocation);
    for (size_t at = 0; at + kMapBytes <= request.invocation_bytes; at += sizeof(uint64_t)) {
        if (std::memcmp(all + at, map, kMapBytes) == 0) return true;
    }
    return false;
}

// The kernel's parameters lie on the thread's stack, as its variables do: a map there is good if the launch's arguments
// have it.
void check_where_map_is(const char* instruction, const void* pointer) {
    if (pointer == nullptr || as_address(pointer) % kMapAlignment != 0) {
        fail(cudaErrorMisalignedAddress,
             "%s: the tensor map is at %p: it must be aligned to 64 bytes, as a CUtensorMap is",
             instruction, pointer);
    }
    if (current.fast) return;
    const bool on_stack = all_stacks(*current.worker).holds(as_address(pointer));
    if (!on_stack && !is_global(pointer)) {
        fail(cudaErrorIllegalAddress,
             "%s: the tensor map at %p is neither a parameter of the kernel nor in global or "
             "constant memory: a kernel gets it as `const __grid_constant__ CUtensorMap map` and "
             "passes &map",
             instruction, pointer);
    }
    if (on_stack && !is_in_arguments(static_cast<const unsigned char*>(pointer))) {
        fail(cudaErrorIllegalInstruction,
             "%s: the tensor map at %p is a variable of the thread's, which tensor copies cannot "
             "read: a kernel gets it as `const __grid_constant__ CUtensorMap map` and passes &map",
             instruction, pointer);
    }
}

TensorMap map_at(const char* instruction, const void* pointer) {
    check_where_map_is(instruction, pointer);
    TensorMap map;
    if (!decode_tensor_map(pointer, map)) {
        fail(cudaErrorIllegalInstruction,
             "%s: at %p lies no tensor map that cuTensorMapEncodeTiled wrote: encode it on the "
             "host, check the CUresult, and copy all of its 128 bytes",
             instruction, pointer);
    }
    return map;
}

TensorMap map_of(const char* instruction, const TensorPlace& place) {
    TensorMap map = map_at(instruction, place.map);
    if (map.rank != place.rank) {
        fail(cudaErrorIllegalInstruction,
             "%s has %u coordinates, and the tensor map has %u dimensions: use the .%ud form",
             instruction, place.rank, map.rank, map.rank);
    }
    return map;
}

// The documentation mentions neither rule; an H100 ends the kernel.
void check_coordinates_of_store(const char* instruction, const TensorPlace& to) {
    for (unsigned i = 0; i < to.rank; ++i) {
        if (to.coordinates[i] >= 0) continue;
        fail(
            cudaErrorIllegalInstruction,
            "%s: coordinate %u is %d: a box that is stored begins inside the tensor, or behind it; "
            "only a load may begin before it",
            instruction, i, to.coordinates[i]);
    }
}
void check_first_coordinate(const char* instruction, const TensorMap& map, int32_t first) {
    const uint32_t element = element_bytes(map.type), unit = 16 / element;
    if (first % static_cast<int32_t>(unit) == 0) return;
    fail(cudaErrorIllegalInstruction,
         "%s: the first coordinate is %d, which is %lld bytes from the row's beginning: it must be "
         "a multiple of %u elements of %u bytes, so that a row of the box begins at 16 bytes",
         instruction, first, static_cast<long long>(first) * element, unit, element);
}

BulkCopy bulk_copy_of(const char* instruction, uintptr_t place, const void* shared,
                      std::vector<BulkRun> runs, uint32_t bytes) {
    BulkCopy copy;
    copy.instruction = instruction;
    copy.place = place;
    copy.shared = as_address(shared);
    copy.bytes = copy.extent = bytes;
    copy.runs = std::move(runs);
    // Pieces serve the checks alone.
    if (!copy.runs.empty() && !current.fast)
        copy.pieces = pieces_of_bytes(copy.runs[0].global, bytes, copy.shared);
    return copy;
}

BulkCopy copy_of_box(const char* instruction, uintptr_t place, const void* shared,
                     const TensorMap& map, const TensorPlace& tensor, bool is_load) {
    check_first_coordinate(instruction, map, tensor.coordinates[0]);
    const Undisturbed container_grows;
    BulkCopy copy = bulk_copy_of(instruction, place, shared,
                                 runs_of_box(map, tensor.coordinates, as_address(shared), is_load),
                                 box_bytes(map));
    if (!current.fast) copy.pieces = pieces_of_box(map, tensor.coordinates);
    copy.extent = box_extent(map);
    copy.row_bytes = row_bytes(map);
    copy.swizzle = swizzle_span(map.swizzle);
    // A NaN in every floating type; an H100 fills up with this one.
    copy.fill = map.fills_with_nan ? 0x7ff7 : 0;
    return copy;
}

// ---------------------------------------------------------------- reductions

// Writes combine(old, from) to `there` at once for all other threads.
template <class Value, class Function>
void update(void* there, const void* from, Function combine) {
    using Word = std::conditional_t<sizeof(Value) == 2, uint16_t,
                                    std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>>;
    auto* const at = static_cast<Word*>(there);
    Value value;
    std::memcpy(&value, from, sizeof value);
    Word old = __atomic_load_n(at, __ATOMIC_RELAXED), next;
    do {
        Value before, after;
        std::memcpy(&before, &old, sizeof before);
        after = combine(before, value);
        std::memcpy(&next, &after, sizeof next);
    } while (
        !__atomic_compare_exchange_n(at, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

template <class Value, BulkReduction reduction>
Value combined(Value old, Value value) {
    constexpr bool kIsInteger = std::is_integral_v<Value>;
    if constexpr (reduction == BulkReduction::add) {
        if constexpr (kIsInteger) {
            using Unsigned = std::make_unsigned_t<Value>;
            return static_cast<Value>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
        } else {
            return old + value;
        }
    } else if constexpr (reduction == BulkReduction::min || reduction == BulkReduction::max) {
        if constexpr (kIsInteger) {
            const bool takes = reduction == BulkReduction::min ? value < old : old < value;
            return takes ? value : old;
        } else {
            return reduction == BulkReduction::min ? __hmin(old, value) : __hmax(old, value);
        }
    } else if constexpr (!kIsInteger) {
        return old;
    } else if constexpr (reduction == BulkReduction::inc) {
        return old >= value ? Value{0} : static_cast<Value>(old + 1);
    } else if constexpr (reduction == BulkReduction::dec) {
        return old == 0 || old > value ? value : static_cast<Value>(old - 1);
    } else if constexpr (reduction == BulkReduction::bit_and) {
        return old & value;
    } else if constexpr (reduction == BulkReduction::bit_or) {
        return old | value;
    } else {
        return old ^ value;
    }
}

template <class Value, BulkReduction reduction>
void combine(void* there, const void* from) {
    update<Value>(there, from, combined<Value, reduction>);
}

template <class Value>
Combine integer_combine(BulkReduction reduction) {
    using Of = BulkReduction;
    switch (reduction) {
        case Of::add:
            return combine<Value, Of::add>;
        case Of::min:
            return combine<Value, Of::min>;
        case Of::max:
            return combine<Value, Of::max>;
        case Of::inc:
            return combine<Value, Of::inc>;
        case Of::dec:
            return combine<Value, Of::dec>;
        case Of::bit_and:
            return combine<Value, Of::bit_and>;
        case Of::bit_or:
            return combine<Value, Of::bit_or>;
        case Of::bit_xor:
            return combine<Value, Of::bit_xor>;
    }
    return nullptr;
}

template <class Value>
Combine half_combine(BulkReduction reduction) {
    using Of = BulkReduction;
    if (reduction == Of::add) return combine<Value, Of::add>;
    if (reduction == Of::min) return combine<Value, Of::min>;
    if (reduction == Of::max) return combine<Value, Of::max>;
    return nullptr;
}

// Null where the instruction does not have that reduction of that type.
Combine combine_of(BulkReduction reduction, BulkElement element) {
    using Of = BulkReduction;
    const bool is_bits =
        reduction == Of::bit_and || reduction == Of::bit_or || reduction == Of::bit_xor;
    const bool counts = reduction == Of::inc || reduction == Of::dec;
    switch (element) {
        case BulkElement::u32:
            return integer_combine<uint32_t>(reduction);
        case BulkElement::s32:
            return counts ? nullptr : integer_combine<int32_t>(reduction);
        case BulkElement::u64:
            return counts ? nullptr : integer_combine<uint64_t>(reduction);
        case BulkElement::s64:
            return counts ? nullptr : integer_combine<int64_t>(reduction);
        case BulkElement::f16:
            return half_combine<SmallFloat<Binary16>>(reduction);
        case BulkElement::bf16:
            return half_combine<SmallFloat<BrainFloat16>>(reduction);
        case BulkElement::f32:
            return reduction == Of::add ? combine<float, Of::add>
                   : is_bits            ? integer_combine<uint32_t>(reduction)
                                        : nullptr;
        case BulkElement::f64:
            return reduction == Of::add ? combine<double, Of::add>
                   : is_bits            ? integer_combine<uint64_t>(reduction)
                                        : nullptr;
        case BulkElement::none:
            break;
    }
    return nullptr;
}

uint32_t bytes_of(BulkElement element) {
    switch (element) {
        case BulkElement::f16:
        case BulkElement::bf16:
            return 2;
        case BulkElement::u64:
        case BulkElement::s64:
        case BulkElement::f64:
            return 8;
        default:
            return 4;
    }
}

BulkElement element_of(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_UINT32:
            return BulkElement::u32;
        case CU_TENSOR_MAP_DATA_TYPE_INT32:
            return BulkElement::s32;
        case CU_TENSOR_MAP_DATA_TYPE_UINT64:
            return BulkElement::u64;
        case CU_TENSOR_MAP_DATA_TYPE_INT64:
            return BulkElement::s64;
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
            return BulkElement::f16;
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
            return BulkElement::bf16;
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
            return BulkElement::f32;
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
            return BulkElement::f64;
        default:
            return BulkElement::none;
    }
}

BulkCopy copy_of_bytes(const char* instruction, uintptr_t place, const void* shared,
                       const void* global, uint32_t bytes) {
    const Undisturbed container_grows;
    return bulk_copy_of(instruction, place, shared, runs_of_bytes(as_address(global), bytes),
                        bytes);
}

void begin_bulk_reduction(BulkCopy copy, BulkElement element, Combine combine) {
    copy.combine = combine;
    copy.element = bytes_of(element);
    begin_bulk_store(std::move(copy));
}

}  // namespace

// ---------------------------------------------------------------- contiguous bytes

void bulk_load(const char* instruction, void* to, const void* from, uint32_t bytes, void* mbarrier,
               uint16_t blocks) {
    const auto place = as_address(__builtin_return_address(0));
    const Destination there = destination(instruction, to, kBulkAlignment, mbarrier, blocks);
    check_global(instruction, from, bytes);
    begin_bulk_load(copy_of_bytes(instruction, place, there.to, from, bytes),
                    as_address(there.mbarrier), blocks);
}

void bulk_send(const char* instruction, void* to, const void* from, uint32_t bytes,
               void* mbarrier) {
    const auto place = as_address(__builtin_return_address(0));
    destination(instruction, to, kBulkAlignment, mbarrier, 0);
    check_source(instruction, from, kBulkAlignment);
    check_size(instruction, bytes);
    begin_bulk_load(copy_of_bytes(instruction, place, to, from, bytes), as_address(mbarrier), 0);
}

void bulk_send_reduced(const char* instruction, void* to, const void* from, uint32_t bytes,
                       void* mbarrier, BulkReduction reduction, BulkElement element) {
    const auto place = as_address(__builtin_return_address(0));
    destination(instruction, to, kBulkAlignment, mbarrier, 0);
    check_source(instruction, from, kBulkAlignment);
    check_size(instruction, bytes);
    BulkCopy copy = copy_of_bytes(instruction, place, to, from, bytes);
    copy.combine = combine_of(reduction, element);
    copy.element = bytes_of(element);
    begin_bulk_load(std::move(copy), as_address(mbarrier), 0);
}

void bulk_store(const char* instruction, void* to, const void* from, uint32_t bytes) {
    const auto place = as_address(__builtin_return_address(0));
    check_source(instruction, from, kBulkAlignment);
    check_global(instruction, to, bytes);
    begin_bulk_store(copy_of_bytes(instruction, place, from, to, bytes));
}

void bulk_prefetch(const char* instruction, const void* from, uint32_t bytes) {
    const auto place = as_address(__builtin_return_address(0));
    check_global(instruction, from, bytes);
    log_instruction(AccessKind::bulk_prefetch, place);
}

void bulk_reduce(const char* instruction, void* to, const void* from, uint32_t bytes,
                 BulkReduction reduction, BulkElement element) {
    const auto place = as_address(__builtin_return_address(0));
    check_source(instruction, from, kBulkAlignment);
    check_global(instruction, to, bytes);
    begin_bulk_reduction(copy_of_bytes(instruction, place, from, to, bytes), element,
                         combine_of(reduction, element));
}

// ---------------------------------------------------------------- asynchronous stores

namespace {

BulkCopy copy_of_value(const char* instruction, uintptr_t place, const void* to, const void* value,
                       uint32_t bytes, const void* mbarrier) {
    destination(instruction, to, bytes, mbarrier, 0);
    const Undisturbed container_grows;
    BulkCopy copy = bulk_copy_of(instruction, place, to, {}, bytes);
    copy.values.assign(static_cast<const char*>(value), bytes);
    return copy;
}

}  // namespace

void async_store(const char* instruction, void* to, const void* value, uint32_t bytes,
                 void* mbarrier) {
    const auto place = as_address(__builtin_return_address(0));
    begin_bulk_load(copy_of_value(instruction, place, to, value, bytes, mbarrier),
                    as_address(mbarrier), 0);
}

void async_reduce(const char* instruction, void* to, const void* value, void* mbarrier,
                  BulkReduction reduction, BulkElement element) {
    const auto place = as_address(__builtin_return_address(0));
    BulkCopy copy = copy_of_value(instruction, place, to, value, bytes_of(element), mbarrier);
    copy.combine = combine_of(reduction, element);
    copy.element = bytes_of(element);
    begin_bulk_load(std::move(copy), as_address(mbarrier), 0);
}

// ---------------------------------------------------------------- boxes

void tensor_load(const char* instruction, void* to, const TensorPlace& from, void* mbarrier,
                 uint16_t blocks) {
    const auto place = as_address(__builtin_return_address(0));
    const TensorMap map = map_of(instruction, from);
    const Destination there = destination(instruction, to, kTensorAlignment, mbarrier, blocks);
    BulkCopy copy = copy_of_box(instruction, place, there.to, map, from, true);
    copy.rounds_to_tf32 = map.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 ||
                          map.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    begin_bulk_load(std::move(copy), as_address(there.mbarrier), blocks);
}

void tensor_store(const char* instruction, const TensorPlace& to, const void* from) {
    const auto place = as_address(__builtin_return_address(0));
    const TensorMap map = map_of(instruction, to);
    check_source(instruction, from, kTensorAlignment);
    check_coordinates_of_store(instruction, to);
    begin_bulk_store(copy_of_box(instruction, place, from, map, to, false));
}

void tensor_reduce(const char* instruction, const TensorPlace& to, const void* from,
                   BulkReduction reduction) {
    const auto place = as_address(__builtin_return_address(0));
    const TensorMap map = map_of(instruction, to);
    check_source(instruction, from, kTensorAlignment);
    check_coordinates_of_store(instruction, to);
    const BulkElement element = element_of(map.type);
    // Tensor copies have no sum of f64.
    const Combine combine = element == BulkElement::f64 && reduction == BulkReduction::add
                                ? nullptr
                                : combine_of(reduction, element);
    if (combine == nullptr) {
        fail(cudaErrorIllegalInstruction,
             "%s: the instruction has no such reduction of the tensor map's data type: .add is "
             "there for u32, s32, u64, f32, f16 and bf16, .min and .max for u32, s32, u64, s64, "
             "f16 and bf16, .inc and .dec for u32, .and, .or and .xor for 32 and 64 bits",
             instruction);
    }
    begin_bulk_reduction(copy_of_box(instruction, place, from, map, to, false), element, combine);
}

void tensor_prefetch(const char* instruction, const TensorPlace& from) {
    const auto place = as_address(__builtin_return_address(0));
    map_of(instruction, from);
    log_instruction(AccessKind::bulk_prefetch, place);
}

void tensor_map_prefetch(const void* map) {
    map_at("prefetch.tensormap", map);
}

void refuse_instruction(const char* instruction, const char* instead) {
    fail(cudaErrorNotSupported, "the CPU device does not have %s%s", instruction, instead);
}

}  // namespace cpu_device
