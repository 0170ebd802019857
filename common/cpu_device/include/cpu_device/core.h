// SPDX-License-Identifier: MIT
//
// What device code may ask of the CPU device: who am I, meet the other lanes, report a mistake.
// The stand-in headers (warp functions, atomics, cooperative groups, cub) are built on this alone.
#pragma once

#include "cpu_device/integers.h"
#include <cstddef>
#include <type_traits>
#include <typeinfo>

#include "cpu_device/types.h"

// Real variables, so that a debugger shows them. Const, because a thread never sees its own change:
// the compiler may keep them in registers and the memory hooks do not see them. All are uint3, to
// which dim3 converts: GCC takes a constant whose type has constructors for a variable.
extern __thread const uint3 threadIdx;
extern __thread const uint3 blockIdx;
extern __thread const uint3 blockDim;
extern __thread const uint3 gridDim;

namespace cpu_device {

// ---------------------------------------------------------------- the warp

enum class Collective : uint8_t {
    syncwarp,
    shuffle,
    vote,
    match,
    reduce,
    matrix_load,
    matrix_store,
    matrix_multiply,
    ldmatrix,
    stmatrix,
    movmatrix,
    mma,
    wgmma,
    setmaxnreg
};

// Waits until every lane in mask has called with the same mask and kind, and returns the 32 lanes'
// values (0 for lanes outside the mask or exited). Valid until this lane's next collective but one.
const uint64_t* warp_exchange(unsigned mask, uint64_t value, Collective kind);

// One bit for each lane of mask whose value is `wanted`, of the 32 that warp_exchange() returned.
unsigned lanes_equal(const uint64_t* values, unsigned mask, uint64_t wanted);

enum class Shuffle : uint8_t { index, exclusive_or, down, up };

// The value of the lane that mode, operand and width (a power of two, at most 32) select.
uint64_t warp_shuffle(unsigned mask, uint64_t value, Shuffle mode, int operand, int width);

// Lanes of the warp that wait at this same place once no other lane of the warp can move.
unsigned active_mask();

// Position in the warp, 0 to 31.
unsigned lane_id();

// Of the device that runs the kernel.
unsigned multiprocessor_count();

// ---------------------------------------------------------------- matrices of a warp

// Before a warp loads or stores a fragment: waits for all 32 lanes, and fails unless all are there and give
// the same address and distance of lines (ld, in elements of so many bytes), both aligned as wmma asks.
void meet_at_matrix(Collective kind, const void* address, unsigned ld, size_t element_bytes);

// What one lane brings to a product of matrices, in the order of cpu_device/matrix_places.h, and takes
// away.
struct MatrixProduct {
    int m, n, k;
    const float *a, *b;
    double* sum;  // to which the product is added
};

// Waits for all 32 lanes, whose elements make the matrices, and again until all have their sums.
void multiply_matrices(const MatrixProduct& mine);

// ---------------------------------------------------------------- the block

void block_barrier();

// The same, where a line has several: which of them.
void block_barrier_of_line(unsigned number);

enum class BarrierVote : uint8_t { count, all, any };

// A barrier that tells every thread how many (count), whether all or whether any gave non-zero.
int block_barrier_vote(BarrierVote vote, int predicate);

// A barrier of `threads` of the block's threads, a multiple of 32 (0: of all), by its number, 0 to 15: waits until as many
// have come. And one that does not wait.
int named_barrier(unsigned number, unsigned threads, BarrierVote vote = BarrierVote::count,
                  int predicate = 0);
void arrive_at_named_barrier(unsigned number, unsigned threads);

// ---------------------------------------------------------------- the cluster

void cluster_barrier();
void cluster_arrive();
void cluster_wait();
unsigned cluster_block_rank();
unsigned cluster_block_count();
dim3 cluster_dimensions();
dim3 cluster_block_index();  // this block's place in its cluster

// The address at which block `rank` of the cluster keeps what this block keeps at `shared`.
void* map_shared_rank(void* shared, unsigned rank);

// Whether that lies in shared memory of a block of the cluster.
bool is_shared_in_cluster(const void* address);

// The rank of the block in whose shared memory that lies.
unsigned rank_of_shared(const void* shared);

// ---------------------------------------------------------------- the grid

bool is_cooperative();  // whether all blocks of the launch run at the same time
void grid_barrier();
void grid_arrive();
void grid_wait();

// ---------------------------------------------------------------- memory

// How an access, or a fence, can order threads: bits.
enum Ordering : unsigned {
    kObserves = 1,  // reads what other threads may have written
    kTells = 2,     // writes what other threads may read
    kAcquires = 4,  // what comes after it is after what it observes
    kReleases = 8,  // what comes before it is before what observes it
    kFences = 16,   // no access: makes those after it release, and those before it acquire
    kArrives = 32,  // no access: a cluster's or grid's barrier, in two halves
    kWaits = 64,
    kOfBlock = 128,  // for threads of the same block only
};
// What atomicAdd() and the like are: they release what a fence stands behind. Of code that observes by them, the
// fence that would have to follow is not asked for.
constexpr unsigned kUnfencedAtomic = kObserves | kTells | kAcquires;

// To be called by every atomic before it happens: checks the address as for any access, and gives
// other lanes a turn now and then, so that a lock held by one of them is released some day.
void note_atomic(const void* address, int bytes, unsigned ordering = kUnfencedAtomic);

// The same of one that only stores, which is counted as a store.
void note_atomic_store(const void* address, int bytes, unsigned ordering);

// The strongest fence there is. `ordering`: of kFences and kOfBlock, what is known of it to an observer.
void fence(unsigned ordering);

// An access that is no load or store of the kernel's own, of 1 to 16 bytes: checked and told to the
// observer like any. What it moves is moved otherwise, with the next.
void note_load(const void* address, int bytes);
void note_store(const void* address, int bytes);

// Unseen by the memory hooks.
void copy_element(void* to, const void* from, size_t bytes);

// Addresses in shared memory as PTX has them: 32 bits, in a window of the block's own. (Also for addresses a little
// beyond it; what lies elsewhere has none.)
uint32_t shared_address(const void* pointer);
void* shared_pointer(uint64_t address);

bool is_shared(const void* address);
bool is_global(const void* address);

// Lets other lanes and blocks run (__nanosleep and other ways of waiting politely).
void relax();

// Since some moment of the past.
long long nanoseconds();

// ---------------------------------------------------------------- what the translation tells

// What a kernel begins with: refuses to be called as a function is, and more threads in a block than its
// __launch_bounds__ names. least_blocks: its second argument.
void begin_kernel(const char* name, unsigned long long most_threads,
                  unsigned long long least_blocks);
template <class Threads, class Blocks = int>
__attribute__((always_inline)) inline void begin_kernel_within(const char* name,
                                                               Threads most_threads,
                                                               Blocks least_blocks = 1) {
    begin_kernel(name, static_cast<unsigned long long>(most_threads),
                 static_cast<unsigned long long>(least_blocks));
}

// The same as the translation writes it. A debugger stops at a kernel's first line of its own;
// and where nothing is looked for, neither is this.
#if defined(CPU_DEVICE_DEBUGGED) || defined(CPU_DEVICE_FAST)
#define CPU_DEVICE_BEGIN_KERNEL(name, ...)
#else
#define CPU_DEVICE_BEGIN_KERNEL(name, ...) ::cpu_device::begin_kernel_within(name, __VA_ARGS__);
#endif

// Stands behind each __device__, __constant__ and __managed__ variable, which are aligned so that one
// seldom lies right behind another.
constexpr size_t kVariableAlignment = 256;
struct KnownVariable {
    KnownVariable(const volatile void* address, size_t bytes, const char* name,
                  bool managed = false);
};

// Stands behind a kernel with __cluster_dims__: launches of kernels that are called so have such clusters.
struct KnownClusters {
    KnownClusters(const char* kernel, unsigned x, unsigned y = 1, unsigned z = 1);
    const char* kernel;
};

// The same for one instance of a template: Within is a type in its body, whose name has the instance's in it.
template <class Within, unsigned x, unsigned y = 1, unsigned z = 1>
inline const KnownClusters clusters_of_instance{typeid(Within).name(), x, y, z};

// What the body of such a kernel begins with: fails where the launch has other clusters after all.
void require_clusters(unsigned x, unsigned y = 1, unsigned z = 1);

// `bytes` of a class are 0 where it has padding, which nobody writes and a copy of the whole reads.
bool note_padding(const unsigned char* bytes, size_t size, size_t alignment);

template <class T>
bool learn_padding() {
    alignas(T) unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) byte = 1;
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(reinterpret_cast<T*>(bytes));
#endif
#endif
    return note_padding(bytes, sizeof bytes, alignof(T));
}

