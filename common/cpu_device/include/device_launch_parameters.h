// SPDX-License-Identifier: MIT
// threadIdx, blockIdx, blockDim and gridDim, for files that include only this.
#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__
#include "cpu_device/core.h"
