// SPDX-License-Identifier: MIT
// The runtime API alone, for host files that launch nothing.
#pragma once
#include "cpu_device/runtime_api.h"

// The toolkit whose interface this is; cudaRuntimeGetVersion says the same.
#define CUDART_VERSION 13000
