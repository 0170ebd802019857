# SPDX-License-Identifier: MIT
# One folder, one stage. add_stage(03_online_softmax) makes of its stage.cu, example.cu and test.cu the programs
# 03_online_softmax, stages_03_online_softmax (which takes every verb), example_03_online_softmax and
# test_03_online_softmax.

# The command line of all programs with stages. Most of what it takes to compile is CLI11's header.
set(predictions common/course/predictions/ask.cpp common/course/predictions/facts.cpp common/course/predictions/prediction.cpp
    common/course/predictions/sheet.cpp)
add_library(course_main OBJECT common/course/main.cpp common/course/list.cpp common/course/run_command.cpp ${predictions})
add_library(readme_main OBJECT EXCLUDE_FROM_ALL common/course/readme_main.cpp common/course/list.cpp common/course/run_command.cpp
            ${predictions})
foreach(command_line course_main readme_main)
    target_link_libraries(${command_line} PRIVATE runner CLI11::CLI11 strict_warnings)
    compile_soon(${command_line})
endforeach()

# write_stage_list(RESULT PROGRAM FUNCTION...): the source file with which PROGRAM knows the stages that these functions
# return, describe_03_online_softmax or lesson_03_online_softmax. It defines runner::all_stages(), or what STAGE_LIST says.
function(write_stage_list result program)
    set(list "${CMAKE_BINARY_DIR}/generated/stages_of_${program}.cpp")
    if(NOT STAGE_LIST)
        set(STAGE_LIST runner::all_stages)
    endif()
    set(${result} "${list}" PARENT_SCOPE)
    string(REGEX REPLACE "([^;]+);?" "runner::Stage \\1();\n" STAGE_DECLARATIONS "${ARGN}")
    string(REGEX REPLACE "([^;]+)" "\\1()" STAGE_CALLS "${ARGN}")
    string(REPLACE ";" ", " STAGE_CALLS "${STAGE_CALLS}")
    configure_file("${PROJECT_SOURCE_DIR}/common/cmake/stage_list.cpp.in" "${list}" @ONLY)
endfunction()

# add_stage_program(PROGRAM MAIN STAGE...): a program that knows these stages.
function(add_stage_program program main)
    list(TRANSFORM ARGN PREPEND describe_ OUTPUT_VARIABLE descriptions)
    write_stage_list(list ${program} ${descriptions})
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

# add_descriptions(TARGET STAGE FILE...): TARGET is what describes variants of that stage.
function(add_descriptions target stage)
    add_device_objects(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json strict_warnings)  # which 07's tuner writes
    keep_ptx(${target} ${stage})
    # What several stages launch is compiled once.
    folders_included(launching "([0-9][0-9]_[a-z0-9_]+)/launchers\\.hpp" ${ARGN})
    foreach(other ${launching})
        if(NOT TARGET launchers_${other})
            add_library(launchers_${other} STATIC)
            compile_device_files(launchers_${other} ${other}/launchers.cu)
            target_link_libraries(launchers_${other} PRIVATE strict_warnings)
            keep_ptx(launchers_${other} ${other})
        endif()
        foreach(who ${target} describe_${stage})
            target_link_libraries(${who} INTERFACE launchers_${other})
        endforeach()
        set_property(GLOBAL APPEND PROPERTY LAUNCHERS_OF_${stage} ${other}/launchers.cu)
    endforeach()
endfunction()

