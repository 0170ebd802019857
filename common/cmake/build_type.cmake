# SPDX-License-Identifier: MIT
# Included before project(): an optimized build with line numbers unless the caller says otherwise. `assert` stays on: this is a course.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug")
endif()
# The host's code reads a command line and prints tables, so it is better compiled soon than fast. What runs at every
# access of a kernel on the CPU device (cpu_device, xray) asks for more itself.
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1" CACHE STRING "C++ flags of a Release build")
# Lines are for the course's tools; a library to install is smaller without.
set(lines " -lineinfo")
if(NOT CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR OR (DEFINED STAGES_COURSE AND NOT STAGES_COURSE))
    set(lines "")
endif()
set(CMAKE_CUDA_FLAGS_RELEASE "-O3${lines}" CACHE STRING "CUDA flags of a Release build")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
