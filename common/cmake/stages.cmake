# SPDX-License-Identifier: MIT
# One folder, one stage. add_stage(03_online_softmax) makes of its stage.cu, example.cu and test.cu the programs
# 03_online_softmax, stages_03_online_softmax (which takes every verb), example_03_online_softmax and
# test_03_online_softmax.

# The command line of all programs with stages. Most of what it takes to compile is CLI11's header.
add_library(course_main OBJECT common/course/main.cpp common/course/list.cpp common/course/run_command.cpp)
add_library(readme_main OBJECT EXCLUDE_FROM_ALL common/course/readme_main.cpp common/course/list.cpp common/course/run_command.cpp)
foreach(command_line course_main readme_main)
    target_link_libraries(${command_line} PRIVATE runner CLI11::CLI11 strict_warnings)
    compile_soon(${command_line})
endforeach()

# write_stage_list(RESULT PROGRAM STAGE...): the source file with which PROGRAM knows these stages.
function(write_stage_list result program)
    set(list "${CMAKE_BINARY_DIR}/generated/stages_of_${program}.cpp")
    set(${result} "${list}" PARENT_SCOPE)
    string(REGEX REPLACE "([^;]+);?" "runner::Stage describe_\\1();\n" STAGE_DECLARATIONS "${ARGN}")
    string(REGEX REPLACE "([^;]+)" "describe_\\1()" STAGE_CALLS "${ARGN}")
    string(REPLACE ";" ", " STAGE_CALLS "${STAGE_CALLS}")
    configure_file("${PROJECT_SOURCE_DIR}/common/cmake/stage_list.cpp.in" "${list}" @ONLY)
endfunction()

# add_stage_program(PROGRAM MAIN STAGE...): a program that knows these stages.
function(add_stage_program program main)
    write_stage_list(list ${program} ${ARGN})
    list(TRANSFORM ARGN PREPEND describe_ OUTPUT_VARIABLE descriptions)
    add_executable(${program} "${list}")
    target_link_libraries(${program} PRIVATE ${main} ${descriptions} runner strict_warnings)
    link_operations_of(${program} ${ARGN})
endfunction()

# add_program_of_verbs(PROGRAM STAGE...): the same, and its command line begins with a verb.
function(add_program_of_verbs program)
    add_stage_program(${program} course_main ${ARGN})
    target_link_libraries(${program} PRIVATE xray_command)
endfunction()

function(keep_ptx target stage)
    if(STAGES_KEEP_PTX)
        file(MAKE_DIRECTORY "${STAGES_PTX}/${stage}")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--keep;--keep-dir=${STAGES_PTX}/${stage}>)
    endif()
endfunction()

# add_stage(NAME): see above.
function(add_stage name)
    # Variants beyond the lesson may have files of their own.
    file(GLOB variants CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${name}/*_variants.cu)
    add_device_objects(describe_${name} ${name}/stage.cu ${variants})
    target_link_libraries(describe_${name} PRIVATE nlohmann_json::nlohmann_json strict_warnings)  # which 07's tuner writes
    keep_ptx(describe_${name} ${name})
    # What several stages launch is compiled once.
    set(launchers "")
    folders_included(launching "([0-9][0-9]_[a-z0-9_]+)/launchers\\.hpp" ${name}/stage.cu ${variants})
    foreach(stage ${launching})
        list(APPEND launchers ${stage}/launchers.cu)
        if(NOT TARGET launchers_${stage})
            add_library(launchers_${stage} STATIC)
            compile_device_files(launchers_${stage} ${stage}/launchers.cu)
            target_link_libraries(launchers_${stage} PRIVATE strict_warnings)
            keep_ptx(launchers_${stage} ${stage})
        endif()
        target_link_libraries(describe_${name} INTERFACE launchers_${stage})
    endforeach()
    add_stage_program(${name} course_main ${name})
    target_link_libraries(${name} PRIVATE xray_none)
    add_program_of_verbs(stages_${name} ${name})
    set_target_properties(stages_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    set_property(GLOBAL APPEND PROPERTY STAGES_OF_THE_COURSE ${name})

    add_device_program(example_${name} ${name}/example.cu)
    target_link_libraries(example_${name} PRIVATE strict_warnings)

    if(STAGES_BACKEND STREQUAL "cpu")
        add_debug_program(${name} ${variants} ${launchers})
    endif()

    add_course_test(test_${name} ${name}/test.cu)
    if(TARGET test_${name})
        target_link_libraries(test_${name} PRIVATE describe_${name} operations)
        target_link_libraries(test_${name}_device PRIVATE nlohmann_json::nlohmann_json)
    endif()
endfunction()

# debug_03_online_softmax: the stage's kernels, compiled so that a debugger finds every variable, and what opens one.
add_library(debuggable INTERFACE)
target_compile_options(debuggable INTERFACE -O0 -g -DCPU_DEVICE_DEBUGGED)
if(STAGES_BACKEND STREQUAL "cpu")
    add_library(debug_main OBJECT EXCLUDE_FROM_ALL common/course/debug.cpp common/course/gdb.cpp)
    target_link_libraries(debug_main PRIVATE runner CLI11::CLI11 strict_warnings)
    compile_soon(debug_main)
endif()
function(add_debug_program name)
    add_device_objects(debug_describe_${name} ${name}/stage.cu ${ARGN})
    target_link_libraries(debug_describe_${name} PRIVATE debuggable nlohmann_json::nlohmann_json strict_warnings)  # behind the -O1 -g1 of device_flags
    write_stage_list(list debug_${name} ${name})
    add_executable(debug_${name} "${list}")
    target_link_libraries(debug_${name} PRIVATE debug_main debug_describe_${name} xray_variant_run runner strict_warnings)
    link_operations_of(debug_${name} ${name})
    set_target_properties(debug_describe_${name} debug_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    # gdb in a kernel's thread, where the stage has a script that asks it.
    if(TARGET tests AND EXISTS "${PROJECT_SOURCE_DIR}/${name}/test_debug.sh")
        add_dependencies(tests debug_${name})
        add_test(NAME debug_${name} COMMAND "${PROJECT_SOURCE_DIR}/${name}/test_debug.sh" "$<TARGET_FILE:debug_${name}>")
        set_tests_properties(debug_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
    endif()
endfunction()

# `stages`: every stage in one program, which takes a verb. `readme` writes what is generated from all of them.
function(add_program_of_all_stages)
    get_property(stages GLOBAL PROPERTY STAGES_OF_THE_COURSE)
    add_program_of_verbs(stages ${stages})
    if(STAGES_BACKEND STREQUAL "cpu")
        add_stage_program(readme readme_main ${stages})
        target_link_libraries(readme PRIVATE course_readme)
        set_target_properties(readme PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(readme ${stages} my_programs)  # which it runs, as READMEs show them
    endif()
endfunction()
