# SPDX-License-Identifier: MIT
# Device files are *.cu and *.cuh. nvcc compiles them as they are; for the CPU device a copy of each, in which only
# launches are rewritten, lies under ${build}/translated at the same relative path and is compiled by g++.

# What device files are compiled with, and what a program that runs kernels links.
# (For the cpu backend common/cpu_device says both.)
if(STAGES_BACKEND STREQUAL "cuda")
    add_library(device_flags INTERFACE)
    target_include_directories(device_flags INTERFACE "${PROJECT_SOURCE_DIR}")
    add_library(device_runtime INTERFACE)
    target_link_libraries(device_runtime INTERFACE CUDA::cudart_static)
endif()
set(STAGES_TRANSLATED "${CMAKE_BINARY_DIR}/translated")
add_custom_target(translated COMMENT "Device files are translated")

# translate_device_files(TARGET FILE...): TARGET, which `translated` depends on, makes the translated copies of the files.
# Does nothing but define TARGET for the cuda backend.
function(translate_device_files target)
    set(copies "")
    if(STAGES_BACKEND STREQUAL "cpu")
        foreach(file IN LISTS ARGN)
            get_filename_component(source "${file}" ABSOLUTE)
            file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
            set(copy "${STAGES_TRANSLATED}/${name}")
            add_custom_command(OUTPUT "${copy}" COMMAND translate_launches "${source}" "${copy}"
                               DEPENDS "${source}" translate_launches COMMENT "Translating ${name}" VERBATIM)
            list(APPEND copies "${copy}")
        endforeach()
    endif()
    add_custom_target(${target} DEPENDS ${copies})
    add_dependencies(translated ${target})
endfunction()

# compile_device_files(TARGET FILE.cu...): adds the files, or their translated copies, to TARGET.
# Somebody must have called translate_device_files for them and for every device file they include.
function(compile_device_files target)
    foreach(file IN LISTS ARGN)
        get_filename_component(source "${file}" ABSOLUTE)
        if(STAGES_BACKEND STREQUAL "cpu")
            file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
            set(source "${STAGES_TRANSLATED}/${name}")
            set_source_files_properties("${source}" PROPERTIES GENERATED ON LANGUAGE CXX)
        endif()
        target_sources(${target} PRIVATE "${source}")
    endforeach()
    target_link_libraries(${target} PRIVATE device_flags)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
endfunction()
