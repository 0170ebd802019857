// SPDX-License-Identifier: MIT
// The part of CUB that the CPU device has: collectives of a warp and of a block, and what of the device's it
// does on the host.
#pragma once
#include "cpu_device/host_headers.h"
#include "cub/block/block_discontinuity.cuh"
#include "cub/block/block_exchange.cuh"
#include "cub/block/block_histogram.cuh"
#include "cub/block/block_load.cuh"
#include "cub/block/block_merge_sort.cuh"
#include "cub/block/block_radix_sort.cuh"
#include "cub/block/block_reduce.cuh"
#include "cub/block/block_scan.cuh"
#include "cub/block/block_shuffle.cuh"
#include "cub/block/block_store.cuh"
#include "cub/device/device_for.cuh"
#include "cub/device/device_histogram.cuh"
#include "cub/device/device_merge_sort.cuh"
#include "cub/device/device_radix_sort.cuh"
#include "cub/device/device_reduce.cuh"
#include "cub/device/device_run_length_encode.cuh"
#include "cub/device/device_scan.cuh"
#include "cub/device/device_segmented_sort.cuh"
#include "cub/device/device_select.cuh"
#include "cub/iterators.cuh"
#include "cub/util_allocator.cuh"
#include "cub/util_debug.cuh"
#include "cub/util_device.cuh"
#include "cub/util_math.cuh"
#include "cub/util_ptx.cuh"
#include "cub/util_type.cuh"
#include "cub/warp/warp_reduce.cuh"
#include "cub/warp/warp_scan.cuh"
// Programs use these of Thrust's without including them, because NVIDIA's CUB does.
#if __has_include(<thrust/iterator/constant_iterator.h>)
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#endif
