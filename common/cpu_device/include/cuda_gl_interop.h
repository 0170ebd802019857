// SPDX-License-Identifier: MIT
// What the runtime API shares with OpenGL: a program may include it, and a call says that the CPU device has no graphics.
#pragma once
#define __CUDA_GL_INTEROP_H__
#include "cuda_runtime_api.h"
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#else
using GLenum = unsigned;
using GLuint = unsigned;
#endif

enum cudaGLDeviceList {
    cudaGLDeviceListAll = 1,
    cudaGLDeviceListCurrentFrame = 2,
    cudaGLDeviceListNextFrame = 3
};
enum cudaGLMapFlags {
    cudaGLMapFlagsNone = 0,
    cudaGLMapFlagsReadOnly = 1,
    cudaGLMapFlagsWriteDiscard = 2
};

inline cudaError_t cudaGLGetDevices(unsigned*, int*, unsigned, cudaGLDeviceList) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t*, GLuint, GLenum, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t*, GLuint, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLSetGLDevice(int) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLRegisterBufferObject(GLuint) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLUnregisterBufferObject(GLuint) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLMapBufferObject(void**, GLuint) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLUnmapBufferObject(GLuint) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLSetBufferObjectMapFlags(GLuint, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLMapBufferObjectAsync(void**, GLuint, cudaStream_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGLUnmapBufferObjectAsync(GLuint, cudaStream_t) {
    return cpu_device::refused(__func__);
}
