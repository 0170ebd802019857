# SPDX-License-Identifier: MIT
# STAGES_COURSE=OFF: libsoftmax_stages, and of the course what it takes to build it. A compiler and CMake are enough.
include(course_tests)
enable_testing()
if(STAGES_BACKEND STREQUAL "cpu")
    add_subdirectory(common/io EXCLUDE_FROM_ALL)
    add_subdirectory(common/cpu_device/translate EXCLUDE_FROM_ALL)
    add_subdirectory(common/cpu_device EXCLUDE_FROM_ALL)
endif()
add_subdirectory(common/library)
