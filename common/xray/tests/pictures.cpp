// SPDX-License-Identifier: MIT
//
// The pictures say what was counted: boxes of the right colours, as many as there should be.
#include "common/xray/pictures.hpp"

#include "common/testing/catch.hpp"

using namespace xray;

namespace {

const Caption kCaption{"stage/variant", "file.cuh:12", "tile[a < b] = \"c\" & d;"};

template <class Address>
Request request(AccessKind kind, unsigned bytes, Address address) {
    Request request;
    request.place = 1;
    request.kind = kind;
    request.bytes = static_cast<uint16_t>(bytes);
    request.lanes = ~0u;
    for (unsigned lane = 0; lane < 32; lane++) request.address[lane] = 4096 + address(lane);
    return request;
}

size_t count(const std::string& text, const std::string& what) {
    size_t times = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        times++;
    }
    return times;
}

constexpr const char* kRedBox = "fill=\"#f2a29a\"";
constexpr const char* kBlueBox = "fill=\"#9ec5e8\"";

}  // namespace

TEST_CASE("lanes against banks") {
    SECTION("a column of 32 x 32: all in one bank") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_load, 4, [](unsigned lane) { return lane * 128; }),
            kCaption);
        CHECK(count(svg, kRedBox) == 32);
        CHECK(count(svg, kBlueBox) == 32);  // the lanes
        CHECK_THAT(svg, ContainsSubstring("32 wavefronts"));
    }
    SECTION("a column of 32 x 33: each in its own") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_load, 4, [](unsigned lane) { return lane * 132; }),
            kCaption);
        CHECK(count(svg, kRedBox) == 0);
        CHECK(count(svg, kBlueBox) == 32 + 32);
        CHECK_THAT(svg, ContainsSubstring("one wavefront"));
    }
    SECTION("one word for all") {
        const std::string svg =
            draw_banks(request(AccessKind::shared_load, 4, [](unsigned) { return 64; }), kCaption);
        CHECK(count(svg, kBlueBox) == 32 + 1);
        CHECK_THAT(svg, ContainsSubstring(">32x<"));
    }
    SECTION("eight bytes: half a warp at once") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_store, 8, [](unsigned lane) { return lane * 8; }), kCaption);
        CHECK(count(svg, kBlueBox) == 16 + 32);
        CHECK_THAT(svg, ContainsSubstring("shared store of 8 bytes"));
    }
    SECTION("what stands in the source is text, not SVG") {
        const std::string svg =
            draw_banks(request(AccessKind::shared_load, 4, [](unsigned) { return 0; }), kCaption);
        CHECK_THAT(svg, ContainsSubstring("tile[a &lt; b] = \"c\" &amp; d;"));
    }
}

TEST_CASE("lanes against sectors") {
    const auto global = [](unsigned stride) {
        return draw_sectors(
            request(AccessKind::global_load, 4, [=](unsigned lane) { return lane * stride; }),
            kCaption);
    };
    CHECK_THAT(global(4), ContainsSubstring("4 sectors, 128 bytes for 128 wanted"));
    CHECK_THAT(global(4096),
               ContainsSubstring("32 sectors, 1,024 bytes for 128 wanted; 8 bytes are moved"));
    CHECK(count(global(4096), kBlueBox) == 32 + 32);
    CHECK(count(global(4), kBlueBox) == 32 + 4);
}
