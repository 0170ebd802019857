# SPDX-License-Identifier: MIT
# need_package(NAME ...): find_package that says what to do where there is none.
macro(need_package name)  # a macro: what it finds is for the caller
    find_package(${name} QUIET ${ARGN})
    if(NOT ${name}_FOUND)
        # Its files may be here and something else be wrong, such as a compiler that does not work.
        set(reason "${${name}_NOT_FOUND_MESSAGE}")
        if(${name}_CONSIDERED_CONFIGS)
            string(APPEND reason " (it is here: ${${name}_CONSIDERED_CONFIGS})")
        endif()
        message(FATAL_ERROR "CMake did not find ${name}: `./stages doctor` says whether it is missing and which package has it."
                            " ${reason}")
    endif()
endmacro()
