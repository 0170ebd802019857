// SPDX-License-Identifier: MIT
// The pipeline primitives alone: here all of <cuda_pipeline.h> is that.
#pragma once
#include "cuda_pipeline.h"
