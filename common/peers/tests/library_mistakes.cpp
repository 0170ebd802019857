// SPDX-License-Identifier: MIT
// What the library says of a caller's mistakes: a code, and words that name what is wrong.
#include <unistd.h>

#include "common/peers/tests/library.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/redirected.hpp"
#include "common/testing/skip.hpp"

#include <limits>

namespace {

// What the library has, in room for any of the calls below.
struct Room {
    Memory x{3 * 5000 * sizeof(float)};
    Memory y{3 * 5000 * sizeof(float)};
    Memory mask{3 * 5000};
    Memory workspace{64};

    std::vector<stages_operand> plain() const { return {{"x", x.data()}, {"y", y.data()}}; }
    int call(const char* name, const Problem& problem, const std::vector<stages_operand>& operands,
             size_t workspace_bytes = 64) const {
        return LIBRARY(stages_call)(name, problem.in_c(), operands.data(), operands.size(),
                                    workspace.data(), workspace_bytes, nullptr);
    }
};

const Problem kProblem = Problem::rows(3, 5000);

}  // namespace

TEST_CASE("names that there are not, and types, come back as codes and words") {
    const Room room;
    const auto call = [&](const char* name, int dtype) {
        return room.call(name, Problem::rows(3, 5000, dtype), room.plain());
    };
    CHECK(call(ours("block_per_row"), STAGES_FLOAT32) == 0);
    CHECK(call("03_nothing/blok", STAGES_FLOAT32) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("nothing is called '03_nothing/blok'"));
    CHECK(call(nullptr, STAGES_FLOAT32) == kInvalidValue);
    CHECK(call(ours("block_per_row"), STAGES_FLOAT16) == kNotSupported);
    CHECK_THAT(error(), ContainsSubstring("block_per_row: takes float32 only"));
    CHECK(call(ours("block_per_row"), 7) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("dtype 7"));
    for (const stages_callable& each : callables()) {
        if (each.obstacle == nullptr) continue;
        CHECK(call(each.name, STAGES_FLOAT32) == kNotSupported);
        CHECK_THAT(error(), ContainsSubstring(each.obstacle));
    }

    stages_report report = {};
    const std::vector<stages_operand> plain = room.plain();
    CHECK(LIBRARY(stages_check)("sofmax", kProblem.in_c(), plain.data(), 2, &report) ==
          kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("'sofmax' is neither a callable nor an operation"));
    CHECK(LIBRARY(stages_fill)("softmax", kProblem.in_c(), "gauss", plain.data(), 2) ==
          kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("softmax has no input called 'gauss'"));
    size_t count = 0;
    CHECK(LIBRARY(stages_describe)("softmax", kProblem.in_c(), nullptr, &count) == kInvalidValue);
    CHECK(LIBRARY(stages_cost)("softmax", nullptr, nullptr, nullptr, nullptr, nullptr) ==
          kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("the problem is null"));
    void* memory = nullptr;
    CHECK(LIBRARY(stages_allocate)(size_t{1} << 60, &memory) == 2);  // cudaErrorMemoryAllocation
    CHECK(memory == nullptr);
    CHECK(call(ours("block_per_row"), STAGES_FLOAT32) == 0);
}