# add_stage(NAME): see above. stage.cu describes the lesson's variants, further.cu adds those beyond it. Either may have
# files of their own, *_lesson.cu and *_variants.cu, to be compiled side by side.
function(add_stage name)
    file(GLOB lesson CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${name}/stage.cu ${name}/*_lesson.cu)
    file(GLOB further CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${name}/further.cu ${name}/*_variants.cu)
    # The function that describes the lesson, and the objects that have it: a stage that is a lesson alone has no others.
    set(described_by describe_${name})
    set(objects describe_${name})
    if(further)
        set(described_by lesson_${name})
        set(objects describe_lesson_${name})
        add_descriptions(describe_${name} ${name} ${further})
        add_descriptions(describe_lesson_${name} ${name} ${lesson})
        target_sources(describe_${name} INTERFACE $<TARGET_OBJECTS:describe_lesson_${name}>)
    else()
        add_descriptions(describe_${name} ${name} ${lesson})
    endif()
    add_stage_program(${name} course_main ${name})
    target_link_libraries(${name} PRIVATE xray_none)
    add_program_of_verbs(stages_${name} ${name})

    # lesson_03_online_softmax, and stages_lesson_03_online_softmax with all verbs: without what goes beyond, so that an
    # edit of the lesson's header compiles no more.
    foreach(program lesson_${name} stages_lesson_${name})
        write_stage_list(list ${program} ${described_by})
        add_executable(${program} "${list}")
        target_link_libraries(${program} PRIVATE course_main ${objects} runner strict_warnings)
        link_operations_of(${program} ${name})
    endforeach()
    target_link_libraries(lesson_${name} PRIVATE xray_none)
    target_link_libraries(stages_lesson_${name} PRIVATE xray_command)
    set_target_properties(stages_${name} lesson_${name} stages_lesson_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    set_property(GLOBAL APPEND PROPERTY STAGES_OF_THE_COURSE ${name})
    set_property(GLOBAL APPEND PROPERTY LESSONS_OF_THE_COURSE ${described_by})
    set_property(GLOBAL APPEND PROPERTY LESSON_OBJECTS_OF_THE_COURSE ${objects})

    add_device_program(example_${name} ${name}/example.cu)
    target_link_libraries(example_${name} PRIVATE strict_warnings)

    if(STAGES_BACKEND STREQUAL "cpu")
        get_property(launchers GLOBAL PROPERTY LAUNCHERS_OF_${name})
        list(REMOVE_DUPLICATES launchers)
        add_debug_program(${name} ${lesson} ${further} ${launchers})
    endif()

    # A program for several GPUs, further/run_split_*.cu: a test runs it on four devices of the CPU device.
    file(GLOB over_devices CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${name}/further/run_split_*.cu)
    foreach(file IN LISTS over_devices)
        if(TARGET tests AND STAGES_BACKEND STREQUAL "cpu")
            get_filename_component(program "${file}" NAME_WE)
            add_device_program(${program} ${file})
            target_link_libraries(${program} PRIVATE cpu_libraries strict_warnings)
            set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
            add_dependencies(tests ${program})
            add_test(NAME ${program} COMMAND ${program})
            set_tests_properties(${program} PROPERTIES TIMEOUT 60 ENVIRONMENT CPU_DEVICE_COUNT=4)
        endif()
    endforeach()

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
    add_device_objects(debug_describe_${name} ${ARGN})
    target_link_libraries(debug_describe_${name} PRIVATE debuggable nlohmann_json::nlohmann_json strict_warnings)  # behind the -O1 -g1 of device_flags
    write_stage_list(list debug_${name} describe_${name})
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

# `stages`: every stage in one program, which takes a verb. `stages_lessons`: the same of their lessons alone, which is
# sooner built. `readme` writes what is generated from all of them.
function(add_program_of_all_stages)
    get_property(stages GLOBAL PROPERTY STAGES_OF_THE_COURSE)
    add_program_of_verbs(stages ${stages})
    get_property(lessons GLOBAL PROPERTY LESSONS_OF_THE_COURSE)
    get_property(objects GLOBAL PROPERTY LESSON_OBJECTS_OF_THE_COURSE)
    write_stage_list(list stages_lessons ${lessons})
    add_executable(stages_lessons EXCLUDE_FROM_ALL "${list}")
    target_link_libraries(stages_lessons PRIVATE course_main xray_command ${objects} runner strict_warnings)
    link_operations_of(stages_lessons ${stages})
    if(STAGES_BACKEND STREQUAL "cpu")
        add_stage_program(readme readme_main ${stages})
        target_link_libraries(readme PRIVATE course_readme)
        set_target_properties(readme PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(readme ${stages} my_programs)  # which it runs, as READMEs show them
    endif()
endfunction()
