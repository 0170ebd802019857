// SPDX-License-Identifier: MIT
#include "common/xray/memory_model.hpp"

#include "common/testing/catch.hpp"

using namespace xray;

namespace {

constexpr uintptr_t kBase = 1 << 20;

// Lane l at kBase + offset(l).
template <class Offset>
Request request(unsigned bytes, Offset offset, unsigned lanes = ~0u) {
    Request request;
    request.place = 1;
    request.kind = AccessKind::shared_load;
    request.bytes = static_cast<uint16_t>(bytes);
    request.lanes = lanes;
    for (unsigned lane = 0; lane < 32; lane++) request.address[lane] = kBase + offset(lane);
    return request;
}

std::vector<Request> fused(const std::vector<Request>& requests) {
    AccessFusion fusion;
    std::vector<Request> done;
    for (const Request& each : requests) fusion.add(each, done);
    fusion.end(done);
    return done;
}

}  // namespace

TEST_CASE("sectors") {
    const auto sectors_of = [](const Request& request) { return touched_by(request).sectors; };
    CHECK(sectors_of(request(4, [](unsigned lane) { return lane * 4; })) == 4);
    CHECK(sectors_of(request(16, [](unsigned lane) { return lane * 16; })) == 16);
    CHECK(sectors_of(request(2, [](unsigned lane) { return lane * 2; })) == 2);
    CHECK(sectors_of(request(4, [](unsigned) { return 8; })) == 1);
    CHECK(sectors_of(request(4, [](unsigned lane) { return lane * 4096; })) == 32);
    CHECK(sectors_of(request(4, [](unsigned lane) { return (31 - lane) * 4; })) == 4);
    // One float further than a sector's beginning: five.
    CHECK(sectors_of(request(4, [](unsigned lane) { return 4 + lane * 4; })) == 5);
    // Three floats per thread, one of them read: 96 bytes for each eight lanes.
    CHECK(sectors_of(request(4, [](unsigned lane) { return lane * 12; })) == 12);
    CHECK(sectors_of(request(
              4, [](unsigned lane) { return lane * 4; }, 0x000000ffu)) == 1);
}

// As an H200 counts them: 05's softmax_any_axis at 61 x 777 and 33 x 61 (its recorded/nvidia_h200).
TEST_CASE("sectors of asynchronous copies: those of shared memory that each line fills") {
    const auto sectors = [](unsigned from, unsigned to, unsigned lanes) {
        const auto half = [lanes](unsigned offset) {
            return request(
                16, [=](unsigned lane) { return offset + lane * 16; }, lanes);
        };
        unsigned found = 0;
        AsynchronousCopies copies;
        copies.load(half(from));
        copies.copy(half(to), [&](const Request& load, int more) {
            found = static_cast<unsigned>(static_cast<int>(touched_by(load).sectors) + more);
        });
        return found;
    };
    CHECK(sectors(0, 0, ~0u) == 16);
    CHECK(sectors(16, 16, ~0u) == 17);
    CHECK(sectors(32, 0, ~0u) == 16);
    CHECK(sectors(16, 0, ~0u) == 20);  // where a line ends, a sector there is filled by two
    CHECK(sectors(16, 0, 3u) == 1);    // of two sectors, into one
    CHECK(sectors(0, 16, 3u) == 2);    // and the other way
}

TEST_CASE("the halves of a copy find each other") {
    const auto half = [](unsigned bytes, unsigned lanes) {
        return request(
            bytes, [=](unsigned lane) { return lane * bytes; }, lanes);
    };
    const auto copied_by = [&](AsynchronousCopies& copies, unsigned bytes, unsigned lanes) {
        unsigned found = 0;
        copies.copy(half(bytes, lanes), [&](const Request& load, int) { found |= load.lanes; });
        return found;
    };
    AsynchronousCopies copies;
    copies.load(half(16, 0x0000ffffu));
    copies.load(half(16, 0xffff0000u));
    CHECK(copied_by(copies, 16, 0xffff0000u) == 0xffff0000u);
    CHECK(copied_by(copies, 16, 0x0000ffffu) == 0x0000ffffu);
    CHECK(copied_by(copies, 16, ~0u) == 0);  // both are done
    copies.load(half(16, 0x0000ffffu));
    copies.load(half(16, 0xffff0000u));
    CHECK(copied_by(copies, 16, ~0u) == ~0u);  // they loaded apart
    copies.load(half(8, ~0u));
    CHECK(copied_by(copies, 8, ~0u) == 0);  // such copies come through the L1 cache
    copies.load(half(16, ~0u));
    copies.load(half(4, 1u));  // lane 0 has loaded something else since: it was no copy
    CHECK(copied_by(copies, 16, ~0u) == 0);
}

