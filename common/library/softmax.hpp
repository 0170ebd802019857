// SPDX-License-Identifier: MIT
//
// What softmax, log-softmax and their gradients share in the C interface.
#pragma once
#include <front_calls/softmax.cuh>

#include "call.hpp"

namespace library {

struct RowsProblem {
    static constexpr bool kDoubles = true;
    int64_t rows, cols;
    softmax_stages_softmax_options options;

    RowsProblem(int64_t rows_, int64_t cols_, const softmax_stages_softmax_options* given)
        : rows(rows_),
          cols(cols_),
          options(given != nullptr ? *given : softmax_stages_softmax_defaults()) {}

    softmax_stages::SoftmaxOptions in_cpp() const { return {options.inner}; }
    bool is_empty() const { return rows == 0 || cols == 0 || options.inner == 0; }
    void explain(Findings& findings, int /*type*/) const {
        findings.size("rows", rows);
        findings.size("cols", cols, INT32_MAX);
        findings.size("options.inner", options.inner);
    }
};

// Looks at operands of which none may be missing.
inline void explain_rows(Findings& findings, int type, const char* const (&names)[3],
                         const void* const (&addresses)[3]) {
    for (int i = 0; i < 3; ++i)
        if (names[i] != nullptr) findings.address(names[i], addresses[i], bytes_of_type(type));
    findings.need(false, "probably, rows, cols or inner are too large for a grid");
}

}  // namespace library
