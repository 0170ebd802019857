// SPDX-License-Identifier: MIT
// Copies to shared memory that arrive when they are waited for.
#pragma once
#include "cpu_device/async_copies.h"
#include "cpu_device/ptx/memory.h"

namespace cpu_device::ptx {

// What a copy has read; behind it zeros.
struct Bytes16 {
    alignas(16) unsigned char at[16] = {};
};

template <size_t bytes>
__device__ inline void load_for_copy(Bytes16& to, const void* from) {
    const auto whole = *static_cast<const Whole<bytes>*>(from);
    __builtin_memcpy(to.at, &whole, bytes);
}

// cp.async.ca.shared.global [to], [from], bytes{, read}{, policy};  read < bytes fills up with zeros. In place of read
// may stand a predicate, which drops what would be read.
template <class M, class... More>
__device__ inline void op_cp_async(Address to, Address from, Integer bytes, const More&... more) {
    static_assert(M::template are_among<dot_ca, dot_cg, dot_shared, dot_shared_cta, dot_global,
                                        dot_L2_cache_hint, dot_L2_64B, dot_L2_128B, dot_L2_256B> &&
                      is_in_shared<M> && M::template has<dot_global> &&
                      M::template has_one_of<dot_ca, dot_cg>,
                  "cp.async is .ca or .cg, .shared or .shared::cta, then .global");
    const auto size = static_cast<size_t>(bytes.value);
    size_t read_bytes = size;
    constexpr bool kHasPolicy = M::template has<dot_L2_cache_hint>;
    if constexpr (sizeof...(More) > (kHasPolicy ? 1 : 0)) {
        const auto operands = list(more...);
        const auto& first = part<0>(operands);
        if constexpr (std::is_same_v<std::decay_t<decltype(first)>, bool>) {
            read_bytes = first ? 0 : size;
        } else {
            read_bytes = read<uint32_t>(first);
        }
    }
    if (size != 16 && (M::template has<dot_cg> || (size != 4 && size != 8))) {
        cpu_device::fail(cudaErrorInvalidValue,
                         "cp.async%s copies %zu bytes: .ca takes 4, 8 or 16, .cg takes 16",
                         M::template has<dot_cg> ? ".cg" : ".ca", size);
    }
    if (read_bytes > size) {
        cpu_device::fail(cudaErrorInvalidValue, "cp.async reads %zu bytes and copies only %zu",
                         read_bytes, size);
    }
    void* const target = shared_pointer(to.value);
    const void* const source = reinterpret_cast<const void*>(from.value);
    Bytes16 loaded;
    switch (read_bytes) {
        case 0:
            break;
        case 4:
            load_for_copy<4>(loaded, source);
            break;
        case 8:
            load_for_copy<8>(loaded, source);
            break;
        case 16:
            load_for_copy<16>(loaded, source);
            break;
        default:
            for (size_t i = 0; i < read_bytes; ++i)
                loaded.at[i] = static_cast<const unsigned char*>(source)[i];
    }
    begin_copy(target, source, loaded.at, size, read_bytes,
               M::template has<dot_ca> ? CopyCount::copy_through_cache : CopyCount::copy);
}

template <class M>
__device__ inline void op_cp_async_commit_group() {
    commit_copies();
}
template <class M>
__device__ inline void op_cp_async_wait_group(Integer groups) {
    wait_for_groups(static_cast<size_t>(groups.value));
}
template <class M>
__device__ inline void op_cp_async_wait_all() {
    wait_for_all_copies();
}

}  // namespace cpu_device::ptx
