// SPDX-License-Identifier: MIT
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/course/readme_parts.hpp"
#include "common/course/readme_records.hpp"
#include "common/course/tables.hpp"
#include "common/io/table.hpp"

namespace course {

using io::number;
using json = nlohmann::ordered_json;  // a shape's sizes have an order

namespace {

struct Outcome {
    std::string beside = "-", beside_us = "-", ratio = "-", bar;
    bool holds = false;
};

std::string at_least(double bar) {
    return "at least " + number(bar, 2);
}

Outcome in_microseconds(const Record& record, double most) {
    return {.bar = "at most " + number(most, 0) + " us", .holds = record.at("us_median") <= most};
}

Outcome in_reads(double us, double most, const std::string& read, double read_us) {
    const double reads = us / read_us;
    return {read, number(read_us, 1), number(reads, 3), "at most " + number(most, 2),
            reads <= most};
}

Outcome in_speed(double us, double least, const std::string& beside, double beside_us) {
    const double ratio = beside_us / us;
    return {beside, number(beside_us, 1), number(ratio, 3), at_least(least), ratio >= least};
}

// Where a record may have two times: of launches in turn with others', and of many in a row.
constexpr const char *kInTurn = "us_median", *kInBlocks = "us_in_blocks";

// Of the records of one GPU. Where it is not the one that all is measured on, a bar without a record is no gap.
std::string bars_on(const std::filesystem::path& folder, const runner::Stage& stage,
                    const std::filesystem::path& bars, bool with_gaps) {
    const auto file_at = [&](const char* name) -> std::optional<records::File> {
        const std::filesystem::path path = folder / name;
        if (!std::filesystem::exists(path)) return std::nullopt;
        return records::read(path);
    };
    const std::optional<records::File> own = file_at(records::kOwn),
                                       peers = file_at(records::kPeers);
    if (!own) return kNotMeasured;
    bool beside_peers = false;
    std::string text =
        head_of({"variant", "type", "shape", "us", "beside", "its us", "ratio", "bar", ""});
    const auto add_row = [&](const json& bar) {
        const std::string variant = bar.at("variant"), dtype = bar.value("dtype", "float32");
        const runner::Shape shape = runner::shape_from(bar.at("shape")).value();
        const std::string than = bar.value("than", "");
        // The fastest of those that are called so.
        const auto fastest = [&](const records::File& file, const char* us,
                                 const auto& is_called_so) {
            const Record* found = nullptr;
            for (const Record& record : file.records) {
                if (record.dtype == dtype && record.has(us) &&
                    is_called_so(record, record.variant) &&
                    shape_of(record, operation_of(stage, record)) == shape &&
                    (found == nullptr || record.at(us) < found->at(us)))
                    found = &record;
            }
            return found;
        };
        const Record *ours = nullptr, *theirs = nullptr;
        const char* us = kInTurn;
        const auto is_ours = [&](const Record&, const std::string& name) {
            return name == variant;
        };
        const auto find = [&](const records::File& file, const char* time) {
            us = time;
            ours = fastest(file, us, is_ours);
            if (than.empty() || ours == nullptr) return;
            // Whoever is called just so is meant, also where it rounds after each of several steps. Of those whose
            // names begin so, only what computes the same.
            theirs = fastest(file, us, [&](const Record& record, const std::string& name) {
                return name == than && record.shown_as == ours->shown_as;
            });
            if (theirs == nullptr)
                theirs = fastest(file, us, [&](const Record& record, const std::string& name) {
                    return name != variant && name.rfind(than, 0) == 0 && record.op == ours->op;
                });
        };
        for (const std::optional<records::File>* file :
             {&peers, &own}) {  // timed together: both in one of them
            if (!*file || (file == &peers && than.empty())) continue;
            if (!than.empty()) find(**file, kInBlocks);
            if (theirs == nullptr) find(**file, kInTurn);
            if (theirs == nullptr) continue;
            beside_peers = beside_peers || file == &peers;
            break;
        }
        std::vector<std::string> row = {"`" + variant + "`", dtype, text_of(shape)};
        if (ours == nullptr || (!than.empty() && theirs == nullptr)) {
            row.insert(row.end(), {"-", "-", "-", "-", "-", "not measured"});
            if (with_gaps) text += row_of(row);
            return;
        }
        const bool in_units_of_reads = bar.contains("reads");
        const std::string beside = theirs != nullptr   ? "`" + theirs->variant + "`"
                                   : in_units_of_reads ? "one read"
                                                       : "the roof";
        const double beside_us = theirs != nullptr ? theirs->at(us) : roof_us(*ours);
        const Outcome outcome =
            in_units_of_reads    ? in_reads(ours->at(us), bar.at("reads"), beside, beside_us)
            : bar.contains("us") ? in_microseconds(*ours, bar.at("us"))
                                 : in_speed(ours->at(us), bar.at("speed"), beside, beside_us);
        const std::string how = us == kInBlocks ? ", in blocks" : "";
        row.insert(row.end(), {number(ours->at(us), 1) + how, outcome.beside, outcome.beside_us,
                               outcome.ratio, outcome.bar, outcome.holds ? "holds" : "**missed**"});
        text += row_of(row);
    };
    for (const json& group : json::parse(read_file(bars))) {
        for (const json& one : group.at("bars")) {
            json bar = group;
            bar.erase("bars");
            bar.update(one);
            add_row(bar);
        }
    }
    return text + stamp(*own) + (beside_peers ? stamp(*peers) : "");
}

}  // namespace

std::string bars_part(const std::filesystem::path& repository, const runner::Stage& stage) {
    const std::filesystem::path bars = records::expected_of(repository, stage.name) / "bars.json";
    const std::string first = records::folder_of(kGpu);
    const auto folder_for = [&](const std::string& gpu) {
        return records::recorded_of(repository, stage.name, gpu);
    };
    std::string text = bars_on(folder_for(first), stage, bars, true);
    for (const std::string& other : records::gpu_folders(repository)) {
        if (other != first && std::filesystem::exists(folder_for(other) / records::kOwn))
            text += "\nThe same, measured on another GPU:\n\n" +
                    bars_on(folder_for(other), stage, bars, false);
    }
    return text;
}

}  // namespace course
