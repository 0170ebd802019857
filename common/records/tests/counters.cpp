// SPDX-License-Identifier: MIT
#include "common/records/counters.hpp"

#include "common/io/files.hpp"
#include "common/records/where.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using namespace records;

namespace {

Profile variant(const std::string& name, double sectors, const std::string& commit = "abc") {
    return {"97_made_up",
            name,
            "float32",
            "256x1024",
            "13.0",
            "2025.3.1",
            commit,
            "2026-01-01",
            {{"k", "(1, 1, 1)", "(32, 1, 1)", {{"global_load_sectors", sectors}}}}};
}

Recording recording(const std::string& nvcc, std::vector<Profile> variants) {
    return {"NVIDIA H200", nvcc, std::move(variants), {}};
}

}  // namespace

TEST_CASE("recordings are kept by GPU and compiler") {
    const Folder folder;
    const std::filesystem::path file = folder.path / "gpu/counters.json";
    CHECK(read_counters(file).empty());

    save_counters(file, recording("12.9", {variant("a", 1), variant("b", 2)}));
    save_counters(file, recording("13.0", {variant("a", 3)}));
    save_counters(file, recording("12.9", {variant("b", 4, "def")}));  // b anew, a stays

    const std::vector<Recording> read = read_counters(file);
    REQUIRE(read.size() == 2);
    CHECK(read[0].nvcc == "12.9");
    REQUIRE(read[0].variants.size() == 2);
    const auto sectors = [&](size_t i, const char* name) {
        return read[i].find("97_made_up", name, "256x1024")->sum("global_load_sectors");
    };
    CHECK(sectors(0, "a") == 1);
    CHECK(sectors(0, "b") == 4);
    CHECK(sectors(1, "a") == 3);
    const auto commit = [&](const char* name) {
        return read[0].find("97_made_up", name, "256x1024")->commit;
    };
    CHECK(commit("a") == "abc");
    CHECK(commit("b") == "def");
    CHECK(read[1].find("97_made_up", "b", "256x1024") == nullptr);
    CHECK(read[1].find("97_made_up", "a", "256x1025") == nullptr);
}

TEST_CASE("what was recorded with fewer counters stands beside the rest") {
    const Folder folder;
    const std::filesystem::path file = folder.path / "gpu/counters.json";
    Recording both = recording("13.0", {variant("a", 1)});
    Profile odd = variant("a", 2);
    odd.shape = "61x777";
    both.requests = {odd};
    save_counters(file, both);
    save_counters(file, recording("13.0", {variant("a", 3)}));  // the odd one stays

    const Recording read = read_counters(file).at(0);
    REQUIRE(read.variants.size() == 1);
    REQUIRE(read.requests.size() == 1);
    CHECK(read.find("97_made_up", "a", "256x1024")->sum("global_load_sectors") == 3);
    CHECK(read.find("97_made_up", "a", "61x777")->sum("global_load_sectors") == 2);
    CHECK_FALSE(read.requests[0].has_all_counters());
}

TEST_CASE("a file of another kind is refused") {
    const Folder folder;
    const std::filesystem::path file = folder.path / "gpu/counters.json";
    folder.write("gpu/counters.json", R"({"schema": 2, "recordings": []})");
    CHECK_THROWS_WITH(read_counters(file), ContainsSubstring("schema"));
    folder.write("gpu/counters.json", "nonsense");
    CHECK_THROWS_WITH(read_counters(file), ContainsSubstring(file.string()));
}

TEST_CASE("a GPU's folder") {
    CHECK(folder_of("NVIDIA H200") == "nvidia_h200");
    CHECK(folder_of("NVIDIA RTX A4000") == "nvidia_rtx_a4000");
}
