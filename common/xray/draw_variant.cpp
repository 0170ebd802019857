// SPDX-License-Identifier: MIT
#include "draw_variant.hpp"

#include "pictures.hpp"
#include "scene.hpp"
#include "source_map.hpp"
#include "variant_run.hpp"

namespace xray {
namespace {

// By thread the elements of x that it had read before it met others. Empty where the kernel read
// something else, merges no pairs, or nobody met anybody.
std::vector<std::vector<float>> values_read(const KernelScene& scene, const VariantRun& run) {
    if (!scene.pairs || scene.collectives.empty() || scene.collectives.front() == 0) return {};
    const std::vector<double> x = run.values();
    const auto base = reinterpret_cast<uintptr_t>(run.x());
    std::vector<std::vector<float>> values(scene.read.size());
    for (size_t thread = 0; thread < values.size(); thread++) {
        for (const uintptr_t address : scene.read[thread]) {
            const uintptr_t index = (address - base) / runner::size_of(run.dtype());
            if (address < base || index >= x.size()) return {};
            values[thread].push_back(static_cast<float>(x[index]));
        }
    }
    return values;
}

}  // namespace

std::vector<Picture> pictures_of(const std::string& stage, const runner::Variant& variant,
                                 runner::Shape shape, runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    Scenes scenes;
    Counter counter(&scenes);
    {
        const Counting counting(counter);
        run();
    }
    const SourceMap sources(counter.kernels());
    const std::string title = stage + "/" + variant.name;
    const auto caption_at = [&](uintptr_t place) {
        return Caption{title, sources.text_of(place), sources.source_of(sources.line_of(place))};
    };

    std::vector<Picture> pictures;
    const bool several = scenes.kernels().size() > 1;
    for (size_t i = 0; i < scenes.kernels().size(); i++) {
        const KernelScene& scene = scenes.kernels()[i];
        const std::string name =
            stage + "_" + variant.name + (several ? "_" + std::to_string(i + 1) : "");
        if (scene.shared) {
            pictures.push_back(
                {name + "_banks.svg", draw_banks(*scene.shared, caption_at(scene.shared->place))});
        }
        if (scene.global) {
            pictures.push_back({name + "_sectors.svg",
                                draw_sectors(*scene.global, caption_at(scene.global->place))});
        }
        const std::vector<std::vector<float>> values = values_read(scene, run);
        if (!values.empty()) {
            const Caption caption{title, scene.name + ", first block,", "as it ran"};
            pictures.push_back({name + "_merges.svg", draw_merges(values, caption)});
        }
    }
    return pictures;
}

}  // namespace xray
