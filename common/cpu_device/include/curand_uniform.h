// SPDX-License-Identifier: MIT
#pragma once
#include "curand_kernel.h"
