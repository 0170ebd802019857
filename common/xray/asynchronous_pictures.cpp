// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <iterator>

#include "memory_model.hpp"
#include "picture_parts.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

// ---------------------------------------------------------------- a tile

constexpr unsigned kChunk = 16, kChunksOfLine = kLineBytes / kChunk;
constexpr unsigned kShownLines = 16;
constexpr double kTileTop = 190, kTileHeight = 26;
constexpr const char* kOfRow[] = {"#9ec5e8", "#f7c59f", "#b5dba7", "#f2a29a",
                                  "#cdb7e5", "#f4e1a1", "#a6ddd9", "#d8c3b0"};

struct Cell {
    unsigned x, y;
    const TileChunk* chunk;
};

// Chunks in columns from `left` on, each with its row and column in the box.
void draw_cells(Svg& svg, const std::vector<Cell>& cells, double left, double step) {
    for (const auto& [x, y, chunk] : cells) {
        const double at_x = left + x * step, at_y = kTileTop + y * kTileHeight;
        svg.box(at_x, at_y, step - 3, kTileHeight - 3,
                chunk->outside ? kGrey : kOfRow[chunk->row % std::size(kOfRow)]);
        const std::string name = std::to_string(chunk->row) + "." + std::to_string(chunk->column);
        constexpr double kLetters = 12;
        if (Svg::width_of(kLetters, name) <= step - 3) {
            svg.text(at_x + (step - 3) / 2, at_y + kTileHeight / 2 + 3, kLetters, name,
                     Anchor::middle);
        }
    }
}

void draw_line_labels(Svg& svg, unsigned lines, double right, unsigned step, const char* before) {
    for (unsigned line = 0; line < lines; ++line) {
        svg.text(right - 8, kTileTop + line * kTileHeight + kTileHeight / 2 + 4, 13,
                 before + grouped(int64_t{line} * step), Anchor::right, kQuiet);
    }
}

// "Chunk 0 of rows 0-7 lies in ...": what it takes eight lanes to read a column of the box.
std::string words_on_banks(const CopiedTile& tile, const std::vector<TileChunk>& chunks) {
    constexpr unsigned kLanes = 8;
    std::array<unsigned, kChunksOfLine> in_group{};
    unsigned rows = 0;
    for (const TileChunk& chunk : chunks) {
        if (chunk.column != 0 || chunk.row >= kLanes) continue;
        ++in_group[(tile.shared + chunk.offset) / kChunk % kChunksOfLine];
        ++rows;
    }
    if (rows < 2) return "The box has one row.";
    const auto groups = static_cast<size_t>(
        std::count_if(in_group.begin(), in_group.end(), [](unsigned count) { return count != 0; }));
    const unsigned most = *std::max_element(in_group.begin(), in_group.end());
    return "chunk 0 of rows 0-" + std::to_string(rows - 1) + " lies in " + plural(groups, "group") +
           " of four banks: " + std::to_string(rows) + " lanes that read it, 16 bytes each, take " +
           plural(most, "wavefront") + ".";
}

// ---------------------------------------------------------------- a ring

constexpr unsigned kMostSteps = 48;
constexpr size_t kMostStages = 12;
constexpr double kRingTop = 160, kRingBottom = 590, kRingLeft = 140;
constexpr const char* kFilling = kBlue;
constexpr const char* kHeld = "#d9ead3";
constexpr const char* kMultiplied = "#93c47d";
constexpr const char* kWaitsForBytes = kRed;
constexpr const char* kWaitsForSpace = "#f7c59f";

std::string text_of_warps(unsigned warps) {
    return (__builtin_popcount(warps) == 1 ? "warp " : "warps ") + text_of_lanes(warps);
}

class RingPicture {
public:
    RingPicture(const Ring& ring, const Caption& caption) : ring_(ring) {
        draw_caption(svg_, caption);
        const size_t shown = std::min(ring.stages.size(), kMostStages);
        lane_ = std::min(110.0, (kRingBottom - kRingTop) / static_cast<double>(shown));
        steps_ = std::min(ring.steps, kMostSteps);
        step_ = (Svg::kWidth - kMargin - kRingLeft) / steps_;
        svg_.fitting_text(kMargin, kRingTop - 24, 16,
                          "from left to right: " +
                              (steps_ == ring.steps ? plural(steps_, "step")
                                                    : "the first " + std::to_string(steps_) +
                                                          " of " + plural(ring.steps, "step")) +
                              " of block 0 in their order on the CPU device, where bytes arrive as "
                              "late as they can; widths are no times",
                          kQuiet);
        for (size_t number = 0; number < shown; ++number) draw_stage(number);
        draw_legend();
        svg_.fitting_text(kMargin, 690, 20, verdict());
    }

