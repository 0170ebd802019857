// SPDX-License-Identifier: MIT
#include "common/operations/heads/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "common/operations/heads/check.hpp"

namespace operations::heads {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::View;

namespace {

std::vector<runner::Shape> as_the_runners(const std::vector<Shape>& shapes) {
    return {shapes.begin(), shapes.end()};
}

class HeadsOperation : public runner::Operation {
public:
    explicit HeadsOperation(Kind kind) : kind_(kind) {}
    Kind kind() const { return kind_; }

    std::string name() const override {
        switch (kind_) {
            case Kind::add_qkv_bias_transpose:
                break;
            case Kind::masked_softmax:
                return "masked_softmax";
            case Kind::transpose_back:
                return "transpose_back";
            case Kind::remove_padding:
                return "remove_padding";
            case Kind::rebuild_padding:
                return "rebuild_padding";
        }
        return "add_qkv_bias_transpose";
    }
    std::string family() const override { return "heads"; }
    std::string along() const override { return "seq/batch"; }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"batch", "seq", "heads", "size_per_head"};
    }
    std::string shape_help() const override {
        return "BATCHxSEQxHEADSxSIZE is wanted, as in 32x384x12x64, with tokens=N where sequences "
               "have different lengths, N tokens together, and causal for a masked softmax";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<int64_t>& sizes = shape.sizes();
        if (shape.rank() != 4 ||
            std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; }))
            return false;
        return std::all_of(shape.options().begin(), shape.options().end(), [&](const auto& option) {
            const double value = option.second;
            if (option.first == kCausal) return value == 0 || value == 1;
            return option.first == kTokens && value >= 0 && value == std::floor(value) &&
                   value <= static_cast<double>(sizes[0] * sizes[1]);
        });
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        return {{kTokens, 0, "takes sequences of one length only"}, {kCausal, 0, "masks nothing"}};
    }
    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        const auto size = [&](const char* name, int64_t usual) {
            const auto found = said.find(name);
            const double value = found == said.end() ? 0 : found->second;
            return value >= 1 ? runner::whole(value).value_or(usual) : usual;
        };
        const bool is_by_token =
            kind_ == Kind::add_qkv_bias_transpose || kind_ == Kind::rebuild_padding;
        const size_t rank = is_by_token ? 2 : kind_ == Kind::remove_padding ? 3 : 4;
        if (dims.size() != rank) return {};
        runner::Shape shape;
        if (is_by_token) {
            const int64_t batch = size("batch", 1), seq = size("seq", dims[0] / batch);
            const bool has_all = kind_ == Kind::add_qkv_bias_transpose;
            const int64_t heads = has_all ? size("heads", 1) : 1;
            shape = {batch, seq, heads, dims[1] / (has_all ? 3 : 1) / heads};
            if (dims[0] != batch * seq) shape.set_option(kTokens, static_cast<double>(dims[0]));
        } else if (kind_ == Kind::remove_padding) {
            shape = {dims[0], dims[1], 1, dims[2]};
        } else {
            constexpr int64_t kUsualSize = 64;  // which scores do not depend on
            const bool is_scores = kind_ == Kind::masked_softmax;
            shape = {dims[0], dims[2], dims[1], is_scores ? kUsualSize : dims[3]};
        }
        return with_words(*this, shape, said);
    }
    std::string array_help() const override {
        switch (kind_) {
            case Kind::add_qkv_bias_transpose:
                return "[tokens, 3 * hidden]; --shape says batch=B, seq=S, heads=H";
            case Kind::masked_softmax:
                return "scores as [batch, heads, seq, seq]; --shape says tokens=N, causal";
            case Kind::transpose_back:
                return "[batch, heads, seq, size]; --shape says tokens=N";
            case Kind::remove_padding:
                return "[batch, seq, hidden]; --shape says tokens=N";
            case Kind::rebuild_padding:
                break;
        }
        return "[tokens, hidden]; --shape says batch=B, seq=S";
    }
    int64_t elements(const runner::Shape& shape) const override {
        const Shape of = shape;
        if (kind_ == Kind::masked_softmax) return of.batch * of.heads * of.seq * of.seq;
        return of.rows() * of.hidden();
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const ElementType type = runner::element_type(dtype);
        const std::vector<int64_t> by_token = {shape.rows(), shape.hidden()};
        const std::vector<int64_t> padded = {shape.batch, shape.seq, shape.hidden()};
        const std::vector<int64_t> by_head = {shape.batch, shape.heads, shape.seq, shape.size};
        const std::vector<int64_t> scores = {shape.batch, shape.heads, shape.seq, shape.seq};
        const Operand lengths = {"lengths", Role::in, ElementType::int32, {shape.batch}};
        std::vector<Operand> operands;
        switch (kind_) {
            case Kind::add_qkv_bias_transpose:
                operands = {{"qkv", Role::in, type, {shape.rows(), 3 * shape.hidden()}},
                            {"bias", Role::in, type, {3 * shape.hidden()}}};
                break;
            case Kind::masked_softmax:
                operands = {{"x", Role::in, type, scores}};
                break;
            case Kind::transpose_back:
                operands = {{"x", Role::in, type, by_head}};
                break;
            case Kind::remove_padding:
                return {{"x", Role::in, type, padded}, lengths, {"y", Role::out, type, by_token}};
            case Kind::rebuild_padding:
                return {{"x", Role::in, type, by_token}, lengths, {"y", Role::out, type, padded}};
        }
        if (shape.is_packed())
            operands.push_back({"offsets", Role::in, ElementType::int32, {shape.batch + 1}});
        if (kind_ == Kind::transpose_back) {
            operands.push_back({"y", Role::out, type, by_token});
        } else if (kind_ == Kind::masked_softmax) {
            operands.push_back({"y", Role::out, type, scores, {"x"}});
        } else {
            for (const char* name : {"q", "k", "v"})
                operands.push_back({name, Role::out, type, by_head});
        }
        return operands;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return kNormal; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        heads::fill(inputs, kind_, shape, dtype, input, seed, true);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        heads::fill(inputs, kind_, shape, dtype, kNormal, seed, false);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(heads::check(inputs, kind_, shape, dtype, ours.outputs, nullptr),
                         "the result may overflow");
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        return heads::check(inputs, kind_, shape, dtype, ours.outputs, &previous.outputs);
    }

    // ---- cost

    // Behind a sequence's end nothing is read.
    Cost cost(const runner::Shape& shape, DType dtype) const override {
        Cost cost = Operation::cost(shape, dtype);
        if (kind_ == Kind::masked_softmax) return cost;  // as if all were seen: lengths are data
        const int64_t of_tokens = elements(shape) * static_cast<int64_t>(size_of(dtype));
        cost.read.front() = (kind_ == Kind::add_qkv_bias_transpose ? 3 : 1) * of_tokens;
        return cost;
    }
    runner::Roof roof() const override { return runner::Roof::copy; }
    // How much of a row of scores is seen depends on lengths; each thread of a row looks at two offsets, and reads
    // whole packs.
    runner::Traffic tolerance(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        if (kind_ != Kind::masked_softmax) return {};
        const double element = static_cast<double>(size_of(dtype));
        const double pack = shape.causal ? 16 / element : 0, threads = shape.seq > 2048 ? 1024 : 32;
        const double offsets = shape.is_packed() ? threads * 8 / element : 0;
        return {(shape.is_packed() ? 1 : 0) + (pack + offsets) / static_cast<double>(shape.seq), 0};
    }

    // ---- which problems

    // One token; sizes per head that are no multiple of 16 bytes, and the largest; odd numbers of tokens.
    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<Shape> shapes = {{1, 1, 1, 2},     {2, 5, 3, 8},        {3, 7, 2, 66},
                                     {3, 9, 4, 6, 13}, {5, 33, 2, 64, 101}, {2, 3, 1, 7, 1}};
        if (!extent.quick) {
            for (const Shape& more :
                 {Shape(1, 130, 3, 64), Shape(2, 17, 3, 256), Shape(4, 20, 12, 80, 77),
                  Shape(300, 3, 1, 16, 500), Shape(2, 6, 40, 32, 12)})
                shapes.push_back(more);
        }
        if (kind_ == Kind::masked_softmax) {
            for (Shape causal : {Shape(2, 5, 3, 8), Shape(3, 70, 2, 64, 101)}) {
                causal.causal = true;
                shapes.push_back(causal);
            }
            if (!extent.quick) {  // 33 to 48 packs, of halves and of floats
                shapes.emplace_back(1, 264, 2, 64, 100);
                shapes.emplace_back(2, 136, 1, 64);
            }
        } else if (extent.gpu) {
            shapes.emplace_back(33, 511, 12, 64, 9001);
        }
        return as_the_runners(shapes);
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick) return {Shape(1, 32, 4, 64)};
        if (!extent.gpu) return {usual_shape()};
        if (extent.quick) return {Shape(32, 384, 12, 64)};
        return as_the_runners({{64, 512, 16, 64},
                               {32, 384, 12, 64},
                               {1, 32, 12, 64},
                               {8, 128, 12, 64},
                               {32, 128, 12, 64},
                               {64, 512, 16, 64, 16384},
                               {32, 384, 12, 64, 6144},
                               {16, 1024, 16, 128}});
    }
    runner::Shape usual_shape() const override {
        return kind_ == Kind::masked_softmax ? Shape(2, 128, 4, 64) : Shape(2, 64, 12, 64);
    }
    std::vector<runner::Shape> held_at() const override {
        if (kind_ == Kind::masked_softmax) return held_scores();
        return as_the_runners({{2, 64, 12, 64},
                               {2, 64, 12, 64, 75},
                               {3, 33, 2, 66},
                               {3, 33, 5, 32, 60},
                               {2, 5, 3, 7, 8}});
    }
    std::vector<runner::Shape> profiled_at() const override {
        return as_the_runners({{2, 64, 12, 64}, {32, 384, 12, 64}});
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        if (kind_ == Kind::masked_softmax) return draw_scores(draws, elements, takes);
        const int64_t size = draws.width_up_to(std::min<int64_t>(256, elements));
        const int64_t heads = draws.size_up_to(std::clamp<int64_t>(elements / size, 1, 40));
        const int64_t seq = draws.width_up_to(std::clamp<int64_t>(elements / size / heads, 1, 600));
        const int64_t most = std::max<int64_t>(1, elements / size / heads / seq);
        Shape shape(draws.size_up_to(most), seq, heads, size);
        if (takes(kTokens) && draws.below(4) > 0) shape.tokens = 1 + draws.below(shape.batch * seq);
        return shape;
    }

