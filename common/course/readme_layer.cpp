// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "common/course/readme_parts.hpp"
#include "common/io/table.hpp"
#include "common/records/where.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/xray/counted_variant.hpp"

namespace course {

using io::number;
using report::head_of;
using report::row_of;
using report::with_thousands;
using runner::DType;
using xray::AccessKind;

namespace {

constexpr double kSector = 32;  // bytes

// Of a layer: what each step is called, the chain of kernels and the lesson's last version of the one that replaces it,
// where these were counted, and how many arrays of R x H they go through at once.
struct Step {
    const char* words;
    const char* chain;
    const char* fused;
    runner::Shape at;
    double arrays;
    bool of_scores = false;  // these are other arrays: only its kernels count
};
const std::vector<Step>& steps() {
    static const runner::Shape heads = {2, 64, 12, 64}, scores = {2, 128, 4, 64},
                               rows = {256, 1024};
    static const std::vector<Step> all = {
        {"Q, K, V: bias; from tokens to heads", "unfused_qkv_transpose",
         "qkv_transpose_four_tokens", heads, 1},
        {"scale, mask, softmax of the scores", "unfused_masked_softmax", "masked_softmax_packs",
         scores, 0, true},
        {"from heads back to tokens", "unfused_transpose_back", "transpose_back_packs", heads, 1},
        {"bias, residual, layernorm", "unfused_layernorm", "layernorm_packs", rows, 1},
        {"bias, GELU", "unfused_bias_activation", "bias_activation_packs", rows, 4},
        {"bias, residual, layernorm", "unfused_layernorm", "layernorm_packs", rows, 1}};
    return all;
}

// In arrays of R x H.
struct Accesses {
    double reads = 0, writes = 0;

    double all() const { return reads + writes; }
    std::string text() const { return number(reads, 2) + " + " + number(writes, 2); }
    void add(const Accesses& other) {
        reads += other.reads;
        writes += other.writes;
    }
};

struct Counts {
    int64_t kernels = 0;
    Accesses here;
    std::optional<Accesses> gpu;
};

const runner::Variant& variant_named(const runner::Stage& stage, const char* name) {
    return *std::find_if(stage.variants.begin(), stage.variants.end(),
                         [&](const runner::Variant& variant) { return variant.name == name; });
}

Counts counts_of(const runner::Stage& stage, const std::string& name, const Step& step,
                 const std::vector<records::Recording>& recordings) {
    constexpr DType kType = DType::float16;
    const runner::Variant& variant = variant_named(stage, name.c_str());
    const xray::CountedVariant counted = xray::count(stage.name, variant, step.at, kType);
    const double bytes_of_array = static_cast<double>(variant.operation->elements(step.at)) *
                                  static_cast<double>(runner::size_of(kType));
    const auto accesses = [&](double load_sectors, double store_sectors) {
        const double arrays_of_sector = step.arrays * kSector / bytes_of_array;
        return Accesses{load_sectors * arrays_of_sector, store_sectors * arrays_of_sector};
    };
    Counts counts;
    for (const xray::KernelCounts& kernel : counted.kernels) counts.kernels += kernel.launches;
    const auto sectors = [&](AccessKind kind) {
        return static_cast<double>(total(counted.kernels, kind).sectors);
    };
    counts.here = accesses(sectors(AccessKind::global_load), sectors(AccessKind::global_store));
    for (const records::Recording& recording : recordings) {
        const records::Profile* const found =
            recording.find(stage.name, name, word_of(step.at), name_of(kType));
        if (found != nullptr)
            counts.gpu =
                accesses(found->sum("global_load_sectors"), found->sum("global_store_sectors"));
    }
    return counts;
}

// The cells of one side of the table, and its sums.
struct Side {
    Counts sum = {0, {}, Accesses{}};

    void add(std::vector<std::string>& row, const Counts& step, bool of_scores) {
        sum.kernels += step.kernels;
        row.push_back(std::to_string(step.kernels));
        if (of_scores) {
            row.insert(row.end(), {"-", "-"});
            return;
        }
        sum.here.add(step.here);
        if (step.gpu && sum.gpu)
            sum.gpu->add(*step.gpu);
        else
            sum.gpu.reset();
        row.insert(row.end(), {step.here.text(), step.gpu ? step.gpu->text() : "not recorded"});
    }
    void add_sums(std::vector<std::string>& row) const {
        row.insert(row.end(), {std::to_string(sum.kernels), sum.here.text(),
                               sum.gpu ? sum.gpu->text() : "not recorded"});
    }
};

}  // namespace

std::string layer_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings) {
    std::string text = head_of({"step", "unfused: kernels", "counted", "by the GPU",
                                "fused: kernels", "counted", "by the GPU"});
    Side unfused, fused;
    for (const Step& step : steps()) {
        std::vector<std::string> row = {step.words};
        unfused.add(row, counts_of(stage, step.chain, step, recordings), step.of_scores);
        fused.add(row, counts_of(stage, step.fused, step, recordings), step.of_scores);
        text += row_of(row);
    }
    std::vector<std::string> row = {"sum, but for the scores"};
    unfused.add_sums(row);
    fused.add_sums(row);
    text += row_of(row);
    text += "\nFused, " + std::to_string(fused.sum.kernels) + " kernels in place of " +
            std::to_string(unfused.sum.kernels) + " make " +
            number(fused.sum.here.all() / unfused.sum.here.all(), 2) + " of the accesses";
    if (fused.sum.gpu && unfused.sum.gpu)
        text += "; by the counters of an " +
                records::shown_gpu(STAGES_SOURCE_DIRECTORY, stage.name) + ", " +
                number(fused.sum.gpu->all() / unfused.sum.gpu->all(), 2);
    return text + ".\n";
}

std::string memory_part(const runner::Stage& stage) {
    constexpr DType kType = DType::float16;
    const runner::Variant& attention = variant_named(stage, "attention");
    const auto megabytes = [](double bytes) { return number(bytes / 1e6, bytes < 1e7 ? 1 : 0); };
    std::string text = head_of({"batch x heads x queries x keys x size", "Q, K, V and o, MB",
                                "workspace of `attention`, bytes", "scores would be, MB"});
    for (const runner::Shape& shape : {runner::Shape{32, 12, 384, 384, 64},
                                       {8, 16, 2048, 2048, 64},
                                       {4, 16, 8192, 8192, 128},
                                       {1, 16, 16384, 16384, 128}}) {
        const double scores = static_cast<double>(shape[0] * shape[1] * shape[2]) *
                              static_cast<double>(shape[3]) *
                              static_cast<double>(runner::size_of(kType));
        text += row_of(
            {text_of(shape),
             megabytes(static_cast<double>(attention.operation->cost(shape, kType).bytes())),
             with_thousands(static_cast<double>(runner::workspace_of(attention, shape, kType))),
             megabytes(scores)});
    }
    return text;
}

}  // namespace course
