// SPDX-License-Identifier: MIT
// The runtime API alone, for host files that launch nothing.
#pragma once
#define __CUDA_RUNTIME_API_H__
#include "cpu_device/removed_api.h"
#include "cpu_device/runtime_api.h"
#include "cpu_device/textures.h"

// The toolkit whose interface this is; cudaRuntimeGetVersion says the same.
#define CUDART_VERSION 13000
#ifdef __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif
