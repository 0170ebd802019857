// SPDX-License-Identifier: MIT
#include "common/operations/encoder/check.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/operations/encoder/reference.cuh"

namespace operations::encoder {
namespace {

using runner::mix;

struct Wanted {
    const Uncertain* states;
    Precision precision;
    double deviations;

    __host__ __device__ Expected operator()(int64_t i) const {
        if (states[i].variance < 0) return {0, 0};
        return elements::expected(states[i].value, deviations * sqrt(states[i].variance),
                                  precision);
    }
};

struct NoToken {
    Uncertain* states;
    __host__ __device__ void operator()(int64_t i) const { states[i] = {0, -1}; }
};
struct NotLookedAt {  // anything goes
    Uncertain* states;
    __host__ __device__ void operator()(int64_t i) const { states[i] = {0, NAN}; }
};

// In fp64 a sequence of a large model takes a good part of a second: of many the first, the last, and one between.
bool is_small(const Shape& shape) {
    constexpr double kProductsAtMost = 1e11;
    const double of_token =
        static_cast<double>(shape.layers * shape.hidden() *
                            (4 * shape.hidden() + 2 * shape.inner_size() + 2 * shape.seq));
    return static_cast<double>(shape.batch * shape.seq) * of_token <= kProductsAtMost;
}
bool is_looked_at(const Shape& shape, int64_t sequence) {
    return is_small(shape) || sequence == 0 || sequence == shape.batch / 2 ||
           sequence == shape.batch - 1;
}

// Of every so many words of an operand.
struct HashPart {
    const uint16_t*
        words;  // elements may lie anywhere; those of 8 bits lie at even addresses, an even number of them
    int64_t count, parts;
    uint64_t* hashes;

