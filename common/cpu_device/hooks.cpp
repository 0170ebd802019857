// SPDX-License-Identifier: MIT
//
// The functions that g++ calls in code compiled with -fsanitize=thread, -fsanitize=bounds and
// -fsanitize-coverage=trace-pc. ThreadSanitizer's own library is never linked: these check where a
// kernel's access goes and note it, and the way there, for the observer. The compiler takes them
// for functions that do not throw.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "access.hpp"
#include "cpu_device/core.h"
#include "padding.hpp"
#include "virtual_functions.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// What a failing function needs to report itself, and a printf at the bottom of the stack.
constexpr uintptr_t kStackReserve = 12 * kKilobyte;

inline bool is_quick(const QuickRange& last, uintptr_t address, unsigned bytes) {
    return last.holds(address, bytes) || current.stack.holds(address, bytes) ||
           current.dynamic_shared.holds(address, bytes) ||
           current.static_shared.holds(address, bytes);
}

// An object that the compiler copies as a whole, because it is large or its type promises too
// little alignment. nvcc would make pieces of it, the widest that the type and the place allow.
void check_range(void* pointer, size_t bytes, Direction direction, uintptr_t place) {
    if (current.lane == nullptr) return;
    const uintptr_t address = as_address(pointer);
    size_t piece = 16;
    while (piece > 1 && (piece >= bytes || ((address | bytes) & (piece - 1)) != 0)) piece /= 2;
    for (size_t done = 0; done < bytes; done += piece) {
        judge_access(address + done, static_cast<unsigned>(piece), direction, place, true);
    }
}

// Out of line and called last, so that the quick way, which almost every access goes, saves no registers.
[[gnu::noinline]] void check_at_length(uintptr_t address, unsigned bytes, Direction direction,
                                       uintptr_t place) {
    if (bytes == 16 && address % 16 == 8 && current.lane != nullptr &&
        copies_of_16_may_lie_at_8()) {
        check_range(reinterpret_cast<void*>(address), bytes, direction, place);
    } else {
        judge_access(address, bytes, direction, place, false);
    }
    if (--current.accesses_left < 0) take_turns(address, place);
    if (direction == Direction::store && current.observed) note_stored(address);
}

template <unsigned bytes, Direction direction>
[[gnu::always_inline]] inline void check(void* pointer, uintptr_t place) {
    const uintptr_t address = as_address(pointer);
    const QuickRange& last = direction == Direction::load ? current.loaded : current.stored;
    const bool quick = address % bytes == 0 && is_quick(last, address, bytes);
    if (__builtin_expect(!quick, 0)) return check_at_length(address, bytes, direction, place);
    if (__builtin_expect(--current.accesses_left < 0, 0)) return take_turns(address, place);
}

// Volatile accesses are what threads speak to each other with: seldom many, and said so. A turn that is due is
// given before: nothing comes between what is noted and what happens.
template <unsigned bytes, Direction direction>
void check_volatile(void* pointer, uintptr_t place) {
    const uintptr_t address = as_address(pointer);
    if (--current.accesses_left < 0) take_turns(address, place);
    if (current.stack.holds(address, bytes)) return;
    judge_access(address, bytes, direction, place, false, true);
    log_signal(address, place, direction == Direction::load ? kObserves | kAcquires : kTells);
}

template <unsigned bytes, Direction direction>
[[gnu::always_inline]] inline void check_unaligned(void* pointer, uintptr_t place) {
    if (as_address(pointer) % bytes == 0) {
        check<bytes, direction>(pointer, place);
    } else {
        check_range(pointer, bytes, direction, place);
    }
}

void enter_function(uintptr_t caller, uintptr_t frame) {
    Lane* lane = current.lane;
    if (lane == nullptr) return;
    if (frame < lane->stack_low + kStackReserve) {
        fail(cudaErrorHardwareStackError,
             "stack overflow: local variables and calls of the thread take more than %zu KB",
             (kStackBytes - kStackReserve) / kKilobyte);
    }
    if (lane->call_depth < kRememberedCalls) lane->paths[lane->call_depth] = lane->path;
    lane->call_depth++;
    lane->path = (lane->path ^ static_cast<uint32_t>(caller)) * 0x9E3779B1u;
}

void leave_function() {
    Lane* lane = current.lane;
    if (lane == nullptr || lane->call_depth == 0) return;
    lane->call_depth--;
    if (lane->call_depth < kRememberedCalls) lane->path = lane->paths[lane->call_depth];
}

// What the compiler hands over with an index that is too large.
struct IndexOutOfBounds {
    const char* file;
    uint32_t line;
    uint32_t column;
    const struct {
        uint16_t kind;
        uint16_t info;
        char name[1];
    } * array_type;
};

void report_index(const IndexOutOfBounds& data, uintptr_t index) {
    Failure failure = failure_of_running_lane(cudaErrorIllegalAddress);
    failure.set_what("index %lld is out of bounds for an array of type %s",
                     static_cast<long long>(index), data.array_type->name);
    std::snprintf(failure.place, sizeof failure.place, "%s:%u", data.file, data.line);
    fail_here(failure);
}

[[gnu::noinline]] void note_waypoint_seldom(uintptr_t place);

// Kept even where nothing is accessed: lanes of a warp run together between such places. It does not finish the record
// before it: the retry loop of an atomic passes waypoints before the atomic has happened.
[[gnu::always_inline]] inline void note_waypoint(uintptr_t place) {
    Lane* const lane = current.lane;
    if (lane == nullptr) return;
    if (__builtin_expect(lane->log.is_full() || lane->log.size() + 1 >= kLongLog, 0))
        return note_waypoint_seldom(place);
    lane->log.append({0, place, lane->path, 0, AccessKind::waypoint, 0});
}

