// SPDX-License-Identifier: MIT
#include "strict.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <map>
#include <mutex>
#include <ostream>
#include <vector>

#include "access.hpp"
#include "api.hpp"
#include "cpu_device/architecture.h"
#include "cpu_device/core.h"
#include "cpu_device/runtime_api.h"
#include "device_variables.hpp"
#include "failure.hpp"
#include "host_faults.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "program_image.hpp"
#include "symbolize.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

bool strict = false;
thread_local LauncherWatch* watch = nullptr;

// From now on the calling thread's accesses as the host are looked at, or no longer.
void look_at_host(bool looks) {
    if (looks) {
        current.loaded.clear();
        current.stored.clear();
    } else {
        current.loaded = current.stored = kEverywhere;
    }
}

std::vector<uintptr_t> calling_frames() {
    Failure here;
    here.capture_frames();
    return {here.frames, here.frames + here.frame_count};
}

// Of the access itself, or, where that is the library's (std::sort), of the call.
std::string line_in_words(uintptr_t place) {
    std::vector<uintptr_t> frames = calling_frames();
    frames.insert(frames.begin(), place);
    return user_line(frames);
}

// Of memory that the host may touch, managed or pinned.
void tell_of_host_access(uintptr_t address, size_t bytes, bool is_load) {
    Observer* const watcher = observer();
    if (watcher == nullptr) return;
    if (is_load) {
        watcher->read_by_host(address, bytes, true);
    } else {
        watcher->written_by_host(address, bytes);
    }
}

// Whether an algorithm of Thrust's or CUB's makes the access: on a GPU a kernel would.
bool is_of_algorithm(uintptr_t place) {
    static std::mutex mutex;
    static auto* const known = new std::map<uintptr_t, bool>;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known->find(place);
    if (found != known->end()) return found->second;
    std::vector<uintptr_t> frames = calling_frames();
    frames.insert(frames.begin(), place);
    bool is = false;
    for (const std::vector<SourceLine>& chain : source_lines(frames)) {
        for (const SourceLine& source : chain) {
            is = is || source.file.find("/thrust/") != std::string::npos ||
                 source.file.find("/cub/device/") != std::string::npos;
        }
    }
    return (*known)[place] = is;
}

const char* verb(bool is_load) {
    return is_load ? "reads" : "writes";
}

}  // namespace

void be_strict() {
    strict = true;
    virtual_tables();  // read here, and not on the small stack of a kernel's thread
    explain_host_faults();
    look_at_host(true);
}

LauncherWatch::LauncherWatch() {
    watch = this;
    look_at_host(true);
}

LauncherWatch::~LauncherWatch() {
    watch = nullptr;
    look_at_host(strict);
}

void LauncherWatch::keep(const std::string& what) {
    if (found_.empty()) found_ = what;
    look_at_host(strict);  // one is enough, and looking takes time
}

void judge_stream(cudaStream_t stream) {
    const bool is_default =
        stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    if (watch == nullptr || !is_default || !watch->found().empty()) return;
    watch->keep(
        "work goes into the default stream, not into the one that the launcher was given, and on a "
        "GPU nothing orders the two, at " +
        calling_line());
}

void judge_reset() {
    if (watch == nullptr) return;
    watch->keep("cudaDeviceReset() frees all memory of the device, its caller's as well, at " +
                calling_line());
}

// As a GPU's program would end by a segmentation fault, but with words.
void end_program(const std::string& what, int status) {
    print_errors(true);
    tell(what);
    strict = false;  // what runs at the end of the program may do the same again
    watch = nullptr;
    look_at_host(false);
    std::exit(status);
}

bool is_strict() {
    return strict;
}

std::string calling_line() {
    return user_line(calling_frames());
}

void judge_host_access(uintptr_t address, unsigned bytes, bool is_load, uintptr_t place) {
    if ((!strict && watch == nullptr) || current.worker != nullptr) return;
    const auto object = [](const std::string& what) {
        if (watch == nullptr) end_program(what);
        watch->keep(what);
    };
    if (device_memory_range().holds(address)) {
        const auto table = allocation_table();
        const Allocation* allocation = nearest_allocation(*table, address);
        const bool inside = allocation != nullptr && address < allocation->high();
        if (inside && !allocation->freed &&
            (allocation->kind != MemoryKind::device || is_of_algorithm(place))) {
            return tell_of_host_access(address, bytes, is_load);
        }
        char what[160];
        std::snprintf(what, sizeof what, "the host %s memory of the device (%s), at ",
                      verb(is_load),
                      !inside             ? "where nothing was allocated"
                      : allocation->freed ? "which is freed"
                                          : "of cudaMalloc");
        return object(what + line_in_words(place) + ": copy it with cudaMemcpy");
    }
    const DeviceVariable* variable = device_variable_before(address);
    if (variable == nullptr || variable->managed || !variable->holds(address, bytes)) return;
    object(std::string("the host ") + verb(is_load) + " the variable `" + variable->name +
           "`, which is on the device, at " + line_in_words(place) + ": " +
           (is_load ? "cudaMemcpyFromSymbol" : "cudaMemcpyToSymbol") + " does that");
}

