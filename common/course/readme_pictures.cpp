// SPDX-License-Identifier: MIT
// The x-ray's pictures that READMEs show: drawn anew, and held to what is committed.
#include <algorithm>
#include <regex>

#include "common/course/readme_parts.hpp"
#include "common/xray/draw_variant.hpp"

namespace course {

std::vector<NamedText> pictures_shown(const std::string& readme, const runner::Stage& stage) {
    static const std::regex shown(R"(\]\((?:\.\./)?expected/pictures/([\w]+)\.svg\))");
    std::vector<NamedText> drawn;
    for (std::sregex_iterator each(readme.begin(), readme.end(), shown), none; each != none;
         ++each) {
        const std::string name = (*each)[1].str() + ".svg";
        // The variant with the longest name that the picture's begins with.
        const runner::Variant* of = nullptr;
        for (const runner::Variant& variant : stage.variants) {
            const bool begins = name.rfind(stage.name + "_" + variant.name + "_", 0) == 0;
            if (begins && (of == nullptr || variant.name.size() > of->name.size())) of = &variant;
        }
        const std::vector<xray::Picture> pictures =
            of == nullptr ? std::vector<xray::Picture>()
                          : xray::pictures_of(stage.name, *of, runner::usual_shape_of(*of),
                                              of->dtypes.front());
        const auto found =
            std::find_if(pictures.begin(), pictures.end(),
                         [&](const xray::Picture& picture) { return picture.name == name; });
        if (found == pictures.end())
            throw std::runtime_error("no variant of " + stage.name + " has a picture " + name);
        drawn.push_back({name, found->svg});
    }
    return drawn;
}

}  // namespace course
