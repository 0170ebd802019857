// SPDX-License-Identifier: MIT
//
// What one request costs the memory system: 32-byte sectors of global memory, passes ("wavefronts")
// through the 32 banks of shared memory, as an NVIDIA GPU since Volta counts them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "counts.hpp"
#include "warp_requests.hpp"

namespace xray {

constexpr unsigned kSectorBytes = 32;
constexpr unsigned kLineBytes = 128;
constexpr unsigned kBanks = 32;
constexpr unsigned kBankBytes = 4;

// What the lanes touch, each counted once however many touch it.
struct Touched {
    unsigned sectors = 0;
    unsigned bytes = 0;
};
Touched touched_by(const Request& request);

// Sectors of an asynchronous copy of 16 bytes a lane, which by-passes the L1 cache: `load` is what its lanes
// read, `copy` where in shared memory they put it. The hardware counts the sectors of *shared* memory that each
// line of 128 bytes fills. Where both addresses lie alike in a sector, that is what the load touches; else there
// may be more, or, of short pieces, fewer. (Found from what an H200 counted of 05's any-axis kernels.)
unsigned sectors_of_copy(const Request& load, const Request& copy);

// Finds to each such copy its load.
class AsynchronousCopies {
public:
    // Forgets everything, for a new block.
    void begin() { loads_.clear(); }

    // A load from global memory: perhaps the first half of a copy.
    void load(const Request& request);

    // The second half. Calls f(load, more): what hardware counts beyond the sectors that the load touches.
    template <class Function>
    void copy(const Request& request, Function f) {
        for (const Request& each : loads_) {
            if ((each.lanes & ~request.lanes) != 0 || each.bytes != request.bytes) continue;
            f(each, static_cast<int>(sectors_of_copy(each, request)) -
                        static_cast<int>(touched_by(each).sectors));
        }
        forget(request.lanes);
    }

private:
    void forget(unsigned lanes);

    std::vector<Request> loads_;  // of different lanes
};

struct Wavefronts {
    unsigned taken = 0;
    unsigned fewest = 0;  // if no two lanes' words shared a bank
};

// Which lanes of a request to shared memory go together, as masks, one behind the other: 32 with up to 4
// bytes each, 16 with 8, 8 with 16. In a load, two neighbouring groups of the wider ones go as one where
// every lane of them wants what its neighbour wants, or every lane what the next but one wants, of those
// that take part (as an H200 does it: tests/memory_model.cpp, and what tests/stages.cpp is held to).
struct LaneGroups {
    std::array<unsigned, 4> lanes;
    unsigned count = 0;

    const unsigned* begin() const { return lanes.data(); }
    const unsigned* end() const { return lanes.data() + count; }
};
LaneGroups lanes_at_once(const Request& request);

// In each group of lanes that go at once every bank gives one of its words per wavefront, to all who
// want that word.
Wavefronts wavefronts_of(const Request& request);

// The bank that a request asks for most different words at once, and all lanes that want one of them then.
struct Collision {
    unsigned bank = 0;
    unsigned words = 0;
    unsigned lanes = 0;  // a bit for each
};
Collision collision_of(const Request& request);

// What a compiler may make of accesses to shared memory. It joins those of a thread that follow each
// other in the program and in memory, where it can prove the alignment. And it keeps in a register
// what a loop reads again and again. Here the addresses themselves are known: what is joined or
// left out is the most that a compiler may join or leave out.
class AccessFusion {
public:
    // Another shared load or store of the warp. Appends to `done` what nothing can be joined to
    // any more.
    void add(const Request& request, std::vector<Request>& done);

    // Something came between: nothing can be joined across it.
    void end(std::vector<Request>& done);

    // Lanes met: what was read before may have changed.
    void forget_reads() { reads_.clear(); }

private:
    // Neighbours, as one request that may be 3, 6 or 12 bytes wide.
    struct Chain {
        Request request;
        uint16_t piece;
    };
    static bool join(Chain& chain, const Request& next);
    static void append_pieces(const Chain& chain, std::vector<Request>& done);

    bool is_repeated(const Request& request);

    static constexpr size_t kMostChains = 8;
    static constexpr size_t kMostReads = 8;
    std::vector<Chain> chains_;
    std::vector<Request> reads_;  // the last of each instruction, since a store or a meeting
};

}  // namespace xray
