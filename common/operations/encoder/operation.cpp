// SPDX-License-Identifier: MIT
#include "common/operations/encoder/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "common/operations/encoder/bert.hpp"
#include "common/operations/encoder/check.hpp"
#include "common/runner/run.hpp"
#include "common/runner/tensors.hpp"
#include "common/runner/weights.hpp"

namespace operations::encoder {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::View;

namespace {

struct ActivationOption {
    Activation activation;
    const char* name;
};
constexpr std::array<ActivationOption, 3> kActivations = {
    {{Activation::gelu_by_tanh, tokens::kByTanh},
     {Activation::relu, tokens::kRelu},
     {Activation::silu, tokens::kSilu}}};

bool is_activation(const std::string& name) {
    return std::any_of(kActivations.begin(), kActivations.end(),
                       [&](const ActivationOption& each) { return each.name == name; });
}

// What an option may be.
bool is_possible(Kind kind, const std::string& name, double value,
                 const std::vector<int64_t>& sizes) {
    const bool whole = value == std::floor(value);
    if (name == kResultBits) return value == 16 || (value == 8 && kind == Kind::s8);
    if (name == kPercentile) return kind != Kind::plain && value > 0 && value <= 100;
    if (name == kPrenorm) return value == 0 || (value == 1 && kind == Kind::plain);
    if (is_activation(name)) return value == 0 || value == 1;
    if (name == kEpsilon) return value > 0 && value <= 1;
    if (name == kLayers) return whole && value >= 1 && value <= 1000;
    if (name == kInner) return whole && value >= 0 && value <= 1e6;
    return name == kTokens && whole && value >= 0 &&
           value <= static_cast<double>(sizes[0] * sizes[1]);
}

struct Made {  // a shape, word by word
    Shape shape;
    Made inner(int64_t count) { return shape.inner = count, *this; }
    Made layers(int64_t count) { return shape.layers = count, *this; }
    Made tokens(int64_t count) { return shape.tokens = count, *this; }
    Made prenorm() { return shape.prenorm = true, *this; }
    Made with(Activation f) { return shape.activation = f, *this; }
    Made with_8_bit_results() { return shape.has_8_bit_results = true, *this; }
    Made with_percentile(double share) { return shape.percentile = share, *this; }
    operator runner::Shape() const { return shape; }
};
Made sized(int64_t batch, int64_t seq, int64_t heads, int64_t size) {
    return {Shape(batch, seq, heads, size)};
}

class EncoderOperation : public runner::Operation, public runner::TakesWeights {
public:
    explicit EncoderOperation(Kind kind) : kind_(kind) {}
    std::unique_ptr<runner::Operation> with_weights(
        const std::string& path, const std::vector<int64_t>& lengths) const override;
    std::string name() const override {
        return kind_ == Kind::e4m3 ? "encoder_e4m3" : kind_ == Kind::s8 ? "encoder_s8" : "encoder";
    }
    std::string family() const override { return "encoder"; }
    std::string along() const override { return "seq/batch"; }

