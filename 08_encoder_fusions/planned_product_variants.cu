// SPDX-License-Identifier: MIT
// Compiles the products of further/planned_products.cuh, which encoder_variants.cu describes.
#include "further/planned_products.cuh"

#define INSTANCE template
#include "08_encoder_fusions/product_launchers.hpp"