    __host__ __device__ void operator()(int64_t part) const {
        auto hash = static_cast<uint64_t>(part);
        for (int64_t i = part; i < count; i += parts) hash = mix(hash + words[i]);
        hashes[part] = hash;
    }
};

// All that the reference depends on, as one number: of a large model's weights it is found where these lie.
uint64_t fingerprint(bool device, const View& inputs, const Shape& shape, Kind kind, DType dtype) {
    constexpr int64_t kMostParts = 1 << 14;
    Scratch<uint64_t> of_parts(device, kMostParts);
    uint64_t hash = 0;
    for (const runner::Operand& each : operation(kind)->operands(shape, dtype)) {
        if (!each.is_input()) continue;
        const int64_t count = each.bytes() / int64_t{sizeof(uint16_t)};
        const int64_t parts = std::min(count, kMostParts);
        elements::for_each(device, parts,
                           HashPart{static_cast<const uint16_t*>(inputs[each.name].data), count,
                                    parts, of_parts.data()});
        for (const uint64_t part : of_parts.values(parts)) hash = mix(hash + part);
    }
    return hash;
}

// What was computed last: all variants of a case are held to the same states.
struct Known {
    bool device;
    runner::Shape shape;
    Kind kind;
    DType dtype;
    uint64_t inputs;
    Scratch<Uncertain> states;
};

std::vector<int32_t> lengths_in(const View& inputs, const Shape& shape) {
    std::vector<int32_t> lengths(static_cast<size_t>(shape.batch));
    if (shape.batch > 0)
        runner::check_cuda(cudaMemcpy(lengths.data(), inputs["lengths"].data,
                                      lengths.size() * sizeof(int32_t), cudaMemcpyDefault),
                           "reading lengths");
    for (int32_t& each : lengths)
        each = static_cast<int32_t>(std::clamp<int64_t>(each, 0, shape.seq));
    return lengths;
}

template <class T>
const Uncertain* wanted_states(bool device, const View& inputs, const Shape& shape, Kind kind) {
    static std::unique_ptr<Known>& known =
        *new std::unique_ptr<Known>;  // the device may be gone first
    const DType dtype = runner::dtype_of<T>;
    const uint64_t of = fingerprint(device, inputs, shape, kind, dtype);
    if (known != nullptr && known->device == device && known->dtype == dtype &&
        known->inputs == of && known->kind == kind && known->shape == runner::Shape(shape))
        return known->states.data();
    known.reset();  // its memory first
    const int64_t row = shape.hidden(), of_sequence = shape.seq * row;
    const std::vector<int32_t> lengths = lengths_in(inputs, shape);
    std::unique_ptr<Known> made(
        new Known{device, shape, kind, dtype, of, {device, shape.batch * of_sequence}});
    Uncertain* const states = made->states.data();
    elements::for_each(device, shape.batch * of_sequence, NoToken{states});
    visit_weights<T>(kind, [&](auto weights) {
        Reference<T, typename decltype(weights)::type> reference(device, inputs, shape);
        const T* const x = static_cast<const T*>(inputs["x"].data);
        for (int64_t b = 0; b < shape.batch; ++b) {
            const int64_t tokens = lengths[static_cast<size_t>(b)];
            if (is_looked_at(shape, b))
                reference.run(x + b * of_sequence, states + b * of_sequence, tokens);
            else
                elements::for_each(device, tokens * row, NotLookedAt{states + b * of_sequence});
        }
    });
    known = std::move(made);
    return states;
}

template <class T>
runner::Report check_as(bool device, const View& inputs, const Shape& shape, Kind kind, const T* y,
                        const T* previous) {
    const int64_t row = shape.hidden(), of_sequence = shape.seq * row;
    const Precision precision = precision_of(runner::dtype_of<T>);
    const Wanted of{wanted_states<T>(device, inputs, shape, kind), precision,
                    kind == Kind::plain ? kDeviations : kDeviationsIn8Bits};
    const elements::Judge<T, Wanted> judge{y, previous, of, of, precision};
    return elements::judge(device, shape.batch * of_sequence, judge, [&](int64_t i) {
        return "sequence " + std::to_string(i / of_sequence) + ", token " +
               std::to_string(i % of_sequence / row) + ", col " + std::to_string(i % row);
    });
}

}  // namespace

void calibrate(const View& inputs, const Shape& shape, Kind kind, DType dtype,
               const std::vector<float>& known) {
    runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        visit_weights<T>(kind, [&](auto weights) {
            using W = typename decltype(weights)::type;
            if constexpr (sizeof(W) == 1) {
                const auto is_wanted = [&](size_t i) {
                    const bool is_result = i % kRounded >= kQkvResult;
                    return (!is_result || shape.has_8_bit_results) &&
                           (known.empty() || known[i] == 0);
                };
                std::vector<float> steps = known;
                steps.resize(static_cast<size_t>(shape.layers * kRounded), 0.f);
                bool are_wanted = false;
                for (size_t i = 0; i < steps.size(); ++i) are_wanted = are_wanted || is_wanted(i);
                const std::vector<int32_t> lengths = lengths_in(inputs, shape);
                Reference<T, W> reference(runner::on_gpu(), inputs, shape);
                reference.calibrate();
                Scratch<Uncertain> ignored(runner::on_gpu(), shape.seq * shape.hidden());
                const T* const x = static_cast<const T*>(inputs["x"].data);
                bool is_first = true;
                for (int64_t b = 0; b < shape.batch && are_wanted; ++b) {
                    const int64_t tokens = lengths[static_cast<size_t>(b)];
                    if (tokens == 0 || !(is_first || is_small(shape))) continue;
                    reference.run(x + b * shape.seq * shape.hidden(), ignored.data(), tokens);
                    is_first = false;
                }
                for (size_t i = 0; i < steps.size(); ++i) {
                    const double found = reference.largest()[i] / Numbers<W>::largest();
                    if (steps[i] == 0) steps[i] = found > 0 ? static_cast<float>(found) : 1.f;
                }
                runner::check_cuda(cudaMemcpy(inputs["steps"].data, steps.data(),
                                              steps.size() * sizeof(float), cudaMemcpyHostToDevice),
                                   "filling steps");
            }
        });
    });
}

runner::Report check_on(bool device, const View& inputs, const Shape& shape, Kind kind, DType dtype,
                        const void* y, const void* previous) {
    return runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return check_as<T>(device, inputs, shape, kind, static_cast<const T*>(y),
                           static_cast<const T*>(previous));
    });
}

runner::Report check(const View& inputs, const Shape& shape, Kind kind, DType dtype, const void* y,
                     const void* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return check_on(runner::on_gpu(), inputs, shape, kind, dtype, y, previous);
}

std::vector<double> reference_states(const View& inputs, const Shape& shape, Kind kind,
                                     DType dtype) {
    return runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const bool device = runner::on_gpu();
        const int64_t count = shape.batch * shape.seq * shape.hidden();
        Scratch<Uncertain> copy(device, count);
        elements::for_each(device, count,
                           Keep{wanted_states<T>(device, inputs, shape, kind), copy.data()});
        std::vector<double> states;
        for (const Uncertain& each : copy.values(count)) states.push_back(each.value);
        return states;
    });
}

}  // namespace operations::encoder
