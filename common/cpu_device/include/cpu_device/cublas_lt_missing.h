// SPDX-License-Identifier: MIT
// Calls of cuBLASLt that the CPU device does not have: see refused_library.h.
#pragma once
#include "cpu_device/refused_library.h"

#define CPU_DEVICE_REFUSED(call)                                           \
    CPU_DEVICE_REFUSED_CALL("this part of cuBLASLt", call, cublasStatus_t, \
                            CUBLAS_STATUS_NOT_SUPPORTED)
CPU_DEVICE_REFUSED(cublasLtDisableCpuInstructionsSetMask)
CPU_DEVICE_REFUSED(cublasLtEmulationDescCreate)
CPU_DEVICE_REFUSED(cublasLtEmulationDescDestroy)
CPU_DEVICE_REFUSED(cublasLtEmulationDescGetAttribute)
CPU_DEVICE_REFUSED(cublasLtEmulationDescInit)
CPU_DEVICE_REFUSED(cublasLtEmulationDescSetAttribute)
CPU_DEVICE_REFUSED(cublasLtGetProperty)
CPU_DEVICE_REFUSED(cublasLtHeuristicsCacheGetCapacity)
CPU_DEVICE_REFUSED(cublasLtHeuristicsCacheSetCapacity)
CPU_DEVICE_REFUSED(cublasLtLoggerForceDisable)
CPU_DEVICE_REFUSED(cublasLtLoggerOpenFile)
CPU_DEVICE_REFUSED(cublasLtLoggerSetCallback)
CPU_DEVICE_REFUSED(cublasLtLoggerSetFile)
CPU_DEVICE_REFUSED(cublasLtLoggerSetLevel)
CPU_DEVICE_REFUSED(cublasLtLoggerSetMask)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoCapGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoCheck)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoConfigGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoConfigSetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoGetIds)
CPU_DEVICE_REFUSED(cublasLtMatmulAlgoInit)
CPU_DEVICE_REFUSED(cublasLtMatmulDescGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatmulPreferenceGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatmulPreferenceInit)
CPU_DEVICE_REFUSED(cublasLtMatrixLayoutGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatrixTransform)
CPU_DEVICE_REFUSED(cublasLtMatrixTransformDescCreate)
CPU_DEVICE_REFUSED(cublasLtMatrixTransformDescDestroy)
CPU_DEVICE_REFUSED(cublasLtMatrixTransformDescGetAttribute)
CPU_DEVICE_REFUSED(cublasLtMatrixTransformDescInit)
CPU_DEVICE_REFUSED(cublasLtMatrixTransformDescSetAttribute)
#undef CPU_DEVICE_REFUSED
