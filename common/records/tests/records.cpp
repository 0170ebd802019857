// SPDX-License-Identifier: MIT
// The reader and the writer, held to every record that is committed.
#include "common/records/record.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/io/files.hpp"
#include "common/records/counters.hpp"
#include "common/records/where.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/skip.hpp"

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Those called so, of every stage: what was recorded on every GPU, and what is expected.
std::vector<fs::path> committed(const std::vector<std::string>& names) {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    std::vector<fs::path> files;
    for (const std::string& stage : records::stage_folders(repository)) {
        std::vector<fs::path> folders = {records::expected_of(repository, stage)};
        for (const std::string& gpu : records::gpu_folders(repository))
            folders.push_back(records::recorded_of(repository, stage, gpu));
        for (const fs::path& folder : folders) {
            for (const std::string& name : names) {
                if (fs::exists(folder / name)) files.push_back(folder / name);
            }
        }
    }
    return files;
}

int64_t lines_in(const fs::path& path) {
    const std::string text = io::text_in(path);
    return std::count(text.begin(), text.end(), '\n');
}

json parsed(const fs::path& path) {
    std::ifstream file(path);
    return json::parse(file);
}

// Whether the written record says what the first says and, beyond that, what is usual.
bool says_the_same(json written, const json& first) {
    for (const auto& [key, value] : first.items()) {
        if (written.value(key, json()) != value) return false;
        written.erase(key);
    }
    const json usual = {{"roof", "copy"}, {"input", "normal"}, {"shown_as", first.at("op")}};
    for (const auto& [key, value] : written.items()) {
        if (usual.value(key, json()) != value) return false;
    }
    return true;
}

