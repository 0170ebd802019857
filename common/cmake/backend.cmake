# SPDX-License-Identifier: MIT
# Chooses where kernels run: STAGES_BACKEND.
set(STAGES_BACKEND "" CACHE STRING "cpu or cuda; empty: cuda where nvcc and a GPU are there, else cpu")
set_property(CACHE STAGES_BACKEND PROPERTY STRINGS cpu cuda)

# nvcc is often installed but not on PATH.
find_program(STAGES_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin)
mark_as_advanced(STAGES_NVCC)

# The architectures of this machine's GPUs, as 86-real;90a-real. Empty: no GPU.
function(find_gpus result)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE output RESULT_VARIABLE status ERROR_QUIET)
    set(capabilities "")
    if(status EQUAL 0)
        string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${output}")
        list(REMOVE_DUPLICATES capabilities)
        string(REPLACE "." "" capabilities "${capabilities}")
        list(TRANSFORM capabilities APPEND "-real")
        # From Hopper on, some instructions exist for the one architecture alone: 90a.
        list(TRANSFORM capabilities REPLACE "^(9[0-9]|[0-9][0-9][0-9])-" "\\1a-")
    endif()
    set(${result} "${capabilities}" PARENT_SCOPE)
endfunction()

find_gpus(gpus)
if(STAGES_BACKEND STREQUAL "")
    set(found cpu)
    if(STAGES_NVCC AND gpus)
        set(found cuda)
    endif()
    # A build folder keeps its device, whatever is plugged in later.
    set_property(CACHE STAGES_BACKEND PROPERTY VALUE ${found})
elseif(NOT STAGES_BACKEND MATCHES "^(cpu|cuda)$")
    message(FATAL_ERROR "STAGES_BACKEND is '${STAGES_BACKEND}': it must be cpu or cuda")
endif()

if(STAGES_BACKEND STREQUAL "cuda")
    include(cuda)
    message(STATUS "Backend cuda: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
    message(STATUS "Backend cpu: kernels run on the CPU device, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()
