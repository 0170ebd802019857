// SPDX-License-Identifier: MIT
#include "virtual_functions.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "cpu_device/core.h"
#include "memory.hpp"
#include "program_image.hpp"
#include "strict.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr size_t kPointer = sizeof(uintptr_t);

// Where pointers lie that the host has set.
struct Marks {
    std::mutex mutex;
    std::set<uintptr_t> places;
};
Marks& marks() {
    static auto* const all = new Marks;
    return *all;
}

// The last pointer to a table that was read.
thread_local uintptr_t read_at = 0;

uintptr_t word_at(uintptr_t address) {
    uintptr_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), kPointer);
    return word;
}

}  // namespace

void note_objects_of_host(uintptr_t low, size_t bytes) {
    if (!is_strict() || virtual_tables().low == 0 || bytes < kPointer) return;
    const AddressRange tables = virtual_tables();
    const uintptr_t first = (low + kPointer - 1) / kPointer * kPointer;
    for (uintptr_t at = first; at + kPointer <= low + bytes; at += kPointer) {
        const uintptr_t word = word_at(at);
        if (tables.holds(word) && is_virtual_table(word)) note_constructed(at, true);
    }
}

void note_constructed(uintptr_t address, bool by_host) {
    if (!is_strict() ||
        (by_host && !device_memory_range().holds(address) && !program_image().all.holds(address))) {
        return;
    }
    const Undisturbed lock_is_held;
    const std::lock_guard<std::mutex> lock(marks().mutex);
    if (by_host) {
        marks().places.insert(address);
    } else {
        marks().places.erase(address);
    }
}

void note_pointer_read(uintptr_t address) {
    if (is_strict() && virtual_tables().holds(word_at(address))) read_at = address;
}

void judge_table_read(uintptr_t address) {
    if (!is_strict() || read_at == 0 || !is_virtual_table(address)) return;
    {
        const Undisturbed lock_is_held;
        const std::lock_guard<std::mutex> lock(marks().mutex);
        if (marks().places.count(read_at) == 0) return;
    }
    fail(cudaErrorIllegalAddress,
         "a virtual function is called of an object that the host made: its pointer to the table "
         "of functions is an address of the host's; construct it in a kernel, as new (place) "
         "T(...) does, or do without virtual functions");
}

}  // namespace cpu_device
