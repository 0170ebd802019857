// SPDX-License-Identifier: MIT
//
// cuFFT's names: a program may include it, and a call says that the CPU device does not have it.
#pragma once
#define _CUFFT_H_
#include "cpu_device/refused_library.h"
#include "library_types.h"

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VER_BUILD 61
#define CUFFT_VERSION 12000
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
#define CUFFT_PLAN_NULL -1

enum cufftResult {
    CUFFT_SUCCESS = 0x0,
    CUFFT_INVALID_PLAN = 0x1,
    CUFFT_ALLOC_FAILED = 0x2,
    CUFFT_INVALID_TYPE = 0x3,
    CUFFT_INVALID_VALUE = 0x4,
    CUFFT_INTERNAL_ERROR = 0x5,
    CUFFT_EXEC_FAILED = 0x6,
    CUFFT_SETUP_FAILED = 0x7,
    CUFFT_INVALID_SIZE = 0x8,
    CUFFT_UNALIGNED_DATA = 0x9,
    CUFFT_INVALID_DEVICE = 0xB,
    CUFFT_NO_WORKSPACE = 0xD,
    CUFFT_NOT_IMPLEMENTED = 0xE,
    CUFFT_NOT_SUPPORTED = 0x10,
    CUFFT_MISSING_DEPENDENCY = 0x11,
    CUFFT_NVRTC_FAILURE = 0x12,
    CUFFT_NVJITLINK_FAILURE = 0x13,
    CUFFT_NVSHMEM_FAILURE = 0x14
};
using cufftResult_t = cufftResult;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
enum cufftType {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
};
using cufftType_t = cufftType;
enum cufftCompatibility { CUFFT_COMPATIBILITY_FFTW_PADDING = 0x01 };
using cufftCompatibility_t = cufftCompatibility;
using cufftHandle = int;
enum cufftProperty {
    NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT = 0x1,
    NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS = 0x2
};
using cufftProperty_t = cufftProperty;

#define CPU_DEVICE_REFUSED(call) \
    CPU_DEVICE_REFUSED_CALL("cuFFT", call, cufftResult, CUFFT_NOT_SUPPORTED)
CPU_DEVICE_REFUSED(cufftPlan1d)
CPU_DEVICE_REFUSED(cufftPlan2d)
CPU_DEVICE_REFUSED(cufftPlan3d)
CPU_DEVICE_REFUSED(cufftPlanMany)
CPU_DEVICE_REFUSED(cufftMakePlan1d)
CPU_DEVICE_REFUSED(cufftMakePlan2d)
CPU_DEVICE_REFUSED(cufftMakePlan3d)
CPU_DEVICE_REFUSED(cufftMakePlanMany)
CPU_DEVICE_REFUSED(cufftMakePlanMany64)
CPU_DEVICE_REFUSED(cufftGetSizeMany64)
CPU_DEVICE_REFUSED(cufftEstimate1d)
CPU_DEVICE_REFUSED(cufftEstimate2d)
CPU_DEVICE_REFUSED(cufftEstimate3d)
CPU_DEVICE_REFUSED(cufftEstimateMany)
CPU_DEVICE_REFUSED(cufftCreate)
CPU_DEVICE_REFUSED(cufftGetSize1d)
CPU_DEVICE_REFUSED(cufftGetSize2d)
CPU_DEVICE_REFUSED(cufftGetSize3d)
CPU_DEVICE_REFUSED(cufftGetSizeMany)
CPU_DEVICE_REFUSED(cufftGetSize)
CPU_DEVICE_REFUSED(cufftSetWorkArea)
CPU_DEVICE_REFUSED(cufftSetAutoAllocation)
CPU_DEVICE_REFUSED(cufftExecC2C)
CPU_DEVICE_REFUSED(cufftExecR2C)
CPU_DEVICE_REFUSED(cufftExecC2R)
CPU_DEVICE_REFUSED(cufftExecZ2Z)
CPU_DEVICE_REFUSED(cufftExecD2Z)
CPU_DEVICE_REFUSED(cufftExecZ2D)
CPU_DEVICE_REFUSED(cufftSetStream)
CPU_DEVICE_REFUSED(cufftDestroy)
CPU_DEVICE_REFUSED(cufftGetVersion)
CPU_DEVICE_REFUSED(cufftGetProperty)
CPU_DEVICE_REFUSED(cufftSetPlanPropertyInt64)
CPU_DEVICE_REFUSED(cufftGetPlanPropertyInt64)
CPU_DEVICE_REFUSED(cufftResetPlanProperty)
#undef CPU_DEVICE_REFUSED
