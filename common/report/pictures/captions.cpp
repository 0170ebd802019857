// SPDX-License-Identifier: MIT
#include "common/report/pictures/captions.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/io/text.hpp"

namespace report {
namespace {

std::string suffix_of(const Group& group, const Choice& choice) {
    const auto& [op, dtype, input] = group;
    std::string suffix;
    if (!choice.op.empty()) suffix += "_" + op;
    if (!choice.y.empty()) suffix += "_" + choice.y;
    if (!choice.x.empty() && choice.x != "cols") suffix += "_over_" + choice.x;
    if (dtype != "float32") suffix += "_" + dtype;
    if (input != "normal")
        suffix += "_" + for_file_names(std::filesystem::path(input).stem().string());
    return suffix;
}

// "01 naive, 02 safe"
std::string of_stages(const Selection& records, const std::vector<std::string>& known) {
    std::string text;
    for (const std::string& stage : distinct(records, stage_key))
        text += (text.empty() ? "" : ", ") + short_name(stage, known);
    return text;
}

}  // namespace

// By the files: a folder of what is committed may have a GPU's records of one stage and another's of the next.
std::string where_from(const Selection& records) {
    std::string measured, recorded;
    for (const Chosen& each : records) {
        std::string& list = each.folder->committed ? recorded : measured;
        if (list.find(each.file->gpu) == std::string::npos)
            list += (list.empty() ? "" : " and ") + each.file->gpu;
    }
    if (recorded.empty()) return "measured on " + measured;
    const std::string words = "recorded on " + recorded + ", not measured here";
    return measured.empty() ? words : "measured on " + measured + "; " + words;
}

std::string for_file_names(const std::string& words) {
    constexpr size_t kMost = 40;
    std::string text = words.substr(0, kMost);
    for (char& each : text) {
        const bool plain = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') ||
                           (each >= 'A' && each <= 'Z') || each == '-' || each == '_';
        if (!plain) each = '_';
    }
    return text;
}

std::string with_spaces(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string op_suffix(const std::string& op, const std::string& first) {
    return op == first ? "" : "_" + (op.empty() ? "unnamed" : op);
}

std::string short_name(const std::string& stage, const std::vector<std::string>& known) {
    const size_t first = stage.find('_');
    const size_t last = stage.rfind('_');
    const bool one_word = first == last;  // behind the number
    const bool shared =
        !one_word && std::any_of(known.begin(), known.end(), [&](const std::string& other) {
            return other != stage && other.ends_with(stage.substr(last));
        });
    return with_spaces(shared ? stage.substr(0, last) : stage);
}

std::string name_of_line(const Selection& records, const std::string& stage,
                         const std::vector<std::string>& known) {
    const Selection here = of_stage(records, stage);
    const bool overflows = std::all_of(here.begin(), here.end(),
                                       [](const Chosen& each) { return each.record->overflows; });
    return short_name(stage, known) + (overflows && !here.empty() ? " (overflows)" : "");
}

std::string folder_label(const RecordFolder& folder, const std::vector<const RecordFolder*>& all) {
    const auto same_gpu = std::count_if(all.begin(), all.end(), [&](const RecordFolder* other) {
        return other->gpu() == folder.gpu();
    });
    return same_gpu == 1 ? folder.gpu() : folder.name();
}

std::string origin_of(const std::vector<const RecordFile*>& files) {
    std::set<std::string> gpus, versions, commits, dates;
    for (const RecordFile* file : files) {
        gpus.insert(file->gpu);
        if (!file->driver.empty()) versions.insert("driver " + file->driver);
        if (!file->cuda.empty()) versions.insert("CUDA " + file->cuda);
        if (!file->commit.empty()) commits.insert(file->commit);
        if (!file->date.empty()) dates.insert(io::printable(file->date.substr(0, 10)));
    }
    std::vector<std::string> words(gpus.begin(), gpus.end());
    words.insert(words.end(), versions.begin(), versions.end());
    for (const std::string& commit : commits) {  // several are to fit a line
        const bool first = commit == *commits.begin();
        words.push_back(commits.size() == 1 ? "commit " + commit
                                            : (first ? "commits " : "") + commit.substr(0, 7));
    }
    if (!dates.empty()) {
        words.push_back(*dates.begin() + (dates.size() > 1 ? " to " + *dates.rbegin() : ""));
    }
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

Figure figure_of(const std::string& stage, const std::string& kind, const std::string& title,
                 const Selection& records, const Group& group, const Choice& choice,
                 const Axes& axes) {
    Figure figure;
    figure.stage = stage;
    figure.kind = kind;
    figure.name = (stage.empty() ? "" : stage + "_") + kind + suffix_of(group, choice);
    const auto& [op, dtype, input] = group;
    figure.title = choice.title.empty() ? title : choice.title;
    if (choice.title.empty() && dtype != "float32") figure.title += ", " + dtype;
    if (choice.title.empty() && input != "normal")
        figure.title += ", input " + io::printable(input, 40);
    figure.origin = where_from(records);
    figure.x_label = x_label(axes.x, {});
    figure.y_label = y_label(axes.y);
    if (axes.y == "us") figure.scale = Scale::microseconds;
    std::vector<const RecordFile*> files;
    for (const Chosen& each : records) files.push_back(each.file);
    figure.notes = {explained(axes.y)};
    const Selection overflowing =
        filtered(records, [](const Record& record) { return record.overflows; });
    if (!overflowing.empty()) {
        figure.notes.push_back(of_stages(overflowing, choice.known) +
                               " overflows: rows whose exp(x) leaves the range of the type come "
                               "out as NaN or 0");
    }
    const std::string partial = partial_words(files);
    figure.notes.push_back((partial.empty() ? "" : partial + "; ") + origin_of(files));
    return figure;
}

}  // namespace report
