// SPDX-License-Identifier: MIT
#include "common/course/readme.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "common/course/tables.hpp"
#include "common/io/table.hpp"
#include "common/peers/comparison.hpp"
#include "common/runner/run.hpp"
#include "common/xray/recorded.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

namespace course {
namespace {

using io::number;
using json = nlohmann::ordered_json;  // a shape's sizes have an order
using xray::AccessKind;

// Makes a generated part by its name; nothing for a name it does not know.
using PartMaker = std::function<std::optional<std::string>(const std::string&)>;

constexpr const char* kGpu = "NVIDIA H200";

std::string with_thousands(double value) {
    const std::string digits = number(value, 0);
    std::string text;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string megabytes(double bytes) {
    return number(bytes / 1e6, bytes < 1e7 ? 2 : 0);
}

// float32 goes without saying.
std::string with_dtype(const std::string& shape, const std::string& dtype) {
    return shape + (dtype == "float32" ? "" : ", " + dtype);
}
std::string shape_text(const json& record) {
    std::string text;
    for (const auto& [name, size] : record.at("shape").items())
        text += (text.empty() ? "" : " x ") + std::to_string(size.get<int64_t>());
    return with_dtype(text, record.at("dtype"));
}

// ---------------------------------------------------------------- what the x-ray counts

const xray::RecordedVariant* recorded(const std::vector<xray::Recording>& recordings,
                                      const std::string& stage, const std::string& variant,
                                      const runner::Shape& shape) {
    for (const xray::Recording& recording : recordings) {
        if (const xray::RecordedVariant* found = recording.find(stage, variant, shape))
            return found;
    }
    return nullptr;
}

std::string xray_part(const runner::Stage& stage, const std::vector<xray::Recording>& recordings) {
    const runner::Shape usual = stage.variants.front().operation->usual_shape();
    std::string text = "Counted at " + text_of(usual) + " (`./stages xray " +
                       stage.name.substr(0, 2) +
                       " --lines` shows every line). Each pair is "
                       "the CPU device's count / the counter of an " +
                       std::string(kGpu) + ":\n\n";
    text += head_of({"variant", "accesses per element", "load requests", "load sectors",
                     "store requests", "store sectors", "shared-memory bank conflicts"});
    for (const runner::Variant& variant : stage.variants) {
        const runner::Shape shape = variant.operation->usual_shape();
        if (!runner::obstacle_of(variant, shape, runner::DType::float32).empty()) continue;
        const xray::CountedVariant counted = xray::count(stage.name, variant, shape);
        const xray::RecordedVariant* gpu = recorded(recordings, stage.name, variant.name, shape);
        const auto pair = [&](double count, const char* key) {
            return with_thousands(count) + " / " +
                   (gpu == nullptr ? "not recorded" : with_thousands(gpu->sum(key)));
        };
        const xray::Counts loads = total(counted.kernels, AccessKind::global_load);
        const xray::Counts stores = total(counted.kernels, AccessKind::global_store);
        const double conflicts =
            static_cast<double>(counted_conflicts(counted, AccessKind::shared_load) +
                                counted_conflicts(counted, AccessKind::shared_store));
        const runner::Traffic traffic = counted.traffic();
        const std::string conflicts_gpu =
            gpu == nullptr ? "not recorded"
                           : with_thousands(static_cast<double>(
                                 recorded_conflicts(*gpu, counted, AccessKind::shared_load) +
                                 recorded_conflicts(*gpu, counted, AccessKind::shared_store)));
        text += row_of({"`" + variant.name + "`",
                        number(traffic.loads, 2) + " + " + number(traffic.stores, 2),
                        pair(static_cast<double>(loads.requests), "global_load_requests"),
                        pair(static_cast<double>(loads.sectors), "global_load_sectors"),
                        pair(static_cast<double>(stores.requests), "global_store_requests"),
                        pair(static_cast<double>(stores.sectors), "global_store_sectors"),
                        with_thousands(conflicts) + " / " + conflicts_gpu});
    }
    return text;
}

constexpr double kSector = 32;  // bytes

// The sizes as they stand at the top of a record, or all of them below "shape".
json fields_of(const runner::Operation& operation, const runner::Shape& shape) {
    json fields;
    for (const auto& [name, size] : operation.record_fields(shape)) fields[name] = size;
    if (!fields.empty()) return fields;
    const std::vector<std::string> names = operation.size_names(shape);
    for (size_t i = 0; i < names.size(); ++i) fields["shape"][names[i]] = shape[i];
    for (const auto& [name, value] : shape.options()) fields["shape"][name] = value;
    return fields;
}

// The same counts as records, for the pictures: like those of `run`, but always of the usual shape,
// and with nothing in them that differs from one machine or day to another.
std::string counted_records(const runner::Stage& stage) {
    json document = {{"schema", 1}, {"records", json::array()}};
    for (const runner::Variant& variant : stage.variants) {
        const runner::Shape shape = variant.operation->usual_shape();
        const xray::CountedVariant run = xray::count(stage.name, variant, shape);
        const runner::Traffic counted = run.traffic(), declared = run.declared();
        const xray::Counts loads = total(run.kernels, AccessKind::global_load);
        const xray::Counts stores = total(run.kernels, AccessKind::global_store);
        const double moved = kSector * static_cast<double>(loads.sectors + stores.sectors);
        json record = {{"stage", stage.name}, {"variant", variant.name},
                       {"role", "ours"},      {"op", variant.operation->name()},
                       {"backend", "cpu"},    {"dtype", "float32"}};
        record.update(fields_of(*variant.operation, shape));
        record["declared_loads_per_element"] = declared.loads;
        record["declared_stores_per_element"] = declared.stores;
        record["loads_per_element"] = counted.loads;
        record["stores_per_element"] = counted.stores;
        record["bytes_moved_per_byte"] = moved / static_cast<double>(loads.bytes + stores.bytes);
        if (variant.overflows) record["overflows"] = true;
        document["records"].push_back(record);
    }
    return document.dump(1) + "\n";
}

// Where the requested bytes came from, on the GPU: the part that the x-ray cannot see.
std::string bytes_part(const runner::Stage& stage, const std::vector<xray::Recording>& recordings) {
    std::string text =
        "Megabytes of one launch, from the counters of an " + std::string(kGpu) +
        ": what x and y hold, what the warps asked for, what of it reached L2, and what DRAM "
        "delivered and took. The L2 of this GPU has two halves; what lives in the other half "
        "passes both and counts twice. What is still in the L2 when the kernel ends is not counted "
        "as written.\n\n";
    text += head_of({"variant", "shape", "x + y", "asked for", "through L2", "read from DRAM",
                     "written to DRAM"});
    for (const xray::Recording& recording : recordings) {
        for (const xray::RecordedVariant& variant : recording.variants) {
            if (variant.stage != stage.name) continue;
            const auto described =
                std::find_if(stage.variants.begin(), stage.variants.end(),
                             [&](const auto& each) { return each.name == variant.variant; });
            if (described == stage.variants.end()) continue;
            const runner::Cost held = described->operation->cost(variant.shape, variant.dtype);
            const double asked =
                variant.sum("global_load_sectors") + variant.sum("global_store_sectors");
            const double through_l2 =
                variant.sum("l2_read_sectors") + variant.sum("l2_write_sectors");
            text +=
                row_of({"`" + variant.variant + "`",
                        with_dtype(text_of(variant.shape), name_of(variant.dtype)),
                        megabytes(static_cast<double>(held.bytes())), megabytes(kSector * asked),
                        megabytes(kSector * through_l2), megabytes(variant.sum("dram_read_bytes")),
                        megabytes(variant.sum("dram_write_bytes"))});
        }
    }
    return text;
}

// ---------------------------------------------------------------- what was measured

// The records hold every width of the sweep; the README shows a few round ones, and what a stage
// measures besides, which has more rows.
bool shown(const json& record) {
    if (!record.contains("cols")) return true;
    const int64_t cols = record.at("cols");
    return record.at("rows") > 4000 || cols == 1000 || cols == 4000 || cols == 32000 ||
           cols == 128256 || cols == 1000000;
}

runner::Shape shape_of(const json& record) {
    std::vector<int64_t> sizes;
    for (const auto& [name, size] : record.at("shape").items()) sizes.push_back(size);
    return runner::Shape(sizes);
}

// The roof's time with the accesses that the lesson claims, apart from what a launch costs: the time
// if every access went to memory.
double expected_us(const runner::Variant& variant, const json& record) {
    const double roof_us =
        record.at("bytes").get<double>() / record.at("roof_gbps").get<double>() / 1e3;
    const double empty_us = record.at("us_empty");
    const runner::Operation& operation = *variant.operation;
    const runner::Shape shape = shape_of(record);
    const runner::DType dtype = runner::parse_dtype(record.at("dtype"));
    const auto bytes_of_elements =
        static_cast<double>(operation.elements(shape)) * static_cast<double>(size_of(dtype));
    const double roof_accesses = operation.roof() == runner::Roof::read
                                     ? 1
                                     : record.at("bytes").get<double>() / bytes_of_elements;
    const runner::Traffic declared = runner::traffic_of(variant, shape, dtype);
    const double accesses = declared.loads + declared.stores;
    return empty_us + std::max(0.0, roof_us - empty_us) * accesses / roof_accesses;
}

std::string measured_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const std::filesystem::path path = folder / (stage.name + ".json");
    const json document = json::parse(read_file(path));
    std::string text = head_of({"variant", "shape", "expected us", "measured us", "effective GB/s",
                                "of the roof", "speed-up over"});
    for (const json& record : document.at("records")) {
        if (!record.contains("us_median") || !shown(record)) continue;
        const std::string name = record.at("variant");
        const auto variant =
            std::find_if(stage.variants.begin(), stage.variants.end(),
                         [&](const runner::Variant& each) { return each.name == name; });
        if (variant == stage.variants.end()) continue;
        const double speedup = record.value("speedup", 0.0);
        text += row_of(
            {"`" + name + "`", shape_text(record), number(expected_us(*variant, record), 1),
             number(record.at("us_median").get<double>(), 1),
             number(record.at("gbps").get<double>(), 0),
             number(record.at("gbps").get<double>() / record.at("roof_gbps").get<double>(), 2),
             speedup == 0
                 ? ""
                 : number(speedup, 2) + " `" + record.at("baseline").get<std::string>() + "`"});
    }
    return text + stamp(document);
}

// For a stage with many variants: of each operation, the share of the roof's speed that each variant has
// at each shape, the best of it in bold.
std::string shares_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const json document = json::parse(read_file(folder / (stage.name + ".json")));
    struct Table {
        std::vector<std::string> variants;
        std::vector<std::string> shapes;
        std::map<std::pair<std::string, std::string>, double> share;
    };
    const auto add_once = [](std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    std::vector<std::string> operations;
    std::map<std::string, Table> tables;
    for (const json& record : document.at("records")) {
        const bool any_axis = record.contains("shape") && record.at("shape").contains("inner");
        if (!record.contains("us_median") || !(shown(record) || any_axis)) continue;
        const std::string operation = record.at("op");
        add_once(operations, operation);
        Table& table = tables[operation];
        const std::string shape = shape_text(record);
        const std::string variant = record.at("variant");
        add_once(table.variants, variant);
        add_once(table.shapes, shape);
        table.share[{shape, variant}] =
            record.at("gbps").get<double>() / record.at("roof_gbps").get<double>();
    }
    std::string text;
    for (const std::string& operation : operations) {
        const Table& table = tables[operation];
        std::vector<std::string> head = {"`" + operation + "`"};
        for (const std::string& variant : table.variants) head.push_back("`" + variant + "`");
        text += head_of(head);
        for (const std::string& shape : table.shapes) {
            double best = 0;
            for (const std::string& variant : table.variants) {
                const auto found = table.share.find({shape, variant});
                if (found != table.share.end()) best = std::max(best, found->second);
            }
            std::vector<std::string> row = {shape};
            for (const std::string& variant : table.variants) {
                const auto found = table.share.find({shape, variant});
                const std::string share =
                    found == table.share.end() ? "-" : number(found->second, 2);
                row.push_back(share == number(best, 2) ? "**" + share + "**" : share);
            }
            text += row_of(row);
        }
        text += "\n";
    }
    return text + stamp(document);
}

// What stage 03 gains over 02 at the paper's widths, for its two numbers of rows.
std::string paper_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const json document = json::parse(read_file(folder / (stage.name + ".json")));
    std::map<int64_t, std::map<int64_t, double>> speedups;  // by columns, then rows
    for (const json& record : document.at("records")) {
        const int64_t cols = record.at("cols");
        const bool paper_width = cols % 63 == 0 && (cols / 63 & (cols / 63 - 1)) == 0;
        const bool compared =
            record.value("baseline", "") == stage.baseline->name && record.at("dtype") == "float32";
        if (!compared || !paper_width || cols < 1000) continue;
        speedups[cols][record.at("rows")] = record.at("speedup");
    }
    std::string text = head_of({"columns", "speed-up with 4000 rows", "speed-up with 10 rows"});
    for (const auto& [cols, by_rows] : speedups) {
        const auto cell = [&of_width = by_rows](int64_t rows) {
            const auto found = of_width.find(rows);
            return found == of_width.end() ? "-" : number(found->second, 2);
        };
        text += row_of({with_thousands(static_cast<double>(cols)), cell(4000), cell(10)});
    }
    return text + stamp(document);
}

// Our variants and what one would use instead, timed in turn: a table for each operation, a row for
// each shape, the fastest of it in bold (the roof computes nothing and takes no part; what is known
// to be wrong is not shown).
std::string peers_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const json document = json::parse(read_file(folder / (stage.name + ".peers.json")));
    std::string text;
    std::vector<std::string> operations;
    for (const json& record : document.at("records")) {
        const std::string operation = record.at("op");
        if (std::find(operations.begin(), operations.end(), operation) == operations.end())
            operations.push_back(operation);
    }
    for (const std::string& operation : operations) {
        std::vector<std::string> contenders;
        std::vector<std::string> roofs;  // behind all others
        std::vector<std::string> shapes;
        std::map<std::pair<std::string, std::string>, const json*> found;
        for (const json& record : document.at("records")) {
            if (record.at("op") != operation || !shown(record)) continue;
            if (record.at("role") == "invalid") continue;
            const std::string shape = shape_text(record);
            const std::string contender = record.at("variant");
            if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
                shapes.push_back(shape);
            std::vector<std::string>& list = record.at("role") == "roof" ? roofs : contenders;
            if (std::find(list.begin(), list.end(), contender) == list.end())
                list.push_back(contender);
            found[{shape, contender}] = &record;
        }
        contenders.insert(contenders.end(), roofs.begin(), roofs.end());
        std::vector<std::string> titles = {"us of `" + operation + "`"};
        for (const std::string& contender : contenders) titles.push_back("`" + contender + "`");
        text += head_of(titles);
        for (const std::string& shape : shapes) {
            double best = std::numeric_limits<double>::infinity();
            for (const auto& [key, record] : found) {
                if (key.first == shape && record->at("role") != "roof")
                    best = std::min(best, record->at("us_median").get<double>());
            }
            std::vector<std::string> row = {shape};
            for (const std::string& contender : contenders) {
                const auto cell = found.find({shape, contender});
                if (cell == found.end()) {
                    row.emplace_back("-");
                    continue;
                }
                const double us = cell->second->at("us_median");
                const bool fastest = us == best && cell->second->at("role") != "roof";
                row.push_back(fastest ? "**" + number(us, 1) + "**" : number(us, 1));
            }
            text += row_of(row);
        }
        text += "\n";
    }
    text.pop_back();
    return text + stamp(document);
}