// Known before main() begins where it is named. T may be anything, an incomplete type as well.
template <class T, class = void>
inline constexpr bool padding_is_known = true;
template <class T>
inline const bool padding_is_known<
    T, std::enable_if_t<(std::is_class_v<T> || std::is_union_v<T>)&&(sizeof(T) > 1)>> = [] {
    if constexpr (std::is_trivially_copyable_v<T>) return learn_padding<T>();
    return true;
}();

// As the translation writes it, behind a class and behind a __shared__ variable. The course's own programs are
// not searched for what nobody has written as learners' are.
#ifdef __CUDACC__
#define CPU_DEVICE_KNOW_CLASS(name)                                     \
    [[maybe_unused]] static const bool* const cpu_device_knows_##name = \
        &::cpu_device::padding_is_known<name>;
#define CPU_DEVICE_KNOW_TYPE_OF(variable)  \
    (void)&::cpu_device::padding_is_known< \
        std::remove_cv_t<std::remove_all_extents_t<decltype(variable)>>>;
#else
#define CPU_DEVICE_KNOW_CLASS(name)
#define CPU_DEVICE_KNOW_TYPE_OF(variable)
#endif

// ---------------------------------------------------------------- mistakes

// Ends this launch with an error that names kernel, block, thread and source line, then what
// `format` says. The process stays healthy: the next launch works.
[[noreturn]] void fail(cudaError_t code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

[[noreturn]] void device_assert_failed(const char* expression, const char* file, unsigned line,
                                       const char* function);
[[noreturn]] void trap();

// Ends the running thread, as a return from its kernel does.
[[noreturn]] void end_thread();

// The text of the latest error of a launch, as it was printed. Empty if there was none.
const char* last_error_text();

}  // namespace cpu_device
