// SPDX-License-Identifier: MIT
// bfloat16 on the CPU device, under the names of the toolkit's cuda_bf16.h.
#pragma once
#define __CUDA_BF16_H__
#include "cpu_device/small_float.h"
#include "cpu_device/small_float_names.h"
#include "cuda_runtime.h"

using __nv_bfloat16 = cpu_device::SmallFloat<cpu_device::BrainFloat16>;
using __nv_bfloat162 = cpu_device::SmallFloatPair<cpu_device::BrainFloat16>;
using __nv_bfloat16_raw = cpu_device::SmallFloatRaw<cpu_device::BrainFloat16>;
using __nv_bfloat162_raw = cpu_device::SmallFloatPairRaw<cpu_device::BrainFloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

CPU_DEVICE_SMALL_FLOAT_NAMES(bfloat16, __nv_bfloat16, __nv_bfloat162)

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
