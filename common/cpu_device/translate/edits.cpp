// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/edits.hpp"

#include <algorithm>
#include <utility>

#include "common/cpu_device/translate/translate.hpp"

namespace translate {

void Edits::replace(size_t begin, size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
}

std::string Edits::applied() const {
    std::vector<Edit> edits = edits_;
    std::stable_sort(edits.begin(), edits.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string result;
    size_t copied = 0;
    for (const Edit& edit : edits) {
        result.append(source_, copied, edit.begin - copied).append(edit.text);
        copied = edit.end;
    }
    return result.append(source_, copied);
}

std::string Edits::line_ends(size_t begin, size_t end) const {
    return std::string(std::count(source_.begin() + begin, source_.begin() + end, '\n'), '\n');
}

void Edits::fail(const Token& at, const std::string& message) const {
    throw TranslationError(1 + line_ends(0, at.begin).size(), message);
}

}  // namespace translate
