// SPDX-License-Identifier: MIT
#include "common/runner/quick.hpp"

#include <algorithm>
#include <numeric>

namespace runner {
namespace {

// About how many cases a sample has.
constexpr size_t kCases = 300;
// Of a type that is not a variant's first.
constexpr size_t kCasesOfOtherTypes = 1;
// Elements of the first input, up to which watching a launch costs little.
constexpr int64_t kFewElements = 4096;

bool is_the_courses(const StageRun& run) {
    return run.options.quick && !run.stage.own && !run.array && run.options.shapes.empty();
}

bool is_taken(const Variant& variant, const Shape& shape, DType dtype) {
    return !is_beyond_options(variant, shape) && obstacle_of(variant, shape, dtype).empty();
}

// The first of the types that are measured which the variant takes; if types were asked for, any.
bool is_main_type(const StageRun& run, const Variant& variant, DType dtype) {
    if (!run.options.dtypes.empty()) return true;
    const std::vector<DType> measured = measured_dtypes(run);
    const auto first = std::find_if(measured.begin(), measured.end(),
                                    [&](DType each) { return takes(variant, each); });
    return first != measured.end() && *first == dtype;
}

// The inputs and shapes in which a variant can be checked.
struct Grid {
    std::vector<std::string> inputs;
    std::vector<Shape> shapes;

    size_t longer() const { return shapes.empty() ? 0 : std::max(inputs.size(), shapes.size()); }
    size_t shorter() const { return std::min(inputs.size(), shapes.size()); }
    // In each round every input and every shape comes in turn, and no pair comes again.
    std::pair<std::string, Shape> pair(size_t turn, size_t round) const {
        const bool more_inputs = inputs.size() >= shapes.size();
        return {inputs[(turn + (more_inputs ? 0 : round)) % inputs.size()],
                shapes[(turn + (more_inputs ? round : 0)) % shapes.size()]};
    }
};
Grid grid_of(const StageRun& run, const Variant& variant, DType dtype) {
    Grid grid;
    for (const Case& one : validation_cases(run, *variant.operation)) {
        if (!is_taken(variant, one.shape, dtype)) continue;
        if (std::find(grid.inputs.begin(), grid.inputs.end(), one.input) == grid.inputs.end())
            grid.inputs.push_back(one.input);
        if (std::find(grid.shapes.begin(), grid.shapes.end(), one.shape) == grid.shapes.end())
            grid.shapes.push_back(one.shape);
    }
    return grid;
}

// Of the shapes that the variant takes, the one with the fewest elements; none where it takes none.
std::vector<Shape> smallest_of(const std::vector<Shape>& shapes, const Variant& variant,
                               DType dtype) {
    std::vector<Shape> smallest;
    for (const Shape& shape : shapes) {
        if (!is_taken(variant, shape, dtype)) continue;
        const Operation& operation = *variant.operation;
        if (smallest.empty() || operation.elements(shape) < operation.elements(smallest.front()))
            smallest = {shape};
    }
    return smallest;
}

// How many cases a whole run checks.
int64_t all_cases(const StageRun& run) {
    int64_t cases = 0;
    for (const Variant* variant : run.chosen) {
        const Operation& operation = *variant->operation;
        const auto inputs = static_cast<int64_t>(
            run.options.inputs.empty() ? operation.inputs().size() : run.options.inputs.size());
        for (const DType dtype :
             run.options.dtypes.empty() ? variant->dtypes : run.options.dtypes) {
            for (const Shape& shape : operation.validated_at({on_gpu(), false})) {
                if (is_taken(*variant, shape, dtype)) cases += inputs;
            }
        }
    }
    return cases;
}

}  // namespace

bool counts_sample(const StageRun& run) {
    return is_the_courses(run) && !on_gpu();
}

Sample::Sample(const StageRun& run) : is_all_(!is_the_courses(run)) {
    if (is_all_) return;
    std::map<std::pair<const Variant*, DType>, Grid> grids;
    size_t once = 0;  // cases if each input and each shape comes in turn once
    for (const Variant* variant : run.chosen) {
        for (const DType dtype : validated_dtypes(run)) {
            if (!takes(*variant, dtype)) continue;
            const Grid& grid = grids[{variant, dtype}] = grid_of(run, *variant, dtype);
            if (is_main_type(run, *variant, dtype)) once += grid.longer();
        }
    }
    const size_t rounds = std::max<size_t>(1, kCases / std::max<size_t>(1, once));
    for (const auto& [key, grid] : grids) {
        std::vector<Pair>& pairs = pairs_[key];
        const bool is_main = is_main_type(run, *key.first, key.second);
        const size_t most = is_main ? rounds * grid.longer() : kCasesOfOtherTypes;
        for (size_t round = 0; round < std::min(rounds, grid.shorter()); ++round) {
            for (size_t turn = 0; turn < grid.longer() && pairs.size() < most; ++turn)
                pairs.push_back(grid.pair(turn, round));
        }
    }
}

bool Sample::has(const Variant& variant, DType dtype, const Case& one) const {
    if (is_all_) return true;
    const auto found = pairs_.find({&variant, dtype});
    // Where the variant takes nothing, the run asks it about each case, and says why.
    if (found == pairs_.end() || found->second.empty()) return true;
    return std::find(found->second.begin(), found->second.end(), Pair(one.input, one.shape)) !=
           found->second.end();
}

bool is_watched(const StageRun& run, const Operation& family, const Case& one, DType dtype) {
    if (!counts_sample(run)) return one.watched;
    return one.watched && dtype == measured_dtypes(run).front() &&
           family.unit() == Unit::gigabytes && family.elements(one.shape) <= kFewElements;
}

std::vector<Shape> counted_shapes(const StageRun& run, const Variant& variant, DType dtype) {
    if (!is_main_type(run, variant, dtype)) return {};
    const Operation& operation = *variant.operation;
    if (!variant.measured_at.empty()) return smallest_of(variant.measured_at, variant, dtype);
    std::vector<Shape> shapes;
    for (const Shape& shape : operation.measured_at({on_gpu(), true})) {
        if (is_taken(variant, shape, dtype)) shapes.push_back(shape);
    }
    if (shapes.empty()) shapes = smallest_of(operation.held_at(), variant, dtype);
    if (shapes.empty())
        shapes = smallest_of(operation.validated_at({on_gpu(), true}), variant, dtype);
    return shapes;
}

std::string left_out_by_quick(const StageRun& run) {
    if (!is_the_courses(run)) return "";
    const int64_t checked =
        std::accumulate(run.results.begin(), run.results.end(), int64_t{0},
                        [](int64_t sum, const auto& each) { return sum + each.second.cases; });
    std::string text = "--quick checked " + std::to_string(checked) + " of " +
                       std::to_string(all_cases(run)) + " cases";
    if (on_gpu()) return text + ", and timed few shapes";
    return text + ", and counted each variant at a small shape, in one type";
}

}  // namespace runner
