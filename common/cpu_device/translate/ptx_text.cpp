// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/ptx_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace translate {
namespace {

bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
           c == kParameter;
}
bool is_decimal(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_blank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string without_comments(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            const size_t end = text.find("*/", i + 2);
            i = end == std::string::npos ? text.size() : end + 2;
            result += ' ';
        } else {
            result += text[i++];
        }
    }
    return result;
}

std::string without_blanks(const std::string& text) {
    size_t begin = 0, end = text.size();
    while (begin < end && is_blank(text[begin])) ++begin;
    while (end > begin && is_blank(text[end - 1])) --end;
    return text.substr(begin, end - begin);
}

// Where the suffix of a register begins that names bytes or halves of it, as .b0 and .h10; npos where none does.
size_t selector_in(const std::string& text) {
    const size_t dot = text.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 2 >= text.size() || is_decimal(text[0]))
        return std::string::npos;
    const bool good =
        (text[dot + 1] == 'b' || text[dot + 1] == 'h') &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(dot) + 2, text.end(), is_decimal);
    return good ? dot : std::string::npos;
}

// The parts between separators that stand in no bracket.
std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        if (std::strchr("([{", c) != nullptr) ++depth;
        if (std::strchr(")]}", c) != nullptr) --depth;
        if (c == separator && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

class TextReader {
public:
    TextReader(const std::string& text, bool basic)
        : text_(without_comments(text)), basic_(basic) {}

    std::vector<PtxStatement> run() {
        int depth = 0;
        while (skip_blanks(), at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '{' || c == '}') {
                depth += c == '{' ? 1 : -1;
                if (depth < 0) throw PtxError("a '}' that nothing opens");
                found_.push_back(
                    statement(c == '{' ? PtxStatement::Kind::open : PtxStatement::Kind::close));
                ++at_;
            } else if (c == ';') {
                ++at_;
            } else if (!read_label()) {
                read_one();
            }
        }
        if (depth > 0) throw PtxError("a '{' that nothing closes");
        return std::move(found_);
    }

private:
    static PtxStatement statement(PtxStatement::Kind kind) {
        PtxStatement result;
        result.kind = kind;
        return result;
    }

    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }

    bool read_label() {
        size_t end = at_;
        while (end < text_.size() && (is_of_name(text_[end]) || text_[end] == '%')) ++end;
        const size_t name_end = end;
        while (end < text_.size() && is_blank(text_[end])) ++end;
        if (name_end == at_ || end >= text_.size() || text_[end] != ':' ||
            text_.compare(end, 2, "::") == 0) {
            return false;
        }
        PtxStatement label = statement(PtxStatement::Kind::label);
        label.name = text_.substr(at_, name_end - at_);
        found_.push_back(label);
        at_ = end + 1;
        return true;
    }

    void read_one() {
        const size_t end = text_.find(';', at_);
        const std::string line =
            without_blanks(text_.substr(at_, end == std::string::npos ? end : end - at_));
        if (end == std::string::npos) throw PtxError("no ';' behind '" + line + "'");
        at_ = end + 1;
        if (line[0] == '.') {
            read_directive(line);
        } else {
            read_instruction(line);
        }
    }

    void read_directive(const std::string& line) {
        if (line.compare(0, 7, ".pragma") == 0) return;
        size_t begin = 4;
        while (begin < line.size() && is_blank(line[begin])) ++begin;
        if (line.compare(0, 4, ".reg") != 0 || begin >= line.size() || line[begin] != '.') {
            throw PtxError("a directive that it does not know: '" + line + "'");
        }
        size_t end = begin + 1;
        while (end < line.size() && is_of_name(line[end])) ++end;
        PtxStatement declared = statement(PtxStatement::Kind::registers);
        declared.name = line.substr(begin + 1, end - begin - 1);
        for (const std::string& part : split(line.substr(end), ',')) {
            const std::string name = without_blanks(part);
            const size_t angle = name.find('<');
            if (name.empty()) throw PtxError("a register without a name: '" + line + "'");
            if (angle == std::string::npos) {
                declared.registers.push_back(name);
                continue;
            }
            const int count = std::atoi(name.c_str() + angle + 1);
            for (int i = 0; i < count; ++i)
                declared.registers.push_back(name.substr(0, angle) + std::to_string(i));
        }
        found_.push_back(declared);
    }

    void read_instruction(const std::string& line) {
        PtxStatement result = statement(PtxStatement::Kind::instruction);
        size_t at = 0;
        const auto blanks = [&] {
            while (at < line.size() && is_blank(line[at])) ++at;
        };
        if (line[at] == '@') {
            ++at;
            blanks();
            if (at < line.size() && line[at] == '!') {
                result.is_negated = true;
                ++at;
                blanks();
            }
            const size_t begin = at;
            while (at < line.size() && (is_of_name(line[at]) || line[at] == '%')) ++at;
            result.guard = line.substr(begin, at - begin);
            blanks();
        }
        std::string opcode;
        while (at < line.size()) {
            const char c = line[at];
            if (is_of_name(c) || c == '.' || c == ':') {
                opcode += c;
                ++at;
                continue;
            }
            // The rest of an opcode may stand apart: "ld.global .u32".
            const size_t blank = at;
            blanks();
            const bool goes_on = at > blank && at + 1 < line.size() && line[at] == '.' &&
                                 std::isalpha(static_cast<unsigned char>(line[at + 1])) != 0;
            if (!goes_on) break;
        }
        for (const std::string& part : split(opcode, '.')) result.opcode.push_back(part);
        if (result.opcode[0].empty()) throw PtxError("no instruction: '" + line + "'");
        const std::string rest = without_blanks(line.substr(at));
        if (!rest.empty()) {
            for (const std::string& part : split(rest, ','))
                result.operands.push_back(operand(without_blanks(part)));
        }
        found_.push_back(result);
    }

    static PtxOperand make(PtxOperand::Kind kind, std::string text) {
        PtxOperand result{kind, std::move(text), 0, {}};
        return result;
    }

    PtxOperand operand(const std::string& text) {
        using Kind = PtxOperand::Kind;
        if (text.empty()) throw PtxError("an operand is missing");
        if (text == "_") return make(Kind::sink, text);
        const char first = text.front(), last = text.back();
        if (first == '[' && last == ']') return address(text.substr(1, text.size() - 2));
        if (first == '{' && last == '}') {
            PtxOperand result = make(Kind::list, text);
            for (const std::string& part : split(text.substr(1, text.size() - 2), ','))
                result.parts.push_back(operand(without_blanks(part)));
            return result;
        }
        if (const auto sides = split(text, '|'); sides.size() == 2) {
            PtxOperand result = make(Kind::pair, text);
            for (const std::string& side : sides)
                result.parts.push_back(operand(without_blanks(side)));
            return result;
        }
        if (first == '!') {
            PtxOperand result = make(Kind::negated, text);
            result.parts.push_back(operand(without_blanks(text.substr(1))));
            return result;
        }
        if (const size_t dot = selector_in(text);
            dot != std::string::npos && first != '-' && first != kParameter) {
            PtxOperand result = make(Kind::selected, text.substr(dot + 1));
            result.parts.push_back(operand(text.substr(0, dot)));
            return result;
        }
        if (first == '-' && text.size() > 1 && !is_decimal(text[1]) && text[1] != '.') {
            PtxOperand result = make(Kind::opposite, text);
            result.parts.push_back(operand(without_blanks(text.substr(1))));
            return result;
        }
        if (first == '%') return behind_percent(text);
        if (first == kParameter) return make(Kind::parameter, text.substr(1, text.size() - 2));
        if (is_decimal(first) || first == '-' || first == '+') return number(text);
        if (std::all_of(text.begin(), text.end(), is_of_name)) return make(Kind::name, text);
        throw PtxError("an operand that it does not know: '" + text + "'");
    }

    PtxOperand behind_percent(const std::string& text) const {
        const std::string name =
            text.compare(0, 2, "%%") == 0 && !basic_ ? text.substr(2) : text.substr(1);
        if (name.empty()) throw PtxError("a '%' without a name");
        if (std::all_of(name.begin(), name.end(), is_decimal)) {
            PtxOperand result = make(PtxOperand::Kind::operand, text);
            result.number = std::stoul(name);
            return result;
        }
        return make(PtxOperand::Kind::special, name);
    }

    static PtxOperand number(const std::string& text) {
        using Kind = PtxOperand::Kind;
        if (text.compare(0, 2, "0f") == 0 || text.compare(0, 2, "0F") == 0)
            return make(Kind::single, text.substr(2));
        if (text.compare(0, 2, "0d") == 0 || text.compare(0, 2, "0D") == 0)
            return make(Kind::real, "0x" + text.substr(2));
        const bool is_hexadecimal =
            text.find("0x") != std::string::npos || text.find("0X") != std::string::npos;
        if (!is_hexadecimal && text.find_first_of(".eE") != std::string::npos)
            return make(Kind::real, text);
        std::string digits = text;
        while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
        const bool good = std::all_of(digits.begin() + 1, digits.end(), [](char c) {
            return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == 'x' || c == 'X';
        });
        if (!good) throw PtxError("a number that it does not know: '" + text + "'");
        return make(Kind::integer, digits);
    }

    PtxOperand address(const std::string& text) {
        PtxOperand result = make(PtxOperand::Kind::address, text);
        for (const std::string& part : split(text, ',')) {
            const size_t sign = part.find_first_of("+-", 1);
            if (part.find('{') != std::string::npos || sign == std::string::npos) {
                result.parts.push_back(operand(without_blanks(part)));
                continue;
            }
            if (!result.parts.empty())
                throw PtxError("an address it does not know: [" + text + "]");
            result.parts.push_back(operand(without_blanks(part.substr(0, sign))));
            // [a + -16] occurs as well.
            std::string offset = without_blanks(part.substr(sign + 1));
            if (part[sign] == '-') offset = "-" + offset;
            PtxOperand sum = make(PtxOperand::Kind::sum, text);
            sum.parts = {result.parts[0], operand(offset)};
            result.parts[0] = sum;
        }
        return result;
    }

    const std::string text_;
    const bool basic_;
    size_t at_ = 0;
    std::vector<PtxStatement> found_;
};

}  // namespace

std::vector<PtxStatement> read_ptx(const std::string& text, bool basic) {
    return TextReader(text, basic).run();
}

}  // namespace translate
