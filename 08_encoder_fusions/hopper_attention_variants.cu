// SPDX-License-Identifier: MIT
// Compiles the launchers of attention on Hopper's tensor cores, which attention_variants.cu describes.
#include "further/attention_hopper.cuh"
#include "further/attention_one_warpgroup.cuh"
#include "further/attention_ring.cuh"
#include "further/attention_short.cuh"
#include "further/attention_turns.cuh"

#define INSTANCE template
#include "08_encoder_fusions/hopper_attention_launchers.hpp"
