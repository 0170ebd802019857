// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// A kernel's body begins with a call that tells a launch from a plain call, and knows its
// __launch_bounds__ and __cluster_dims__. It stands right before the first statement, on that statement's line. (To be called before
// what changes statements.)
void begin_kernels(const Region& region, Edits& edits);

// A __device__ or __constant__ variable of a namespace is made known, with its size, behind its declaration.
void make_variables_known(const Region& region, Edits& edits);

// A class of a namespace, no template, is made known behind its definition, for what lies between its members.
void make_classes_known(const Region& region, Edits& edits);

// Device functions that call themselves, or each other in a circle, and those that are declared here and perhaps
// defined in another file, are called for real: the others are always inlined.
void call_what_cannot_be_inlined(const Region& region, Edits& edits);

// `old = *x; do { ... } while ((old = atomicCAS(x, ...)) ...)` is how CUDA's guide makes an atomic function of its own:
// whether that first read came too soon the exchange finds out. It becomes volatile, which is no race with atomics.
void check_reads_by_exchange(const Region& region, Edits& edits);

// Of several __syncthreads() on one line each behind the first has a number: the debugger knows lines alone.
void number_barriers(const Region& region, Edits& edits);

// cudaLaunchKernel((void*)kernel, ...) and its like lose the cast, behind which a kernel's parameters are unknown.
void uncast_kernels(const Region& region, Edits& edits);

// (void*)kernel, as the node of a graph gets it, makes known at run time how that kernel is launched. Of kernels that
// the file declares.
void make_cast_kernels_known(const Region& region, Edits& edits);

}  // namespace translate