TEST_CASE("sizes and options that an operation does not have are named") {
    const Room room;
    const auto refuses = [&](const Problem& problem, const char* words) {
        INFO(problem.text());
        CHECK(room.call(ours("block_per_row"), problem, room.plain()) == kInvalidValue);
        CHECK_THAT(error(), ContainsSubstring(words));
    };
    refuses({{{"rows", 3}, {"colums", 5}}},
            "softmax has no size 'colums': it has rows, cols or outer, dim, inner");
    refuses({{{"rows", 3}}}, "wants the sizes rows, cols or outer, dim, inner, and was given rows");
    refuses({std::vector<stages_size>{}}, "and was given none");
    refuses({{{"rows", 3}, {"dim", 5}}}, "and was given rows, dim");
    refuses({{{"rows", 3}, {"rows", 3}}}, "the size 'rows' is given twice");
    refuses({{{"rows", -1}, {"cols", 5}}}, "the size 'rows' is -1: none can be negative");
    refuses({{{nullptr, 1}, {"cols", 5}}}, "a size's name is null");
    refuses({{{"rows", int64_t{1} << 40}, {"cols", int64_t{1} << 40}}},
            "more bytes than 64 bits count");
    const std::vector<stages_size> sizes = {{"rows", 3}, {"cols", 5}};
    refuses({sizes, STAGES_FLOAT32, {{"k", 5}}}, "softmax has no option 'k': it has none");
    refuses({sizes, STAGES_FLOAT32, {{"k", std::numeric_limits<double>::quiet_NaN()}}},
            "the option 'k' is no finite number");
    refuses({sizes, STAGES_FLOAT32, {{nullptr, 5}}}, "an option's name is null");

    const stages_problem without = {STAGES_FLOAT32, nullptr, 2, nullptr, 0};
    size_t bytes = 0;
    CHECK(LIBRARY(stages_workspace_bytes)(ours("block_per_row"), &without, &bytes) ==
          kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("the list of sizes is null"));

    // A size that there is, and that this one does not take.
    CHECK(!takes(ours("block_per_row"), Problem::middle(2, 3, 5)));
    CHECK_THAT(error(), ContainsSubstring("block_per_row: works along the last axis only"));
    CHECK(takes(ours("block_per_row"), Problem::middle(2, 3, 1)));
}

TEST_CASE("operands that are missing, null, unknown or given twice are named") {
    const Room room;
    void* const x = room.x.data();
    void* const y = room.y.data();
    void* const mask = room.mask.data();
    const auto refuses = [&](const std::vector<stages_operand>& operands, const char* words) {
        CHECK(room.call(ours("scale_mask_softmax"), Problem::rows(3, 50), operands) ==
              kInvalidValue);
        CHECK_THAT(error(), ContainsSubstring(words));
    };
    refuses({{"x", x}, {"y", y}}, "the operand 'mask' is missing: an array of bool that is read");
    refuses({{"x", x}, {"mask", mask}}, "'y' is missing: an array of float32 that is written");
    refuses({{"x", x}, {"mask", nullptr}, {"y", y}}, "the operand 'mask' is null");
    refuses({{"x", x}, {"mask", mask}, {"y", nullptr}}, "the operand 'y' is null");
    refuses({{"x", x}, {"mask", mask}, {"z", y}}, "no operand 'z': there are x, mask, y");
    refuses({{"x", x}, {"mask", mask}, {"y", y}, {"x", x}}, "'x' is given twice");
    refuses({{"x", x}, {"mask", mask}, {nullptr, y}}, "an operand's name is null");
    refuses({{"x", x}, {"mask", mask}, {"y", mask}}, "'y' lies over 'mask'");
    refuses({{"x", x}, {"mask", mask}, {"y", static_cast<float*>(x) + 1}}, "'y' lies over 'x'");
    CHECK(room.call(ours("scale_mask_softmax"), Problem::rows(3, 50),
                    {{"x", x}, {"mask", mask}, {"y", x}}) == 0);
    CHECK(LIBRARY(stages_call)(ours("scale_mask_softmax"), kProblem.in_c(), nullptr, 3, nullptr, 0,
                               nullptr) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("the list of operands is null"));

    // Nothing to do: null is where nothing has to be. The names have to be right all the same.
    const std::vector<stages_operand> nowhere = {{"x", nullptr}, {"y", nullptr}};
    CHECK(room.call(ours("block_per_row"), Problem::rows(0, 5000), nowhere) == 0);
    CHECK(room.call(ours("block_per_row"), Problem::rows(3, 0), nowhere) == 0);
    CHECK(room.call(ours("scale_mask_softmax"), Problem::rows(0, 5000), nowhere) == kInvalidValue);

    stages_report report = {};
    CHECK(LIBRARY(stages_check)("softmax", Problem::rows(0, 5).in_c(), nowhere.data(), 2,
                                &report) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("there is nothing to check"));
    CHECK(LIBRARY(stages_check)("softmax", kProblem.in_c(), room.plain().data(), 1, &report) ==
          kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("the operand 'y' is missing"));
    CHECK(LIBRARY(stages_fill)("scale_mask_softmax", kProblem.in_c(), "normal", room.plain().data(),
                               2) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("the operand 'mask' is missing"));
}

