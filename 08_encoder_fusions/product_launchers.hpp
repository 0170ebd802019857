// SPDX-License-Identifier: MIT
// Declares the products that planned_product_variants.cu compiles; other files use them as well. Include this file after
// product_norm.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace encoder_layers {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define PRODUCT(T, ...)                                                                       \
    INSTANCE cudaError_t product_by_plan(const batched_gemm::Problem<T>&, const __VA_ARGS__&, \
                                         Begin, cudaStream_t)
#define PRODUCTS(T)                                                                           \
    INSTANCE cudaError_t product_norm(const batched_gemm::Problem<T>&, const ProductEnd<T>&,  \
                                      const T*, const ProductNormPlan&, cudaStream_t, Begin); \
    PRODUCT(T, batched_gemm::Plain);                                                          \
    PRODUCT(T, batched_gemm::BiasActivation<T, batched_gemm::Identity>);                      \
    PRODUCT(T, batched_gemm::BiasActivation<T, batched_gemm::Gelu>)
// NOLINTEND(bugprone-macro-parentheses)

PRODUCTS(__half);
PRODUCTS(__nv_bfloat16);

#undef PRODUCTS
#undef PRODUCT
#undef INSTANCE

}  // namespace encoder_layers
