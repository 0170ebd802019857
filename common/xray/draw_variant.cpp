// SPDX-License-Identifier: MIT
#include "draw_variant.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/io/text.hpp"
#include "common/runner/run.hpp"
#include "pictures.hpp"
#include "scene.hpp"
#include "source_map.hpp"
#include "variant_run.hpp"

namespace xray {
namespace {

// Whether the source's line there, or one that calls the function in which it stands, is the one asked for: "99",
// "layernorm.cuh:99".
bool is_at(const SourceMap& sources, uintptr_t place, const std::string& asked) {
    const auto is_asked = [&](const Line& line) {
        const std::string number = std::to_string(line.number);
        const std::string text = "/" + line.file + ":" + number;
        const std::string end = "/" + asked;
        return number == asked || (text.size() >= end.size() &&
                                   text.compare(text.size() - end.size(), end.size(), end) == 0);
    };
    const std::vector<Line>& callers = sources.callers_of(place);
    return is_asked(sources.line_of(place)) ||
           std::any_of(callers.begin(), callers.end(), is_asked);
}

std::optional<Request> most_telling(const std::map<uintptr_t, Request>& requests,
                                    const SourceMap& sources, const std::string& line) {
    std::optional<Request> most;
    for (const auto& [place, request] : requests) {
        if (!is_at(sources, place, line)) continue;
        if (!most || tells_more(*most, request)) most = request;
    }
    return most;
}

// The lines with accesses, in order, for a message.
std::string lines_with_accesses(const Scenes& scenes, const SourceMap& sources) {
    std::set<Line> lines;
    for (const KernelScene& scene : scenes.kernels()) {
        for (const auto* const requests : {&scene.shared_at, &scene.global_at}) {
            for (const auto& [place, request] : *requests) lines.insert(sources.line_of(place));
        }
    }
    std::string text;
    for (const Line& line : lines) {
        if (line.file.empty()) continue;
        text += (text.empty() ? "" : ", ") + io::printable(line.file) + ":" +
                std::to_string(line.number);
    }
    return text;
}

}  // namespace

std::vector<Picture> pictures_of(const std::string& stage, const runner::Variant& variant,
                                 const runner::Shape& shape, runner::DType dtype,
                                 const std::string& line) {
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
        const std::string number = several ? "_" + std::to_string(i + 1) : "";
        const auto name_at = [&](uintptr_t place) {
            return stage + "_" + variant.name + number +
                   (line.empty() ? "" : "_line_" + std::to_string(sources.line_of(place).number));
        };
        const auto chosen = [&](const std::optional<Request>& most,
                                const std::map<uintptr_t, Request>& at) {
            return line.empty() ? most : most_telling(at, sources, line);
        };
        if (const auto shared = chosen(scene.shared, scene.shared_at)) {
            Caption caption = caption_at(shared->place);
            if (variant.shared_accesses_fuse) caption.where += ", as the compiler fuses it";
            pictures.push_back(
                {name_at(shared->place) + "_banks.svg", draw_banks(*shared, caption)});
        }
        if (const auto global = chosen(scene.global, scene.global_at)) {
            pictures.push_back({name_at(global->place) + "_sectors.svg",
                                draw_sectors(*global, caption_at(global->place))});
        }
    }
    if (!line.empty() && pictures.empty())
        throw runner::UsageError(title + " accesses no memory at line " + io::printable(line) +
                                 "; it does at " + lines_with_accesses(scenes, sources));
    return pictures;
}

}  // namespace xray
