// SPDX-License-Identifier: MIT
// For files that include this part of the toolkit by itself.
#pragma once
#include "cuda_runtime.h"
