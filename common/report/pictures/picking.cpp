// SPDX-License-Identifier: MIT
#include "common/report/pictures/picking.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/io/text.hpp"

namespace report {
namespace {

// "variants" for 01_name_variants.
std::string name_without_stage(const Figure& figure) {
    return figure.stage.empty() ? figure.name : figure.name.substr(figure.stage.size() + 1);
}

}  // namespace

std::string in_a_row(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::vector<std::string> kinds_of(const std::vector<Figure>& figures) {
    std::vector<std::string> kinds;
    for (const Figure& figure : figures) records::add_once(kinds, figure.kind);
    return kinds;
}

std::vector<Figure> only(const std::vector<std::string>& names,
                         const std::vector<Figure>& figures) {
    if (names.empty()) return figures;
    std::set<std::string> met;
    std::vector<Figure> chosen;
    for (const Figure& figure : figures) {
        bool wanted = false;
        for (const std::string& name : names) {
            if (name != figure.kind && name != figure.name && name != name_without_stage(figure))
                continue;
            met.insert(name);
            wanted = true;
        }
        if (wanted) chosen.push_back(figure);
    }
    for (const std::string& name : names) {
        if (met.count(name) == 0)
            throw InputError("no picture is called '" + io::printable(name) +
                             "'; there are: " + in_a_row(kinds_of(figures)));
    }
    return chosen;
}

std::vector<Figure> first_of_each_stage(const std::vector<Figure>& figures) {
    std::map<std::string, const Figure*> first;
    for (const Figure& figure : figures) {
        const Figure*& at = first[figure.stage];
        const bool better = at != nullptr && figure.kind == "variants" && at->kind != "variants";
        if (at == nullptr || better) at = &figure;
    }
    if (first.size() > 1) first.erase("");  // what is of several stages is none's first
    std::vector<Figure> chosen;
    for (const auto& [stage, figure] : first) chosen.push_back(*figure);
    return chosen;
}

void make_names_different(std::vector<Figure>& figures) {
    std::set<std::string> taken;
    for (Figure& figure : figures) {
        const std::string name = figure.name;
        for (int i = 2; !taken.insert(figure.name).second; ++i)
            figure.name = name + "_" + std::to_string(i);
    }
}

[[noreturn]] void nothing_matches(const std::vector<RecordFolder>& folders, const Choice& choice) {
    std::set<std::string> dtypes, ops, figures, sizes;
    std::string where;
    for (const RecordFolder& folder : folders) {
        where += " " + io::printable(folder.path.string());
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                const bool asked_for = std::find(choice.stages.begin(), choice.stages.end(),
                                                 record.stage) != choice.stages.end();
                if (!record.timed() || !asked_for) continue;
                dtypes.insert(record.dtype);
                if (!record.shown_as.empty()) ops.insert(record.shown_as);
                figures.insert("us");
                for (const auto& [name, size] : record.sizes) sizes.insert(name);
                for (const char* y : {"gbps", "speedup", "tflops"}) {
                    if (record.figure(y)) figures.insert(y);
                }
            }
        }
    }
    if (figures.empty())
        throw InputError("no GPU times in" + where + "; `./stages run` on a GPU records some");
    const auto list = [](const std::set<std::string>& all) {
        std::string text;
        for (const std::string& each : all) text += " " + each;
        return text;
    };
    const std::string of_stages =
        choice.stages.size() == 1 ? " of " + choice.stages.front() : std::string();
    const std::string asked =
        (choice.x.empty() ? "" : " --x " + io::printable(choice.x)) +
        (choice.y.empty() ? "" : " --y " + choice.y) +
        (choice.dtype.empty() ? "" : " --dtype " + io::printable(choice.dtype)) +
        (choice.op.empty() ? "" : " --op " + io::printable(choice.op));
    throw InputError("no record in" + where + of_stages +
                     (asked.empty() ? " is of what was asked for" : " matches" + asked) +
                     ". There: element types" + list(dtypes) +
                     (ops.empty() ? "" : "; operations" + list(ops)) + "; sizes" + list(sizes) +
                     "; figures" + list(figures));
}

}  // namespace report
