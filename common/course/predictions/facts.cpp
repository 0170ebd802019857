// SPDX-License-Identifier: MIT
#include "common/course/predictions/facts.hpp"

#include <stdexcept>

#include "common/io/files.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

using records::Folder;

// Counters that the figures of the CPU device's records follow from.
std::optional<double> figure_of(const records::Profile& profile, const std::string& figure) {
    try {
        if (figure == "bank_conflicts")
            return profile.sum("shared_load_conflicts") + profile.sum("shared_store_conflicts");
        if (figure == "sectors_per_request")
            return (profile.sum("global_load_sectors") + profile.sum("global_store_sectors")) /
                   (profile.sum("global_load_requests") + profile.sum("global_store_requests"));
        return profile.sum(figure);
    } catch (const std::out_of_range&) {
        return std::nullopt;
    }
}

// "256x1024,k=5" as "256x1024x5": older records do not say which of their sizes are options.
std::string sizes_alone(std::string shape) {
    for (size_t comma = shape.find(','); comma != std::string::npos; comma = shape.find(','))
        shape.replace(comma, shape.find('=', comma) - comma + 1, "x");
    return shape;
}

struct Found {
    double value;
    std::string gpu;  // empty: the CPU device
};

std::optional<Found> find_in(const Folder& folder, const std::string& figure, const Place& place) {
    for (const records::File& file : folder.files) {
        for (const records::Record& record : file.records) {
            if (record.stage != place.stage || record.variant != place.variant ||
                record.dtype != place.dtype ||
                sizes_alone(record.shape_word()) != sizes_alone(place.shape) || !record.has(figure))
                continue;
            return Found{record.at(figure), record.backend == "cpu" ? "" : file.gpu};
        }
    }
    for (const records::Recording& recording : folder.counters) {
        const records::Profile* const profile =
            recording.find(place.stage, place.variant, place.shape, place.dtype);
        if (profile == nullptr) continue;
        if (const auto value = figure_of(*profile, figure)) return Found{*value, recording.gpu};
    }
    return std::nullopt;
}

}  // namespace

void Facts::add_run(const std::filesystem::path& folder) {
    run_.reset();
    if (!records::is_folder(folder)) return;
    try {
        run_ = records::read_folder(folder);
        records::keep_newer_runs(*run_);
    } catch (const io::FileError&) {
        run_.reset();  // somebody's file in between: what is committed is known still
    }
}

const Folder& Facts::recorded(const std::string& stage) {
    const auto known = recorded_.find(stage);
    if (known != recorded_.end()) return known->second;
    Folder& folder = recorded_[stage];
    for (const char* const name : {records::kOwn, records::kPeers}) {
        const auto path = records::record_of(repository_, stage, records::kShown, name);
        if (std::filesystem::exists(path)) folder.files.push_back(records::read(path));
    }
    folder.counters = records::read_counters(
        records::record_of(repository_, stage, records::kShown, records::kCounters));
    return folder;
}

const Folder& Facts::counted(const std::string& stage) {
    const auto known = counted_.find(stage);
    if (known != counted_.end()) return known->second;
    Folder& folder = counted_[stage];
    const auto path = records::expected_of(repository_, stage) / records::kCounts;
    if (std::filesystem::exists(path)) folder.files.push_back(records::read(path));
    return folder;
}

std::optional<Known> Facts::find(const std::string& figure, const std::vector<Place>& places) {
    const auto find_among = [&](const auto& folder_of,
                                const std::string& measured) -> std::optional<Known> {
        Known known;
        std::string gpu;
        for (const Place& place : places) {
            const Folder* const folder = folder_of(place.stage);
            const std::optional<Found> found =
                folder == nullptr ? std::nullopt : find_in(*folder, figure, place);
            // Times of two GPUs say nothing of two kernels.
            if (!found || (!known.values.empty() && found->gpu != gpu)) return std::nullopt;
            gpu = found->gpu;
            known.values.push_back(found->value);
        }
        known.source = gpu.empty() ? "counted on the CPU device" : measured + gpu;
        return known;
    };
    if (auto known = find_among([&](const std::string&) { return run_ ? &*run_ : nullptr; },
                                "measured here, on "))
        return known;
    if (auto known =
            find_among([&](const std::string& stage) { return &recorded(stage); }, "recorded on "))
        return known;
    return find_among([&](const std::string& stage) { return &counted(stage); }, "");
}

}  // namespace course
