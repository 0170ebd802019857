// SPDX-License-Identifier: MIT
// Operands in device memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/runner/device.hpp"
#include "common/runner/operation.hpp"

namespace runner {

// What lies in outputs before a launch. A kernel that takes it for something is right over one of these at most:
// fmax(y, p) and isnan(y) over NaN, whatever compares over numbers that are large and of either sign.
enum class Poison { nan, large };

// So many elements of a type: NaN in every floating-point type, -1 in integers; or every other element negative.
void poison(void* device, ElementType type, int64_t elements, Poison with);

class Tensors {
public:
    // Uninitialised.
    explicit Tensors(std::vector<Operand> operands = {});

    const std::vector<Operand>& operands() const { return operands_; }
    View view() const;
    void poison(Poison with = Poison::nan);
    int64_t bytes() const;

    // One of them, as doubles; booleans are 0 and 1.
    std::vector<double> values(const std::string& name) const;
    // As many values, each rounded once to the element type.
    void upload(const std::string& name, const std::vector<double>& values);

private:
    size_t place_of(const std::string& name) const;

    std::vector<Operand> operands_;
    std::vector<DeviceBuffer<unsigned char>> memory_;
};

// The inputs of a problem, filled.
Tensors filled_inputs(const Operation& operation, const Shape& shape, DType dtype,
                      const std::string& input, uint64_t seed);
// The same with a user's values in the first.
Tensors inputs_with(const Operation& operation, const Shape& shape, DType dtype,
                    const std::vector<double>& values, uint64_t seed);
// Room for its results, poisoned; what is read as well as written is filled from the inputs. What is only written
// counts as memory that nobody has written yet.
Tensors poisoned_outputs(const Operation& operation, const Shape& shape, DType dtype,
                         const View& inputs, Poison with = Poison::nan);

}  // namespace runner
