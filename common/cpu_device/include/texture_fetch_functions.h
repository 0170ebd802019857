// SPDX-License-Identifier: MIT
// What kernels fetch through texture objects; through texture references nothing, which CUDA 12 has removed.
#pragma once
#include "cpu_device/texture_fetches.h"
