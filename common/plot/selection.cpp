// SPDX-License-Identifier: MIT
#include "common/plot/selection.hpp"

#include <algorithm>

#include "common/plot/axes.hpp"

namespace plot {
namespace {

Source source_of(const RecordFile& file) {
    return file.peers ? Source::peers : file.widths ? Source::widths : Source::run;
}

}  // namespace

Selection filtered(const Selection& all, const std::function<bool(const Record&)>& wanted) {
    Selection kept;
    for (const Chosen& each : all) {
        if (wanted(*each.record)) kept.push_back(each);
    }
    return kept;
}

Selection timed_records(const std::vector<RecordFolder>& folders, Source source) {
    Selection all;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            if (source_of(file) != source) continue;
            for (const Record& record : file.records) {
                if (record.timed()) all.push_back({&folder, &file, &record});
            }
        }
    }
    return all;
}

Selection of_stage(const Selection& all, const std::string& stage) {
    return filtered(all, [&](const Record& record) { return record.stage == stage; });
}

Selection of_role(const Selection& all, const std::string& role) {
    return filtered(all, [&](const Record& record) { return record.role == role; });
}

std::string stage_key(const Record& record) {
    return record.stage;
}

std::string variant_key(const Record& record) {
    return record.variant;
}

std::string family_key(const Record& record) {
    return record.variant.substr(0, record.variant.find('/'));
}

std::vector<const RecordFolder*> folders_of(const Selection& records) {
    std::vector<const RecordFolder*> folders;
    for (const Chosen& each : records) {
        if (std::find(folders.begin(), folders.end(), each.folder) == folders.end())
            folders.push_back(each.folder);
    }
    return folders;
}

std::map<Group, Selection> groups_of(const Selection& records, const Choice& choice) {
    std::map<Group, Selection> groups;
    for (const Chosen& each : records) {
        const Record& record = *each.record;
        if (!x_of(record, choice.x) || (!choice.op.empty() && record.op != choice.op)) continue;
        if (!choice.dtype.empty() && record.dtype != choice.dtype) continue;
        groups[{record.op, record.dtype, record.input}].push_back(each);
    }
    return groups;
}

Choice with_op_of(const Selection& stage, Choice choice) {
    if (choice.op.empty() && !stage.empty()) choice.op = stage.front().record->op;
    return choice;
}

std::string y_for(const Selection& records, const Choice& choice) {
    if (!choice.y.empty()) return choice.y;
    for (const char* y : {"tflops", "gbps"}) {
        if (std::any_of(records.begin(), records.end(),
                        [&](const Chosen& each) { return each.record->figure(y).has_value(); }))
            return y;
    }
    return "us";
}

}  // namespace plot
