// SPDX-License-Identifier: MIT
// libstages.so as a stranger would use it: opened at run time, through stages.h alone.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/peers/stages.h"
#include "common/testing/catch.hpp"

constexpr int kInvalidValue = 1;    // cudaErrorInvalidValue
constexpr int kNotSupported = 801;  // cudaErrorNotSupported

// LIBRARY(stages_call)(...) is the library's, found by its name.
template <class Function>
Function* function_of_library(const char* name) {
    static void* const library = dlopen(STAGES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) FAIL(dlerror());
    void* const found = dlsym(library, name);
    if (found == nullptr) FAIL(name << " is not exported");
    return reinterpret_cast<Function*>(found);
}
#define LIBRARY(name) (function_of_library<decltype(name)>(#name))

inline std::vector<stages_callable> callables() {
    size_t count = 0;
    const stages_callable* all = LIBRARY(stages_callables)(&count);
    return {all, all + count};
}

// The first of ours with this name: for "block_per_row" that of the first stage that has one.
inline const char* ours(const std::string& variant) {
    for (const stages_callable& each : callables()) {
        if (each.role == std::string("ours") && each.variant == variant) return each.name;
    }
    FAIL("no stage has a variant " << variant);
    return nullptr;
}

inline std::vector<stages_operation> operations() {
    size_t count = 0;
    const stages_operation* all = LIBRARY(stages_operations)(&count);
    return {all, all + count};
}

inline std::string error() {
    return LIBRARY(stages_error)();
}

// A problem that keeps what its pointers point to.
class Problem {
public:
    Problem(std::vector<stages_size> sizes, int dtype = STAGES_FLOAT32,
            std::vector<stages_option> options = {})
        : sizes_(std::move(sizes)), options_(std::move(options)), dtype_(dtype) {}

    // Rows of a matrix; a tensor along its middle axis.
    static Problem rows(int64_t rows, int64_t cols, int dtype = STAGES_FLOAT32) {
        return {{{"rows", rows}, {"cols", cols}}, dtype};
    }
    static Problem middle(int64_t outer, int64_t dim, int64_t inner, int dtype = STAGES_FLOAT32) {
        return {{{"outer", outer}, {"dim", dim}, {"inner", inner}}, dtype};
    }

    const stages_problem* in_c() const {
        in_c_ = {dtype_, sizes_.data(), sizes_.size(), options_.data(), options_.size()};
        return &in_c_;
    }
    std::string text() const {
        std::string text = "dtype " + std::to_string(dtype_);
        for (const stages_size& each : sizes_)
            text += std::string(", ") + (each.name ? each.name : "?") + " " +
                    std::to_string(each.value);
        return text;
    }

private:
    std::vector<stages_size> sizes_;
    std::vector<stages_option> options_;
    int dtype_;
    mutable stages_problem in_c_ = {};
};

class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes) {
        if (LIBRARY(stages_allocate)(std::max<size_t>(bytes, 1), &data_) != 0) FAIL(error());
        LIBRARY(stages_poison)(data_, bytes);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { LIBRARY(stages_free)(data_); }
    void* data() const { return data_; }
    size_t bytes() const { return bytes_; }

    template <class T>
    void upload(const std::vector<T>& values) {
        REQUIRE(values.size() * sizeof(T) == bytes_);
        if (LIBRARY(stages_copy)(data_, values.data(), bytes_) != 0) FAIL(error());
    }
    template <class T>
    std::vector<T> download() const {
        std::vector<T> values(bytes_ / sizeof(T));
        if (LIBRARY(stages_copy)(values.data(), data_, bytes_) != 0) FAIL(error());
        return values;
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

// Memory for all operands of a problem, as stages_describe tells of them.
class Tensors {
public:
    Tensors(const std::string& what, const Problem& problem) : problem_(problem) {
        const stages_operand_info* operands = nullptr;
        size_t count = 0;
        if (LIBRARY(stages_describe)(what.c_str(), problem.in_c(), &operands, &count) != 0)
            FAIL(what << ": " << error());
        for (size_t i = 0; i < count; ++i) {
            const std::string name = operands[i].name;
            if (operands[i].role == std::string("out")) outputs_.push_back(name);
            names_.push_back(name);
            memory_.emplace_back(static_cast<size_t>(operands[i].bytes));
            if (operands[i].role == std::string("out")) continue;
            names_.push_back(name + ":before");  // what it was, for the check
            memory_.emplace_back(static_cast<size_t>(operands[i].bytes));
        }
    }

    const std::vector<std::string>& outputs() const { return outputs_; }
    Memory& operator[](const std::string& name) {
        return memory_[static_cast<size_t>(std::find(names_.begin(), names_.end(), name) -
                                           names_.begin())];
    }
    // In the library's order; any other will do.
    std::vector<stages_operand> in_c() const {
        std::vector<stages_operand> operands;
        for (size_t i = 0; i < names_.size(); ++i)
            operands.push_back({names_[i].c_str(), memory_[i].data()});
        return operands;
    }

    void fill(const std::string& what, const char* input) const {
        const std::vector<stages_operand> operands = in_c();
        if (LIBRARY(stages_fill)(what.c_str(), problem_.in_c(), input, operands.data(),
                                 operands.size()) != 0)
            FAIL(what << ": " << error());
        for (size_t i = 1; i < names_.size(); ++i) {  // each behind what it is a copy of
            if (names_[i] == names_[i - 1] + ":before")
                LIBRARY(stages_copy)(memory_[i].data(), memory_[i - 1].data(), memory_[i].bytes());
        }
    }
    // With all the workspace that it wants.
    void call(const std::string& name) const {
        size_t bytes = 0;
        if (LIBRARY(stages_workspace_bytes)(name.c_str(), problem_.in_c(), &bytes) != 0)
            FAIL(name << ": " << error());
        const Memory workspace(bytes);
        const std::vector<stages_operand> operands = in_c();
        if (LIBRARY(stages_call)(name.c_str(), problem_.in_c(), operands.data(), operands.size(),
                                 workspace.data(), bytes, nullptr) != 0)
            FAIL(name << ": " << error());
    }
    stages_report check(const std::string& what) const {
        stages_report report = {};
        const std::vector<stages_operand> operands = in_c();
        if (LIBRARY(stages_check)(what.c_str(), problem_.in_c(), operands.data(), operands.size(),
                                  &report) != 0)
            FAIL(what << ": " << error());
        return report;
    }

private:
    Problem problem_;
    std::vector<std::string> names_;
    std::vector<std::string> outputs_;
    std::deque<Memory> memory_;
};

// Whether `name` takes such a problem.
inline bool takes(const std::string& name, const Problem& problem) {
    size_t bytes = 0;
    return LIBRARY(stages_workspace_bytes)(name.c_str(), problem.in_c(), &bytes) == 0;
}

// Whether it computes something else than its operation.
inline bool is_invalid(const stages_callable& callable) {
    return callable.role == std::string("invalid") || callable.role == std::string("part");
}
