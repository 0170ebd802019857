# SPDX-License-Identifier: MIT
# Where CUTLASS's headers are: CUTLASS_INCLUDE, or the pip package nvidia-cutlass. Nothing needs them: without, who would
# use them is left out.
if(STAGES_BACKEND STREQUAL "cuda")
    execute_process(COMMAND python3 -c "import sysconfig; print(sysconfig.get_path('purelib'))" OUTPUT_VARIABLE python_packages
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_path(CUTLASS_INCLUDE cutlass/gemm/device/gemm_batched.h HINTS "${python_packages}/cutlass_library/source/include")
    mark_as_advanced(CUTLASS_INCLUDE)
endif()
