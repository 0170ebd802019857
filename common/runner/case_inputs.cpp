// SPDX-License-Identifier: MIT
#include "common/runner/case_inputs.hpp"

#include "common/runner/device.hpp"
#include "common/runner/stage_run.hpp"

namespace runner {
namespace {

std::vector<uint64_t> digests_of(const Tensors& tensors) {
    const View view = tensors.view();
    std::vector<uint64_t> digests;
    for (const Operand& each : tensors.operands())
        digests.push_back(digest_of(view[each.name].data, static_cast<size_t>(each.bytes())));
    return digests;
}

}  // namespace

std::string text_of(const Case& one, DType dtype) {
    return one.input + ", " + name_of(dtype) + ", " + text_of(one.shape);
}

Tensors CaseInputs::made(const Operation& operation) const {
    return one_.values != nullptr ? inputs_with(operation, one_.shape, dtype_, *one_.values, seed_)
                                  : filled_inputs(operation, one_.shape, dtype_, one_.input, seed_);
}

const Tensors& CaseInputs::for_operation(const Operation& operation) {
    if (operation_ == nullptr || !operation_->is_comparable(operation)) {
        inputs_ = Tensors();  // its memory first
        operation_ = nullptr;
        inputs_ = made(operation);
        digests_ = digests_of(inputs_);
        operation_ = &operation;
    }
    return inputs_;
}

std::optional<Overwritten> CaseInputs::put_back() {
    if (operation_ == nullptr || digests_of(inputs_) == digests_) return std::nullopt;
    const Operation& operation = *operation_;
    operation_ = nullptr;  // should there be no memory for what follows
    const Tensors original = made(operation);
    std::optional<Overwritten> found;
    for (const Operand& each : inputs_.operands()) {
        void* const now = inputs_.view()[each.name].data;
        const void* const before = original.view()[each.name].data;
        if (!found) found = overwritten(each, before, now);
        check_cuda(
            cudaMemcpy(now, before, static_cast<size_t>(each.bytes()), cudaMemcpyDeviceToDevice),
            "putting an input back");
    }
    operation_ = &operation;
    return found;
}

void CaseInputs::require_kept(Validation& validation, const std::string& where,
                              const Validation* said_before) {
    const std::optional<Overwritten> found = put_back();
    if (!found) return;
    if (said_before == nullptr || !said_before->has_failure(cause_of(*found)))
        validation.add_failure(where, found->text, cause_of(*found));
}

std::string cause_of(const Overwritten& found) {
    return "overwrites " + found.operand;
}

}  // namespace runner
