// SPDX-License-Identifier: MIT
// For which architecture the CPU device compiles device code. __CUDA_ARCH__ is not defined: the host's code shares the
// compilation. Where device code asks for it, the translation writes these names in its place.
#pragma once

// 80 or 90. What sm_90a has and later architectures have not is there with 90.
#ifndef CPU_DEVICE_ARCHITECTURE
#define CPU_DEVICE_ARCHITECTURE 90
#endif

#if CPU_DEVICE_ARCHITECTURE == 80
#define DEVICE_ARCH__ 800
#define __CUDA_ARCH_LIST__ 800
#elif CPU_DEVICE_ARCHITECTURE == 90
#define DEVICE_ARCH__ 900
#define DEVICE_ARCH_SPECIFIC__ 900
#define DEVICE_ARCH_FAMILY_SPECIFIC__ 900
#define DEVICE_ARCH_FEAT_SM90_ALL 1
#define __CUDA_ARCH_LIST__ 900
#else
#error The CPU device compiles for sm_80 or sm_90a: CPU_DEVICE_ARCHITECTURE is 80 or 90
#endif

// What the translation writes for __NVCC__, which is not defined: the toolkit's own headers are compiled as by g++.
#define CPU_NVCC 1

#define DEVICE_ARCH_HAS_FEATURE__(feature) DEVICE_ARCH_FEAT_##feature
#define __CUDA_ARCH_HAS_FEATURE__(feature) __CUDA_ARCH_FEAT_##feature

namespace cpu_device {

// Whether a thread of a kernel asks.
bool in_kernel();

// Which half of a function for both sides runs. What the compiler computes is the host's.
constexpr bool takes_device_half() {
    return !__builtin_is_constant_evaluated() && in_kernel();
}

}  // namespace cpu_device
