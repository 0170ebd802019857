// SPDX-License-Identifier: MIT
#include "common/plot/records.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/plot/json_file.hpp"

namespace plot {
namespace {

// Figures that pictures and comparisons use, and what they can be: times that a launch can take, in
// microseconds, and speeds that are not nought, which has no logarithm and divides nothing.
const std::map<std::string, Range>& known_figures() {
    static const Range time{1e-3, 1e11}, speed{1e-9, 1e9}, accesses{0, 1e9}, count{0, 1e18};
    static const std::map<std::string, Range> all = {
        {"us_median", time},
        {"us_min", time},
        {"us_p10", time},
        {"us_p90", time},
        {"us_empty", time},
        {"gbps", speed},
        {"roof_gbps", speed},
        {"tflops", speed},
        {"roof_tflops", speed},
        {"speedup", speed},
        {"bytes", {1, 1e18}},
        {"roof_bytes", {1, 1e18}},
        {"declared_loads_per_element", accesses},
        {"declared_stores_per_element", accesses},
        {"loads_per_element", accesses},
        {"stores_per_element", accesses},
        {"sectors_per_request", accesses},
        {"bytes_moved_per_byte", accesses},
        {"bank_conflicts", count},
    };
    return all;
}

constexpr Range kSize{1, 1e12, true};  // of rows and cols, which a picture counts along
constexpr Range kOption{-1e12, 1e12};  // of what else an operation has: alpha, a temperature
constexpr size_t kMostSizes = 16;
constexpr size_t kMostRecords = 10000;  // ours have hundreds

// Sizes in the order of the record.
using Shape = std::vector<std::pair<std::string, double>>;

Shape shape_from(const Json& object, const Fields& fields) {
    Shape shape;
    const auto add = [&](const std::string& key, double size) {
        const auto known = std::find_if(shape.begin(), shape.end(),
                                        [&](const auto& each) { return each.first == key; });
        if (known == shape.end())
            shape.emplace_back(key, size);
        else
            known->second = size;
    };
    if (object.contains("shape")) {
        const Json& sizes = object["shape"];
        const Fields of_shape(sizes);
        if (sizes.size() > kMostSizes)
            throw InputError("'shape' has more than " + std::to_string(kMostSizes) + " sizes");
        for (const auto& [key, value] : sizes.items()) {
            if (!is_name(key))
                throw InputError("a size in 'shape' is called '" + io::printable(key, 40) +
                                 "'; wanted: letters, digits and underscores");
            add(key, *of_shape.number(key, key == "rows" || key == "cols" ? kSize : kOption));
        }
    }
    for (const char* key : {"rows", "cols"}) {  // older files had them at the top only
        if (object.contains(key) && !object[key].is_null()) add(key, *fields.number(key, kSize));
    }
    if (shape.empty()) throw InputError("no 'shape', and no 'rows' and 'cols'");
    return shape;
}

Record record_from(const Json& object) {
    const Fields fields(object);
    Record record;
    record.stage = fields.stage();
    record.variant = fields.variant();
    record.role = fields.words("role", record.role);
    record.own_op = fields.name("op", record.op);
    record.op = fields.name("shown_as", record.own_op);
    record.roof = fields.name("roof", record.roof);
    record.part = fields.words("part");
    record.backend = fields.words("backend");
    record.way = fields.words("way");
    record.dtype = fields.name("dtype", record.dtype);
    record.input = fields.words("input", record.input);
    record.overflows = fields.flag("overflows");
    record.further = fields.flag("further");
    for (const auto& [name, range] : known_figures()) {
        if (const auto value = fields.number(name, range)) record.figures[name] = *value;
    }
    for (const auto& [name, size] : shape_from(object, fields)) {
        record.shape[name] = size;
        record.sizes.push_back(name);
    }
    return record;
}

std::string stage_of(const std::filesystem::path& path) {
    const std::string name = path.filename();
    return name.substr(0, name.find('.'));
}

// What stands between NN_name and .json: "", ".peers", ".widths.partial", ...
std::string kind_of(const std::filesystem::path& path) {
    const std::string name = path.stem();
    const size_t dot = name.find('.');
    return dot == std::string::npos ? "" : name.substr(dot);
}

RecordFile file_from(const std::filesystem::path& path) {
    const Json document = read_json(path);
    RecordFile file;
    file.path = path;
    file.peers = kind_of(path) == ".peers";
    file.widths = kind_of(path).starts_with(".widths");
    file.partial = kind_of(path).ends_with(".partial");
    if (!document.contains("records") || !document["records"].is_array())
        io::refuse(path, "no list 'records' in it");
    if (document["records"].size() > kMostRecords)
        io::refuse(path, "more than " + std::to_string(kMostRecords) + " records in it");
    try {
        const Fields fields(document);
        const auto short_words = [&](const char* key, const char* otherwise = "") {
            constexpr size_t kMost = 60;
            return io::printable(fields.words(key, otherwise), kMost);
        };
        file.gpu = short_words("gpu", "a GPU without a name");
        file.driver = short_words("driver");
        file.cuda = short_words("cuda");
        file.commit = short_words("commit");
        file.date = short_words("date");
        file.chosen = short_words("chosen");
    } catch (const InputError& error) {
        io::refuse(path, error.what());
    }
    for (const Json& object : document["records"]) {
        try {
            file.records.push_back(record_from(object));
        } catch (const InputError& error) {
            io::refuse(path,
                       "record " + std::to_string(file.records.size() + 1) + ": " + error.what());
        }
    }
    return file;
}

const Json& list_in(const Json& object, const char* key) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_array())
        throw InputError(std::string("no list '") + key + "' in it");
    return object[key];
}