    std::vector<runner::DType> dtypes() const override {
        if (kind_ == Kind::plain) return runner::all_dtypes();
        return {runner::DType::float16, runner::DType::bfloat16};  // see visit_weights
    }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"batch", "seq", "heads", "size_per_head"};
    }
    std::string shape_help() const override {
        return "BATCHxSEQxHEADSxSIZE is wanted, as in 32x384x12x64,layers=12, with inner=N where "
               "the feed-forward part is not four times as wide, tokens=N where sequences have "
               "different lengths, N tokens together, tanh, relu or silu for another activation "
               "than GELU, epsilon=X" +
               more_options() +
               (kind_ == Kind::plain ? ""
                                     : "; the hidden numbers, HEADS times SIZE, and the inner ones "
                                       "are multiples of 16");
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<int64_t>& sizes = shape.sizes();
        const auto& options = shape.options();
        return shape.rank() == 4 &&
               std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; }) &&
               std::all_of(options.begin(), options.end(),
                           [&](const auto& option) {
                               return is_possible(kind_, option.first, option.second, sizes);
                           }) &&
               (kind_ == Kind::plain || (Shape(shape).hidden() % kPackOf8Bits == 0 &&
                                         Shape(shape).inner_size() % kPackOf8Bits == 0)) &&
               std::count_if(options.begin(), options.end(), [](const auto& option) {
                   return is_activation(option.first) && option.second != 0;
               }) <= 1;
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        std::vector<runner::Optional> all = {
            {kLayers, 1, "has one layer"},
            {kInner, 0, "has a feed-forward part that is four times as wide"},
            {kTokens, 0, "takes sequences of one length only"},
            {kEpsilon, double{tokens::kEpsilon}, "adds 1e-6 to a variance"},
            {tokens::kByTanh, 0, "has another activation"},
            {tokens::kRelu, 0, "has another activation"},
            {tokens::kSilu, 0, "has another activation"}};
        if (kind_ == Kind::plain)
            all.push_back({kPrenorm, 0, "has its norms behind attention and feed-forward"});
        if (kind_ != Kind::plain)
            all.push_back({kPercentile, 100, "has steps that cover all magnitudes"});
        if (kind_ == Kind::s8) all.push_back({kResultBits, 16, "has products with 16-bit results"});
        return all;
    }
    // Hidden states; weights settle the rest, or what is said does.
    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        if (dims.size() != 3 || dims[2] < 1) return {};
        const auto heads = said.find("heads"), size = said.find("size_per_head");
        const double of = heads != said.end()  ? heads->second
                          : size != said.end() ? static_cast<double>(dims[2]) / size->second
                                               : 0;
        const int64_t count = of >= 1 ? runner::whole(of).value_or(0) : 0;
        if (count < 1) return {};
        return with_words(*this, {dims[0], dims[1], count, dims[2] / count}, said);
    }
    std::string array_help() const override {
        return "hidden states as [batch, seq, hidden]; --weights says all else, or --shape: "
               "heads=H, layers=N, inner=N, tokens=N, tanh, relu, silu, epsilon=X" +
               more_options();
    }
    int64_t elements(const runner::Shape& shape) const override {
        return shape[0] * shape[1] * shape[2] * shape[3];
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const ElementType type = runner::element_type(dtype);
        const std::vector<int64_t> states = {shape.batch, shape.seq, shape.hidden()};
        std::vector<Operand> all = {{"x", Role::in, type, states},
                                    {"lengths", Role::in, ElementType::int32, {shape.batch}}};
        for (const Parameter& each : parameters_of(shape, kind_))
            all.push_back({each.name, Role::in, each.type.value_or(type), each.dims});
        all.push_back({"y", Role::out, type, states, {"x"}});
        return all;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(kind_); }
    std::string usual_input() const override { return kNormal; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        encoder::fill(inputs, shape, kind_, dtype, input, seed, true);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        encoder::fill(inputs, shape, kind_, dtype, kNormal, seed, false);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(
            encoder::check(inputs, shape, kind_, dtype, ours.outputs["y"].data, nullptr),
            "rounding may move a score by more than 1/4, or a row by more than a quarter "
            "of its deviation, so that no bound is known; or a number may overflow; or, "
            "of a large batch, the sequence is not looked at");
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        return encoder::check(inputs, shape, kind_, dtype, ours.outputs["y"].data,
                              previous.outputs["y"].data);
    }

    // ---- cost

    // Of tokens alone; sequences all of one length are those with the fewest pairs of tokens.
    Cost cost(const runner::Shape& of, DType dtype) const override {
        Cost cost = Operation::cost(of, dtype);
        const Shape s = of;
        cost.read.front() = s.rows() * s.hidden() * static_cast<int64_t>(size_of(dtype));
        const auto rows = static_cast<double>(s.rows()), hidden = static_cast<double>(s.hidden());
        const double products = 2 * hidden * (4 * hidden + 2 * static_cast<double>(s.inner_size()));
        const double pairs = s.batch == 0 ? 0 : rows * rows / static_cast<double>(s.batch);
        cost.operations = static_cast<double>(s.layers) * (rows * products + 4 * pairs * hidden);
        return cost;
    }
    runner::Unit unit() const override { return runner::Unit::teraflops; }
    runner::Roof roof() const override { return runner::Roof::join; }
    // What goes from kernel to kernel by way of memory, which variants do in different ways, and what a product's
    // tiles load again.
    runner::Traffic tolerance(const runner::Shape& of, DType) const override {
        const Shape s = of;
        const auto rows = static_cast<double>(s.batch * s.seq);
        const double wide = 64 + 8 * static_cast<double>(s.inner_size() + s.heads * s.seq) /
                                     static_cast<double>(std::max<int64_t>(1, s.hidden()));
        const double layers = static_cast<double>(s.layers + 1);
        return {layers * (64 * wide + 1e4 / rows), layers * wide};
    }

    // ---- which problems

    // One token; sequences of one length and of several, some empty; sizes that are no whole packs, and rows that consist of whole
    // tiles; all activations, both places for norms.
    std::vector<runner::Shape> validated_at(Extent extent) const override {
        const int64_t layers = extent.quick ? 1 : 2;
        if (kind_ != Kind::plain) return validated_in_8_bits(extent, layers);
        std::vector<runner::Shape> shapes = {
            sized(2, 5, 2, 8).inner(32).layers(layers),
            sized(3, 6, 2, 12).inner(20).layers(layers).tokens(11).with(Activation::gelu_by_tanh),
            sized(2, 7, 1, 16).inner(24).tokens(9).prenorm().layers(layers + 1), sized(3, 5, 2, 8),
            sized(1, 5, 4, 64).inner(40)};
        if (extent.quick) return shapes;
        const std::vector<runner::Shape> more = {
            sized(1, 1, 1, 8), sized(3, 9, 3, 5).tokens(13).with(Activation::relu),
            sized(1, 70, 2, 16).tokens(33).with(Activation::silu).prenorm(),
            sized(2, 5, 1, 200).inner(48).tokens(7)};
        shapes.insert(shapes.end(), more.begin(), more.end());
        if (!extent.gpu) return shapes;
        // One layer: after two of this size no bound is left for bfloat16 on the input `wide`.
        shapes.push_back(sized(8, 128, 12, 64));
        shapes.push_back(sized(5, 300, 4, 64).layers(3).tokens(777).prenorm());
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick) return {sized(2, 8, 1, 16).tokens(11)};
        if (!extent.gpu) return held_at();
        const auto bert = [](int64_t batch, int64_t seq) {
            return sized(batch, seq, 12, 64).layers(12);
        };
        if (extent.quick) return {bert(1, 128)};
        if (kind_ != Kind::plain) {
            std::vector<runner::Shape> shapes;
            for (const Made& made :
                 {bert(8, 128), bert(32, 128), bert(32, 384), sized(16, 384, 16, 64).layers(24)}) {
                shapes.push_back(made);
                if (kind_ == Kind::s8) shapes.push_back(Made(made).with_8_bit_results());
            }
            return shapes;
        }
        return {bert(1, 32),
                bert(1, 128),
                bert(8, 128),
                bert(32, 128),
                bert(32, 384),
                bert(8, 512),
                bert(32, 384).tokens(32 * 384 / 2)};
    }
    runner::Shape usual_shape() const override { return sized(2, 16, 2, 16).layers(2).tokens(21); }
    std::vector<runner::Shape> held_at() const override {
        if (kind_ != Kind::s8) return {usual_shape()};
        return {usual_shape(), Made{usual_shape()}.with_8_bit_results()};
    }
    std::vector<runner::Shape> profiled_at() const override {
        std::vector<runner::Shape> shapes = held_at();
        shapes.push_back(sized(8, 128, 12, 64));
        return shapes;
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
        const int64_t widest = std::clamp<int64_t>(root / 2, 8, 512);
        const int64_t heads = 1 + draws.below(3);
        // Of fewer than 8 numbers a norm may have next to nothing to normalise.
        const int64_t least = (8 + heads - 1) / heads;
        int64_t size = std::clamp<int64_t>(draws.width_up_to(widest / heads), least, 256);
        const auto in_packs = [&](int64_t count, int64_t pack) {
            return kind_ == Kind::plain ? count : (count + pack - 1) / pack * pack;
        };
        size = in_packs(size, kPackOf8Bits / std::gcd(kPackOf8Bits, heads));
        const int64_t most = std::max<int64_t>(1, elements / (heads * size));
        const int64_t seq = draws.width_up_to(std::clamp<int64_t>(most, 1, widest));
        Shape shape(draws.size_up_to(std::clamp<int64_t>(most / seq, 1, 6)), seq, heads, size);
        if (takes(kLayers)) shape.layers = 1 + draws.below(2);
        if (takes(kInner))
            shape.inner =
                draws.below(3) == 0 ? 0 : in_packs(draws.width_up_to(2 * widest), kPackOf8Bits);
        if (takes(kTokens) && draws.below(4) > 0)
            shape.tokens = 1 + draws.below(shape.batch * shape.seq);
        if (kind_ == Kind::plain && takes(kPrenorm)) shape.prenorm = draws.below(2) == 0;
        const auto which = static_cast<size_t>(draws.below(4));
        if (which < kActivations.size() && takes(kActivations[which].name))
            shape.activation = kActivations[which].activation;
        if (kind_ == Kind::s8 && takes(kResultBits)) shape.has_8_bit_results = draws.below(2) == 0;
        return shape;
    }