std::string refusal(const Folder& folder, const json& record,
                    records::Reading reading = records::Reading::lenient) {
    const json complete = {{"stage", "01_first"}, {"variant", "v"},   {"role", "ours"},
                           {"op", "softmax"},     {"backend", "cpu"}, {"dtype", "float32"},
                           {"rows", 1},           {"cols", 2},        {"loads_per_element", 1}};
    const json file = {{"schema", 1}, {"records", {complete, record}}};
    folder.write("01_first.json", file.dump());
    try {
        records::read(folder.path / "01_first.json", reading);
    } catch (const io::FileError& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace

TEST_CASE("each committed record is of the schema, and is written as it was read") {
    const std::vector<fs::path> files = committed(
        {records::kOwn, records::kPeers, records::kWidths, records::kTimeline, records::kCounts});
    CHECK(files.size() > 20);
    for (const fs::path& path : files) {
        INFO(path);
        const records::File file = records::read(path, records::Reading::strict);
        const json first = parsed(path), written = json::parse(records::json_of(file));
        for (const char* key : {"gpu", "driver", "cuda", "nvcc", "commit", "date", "torch"}) {
            if (first.contains(key)) CHECK(written.at(key) == first.at(key));
        }
        REQUIRE(written.at("records").size() == first.at("records").size());
        for (size_t i = 0; i < file.records.size(); ++i)
            REQUIRE(says_the_same(written["records"][i], first["records"][i]));
        CHECK(lines_in(path) == static_cast<int64_t>(file.records.size()) + 2);
    }
}

TEST_CASE("the committed counters are written as they were read, a profile a line") {
    const Folder folder;
    const std::vector<fs::path> files = committed({records::kCounters});
    CHECK(files.size() > 8);
    for (const fs::path& path : files) {
        INFO(path);
        const fs::path copy = folder.path /
                              path.parent_path().parent_path().parent_path().filename() /
                              path.parent_path().filename();
        for (const records::Recording& each : records::read_counters(path))
            records::save_counters(copy, each);
        CHECK(parsed(copy) == parsed(path));
        CHECK(lines_in(copy) == lines_in(path));
    }
}

TEST_CASE("a record that lacks a field, or has a wrong one, is refused by file, number and field") {
    const Folder folder;
    const json good = {{"stage", "01_first"}, {"variant", "v"}, {"shape", {{"k", 2}}}};
    CHECK(refusal(folder, good) == "taken");
    const auto refused = [&](const char* key, const json& value, const std::string& words) {
        json bad = good;
        value.is_null() ? void(bad.erase(key)) : void(bad[key] = value);
        CHECK_THAT(refusal(folder, bad), ContainsSubstring("01_first.json: record 2: " + words));
    };
    refused("stage", json(), "no 'stage'");
    refused("variant", json(), "no 'variant'");
    refused("shape", json(), "no 'shape'");
    refused("us_median", -1, "'us_median' is -1; wanted: a number from 0.001 to");
    refused("rows", 1.5, "'rows' is 1.5; wanted: a whole number");
    json newer = good;
    newer["from_the_future"] = 1;
    CHECK(refusal(folder, newer) == "taken");
    CHECK_THAT(refusal(folder, newer, records::Reading::strict),
               ContainsSubstring("record 2: the schema has no field 'from_the_future'"));
}

TEST_CASE("a timeline has the kernels of a layer, sorted by their ends, and no figures") {
    const Folder folder;
    const json first = {{"name", "product_kernel Tile<128, 2>"},
                        {"grid", "(64, 2, 1)"},
                        {"block", "(384, 1, 1)"},
                        {"begin_us", -0.25},
                        {"end_us", 28.5}};
    const json second = {{"name", "norm_kernel"},
                         {"grid", "(8, 1, 1)"},
                         {"block", "(96, 1, 1)"},
                         {"begin_us", 2.5},
                         {"end_us", 30}};
    const auto with = [&](const json& kernels) {
        return json{{"stage", "01_first"},      {"variant", "v"},    {"role", "ours"},
                    {"op", "layers"},           {"backend", "cuda"}, {"dtype", "float16"},
                    {"shape", {{"tokens", 2}}}, {"kernels", kernels}};
    };
    const json file = {
        {"schema", 1}, {"gpu", "G"}, {"date", "2026-01-02"}, {"records", {with({first, second})}}};
    folder.write("01_first/recorded/g/timeline.json", file.dump());
    const fs::path path = folder.path / "01_first/recorded/g/timeline.json";
    const records::File timeline = records::read(path, records::Reading::strict);
    CHECK((timeline.timeline() && !timeline.run()));
    const records::Record& record = timeline.records.at(0);
    CHECK_FALSE((record.timed() || record.counted()));
    REQUIRE(record.steps.size() == 2);
    CHECK((record.added(0) == 28.5 && record.added(1) == 1.5 && record.layer_us() == 30));
    CHECK(says_the_same(json::parse(records::json_of(timeline))["records"][0], file["records"][0]));

    const auto refused = [&](json kernel, const json& change, const std::string& words) {
        kernel.update(change);
        CHECK_THAT(refusal(folder, with({first, kernel})),
                   ContainsSubstring("01_first.json: record 2: kernel 2: " + words));
    };
    refused(second, {{"end_us", 28}}, "'end_us' is before that of the kernel before");
    refused(second, {{"begin_us", 31}}, "'end_us' is before 'begin_us'");
    refused(second, {{"begin_us", "early"}}, "'begin_us' is \"early\"; wanted: a number");
    refused(second, {{"name", ""}}, "no 'name'");
    refused({{"name", "k"}, {"begin_us", 1}}, json::object(), "no 'end_us'");
    CHECK_THAT(refusal(folder, with(json::array())),
               ContainsSubstring("record 2: 'kernels' has 0"));
    CHECK_THAT(refusal(folder, with(1)), ContainsSubstring("record 2: no list 'kernels'"));
}

TEST_CASE("a figure that a record lacks is named by whoever needs it") {
    records::Record record;
    record.stage = "01_first";
    record.variant = "v";
    CHECK_THROWS_WITH(record.at("us_median"),
                      ContainsSubstring("01_first, v,") && ContainsSubstring("'us_median'"));
}

TEST_CASE("what peers.py writes is of the schema, and a field that it leaves out is named") {
    const Folder folder;
    const std::string script = STAGES_SOURCE_DIRECTORY "/common/records/tests/peers_record.py";
    if (std::system("command -v python3 >/dev/null") != 0)
        return testing::skip("python3 is not installed");
    REQUIRE(std::system(("python3 '" + script + "' '" + folder.path.string() + "'").c_str()) == 0);
    const fs::path path = folder.path / "97_made_up.peers.json";
    const records::File file = records::read(path, records::Reading::strict);
    CHECK(file.peers());
    CHECK(file.libraries.at("torch") == "2.11");
    REQUIRE(file.records.size() == 10);  // two groups of four contenders and a roof
    const records::Record& ours = file.records.front();
    CHECK((ours.role == "ours" && ours.further && ours.timed() && ours.at("speedup") == 2));
    CHECK(ours.shape == std::vector<std::string>{"rows", "cols", "causal", "alpha"});
    CHECK(ours.size("alpha") == 0.5);
    CHECK(file.records[3].part == "row sum");
    CHECK(file.records[5].shown_as == "question");
    CHECK(file.records[9].role == "roof");

    const json written = parsed(path);
    for (const char* key : {"stage", "variant", "role", "op", "backend", "dtype", "shape", "bytes",
                            "us_median", "us_p90", "us_empty", "gbps", "roof_gbps"}) {
        INFO(key);
        json without = written;
        without["records"][1].erase(key);
        if (std::string(key) == "shape") {
            without["records"][1].erase("rows");
            without["records"][1].erase("cols");
        }
        folder.write(path.filename(), without.dump());
        CHECK_THROWS_WITH(records::read(path, records::Reading::strict),
                          ContainsSubstring("record 2: no '" + std::string(key) + "'"));
    }
}

TEST_CASE("what several steps recorded becomes one file, without what nobody reads") {
    const Folder folder;
    const auto write = [&](const char* name, const char* commit, int cols) {
        const json record = {{"stage", "01_first"}, {"variant", "v"}, {"rows", 1},
                             {"cols", cols},        {"us_host", 3.5}, {"us_in_blocks", 2}};
        folder.write(name, json{{"schema", 1},
                                {"gpu", "G"},
                                {"commit", commit},
                                {"date", "2026-01-02"},
                                {"chosen", "--variant v"},
                                {"records", {record}}}
                               .dump());
    };
    const auto keep = [&](const std::string& words) {
        return std::system(
            ("cd '" + folder.path.string() + "' && '" KEEP_RECORDS "' " + words + " 2>said")
                .c_str());
    };
    write("1/01_first.partial.json", "a", 10);
    write("2/01_first.partial.json", "a", 20);
    REQUIRE(keep("01_first/recorded/g/own.json 1/*.json 2/*.json") == 0);
    const records::File kept = records::read(folder.path / "01_first/recorded/g/own.json");
    REQUIRE(kept.records.size() == 2);
    CHECK((kept.chosen.empty() && kept.stage() == "01_first" && kept.run()));
    CHECK((kept.records[1].size("cols") == 20 && kept.records[1].has("us_in_blocks")));
    CHECK_FALSE(kept.records[1].has("us_host"));

    write("3/01_first.partial.json", "b", 30);  // of another commit: not measured together
    CHECK(keep("own.json 1/*.json 3/*.json") != 0);
    CHECK_THAT(folder.read("said"), ContainsSubstring("3/01_first.partial.json: of G, commit b"));
}