TEST_CASE("useful bytes") {
    const auto useful_bytes_of = [](const Request& request) { return touched_by(request).bytes; };
    CHECK(useful_bytes_of(request(4, [](unsigned lane) { return lane * 4; })) == 128);
    CHECK(useful_bytes_of(request(4, [](unsigned) { return 0; })) == 4);
    CHECK(useful_bytes_of(request(8, [](unsigned lane) { return lane * 4; })) == 132);
}

TEST_CASE("wavefronts of 4-byte accesses") {
    const auto taken = [](auto offset) { return wavefronts_of(request(4, offset)).taken; };
    CHECK(taken([](unsigned lane) { return lane * 4; }) == 1);
    CHECK(taken([](unsigned lane) { return lane * 8; }) == 2);
    CHECK(taken([](unsigned lane) { return lane * 16; }) == 4);
    CHECK(taken([](unsigned lane) { return lane * 128; }) == 32);  // a column of 32 x 32
    CHECK(taken([](unsigned lane) { return lane * 132; }) == 1);   // a column of 32 x 33
    CHECK(taken([](unsigned) { return 0; }) == 1);                 // one word for all
    CHECK(taken([](unsigned lane) { return lane / 2 * 4; }) == 1);
    CHECK(wavefronts_of(request(
                            4, [](unsigned lane) { return lane * 128; }, 1u))
              .taken == 1);
    CHECK(wavefronts_of(request(2, [](unsigned lane) { return lane * 2; })).taken == 1);
}

TEST_CASE("who collides in which bank") {
    const Collision column = collision_of(request(4, [](unsigned lane) { return lane * 128 + 8; }));
    CHECK(column.bank == 2);
    CHECK(column.words == 32);
    CHECK(column.lanes == ~0u);
    const Collision pairs = collision_of(
        request(4, [](unsigned lane) { return lane == 5 || lane == 9 ? lane * 128 : lane * 4; }));
    CHECK(pairs.bank == 0);
    CHECK(pairs.words == 3);
    CHECK(pairs.lanes == (1u << 0 | 1u << 5 | 1u << 9));
    const Collision none = collision_of(request(4, [](unsigned lane) { return lane * 4; }));
    CHECK(none.words == 1);
    // The lanes of one half of the warp alone.
    const Collision wide = collision_of(request(8, [](unsigned lane) { return lane * 128; }));
    CHECK(wide.words == 16);
    CHECK(wide.lanes == 0xffff);
}

TEST_CASE("wider accesses go by halves and quarters of the warp") {
    const auto wavefronts = [](unsigned bytes, unsigned stride, unsigned lanes = ~0u) {
        return wavefronts_of(request(
            bytes, [&](unsigned lane) { return lane * stride; }, lanes));
    };
    CHECK(wavefronts(8, 8).taken == 2);
    CHECK(wavefronts(8, 8).fewest == 2);
    CHECK(wavefronts(16, 16).taken == 4);
    CHECK(wavefronts(16, 16).fewest == 4);
    CHECK(wavefronts(8, 16).taken == 4);     // two of 16 lanes share a bank
    CHECK(wavefronts(16, 128).taken == 32);  // eight of eight
    CHECK(wavefronts(16, 16, 0x000000ffu).taken == 1);
    CHECK(wavefronts(16, 16, 0x000000ffu).fewest == 1);
}

// Read off an H200, each pattern as a kernel of its own with one warp and one load of that width:
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld and l1tex__data_bank_conflicts_..., nvcc 13.0.
TEST_CASE("wavefronts and conflicts of an H200, for sixteen patterns in three widths") {
    struct Pattern {
        const char* name;
        unsigned (*index)(unsigned lane);  // in elements of the width
        unsigned taken[3];                 // with 4, 8 and 16 bytes
        unsigned conflicts[3];
    };
    const Pattern patterns[] = {
        {"contiguous", [](unsigned lane) { return lane; }, {1, 2, 4}, {0, 0, 0}},
        {"one element", [](unsigned) { return 0u; }, {1, 1, 2}, {0, 0, 0}},
        {"one per half", [](unsigned lane) { return lane / 16; }, {1, 1, 2}, {0, 0, 0}},
        {"equal halves", [](unsigned lane) { return lane % 16; }, {1, 2, 4}, {0, 0, 0}},
        {"equal quarters", [](unsigned lane) { return lane % 8; }, {1, 2, 4}, {0, 0, 0}},
        {"every other", [](unsigned lane) { return 2 * lane; }, {2, 4, 8}, {1, 2, 4}},
        {"equal pairs", [](unsigned lane) { return lane / 2; }, {1, 1, 2}, {0, 0, 0}},
        {"halves 16 apart", [](unsigned lane) { return lane / 16 * 16; }, {1, 2, 2}, {0, 1, 0}},
        {"even and odd", [](unsigned lane) { return lane % 2; }, {1, 1, 2}, {0, 0, 0}},
        {"even, odd 16 apart", [](unsigned lane) { return lane % 2 * 16; }, {1, 2, 4}, {0, 1, 2}},
        {"equal fours", [](unsigned lane) { return lane % 4; }, {1, 2, 4}, {0, 0, 0}},
        {"one per quarter", [](unsigned lane) { return lane / 8; }, {1, 1, 2}, {0, 0, 0}},
        {"halves, every other", [](unsigned lane) { return lane % 16 * 2; }, {1, 4, 8}, {0, 2, 4}},
        {"16 apart", [](unsigned lane) { return 16 * lane; }, {16, 32, 32}, {15, 30, 28}},
        {"halves swapped", [](unsigned lane) { return lane ^ 16; }, {1, 2, 4}, {0, 0, 0}},
        {"permuted", [](unsigned lane) { return lane * 7 % 32; }, {1, 2, 4}, {0, 0, 0}},
    };
    for (const Pattern& pattern : patterns) {
        for (unsigned width = 0; width < 3; width++) {
            const unsigned bytes = 4u << width;
            const Wavefronts wavefronts = wavefronts_of(
                request(bytes, [&](unsigned lane) { return pattern.index(lane) * bytes; }));
            INFO(pattern.name << ", " << bytes << " bytes");
            CHECK(wavefronts.taken == pattern.taken[width]);
            CHECK(wavefronts.taken - wavefronts.fewest == pattern.conflicts[width]);
        }
    }
}

