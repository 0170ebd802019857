// SPDX-License-Identifier: MIT
//
// Objects with a count, destroyed with the last that holds them: the program, or a graph.
#include <mutex>
#include <set>

#include "api.hpp"
#include "cpu_device/graph_api.h"
#include "graph.hpp"
#include "node_bodies.hpp"

struct CUuserObject_st {
    void* pointer;
    cudaHostFn_t destroy;
    unsigned count;
};

namespace cpu_device {
namespace {

struct UserObjects {
    std::mutex mutex;
    std::set<cudaUserObject_t> alive;
};

UserObjects& user_objects() {
    static UserObjects* const instance = new UserObjects;  // alive until the process ends
    return *instance;
}

}  // namespace
}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
    if (object == nullptr || destroy == nullptr || count == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
        return remembered(cudaErrorInvalidValue);
    }
    UserObjects& all = user_objects();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *object = *all.alive.insert(new CUuserObject_st{pointer, destroy, count}).first;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
    UserObjects& all = user_objects();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (count == 0 || all.alive.count(object) == 0) return remembered(cudaErrorInvalidValue);
    object->count += count;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
    {
        UserObjects& all = user_objects();
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (count == 0 || all.alive.count(object) == 0 || count > object->count) {
            return remembered(cudaErrorInvalidValue);
        }
        object->count -= count;
        if (object->count != 0) return cudaSuccess;
        all.alive.erase(object);
    }
    object->destroy(object->pointer);
    delete object;
    return cudaSuccess;
}

// The graph's share: the caller's own, where it moves.
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
    const auto held = graph_of(graph);
    if (held == nullptr || flags > cudaGraphUserObjectMove) {
        return remembered(cudaErrorInvalidValue);
    }
    if (flags != cudaGraphUserObjectMove) {
        if (const cudaError_t error = cudaUserObjectRetain(object, count)) return error;
    }
    held->objects[object] += count;
    return cudaSuccess;
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
    const auto held = graph_of(graph);
    if (held == nullptr || held->objects[object] < count) return remembered(cudaErrorInvalidValue);
    held->objects[object] -= count;
    return cudaUserObjectRelease(object, count);
}