// The same where the log has to grow, or is long: then others get a turn.
void note_waypoint_seldom(uintptr_t place) {
    Lane* const lane = current.lane;
    lane->log.append({0, place, lane->path, 0, AccessKind::waypoint, 0});
    if (lane->log.size() < kLongLog) return;
    lane->place = place;
    give_turn();
}

// Gives other lanes a turn now and then: one of them may hold what this lane's loop waits for. For an atomic that
// note_atomic() has noted, that has happened there.
void note_polling(uintptr_t place) {
    if (std::exchange(current.atomic_noted, false)) return;
    current.accesses_left -= kAtomicCost;
    if (current.accesses_left >= 0) return;
    if (Lane* const lane = current.lane) lane->place = place;
    give_turn();
}

}  // namespace
}  // namespace cpu_device

using namespace cpu_device;

// The names are the compiler's, one for each size.
#define CPU_DEVICE_HOOKS(bytes)                                                                    \
    void __tsan_read##bytes(void* pointer) {                                                       \
        check<bytes, Direction::load>(pointer, as_address(__builtin_return_address(0)));           \
    }                                                                                              \
    void __tsan_write##bytes(void* pointer) {                                                      \
        check<bytes, Direction::store>(pointer, as_address(__builtin_return_address(0)));          \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void* pointer) {                                              \
        check_volatile<bytes, Direction::load>(pointer, as_address(__builtin_return_address(0)));  \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void* pointer) {                                             \
        check_volatile<bytes, Direction::store>(pointer, as_address(__builtin_return_address(0))); \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void* pointer) {                                             \
        check_unaligned<bytes, Direction::load>(pointer, as_address(__builtin_return_address(0))); \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void* pointer) {                                            \
        check_unaligned<bytes, Direction::store>(pointer,                                          \
                                                 as_address(__builtin_return_address(0)));         \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##bytes(void* pointer) {                                    \
        check_unaligned<bytes, Direction::load>(pointer, as_address(__builtin_return_address(0))); \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##bytes(void* pointer) {                                   \
        check_unaligned<bytes, Direction::store>(pointer,                                          \
                                                 as_address(__builtin_return_address(0)));         \
    }

// The stand-in headers' atomics call note_atomic, which checks; here they only happen.
#define CPU_DEVICE_ATOMICS(bits)                                                                   \
    uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t* at, int) {                     \
        note_polling(as_address(__builtin_return_address(0)));                                     \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(uint##bits##_t* at, uint##bits##_t value, int) {              \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_exchange(uint##bits##_t* at, uint##bits##_t value, int) { \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_add(uint##bits##_t* at, uint##bits##_t value,       \
                                                   int) {                                          \
        return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_sub(uint##bits##_t* at, uint##bits##_t value,       \
                                                   int) {                                          \
        return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_and(uint##bits##_t* at, uint##bits##_t value,       \
                                                   int) {                                          \
        return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_or(uint##bits##_t* at, uint##bits##_t value, int) { \
        return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);                                     \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_xor(uint##bits##_t* at, uint##bits##_t value,       \
                                                   int) {                                          \
        return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        uint##bits##_t* at, uint##bits##_t* expected, uint##bits##_t desired, int, int) {          \
        return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,         \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(uint##bits##_t* at, uint##bits##_t* expected,  \
                                                    uint##bits##_t desired, int, int) {            \
        return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,         \
                                           __ATOMIC_SEQ_CST);                                      \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
        uint##bits##_t* at, uint##bits##_t expected, uint##bits##_t desired, int, int) {           \
        __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,               \
                                    __ATOMIC_SEQ_CST);                                             \
        return expected;                                                                           \
    }

extern "C" {
CPU_DEVICE_HOOKS(1)
CPU_DEVICE_HOOKS(2)
CPU_DEVICE_HOOKS(4)
CPU_DEVICE_HOOKS(8)
CPU_DEVICE_HOOKS(16)
CPU_DEVICE_ATOMICS(8)
CPU_DEVICE_ATOMICS(16)
CPU_DEVICE_ATOMICS(32)
CPU_DEVICE_ATOMICS(64)

void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void* pointer, size_t bytes) {
    check_range(pointer, bytes, Direction::load, as_address(__builtin_return_address(0)));
}
void __tsan_write_range(void* pointer, size_t bytes) {
    check_range(pointer, bytes, Direction::store, as_address(__builtin_return_address(0)));
}
void __sanitizer_cov_trace_pc() {
    if (__builtin_expect(current.observed, 0))
        note_waypoint(as_address(__builtin_return_address(0)));
}
void __tsan_func_entry(void* caller) {
    enter_function(as_address(caller), as_address(__builtin_frame_address(0)));
}
void __tsan_func_exit() {
    leave_function();
}
void __tsan_init() {}
// A constructor or destructor sets the pointer to the table of virtual functions: a store like any.
void __tsan_vptr_update(void** pointer, void*) {
    check<sizeof(void*), Direction::store>(pointer, as_address(__builtin_return_address(0)));
    note_constructed(as_address(pointer), current.lane == nullptr);
}
void __tsan_vptr_read(void**) {}

// In place of the C library's: a kernel's assert() ends the kernel, not the process.
void __assert_fail(const char* expression, const char* file, unsigned line,
                   const char* function) noexcept {
    device_assert_failed(expression, file, line, function);
}

void __ubsan_handle_out_of_bounds(IndexOutOfBounds* data, uintptr_t index) {
    report_index(*data, index);
}
}
