// SPDX-License-Identifier: MIT
//
// Copies and fills of the host: what is wrong with one, what it does, and CUDA's calls for all their shapes.
#include <cstring>

#include "allocation_history.hpp"
#include "api.hpp"
#include "arrays.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "device_variables.hpp"
#include "devices.hpp"
#include "graph_memory.hpp"
#include "host_memory.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "strict.hpp"
#include "virtual_functions.hpp"

namespace cpu_device {
namespace {

// What is wrong with [pointer, pointer + bytes) as a piece of device memory; success if it is fine
// or is not device memory at all. `verb`: "cudaMemcpy writes" and the like.
cudaError_t check_range(const void* pointer, size_t bytes, const char* verb) {
    const uintptr_t address = as_address(pointer);
    if (pointer == nullptr) {
        return explained(cudaErrorInvalidValue, "%s %zu bytes at a null pointer%s", verb, bytes,
                         failed_allocations_text().c_str());
    }
    if (const DeviceVariable* variable = variable_known_at(address)) {
        const size_t left = variable->high() - address;
        if (bytes <= left) return cudaSuccess;
        return explained(cudaErrorInvalidValue,
                         "%s %zu bytes, but only %zu are left of the variable `%s`", verb, bytes,
                         left, variable->name);
    }
    if (!device_memory_range().holds(address)) return cudaSuccess;
    const auto table = allocation_table();
    const Allocation* allocation = nearest_allocation(*table, address);
    if (allocation == nullptr || address - allocation->low > allocation->bytes) {
        return explained(cudaErrorInvalidValue,
                         "%s %zu bytes of device memory that nothing allocated", verb, bytes);
    }
    if (allocation->freed) {
        return explained(cudaErrorInvalidValue, "%s %zu bytes of an allocation that is freed%s",
                         verb, bytes, freed_text(allocation->low).c_str());
    }
    const size_t left = allocation->bytes - (address - allocation->low);
    if (bytes <= left) return cudaSuccess;
    return explained(cudaErrorInvalidValue,
                     "%s %zu bytes, but only %zu are left of the allocation of %zu bytes", verb,
                     bytes, left, allocation->bytes);
}

const char* name_of(cudaMemcpyKind kind) {
    constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                      "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                      "cudaMemcpyDefault"};
    return kNames[kind];
}

// Memory of cudaMalloc, of which the copy says that it is the host's.
bool is_no_host_memory(const void* pointer) {
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, pointer);
    return attributes.type == cudaMemoryTypeDevice;
}

// The same of the host's memory, where a learner's program copies.
cudaError_t check_host_range(const void* pointer, size_t bytes, const char* verb) {
    const uintptr_t address = as_address(pointer);
    const DeviceVariable* const variable = device_variable_before(address);
    const bool of_device = device_memory_range().holds(address) ||
                           (variable != nullptr && variable->holds(address, 1));
    if (!is_strict() || of_device) return cudaSuccess;
    const auto room = host_room(address);
    if (!room || bytes <= room->bytes) return cudaSuccess;
    return explained(cudaErrorInvalidValue,
                     "%s %zu bytes of the host's memory, but only %zu are left there %s", verb,
                     bytes, room->bytes, room->what);
}

cudaError_t check_copy(const void* to, size_t to_bytes, const void* from, size_t from_bytes,
                       cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return explained(cudaErrorInvalidMemcpyDirection, "cudaMemcpy: there is no direction %d",
                         static_cast<int>(kind));
    }
    if (to == nullptr) return check_range(to, to_bytes, "cudaMemcpy writes");
    if (from == nullptr) return check_range(from, from_bytes, "cudaMemcpy reads");
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((to_device && !is_device_side(to)) || (from_device && !is_device_side(from))) {
        const bool wrong_to = to_device && !is_device_side(to);
        const char* const which = wrong_to ? "first (to)" : "second (from)";
        if (const DeviceVariable* variable = hidden_variable_at(as_address(wrong_to ? to : from))) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemcpy with %s: the %s pointer is the address of `%s` on the "
                             "host, and that variable is on the device: %s does that",
                             name_of(kind), which, variable->name,
                             wrong_to ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol");
        }
        return explained(cudaErrorInvalidValue,
                         "cudaMemcpy with %s: the %s pointer is not the device's", name_of(kind),
                         which);
    }
    if (is_strict() && kind != cudaMemcpyDefault) {
        const bool wrong_to = !to_device && is_no_host_memory(to);
        if (wrong_to || (!from_device && is_no_host_memory(from))) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemcpy with %s: the %s pointer is the device's", name_of(kind),
                             wrong_to ? "first (to)" : "second (from)");
        }
    }
    if (const cudaError_t error = check_range(to, to_bytes, "cudaMemcpy writes")) return error;
    if (const cudaError_t error = check_range(from, from_bytes, "cudaMemcpy reads")) return error;
    if (const cudaError_t error = check_host_range(to, to_bytes, "cudaMemcpy writes")) return error;
    return check_host_range(from, from_bytes, "cudaMemcpy reads");
}

