# SPDX-License-Identifier: MIT
# need_package(NAME ...): find_package that says what to do where there is none.
macro(need_package name)  # a macro: what it finds is for the caller
    find_package(${name} QUIET ${ARGN})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${name} is missing: `./stages doctor` says which package has it")
    endif()
endmacro()
