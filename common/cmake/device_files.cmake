# SPDX-License-Identifier: MIT
# Device files are *.cu and *.cuh, and *.hpp in a stage's further/, which include such. nvcc compiles them as they are. For the CPU device a copy of each, in which only
# launches are rewritten, lies at the same relative path under translated/ of the build folder; g++ compiles that.
set(STAGES_TRANSLATED "${PROJECT_BINARY_DIR}/translated")

# device_flags: what device files are compiled with; device_runtime: what a program with kernels links.
# For the CPU device, common/cpu_device defines both.
if(STAGES_BACKEND STREQUAL "cuda")
    add_library(device_flags INTERFACE)
    target_include_directories(device_flags INTERFACE "${PROJECT_SOURCE_DIR}")
    add_library(device_runtime INTERFACE)
    target_link_libraries(device_runtime INTERFACE CUDA::cudart_static)
endif()

# Makes every translated copy, and nothing else: clang-tidy reads them.
add_custom_target(translated)

# translate_device_files(TARGET FILE...): the target TARGET makes the files' translated copies. (None for nvcc.)
function(translate_device_files target)
    set(copies "")
    if(STAGES_BACKEND STREQUAL "cpu")
        foreach(file IN LISTS ARGN)
            path_of_copy("${file}" source copy)
            file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
            add_custom_command(OUTPUT "${copy}" COMMAND translate_launches "${source}" "${copy}"
                               DEPENDS "${source}" translate_launches COMMENT "Translating ${name}" VERBATIM)
            list(APPEND copies "${copy}")
        endforeach()
    endif()
    add_custom_target(${target} DEPENDS ${copies})
    add_dependencies(translated ${target})
endfunction()

function(path_of_copy file source_variable copy_variable)
    get_filename_component(source "${file}" ABSOLUTE)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
    set(${source_variable} "${source}" PARENT_SCOPE)
    set(${copy_variable} "${STAGES_TRANSLATED}/${name}" PARENT_SCOPE)
endfunction()

# The device files of all stages, and of what they share, are translated together: any stage may use an earlier one's.
file(GLOB_RECURSE shared_device_files CONFIGURE_DEPENDS
     "[0-9][0-9]_*/*.cu" "[0-9][0-9]_*/*.cuh" "[0-9][0-9]_*/further/*.hpp" "common/runner/*.cu" "common/runner/*.cuh" "common/operations/*.cu" "common/operations/*.cuh"
     "common/testing/*.cuh")
list(FILTER shared_device_files EXCLUDE REGEX "/tests/|/exercises/|/test\\.cu$|/cutlass_[^/]*\\.cu$")  # tests translate their own, exercises are learners'; CUTLASS is for nvcc alone
translate_device_files(translated_stages ${shared_device_files})

# compile_device_files(TARGET FILE.cu...): adds device files, for which translate_device_files was called, to TARGET.
function(compile_device_files target)
    foreach(file IN LISTS ARGN)
        path_of_copy("${file}" source copy)
        if(STAGES_BACKEND STREQUAL "cpu")
            set_source_files_properties("${copy}" PROPERTIES GENERATED ON LANGUAGE CXX)
            target_sources(${target} PRIVATE "${copy}")
        else()
            target_sources(${target} PRIVATE "${source}")
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE device_flags)
    if(NOT target MATCHES "^(describe|launchers)_")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${STAGES_UNSEEN_CUDA_FLAGS}>)
    endif()
    # A stage's header promises C++17.
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CUDA_STANDARD 17)
    add_dependencies(${target} translated_stages)
endfunction()

function(add_device_objects target)
    add_library(${target} OBJECT)
    compile_device_files(${target} ${ARGN})
endfunction()

function(add_device_program target)
    add_executable(${target})
    compile_device_files(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE device_runtime)
endfunction()