// As a word, where there are options or other sizes: "256x1024,k=5". Others than two leave 0.
void count_rows_and_cols(const std::string& word, HardwareCount& count) {
    long long rows = 0, cols = 0;
    int read = 0;
    if (std::sscanf(word.c_str(), "%18lldx%18lld%n", &rows, &cols, &read) != 2) return;
    const char next = word[static_cast<size_t>(read)];
    if (rows < 0 || cols < 0 || (next != '\0' && next != ',')) return;
    count.rows = rows;
    count.cols = cols;
}

HardwareCount count_from(const Json& variant, const std::string& gpu) {
    const Fields fields(variant);
    HardwareCount count;
    count.gpu = gpu;
    count.commit = io::printable(fields.words("commit"), 20);
    count.date = io::printable(fields.words("date").substr(0, 10));
    count.stage = fields.stage();
    count.variant = fields.variant();
    count.dtype = fields.name("dtype", "float32");
    if (variant.contains("shape") && variant["shape"].is_string()) {
        count_rows_and_cols(variant["shape"], count);
        count.shape = io::printable(variant["shape"].get<std::string>(), 40);
    } else {
        for (const auto& [name, size] : shape_from(variant, fields)) {
            if (name == "rows") count.rows = static_cast<int64_t>(size);
            if (name == "cols") count.cols = static_cast<int64_t>(size);
        }
    }
    for (const Json& kernel : list_in(variant, "kernels")) {
        const Fields of_kernel(kernel);
        constexpr Range kBytes{0, 1e18};
        count.dram_read_bytes += of_kernel.number("dram_read_bytes", kBytes).value_or(0);
        count.dram_write_bytes += of_kernel.number("dram_write_bytes", kBytes).value_or(0);
        constexpr Range kNanoseconds{1, 1e14};
        if (const auto ns = of_kernel.number("duration_ns", kNanoseconds))
            count.kernels.push_back({io::printable(of_kernel.words("name"), 400), *ns / 1e3});
    }
    return count;
}

std::vector<HardwareCount> counters_from(const std::filesystem::path& path) {
    const Json document = read_json(path);
    std::vector<HardwareCount> counts;
    try {
        for (const Json& recording : list_in(document, "recordings")) {
            const std::string gpu = io::printable(Fields(recording).words("gpu", "a GPU"), 60);
            for (const Json& variant : list_in(recording, "variants"))
                counts.push_back(count_from(variant, gpu));
        }
    } catch (const InputError& error) {
        io::refuse(path, "variant " + std::to_string(counts.size() + 1) + ": " + error.what());
    }
    // Bytes are told for each element of rows and columns: what has none, and no times, is not asked for here.
    std::erase_if(counts, [](const HardwareCount& count) {
        return (count.rows == 0 || count.cols == 0) && count.kernels.empty();
    });
    return counts;
}

// NN_name.json and its kinds: nothing else in the folder is a record.
bool is_record_file(const std::filesystem::path& path) {
    static const std::set<std::string> kinds = {"", ".peers", ".widths", ".partial",
                                                ".widths.partial"};
    const std::string name = path.filename();
    return name.size() > 3 && kinds.count(kind_of(path)) > 0 &&
           std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
           std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_' &&
           path.extension() == ".json";
}

