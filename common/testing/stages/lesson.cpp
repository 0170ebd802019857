// SPDX-License-Identifier: MIT
// `run --lesson`, and the programs that have a stage's lesson alone.
#include "common/runner/choose.hpp"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/redirected.hpp"

std::vector<runner::Stage> all_lessons();

namespace {

std::vector<std::string> names_of(const std::vector<runner::Variant>& variants,
                                  const runner::RunOptions& options = {}) {
    std::vector<std::string> names;
    for (const runner::Variant& variant : variants) {
        if (runner::is_chosen(variant, options)) names.push_back(variant.name);
    }
    return names;
}

}  // namespace

TEST_CASE("a lesson's program has the variants that --lesson leaves, which are a stage's first") {
    runner::RunOptions lesson;
    lesson.lesson = true;
    const std::vector<runner::Stage> stages = runner::all_stages(), lessons = all_lessons();
    REQUIRE(stages.size() == lessons.size());
    for (size_t i = 0; i < stages.size(); ++i) {
        INFO(stages[i].name);
        const std::vector<std::string> of_lesson = names_of(stages[i].variants, lesson);
        std::vector<std::string> first = names_of(stages[i].variants);
        first.resize(of_lesson.size());
        CHECK(lessons[i].name == stages[i].name);
        CHECK(names_of(lessons[i].variants) == of_lesson);
        CHECK(first == of_lesson);
        CHECK(!of_lesson.empty());
    }
}

TEST_CASE("a lesson alone refuses a variant beyond it") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            if (!variant.further) continue;
            runner::RunOptions options;
            options.lesson = true;
            options.stages = {stage.name};
            options.variant = variant.name;
            CHECK_THROWS_AS(runner::run({stage}, options), runner::UsageError);
        }
    }
}
