// SPDX-License-Identifier: MIT
#pragma once
#include "cub/block/block_merge_sort.cuh"
