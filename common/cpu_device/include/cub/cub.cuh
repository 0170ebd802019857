// SPDX-License-Identifier: MIT
// The part of CUB that the CPU device has: collectives of a warp and of a block, and what of the device's it
// does on the host.
#pragma once
#include "cpu_device/host_headers.h"
#include "cub/block/block_load.cuh"
#include "cub/block/block_reduce.cuh"
#include "cub/block/block_scan.cuh"
#include "cub/block/block_store.cuh"
#include "cub/device/device_radix_sort.cuh"
#include "cub/device/device_reduce.cuh"
#include "cub/device/device_scan.cuh"
#include "cub/warp/warp_reduce.cuh"
#include "cub/warp/warp_scan.cuh"
