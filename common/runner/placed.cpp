// SPDX-License-Identifier: MIT
#include "common/runner/placed.hpp"

#include <algorithm>

#include "common/runner/attempt.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/fuzz.hpp"

namespace runner {
namespace {

using Places = std::vector<FuzzCase::Place>;

bool is_odd(const Places& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const auto& place) { return place.offset != 0; });
}
bool is_in_place(const Places& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const auto& place) { return !place.over.empty(); });
}

// Inputs and outputs so many elements behind an address that any access may use.
Places places_of(const std::vector<Operand>& operands, int64_t inputs, int64_t outputs,
                 bool in_place) {
    Places places;
    for (const Operand& each : operands) {
        places.push_back({each.name, each.is_output() ? outputs : inputs, 0, ""});
        if (in_place && !each.may_lie_over.empty()) places.back().over = each.may_lie_over.front();
    }
    return places;
}

// All that differ, within what the variant takes; the usual place of all is none of them.
std::vector<Places> all_places(const Variant& variant, const std::vector<Operand>& operands) {
    std::vector<Places> all;
    std::vector<std::string> known;
    for (const bool in_place : {false, true}) {
        for (const auto& [inputs, outputs] : {std::pair(0, 0), {1, 1}, {1, 0}, {0, 3}}) {
            Places places = places_of(operands, inputs, outputs, in_place);
            keep_within_limits(variant, operands, places);
            const std::string text = text_of(places);
            const bool is_known = std::find(known.begin(), known.end(), text) != known.end();
            if (is_known || (!is_odd(places) && !is_in_place(places))) continue;
            known.push_back(text);
            all.push_back(std::move(places));
        }
    }
    return all;
}

// Of the smallest shapes the first, and the first whose rows are whole packs of 16 bytes.
std::vector<Shape> shapes_for(const std::vector<Case>& cases, const Variant& variant, DType dtype) {
    const Operation& operation = *variant.operation;
    std::vector<Shape> shapes;
    for (const Case& one : cases) {
        const bool known = std::find(shapes.begin(), shapes.end(), one.shape) != shapes.end();
        if (!known && obstacle_of(variant, one.shape, dtype).empty()) shapes.push_back(one.shape);
    }
    std::stable_sort(shapes.begin(), shapes.end(), [&](const Shape& a, const Shape& b) {
        constexpr int64_t kSmall = 1024;  // all of these are small
        return std::max(kSmall, operation.elements(a)) < std::max(kSmall, operation.elements(b));
    });
    std::vector<Shape> chosen;
    if (!shapes.empty()) chosen.push_back(shapes.front());
    const auto packed = std::find_if(shapes.begin(), shapes.end(), [](const Shape& shape) {
        constexpr int64_t kPack = 8;
        return shape.sizes().back() % kPack == 0;
    });
    if (packed != shapes.end() && packed != shapes.begin()) chosen.push_back(*packed);
    return chosen;
}

// What is special about such places, and how a header says that its launcher takes none: unless its limits are given.
std::string remedy(const Places& places, bool limits_are_given) {
    std::string why =
        "; an operand may begin at any element, where an access of several elements "
        "is misaligned";
    std::string limit = places.front().operand + " % 16 == 0";
    for (const FuzzCase::Place& place : places) {
        if (place.over.empty()) continue;
        why = "; " + place.operand + " may be the same array as " + place.over +
              ": an element is overwritten before it is read";
        limit = place.operand + " != " + place.over;
        break;
    }
    return limits_are_given ? why
                            : why +
                                  "; a launcher that takes no such addresses says so above "
                                  "itself: `// takes: " +
                                  limit + "`";
}

}  // namespace

void validate_placed(StageRun& run, const Operation& family, DType dtype) {
    if (!run.options.shapes.empty() || run.array) return;
    const std::vector<Case> cases = validation_cases(run, family);
    for (const Variant* variant : run.chosen) {
        if (variant->operation->family() != family.family()) continue;
        Validation& validation = run.results[{variant, dtype}];
        if (validation.verdict() == Verdict::wrong) continue;  // that comes first
        for (const Shape& shape : shapes_for(cases, *variant, dtype)) {
            const std::vector<Operand> operands = variant->operation->operands(shape, dtype);
            for (const Places& places : all_places(*variant, operands)) {
                const FuzzCase one{&run.stage,          variant, dtype,           shape,
                                   cases.front().input, places,  run.options.seed};
                const std::string where =
                    text_of(Case{one.input, shape}, dtype) + ", " + text_of(places);
                attempt(validation, where, [&] {
                    bool judged = false;
                    std::string wrong = run_case(one, &judged);
                    const std::string said = probe().take_error();
                    if (wrong.empty()) {
                        validation.cases += judged ? 1 : 0;
                        return;
                    }
                    if (!said.empty()) wrong = said;
                    validation.add_failure(where, wrong + remedy(places, run.limits_are_given),
                                           is_in_place(places) ? "in place" : "odd addresses");
                });
            }
        }
    }
}

}  // namespace runner
