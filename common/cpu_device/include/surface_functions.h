// SPDX-License-Identifier: MIT
// What kernels read and write through surface objects.
#pragma once
#include "cpu_device/texture_fetches.h"
