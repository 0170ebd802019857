// SPDX-License-Identifier: MIT
#include "draw_variant.hpp"

#include "pictures.hpp"
#include "scene.hpp"
#include "source_map.hpp"
#include "variant_run.hpp"

namespace xray {

std::vector<Picture> pictures_of(const std::string& stage, const runner::Variant& variant,
                                 const runner::Shape& shape, runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    Scenes scenes(variant.shared_accesses_fuse);
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
            Caption caption = caption_at(scene.shared->place);
            if (variant.shared_accesses_fuse) caption.where += ", as the compiler fuses it";
            pictures.push_back({name + "_banks.svg", draw_banks(*scene.shared, caption)});
        }
        if (scene.global) {
            pictures.push_back({name + "_sectors.svg",
                                draw_sectors(*scene.global, caption_at(scene.global->place))});
        }
    }
    return pictures;
}

}  // namespace xray
