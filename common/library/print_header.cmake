# SPDX-License-Identifier: MIT
# cmake -DAWK=... -DHEADER=... -DFILE=... -P print_header.cmake, in the repository: prints a header of a front call as one
# file, as `./stages header` does.
execute_process(COMMAND "${AWK}" -v "headers=${HEADER}" -f common/course/header.awk OUTPUT_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} cannot be printed as one file: ${text}")
endif()
file(WRITE "${FILE}" "${text}")
