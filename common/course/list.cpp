// SPDX-License-Identifier: MIT
#include "common/course/list.hpp"

#include <cstdio>

namespace course {

using namespace runner;

namespace {

template <class... Parts>
std::string formatted(const char* format, Parts... parts) {
    std::string text(std::snprintf(nullptr, 0, format, parts...), '\0');
    std::snprintf(text.data(), text.size() + 1, format, parts...);
    return text;
}

std::string paragraph_of(const Stage& stage) {
    std::string list = formatted("%-22s %s\n", stage.name.c_str(), stage.title.c_str());
    for (const Variant& variant : stage.variants) {
        list += formatted("    %-20s %g + %g  %s\n", variant.name.c_str(), variant.traffic.loads,
                          variant.traffic.stores, variant.summary.c_str());
        if (variant.dtypes != std::vector<DType>{DType::float32})
            list += formatted("    %-20s        %s\n", "", names_of(variant.dtypes).c_str());
    }
    return list;
}

}  // namespace

std::string kept_paragraph_of(const Stage& stage) {
    std::string names;
    for (const NamedInput& input : named_inputs({&stage})) names += " " + input.name;
    return paragraph_of(stage) + "  inputs:" + names + "\n";
}

std::string in_common(const std::vector<const Stage*>& stages) {
    std::string list =
        "\n2 + 1: reads + writes of global memory per element.\n\nNamed inputs (--input):\n";
    for (const NamedInput& input : named_inputs(stages))
        list += formatted("    %-16s %s\n", input.name.c_str(), input.summary.c_str());
    return list;
}

std::string list_of(const std::vector<const Stage*>& stages) {
    std::string list;
    for (const Stage* stage : stages) list += paragraph_of(*stage);
    return list + in_common(stages);
}

}  // namespace course
