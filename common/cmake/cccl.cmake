# SPDX-License-Identifier: MIT
# Thrust and libcu++'s vocabulary for programs of one's own on the CPU device, where CCCL's headers are: CCCL_INCLUDE, the
# pip packages cuda-cccl or nvidia-cuda-cccl, or a toolkit of CUDA 13. Nothing of the course needs them. CCCL_HEADERS are
# those that a program may include, and CCCL_ARGUMENTS what its compiler is told: Thrust's sequential back end, in memory
# of the CPU device. Without CCCL there are those headers of libcu++ that the C++ library has as well.
set(CCCL_HEADERS "")
set(CCCL_ARGUMENTS "")
if(STAGES_BACKEND STREQUAL "cpu")
    set(wrappers "${CMAKE_BINARY_DIR}/cccl")
    execute_process(COMMAND python3 -c "import sysconfig; print(sysconfig.get_path('purelib'))" OUTPUT_VARIABLE python_packages
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_path(CCCL_INCLUDE thrust/version.h HINTS "${python_packages}/cuda/cccl/headers/include"
              "${python_packages}/nvidia/cu13/include/cccl" ENV CUDA_HOME PATHS /usr/local/cuda /opt/cuda
              PATH_SUFFIXES include/cccl NO_DEFAULT_PATH)
    mark_as_advanced(CCCL_INCLUDE)
    if(CCCL_INCLUDE)
        # As if no CUDA compiler read them: then they are plain C++, and each function is the host's as well. While they
        # are read, libcu++ is CCCL's: the CPU device's headers of the same names step aside.
        file(GLOB CCCL_HEADERS RELATIVE "${CCCL_INCLUDE}" "${CCCL_INCLUDE}/thrust/*.h" "${CCCL_INCLUDE}/thrust/iterator/*.h" "${CCCL_INCLUDE}/thrust/detail/type_traits.h"
             "${CCCL_INCLUDE}/thrust/random/*.h" "${CCCL_INCLUDE}/thrust/system/cpp/*.h" "${CCCL_INCLUDE}/thrust/system/cuda/*.h"
             "${CCCL_INCLUDE}/cuda/std/[a-z]*" "${CCCL_INCLUDE}/cuda/[bcfmntuv]*")
        list(FILTER CCCL_HEADERS EXCLUDE REGEX "/(barrier|latch|semaphore|memory_resource|memory_resource.h|detail|warp)$|cuda/std/atomic$")
        # Thrust's back end for GPUs brings its exceptions along, by whatever header, and programs catch them. These need
        # traits that they do not include.
        foreach(header IN LISTS CCCL_HEADERS)
            set(traits "")
            set(exceptions "")
            if(header MATCHES "^thrust/")
                set(traits "#include_next <thrust/detail/type_traits.h>\n")
                set(exceptions "#include_next <thrust/system_error.h>\n")
            endif()
            file(CONFIGURE OUTPUT "${wrappers}/${header}" CONTENT "#ifdef CPU_DEVICE_IS_IN_CCCL
#include_next <${header}>
#else
#define CPU_DEVICE_IS_IN_CCCL
#define CPU_DEVICE_READS_CCCL
#pragma push_macro(\"__CUDACC__\")
#undef __CUDACC__
${traits}#include_next <${header}>
${exceptions}#pragma pop_macro(\"__CUDACC__\")
#undef CPU_DEVICE_IS_IN_CCCL
#endif
")
        endforeach()
        set(CCCL_ARGUMENTS "-I${wrappers}" "-I${PROJECT_SOURCE_DIR}/common/cpu_device/libraries" -isystem "${CCCL_INCLUDE}"
            -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP -DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP -DCCCL_DISABLE_NVTX)
        foreach(type FP16 BF16 FP8 NVFP8 NVFP6 NVFP4)
            list(APPEND CCCL_ARGUMENTS -DCCCL_DISABLE_${type}_SUPPORT)
        endforeach()
    else()
        # In namespace cuda::std, by a using directive, so that what the CPU device has of its own there comes first.
        foreach(header algorithm array cassert cfloat chrono climits cmath complex cstddef cstdint cstdlib cstring ctime
                functional initializer_list iterator limits memory numeric optional ratio tuple type_traits utility variant)
            list(APPEND CCCL_HEADERS cuda/std/${header})
            file(CONFIGURE OUTPUT "${wrappers}/cuda/std/${header}" CONTENT "#include <${header}>
#if __has_include_next(<cuda/std/${header}>)
#include_next <cuda/std/${header}>
#endif
namespace cuda::std {
using namespace ::std;
}
")
        endforeach()
        set(CCCL_ARGUMENTS "-I${wrappers}")
    endif()
endif()
