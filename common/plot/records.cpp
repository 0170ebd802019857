// SPDX-License-Identifier: MIT
#include "common/plot/records.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace plot {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;

json parse(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw InputError(path.string() + ": cannot be read");
    json document;
    try {
        document = json::parse(file);
    } catch (const json::exception& error) {
        throw InputError(path.string() + ": not JSON, or cut short: " + error.what());
    }
    if (!document.is_object() || !document.contains("schema")) {
        throw InputError(path.string() +
                         ": no 'schema' in it, so these are no records of `./stages run`");
    }
    if (document["schema"] != kSchema) {
        throw InputError(path.string() + ": its schema is " + document["schema"].dump() +
                         ", and this program reads schema " + std::to_string(kSchema));
    }
    return document;
}

// Optional words; a number where words should be is as good as nothing.
std::string words(const json& object, const char* key, const std::string& otherwise = "") {
    return object.contains(key) && object[key].is_string() ? object[key].get<std::string>()
                                                           : otherwise;
}

Record record_from(const json& object) {
    Record record;
    record.stage = object.at("stage").get<std::string>();
    record.variant = object.at("variant").get<std::string>();
    record.role = words(object, "role", record.role);
    record.op = words(object, "op", record.op);
    record.backend = words(object, "backend");
    record.way = words(object, "way");
    record.dtype = words(object, "dtype", record.dtype);
    record.input = words(object, "input", record.input);
    for (const auto& [key, value] : object.items()) {
        if (value.is_number()) record.figures[key] = value.get<double>();
    }
    if (object.contains("shape")) {
        for (const auto& [key, value] : object.at("shape").items())
            record.shape[key] = value.get<int64_t>();
    }
    for (const char* key : {"rows", "cols"}) {  // older files had them at the top only
        if (object.contains(key) && object[key].is_number()) record.shape[key] = object[key];
    }
    if (record.shape.empty()) throw InputError("no 'shape', and no 'rows' and 'cols'");
    return record;
}

RecordFile file_from(const std::filesystem::path& path) {
    const json document = parse(path);
    RecordFile file;
    file.path = path;
    file.peers = path.stem().extension() == ".peers";
    file.widths = path.stem().extension() == ".widths";
    file.gpu = words(document, "gpu", "a GPU without a name");
    file.driver = words(document, "driver");
    file.cuda = words(document, "cuda");
    file.commit = words(document, "commit");
    file.date = words(document, "date");
    if (!document.contains("records") || !document["records"].is_array())
        throw InputError(path.string() + ": no list 'records' in it");
    for (const json& object : document["records"]) {
        try {
            file.records.push_back(record_from(object));
        } catch (const std::exception& error) {
            throw InputError(path.string() + ": record " + std::to_string(file.records.size() + 1) +
                             ": " + error.what());
        }
    }
    return file;
}

std::vector<HardwareCount> counters_from(const std::filesystem::path& path) {
    const json document = parse(path);
    std::vector<HardwareCount> counts;
    try {
        for (const json& recording : document.at("recordings")) {
            for (const json& variant : recording.at("variants")) {
                HardwareCount count;
                count.gpu = recording.at("gpu");
                count.commit = words(variant, "commit");
                count.date = words(variant, "date").substr(0, 10);
                count.stage = variant.at("stage");
                count.variant = variant.at("variant");
                count.dtype = variant.at("dtype");
                count.rows = variant.at("rows");
                count.cols = variant.at("cols");
                for (const json& kernel : variant.at("kernels")) {
                    count.dram_read_bytes += kernel.value("dram_read_bytes", 0.0);
                    count.dram_write_bytes += kernel.value("dram_write_bytes", 0.0);
                }
                counts.push_back(count);
            }
        }
    } catch (const json::exception& error) {
        throw InputError(path.string() + ": " + error.what());
    }
    return counts;
}

// NN_name.json, NN_name.peers.json or NN_name.widths.json: nothing else in the folder is a record.
bool is_record_file(const std::filesystem::path& path) {
    const std::string name = path.filename();
    return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
           std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_' &&
           path.extension() == ".json";
}

std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (is_record_file(entry.path())) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool any_record(const RecordFolder& folder, bool (Record::*holds)() const) {
    return std::any_of(folder.files.begin(), folder.files.end(), [&](const RecordFile& file) {
        return std::any_of(file.records.begin(), file.records.end(),
                           [&](const Record& record) { return (record.*holds)(); });
    });
}

}  // namespace

std::optional<double> Record::figure(const std::string& name) const {
    const auto found = figures.find(name);
    if (found == figures.end()) return std::nullopt;
    return found->second;
}

bool RecordFolder::timed() const {
    return any_record(*this, &Record::timed);
}
bool RecordFolder::counted() const {
    return any_record(*this, &Record::counted);
}
std::string RecordFolder::gpu() const {
    for (const RecordFile& file : files) {
        for (const Record& record : file.records) {
            if (record.timed()) return file.gpu;
        }
    }
    return "";
}

std::string RecordFolder::name() const {
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path);
    return whole.has_filename() ? whole.filename() : whole.parent_path().filename();
}

bool is_record_folder(const std::filesystem::path& path) {
    return std::filesystem::is_directory(path) && !record_files(path).empty();
}

RecordFolder read_folder(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) {
        throw InputError(path.string() +
                         ": no such folder; `./stages run` makes results/, --out another one");
    }
    if (!is_record_folder(path)) {
        throw InputError(path.string() +
                         ": no records in it (files such as 01_naive_softmax.json)"
                         "; `./stages run --out " +
                         path.string() + "` writes some");
    }
    RecordFolder folder;
    folder.path = path;
    const std::string whole = std::filesystem::weakly_canonical(path).string() + "/";
    folder.committed = whole.find("/common/recorded/") != std::string::npos;
    for (const std::filesystem::path& file : record_files(path))
        folder.files.push_back(file_from(file));
    if (std::filesystem::exists(path / "ncu.json"))
        folder.counters = counters_from(path / "ncu.json");
    return folder;
}

std::vector<std::string> stages_in(const std::vector<RecordFolder>& folders) {
    std::set<std::string> stages;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) stages.insert(record.stage);
        }
    }
    return {stages.begin(), stages.end()};
}

double bytes_of(const std::string& dtype) {
    static const std::map<std::string, double> bytes = {
        {"float64", 8}, {"float32", 4}, {"float16", 2}, {"bfloat16", 2}};
    const auto found = bytes.find(dtype);
    if (found == bytes.end()) throw InputError("no element type '" + dtype + "' is known here");
    return found->second;
}

}  // namespace plot
