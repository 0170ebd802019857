// SPDX-License-Identifier: MIT
//
// What bulk copies and wgmma do to shared memory while the threads go on: they read and write it through the
// asynchronous proxy. This judges who may touch which word when. Each thread has a vector clock of the events that it
// knows to have happened, and a second one of those that a fence.proxy.async has followed since. Each word of shared
// memory has its last writer, and the readers since.
//
// Clocks have an entry for each thread of the cluster's blocks, and for each agent of the asynchronous proxy: an
// mbarrier, whose entry counts completed phases; a warpgroup (its wgmma); the bulk groups of a thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "access.hpp"
#include "own_vector.hpp"

namespace cpu_device {

struct Gang;
struct Lane;
struct Launch;
struct Worker;

// Counts by agent; an entry that is missing is 0.
class VectorClock {
public:
    uint32_t operator[](uint32_t agent) const {
        return agent < counts_.size() ? counts_[agent] : 0;
    }
    void raise(uint32_t agent, uint32_t count);
    void join(const VectorClock& other);
    void clear() { counts_.clear(); }

private:
    OwnVector<uint32_t> counts_;
};

// A swizzle is named by the bytes of its span, 0 for none.
constexpr uint8_t kAnySwizzle = 0xff;

struct Knowledge {
    VectorClock seen, fenced;

    void join(const Knowledge& other) {
        seen.join(other.seen);
        fenced.join(other.fenced);
    }
    void clear() {
        seen.clear();
        fenced.clear();
    }
};

// What acts on memory beside the threads.
struct Agent {
    enum class Kind : uint8_t { mbarrier, warpgroup, bulk_groups } kind;
    uintptr_t number;  // address, first warp's number, or thread
};

// What the threads of one block know, or those of a cluster's blocks.
class Clocks {
public:
    // Begins a new block or cluster.
    void begin(uint32_t threads);

    uint32_t add(Agent agent);
    bool is_thread(uint32_t agent) const { return agent < of_.size(); }
    const Agent& agent(uint32_t agent) const { return agents_[agent - of_.size()]; }

    // The stamp of what the thread does now.
    uint32_t now(uint32_t thread) const { return count_[thread]; }
    bool has_seen(uint32_t thread, uint32_t agent, uint32_t count) const {
        return agent == thread || of_[thread].seen[agent] >= count;
    }
    bool has_fenced(uint32_t thread, uint32_t agent, uint32_t count) const {
        return of_[thread].fenced[agent] >= count;
    }

    // Makes what the thread has done, and knows, known to whoever acquires `to`.
    void release(uint32_t thread, Knowledge& to);
    void acquire(uint32_t thread, const Knowledge& from) { of_[thread].join(from); }
    void learn(uint32_t thread, uint32_t agent, uint32_t count) {
        of_[thread].seen.raise(agent, count);
    }
    // fence.proxy.async.
    void fence(uint32_t thread);

private:
    std::vector<Knowledge> of_;
    OwnVector<uint32_t> count_;
    std::vector<Agent> agents_;
};

// Holds what blocks of a cluster share. Alone, a block locks nothing. A launch must not be ended while one exists.
class GangLock {
public:
    explicit GangLock(Gang& gang);
    ~GangLock();
    GangLock(const GangLock&) = delete;
    GangLock& operator=(const GangLock&) = delete;

private:
    Gang* locked_;
};

// The shared memory of one block, as far as the asynchronous proxy is concerned.
class AsyncProxy {
public:
    // Whether accesses are judged: in launches of kernels that may use the asynchronous proxy.
    bool is_watching() const { return watching_; }

    void begin_block(const Worker& worker);

    // Judges an access of the running lane, which may be of another block of the cluster. Ends the launch if it is wrong.
    void judge(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place);

    // Judges what an instruction of the running lane has the proxy read: `agent` has read it once its count is `count`.
    // False if no thread of the block and no copy has written any of it. An operand of wgmma has a swizzle.
    bool judge_read(uintptr_t address, unsigned bytes, uint32_t agent, uint32_t count,
                    uintptr_t place, const char* instruction, uint8_t swizzle = kAnySwizzle);
    // The same of a bulk copy, or an asynchronous store, that will write there, counted by an mbarrier; reductions do so in
    // any order.
    struct Arriving {
        bool is_store = false, reduces = false;
    };
    void judge_copy(uintptr_t address, unsigned bytes, uint32_t mbarrier, uintptr_t place,
                    const char* instruction, Arriving what);
    bool is_from_copy(uintptr_t address, uint8_t swizzle);
    // The copy has arrived: known to who knows that the mbarrier's agent has come to `count`. The gang is locked.
    void note_arrival(uintptr_t address, unsigned bytes, uint32_t mbarrier, uint32_t count,
                      uint8_t swizzle);

private:
    static constexpr uint32_t kNobody = UINT32_MAX;

