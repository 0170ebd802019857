// SPDX-License-Identifier: MIT
// What kernels fetch through texture objects.
#pragma once
#include "cpu_device/texture_fetches.h"