    std::string svg() const { return svg_.finished(); }

private:
    void draw_stage(size_t number) {
        const RingStage& stage = ring_.stages[number];
        const double top = kRingTop + static_cast<double>(number) * lane_;
        const double height = lane_ - 8, bar = height * 0.5, wait = height * 0.22;
        svg_.box(kRingLeft, top, step_ * steps_, bar, "#f4f4f4");
        svg_.text(kMargin, top + bar / 2 + 5, std::min(16.0, bar),
                  "stage " + std::to_string(number));
        size_t fills = 0;
        for (const RingFill& fill : stage.fills) {
            const std::string name = "fill " + std::to_string(fills++);
            if (fill.held) {
                draw(*fill.held, top, bar, kHeld, "",
                     fill.multiplied ? "" : text_of_warps(fill.held->warps));
            }
            draw(fill.filled, top, bar, kFilling, name, text_of_warps(fill.filled.warps));
            if (fill.multiplied) {
                draw(*fill.multiplied, top, bar, kMultiplied, "wgmma",
                     text_of_warps(fill.multiplied->warps));
            }
        }
        for (const RingSpan& span : stage.waits_for_bytes)
            draw(span, top + bar + 2, wait, kWaitsForBytes, "", text_of_warps(span.warps));
        for (const RingSpan& span : stage.waits_for_space)
            draw(span, top + bar + wait + 4, wait, kWaitsForSpace, "", text_of_warps(span.warps));
    }

    // As many of the two lines of words as there is room for.
    void draw(const RingSpan& span, double top, double height, const char* color,
              const std::string& what, const std::string& who) {
        if (span.first >= steps_) return;
        const double x = kRingLeft + span.first * step_;
        const double width = (std::min(span.last, steps_ - 1) - span.first + 1) * step_ - 1;
        svg_.box(x, top, width, height, color);
        std::vector<std::string> lines;
        for (const std::string& line : {what, who}) {
            if (!line.empty() && Svg::width_of(kLetters, line) <= width) lines.push_back(line);
        }
        const auto room = static_cast<size_t>(height / (kLetters + 1));
        if (lines.size() > room) lines.resize(room);
        double y = top + height / 2 + kLetters * 0.36 -
                   static_cast<double>(lines.empty() ? 0 : lines.size() - 1) * (kLetters + 3) / 2;
        for (const std::string& line : lines) {
            svg_.text(x + width / 2, y, kLetters, line, Anchor::middle);
            y += kLetters + 3;
        }
    }

    void draw_legend() {
        struct Entry {
            const char *color, *words;
        };
        constexpr Entry kEntries[] = {{kFilling, "bulk copies fill it"},
                                      {kHeld, "full, not given back"},
                                      {kMultiplied, "wgmma reads it"},
                                      {kWaitsForBytes, "waits for its bytes"},
                                      {kWaitsForSpace, "waits to fill it"}};
        double x = kMargin;
        for (const auto& [color, words] : kEntries) {
            svg_.box(x, 634, 24, 16, color);
            svg_.text(x + 32, 648, 15, words, Anchor::left, kQuiet);
            x += 32 + Svg::width_of(15, words) + 20;
        }
    }

    std::string verdict() const {
        size_t fills = 0, beside = 0, products = 0;
        for (const RingStage& stage : ring_.stages) {
            for (const RingFill& fill : stage.fills) {
                ++fills;
                products += fill.multiplied ? 1 : 0;
                beside += is_beside_product(stage, fill.filled) ? 1 : 0;
            }
        }
        std::string text =
            plural(ring_.stages.size(), "stage") + ", filled " + plural(fills, "time") + " in all";
        if (products == 0) return text + "; no wgmma reads them.";
        if (beside == 0) return text + "; copies and wgmma take turns: none overlap.";
        return text + ": " + std::to_string(beside) +
               " while wgmma reads another stage, so that copies and products overlap.";
    }