protected:
    Kind kind() const { return kind_; }

private:
    static constexpr int64_t kPackOf8Bits = 16;  // elements

    std::string more_options() const {
        if (kind_ == Kind::plain) return ", prenorm";
        const std::string percentile = ", percentile=P of the magnitudes that steps cover";
        return kind_ == Kind::s8 ? percentile + ", result_bits=8" : percentile;
    }
    std::vector<runner::Shape> validated_in_8_bits(Extent extent, int64_t layers) const {
        std::vector<Made> made = {sized(3, 5, 2, 8).inner(32).layers(layers).tokens(11)};
        if (!extent.quick) {
            made.push_back(sized(2, 5, 2, 8).layers(layers));
            made.push_back(sized(3, 6, 2, 24).inner(80).tokens(11).with(Activation::gelu_by_tanh));
            made.push_back(sized(1, 1, 1, 16));
            made.push_back(sized(3, 9, 4, 12).tokens(13).with(Activation::relu));
            made.push_back(sized(1, 70, 2, 16).tokens(33).with(Activation::silu));
            made.push_back(sized(2, 5, 1, 208).inner(48).tokens(7));
            made.push_back(sized(2, 200, 1, 64).inner(32).tokens(230));  // attention that rounds
            // A norm of more rows than start early.
            made.push_back(sized(1200, 1, 1, 16).inner(16));
            made.push_back(sized(1, 4, 13, 80).inner(16));  // the widest norm
            made.push_back(sized(2, 5, 2, 8).inner(32).with_percentile(90));
            if (extent.gpu) {
                made.push_back(sized(8, 128, 12, 64));
                made.push_back(sized(1, 700, 1, 64));  // too many keys for attention that rounds
            }
        }
        std::vector<runner::Shape> shapes;
        for (const Made& each : made) {
            shapes.push_back(each);
            if (kind_ == Kind::s8) shapes.push_back(Made(each).with_8_bit_results());
        }
        return shapes;
    }

    const Kind kind_;
};