cudaError_t explained(cudaError_t code, const char* format, ...) {
    if (!strict) return code;
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    tell(std::string(what) + ", at " + calling_line());
    return code;
}

void tell_of_virtual_argument(const char* kernel_name) {
    explained(cudaErrorInvalidValue,
              "kernel %s gets an object of a class with virtual functions by value: its pointer to "
              "the table of functions is an address of the host's, and CUDA does not allow it",
              kernel_name == nullptr ? "" : kernel_name);
}

std::string hidden_variable_in(const void* arguments, size_t bytes) {
    if (!strict) return {};
    const auto* const words = static_cast<const char*>(arguments);
    for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
        uintptr_t word = 0;
        std::memcpy(&word, words + i, sizeof word);
        if (const DeviceVariable* variable = hidden_variable_at(word)) return variable->name;
    }
    return {};
}

bool in_kernel() {
    return current.lane != nullptr;
}

// What a kernel's translation begins with.
void begin_kernel(const char* name, unsigned long long most_threads,
                  unsigned long long least_blocks) {
    if (current.lane == nullptr) {
        // Behind the frame of the kernel comes that of its caller.
        std::vector<uintptr_t> frames = calling_frames();
        const auto kernel = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto found = std::find(frames.begin(), frames.end(), kernel);
        if (found != frames.end()) frames.erase(frames.begin(), found + 1);
        end_program(std::string("kernel ") + name + " is called like a function, at " +
                    user_line(frames) + ": a kernel is launched, as " + name +
                    "<<<blocks, threads>>>(...)");
    }
    Lane& lane = *current.lane;
    if (lane.in_kernel) {
        fail(cudaErrorLaunchFailure,
             "the kernel %s is called by a kernel, like a function: make it a __device__ function",
             name);
    }
    lane.in_kernel = true;
    current.worker->wgmmas.know_launch_bounds(most_threads, least_blocks);
    const unsigned threads = current.worker->launch->threads;
    if (threads <= most_threads) return;
    fail(cudaErrorLaunchOutOfResources,
         "launched with %u threads a block, and its __launch_bounds__ promises at most %llu",
         threads, most_threads);
}

}  // namespace cpu_device

namespace {

bool is_one_allocation(uintptr_t low, uintptr_t last) {
    using namespace cpu_device;
    const auto table = allocation_table();
    const Allocation* const allocation = nearest_allocation(*table, low);
    return allocation != nullptr && last < allocation->high();
}

// The C library's functions carry no hooks. Of a kernel's struct copies the hooks know already.
void judge_library(const void* at, size_t bytes, bool is_load, const void* place) {
    using namespace cpu_device;
    if (current.lane != nullptr || bytes == 0) return;
    const auto caller = reinterpret_cast<uintptr_t>(place);
    const uintptr_t low = as_address(at), last = low + bytes - 1;
    if (device_memory_range().holds(low) && is_one_allocation(low, last)) {
        return judge_host_access(low, static_cast<unsigned>(bytes), is_load, caller);
    }
    judge_host_access(low, 1, is_load, caller);
    judge_host_access(last, 1, is_load, caller);
}

// A string, whose length nobody knows yet.
void judge_string(const char* text, const void* place) {
    if (text != nullptr) judge_library(text, 1, true, place);
}

// The strings among what a format prints.
void judge_strings(const char* format, va_list arguments, const void* place) {
    judge_string(format, place);
    va_list left;
    va_copy(left, arguments);
    for (const char* at = format; (at = std::strchr(at, '%')) != nullptr;) {
        int longs = 0;
        char size = 0;
        for (at++; *at != 0 && std::strchr("-+ #0123456789.*'hlLqjzt", *at) != nullptr; at++) {
            if (*at == '*') va_arg(left, int);
            if (*at == 'l') longs++;
            if (std::strchr("Ljzt", *at) != nullptr) size = *at;
        }
        const char conversion = *at;
        if (conversion == 0 || conversion == '$')
            break;  // arguments in another order: not followed
        at++;
        if (conversion == '%' || conversion == 'm') continue;
        if (conversion == 's' && longs == 0) {
            judge_string(va_arg(left, const char*), place);
            // NOLINTBEGIN(bugprone-branch-clone): what is taken differs, by its type
        } else if (std::strchr("aAeEfFgG", conversion) != nullptr) {
            if (size == 'L') {
                va_arg(left, long double);
            } else {
                va_arg(left, double);
            }
        } else if (std::strchr("spn", conversion) != nullptr) {
            va_arg(left, void*);
        } else if (longs != 0 || size != 0) {
            va_arg(left, long long);
        } else {
            va_arg(left, int);
        }
        // NOLINTEND(bugprone-branch-clone)
    }
    va_end(left);
}

}  // namespace

