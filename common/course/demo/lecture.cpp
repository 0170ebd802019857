// SPDX-License-Identifier: MIT
#include "common/course/demo/lecture.hpp"

#include <charconv>

#include "common/io/changes.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& keys() {
    static const std::vector<std::string> all = {"text",  "source",  "from",    "to",    "since",
                                                 "run",   "show",    "lines",   "times", "at",
                                                 "dtype", "picture", "predict", "edit"};
    return all;
}

void add_source(Step& step, const Entry& entry, const fs::path& repository,
                const std::string& stage) {
    step.source_name = stage + "/" + entry.text("source");
    if (!fs::exists(repository / step.source_name)) step.source_name = entry.text("source");
    const std::vector<std::string> lines = io::lines_in(io::text_in(repository / step.source_name));
    const auto find = [&](const std::string& key, size_t begin) {
        for (size_t i = begin; i < lines.size(); ++i) {
            if (lines[i].find(entry.text(key)) != std::string::npos) return i;
        }
        entry.refuse("no line of " + step.source_name + " has '" + entry.text(key) + "'");
    };
    entry.required("from");
    const size_t first = find("from", 0);
    const size_t last = entry.has("to") ? find("to", first + 1) : first;
    std::vector<bool> added(lines.size(), false);
    if (entry.has("since")) {
        const std::vector<std::string> before =
            io::lines_in(io::text_in(repository / entry.text("since")));
        if (before.empty()) entry.refuse("there is no " + entry.text("since"));
        added = lines_added(before, lines);
        step.since = entry.text("since");
    }
    for (size_t i = first; i <= last; ++i)
        step.source.push_back({static_cast<int>(i) + 1, lines[i], added[i]});
}

void add_times(Step& step, const Entry& entry, const std::string& stage) {
    for (const std::string& variant : entry.names("times")) {
        const size_t slash = variant.find('/');
        const bool elsewhere = slash != std::string::npos;
        for (const std::string& shape : entry.names("at"))
            step.times.push_back({elsewhere ? variant.substr(0, slash) : stage,
                                  elsewhere ? variant.substr(slash + 1) : variant, shape,
                                  entry.has("dtype") ? entry.text("dtype") : "float32"});
    }
    if (step.times.empty()) entry.refuse("times need 'at:' shapes");
}

std::string picture_called(const Entry& entry, const fs::path& repository,
                           const std::string& stage) {
    const std::string gpu = records::folder_of(records::shown_gpu(repository, stage));
    const std::string name = entry.text("picture");
    for (const fs::path& folder :
         {records::recorded_of(repository, stage, gpu) / "pictures",
          records::recorded_of(repository, stage, records::folder_of(records::kOtherGpu)) /
              "pictures",
          repository / stage / "pictures", records::expected_of(repository, stage) / "pictures"}) {
        if (fs::exists(folder / name))
            return (folder / name).lexically_relative(repository).string();
    }
    entry.refuse("the stage has no picture " + name);
}

Step step_from(const Entry& entry, const fs::path& repository, const std::string& stage) {
    Step step;
    step.title = entry.name;
    step.text = entry.required("text");
    if (entry.has("source")) add_source(step, entry, repository, stage);
    step.run = entry.text("run");
    step.show = entry.text("show");
    const std::string lines = entry.text("lines");
    std::from_chars(lines.data(), lines.data() + lines.size(), step.lines);
    if (entry.has("times")) add_times(step, entry, stage);
    if (entry.has("picture")) step.picture = picture_called(entry, repository, stage);
    if (entry.has("predict")) {
        for (const Prediction& prediction : predictions_of(repository, stage)) {
            if (prediction.name == entry.text("predict")) step.prediction = prediction;
        }
        if (!step.prediction) entry.refuse("the stage has no prediction " + entry.text("predict"));
    }
    step.edit = entry.text("edit");
    return step;
}

}  // namespace

std::vector<bool> lines_added(const std::vector<std::string>& before,
                              const std::vector<std::string>& now) {
    std::vector<bool> added;
    for (const io::ChangedLine& line : io::changes(before, now)) {
        if (line.kind != io::ChangedLine::Kind::removed)
            added.push_back(line.kind == io::ChangedLine::Kind::added);
    }
    return added;
}

Lecture lecture_of(const fs::path& repository, const std::string& stage) {
    const fs::path path = repository / stage / "demo.txt";
    Lecture lecture{stage, {}};
    for (const Entry& entry : read_sheet(path, keys())) {
        lecture.steps.push_back(step_from(entry, repository, stage));
        Step& step = lecture.steps.back();
        if (step.edit.empty() && lecture.steps.size() > 1)
            step.edit = (lecture.steps.end() - 2)->edit;
    }
    if (lecture.steps.empty()) io::refuse(path, "the stage has no lecture there yet");
    return lecture;
}

}  // namespace course