void tell_of_copy(uintptr_t to, uintptr_t from, size_t bytes, cudaMemcpyKind kind) {
    const bool from_host =
        kind == cudaMemcpyHostToDevice ||
        (kind == cudaMemcpyDefault && !is_device_side(reinterpret_cast<const void*>(from)));
    if (from_host) note_objects_of_host(to, bytes);
    Observer* const watcher = observer();
    if (watcher == nullptr) return;
    const bool to_host =
        kind == cudaMemcpyDeviceToHost ||
        (kind == cudaMemcpyDefault && !is_device_side(reinterpret_cast<const void*>(to)));
    watcher->read_by_host(from, bytes, to_host);
    watcher->written_by_host(to, bytes);
}

// A rectangle of bytes: what copies of either shape come down to.
struct Copy {
    static constexpr cudaGraphNodeType kNode = cudaGraphNodeTypeMemcpy;
    void* to;
    size_t to_pitch;
    const void* from;
    size_t from_pitch;
    size_t width;
    size_t height;
    cudaMemcpyKind kind;

    bool is_nothing() const { return width == 0 || height == 0; }
    bool is_for_graph_memory() const { return is_in_graph_memory(to) || is_in_graph_memory(from); }

    cudaError_t check() const {
        if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
        return check_copy(to, to_pitch * (height - 1) + width, from,
                          from_pitch * (height - 1) + width, kind);
    }

    void carry_out() const {
        for (size_t row = 0; row < height; row++) {
            std::memmove(static_cast<char*>(to) + row * to_pitch,
                         static_cast<const char*>(from) + row * from_pitch, width);
            tell_of_copy(as_address(to) + row * to_pitch, as_address(from) + row * from_pitch,
                         width, kind);
        }
    }
};

struct Fill {
    static constexpr cudaGraphNodeType kNode = cudaGraphNodeTypeMemset;
    void* to;
    size_t pitch;
    unsigned value;
    size_t width, height;        // in bytes
    unsigned element_bytes = 1;  // 2 or 4: the width is a multiple

    bool is_nothing() const { return width == 0 || height == 0; }
    bool is_for_graph_memory() const { return is_in_graph_memory(to); }

    cudaError_t check() const {
        if (width > pitch) return cudaErrorInvalidPitchValue;
        if (to != nullptr && !is_device_side(to)) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemset of memory that is not the device's");
        }
        return check_range(to, pitch * (height - 1) + width, "cudaMemset writes");
    }

    void carry_out() const {
        for (size_t row = 0; row < height; ++row) {
            char* const line = static_cast<char*>(to) + row * pitch;
            if (element_bytes == 1) std::memset(line, static_cast<int>(value), width);
            for (size_t x = 0; element_bytes > 1 && x < width; x += element_bytes)
                std::memcpy(line + x, &value, element_bytes);  // the low bytes come first
            if (Observer* const watcher = observer())
                watcher->written_by_host(as_address(line), width);
        }
    }
};

template <class Task>
cudaError_t do_now(const Task& task) {
    if (const cudaError_t error = pending_failure()) return error;
    if (task.is_nothing()) return cudaSuccess;
    if (const cudaError_t error = task.check()) return remembered(error);
    if (const cudaError_t error = work_on_host(task.width * task.height)) return remembered(error);
    task.carry_out();
    return cudaSuccess;
}

