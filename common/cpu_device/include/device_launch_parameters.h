// SPDX-License-Identifier: MIT
// threadIdx, blockIdx, blockDim and gridDim, for files that include only this.
#pragma once
#include "cpu_device/core.h"