// Of lanes of which none has a neighbour that takes part: 05's any_axis_backward, 33 x 61 in 16 bits.
TEST_CASE("stores go by halves and quarters of the warp, whatever the lanes want") {
    Request store = request(
        16, [](unsigned lane) { return lane / 8 * 256 + lane % 8 * 16; }, 1u << 0 | 1u << 8);
    CHECK(wavefronts_of(store).taken == 2);
    CHECK(wavefronts_of(store).fewest == 1);
    store.kind = AccessKind::shared_store;
    CHECK(wavefronts_of(store).taken == 2);
    CHECK(wavefronts_of(store).fewest == 2);
}

// As in a tile's last rows.
TEST_CASE("each half of a warp has its quarters go together or not") {
    const auto offset =
        [](unsigned lane) {  // four rows, 96 bytes apart, of two packs by each eight
            return (lane % 8 / 2 + lane / 16 * 4) * 96 + (lane % 2 + lane / 8 % 2 * 2) * 16;
        };
    CHECK(wavefronts_of(request(16, offset)).taken == 4);
    CHECK(wavefronts_of(request(16, offset, 0x0303ffffu)).taken == 3);  // four lanes of one row
    CHECK(wavefronts_of(request(16, offset, 0x0303ffffu)).fewest == 3);
}

TEST_CASE("neighbouring accesses fuse, up to 16 bytes") {
    const auto piece = [](unsigned index, unsigned per_lane) {
        return request(4, [=](unsigned lane) { return (lane * per_lane + index) * 4; });
    };
    SECTION("two") {
        const auto done = fused({piece(0, 2), piece(1, 2)});
        REQUIRE(done.size() == 1);
        CHECK(done[0].bytes == 8);
        CHECK(wavefronts_of(done[0]).taken == 2);
    }
    SECTION("four") {
        const auto done = fused({piece(0, 4), piece(1, 4), piece(2, 4), piece(3, 4)});
        REQUIRE(done.size() == 1);
        CHECK(done[0].bytes == 16);
    }
    SECTION("three: there is no such access") {
        const auto done = fused({piece(0, 4), piece(1, 4), piece(2, 4)});
        REQUIRE(done.size() == 2);
        CHECK(done[0].bytes == 8);
        CHECK(done[1].bytes == 4);
        CHECK(done[1].address[3] == kBase + (3 * 4 + 2) * 4);
    }
    SECTION("not where a lane's address is not aligned") {
        CHECK(fused({piece(1, 3), piece(2, 3)}).size() == 2);
    }
    SECTION("not across other lanes") {
        Request fewer = piece(1, 2);
        fewer.lanes = 1;
        CHECK(fused({piece(0, 2), fewer}).size() == 2);
    }
    SECTION("not a load with a store") {
        Request store = piece(1, 2);
        store.kind = AccessKind::shared_store;
        CHECK(fused({piece(0, 2), store}).size() == 2);
    }
    SECTION("not what lies apart") {
        CHECK(fused({piece(0, 4), piece(2, 4)}).size() == 2);
    }
}

TEST_CASE("what a loop reads again and again is read once") {
    const auto read = [](unsigned index) {
        return request(4, [=](unsigned) { return index * 4; });
    };
    Request other = read(0);
    other.place = 2;
    Request write = read(0);
    write.kind = AccessKind::shared_store;

    CHECK(fused({read(0), read(0), read(0)}).size() == 1);
    CHECK(fused({read(0), read(2), read(0)}).size() == 3);       // another word each time
    CHECK(fused({read(0), other, read(0), other}).size() == 2);  // two such reads
    CHECK(fused({read(0), write, read(0)}).size() == 3);         // it may have changed
}
