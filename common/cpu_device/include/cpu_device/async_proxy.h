// SPDX-License-Identifier: MIT
// What device code asks of the CPU device where it uses the asynchronous proxy.
#pragma once

namespace cpu_device {

// Has all launches of the program judged as such that use the asynchronous proxy. Returns true.
bool use_async_proxy();

// An instruction that uses it refers to ::noted, and so calls that function before main() wherever it is compiled.
template <class = void>
struct AsyncProxyUse {
    static inline const bool noted = use_async_proxy();
};

// fence.proxy.async: what the thread knows to have been written is visible to the asynchronous proxy.
void fence_proxy();

}  // namespace cpu_device