// Does a copy or fill, or keeps it where the stream captures. What is kept is checked twice, for its memory may be freed
// until then; if it is a graph's, which is not there yet, once.
template <class Task>
cudaError_t submit(const Task& task, cudaStream_t stream) {
    refuse_to_kernels();
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture == 0) return do_now(task);
    if (task.is_nothing()) return cudaSuccess;
    if (!task.is_for_graph_memory()) {
        if (const cudaError_t error = task.check()) return remembered(error);
    }
    return record(admission, Task::kNode, [task] { return do_now(task); });
}

}  // namespace

cudaError_t check_device_range(const void* pointer, size_t bytes, const char* verb) {
    if (pointer != nullptr && !is_device_side(pointer)) {
        return remembered(explained(cudaErrorInvalidValue, "%s %zu bytes that are not the device's",
                                    verb, bytes));
    }
    return remembered(check_range(pointer, bytes, verb));
}

cudaError_t fill_elements(const cudaMemsetParams& of) {
    if (of.elementSize != 1 && of.elementSize != 2 && of.elementSize != 4) {
        return remembered(cudaErrorInvalidValue);
    }
    const size_t width = of.width * of.elementSize;
    // A single row may leave out how far rows are apart.
    const size_t pitch = of.height <= 1 ? std::max(width, of.pitch) : of.pitch;
    return submit(Fill{of.dst, pitch, of.value, width, of.height, of.elementSize}, nullptr);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return submit(Copy{to, to_pitch, from, from_pitch, width, height, kind}, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    return cudaMemsetAsync(to, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return submit(Fill{to, pitch, static_cast<unsigned>(value), width, height}, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return cudaMemset3DAsync(to, value, extent, nullptr);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
    for (size_t z = 0; z < extent.depth; z++) {
        char* const slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
        const cudaError_t error =
            cudaMemset2DAsync(slice, to.pitch, value, extent.width, extent.height, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
    return cudaMemcpy3DAsync(copy, nullptr);
}

// Slice by slice.
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* with_arrays, cudaStream_t stream) {
    if (with_arrays == nullptr) return remembered(cudaErrorInvalidValue);
    cudaMemcpy3DParms in_bytes = *with_arrays;
    if (const cudaError_t error = replace_arrays(in_bytes)) return error;
    const cudaMemcpy3DParms* const copy = &in_bytes;
    const auto place = [](const cudaPitchedPtr& in, const cudaPos& at, size_t z) {
        return static_cast<char*>(in.ptr) + ((at.z + z) * in.ysize + at.y) * in.pitch + at.x;
    };
    const cudaExtent extent = copy->extent;
    for (size_t z = 0; z < extent.depth; z++) {
        const cudaError_t error =
            cudaMemcpy2DAsync(place(copy->dstPtr, copy->dstPos, z), copy->dstPtr.pitch,
                              place(copy->srcPtr, copy->srcPos, z), copy->srcPtr.pitch,
                              extent.width, extent.height, copy->kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

// ---------------------------------------------------------------- between devices
// As with one device: all memory is where each of them reaches it.

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
    if (!is_device(to_device) || !is_device(from_device)) return remembered(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
    if (copy == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(copy->dstDevice) || !is_device(copy->srcDevice)) {
        return remembered(cudaErrorInvalidDevice);
    }
    const cudaMemcpy3DParms one{copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray,
                                copy->dstPos,   copy->dstPtr, copy->extent, cudaMemcpyDefault};
    return cudaMemcpy3DAsync(&one, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
    return cudaMemcpy3DPeerAsync(copy, nullptr);
}

// The attributes say in which order a GPU may read: here a copy is over when the call returns.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                 size_t count, cudaMemcpyAttributes*, size_t*, size_t,
                                 cudaStream_t stream) {
    if (to == nullptr || from == nullptr || bytes == nullptr) {
        return remembered(cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < count; i++) {
        const cudaError_t error =
            cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
