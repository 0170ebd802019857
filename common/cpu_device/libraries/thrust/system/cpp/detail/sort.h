// SPDX-License-Identifier: MIT
//
// In place of the header of Thrust's C++ back end that is called so: <thrust/sort.h> brings along what it does with
// nvcc's back end, since programs use that without including it.
#pragma once
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/sequence.h>
#include <thrust/system/detail/sequential/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>
