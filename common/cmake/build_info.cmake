# SPDX-License-Identifier: MIT
# add_build_info(TARGET): gives TARGET runner::build_info(), which says what the program was built from and with.
# The commit is looked up at each build; only when it changed is one small file compiled again.
# As a script (cmake -D ... -P build_info.cmake) this file does that look-up.
if(CMAKE_SCRIPT_MODE_FILE)
    execute_process(COMMAND git -C "${SOURCE}" describe --always --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE COMMIT RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    # What is recorded is no source of a program that records.
    execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD -- . ":(exclude)*/recorded/*"
                    RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
        set(COMMIT unknown)  # no git, or not a clone
    elseif(NOT changed EQUAL 0)
        string(APPEND COMMIT -dirty)
    endif()
    configure_file("${CMAKE_CURRENT_LIST_DIR}/build_info.cpp.in" "${OUTPUT}" @ONLY)
    return()
endif()

function(add_build_info target)
    set(output "${CMAKE_BINARY_DIR}/generated/build_info.cpp")
    add_custom_target(look_up_commit BYPRODUCTS "${output}" COMMENT "Looking up the commit" VERBATIM
        COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}"
                "-DBACKEND=${STAGES_BACKEND}" "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
                "-DNVCC=${CMAKE_CUDA_COMPILER_VERSION}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
    set_source_files_properties("${output}" PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE "${output}")
    add_dependencies(${target} look_up_commit)
endfunction()