// Where in a grid of widths a variant is farthest from the copy, by type.
std::string widths_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    constexpr int64_t kFirst = 8;  // columns; of narrower rows little is to be had
    const json document = json::parse(read_file(folder / (stage.name + ".widths.json")));
    struct Width {
        double of_roof;
        int64_t cols;
    };
    std::vector<std::string> dtypes;
    std::map<std::pair<std::string, std::string>, std::vector<Width>> widths;
    for (const json& record : document.at("records")) {
        if (record.at("cols") < kFirst) continue;
        const std::string dtype = record.at("dtype");
        if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
        widths[{dtype, record.at("variant")}].push_back(
            {record.at("gbps").get<double>() / record.at("roof_gbps").get<double>(),
             record.at("cols")});
    }
    std::string text = head_of({"type", "variant", "least of the copy", "at columns", "median",
                                "widths from " + std::to_string(kFirst) + " on"});
    for (const std::string& dtype : dtypes) {
        for (const runner::Variant& variant : stage.variants) {
            const auto found = widths.find({dtype, variant.name});
            if (found == widths.end()) continue;
            std::vector<Width>& all = found->second;
            std::sort(all.begin(), all.end(),
                      [](const Width& a, const Width& b) { return a.of_roof < b.of_roof; });
            text += row_of({dtype, "`" + variant.name + "`", number(all.front().of_roof, 2),
                            with_thousands(static_cast<double>(all.front().cols)),
                            number(all[all.size() / 2].of_roof, 2), std::to_string(all.size())});
        }
    }
    return text + stamp(document);
}

