// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/edits.hpp"

#include <algorithm>
#include <utility>

#include "common/cpu_device/translate/tokens.hpp"
#include "common/cpu_device/translate/translate.hpp"

namespace translate {

void Edits::replace(size_t begin, size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text), {}, false, {}});
}

void Edits::replace(size_t begin, size_t end, std::vector<Piece> pieces, bool in_macro) {
    edits_.push_back({begin, end, "", std::move(pieces), in_macro, {}});
}

Edits::Edits(const std::string& source) : source_(source) {
    for (size_t at = source.find('\n'); at != std::string::npos; at = source.find('\n', at + 1))
        line_ends_.push_back(at);
}

Edits::Repeated Edits::repeat(size_t begin, size_t end, Around text) {
    repeats_.push_back({begin, end, std::move(text)});
    return repeats_.size() - 1;
}

void Edits::replace_in_first(Repeated repeated, size_t begin, size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text), {}, false, repeated});
}

class Edits::Writer {
public:
    explicit Writer(const Edits& all) : all_(all), source_(all.source_), edits_(all.edits_) {
        // Of two at one place an insertion comes first, so that it stays outside of what the other replaces.
        std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
            return a.begin != b.begin ? a.begin < b.begin : !a.pieces.empty() < !b.pieces.empty();
        });
        for (const Repeat& each : all.repeats_) repeats_.push_back(&each);
        first_ = repeats_.empty() ? nullptr : all.repeats_.data();
        // The outer ones first.
        std::stable_sort(repeats_.begin(), repeats_.end(), [](const Repeat* a, const Repeat* b) {
            return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
        });
    }

    std::string run() {
        write(0, source_.size(), 0);
        return std::move(result_);
    }

private:
    // The source from begin to end, of whose repeated ranges those from that one on are inside.
    void write(size_t begin, size_t end, size_t repeat) {
        size_t edit = static_cast<size_t>(
            std::lower_bound(edits_.begin(), edits_.end(), begin,
                             [](const Edit& each, size_t at) { return each.begin < at; }) -
            edits_.begin());
        const auto is_inside = [&](size_t i, size_t limit) {
            return i < edits_.size() && edits_[i].begin <= limit && edits_[i].end <= limit;
        };
        size_t copied = begin;
        while (true) {
            const bool repeats = repeat < repeats_.size() && repeats_[repeat]->end <= end;
            if (repeats &&
                (!is_inside(edit, end) || repeats_[repeat]->begin <= edits_[edit].begin)) {
                const Repeat& twice = *repeats_[repeat];
                result_.append(source_, copied, twice.begin - copied);
                write_twice(twice, repeat + 1);
                copied = twice.end;
                while (is_inside(edit, copied)) ++edit;
                while (repeat < repeats_.size() && repeats_[repeat]->begin < copied) ++repeat;
            } else if (is_inside(edit, end)) {
                const Edit& each = edits_[edit++];
                // What lies in a range that another change replaces goes with it.
                if (is_left_out(each) || each.begin < copied) continue;
                result_.append(source_, copied, each.begin - copied).append(each.text);
                if (!each.pieces.empty()) write_on_its_lines(each);
                copied = each.end;
            } else {
                break;
            }
        }
        result_.append(source_, copied, end - copied);
    }

    void write_twice(const Repeat& twice, size_t inner) {
        result_ += twice.text.before;
        write(twice.begin, twice.end, inner);
        result_ += twice.text.between;
        in_second_.push_back(static_cast<Repeated>(&twice - first_));
        write(twice.begin, twice.end, inner);
        in_second_.pop_back();
        result_ += twice.text.after;
    }

    void write_on_its_lines(const Edit& edit) {
        const size_t line = all_.line(edit.begin), last = all_.line(edit.end);
        const auto go_to = [&](size_t to) { result_ += "\n#line " + std::to_string(to) + "\n"; };
        for (const Piece& piece : edit.pieces) {
            if (piece.begin == piece.end) {
                result_ += piece.text;
                continue;
            }
            const Tokens tokens = regions_of(changed(piece.begin, piece.end))[0].tokens;
            const bool elsewhere = !edit.in_macro && all_.line(piece.begin) != line;
            if (elsewhere) go_to(all_.line(piece.begin));
            result_ += piece.text + text_of(tokens, {0, tokens.size()});
            if (elsewhere) go_to(line);
        }
        if (edit.in_macro) {
            for (size_t i = line; i < last; ++i) result_ += "\\\n";
        } else if (last != line) {
            go_to(last);
        }
    }

    // That part of the source with its changes.
    std::string changed(size_t begin, size_t end) {
        std::string outside;
        std::swap(outside, result_);
        write(begin, end, repeats_.size());
        std::swap(outside, result_);
        return outside;
    }

    bool is_left_out(const Edit& edit) const {
        return edit.only_in_first && std::find(in_second_.begin(), in_second_.end(),
                                               *edit.only_in_first) != in_second_.end();
    }

    const Edits& all_;
    const std::string& source_;
    std::vector<Edit> edits_;
    std::vector<const Repeat*> repeats_;
    const Repeat* first_;
    std::vector<Repeated> in_second_;  // of which the second copy is being written
    std::string result_;
};

std::string Edits::applied() const {
    return Writer(*this).run();
}

std::string Edits::line_ends(size_t begin, size_t end) const {
    return std::string(std::count(source_.begin() + begin, source_.begin() + end, '\n'), '\n');
}

size_t Edits::line(size_t at) const {
    const auto next = std::lower_bound(line_ends_.begin(), line_ends_.end(), at);
    return 1 + static_cast<size_t>(next - line_ends_.begin());
}

size_t Edits::column(size_t at) const {
    const size_t before = at == 0 ? std::string::npos : source_.rfind('\n', at - 1);
    return before == std::string::npos ? at : at - before - 1;
}

void Edits::fail(const Token& at, const std::string& message) const {
    throw TranslationError(line(at.begin), message);
}

}  // namespace translate
