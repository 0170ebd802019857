// SPDX-License-Identifier: MIT
#include "test_any_axis.cuh"