TEST_CASE("a kernel's fault comes back as a code and words, and nothing is printed") {
    if (LIBRARY(stages_backend)() == std::string("cuda"))
        return testing::skip("a fault spoils a GPU's process");
    const Room room;
    const Memory small(64);
    const Folder folder;
    {
        const Redirected redirected(folder.path / "printed", STDERR_FILENO);
        CHECK(room.call(ours("block_per_row"), kProblem,
                        {{"x", small.data()}, {"y", room.y.data()}}) != 0);
    }
    CHECK(folder.read("printed").empty());
    CHECK_THAT(error(), ContainsSubstring(std::string("launching ") + ours("block_per_row")) &&
                            ContainsSubstring("thread (") && ContainsSubstring(".cuh:"));
    CHECK(room.call(ours("block_per_row"), kProblem, room.plain()) == 0);
    CHECK(room.call(ours("block_per_row"), Problem::rows(3, -1), room.plain()) != 0);
    CHECK_THAT(error(), !ContainsSubstring("thread ("));
}

TEST_CASE("a workspace that is too small is refused") {
    // Blocks that share a row exchange their parts through scratch memory: more than 8 bytes of them.
    const Problem problem = Problem::rows(1, 140000);
    const Tensors tensors("softmax", problem);
    tensors.fill("softmax", "normal");
    const std::vector<stages_operand> operands = tensors.in_c();
    const auto count = static_cast<int>(operands.size());
    const Memory workspace(8);
    CHECK(LIBRARY(stages_call)(ours("split_row"), problem.in_c(), operands.data(), count,
                               workspace.data(), 8, nullptr) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("needs a workspace of"));
    CHECK(LIBRARY(stages_call)(ours("split_row"), problem.in_c(), operands.data(), count, nullptr,
                               1 << 20, nullptr) == kInvalidValue);
    tensors.call(ours("split_row"));
    CHECK(tensors.check(ours("split_row")).mismatches == 0);
}

TEST_CASE("without a GPU there is no clock") {
    if (LIBRARY(stages_backend)() == std::string("cuda")) return testing::skip("there is a GPU");
    const Room room;
    const stages_contender contender = {[](void*, void*) { return 0; }, nullptr};
    const std::vector<stages_operand> plain = room.plain();
    stages_timing timing = {};
    stages_timing roof = {};
    stages_timing empty = {};
    CHECK(LIBRARY(stages_time)(&contender, 1, "softmax", kProblem.in_c(), plain.data(), 2, &timing,
                               &roof, &empty) == kNotSupported);
    CHECK(LIBRARY(stages_time)(&contender, 1, "softmax", kProblem.in_c(), plain.data(), 1, &timing,
                               &roof, &empty) == kInvalidValue);
    CHECK(LIBRARY(stages_time)(&contender, 0, "softmax", kProblem.in_c(), plain.data(), 2, &timing,
                               &roof, &empty) == kInvalidValue);
    CHECK(LIBRARY(stages_time_in_blocks)(&contender, 1, &timing) == kNotSupported);
    CHECK(LIBRARY(stages_time_in_blocks)(&contender, 0, &timing) == kInvalidValue);
    CHECK(LIBRARY(stages_time_in_blocks)(&contender, 1, nullptr) == kInvalidValue);
}

TEST_CASE("the library's check finds a wrong result, also of an operation done elsewhere") {
    const Problem problem = Problem::rows(4, 1000);
    const Tensors tensors("softmax", problem);
    tensors.fill("softmax", "normal");
    CHECK(tensors.check("softmax").mismatches == 4000);  // all NaN
    tensors.call(ours("block_per_row"));
    CHECK(tensors.check("softmax").mismatches == 0);
    CHECK(tensors.check(ours("block_per_row")).checked == 4000);
    CHECK(tensors.check("log_softmax").mismatches == 4000);

    Tensors masked("scale_mask_softmax", problem);
    masked.fill("scale_mask_softmax", "normal");
    masked.call(ours("scale_mask_softmax"));
    CHECK(masked.check("scale_mask_softmax").mismatches == 0);
    masked["mask"].upload(std::vector<unsigned char>(4000, 1));  // not the one it was done with
    const stages_report changed = masked.check("scale_mask_softmax");
    CHECK(changed.mismatches > 1000);
    CHECK(changed.share_of_bound == std::numeric_limits<double>::infinity());
    CHECK_THAT(changed.description, ContainsSubstring("mask, an input, was overwritten"));
}
