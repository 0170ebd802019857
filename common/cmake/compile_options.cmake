# SPDX-License-Identifier: MIT
# How everything is compiled, device files apart.
# A compiler newer than ours may warn of what ours does not: a warning is an error in CI alone.
option(STAGES_WARNINGS_AS_ERRORS "a compiler warning in the course's own files stops the build" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)  # what a stage's header promises to need
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

find_program(STAGES_CCACHE ccache)
mark_as_advanced(STAGES_CCACHE)
if(STAGES_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${STAGES_CCACHE}")
endif()

# nvcc's PTX of every stage, a folder each, for who looks at it afterwards: once compiled is enough. (ccache gives
# back an object, and not what nvcc kept beside it.)
option(STAGES_KEEP_PTX "the stages' PTX stays in the build folder, under ptx/" OFF)
set(STAGES_PTX "${PROJECT_BINARY_DIR}/ptx")
if(STAGES_CCACHE AND NOT STAGES_KEEP_PTX)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${STAGES_CCACHE}")
endif()

# Where nvcc compiles what nothing runs, only the stages' PTX is looked at.
set(STAGES_UNSEEN_CUDA_FLAGS "" CACHE STRING "nvcc's flags for device files other than the stages' own, such as -Ofc=max")
mark_as_advanced(STAGES_UNSEEN_CUDA_FLAGS)

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

# compile_together(TARGET [MOST]): files of a room are compiled a dozen (MOST) at once, for most of a file's time goes to
# headers that all of them include. Names in their unnamed namespaces are therefore a room's own.
option(STAGES_COMPILE_TOGETHER "the files of a room in common/ are compiled together, which is sooner; OFF: each by itself" ON)
function(compile_together target)
    set(most ${ARGN} 12)
    list(GET most 0 most)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${STAGES_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE ${most})
    # g++ warns of a class in a header that has members of types in unnamed namespaces. In a unit it warns of source
    # files as well, since the unit includes them.
    if(STAGES_COMPILE_TOGETHER)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
    endif()
endfunction()

# compile_soon(TARGET [MOST]): the same of what can gain nothing but to be compiled sooner.
function(compile_soon target)
    compile_together(${target} ${ARGN})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
endfunction()