// What compiling a header costs, as compile_cost.py recorded it.
std::string compiled_part(const std::filesystem::path& recorded, const runner::Stage& stage) {
    const json document = json::parse(read_file(recorded / "nvcc" / (stage.name + ".json")));
    std::string text = head_of({"instantiated", "kernels", "seconds of nvcc", "kB of object file"});
    for (const json& record : document.at("records")) {
        text += row_of({record.at("calls"), std::to_string(record.at("kernels").get<int64_t>()),
                        number(record.at("seconds").get<double>(), 1),
                        number(record.at("bytes").get<double>() / 1000, 0)});
    }
    return text + "\nnvcc " + document.at("nvcc").get<std::string>() + ", for sm_90a.\n";
}

// What each stage's fastest variant reaches at a few shapes, of what the course begins with.
std::string speeds_part(const std::filesystem::path& folder,
                        const std::vector<runner::Stage>& stages) {
    const std::vector<runner::Shape> shapes = {
        {4000, 1000}, {4000, 4000}, {4000, 128256}, {10, 128256}, {10, 1000000}};
    std::vector<std::string> titles = {"GB/s (of the copy)"};
    for (const runner::Shape& shape : shapes) titles.push_back(text_of(shape));
    const std::string op = stages.front().variants.front().operation->name();
    std::string text = head_of(titles);
    json document;
    for (const runner::Stage& stage : stages) {
        document = json::parse(read_file(folder / (stage.name + ".json")));
        std::vector<std::string> row = {"[" + stage.name + "](" + stage.name + ")"};
        for (const runner::Shape& shape : shapes) {
            const json* best = nullptr;
            for (const json& record : document.at("records")) {
                const bool here = record.at("op") == op && record.at("role") == "ours" &&
                                  shape_of(record) == shape && record.contains("us_median");
                if (here && (best == nullptr || record.at("us_median") < best->at("us_median")))
                    best = &record;
            }
            if (best == nullptr) {
                row.emplace_back("-");
                continue;
            }
            const double gbps = best->at("gbps");
            row.push_back(number(gbps, 0) + " (" +
                          number(gbps / best->at("roof_gbps").get<double>(), 2) + ") `" +
                          best->at("variant").get<std::string>() + "`");
        }
        text += row_of(row);
    }
    return text + stamp(document);
}

}  // namespace

