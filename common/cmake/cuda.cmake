# SPDX-License-Identifier: MIT
# Makes CUDA a language of the project: STAGES_NVCC compiles, for STAGES_CUDA_ARCHITECTURES or the GPUs found.
set(STAGES_CUDA_ARCHITECTURES "" CACHE STRING
    "as CMAKE_CUDA_ARCHITECTURES, e.g. 80-real;90a-real; empty: the GPUs of this machine, else a list that fits nvcc")

if(NOT DEFINED ENV{CUDACXX} AND STAGES_NVCC)
    set(ENV{CUDACXX} "${STAGES_NVCC}")  # the environment: a preset CMAKE_CUDA_COMPILER would switch check_language off
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "STAGES_BACKEND is cuda, but no working nvcc was found: put it on PATH, set CUDACXX, or use -DSTAGES_BACKEND=cpu")
endif()
if(DEFINED CMAKE_CUDA_ARCHITECTURES AND CMAKE_CUDA_ARCHITECTURES AND NOT STAGES_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "say -DSTAGES_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}: CMAKE_CUDA_ARCHITECTURES is set from it")
endif()
set(CMAKE_CUDA_ARCHITECTURES OFF)  # the real list follows, once nvcc's version is known
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(STAGES_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${STAGES_CUDA_ARCHITECTURES})
elseif(gpus)
    set(CMAKE_CUDA_ARCHITECTURES ${gpus})
elseif(NOT STAGES_COURSE)  # a library for any GPU from Ampere on, which is small: Hopper's code, and PTX that a driver compiles
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90a-real)
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real 100-real 120-real 120-virtual)
else()
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real 90-virtual)
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # libstages.so (common/peers) is linked from the same objects as the programs
set(CMAKE_BUILD_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
