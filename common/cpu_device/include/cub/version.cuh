// SPDX-License-Identifier: MIT
#pragma once
#include "cub/util_macro.cuh"