// The same with weights that somebody has trained.
class TrainedEncoder : public EncoderOperation {
public:
    TrainedEncoder(Kind kind, const std::string& path, std::vector<int64_t> lengths)
        : EncoderOperation(kind), bert_(path), lengths_(std::move(lengths)) {}

    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        if (!said.empty())
            throw runner::UsageError("--shape " + runner::text_of(said) +
                                     ": --weights and their config.json say all of it");
        return bert_.shape(dims, lengths_);
    }
    void complete(const runner::Shape& of, DType dtype, uint64_t,
                  const View& inputs) const override {
        const Shape shape = of;
        std::vector<double> lengths(lengths_.begin(), lengths_.end());
        if (lengths.empty())
            lengths.assign(static_cast<size_t>(shape.batch), static_cast<double>(shape.seq));
        upload(inputs["lengths"].data, ElementType::int32, lengths);
        for (const Parameter& each : parameters_of(shape)) {
            const std::vector<double> values = bert_.read(each.name);
            if (kind() != Kind::plain && each.dims.size() == 3) {
                quantise(inputs, kind(), each, values,
                         bert_.steps_of_rows(each.name, weight_type(kind())));
            } else {
                upload(inputs[each.name].data, runner::element_type(dtype), values);
            }
        }
        if (kind() != Kind::plain)
            calibrate(inputs, shape, kind(), dtype, bert_.steps_of_tensors(weight_type(kind())));
    }

