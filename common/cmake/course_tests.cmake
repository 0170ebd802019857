# SPDX-License-Identifier: MIT
# Tests are Catch2 programs (version 2 or 3) that only the target `tests` builds. Where Catch2 is missing there are none.
set(test_cost 0)
if(STAGES_COURSE)
    enable_testing()
    find_package(Catch2 QUIET)
endif()
if(Catch2_FOUND)
    list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
    include(Catch)
    # A test that checks nothing fails: a loop over variants of which there are none, say. So does a name that CMake
    # cuts in two, at a semicolon, and that runs nothing. (Version 3 knows that by itself.)
    # Version 2 takes one warning on its command line: catch_main asks for both.
    if(NOT Catch2_VERSION VERSION_LESS 3)
        set(fail_without_checks EXTRA_ARGS --warn NoAssertions)
    endif()
    add_custom_target(tests)
elseif(STAGES_COURSE)
    message(STATUS "Catch2 was not found, so there are no tests (Debian, Ubuntu: apt-get install catch2)")
endif()

# add_course_test(NAME FILE...): *.cpp are the host's, *.cu and *.cuh are device files of this test alone.
# Afterwards, inside if(TARGET NAME), link what it tests. Where test_cost is set, tests of a higher one begin
# earlier: what takes minutes should not begin last.
function(add_course_test name)
    if(NOT Catch2_FOUND)
        return()
    endif()
    set(host_files ${ARGN})
    list(FILTER host_files INCLUDE REGEX "\\.cpp$")
    set(device_files ${ARGN})
    list(FILTER device_files INCLUDE REGEX "\\.cuh?$")

    add_executable(${name} EXCLUDE_FROM_ALL ${host_files})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE catch_main strict_warnings)
    target_compile_options(${name} PRIVATE -O0)  # the host's code runs but once
    if(device_files)
        translate_device_files(translated_${name} ${device_files})
        list(FILTER device_files INCLUDE REGEX "\\.cu$")
        add_device_objects(${name}_device ${device_files})
        add_dependencies(${name}_device translated_${name})
        target_link_libraries(${name}_device PRIVATE catch_main strict_warnings)
        set_target_properties(${name}_device PROPERTIES EXCLUDE_FROM_ALL ON)
        target_link_libraries(${name} PRIVATE ${name}_device device_runtime)
    endif()
    add_dependencies(tests ${name})
    # A test that runs for ever ends, on the CPU device with a word on where its threads are.
    # One that says that it cannot run here is skipped (common/testing/skip.hpp).
    catch_discover_tests(${name} TEST_PREFIX "${name}:" ${fail_without_checks} PROPERTIES COST "${test_cost}" TIMEOUT 300
                         SKIP_REGULAR_EXPRESSION "SKIPPED:"
                         ENVIRONMENT "CPU_DEVICE_TIME_LIMIT_SECONDS=280")
endfunction()
