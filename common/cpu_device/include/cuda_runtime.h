// SPDX-License-Identifier: MIT
// CUDA C++ on the CPU device. g++ finds this in place of the toolkit's header of the same name;
// each part stands in a file of its own under cpu_device/.
#pragma once
#define __CUDA_RUNTIME_H__
#include <limits.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>
// What nvcc includes with --extended-lambda ends here: a learner's program that lacks <cstdio> lacks it here as well.
#ifndef __CUDACC__
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#endif

#include "cpu_device/architecture.h"
#include "cpu_device/atomics.h"
#include "cpu_device/builtin_atomics.h"
#include "cpu_device/core.h"
// Files that nvcc hands to the host's compiler have min, max and rsqrtf of their own.
#ifndef CPU_DEVICE_HOST_SOURCE
#include "cpu_device/float_math.h"
#include "cpu_device/integer_math.h"
#endif
#include "cpu_device/launch.h"
#include "cpu_device/memory_access.h"
#include "cpu_device/qualifiers.h"
#include "cpu_device/runtime_api.h"
#include "cpu_device/simd.h"
#include "cpu_device/synchronization.h"
#include "cpu_device/texture_fetches.h"
#include "cpu_device/warp.h"
#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "vector_functions.h"
#include "vector_types.h"
