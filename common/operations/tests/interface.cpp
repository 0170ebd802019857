// SPDX-License-Identifier: MIT
// Whatever an operation is, everything of the course takes it by the interface alone.
#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/operations/all.hpp"
#include "common/operations/topk/operation.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "gather.hpp"

namespace {

using namespace runner;
using gather::Fault;

ExitCode run_of(const Folder& folder, std::vector<Variant> variants, RunOptions options = {}) {
    options.out = folder.path;
    return run({gather::stage_of(std::move(variants))}, options);
}

std::string first_fault(Fault fault, int64_t cases) {
    const Stage stage = gather::stage_of({gather::variant("faulty", fault)});
    for (int64_t number = 0; number < cases; ++number) {
        const std::string wrong = run_case(fuzz_case({&stage}, "", 5, number, 4096));
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace

TEST_CASE("an operation unlike all others is validated, compared, measured and recorded") {
    const Folder folder;
    CHECK(run_of(folder, {gather::variant("first"), gather::variant("second")}) == kGood);
    const nlohmann::json records = nlohmann::json::parse(folder.read("96_gather.json"));
    REQUIRE(records.at("records").size() == 2);
    const nlohmann::json& second = records.at("records")[1];
    CHECK(second.at("op") == "gather");
    CHECK(second.at("shape") == nlohmann::json{{"rows", 64}, {"cols", 32}, {"picks", 4}});
    CHECK(second.at("along") == "picks");  // the last of its sizes, as none is said
    CHECK(second.at("elements") == 256);
    CHECK(second.at("flops") == 256);
    CHECK(second.at("bytes") == 256 * 4 * 3 + 64 * 8);
    CHECK_FALSE(second.contains("rows"));  // what only operations of rows have
    if (build_info().backend == "cpu") {
        CHECK(second.at("loads_per_element") == 2);
        CHECK(second.at("stores_per_element") == 1.5);
    } else {
        CHECK(second.at("tflops") > 0);
    }
}

TEST_CASE("whichever of its results is wrong, or its input overwritten, the run is wrong") {
    const Folder folder;
    for (const Fault fault : {Fault::neighbour, Fault::miscounts, Fault::writes_to_x})
        CHECK(run_of(folder, {gather::variant("faulty", fault)}) == kWrong);
}

TEST_CASE("its sizes and options are asked for by their names") {
    const Folder folder;
    RunOptions options;
    options.shapes = {parse_shape("4x8x3,scale=2", {gather::operation()})};
    CHECK(text_of(options.shapes.front()) == "4 x 8 x 3 scale=2");
    CHECK(run_of(folder, {gather::variant("scales")}, options) == kGood);
    CHECK_THAT(folder.read("96_gather.partial.json"),
               ContainsSubstring("--shape 4x8x3,scale=2") && ContainsSubstring("\"scale\":2") &&
                   ContainsSubstring(R"("options":"scale")"));
    CHECK(run_of(folder, {gather::variant("forgets", Fault::forgets_option)}, options) == kWrong);
    Variant plain = gather::variant("plain");
    plain.takes.clear();
    CHECK_THROWS_WITH(run_of(folder, {plain}, options), ContainsSubstring("does not scale"));
    CHECK_THROWS_WITH(parse_shape("4x8", {gather::operation()}),
                      ContainsSubstring("ROWSxCOLSxPICKS is wanted"));
}

TEST_CASE("an array's problem has its sizes, and what is said beside it") {
    std::map<std::string, const Operation*> operations;
    for (const Operation* each : operations::all()) operations[each->name()] = each;
    operations["gather"] = gather::operation();
    // "none" where nothing fits the array.
    const auto problem = [&](const std::string& name, const std::vector<int64_t>& dims,
                             const std::string& said = "") {
        const Operation& operation = *operations.at(name);
        const Words words = said.empty() ? Words() : words_from(said).value();
        const Shape shape = operation.shape_of_array(dims, words);
        return fits(operation, shape, dims) ? word_of(shape) : "none";
    };
    CHECK(problem("softmax", {4, 8}) == "4x8");
    CHECK(problem("softmax", {4, 8, 3}) == "4x8x3");
    CHECK(problem("softmax", {4}) == "none");
    CHECK(problem("softmax", {4, 8}, "rows=5") == "none");
    CHECK(problem("softmax", {4, 8}, "k=5") == "none");
    CHECK(problem("softmax_topk", {4, 3}) == "4x3,k=3");
    CHECK(problem("softmax_topk", {4, 8}, "k=7") == "4x8,k=7");
    CHECK(problem("softmax_topk", {4, 8}, "k=9") == "none");
    CHECK(problem("sample_token", {4, 8}, "top_p=0.5,temperature=2") ==
          "4x8,temperature=2,top_p=0.5");
    CHECK(problem("batched_gemm", {3, 5}) == "1x3x5x5");
    CHECK(problem("batched_gemm", {2, 3, 5}, "n=7") == "2x3x7x5");
    CHECK(problem("batched_gemm", {2, 3, 5}, "n=7,transpose_a") == "2x5x7x3,transpose_a=1");
    CHECK(problem("batched_gemm", {2, 3, 5}, "k=4") == "none");
    CHECK(problem("batched_gemm", {2, 3, 4, 5}) == "none");
    CHECK(problem("attention", {6, 8}, "keys=9,causal") == "1x1x6x9x8,causal=1");
    CHECK(problem("add_qkv_bias_transpose", {6, 24}, "batch=2,heads=4") == "2x3x4x2");
    CHECK(problem("add_qkv_bias_transpose", {6, 25}, "batch=2,heads=4") == "none");
    CHECK(problem("add_qkv_bias_transpose", {5, 24}, "batch=2,seq=3,heads=4") ==
          "2x3x4x2,tokens=5");
    CHECK(problem("masked_softmax", {2, 4, 3, 3}, "causal") == "2x3x4x64,causal=1");
    CHECK(problem("masked_softmax", {2, 4, 3, 5}) == "none");
    CHECK(problem("encoder", {2, 3, 8}) == "none");  // how many heads?
    CHECK(problem("encoder", {2, 3, 8}, "heads=4,layers=2") == "2x3x4x2,layers=2");
    CHECK(problem("encoder", {2, 3, 8}, "heads=3") == "none");
    CHECK(problem("gather", {4, 8}) == "none");
    CHECK(problem("gather", {4, 8}, "picks=3,scale=2") == "4x8x3,scale=2");
}

TEST_CASE("with a variant named, a shape is read as a problem of what that computes") {
    Stage stage = gather::stage_of({gather::variant("first"), gather::variant("second")});
    stage.variants.back().operation = operation_of(operations::topk::Kind::softmax_topk);
    CHECK(operations_of({&stage}).size() == 2);
    CHECK(operations_of({&stage}, "second") ==
          std::vector<const Operation*>{stage.variants.back().operation});
    CHECK(text_of(parse_shape("4x8", operations_of({&stage}, "second"))) == "4 x 8 k=5");
    CHECK(operations_of({&stage}, "third").size() == 2);  // that there is none is said elsewhere
}

TEST_CASE("fuzz lays out all its operands, and finds what is written where it should not be") {
    CHECK(first_fault(Fault::none, 100).empty());
    CHECK_THAT(first_fault(Fault::neighbour, 20), ContainsSubstring("values, row 0, pick "));
    CHECK_THAT(first_fault(Fault::miscounts, 1), ContainsSubstring("positive, row 0"));
    CHECK_THAT(first_fault(Fault::writes_to_x, 1),
               ContainsSubstring("x, an input, was overwritten"));
    CHECK(first_fault(Fault::writes_beyond, 1) == "memory beside values was written to");
    CHECK_THAT(first_fault(Fault::forgets_option, 20), ContainsSubstring("elements wrong"));
}

TEST_CASE("one problem has one name: what an operation gives out is as records have it") {
    for (const Operation* operation : operations::all()) {
        std::vector<Shape> shapes = {operation->usual_shape()};
        for (const auto& more :
             {operation->held_at(), operation->profiled_at(), operation->validated_at({}),
              operation->measured_at({true}), operation->measured_at({false})})
            shapes.insert(shapes.end(), more.begin(), more.end());
        for (const Shape& shape : shapes) {
            INFO(operation->name() << ", " << text_of(shape));
            CHECK(operation->plain(shape) == shape);
        }
        // Said or not, what is usual is usual.
        const Shape usual = operation->usual_shape();
        for (const Optional& each : operation->optional()) {
            const std::vector<std::string> sizes = operation->forms().back();
            if (std::find(sizes.begin(), sizes.end(), each.name) != sizes.end()) continue;
            INFO(operation->name() << ", " << each.name);
            Shape said = usual;
            said.set_option(each.name, usual.option(each.name, each.usual));
            CHECK(operation->plain(said) == usual);
        }
    }
    const Shape scaled = *shape_from("4x8x3,scale=2"), plain = *shape_from("4x8x3,scale=1");
    CHECK(gather::operation()->plain(scaled) == scaled);
    CHECK(gather::operation()->plain(plain) == Shape{4, 8, 3});
}

TEST_CASE(
    "what an operation draws at random is a problem of it, and no larger than was asked for") {
    for (const Operation* operation : operations::all()) {
        INFO(operation->name());
        Draws draws(1, 1);
        for (int number = 0; number < 1000; ++number) {
            const Shape drawn =
                operation->draw(draws, 5000, [](const std::string&) { return true; });
            INFO(text_of(drawn));
            REQUIRE(operation->has_shape(drawn));
            REQUIRE(operation->plain(drawn) == drawn);
            const std::vector<int64_t>& sizes = drawn.sizes();  // 0 is no size on a command line
            if (std::count(sizes.begin(), sizes.end(), 0) == 0)
                REQUIRE(shape_from(word_of(drawn)) == drawn);
            const int64_t of_first = operation->operands(drawn, DType::float32).front().bytes() / 4;
            REQUIRE(std::min(of_first, operation->elements(drawn)) <= 5000);  // q, k and v are one
            if (operation->usual_shape().options().empty())
                REQUIRE(operation->draw(draws, 5000, [](const std::string&) { return false; })
                            .options()
                            .empty());
        }
    }
}

TEST_CASE("whoever works by the interface names no operation") {
    std::string names;
    std::set<std::string> different;
    for (const Operation* operation : operations::all()) {
        names += (names.empty() ? "" : "|") + operation->name();
        CHECK(different.insert(operation->name()).second);
    }
    const std::regex named("\\b(" + names + ")\\b");
    const std::filesystem::path common = STAGES_SOURCE_DIRECTORY "/common";
    int files = 0;
    const auto look_at = [&](const std::filesystem::path& path) {
        ++files;
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            INFO(path << ": " << line);
            CHECK_FALSE(std::regex_search(line, named));
        }
    };
    const std::set<std::string> code = {".cpp", ".hpp", ".cu", ".cuh", ".h"};
    for (const char* folder :
         {"runner", "xray", "report", "report/pictures", "course", "course/my"}) {
        for (const auto& entry : std::filesystem::directory_iterator(common / folder)) {
            // A table of one page, the encoder's: it counts that layer's launches.
            if (entry.path().filename() == "readme_layer.cpp") continue;
            if (code.count(entry.path().extension()) != 0) look_at(entry.path());
        }
    }
    for (const char* file :
         {"stages.h", "stages.cpp", "catalogue.cpp", "catalogue.hpp", "problem.cpp", "problem.hpp",
          "stages_library.py", "peers.py", "peers_report.py", "contenders.py",
          "torch_contenders.py", "timeline.py"})
        look_at(common / "peers" / file);
    CHECK(files > 100);
}
