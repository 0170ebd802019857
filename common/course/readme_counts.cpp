// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "common/course/readme_parts.hpp"
#include "common/io/table.hpp"
#include "common/records/where.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/runner/record.hpp"
#include "common/runner/run.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

namespace course {

using io::number;
using report::head_of;
using report::row_of;
using report::with_dtype;
using report::with_thousands;
using xray::AccessKind;

namespace {

std::string megabytes(double bytes) {
    return number(bytes / 1e6, bytes < 1e7 ? 2 : 0);
}

const records::Profile* recorded(const std::vector<records::Recording>& recordings,
                                 const std::string& stage, const std::string& variant,
                                 const runner::Shape& shape, runner::DType dtype) {
    for (const records::Recording& recording : recordings) {
        if (const records::Profile* found =
                recording.find(stage, variant, word_of(shape), name_of(dtype)))
            return found;
    }
    return nullptr;
}

size_t recorded_variants(const runner::Stage& stage, const GpuCounters& counters) {
    return static_cast<size_t>(std::count_if(
        stage.variants.begin(), stage.variants.end(), [&](const runner::Variant& variant) {
            return recorded(counters.recordings, stage.name, variant.name,
                            runner::usual_shape_of(variant), variant.dtypes.front()) != nullptr;
        }));
}

// As it is looked at unless told otherwise: at its usual shape, in its first type. Both a table and the records of a
// stage want that: it is counted once.
const xray::CountedVariant& usual_count(const std::string& stage, const runner::Variant& variant) {
    static std::map<std::string, xray::CountedVariant> known;
    const std::string name = stage + "/" + variant.name;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    return known
        .emplace(name, xray::count(stage, variant, runner::usual_shape_of(variant),
                                   variant.dtypes.front()))
        .first->second;
}

}  // namespace

std::string xray_part(const runner::Stage& stage, const GpuCounters& shown,
                      const GpuCounters& other) {
    if (stage.variants.empty()) return "";
    const bool is_other = recorded_variants(stage, other) > recorded_variants(stage, shown);
    const auto& [gpu_name, recordings] = is_other ? other : shown;
    const runner::Shape usual = stage.variants.front().operation->usual_shape();
    std::string text = "Counted at " + text_of(usual) + " (`./stages xray " +
                       stage.name.substr(0, 2) +
                       " --lines --all` shows every line). Each pair is "
                       "the CPU device's count / the counter of an " +
                       gpu_name + ":\n\n";
    text += head_of({"variant", "accesses per element", "load requests", "load sectors",
                     "store requests", "store sectors", "shared-memory bank conflicts"});
    for (const runner::Variant& variant : stage.variants) {
        const runner::Shape shape = runner::usual_shape_of(variant);
        const runner::DType dtype = variant.dtypes.front();
        if (!runner::obstacle_of(variant, shape, dtype).empty()) continue;
        const std::string where = shape == usual ? "" : " at " + text_of(shape);
        const xray::CountedVariant& counted = usual_count(stage.name, variant);
        // A library's kernels are others than those counted here.
        const records::Profile* const gpu =
            variant.may_use_libraries
                ? nullptr
                : recorded(recordings, stage.name, variant.name, shape, dtype);
        const std::string missing = variant.may_use_libraries ? "a library's" : "not recorded";
        const auto pair = [&](double count, const char* key) {
            return with_thousands(count) + " / " +
                   (gpu == nullptr ? missing : with_thousands(gpu->sum(key)));
        };
        const xray::Counts loads = total(counted.kernels, AccessKind::global_load);
        const xray::Counts stores = total(counted.kernels, AccessKind::global_store);
        const auto conflicts = static_cast<double>(counted_conflicts(counted));
        const runner::Traffic traffic = counted.traffic();
        std::string conflicts_gpu = missing;
        if (gpu != nullptr) {
            int64_t sum = 0;
            for (const xray::Conflicts& each : xray::conflicts(counted, *gpu)) sum += each.recorded;
            conflicts_gpu = with_thousands(static_cast<double>(sum));
        }
        text += row_of({with_dtype("`" + variant.name + "`", name_of(dtype)) + where,
                        number(traffic.loads, 2) + " + " + number(traffic.stores, 2),
                        pair(static_cast<double>(loads.requests), "global_load_requests"),
                        pair(static_cast<double>(loads.sectors), "global_load_sectors"),
                        pair(static_cast<double>(stores.requests), "global_store_requests"),
                        pair(static_cast<double>(stores.sectors), "global_store_sectors"),
                        with_thousands(conflicts) + " / " + conflicts_gpu});
    }
    return text;
}

namespace {

struct Banks {
    runner::Shape counted, recorded;
    std::vector<const runner::Variant*> variants;