std::vector<StaleReadme> stale_readmes(const std::filesystem::path& repository,
                                       const std::vector<runner::Stage>& stages) {
    const std::filesystem::path folder = repository / "common/recorded" / xray::folder_of(kGpu);
    const std::vector<xray::Recording> recordings =
        xray::read_recordings((folder / "ncu.json").string());
    std::vector<StaleReadme> stale;
    const auto bring_up_to_date = [&](const std::filesystem::path& path, const PartMaker& part) {
        const std::string before = read_file(path);
        const std::string after = with_generated_parts(before, [&](const std::string& name) {
            const std::optional<std::string> text = part(name);
            if (text) return *text;
            throw std::runtime_error(
                path.string() + ": no part is called '" + name +
                "'; there are xray, bytes, measured, shares, paper, peers, widths, "
                "compiled and comparison, and in the main README speeds");
        });
        if (after != before) stale.push_back({path, after});
    };
    bring_up_to_date(repository / "README.md",
                     [&](const std::string& name) -> std::optional<std::string> {
                         if (name == "speeds") return speeds_part(folder, stages);
                         return std::nullopt;
                     });
    for (const runner::Stage& stage : stages) {
        bring_up_to_date(repository / stage.name / "README.md",
                         [&](const std::string& name) -> std::optional<std::string> {
                             if (name == "xray") return xray_part(stage, recordings);
                             if (name == "bytes") return bytes_part(stage, recordings);
                             if (name == "measured") return measured_part(folder, stage);
                             if (name == "shares") return shares_part(folder, stage);
                             if (name == "paper") return paper_part(folder, stage);
                             if (name == "peers") return peers_part(folder, stage);
                             if (name == "widths") return widths_part(folder, stage);
                             if (name == "compiled")
                                 return compiled_part(folder.parent_path(), stage);
                             if (name == "comparison") return comparison_part(folder, stage.name);
                             return std::nullopt;
                         });

        const std::filesystem::path counts =
            repository / "common/recorded/cpu_device" / (stage.name + ".json");
        const std::string counted = counted_records(stage);
        if (!std::filesystem::exists(counts) || read_file(counts) != counted)
            stale.push_back({counts, counted});
    }
    return stale;
}

}  // namespace course