// What the object of a learner's program calls in place of memcpy and the like: `./stages` renames them there.
extern "C" void* cpu_device_memcpy(void* to, const void* from, size_t bytes) {
    judge_library(from, bytes, true, __builtin_return_address(0));
    judge_library(to, bytes, false, __builtin_return_address(0));
    return std::memcpy(to, from, bytes);
}
extern "C" void* cpu_device_memmove(void* to, const void* from, size_t bytes) {
    judge_library(from, bytes, true, __builtin_return_address(0));
    judge_library(to, bytes, false, __builtin_return_address(0));
    return std::memmove(to, from, bytes);
}
extern "C" void* cpu_device_memset(void* to, int value, size_t bytes) {
    judge_library(to, bytes, false, __builtin_return_address(0));
    return std::memset(to, value, bytes);
}
extern "C" int cpu_device_memcmp(const void* one, const void* other, size_t bytes) {
    judge_library(one, bytes, true, __builtin_return_address(0));
    judge_library(other, bytes, true, __builtin_return_address(0));
    return std::memcmp(one, other, bytes);
}
extern "C" size_t cpu_device_fread(void* to, size_t size, size_t count, FILE* from) {
    judge_library(to, size * count, false, __builtin_return_address(0));
    return std::fread(to, size, count, from);
}
extern "C" size_t cpu_device_fwrite(const void* from, size_t size, size_t count, FILE* to) {
    judge_library(from, size * count, true, __builtin_return_address(0));
    return std::fwrite(from, size, count, to);
}

extern "C" size_t cpu_device_strlen(const char* text) {
    judge_string(text, __builtin_return_address(0));
    return std::strlen(text);
}
extern "C" int cpu_device_strcmp(const char* one, const char* other) {
    judge_string(one, __builtin_return_address(0));
    judge_string(other, __builtin_return_address(0));
    return std::strcmp(one, other);
}
extern "C" char* cpu_device_strcpy(char* to, const char* from) {
    judge_string(from, __builtin_return_address(0));
    judge_library(to, 1, false, __builtin_return_address(0));
    return std::strcpy(to, from);
}
extern "C" char* cpu_device_strncpy(char* to, const char* from, size_t most) {
    judge_string(from, __builtin_return_address(0));
    judge_library(to, most, false, __builtin_return_address(0));
    return std::strncpy(to, from, most);
}
extern "C" int cpu_device_puts(const char* text) {
    judge_string(text, __builtin_return_address(0));
    return std::puts(text);
}
extern "C" int cpu_device_fputs(const char* text, FILE* to) {
    judge_string(text, __builtin_return_address(0));
    return std::fputs(text, to);
}
// What prints by a format: ends_in is the function of the C library that takes the rest as a list.
#define CPU_DEVICE_PRINTS(ends_in, ...)                              \
    va_list arguments;                                               \
    va_start(arguments, format);                                     \
    judge_strings(format, arguments, __builtin_return_address(0));   \
    const int printed = std::ends_in(__VA_ARGS__ format, arguments); \
    va_end(arguments);                                               \
    return printed;
#define CPU_DEVICE_THEN(...) __VA_ARGS__,
extern "C" int cpu_device_printf(const char* format, ...) {
    CPU_DEVICE_PRINTS(vprintf, )
}
extern "C" int cpu_device_fprintf(FILE* to, const char* format, ...) {
    CPU_DEVICE_PRINTS(vfprintf, CPU_DEVICE_THEN(to))
}
extern "C" int cpu_device_sprintf(char* to, const char* format, ...) {
    judge_library(to, 1, false, __builtin_return_address(0));
    CPU_DEVICE_PRINTS(vsprintf, CPU_DEVICE_THEN(to))
}
extern "C" int cpu_device_snprintf(char* to, size_t most, const char* format, ...) {
    judge_library(to, most, false, __builtin_return_address(0));
    CPU_DEVICE_PRINTS(vsnprintf, CPU_DEVICE_THEN(to, most))
}
// std::ostream& operator<<(std::ostream&, const char*), write and read of streams: a member's `this` comes first.
extern "C" std::ostream* cpu_device_print_string(std::ostream* to, const char* text) {
    judge_string(text, __builtin_return_address(0));
    return &(*to << text);
}
extern "C" std::ostream* cpu_device_stream_write(std::ostream* to, const char* from,
                                                 std::streamsize bytes) {
    judge_library(from, static_cast<size_t>(bytes), true, __builtin_return_address(0));
    return &to->write(from, bytes);
}
extern "C" std::istream* cpu_device_stream_read(std::istream* from, char* to,
                                                std::streamsize bytes) {
    judge_library(to, static_cast<size_t>(bytes), false, __builtin_return_address(0));
    return &from->read(to, bytes);
}
