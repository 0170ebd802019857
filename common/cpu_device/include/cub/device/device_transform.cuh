// SPDX-License-Identifier: MIT
#pragma once
#include "cub/device/device_for.cuh"
