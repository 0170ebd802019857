// SPDX-License-Identifier: MIT
#include "common/runner/choose.hpp"

#include <algorithm>

#include "common/io/text.hpp"
#include "common/runner/memory_needed.hpp"
#include "common/runner/quick.hpp"

namespace runner {
namespace {

// The user's file, fit to be printed and recorded.
std::string name_of_file(const RunOptions& options) {
    return io::printable(options.input_file);
}

template <class T>
bool is_in(const std::vector<T>& all, const T& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

// What is said beside the user's array, at least once.
std::vector<Words> said_of(const RunOptions& options) {
    return options.said.empty() ? std::vector<Words>{{}} : options.said;
}

bool shapes_are_the_courses(const StageRun& run) {
    return !run.array && run.options.shapes.empty() && run.options.megabytes == 0;
}

// The problems that the user's array is to operations of this family: one for each --shape beside it. Where operations
// of a family differ in their first input, the first that was chosen and takes the array decides.
std::vector<Shape> array_shapes(const StageRun& run, const Operation& family) {
    std::vector<Shape> shapes;
    for (const Words& said : said_of(run.options)) {
        const std::vector<int64_t>& dims = run.array->shape;
        Shape shape = family.shape_of_array(dims, said);
        for (const Variant* variant : run.chosen) {
            if (variant->operation->family() != family.family()) continue;
            const Shape own = variant->operation->shape_of_array(dims, said);
            if (!fits(*variant->operation, own, dims)) continue;
            shape = own;
            break;
        }
        if (!is_in(shapes, shape)) shapes.push_back(shape);
    }
    return shapes;
}

// "[4, 20]", and for one dimension how to make two of it.
std::string dims_in_words(const std::vector<int64_t>& dims) {
    std::string text;
    for (const int64_t each : dims) text += (text.empty() ? "" : ", ") + std::to_string(each);
    return "[" + text + "]" + (dims.size() < 2 ? " (x.reshape(1, -1) makes a row of it)" : "");
}

// Why the variant does not take the shape, or the array; empty where it does.
std::string obstacle_in(const std::optional<Array>& array, const Variant& variant,
                        const Shape& shape, DType dtype) {
    const Operation& operation = *variant.operation;
    if (!array || !takes(variant, dtype) || fits(operation, shape, array->shape))
        return obstacle_of(variant, shape, dtype);
    // Without what is said it would be taken.
    if (fits(operation, operation.shape_of_array(array->shape, {}), array->shape))
        return operation.name() + " has no such option or size: " + operation.shape_help();
    return operation.name() + " takes " + operation.array_help();
}

// Of the variants that compute something of this family, those for which `takes_part` says so.
template <class TakesPart>
std::vector<const Variant*> those(const StageRun& run, const Operation& family,
                                  TakesPart takes_part) {
    std::vector<const Variant*> found;
    for (const Variant* variant : run.chosen) {
        if (variant->operation->family() == family.family() && takes_part(*variant))
            found.push_back(variant);
    }
    return found;
}

// Why the memory has no room for the variant beside the one that it is compared with.
std::string shortage_of(const StageRun& run, const Variant& variant, const Shape& shape,
                        DType dtype) {
    if (!obstacle_of(variant, shape, dtype).empty()) return "";
    size_t workspace = workspace_of(variant, shape, dtype);
    if (const Variant* previous = previous_of(run, variant, shape, dtype))
        workspace = std::max(workspace, workspace_of(*previous, shape, dtype));
    MemoryNeeded needed = memory_needed(*variant.operation, workspace, shape, dtype);
    if (run.array) needed.on_host += host_copy_of_input(*variant.operation, shape, dtype);
    if (!run.options.save_output.empty())
        needed.on_host += host_copy_of_results(*variant.operation, shape, dtype);
    return shortage(needed);
}

// The course's shapes. Its own stages are checked at all of them by their tests; a learner's own is nowhere but here,
// so that a quick run has all those that take no time as well, and for each that its header excludes one near it.
std::vector<Shape> validated_shapes(const StageRun& run, const Operation& family) {
    std::vector<Shape> shapes = family.validated_at({on_gpu(), run.options.quick});
    if (!run.stage.own) return shapes;
    constexpr int64_t kFewElements = int64_t{1} << 14;
    const auto add = [&](const Shape& shape) {
        if (!is_in(shapes, shape)) shapes.push_back(shape);
    };
    for (const Shape& shape : family.validated_at({on_gpu(), false})) {
        if (family.elements(shape) <= kFewElements) add(shape);
    }
    for (const Variant* variant : run.chosen) {
        if (!variant->nearest) continue;
        for (const Shape& shape : std::vector<Shape>(shapes)) {
            const Shape near = variant->nearest(shape);
            if (family.has_shape(near)) add(near);
        }
    }
    return shapes;
}

// The course's shapes or those asked for, but none that variants have of their own.
void for_each_common_shape(StageRun& run, const Operation& family, DType dtype,
                           const Measure& measure) {
    const bool own = shapes_are_the_courses(run);
    for (const Shape& shape : measured_shapes(run, family, dtype)) {
        const std::vector<const Variant*> taking = those(run, family, [&](const Variant& variant) {
            // A grid is of what the stage is about.
            const bool in_grid =
                run.options.megabytes == 0 || variant.operation == run.chosen.front()->operation;
            const bool elsewhere = own && !variant.measured_at.empty();
            return in_grid && !elsewhere && takes_or_left_out(run, variant, shape, dtype);
        });
        if (!taking.empty()) measure(taking, shape, dtype);
    }
}

// The shapes of a sample, where each variant may have another.
void for_each_sampled_shape(StageRun& run, const Operation& family, DType dtype,
                            const Measure& measure) {
    std::vector<std::pair<Shape, std::vector<const Variant*>>> counted;
    for (const Variant* variant : those(run, family, [](const Variant&) { return true; })) {
        for (const Shape& shape : counted_shapes(run, *variant, dtype)) {
            auto known = std::find_if(counted.begin(), counted.end(),
                                      [&](const auto& each) { return each.first == shape; });
            if (known == counted.end()) known = counted.insert(counted.end(), {shape, {}});
            known->second.push_back(variant);
        }
    }
    for (const auto& [shape, variants] : counted) measure(variants, shape, dtype);
}

// The shapes of variants that have some of their own, in the order in which they name them.
void for_each_own_shape(StageRun& run, const Operation& family, DType dtype,
                        const Measure& measure) {
    std::vector<Shape> shapes;
    for (const Variant* variant : those(run, family, [](const Variant&) { return true; })) {
        for (const Shape& shape : variant->measured_at) {
            if (!is_in(shapes, shape)) shapes.push_back(shape);
        }
    }
    for (const Shape& shape : shapes) {
        const std::vector<const Variant*> taking = those(run, family, [&](const Variant& variant) {
            return is_in(variant.measured_at, shape) &&
                   takes_or_left_out(run, variant, shape, dtype);
        });
        if (!taking.empty()) measure(taking, shape, dtype);
    }
}

}  // namespace

bool is_chosen(const Variant& variant, const RunOptions& options) {
    return (options.variant.empty() || options.variant == variant.name) &&
           !(options.lesson && variant.further);
}

std::vector<DType> measured_dtypes(const StageRun& run) {
    return run.options.dtypes.empty() ? run.stage.measured : run.options.dtypes;
}

bool is_validated(const StageRun& run, const Variant& variant, DType dtype) {
    if (run.options.dtypes.empty() && !run.options.quick) return takes(variant, dtype);
    return is_in(measured_dtypes(run), dtype);
}

std::vector<DType> validated_dtypes(const StageRun& run) {
    std::vector<DType> dtypes;
    for (const DType dtype : all_dtypes()) {
        const auto validated = [&](const Variant* each) { return is_validated(run, *each, dtype); };
        if (std::any_of(run.chosen.begin(), run.chosen.end(), validated)) dtypes.push_back(dtype);
    }
    return dtypes;
}

std::vector<const Operation*> families(const StageRun& run) {
    std::vector<const Operation*> families;
    for (const Variant* variant : run.chosen) {
        const bool known = std::any_of(
            families.begin(), families.end(),
            [&](const Operation* each) { return each->family() == variant->operation->family(); });
        if (!known) families.push_back(variant->operation);
    }
    return families;
}

std::vector<Case> validation_cases(const StageRun& run, const Operation& family) {
    const RunOptions& options = run.options;
    if (run.array) {
        std::vector<Case> cases;
        for (const Shape& shape : array_shapes(run, family))
            cases.push_back({name_of_file(options), shape, &run.array->values, false, true});
        return cases;
    }
    const std::vector<Shape> shapes =
        options.shapes.empty() ? validated_shapes(run, family) : options.shapes;
    std::vector<std::string> inputs;
    for (const NamedInput& input : family.inputs()) {
        if (options.inputs.empty() || is_in(options.inputs, input.name))
            inputs.push_back(input.name);
    }
    std::vector<Case> cases;
    for (const std::string& input : inputs) {
        // Shapes that were asked for are watched when they are counted.
        const bool is_first = input == inputs.front();
        for (const Shape& shape : shapes)
            cases.push_back({input, shape, nullptr, is_first && options.shapes.empty(), is_first});
    }
    if (!run.stage.own || on_gpu() || !options.shapes.empty()) return cases;
    // What is counted and shown is checked. (On a GPU what was timed is checked anyway.)
    for (const Variant* variant : run.chosen) {
        const Shape counted = usual_shape_of(*variant);
        if (is_in(shapes, counted)) continue;
        cases.push_back(measured_case(run, family, counted));
        cases.back().watched = true;  // the others may be too small for a loop's second trip
    }
    return cases;
}

std::vector<Case> further_cases(const StageRun& run, const Operation& family) {
    std::vector<Case> cases;
    if (run.array || !run.options.shapes.empty()) return cases;
    for (const Variant* variant : run.chosen) {
        if (variant->operation->family() != family.family()) continue;
        for (const Shape& shape : variant->validated_once_at)
            cases.push_back(measured_case(run, family, shape));
    }
    return cases;
}

std::vector<Shape> measured_shapes(const StageRun& run, const Operation& family, DType dtype) {
    if (run.array) return array_shapes(run, family);
    if (!run.options.shapes.empty()) return run.options.shapes;
    constexpr int64_t kMegabyte = 1000 * 1000;
    if (run.options.megabytes > 0) return family.grid(run.options.megabytes * kMegabyte, dtype);
    // A learner's own is counted where the course's stages are.
    return family.measured_at({on_gpu(), run.options.quick && (on_gpu() || !run.stage.own)});
}

Case measured_case(const StageRun& run, const Operation& family, const Shape& shape) {
    if (run.array) return {name_of_file(run.options), shape, &run.array->values};
    return {run.options.inputs.empty() ? family.usual_input() : run.options.inputs.front(), shape};
}

const Variant* previous_of(const StageRun& run, const Variant& variant, const Shape& shape,
                           DType dtype) {
    const Variant* previous = nullptr;
    const auto look_at = [&](const Variant& each) {
        if (each.operation->is_comparable(*variant.operation) &&
            obstacle_of(each, shape, dtype).empty())
            previous = &each;
    };
    if (run.stage.baseline) look_at(*run.stage.baseline);
    for (const Variant& each : run.stage.variants) {
        if (&each == &variant) return previous;
        look_at(each);
    }
    return nullptr;
}

bool takes_or_left_out(StageRun& run, const Variant& variant, const Shape& shape, DType dtype) {
    if (run.options.shapes.empty() && run.options.said.empty() && is_beyond_options(variant, shape))
        return false;
    std::string obstacle = obstacle_in(run.array, variant, shape, dtype);
    if (obstacle.empty() && shapes_are_the_courses(run)) {
        if (variant.operation->cost(shape, dtype).operations > variant.measured_up_to) {
            obstacle = "would take long";
        } else if (!shortage_of(run, variant, shape, dtype).empty()) {
            obstacle = "memory is short";
        }
    }
    if (obstacle.empty()) return true;
    StageRun::LeftOut& left_out = run.left_out[variant.name + ": " + obstacle];
    left_out.dtypes.insert(name_of(dtype));
    left_out.shapes.insert(text_of(shape));
    return false;
}

void for_each_measured(StageRun& run, const Measure& measure) {
    for (const DType dtype : measured_dtypes(run)) {
        for (const Operation* family : families(run)) {
            if (counts_sample(run)) {
                for_each_sampled_shape(run, *family, dtype, measure);
                continue;
            }
            for_each_common_shape(run, *family, dtype, measure);
            if (shapes_are_the_courses(run)) for_each_own_shape(run, *family, dtype, measure);
        }
    }
}

void require_room(const StageRun& run) {
    if (shapes_are_the_courses(run)) return;
    const std::vector<DType> measured = measured_dtypes(run);
    for (const DType dtype : all_dtypes()) {
        if (run.options.megabytes > 0 && !is_in(measured, dtype)) continue;
        for (const Variant* variant : run.chosen) {
            if (!is_validated(run, *variant, dtype)) continue;
            for (const Shape& shape : measured_shapes(run, *variant->operation, dtype)) {
                const std::string why = shortage_of(run, *variant, shape, dtype);
                if (why.empty()) continue;
                throw UsageError(text_of(shape) + ", " + name_of(dtype) + ": " + variant->name +
                                 " " + why);
            }
        }
    }
}

void check_taken(const std::vector<const Stage*>& stages, const RunOptions& options,
                 const std::optional<Array>& array) {
    const auto obstacle = [&](const Variant& variant, const Shape* shape, const Words& said,
                              DType dtype) {
        if (!takes(variant, dtype)) return "takes " + names_of(variant.dtypes) + " only";
        if (array) {
            const Operation& operation = *variant.operation;
            return obstacle_in(array, variant, operation.shape_of_array(array->shape, said), dtype);
        }
        return shape != nullptr ? obstacle_of(variant, *shape, dtype) : "";
    };
    // Without a shape: by its type alone. Without a type: one of those that the stage measures.
    const auto require_taken_by_some = [&](const Shape* shape, const Words& said,
                                           std::optional<DType> asked_for) {
        std::map<std::string, std::vector<std::string>> reasons;
        std::vector<DType> dtypes;
        for (const Stage* stage : stages) {
            for (const DType dtype : asked_for ? std::vector<DType>{*asked_for} : stage->measured) {
                if (!is_in(dtypes, dtype)) dtypes.push_back(dtype);
                for (const Variant& variant : stage->variants) {
                    if (!is_chosen(variant, options)) continue;
                    const std::string reason = obstacle(variant, shape, said, dtype);
                    if (reason.empty()) return;
                    reasons[reason].push_back(stage->name + "/" + variant.name);
                }
            }
        }
        std::string words = names_of(dtypes);
        if (array) words += ", an array of " + dims_in_words(array->shape);
        if (!said.empty()) words += ", " + text_of(said);
        if (shape != nullptr) words += ", " + text_of(*shape);
        words += " is taken by none of what was chosen";
        for (const auto& [reason, variants] : reasons) {
            words += "; " + variants.front();
            if (variants.size() > 1)
                words += " and " + std::to_string(variants.size() - 1) + " more";
            words += ": " + reason;
        }
        throw UsageError(words);
    };
    std::vector<std::optional<DType>> asked_for(options.dtypes.begin(), options.dtypes.end());
    if (asked_for.empty()) asked_for.emplace_back();
    for (const std::optional<DType>& dtype : asked_for) {
        if (options.shapes.empty()) {
            for (const Words& said : said_of(options)) require_taken_by_some(nullptr, said, dtype);
        }
        for (const Shape& shape : options.shapes) require_taken_by_some(&shape, {}, dtype);
    }
}

}  // namespace runner