    struct Reader {
        uint32_t agent, count;
        uintptr_t place;
        int32_t next;  // in readers_; -1: none
    };
    struct Word {
        uint32_t block = 0;             // to which all else belongs
        uint16_t under_way = 0;         // bulk copies to it that have begun and not arrived
        Arriving arriving;              // what those are, or what has written last
        bool was_target = false;        // of a bulk copy or an operand of wgmma
        bool by_thread_copy = false;    // last written by cp.async
        bool by_proxy = false;          // last written by a bulk copy
        uint8_t swizzle = kAnySwizzle;  // of that copy
        uint32_t writer = kNobody;
        uint32_t written = 0;  // stamp, or the mbarrier's count
        int32_t readers = -1;
        uintptr_t place = 0;  // of the writer, or of the copy under way
    };
    // An access as a message begins with it: that of an instruction of the proxy, or else the thread's own.
    struct Described {
        const char* instruction;
        const char* verb;
        Direction direction;
        unsigned bytes;
        std::string text() const;
    };
    struct Complaint {
        std::string what, other;
        uintptr_t other_place = 0;
        bool is_made() const { return !what.empty(); }
    };

    Word& word_at(uintptr_t address);
    void add_reader(Word& word, uint32_t agent, uint32_t count, uintptr_t place);
    void forget_readers(Word& word);

    Complaint complaint_of_arrival(const Word& word, uint32_t thread,
                                   const Described& access) const;
    Complaint complaint_of_readers(const Word& word, uint32_t thread, bool agents_only,
                                   const Described& access) const;
    Complaint complaint_of_order(const Word& word, uint32_t thread, const Described& access) const;
    Complaint complaint_of_fence(const Word& word, uint32_t thread, const Described& access) const;
    Complaint complaint_of_swizzle(const Word& word, uint8_t swizzle,
                                   const Described& access) const;
    static void end_launch(const Complaint& complaint, uintptr_t place);

    bool watching_ = false;
    const Worker* worker_ = nullptr;
    uint32_t block_ = 0;
    std::vector<Word> words_;
    std::vector<Reader> readers_;
    int32_t free_reader_ = -1;
};

// Whether a launch of that kernel is to be watched: unless nothing is looked for, or no launch of it has used the proxy so
// far. And what a launch has shown.
bool may_use_proxy(const void* kernel);
void note_proxy_use(const void* kernel, bool uses);

// True if a block or cluster that begins after `blocks_begun` blocks of the launch is watched. Watching is slow, so a kernel
// whose first 64 blocks do not use the proxy is not watched further, unless a later block uses it.
bool is_proxy_watched(const Launch& launch, uint64_t blocks_begun);

// Number of the lane among the threads of its gang, by which Clocks knows it.
uint32_t thread_in_gang(const Worker& worker, const Lane& lane);

// What orders threads, told by the running lane; each does nothing unless its block is watched.
void release_to(Knowledge& to);
void acquire_from(const Knowledge& from);
void fence_proxy();

// All threads of the block that have not exited meet; or the lanes of a warp.
void meet_in_block(Worker& worker);
void meet_in_warp(Worker& worker, unsigned warp, unsigned lanes);

// Judges and notes that the wgmma of that number (1 for the first in the block) of the running lane's warpgroup reads the
// 16 bytes at `address`, shared memory of this block, by a descriptor with that swizzle. False if nothing in the block has
// written them.
bool read_by_wgmma(uintptr_t address, uint64_t operation, uintptr_t place, uint8_t swizzle);

// Whether a tensor copy with that swizzle has written there last; true where nothing is watched.
bool is_from_copy(uintptr_t address, uint8_t swizzle);

// The running lane has waited for its warpgroup's wgmma up to that number: whoever comes to know that may write their
// operands.
void waited_for_wgmma(uint64_t operation);

}  // namespace cpu_device
