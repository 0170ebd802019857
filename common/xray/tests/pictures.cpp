// SPDX-License-Identifier: MIT
//
// The pictures say what was counted: boxes of the right colours, as many as there should be.
#include "common/xray/pictures.hpp"

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "common/testing/page.hpp"

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

// Whether all that is written stands on the page, and nothing of it over something else in its line.
void expect_readable(const std::string& svg) {
    constexpr double kPage = 1280, kLetter = 0.6;  // of its height, the width of most letters
    const std::regex text(
        R"re(<text x="([^"]*)" y="([^"]*)" font-size="([^"]*)"([^>]*)>([^<]*)</text>)re");
    std::map<double, std::map<double, double>> lines;  // by y: where words begin and end
    for (std::sregex_iterator found(svg.begin(), svg.end(), text), end; found != end; ++found) {
        const std::string words =
            std::regex_replace((*found)[5].str(), std::regex("&[a-z]+;"), "x");
        const double width = std::stod((*found)[3]) * kLetter * static_cast<double>(words.size());
        const bool middle = (*found)[4].str().find("\"middle\"") != std::string::npos;
        const bool ends = (*found)[4].str().find("\"end\"") != std::string::npos;
        const double left = std::stod((*found)[1]) - (middle ? width / 2 : ends ? width : 0);
        INFO(words);
        CHECK(std::stod((*found)[3]) >= 10);
        CHECK(left >= 0);
        CHECK(left + width <= kPage);
        lines[std::stod((*found)[2])][left] = left + width;
    }
    CHECK(lines.size() >= 5);
    for (const auto& [y, spans] : lines) {
        double end = 0;
        for (const auto& [left, right] : spans) {
            CHECK(left >= end);
            end = right;
        }
    }
}

constexpr const char* kRedBox = "fill=\"#f2a29a\"";
constexpr const char* kBlueBox = "fill=\"#9ec5e8\"";

}  // namespace

TEST_CASE("lanes against banks") {
    SECTION("a column of 32 x 32: all in one bank") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_load, 4, [](unsigned lane) { return lane * 128; }),
            kCaption);
        CHECK(testing::count_of(kRedBox, svg) == 32);
        CHECK(testing::count_of(kBlueBox, svg) == 32);  // the lanes
        CHECK_THAT(svg, ContainsSubstring("32 wavefronts"));
    }
    SECTION("a column of 32 x 33: each in its own") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_load, 4, [](unsigned lane) { return lane * 132; }),
            kCaption);
        CHECK(testing::count_of(kRedBox, svg) == 0);
        CHECK(testing::count_of(kBlueBox, svg) == 32 + 32);
        CHECK_THAT(svg, ContainsSubstring("one wavefront"));
    }
    SECTION("one word for all") {
        const std::string svg =
            draw_banks(request(AccessKind::shared_load, 4, [](unsigned) { return 64; }), kCaption);
        CHECK(testing::count_of(kBlueBox, svg) == 32 + 1);
        CHECK_THAT(svg, ContainsSubstring(">32x<"));
    }
    SECTION("eight bytes: half a warp at once") {
        const std::string svg = draw_banks(
            request(AccessKind::shared_store, 8, [](unsigned lane) { return lane * 8; }), kCaption);
        CHECK(testing::count_of(kBlueBox, svg) == 16 + 32);
        CHECK_THAT(svg, ContainsSubstring("shared store of 8 bytes"));
        CHECK_THAT(svg, ContainsSubstring("lanes 0-15"));
    }
    SECTION("16 bytes: of four groups that with most conflicts") {
        const std::string svg =
            draw_banks(request(AccessKind::shared_load, 16,
                               [](unsigned lane) { return lane < 16 ? lane * 16 : lane * 128; }),
                       kCaption);
        CHECK_THAT(svg, ContainsSubstring("lanes 16-23"));
        CHECK_THAT(svg, ContainsSubstring("8 wavefronts where one would do"));
        CHECK_THAT(svg, ContainsSubstring("together take 18 wavefronts"));
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
    CHECK_THAT(global(4), ContainsSubstring("4 sectors, 128 bytes for 128 used"));
    CHECK_THAT(global(4096),
               ContainsSubstring("32 sectors, 1,024 bytes for 128 used; 8 bytes are moved"));
    CHECK(testing::count_of(kBlueBox, global(4096)) == 32 + 32);
    CHECK(testing::count_of(kBlueBox, global(4)) == 32 + 4);
}

TEST_CASE("what is written in a picture fits the page") {
    const std::string code =
        "const auto value = reinterpret_cast<const Pack<T, kPack>*>(x + col)[i]; ";
    for (const std::string& source :
         {std::string("y = x;"), code, code + code, code + code + code}) {
        const Caption caption{
            "97_made_up/" + std::string(90, 'v'),
            "a/rather/long/path/of/a/learner/" + std::string(90, 'p') + ".cuh:1234", source};
        for (const unsigned stride : {4u, 12u, 32u, 128u, 4096u, 1u << 20, 1u << 26}) {
            const auto at = [=](unsigned lane) { return uintptr_t{lane} * stride; };
            expect_readable(draw_banks(request(AccessKind::shared_load, 4, at), caption));
            expect_readable(draw_sectors(request(AccessKind::global_store, 4, at), caption));
            expect_readable(draw_sectors(request(AccessKind::global_load, 16, at), caption));
        }
    }
}

TEST_CASE("lanes that go at once, where they want the same") {
    const std::string svg =
        draw_banks(request(AccessKind::shared_load, 8, [](unsigned) { return 0; }), kCaption);
    CHECK(testing::count_of(kBlueBox, svg) == 32 + 2);  // all lanes; two words
    CHECK(testing::count_of(">32x<", svg) == 2);
}

TEST_CASE("what is written in the pictures of tiles and rings fits the page") {
    for (const uint32_t row : {16u, 32u, 128u, 256u, 1024u}) {
        CopiedTile tile{1, true, "cp.async.bulk.tensor", 4096, 40 * row, row, 0, {}};
        for (uint32_t at = 0; at < tile.bytes; at += 16) tile.runs.push_back({at, 16, 4096 + at});
        CHECK(chunks_of(tile).back().row == 39);
        expect_readable(draw_tile(tile, kCaption));
    }
    for (const size_t stages : {1u, 3u, 12u, 40u}) {
        for (const unsigned width : {1u, 3u, 40u}) {
            Ring ring{std::vector<RingStage>(stages), 0};
            for (RingStage& stage : ring.stages) {
                for (int i = 0; i < 3; i++) {
                    const unsigned at = ring.steps;
                    stage.fills.push_back({{at, at + width, 0x10},
                                           RingSpan{at + width + 1, at + 3 * width, 0xfff},
                                           RingSpan{at + 2 * width, at + 3 * width, 0xff0f}});
                    stage.waits_for_bytes.push_back({at, at + width, 0xff0f});
                    stage.waits_for_space.push_back({at + width, at + 2 * width, 1});
                    ring.steps += 3 * width + 1;
                }
            }
            expect_readable(draw_ring(ring, kCaption));
        }
    }
}
