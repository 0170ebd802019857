// SPDX-License-Identifier: MIT
// A stage's bars.json holds groups: what all bars of a group share stands once, beside them. A bar says of a variant at a
// shape, and a type where that is not float32, what it may take at most, in units of reading the input once (as the roof
// does or, of those timed in turn whose name begins with `than`, the fastest) or in microseconds; or at least what share
// of the roof's speed it has to reach, or of another's: that called `than`, else the fastest there whose name begins so
// and which computes the same; in blocks where both have such a time.
// [{"variant": "v", "bars": [{"shape": "4000x25000,k=256", "reads": 2.2}, {"shape": "10x128256,k=5", "us": 12}]},
//  {"variant": "w", "dtype": "float16", "than": "cublas/", "speed": 0.85, "bars": [{"shape": "16x512x512x512"}]}]
#include <algorithm>
#include <optional>

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/records/fields.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

using io::number;

struct Bar {
    std::string variant, dtype, shape, than;
    std::optional<double> reads, us, speed;  // one of them
};

Bar bar_from(const records::Json& object) {
    constexpr records::Range kAny{0, 1e9};
    const records::Fields fields(object);
    Bar bar{fields.variant(),
            fields.name("dtype", "float32"),
            fields.words("shape"),
            fields.words("than"),
            fields.number("reads", kAny),
            fields.number("us", kAny),
            fields.number("speed", kAny)};
    if (bar.shape.empty()) throw records::FieldError("no 'shape' in it");
    if (!bar.reads && !bar.us && !bar.speed)
        throw records::FieldError("none of 'reads', 'us' and 'speed' in it");
    return bar;
}

std::vector<Bar> bars_in(const std::filesystem::path& path) {
    std::vector<Bar> bars;
    try {
        for (const records::Json& group : records::parsed(path)) {
            for (const records::Json& one : records::list_in(group, "bars")) {
                records::Json object = group;
                object.update(one);
                bars.push_back(bar_from(object));
            }
        }
    } catch (const records::FieldError& error) {
        io::refuse(path, "bar " + std::to_string(bars.size() + 1) + ": " + error.what());
    }
    return bars;
}

// Where a record may have two times: of launches in turn with others', and of many in a row.
constexpr const char *kInTurn = "us_median", *kInBlocks = "us_in_blocks";

// Who is held to a bar, and beside whom.
struct Pair {
    const Record *ours = nullptr, *theirs = nullptr;
    const char* us = kInTurn;
};

Pair pair_in(const records::File& file, const Bar& bar, const char* us) {
    const auto fastest_of = [&](const auto& called) {
        return fastest(
            file,
            [&](const Record& record) {
                return record.dtype == bar.dtype && record.shape_word() == bar.shape &&
                       called(record);
            },
            us);
    };
    Pair pair{nullptr, nullptr, us};
    pair.ours = fastest_of([&](const Record& record) { return record.variant == bar.variant; });
    if (pair.ours == nullptr || bar.than.empty()) return pair;
    // Whoever is called just so is meant, also where it rounds after each of several steps. Of those whose names begin
    // so, only what computes the same.
    pair.theirs = fastest_of([&](const Record& record) {
        return record.variant == bar.than && record.shown_as == pair.ours->shown_as;
    });
    if (pair.theirs != nullptr) return pair;
    pair.theirs = fastest_of([&](const Record& record) {
        return record.variant != bar.variant && record.variant.rfind(bar.than, 0) == 0 &&
               record.op == pair.ours->op;
    });
    return pair;
}

std::string spaced(const std::string& shape_word) {
    std::string text;
    bool in_sizes = true;
    for (const char each : shape_word) {
        in_sizes = in_sizes && each != ',';
        text += each == ',' ? " " : in_sizes && each == 'x' ? " x " : std::string(1, each);
    }
    return text;
}

// The cells behind a bar's variant, type and shape.
std::vector<std::string> outcome(const Bar& bar, const Pair& pair) {
    const double us = pair.ours->at(pair.us);
    std::vector<std::string> cells = {number(us, 1) + (pair.us == kInBlocks ? ", in blocks" : "")};
    const auto end = [&](const std::string& words, bool holds) {
        cells.insert(cells.end(), {words, holds ? "holds" : "**missed**"});
        return cells;
    };
    if (bar.us) {
        cells.insert(cells.end(), 3, "-");
        return end("at most " + number(*bar.us, 0) + " us", us <= *bar.us);
    }
    const bool beside_roof = pair.theirs == nullptr;
    const double beside_us = beside_roof ? roof_us(*pair.ours) : pair.theirs->at(pair.us);
    const double ratio = bar.reads ? us / beside_us : beside_us / us;
    cells.insert(cells.end(), {!beside_roof ? in_code(pair.theirs->variant)
                               : bar.reads  ? "one read"
                                            : "the roof",
                               number(beside_us, 1), number(ratio, 3)});
    return bar.reads ? end("at most " + number(*bar.reads, 2), ratio <= *bar.reads)
                     : end("at least " + number(*bar.speed, 2), ratio >= *bar.speed);
}

// Of the records of one GPU. Where it is not the one that all is measured on, a bar without a record is no gap.
std::string bars_on(const Source& source, bool with_gaps) {
    const std::optional<records::File> own = source.find(records::kOwn),
                                       peers = source.find(records::kPeers);
    if (!own) return kNotMeasured;
    bool beside_peers = false;
    // Timed together: both are of one file.
    const auto pair_of = [&](const Bar& bar) {
        if (bar.than.empty()) return pair_in(*own, bar, kInTurn);
        for (const auto* file : {&peers, &own}) {
            for (const char* us : {kInBlocks, kInTurn}) {
                const Pair pair = *file ? pair_in(**file, bar, us) : Pair();
                if (pair.theirs == nullptr) continue;
                beside_peers = beside_peers || file == &peers;
                return pair;
            }
        }
        return Pair();
    };
    std::string text =
        head_of({"variant", "type", "shape", "us", "beside", "its us", "ratio", "bar", ""});
    for (const Bar& bar : bars_in(source.expected("bars.json"))) {
        std::vector<std::string> row = {in_code(bar.variant), bar.dtype, spaced(bar.shape)};
        const Pair pair = pair_of(bar);
        const bool is_gap = pair.ours == nullptr;
        const std::vector<std::string> cells =
            is_gap ? std::vector<std::string>{"-", "-", "-", "-", "-", "not measured"}
                   : outcome(bar, pair);
        row.insert(row.end(), cells.begin(), cells.end());
        if (!is_gap || with_gaps) text += row_of(row);
    }
    return text + stamp(*own) + (beside_peers ? stamp(*peers) : "");
}

}  // namespace

std::string bars(const Source& source) {
    std::string text = bars_on(source, true);
    const std::filesystem::path shown =
        records::recorded_of(source.repository, source.stage, source.gpu).filename();
    for (const std::string& gpu : records::gpu_folders(source.repository)) {
        Source other = source;
        other.gpu = gpu;
        if (shown != gpu && other.find(records::kOwn))
            text += "\nThe same, measured on another GPU:\n\n" + bars_on(other, false);
    }
    return text;
}

}  // namespace report