private:
    static void upload(void* to, ElementType type, const std::vector<double>& values) {
        runner::Tensors one({{"one", Role::in, type, {static_cast<int64_t>(values.size())}}});
        one.upload("one", values);
        runner::check_cuda(cudaMemcpy(to, one.view()["one"].data, static_cast<size_t>(one.bytes()),
                                      cudaMemcpyDeviceToDevice),
                           "copying weights");
    }

    Bert bert_;
    std::vector<int64_t> lengths_;
};

std::unique_ptr<runner::Operation> EncoderOperation::with_weights(
    const std::string& path, const std::vector<int64_t>& lengths) const {
    return std::make_unique<TrainedEncoder>(kind_, path, lengths);
}

}  // namespace

Shape::Shape(const runner::Shape& shape) : Shape(shape[0], shape[1], shape[2], shape[3]) {
    const auto whole = [&](const char* name, int64_t usual) {
        return static_cast<int64_t>(shape.option(name, static_cast<double>(usual)));
    };
    layers = whole(kLayers, 1);
    inner = whole(kInner, 0);
    tokens = whole(kTokens, 0);
    prenorm = shape.option(kPrenorm, 0) != 0;
    epsilon = shape.option(kEpsilon, double{tokens::kEpsilon});
    has_8_bit_results = shape.option(kResultBits, 16) == 8;
    percentile = shape.option(kPercentile, 100);
    for (const ActivationOption& each : kActivations) {
        if (shape.option(each.name, 0) != 0) activation = each.activation;
    }
}

Shape::operator runner::Shape() const {
    runner::Shape shape{batch, seq, heads, size};
    const auto set = [&](const char* name, double value, double usual) {
        if (value != usual) shape.set_option(name, value);
    };
    set(kLayers, static_cast<double>(layers), 1);
    set(kInner, static_cast<double>(inner), 0);
    set(kTokens, static_cast<double>(tokens), 0);
    set(kPrenorm, prenorm ? 1 : 0, 0);
    set(kEpsilon, epsilon, double{tokens::kEpsilon});
    set(kResultBits, has_8_bit_results ? 8 : 16, 16);
    set(kPercentile, percentile, 100);
    for (const ActivationOption& each : kActivations)
        set(each.name, activation == each.activation ? 1 : 0, 0);
    return shape;
}

std::vector<Parameter> parameters_of(const Shape& shape, Kind kind) {
    const int64_t layers = shape.layers, hidden = shape.hidden(), inner = shape.inner_size();
    std::vector<Parameter> all = {
        {"qkv_weight", {layers, 3 * hidden, hidden}}, {"qkv_bias", {layers, 3 * hidden}},
        {"output_weight", {layers, hidden, hidden}},  {"output_bias", {layers, hidden}},
        {"attention_gamma", {layers, hidden}},        {"attention_beta", {layers, hidden}},
        {"inner_weight", {layers, inner, hidden}},    {"inner_bias", {layers, inner}},
        {"outer_weight", {layers, hidden, inner}},    {"outer_bias", {layers, hidden}},
        {"feed_forward_gamma", {layers, hidden}},     {"feed_forward_beta", {layers, hidden}}};
    if (kind == Kind::plain) return all;
    std::vector<Parameter> steps;
    for (Parameter& each : all) {
        if (each.dims.size() != 3) continue;
        each.type = weight_type(kind);
        steps.push_back({steps_of(each.name), {layers, each.dims[1]}, ElementType::float32});
    }
    all.insert(all.end(), steps.begin(), steps.end());
    all.push_back({"steps", {layers, kRounded}, ElementType::float32});
    return all;
}

std::string steps_of(const std::string& matrix) {
    return matrix.substr(0, matrix.find('_')) + "_steps";
}

const runner::Operation* operation(Kind kind) {
    static const EncoderOperation plain(Kind::plain), e4m3(Kind::e4m3), s8(Kind::s8);
    return kind == Kind::e4m3 ? &e4m3 : kind == Kind::s8 ? &s8 : &plain;
}

std::vector<const runner::Operation*> all() {
    return {operation(), operation(Kind::e4m3), operation(Kind::s8)};
}

}  // namespace operations::encoder
