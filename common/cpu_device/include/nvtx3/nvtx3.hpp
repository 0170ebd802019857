// SPDX-License-Identifier: MIT
// nvtx3's C++ interface: objects that name ranges, and do nothing.
#pragma once
#include <cstdint>

#include "nvtx3/nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {

struct rgb {
    template <class... Parts>
    constexpr explicit rgb(Parts...) {}
};
struct argb {
    template <class... Parts>
    constexpr explicit argb(Parts...) {}
};
struct color {
    template <class... Parts>
    constexpr explicit color(Parts...) {}
};
struct category {
    constexpr explicit category(uint32_t) {}
};
struct payload {
    template <class T>
    constexpr explicit payload(T) {}
};
struct message {
    template <class T>
    constexpr message(const T&) {}
};
struct event_attributes {
    template <class... Parts>
    constexpr explicit event_attributes(const Parts&...) {}
};
struct domain {
    struct global {};
};

template <class Domain = domain::global>
struct scoped_range_in {
    template <class... Parts>
    explicit scoped_range_in(const Parts&...) {}
    ~scoped_range_in() {}
    scoped_range_in(const scoped_range_in&) = delete;
    scoped_range_in& operator=(const scoped_range_in&) = delete;
};
using scoped_range = scoped_range_in<>;
template <class Domain = domain::global>
struct unique_range_in {
    template <class... Parts>
    explicit unique_range_in(const Parts&...) {}
    ~unique_range_in() {}
};
using unique_range = unique_range_in<>;

template <class... Parts>
void mark(const Parts&...) {}
template <class Domain, class... Parts>
void mark_in(const Parts&...) {}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() (void)0
#define NVTX3_FUNC_RANGE_IN(domain) (void)0
#define NVTX3_FUNC_RANGE_IF(condition) (void)0
