// SPDX-License-Identifier: MIT
// Products of matrices by a whole warp, under the names of the toolkit's mma.h.
#pragma once
#include "cpu_device/wmma.h"