std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (is_record_file(entry.path())) paths.push_back(entry.path());
    }
    if (error) io::refuse(folder, "cannot be read: " + error.message());
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

std::string number_text(double size) {
    char text[40];
    std::snprintf(text, sizeof(text), size == std::floor(size) ? "%.0f" : "%.6g", size);
    return text;
}

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
    return io::printable(
        (whole.has_filename() ? whole.filename() : whole.parent_path().filename()).string());
}

std::string RecordFile::stage() const {
    return stage_of(path);
}

bool is_record_folder(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) && !record_files(path).empty();
}

RecordFolder read_folder(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        io::refuse(path, "no such folder; `./stages run` makes results/, --out another one");
    if (!is_record_folder(path)) {
        io::refuse(path, "no records in it (files such as 01_name.json); `./stages run --out " +
                             io::printable(path.string()) + "` writes some");
    }
    RecordFolder folder;
    folder.path = path;
    const std::string whole = std::filesystem::weakly_canonical(path).string() + "/";
    folder.committed = whole.find("/common/recorded/") != std::string::npos;
    for (const std::filesystem::path& file : record_files(path))
        folder.files.push_back(file_from(file));
    if (std::filesystem::exists(path / "ncu.json", error))
        folder.counters = counters_from(path / "ncu.json");
    return folder;
}

void keep_newer_runs(RecordFolder& folder) {
    const auto key = [](const RecordFile& file) {
        return std::tuple(file.stage(), file.peers, file.widths);
    };
    std::map<std::tuple<std::string, bool, bool>, const RecordFile*> newest;
    for (const RecordFile& file : folder.files) {
        const RecordFile*& at = newest[key(file)];
        if (at == nullptr || file.date > at->date) at = &file;
    }
    std::vector<RecordFile> kept;
    for (const RecordFile& file : folder.files) {
        if (newest[key(file)] == &file) kept.push_back(file);
    }
    folder.files = std::move(kept);
}

std::string partial_words(const std::vector<const RecordFile*>& files) {
    std::map<std::string, std::set<std::string>> stages_by_flags;
    bool any_full = false;
    for (const RecordFile* file : files) {
        if (file->partial)
            stages_by_flags[file->chosen].insert(file->stage().substr(0, 2));
        else if (file->run())
            any_full = true;
    }
    const bool all_alike = !any_full && stages_by_flags.size() == 1;
    std::string text;
    for (const auto& [flags, stages] : stages_by_flags) {
        text += text.empty() ? "a partial run" : "; a partial run";
        std::string list;
        for (const std::string& stage : stages) list += (list.empty() ? " of " : ", ") + stage;
        text += (all_alike ? "" : list) + (flags.empty() ? "" : ": " + flags);
    }
    return text;
}

void mark_overflowing(std::vector<RecordFolder>& folders, const std::vector<RecordFolder>& known) {
    std::set<std::pair<std::string, std::string>> overflowing;
    for (const RecordFolder& folder : known) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (record.overflows) overflowing.emplace(record.stage, record.variant);
            }
        }
    }
    for (RecordFolder& folder : folders) {
        for (RecordFile& file : folder.files) {
            for (Record& record : file.records) {
                if (overflowing.count({record.stage, record.variant}) > 0) record.overflows = true;
            }
        }
    }
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

std::vector<std::string> stages_by_files(const std::filesystem::path& folder) {
    std::set<std::string> stages;
    if (is_record_folder(folder)) {
        for (const std::filesystem::path& path : record_files(folder))
            stages.insert(stage_of(path));
    }
    return {stages.begin(), stages.end()};
}

std::string first_operation(const std::vector<RecordFolder>& folders) {
    const Record* first = nullptr;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                const bool earlier = first == nullptr || record.stage < first->stage;
                if (record.role == "ours" && earlier) first = &record;
            }
        }
    }
    return first == nullptr ? "" : first->op;
}

double bytes_of(const std::string& dtype) {
    static const std::map<std::string, double> bytes = {
        {"float64", 8}, {"float32", 4}, {"float16", 2}, {"bfloat16", 2}};
    const auto found = bytes.find(dtype);
    if (found == bytes.end())
        throw InputError("no element type '" + dtype + "' is known here; wanted: float32 or so");
    return found->second;
}

}  // namespace plot
