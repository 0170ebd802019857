// SPDX-License-Identifier: MIT
//
// Memory that graphs allocate: its address is known when the node is made, the memory is there from when the node runs
// until it is freed, by a node or by the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/types.h"

namespace cpu_device {

// An address for a node that will allocate so many bytes.
cudaError_t reserve_for_graph(int device, size_t bytes, void** pointer);

// What such a node does, and one that frees.
cudaError_t allocate_for_graph(void* pointer);
cudaError_t free_for_graph(void* pointer);

// Whether an allocation of a graph begins there, or holds the address: now, or when the graph runs.
bool is_graph_memory(const void* pointer);
bool is_in_graph_memory(const void* pointer);

// An allocation is freed, by whatever call.
void note_freed_to_graphs(uintptr_t low);

}  // namespace cpu_device
