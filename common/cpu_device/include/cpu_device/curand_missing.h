// SPDX-License-Identifier: MIT
// Calls of cuRAND that the CPU device does not have: see refused_library.h.
#pragma once
#include "cpu_device/refused_library.h"

#define CPU_DEVICE_REFUSED(call) \
    CPU_DEVICE_REFUSED_CALL("this part of cuRAND", call, curandStatus_t, CURAND_STATUS_TYPE_ERROR)
CPU_DEVICE_REFUSED(curandCreatePoissonDistribution)
CPU_DEVICE_REFUSED(curandDestroyDistribution)
CPU_DEVICE_REFUSED(curandGenerateBinomial)
CPU_DEVICE_REFUSED(curandGenerateBinomialMethod)
CPU_DEVICE_REFUSED(curandGenerateLongLong)
CPU_DEVICE_REFUSED(curandGeneratePoisson)
CPU_DEVICE_REFUSED(curandGeneratePoissonMethod)
CPU_DEVICE_REFUSED(curandGetDirectionVectors32)
CPU_DEVICE_REFUSED(curandGetDirectionVectors64)
CPU_DEVICE_REFUSED(curandGetScrambleConstants32)
CPU_DEVICE_REFUSED(curandGetScrambleConstants64)
CPU_DEVICE_REFUSED(curandSetQuasiRandomGeneratorDimensions)
#undef CPU_DEVICE_REFUSED
