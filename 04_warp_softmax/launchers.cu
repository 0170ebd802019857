// SPDX-License-Identifier: MIT
// Compiles the launchers that stages 04 and 05 and their tests call, so that each is compiled only once.
#include "further/any_width.cuh"
#include "further/row_groups.cuh"
#include "further/warp_softmax_backward.cuh"

#define INSTANCE template
#include "04_warp_softmax/launchers.hpp"