    // Whether another stage's product is under way between the beginning and the arrival.
    bool is_beside_product(const RingStage& own, const RingSpan& filled) const {
        for (const RingStage& stage : ring_.stages) {
            if (&stage == &own) continue;
            for (const RingFill& fill : stage.fills) {
                if (fill.multiplied && fill.multiplied->first <= filled.last &&
                    filled.first <= fill.multiplied->last)
                    return true;
            }
        }
        return false;
    }

    static constexpr double kLetters = 12;
    const Ring& ring_;
    Svg svg_;
    double lane_ = 0, step_ = 0;
    unsigned steps_ = 0;
};

}  // namespace

std::string draw_tile(const CopiedTile& tile, const Caption& caption) {
    const std::vector<TileChunk> chunks = chunks_of(tile);
    const unsigned per_row = (tile.row_bytes + kChunk - 1) / kChunk;
    const unsigned shown_columns = std::min(per_row, kChunksOfLine * 2);
    const unsigned rows = tile.bytes / tile.row_bytes;
    unsigned lines = 0;
    for (const TileChunk& chunk : chunks) lines = std::max(lines, chunk.offset / kLineBytes + 1);
    const unsigned shown_rows = std::min(rows, kShownLines),
                   shown_lines = std::min(lines, kShownLines);
    std::vector<Cell> box, memory;
    for (const TileChunk& chunk : chunks) {
        if (chunk.row < shown_rows && chunk.column < shown_columns)
            box.push_back({chunk.column, chunk.row, &chunk});
        const unsigned line = chunk.offset / kLineBytes;
        if (line < shown_lines)
            memory.push_back({chunk.offset % kLineBytes / kChunk, line, &chunk});
    }

    Svg svg;
    draw_caption(svg, caption);
    constexpr double kBoxLeft = 110, kMemoryLeft = 760, kWidth = 480, kBoxWidth = 500;
    svg.text(kBoxLeft, kTileTop - 44, 16,
             "the box: " + plural(rows, "row") + " of " + grouped(tile.row_bytes) + " bytes" +
                 (shown_rows < rows ? ", of which the first " + std::to_string(shown_rows) : ""));
    svg.text(
        kMemoryLeft, kTileTop - 44, 16,
        "shared memory: lines of 128 bytes" +
            std::string(shown_lines < lines ? ", the first " + std::to_string(shown_lines) : ""));
    const double bank_step = kWidth / kChunksOfLine;
    for (unsigned group = 0; group < kChunksOfLine; ++group) {
        const unsigned bank = group * kChunk / kBankBytes;
        svg.text(kMemoryLeft + group * bank_step + bank_step / 2 - 1, kTileTop - 10, 13,
                 std::to_string(bank) + "-" + std::to_string(bank + kChunk / kBankBytes - 1),
                 Anchor::middle, kQuiet);
    }
    svg.text(kMemoryLeft - 8, kTileTop - 10, 13, "banks", Anchor::right, kQuiet);
    draw_line_labels(svg, shown_rows, kBoxLeft, 1, "row ");
    draw_line_labels(svg, shown_lines, kMemoryLeft, kLineBytes, "+");
    draw_cells(svg, box, kBoxLeft, std::min(bank_step, kBoxWidth / shown_columns));
    draw_cells(svg, memory, kMemoryLeft, bank_step);
    svg.fitting_text(
        kMargin, 652, 16,
        "each box is a chunk of 16 bytes: its row and its place in the row, coloured by "
        "row; grey: outside the tensor" +
            std::string(tile.loads ? ", filled up" : ", not written"),
        kQuiet);
    const std::string swizzle =
        tile.swizzle == 0 ? "no swizzle" : "swizzle of " + std::to_string(tile.swizzle) + " bytes";
    svg.fitting_text(kMargin, 690, 20, swizzle + ": " + words_on_banks(tile, chunks));
    return svg.finished();
}

std::string draw_ring(const Ring& ring, const Caption& caption) {
    return RingPicture(ring, caption).svg();
}

}  // namespace xray
