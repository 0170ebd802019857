// SPDX-License-Identifier: MIT
#pragma once
#include "cub/block/block_exchange.cuh"
