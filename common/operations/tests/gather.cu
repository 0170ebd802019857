// SPDX-License-Identifier: MIT
#include "gather.hpp"

#include "common/runner/device.hpp"
#include "common/runner/random.cuh"
#include "common/runner/tensors.hpp"

namespace gather {
namespace {

using namespace runner;

struct Sizes {
    explicit Sizes(const Shape& shape) : rows(shape[0]), cols(shape[1]), picks(shape[2]) {}
    int64_t rows, cols, picks;
};

// A thread a row.
__global__ void gather_rows(float* x, const int32_t* picks, float* values, int64_t* positive,
                            int64_t rows, int64_t cols, int64_t width, float scale, Fault fault) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int64_t count = 0;
    for (int64_t pick = 0; pick < width; ++pick) {
        int64_t col = picks[row * width + pick];
        if (fault == Fault::neighbour) col = (col + 1) % cols;
        const float value = x[row * cols + col] * scale;
        values[row * width + pick] = value;
        count += value > 0;
    }
    positive[row] = count + (fault == Fault::miscounts ? 1 : 0);
    if (fault == Fault::writes_to_x) x[row * cols] = 7;
    if (fault == Fault::writes_beyond && row == rows - 1) values[rows * width] = 7;
}

class Gather : public Operation {
public:
    std::string name() const override { return "gather"; }
    std::string family() const override { return "gather"; }
    std::vector<std::string> size_names(const Shape&) const override {
        return {"rows", "cols", "picks"};
    }
    std::string shape_help() const override { return "ROWSxCOLSxPICKS is wanted"; }
    bool has_shape(const Shape& shape) const override { return shape.rank() == 3; }
    std::vector<Optional> optional() const override { return {{"scale", 1, "does not scale"}}; }
    int64_t elements(const Shape& shape) const override { return shape[0] * shape[2]; }
    std::vector<Operand> operands(const Shape& shape, DType dtype) const override {
        const Sizes sizes(shape);
        return {{"x", Role::in, element_type(dtype), {sizes.rows, sizes.cols}},
                {"picks", Role::in, ElementType::int32, {sizes.rows, sizes.picks}},
                {"values", Role::out, element_type(dtype), {sizes.rows, sizes.picks}},
                {"positive", Role::out, ElementType::int64, {sizes.rows}}};
    }
    std::vector<NamedInput> inputs() const override {
        return {{"centred", "between -0.5 and 0.5"}, {"halves", "1/2 and -1/2"}};
    }
    std::string usual_input() const override { return "centred"; }
    void fill(const Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        const int64_t count = shape[0] * shape[1];
        std::vector<float> x;
        for (int64_t i = 0; i < count; ++i) {
            const auto value =
                static_cast<float>(runner::unit(mix(seed + static_cast<uint64_t>(i)), false));
            x.push_back(input == "halves" ? (value < 0.5f ? 0.5f : -0.5f) : value - 0.5f);
        }
        check_cuda(cudaMemcpy(inputs["x"].data, x.data(), x.size() * sizeof(float),
                              cudaMemcpyHostToDevice),
                   "filling x");
        complete(shape, dtype, seed, inputs);
    }
    void complete(const Shape& shape, DType, uint64_t seed, const View& inputs) const override {
        std::vector<int32_t> picks;
        for (int64_t i = 0; i < elements(shape); ++i) {
            const uint64_t bits = mix(~seed + static_cast<uint64_t>(i));
            picks.push_back(static_cast<int32_t>(bits % static_cast<uint64_t>(shape[1])));
        }
        check_cuda(cudaMemcpy(inputs["picks"].data, picks.data(), picks.size() * sizeof(int32_t),
                              cudaMemcpyHostToDevice),
                   "filling picks");
    }
    Report check(const Shape& shape, DType, const View& inputs, const Result& ours) const override {
        const Host host(shape, inputs, ours.outputs);
        const auto scale = shape.option("scale", 1);
        Report values;
        Report positive;
        for (int64_t row = 0; row < shape[0]; ++row) {
            double count = 0;
            for (int64_t pick = 0; pick < shape[2]; ++pick) {
                const auto i = static_cast<size_t>(row * shape[2] + pick);
                const double wanted =
                    host.x[static_cast<size_t>(row * shape[1] + host.picks[i])] * scale;
                count += wanted > 0;
                values.add(host.values[i], wanted, 1e-6, [&] {
                    return "values, row " + std::to_string(row) + ", pick " + std::to_string(pick);
                });
            }
            positive.add(static_cast<double>(host.positive[static_cast<size_t>(row)]), count, 0.5,
                         [&] { return "positive, row " + std::to_string(row); });
        }
        return joined(values, positive);
    }
    Report compare(const Shape& shape, DType, const View& inputs, const Result& ours,
                   const Result& previous) const override {
        const Host mine(shape, inputs, ours.outputs);
        const Host theirs(shape, inputs, previous.outputs);
        Report report;
        for (size_t i = 0; i < mine.values.size(); ++i) {
            report.add(mine.values[i], theirs.values[i], 1e-6,
                       [&] { return "values, element " + std::to_string(i); });
        }
        return report;
    }
    Cost cost(const Shape& shape, DType dtype) const override {
        const auto size = static_cast<int64_t>(size_of(dtype));
        return {{elements(shape) * size, elements(shape) * 4},
                {elements(shape) * size, shape[0] * 8},
                static_cast<double>(elements(shape))};
    }
    Unit unit() const override { return Unit::teraflops; }
    Roof roof() const override { return Roof::join; }
    std::vector<Shape> validated_at(Extent) const override { return {{3, 7, 2}, {70, 33, 9}}; }
    std::vector<Shape> measured_at(Extent) const override { return {usual_shape()}; }
    Shape usual_shape() const override { return {64, 32, 4}; }
    Shape draw(Draws& draws, int64_t elements,
               const std::function<bool(const std::string&)>& takes) const override {
        Shape shape{draws.size_up_to(elements / 64 + 1), draws.size_up_to(64),
                    draws.size_up_to(16)};
        if (takes("scale") && draws.below(2) == 0) shape.set_option("scale", 2);
        return shape;
    }

private:
    struct Host {
        Host(const Shape& shape, const View& inputs, const View& outputs)
            : x(copy<float>(inputs["x"].data, shape[0] * shape[1])),
              picks(copy<int32_t>(inputs["picks"].data, shape[0] * shape[2])),
              values(copy<float>(outputs["values"].data, shape[0] * shape[2])),
              positive(copy<int64_t>(outputs["positive"].data, shape[0])) {}
        template <class T>
        static std::vector<T> copy(const void* data, int64_t count) {
            std::vector<T> host(static_cast<size_t>(count));
            check_cuda(
                cudaMemcpy(host.data(), data, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
                "reading an operand");
            return host;
        }
        std::vector<float> x;
        std::vector<int32_t> picks;
        std::vector<float> values;
        std::vector<int64_t> positive;
    };
};

}  // namespace

const Operation* operation() {
    static const Gather gather;
    return &gather;
}

Variant variant(const std::string& name, Fault fault) {
    Variant variant;
    variant.name = name;
    variant.operation = operation();
    variant.traffic = {2, 1.5};
    variant.traffic_at = [](const Shape& shape, DType) {  // 8 bytes a row beside the values
        return Traffic{2, 1 + 2. / static_cast<double>(shape[2])};
    };
    variant.takes = {"scale"};
    variant.launch = [fault](const Call& call) {
        const Sizes sizes(call.shape);
        const double scale = fault == Fault::forgets_option ? 1 : call.shape.option("scale", 1);
        gather_rows<<<static_cast<unsigned>((sizes.rows + 63) / 64), 64, 0, call.stream>>>(
            call.output<float>("x"), call.input<int32_t>("picks"), call.output<float>("values"),
            call.output<int64_t>("positive"), sizes.rows, sizes.cols, sizes.picks,
            static_cast<float>(scale), fault);
        return cudaGetLastError();
    };
    return variant;
}

Stage stage_of(std::vector<Variant> variants) {
    Stage stage;
    stage.name = "96_gather";
    stage.title = "for this test";
    stage.variants = std::move(variants);
    return stage;
}

}  // namespace gather