    Banks(const runner::Stage& stage, const std::string& words) {
        std::istringstream text(words);
        std::string shape, other;
        text >> shape >> other;
        counted = runner::shape_from(shape).value();
        recorded = runner::shape_from(other).value();
        for (std::string name; text >> name;) {
            const auto found = std::find_if(stage.variants.begin(), stage.variants.end(),
                                            [&](const auto& each) { return each.name == name; });
            if (found == stage.variants.end())
                throw std::runtime_error(stage.name + " has no variant " + name +
                                         " beyond its lesson");
            variants.push_back(&*found);
        }
    }
};

}  // namespace

std::string banks_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings,
                       const std::string& words) {
    const Banks banks(stage, words);
    std::string text =
        "Matrices loaded from shared memory by `ldmatrix`, counted on the CPU device at " +
        text_of(banks.counted) + " / by an " +
        records::shown_gpu(STAGES_SOURCE_DIRECTORY, stage.name) + " at " + text_of(banks.recorded) +
        ":\n\n";
    text += head_of({"variant", "requests", "wavefronts", "of each request", "bank conflicts"});
    for (const runner::Variant* variant : banks.variants) {
        const runner::DType dtype = variant->dtypes.front();
        const xray::SharedCost here =
            counted_matrix_loads(xray::count(stage.name, *variant, banks.counted, dtype));
        const records::Profile* const gpu =
            recorded(recordings, stage.name, variant->name, banks.recorded, dtype);
        const auto requests = static_cast<double>(here.requests),
                   wavefronts = static_cast<double>(here.wavefronts),
                   fewest = wavefronts - static_cast<double>(here.conflicts);
        std::vector<std::string> cells = {with_thousands(requests), with_thousands(wavefronts),
                                          number(wavefronts / requests, 0),
                                          with_thousands(wavefronts - fewest)};
        if (gpu != nullptr) {
            const double requests_there = gpu->sum("matrix_load_requests"),
                         wavefronts_there = gpu->sum("matrix_load_wavefronts");
            const std::string there[] = {
                with_thousands(requests_there), with_thousands(wavefronts_there),
                number(wavefronts_there / requests_there, 0),
                with_thousands(wavefronts_there - requests_there * fewest / requests)};
            for (size_t i = 0; i < cells.size(); ++i) cells[i] += " / " + there[i];
        }
        cells.insert(cells.begin(), with_dtype("`" + variant->name + "`", name_of(dtype)));
        text += row_of(cells);
    }
    return text;
}

namespace {

constexpr double kSector = 32;  // bytes

}  // namespace

std::string counted_records(const runner::Stage& stage) {
    records::File file;
    for (const runner::Variant& variant : stage.variants) {
        const runner::DType dtype = variant.dtypes.front();
        const xray::CountedVariant& run = usual_count(stage.name, variant);
        const runner::Traffic counted = run.traffic(), declared = run.declared();
        const xray::Counts loads = total(run.kernels, AccessKind::global_load);
        const xray::Counts stores = total(run.kernels, AccessKind::global_store);
        records::Record record = runner::plain_record(stage.name, variant.name, *variant.operation,
                                                      runner::usual_shape_of(variant));
        if (!record.flat.empty()) record.shape.clear();  // rows and columns say all
        record.role = "ours";
        record.backend = "cpu";
        record.dtype = name_of(dtype);
        record.figures = {{"declared_loads_per_element", declared.loads},
                          {"declared_stores_per_element", declared.stores},
                          {"loads_per_element", counted.loads},
                          {"stores_per_element", counted.stores}};
        const auto moved = runner::bytes_moved_per_byte(loads.sectors + stores.sectors,
                                                        loads.bytes + stores.bytes);
        if (moved) record.figures["bytes_moved_per_byte"] = *moved;
        record.overflows = variant.overflows;
        record.further = variant.further;
        file.records.push_back(record);
    }
    return records::json_of(file);
}

std::string bytes_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings) {
    std::string text =
        "Megabytes of one launch, from the counters of an " +
        records::shown_gpu(STAGES_SOURCE_DIRECTORY, stage.name) +
        ": what x and y hold, what the warps asked for, what of it reached L2, and what DRAM "
        "delivered and took. The L2 of this GPU has two halves; what lives in the other half "
        "passes both and counts twice. What is still in the L2 when the kernel ends is not counted "
        "as written.\n\n";
    text += head_of({"variant", "shape", "x + y", "asked for", "through L2", "read from DRAM",
                     "written to DRAM"});
    for (const records::Recording& recording : recordings) {
        for (const records::Profile& variant : recording.variants) {
            if (variant.stage != stage.name) continue;
            const auto described =
                std::find_if(stage.variants.begin(), stage.variants.end(),
                             [&](const auto& each) { return each.name == variant.variant; });
            if (described == stage.variants.end()) continue;
            // The odd shapes are recorded for their counts, and too small to tell caches from memory.
            const runner::Operation& operation = *described->operation;
            const runner::Shape shape = runner::shape_from(variant.shape).value();
            if (operation.elements(shape) < operation.elements(operation.usual_shape())) continue;
            const runner::Cost held = operation.cost(shape, runner::parse_dtype(variant.dtype));
            const double asked =
                variant.sum("global_load_sectors") + variant.sum("global_store_sectors");
            const double through_l2 =
                variant.sum("l2_read_sectors") + variant.sum("l2_write_sectors");
            text +=
                row_of({"`" + variant.variant + "`", with_dtype(text_of(shape), variant.dtype),
                        megabytes(static_cast<double>(held.bytes())), megabytes(kSector * asked),
                        megabytes(kSector * through_l2), megabytes(variant.sum("dram_read_bytes")),
                        megabytes(variant.sum("dram_write_bytes"))});
        }
    }
    return text;
}

}  // namespace course
