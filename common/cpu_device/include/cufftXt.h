// SPDX-License-Identifier: MIT
//
// cuFFT's names: a program may include it, and a call says that the CPU device does not have it.
#pragma once
#include "cpu_device/refused_library.h"
#include "cufft.h"
#include "library_types.h"

#define CUDA_XT_DESCRIPTOR_VERSION 0x01000000

enum cudaXtCopyType_t {
    LIB_XT_COPY_HOST_TO_DEVICE,
    LIB_XT_COPY_DEVICE_TO_HOST,
    LIB_XT_COPY_DEVICE_TO_DEVICE
};
enum libFormat_t { LIB_FORMAT_CUFFT = 0x0, LIB_FORMAT_UNDEFINED = 0x1 };
enum cufftXtSubFormat {
    CUFFT_XT_FORMAT_INPUT = 0x00,
    CUFFT_XT_FORMAT_OUTPUT = 0x01,
    CUFFT_XT_FORMAT_INPLACE = 0x02,
    CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 0x03,
    CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 0x04,
    CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 0x05,
    CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 0x06,
    CUFFT_FORMAT_UNDEFINED = 0x07
};
using cufftXtSubFormat_t = cufftXtSubFormat;
enum cufftXtCopyType {
    CUFFT_COPY_HOST_TO_DEVICE = 0x00,
    CUFFT_COPY_DEVICE_TO_HOST = 0x01,
    CUFFT_COPY_DEVICE_TO_DEVICE = 0x02,
    CUFFT_COPY_UNDEFINED = 0x03
};
using cufftXtCopyType_t = cufftXtCopyType;
enum cufftXtQueryType { CUFFT_QUERY_1D_FACTORS = 0x00, CUFFT_QUERY_UNDEFINED = 0x01 };
using cufftXtQueryType_t = cufftXtQueryType;
struct cufftXt1dFactors {
    long long int size;
    long long int stringCount;
    long long int stringLength;
    long long int substringLength;
    long long int factor1;
    long long int factor2;
    long long int stringMask;
    long long int substringMask;
    long long int factor1Mask;
    long long int factor2Mask;
    int stringShift;
    int substringShift;
    int factor1Shift;
    int factor2Shift;
};
enum cufftXtWorkAreaPolicy {
    CUFFT_WORKAREA_MINIMAL = 0,
    CUFFT_WORKAREA_USER = 1,
    CUFFT_WORKAREA_PERFORMANCE = 2
};
using cufftXtWorkAreaPolicy_t = cufftXtWorkAreaPolicy;
enum cufftXtCallbackType {
    CUFFT_CB_LD_COMPLEX = 0x0,
    CUFFT_CB_LD_COMPLEX_DOUBLE = 0x1,
    CUFFT_CB_LD_REAL = 0x2,
    CUFFT_CB_LD_REAL_DOUBLE = 0x3,
    CUFFT_CB_ST_COMPLEX = 0x4,
    CUFFT_CB_ST_COMPLEX_DOUBLE = 0x5,
    CUFFT_CB_ST_REAL = 0x6,
    CUFFT_CB_ST_REAL_DOUBLE = 0x7,
    CUFFT_CB_UNDEFINED = 0x8
};
using cufftXtCallbackType_t = cufftXtCallbackType;
using cufftCallbackLoadC = cufftComplex (*)(void* dataIn, size_t offset, void* callerInfo,
                                            void* sharedPointer);
using cufftCallbackLoadZ = cufftDoubleComplex (*)(void* dataIn, size_t offset, void* callerInfo,
                                                  void* sharedPointer);
using cufftCallbackLoadR = cufftReal (*)(void* dataIn, size_t offset, void* callerInfo,
                                         void* sharedPointer);
using cufftCallbackLoadD = cufftDoubleReal (*)(void* dataIn, size_t offset, void* callerInfo,
                                               void* sharedPointer);
using cufftCallbackStoreC = void (*)(void* dataOut, size_t offset, cufftComplex element,
                                     void* callerInfo, void* sharedPointer);
using cufftCallbackStoreZ = void (*)(void* dataOut, size_t offset, cufftDoubleComplex element,
                                     void* callerInfo, void* sharedPointer);
using cufftCallbackStoreR = void (*)(void* dataOut, size_t offset, cufftReal element,
                                     void* callerInfo, void* sharedPointer);
using cufftCallbackStoreD = void (*)(void* dataOut, size_t offset, cufftDoubleReal element,
                                     void* callerInfo, void* sharedPointer);
using cufftJITCallbackLoadC = cufftComplex (*)(void* dataIn, unsigned long long offset,
                                               void* callerInfo, void* sharedPointer);
using cufftJITCallbackLoadZ = cufftDoubleComplex (*)(void* dataIn, unsigned long long offset,
                                                     void* callerInfo, void* sharedPointer);
using cufftJITCallbackLoadR = cufftReal (*)(void* dataIn, unsigned long long offset,
                                            void* callerInfo, void* sharedPointer);
using cufftJITCallbackLoadD = cufftDoubleReal (*)(void* dataIn, unsigned long long offset,
                                                  void* callerInfo, void* sharedPointer);
using cufftJITCallbackStoreC = void (*)(void* dataOut, unsigned long long offset,
                                        cufftComplex element, void* callerInfo,
                                        void* sharedPointer);
using cufftJITCallbackStoreZ = void (*)(void* dataOut, unsigned long long offset,
                                        cufftDoubleComplex element, void* callerInfo,
                                        void* sharedPointer);
using cufftJITCallbackStoreR = void (*)(void* dataOut, unsigned long long offset, cufftReal element,
                                        void* callerInfo, void* sharedPointer);
using cufftJITCallbackStoreD = void (*)(void* dataOut, unsigned long long offset,
                                        cufftDoubleReal element, void* callerInfo,
                                        void* sharedPointer);

#define CPU_DEVICE_REFUSED(call) \
    CPU_DEVICE_REFUSED_CALL("cuFFT", call, cufftResult, CUFFT_NOT_SUPPORTED)
CPU_DEVICE_REFUSED(cufftXtSetGPUs)
CPU_DEVICE_REFUSED(cufftXtMalloc)
CPU_DEVICE_REFUSED(cufftXtMemcpy)
CPU_DEVICE_REFUSED(cufftXtFree)
CPU_DEVICE_REFUSED(cufftXtSetWorkArea)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorC2C)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorR2C)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorC2R)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorZ2Z)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorD2Z)
CPU_DEVICE_REFUSED(cufftXtExecDescriptorZ2D)
CPU_DEVICE_REFUSED(cufftXtQueryPlan)
CPU_DEVICE_REFUSED(cufftXtSetCallback)
CPU_DEVICE_REFUSED(cufftXtClearCallback)
CPU_DEVICE_REFUSED(cufftXtSetCallbackSharedSize)
CPU_DEVICE_REFUSED(cufftXtSetJITCallback)
CPU_DEVICE_REFUSED(cufftXtMakePlanMany)
CPU_DEVICE_REFUSED(cufftXtGetSizeMany)
CPU_DEVICE_REFUSED(cufftXtExec)
CPU_DEVICE_REFUSED(cufftXtExecDescriptor)
CPU_DEVICE_REFUSED(cufftXtSetWorkAreaPolicy)
#undef CPU_DEVICE_REFUSED
