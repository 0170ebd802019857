# SPDX-License-Identifier: MIT
set_source_files_properties(gemm/check.cpp PROPERTIES COMPILE_OPTIONS -O3)  # 2 m n k operations of a product

# Hopper's own instructions are those of 90a, whatever the rest is compiled for. CUTLASS asserts in kernels, where a call
# would part its loops: NDEBUG.
if(CUTLASS_INCLUDE)
    add_library(operations_cutlass OBJECT gemm/cutlass_product.cu)
    set_target_properties(operations_cutlass PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_compile_definitions(operations_cutlass PRIVATE NDEBUG CUTLASS_ENABLE_GDC_FOR_SM90=1)
    target_compile_options(operations_cutlass PRIVATE --expt-relaxed-constexpr "-isystem=${CUTLASS_INCLUDE}"
                                                      "-isystem=${CUTLASS_INCLUDE}/../tools/util/include")
    target_link_libraries(operations_cutlass PRIVATE device_flags)
    set_property(TARGET operations_gemm APPEND PROPERTY FAMILY_OBJECTS operations_cutlass)
else()
    target_sources(operations_gemm PRIVATE gemm/without_cutlass.cpp)
endif()
