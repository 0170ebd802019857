// SPDX-License-Identifier: MIT
// Compiles the products of further/planned_products.cuh and product_norm.cuh, which encoder_variants.cu describes.
#include "further/product_norm.cuh"

#define INSTANCE template
#include "08_encoder_fusions/product_launchers.hpp"
