// SPDX-License-Identifier: MIT
// Barriers, fences, waiting, and the ways in which a kernel gives up.
#pragma once
#include "cpu_device/core.h"
#include "cpu_device/qualifiers.h"

__device__ inline void __syncthreads() {
    cpu_device::block_barrier();
}

__device__ inline int __syncthreads_count(int predicate) {
    return cpu_device::block_barrier_vote(cpu_device::BarrierVote::count, predicate);
}

__device__ inline int __syncthreads_and(int predicate) {
    return cpu_device::block_barrier_vote(cpu_device::BarrierVote::all, predicate);
}

__device__ inline int __syncthreads_or(int predicate) {
    return cpu_device::block_barrier_vote(cpu_device::BarrierVote::any, predicate);
}

__device__ inline void __syncwarp(unsigned mask = 0xffffffffu) {
    cpu_device::warp_exchange(mask, 0, cpu_device::Collective::syncwarp);
}

// The barrier of a cluster in two halves. The relaxed arrival orders no memory on a GPU: for "I have
// read", where nothing is handed over. Here it is as strong as the other.
__device__ inline void __cluster_barrier_arrive() {
    cpu_device::cluster_arrive();
}
__device__ inline void __cluster_barrier_arrive_relaxed() {
    cpu_device::cluster_arrive();
}
__device__ inline void __cluster_barrier_wait() {
    cpu_device::cluster_wait();
}

// Of a kernel that may begin while the one before it ends. Here it begins behind it.
__device__ inline void cudaGridDependencySynchronize() {}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {}

__device__ inline void __threadfence() {
    cpu_device::fence(cpu_device::kFences);
}
__device__ inline void __threadfence_block() {
    cpu_device::fence(cpu_device::kFences | cpu_device::kOfBlock);
}
__device__ inline void __threadfence_system() {
    __threadfence();
}
__device__ inline void __threadfence_cluster() {
    __threadfence();
}

// The time to wait is a hint on hardware too; what matters is that others run meanwhile.
__device__ inline void __nanosleep(unsigned) {
    cpu_device::relax();
}

// clock() itself is the C library's. Ticks are nanoseconds here, and say nothing about a GPU.
__device__ inline long long clock64() {
    return cpu_device::nanoseconds();
}

__device__ inline void __trap() {
    cpu_device::trap();
}

// Without a debugger a breakpoint ends the kernel on hardware, too.
__device__ inline void __brkpt() {
    cpu_device::trap();
}
