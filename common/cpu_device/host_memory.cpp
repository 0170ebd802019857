// SPDX-License-Identifier: MIT
#include "host_memory.hpp"

#include <malloc.h>
#include <unwind.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "access.hpp"
#include "program_image.hpp"
#include "strict.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// The sizes of the blocks that the program's own code allocated. What a library frees of them stays until its address
// is used again.
struct Blocks {
    std::mutex mutex;
    std::map<uintptr_t, size_t> bytes;
};

Blocks& blocks() {
    static auto* const all = new Blocks;  // alive until the very end of the process
    return *all;
}

void* noted(void* block, size_t bytes) {
    if (block == nullptr || !is_strict()) return block;
    const std::lock_guard<std::mutex> lock(blocks().mutex);
    blocks().bytes[as_address(block)] = bytes;
    return block;
}

void forget(void* block) {
    if (block == nullptr || !is_strict()) return;
    const std::lock_guard<std::mutex> lock(blocks().mutex);
    blocks().bytes.erase(as_address(block));
}

std::optional<HostRoom> room_of_block(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(blocks().mutex);
    const auto above = blocks().bytes.upper_bound(address);
    if (above == blocks().bytes.begin()) return {};
    const auto [low, bytes] = *std::prev(above);
    if (address - low >= bytes) return {};
    // Another block's by now, which is smaller.
    if (malloc_usable_size(reinterpret_cast<void*>(low)) < bytes) return {};
    return HostRoom{low + bytes - address, "of a block of malloc or new"};
}

std::optional<HostRoom> room_of_variable(uintptr_t address) {
    const Symbol* const variable = variable_at(address);
    if (variable == nullptr) return {};
    return HostRoom{variable->value + variable->size - address, "of a variable of the host's"};
}

// Between the return address of what a function called and its own lies what is local to it.
struct Frames {
    uintptr_t address;
    uintptr_t low;  // of the function that is looked at
    uintptr_t end;  // of the locals that hold the address; 0: not found
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* pointer) {
    auto& frames = *static_cast<Frames*>(pointer);
    const uintptr_t high = _Unwind_GetCFA(context);
    if (frames.low != 0 && frames.low <= frames.address && frames.address < high) {
        frames.end = high - sizeof(void*);
        return _URC_END_OF_STACK;
    }
    frames.low = high;
    return _URC_NO_REASON;
}

std::optional<HostRoom> room_of_locals(uintptr_t address) {
    Frames frames{address, 0, 0};
    _Unwind_Backtrace(look, &frames);
    if (frames.end <= address) return {};
    return HostRoom{frames.end - address, "of all local variables of the function"};
}

}  // namespace

std::optional<HostRoom> host_room(uintptr_t address) {
    if (const auto block = room_of_block(address)) return block;
    if (const auto variable = room_of_variable(address)) return variable;
    return room_of_locals(address);
}

}  // namespace cpu_device

// What the object of a learner's program calls in place of malloc and the like: `./stages` renames them there.
extern "C" void* cpu_device_malloc(size_t bytes) {
    return cpu_device::noted(std::malloc(bytes), bytes);
}
extern "C" void* cpu_device_calloc(size_t count, size_t size) {
    return cpu_device::noted(std::calloc(count, size), count * size);
}
extern "C" void* cpu_device_realloc(void* block, size_t bytes) {
    cpu_device::forget(block);
    return cpu_device::noted(std::realloc(block, bytes), bytes);
}
extern "C" void cpu_device_free(void* block) {
    cpu_device::forget(block);
    std::free(block);
}
extern "C" void* cpu_device_new(size_t bytes) {
    return cpu_device::noted(::operator new(bytes), bytes);
}
extern "C" void* cpu_device_new_array(size_t bytes) {
    return cpu_device::noted(::operator new[](bytes), bytes);
}
extern "C" void cpu_device_delete(void* block) {
    cpu_device::forget(block);
    ::operator delete(block);
}
extern "C" void cpu_device_delete_array(void* block) {
    cpu_device::forget(block);
    ::operator delete[](block);
}
extern "C" void cpu_device_delete_sized(void* block, size_t) {
    cpu_device_delete(block);
}
extern "C" void cpu_device_delete_sized_array(void* block, size_t) {
    cpu_device_delete_array(block);
}
