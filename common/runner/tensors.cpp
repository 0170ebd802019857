// SPDX-License-Identifier: MIT
#include "common/runner/tensors.hpp"
#include "common/runner/probe.hpp"

#include <algorithm>
#include <stdexcept>

namespace runner {
namespace {

template <class T>
double as_double(T value) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<double>(value);
    } else {
        return to_double(value);
    }
}

}  // namespace

void poison(void* device, ElementType type, int64_t elements, Poison with) {
    if (elements == 0) return;
    constexpr int kNan = 0xff;
    constexpr int kPositive = 0x7b, kNegative = 0xfb;  // bytes of large numbers, whatever the type
    const size_t size = size_of(type), all = static_cast<size_t>(elements) * size;
    check_cuda(cudaMemset(device, with == Poison::nan ? kNan : kPositive, all),
               "poisoning the output");
    if (with == Poison::nan || elements == 1) return;
    check_cuda(cudaMemset2D(device, 2 * size, kNegative, size, static_cast<size_t>(elements) / 2),
               "poisoning the output");
}

Tensors::Tensors(std::vector<Operand> operands) : operands_(std::move(operands)) {
    for (const Operand& each : operands_) memory_.emplace_back(static_cast<size_t>(each.bytes()));
}

View Tensors::view() const {
    View view;
    for (size_t i = 0; i < operands_.size(); ++i)
        view.add({operands_[i].name, const_cast<unsigned char*>(memory_[i].data())});
    return view;
}

void Tensors::poison(Poison with) {
    for (size_t i = 0; i < operands_.size(); ++i)
        runner::poison(memory_[i].data(), operands_[i].type, operands_[i].elements(), with);
}

int64_t Tensors::bytes() const {
    int64_t sum = 0;
    for (const Operand& each : operands_) sum += each.bytes();
    return sum;
}

size_t Tensors::place_of(const std::string& name) const {
    for (size_t i = 0; i < operands_.size(); ++i) {
        if (operands_[i].name == name) return i;
    }
    throw std::out_of_range("there is no operand called " + name);
}

std::vector<double> Tensors::values(const std::string& name) const {
    const size_t place = place_of(name);
    return visit(operands_[place].type, [&](auto of) {
        using T = typename decltype(of)::type;
        std::vector<T> elements(static_cast<size_t>(operands_[place].elements()));
        check_cuda(cudaMemcpy(elements.data(), memory_[place].data(), memory_[place].bytes(),
                              cudaMemcpyDeviceToHost),
                   "copying from the device");
        std::vector<double> values(elements.size());
        std::transform(elements.begin(), elements.end(), values.begin(), as_double<T>);
        return values;
    });
}

void Tensors::upload(const std::string& name, const std::vector<double>& values) {
    const size_t place = place_of(name);
    visit(operands_[place].type, [&](auto of) {
        using T = typename decltype(of)::type;
        std::vector<T> elements;
        elements.reserve(values.size());
        for (const double value : values) elements.push_back(static_cast<T>(value));
        check_cuda(cudaMemcpy(memory_[place].data(), elements.data(), memory_[place].bytes(),
                              cudaMemcpyHostToDevice),
                   "copying to the device");
    });
}

Tensors filled_inputs(const Operation& operation, const Shape& shape, DType dtype,
                      const std::string& input, uint64_t seed) {
    Tensors inputs(inputs_of(operation.operands(shape, dtype)));
    operation.fill(shape, dtype, input, seed, inputs.view());
    return inputs;
}

Tensors inputs_with(const Operation& operation, const Shape& shape, DType dtype,
                    const std::vector<double>& values, uint64_t seed) {
    Tensors inputs(inputs_of(operation.operands(shape, dtype)));
    inputs.upload(inputs.operands().front().name, values);
    operation.complete(shape, dtype, seed, inputs.view());
    return inputs;
}

Tensors poisoned_outputs(const Operation& operation, const Shape& shape, DType dtype,
                         const View& inputs, Poison with) {
    Tensors outputs(outputs_of(operation.operands(shape, dtype)));
    outputs.poison(with);
    for (const Operand& each : outputs.operands()) {
        if (each.role != Role::in_out) {
            probe().forget_written(outputs.view()[each.name].data,
                                   static_cast<size_t>(each.bytes()));
            continue;
        }
        check_cuda(cudaMemcpy(outputs.view()[each.name].data, inputs[each.name].data,
                              static_cast<size_t>(each.bytes()), cudaMemcpyDeviceToDevice),
                   "copying what is read and written");
    }
    return outputs;
}

}  // namespace runner
