// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <cinttypes>
#include <cstdio>
#include <iterator>

namespace library {
namespace {

thread_local char message[512] = "no call has failed";

const char* name_of_type(int type) {
    static constexpr const char* kNames[] = {"float32", "float16", "bfloat16",
                                             "float64", "int32",   "int64"};
    const bool is_known = type >= 0 && type < static_cast<int>(std::size(kNames));
    return is_known ? kNames[type] : "no type of softmax_stages.h";
}

}  // namespace

void Findings::need(bool good, const char* format, ...) {
    if (good || !found_nothing()) return;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text_, sizeof text_, format, arguments);
    va_end(arguments);
}

void Findings::size(const char* name, int64_t value, int64_t most) {
    need(value >= 0, "%s is %" PRId64 "; it must be at least 0", name, value);
    need(value <= most, "%s is %" PRId64 "; it must be at most %" PRId64, name, value, most);
}

void Findings::element_type(int type, bool takes_doubles) {
    const bool is_good = type == SOFTMAX_STAGES_FLOAT32 || type == SOFTMAX_STAGES_FLOAT16 ||
                         type == SOFTMAX_STAGES_BFLOAT16 ||
                         (takes_doubles && type == SOFTMAX_STAGES_FLOAT64);
    need(is_good, "type is %d (%s); the elements must be float32, float16%s", type,
         name_of_type(type), takes_doubles ? ", bfloat16 or float64" : " or bfloat16");
}

void Findings::index_type(const char* name, int type) {
    need(type == SOFTMAX_STAGES_INT32 || type == SOFTMAX_STAGES_INT64,
         "the type of %s is %d (%s); it must be int32 or int64", name, type, name_of_type(type));
}

void Findings::address(const char* name, const void* address, size_t alignment, bool is_optional) {
    need(address != nullptr || is_optional, "%s is NULL", name);
    need(reinterpret_cast<uintptr_t>(address) % alignment == 0,
         "%s is misaligned: its address must be a multiple of %zu", name, alignment);
}

size_t bytes_of_type(int type) {
    switch (type) {
        case SOFTMAX_STAGES_FLOAT32:
        case SOFTMAX_STAGES_INT32:
            return 4;
        case SOFTMAX_STAGES_FLOAT16:
        case SOFTMAX_STAGES_BFLOAT16:
            return 2;
        case SOFTMAX_STAGES_FLOAT64:
        case SOFTMAX_STAGES_INT64:
            return 8;
        default:
            return 1;
    }
}

int failed(const char* call, cudaError_t error, const Findings& findings) noexcept {
    const char* const words = words_of_device();
    if (!findings.found_nothing()) {
        std::snprintf(message, sizeof message, "%s: %s", call, findings.text());
    } else {
        std::snprintf(message, sizeof message, "%s: %s (%s)%s%s", call, cudaGetErrorString(error),
                      cudaGetErrorName(error), words[0] == '\0' ? "" : ": ", words);
    }
    return static_cast<int>(error);
}

}  // namespace library

extern "C" {

const char* softmax_stages_message() {
    return library::message;
}

const char* softmax_stages_version() {
#define SOFTMAX_STAGES_TEXT_(number) #number
#define SOFTMAX_STAGES_TEXT(number) SOFTMAX_STAGES_TEXT_(number)
    return SOFTMAX_STAGES_TEXT(SOFTMAX_STAGES_VERSION_MAJOR) "." SOFTMAX_STAGES_TEXT(
        SOFTMAX_STAGES_VERSION_MINOR);
}

}  // extern "C"
