// SPDX-License-Identifier: MIT
// The seam between the runner and whatever can count a kernel's memory accesses. The CPU device
// links the x-ray's counter; a GPU build links one that counts nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace runner {

// What the kernels between start and stop touched, summed over warps. Bulk copies count among loads and stores.
struct Counts {
    int64_t global_load_requests = 0;  // one load instruction of one warp, or one bulk copy, each
    int64_t global_load_sectors = 0;   // the 32-byte pieces of memory it touched
    int64_t global_load_bytes = 0;     // that its lanes asked for
    int64_t global_store_requests = 0;
    int64_t global_store_sectors = 0;
    int64_t global_store_bytes = 0;
    int64_t shared_bank_conflicts = 0;  // wavefronts beyond the fewest possible, as written
    int64_t fused_bank_conflicts = 0;   // the same if the compiler fuses neighbouring accesses

    // What is wrong though the result may be right: races in a block's shared memory (and in global memory, where
    // that is watched), reads of what nobody in it wrote. A sentence for each pair of lines.
    struct Hazard {
        std::string text;       // with the threads that did it
        std::string cause;      // the same without them: another launch may find others
        bool harmless = false;  // all write the same value
    };
    std::vector<Hazard> hazards;
    bool global_watched = false;  // for races in global memory as well, between blocks too
    bool in_clusters = false;     // a kernel's blocks could touch each other's: not looked at
};

class Probe {
public:
    virtual ~Probe() = default;
    virtual void start() = 0;
    virtual std::optional<Counts> stop() = 0;  // nothing, where nothing is counted

    // From now on races in global memory are looked for as well.
    virtual void watch_global_memory() = 0;

    // Said after a start: nobody has written these bytes of device memory, whatever lies there. Where races in global
    // memory are looked for, a kernel that reads them is a hazard.
    virtual void forget_written(const void* low, size_t bytes) = 0;

    // From now on, of a grid with at least so many blocks only the last block runs, smaller grids do not run at all, and
    // an allocation may exceed the memory that there is. 0 ends this. For launches on more elements than memory holds.
    virtual void run_only_ends_of_grids(uint64_t fewest_blocks) = 0;

    // The operands of the launches that follow, so that a bad address is said as an element of one of them. Replaces
    // those named before.
    struct Array {
        const void* low = nullptr;
        size_t element_bytes = 0;
        std::string name;
        std::vector<int64_t> dims;
    };
    virtual void name_arrays(const std::vector<Array>& arrays) = 0;

    // Said before a start: who writes these bytes of device memory last until the stop is told after that, once and
    // in words, by last_writer(). Empty where nobody can know.
    virtual void follow(const void* low, size_t bytes) = 0;
    virtual std::string last_writer() = 0;

    // A learner's launcher is called between these two, which is given this stream where it would get the default one:
    // nothing in place of that where nobody watches. What it did itself and a GPU would not forgive is then told as an
    // error of the device, see take_error().
    virtual cudaStream_t begin_launcher(cudaStream_t given) = 0;
    virtual bool end_launcher() = 0;  // whether that was nothing

    // To be asked from another thread while a launcher is called: what its kernels do, and the line of the source at
    // which the launcher is, empty where nobody can know.
    struct Kernels {
        uint64_t begun = 0;  // so far, in all
        bool running = false;
    };
    virtual Kernels kernels() = 0;
    virtual std::string launcher_line() = 0;

    // Whether what the device has to say of a launch that failed is kept for take_error() instead of
    // printed. Empty where it has said no more than the code of its error, or that was taken before.
    virtual void keep_errors(bool kept) = 0;
    virtual std::string take_error() = 0;
};

Probe& probe();

}  // namespace runner
