// SPDX-License-Identifier: MIT
// half and half2 on the CPU device, under the names of the toolkit's cuda_fp16.h.
#pragma once
#define __CUDA_FP16_H__
#include "cpu_device/small_float.h"
#include "cpu_device/small_float_names.h"
#include "cuda_runtime.h"

using __half = cpu_device::SmallFloat<cpu_device::Binary16>;
using __half2 = cpu_device::SmallFloatPair<cpu_device::Binary16>;
using __half_raw = cpu_device::SmallFloatRaw<cpu_device::Binary16>;
using __half2_raw = cpu_device::SmallFloatPairRaw<cpu_device::Binary16>;
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

CPU_DEVICE_SMALL_FLOAT_NAMES(half, __half, __half2)

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
