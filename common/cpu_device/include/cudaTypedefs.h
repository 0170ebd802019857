// SPDX-License-Identifier: MIT
// Types of the driver's functions that cudaGetDriverEntryPoint() and cudaGetDriverEntryPointByVersion() find here.
#pragma once
#define CUDATYPEDEFS_H
#include <cuda.h>

using PFN_cuTensorMapEncodeTiled_v12000 = decltype(&cuTensorMapEncodeTiled);
using PFN_cuTensorMapEncodeIm2col_v12000 = decltype(&cuTensorMapEncodeIm2col);
using PFN_cuTensorMapReplaceAddress_v12000 = decltype(&cuTensorMapReplaceAddress);
using PFN_cuGetErrorName_v6000 = decltype(&cuGetErrorName);
using PFN_cuGetErrorString_v6000 = decltype(&cuGetErrorString);

using PFN_cuTensorMapEncodeTiled = PFN_cuTensorMapEncodeTiled_v12000;
using PFN_cuTensorMapEncodeIm2col = PFN_cuTensorMapEncodeIm2col_v12000;
using PFN_cuTensorMapReplaceAddress = PFN_cuTensorMapReplaceAddress_v12000;
using PFN_cuGetErrorName = PFN_cuGetErrorName_v6000;
using PFN_cuGetErrorString = PFN_cuGetErrorString_v6000;
