// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions, version 2.0
//
// The steps of an encoder layer between its matrix products, each in one kernel. Each header has all versions of one
// fusion, FasterTransformer's of 2019 first, and includes no other header of this stage. In reading order:
//   bias_activation.cuh   y = f(x + bias): two kernels become one
//   layernorm.cuh         y = layernorm(x + bias + residual): three become one
//   qkv_transpose.cuh     adds the biases of Q, K and V and moves them from tokens to heads, and back
//   padding.cuh           packed sequences: no padding between them
//   masked_softmax.cuh    attention's softmax, with a mask in memory and without
//   transpose.cuh         transposes a matrix without bank conflicts in shared memory
//   accepts    float, __half, __nv_bfloat16; arithmetic in float, each result rounded once
//   source     FasterTransformer's kernels for BERT (2019): rebuilt
#pragma once
#include "bias_activation.cuh"
#include "layernorm.cuh"
#include "masked_softmax.cuh"
#include "padding.cuh"
#include "qkv_transpose.cuh"
#include "transpose.cuh"
