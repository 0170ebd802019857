// SPDX-License-Identifier: MIT
//
// What kernels' bulk copies and tensor copies call. Addresses of shared memory are pointers here; `instruction` is the
// instruction's name for messages.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>

namespace cpu_device {

// Contiguous bytes. Blocks: the bits of the cluster's blocks that get them; 0 for this one.
void bulk_load(const char* instruction, void* to, const void* from, uint32_t bytes, void* mbarrier,
               uint16_t blocks);
// The same from this block's shared memory to that of another block of the cluster.
void bulk_send(const char* instruction, void* to, const void* from, uint32_t bytes, void* mbarrier);
void bulk_store(const char* instruction, void* to, const void* from, uint32_t bytes);
void bulk_prefetch(const char* instruction, const void* from, uint32_t bytes);

enum class BulkReduction : uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
enum class BulkElement : uint8_t { u32, s32, u64, s64, f16, bf16, f32, f64, none };
void bulk_reduce(const char* instruction, void* to, const void* from, uint32_t bytes,
                 BulkReduction reduction, BulkElement element);
// From this block's shared memory to that of another block of the cluster.
void bulk_send_reduced(const char* instruction, void* to, const void* from, uint32_t bytes,
                       void* mbarrier, BulkReduction reduction, BulkElement element);

// A store of a value to shared memory of a block of the cluster, or a reduction: it happens while the thread goes on, and
// the mbarrier of that block counts its bytes.
void async_store(const char* instruction, void* to, const void* value, uint32_t bytes,
                 void* mbarrier);
void async_reduce(const char* instruction, void* to, const void* value, void* mbarrier,
                  BulkReduction reduction, BulkElement element);

// A box of a tensor. `map` is where the kernel has the CUtensorMap; the coordinates are the box's first element,
// innermost dimension first.
struct TensorPlace {
    const void* map;
    unsigned rank;
    int32_t coordinates[5];
};
void tensor_load(const char* instruction, void* to, const TensorPlace& from, void* mbarrier,
                 uint16_t blocks);
void tensor_store(const char* instruction, const TensorPlace& to, const void* from);
void tensor_reduce(const char* instruction, const TensorPlace& to, const void* from,
                   BulkReduction reduction);
void tensor_prefetch(const char* instruction, const TensorPlace& from);
void tensor_map_prefetch(const void* map);

// Groups of stores and reductions, of the calling thread.
void commit_bulk_group();
void wait_for_bulk_groups(size_t groups, bool only_read);

// Ends the launch: the CPU device does not have the instruction.
[[noreturn]] void refuse_instruction(const char* instruction, const char* instead = "");

}  // namespace cpu_device