private:
    static std::vector<runner::Shape> held_scores() {
        Shape causal(2, 61, 3, 64, 100);
        causal.causal = true;
        return as_the_runners(
            {{2, 128, 4, 64}, {2, 128, 4, 64, 150}, causal, {1, 2100, 1, 64, 40}});
    }
    static runner::Shape draw_scores(runner::Draws& draws, int64_t elements,
                                     const std::function<bool(const std::string&)>& takes) {
        const auto longest = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
        const int64_t seq = draws.width_up_to(std::max<int64_t>(1, longest));
        const int64_t heads = draws.size_up_to(std::clamp<int64_t>(elements / seq / seq, 1, 8));
        const int64_t most = std::max<int64_t>(1, elements / seq / seq / heads);
        Shape shape(draws.size_up_to(most), seq, heads, 1 + draws.below(256));
        if (takes(kTokens) && draws.below(4) > 0) shape.tokens = 1 + draws.below(shape.batch * seq);
        if (takes(kCausal)) shape.causal = draws.below(2) == 0;
        return shape;
    }

    Kind kind_;
};

// The one object for each.
const auto& objects() {
    static const std::array<HeadsOperation, 5> objects = {
        HeadsOperation(Kind::add_qkv_bias_transpose), HeadsOperation(Kind::masked_softmax),
        HeadsOperation(Kind::transpose_back), HeadsOperation(Kind::remove_padding),
        HeadsOperation(Kind::rebuild_padding)};
    return objects;
}

}  // namespace

Shape::Shape(const runner::Shape& shape)
    : Shape(shape[0], shape[1], shape[2], shape[3],
            static_cast<int64_t>(shape.option(kTokens, 0))) {
    causal = shape.option(kCausal, 0) != 0;
}

Shape::operator runner::Shape() const {
    runner::Shape shape{batch, seq, heads, size};
    if (is_packed()) shape.set_option(kTokens, static_cast<double>(tokens));
    if (causal) shape.set_option(kCausal, 1);
    return shape;
}

const runner::Operation* operation_of(Kind kind) {
    for (const HeadsOperation& each : objects()) {
        if (each.kind() == kind) return &each;
    }
    throw std::invalid_argument("there is no such operation on heads");
}

std::vector<const runner::Operation*> all() {
    std::vector<const runner::Operation*> all;
    for (const HeadsOperation& each : objects()) all.push_back(&each);
    return all;
}

}  // namespace operations::heads
