# SPDX-License-Identifier: MIT
# Chooses where kernels run (STAGES_BACKEND) and with which flags everything is compiled.
set(STAGES_BACKEND "" CACHE STRING "cpu or cuda; empty: cuda where nvcc and a GPU are there, else cpu")
set_property(CACHE STAGES_BACKEND PROPERTY STRINGS cpu cuda)
set(STAGES_CUDA_ARCHITECTURES "" CACHE STRING
    "as CMAKE_CUDA_ARCHITECTURES, e.g. 80-real;90a-real; empty: the GPUs of this machine, else a list that fits nvcc")
option(STAGES_WARNINGS_AS_ERRORS "a compiler warning in the course's own files stops the build" ON)

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
    if(NOT DEFINED ENV{CUDACXX} AND STAGES_NVCC)
        set(ENV{CUDACXX} "${STAGES_NVCC}")  # the environment: a preset CMAKE_CUDA_COMPILER would switch check_language off
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
        message(FATAL_ERROR "STAGES_BACKEND is cuda, but no working nvcc was found: put it on PATH, set CUDACXX, or use -DSTAGES_BACKEND=cpu")
    endif()
    set(CMAKE_CUDA_ARCHITECTURES OFF)  # the real list follows, once nvcc's version is known
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(STAGES_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES ${STAGES_CUDA_ARCHITECTURES})
    elseif(gpus)
        set(CMAKE_CUDA_ARCHITECTURES ${gpus})
    elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100-real 120-real 120-virtual)
    elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.8)
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    else()
        set(CMAKE_CUDA_ARCHITECTURES 80)
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(CMAKE_BUILD_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
    message(STATUS "Backend cuda: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
    message(STATUS "Backend cpu: kernels run on the CPU device, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)  # what a stage's header promises to need
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

find_program(STAGES_CCACHE ccache)
mark_as_advanced(STAGES_CCACHE)
if(STAGES_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${STAGES_CCACHE}")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${STAGES_CCACHE}")
endif()

# Warnings for the course's own files; a learner's are compiled without STAGES_WARNINGS_AS_ERRORS.
add_library(warnings INTERFACE)
target_compile_options(warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>
                                          $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
add_library(strict_warnings INTERFACE)
target_link_libraries(strict_warnings INTERFACE warnings)
if(STAGES_WARNINGS_AS_ERRORS)
    target_compile_options(strict_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
                                                     $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
endif()
