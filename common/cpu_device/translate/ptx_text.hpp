// SPDX-License-Identifier: MIT
// The text of an asm statement, read by the rules of PTX.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace translate {

// What a text has in place of C++ that is not known yet: a parameter of the macro around it stands between two of them.
constexpr char kParameter = '\1';

// Why a text is no PTX that can be translated.
class PtxError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct PtxOperand {
    enum class Kind {
        operand,   // %3: `number` is its index
        name,      // a register, or a label
        special,   // %tid.x, without the %
        integer,   // as it is written, without a suffix
        single,    // 0f3F800000: its hexadecimal digits
        real,      // 0d..., or 1.5: a double's
        list,      // {a, b}
        address,   // [a], [a, {b, c}]: the parts
        sum,       // a + 16
        pair,      // a|b
        negated,   // !a
        opposite,  // -a
        selected,  // a.b0, a.h10: the letter and the digits are its text
        sink,      // _
        parameter  // a parameter of the macro around it
    } kind;
    std::string text;
    size_t number = 0;
    std::vector<PtxOperand> parts;
};

struct PtxStatement {
    enum class Kind { open, close, registers, label, instruction } kind;
    std::string name;                    // a label's, or the registers' type without its dot
    std::vector<std::string> registers;  // that are declared
    std::string guard;                // of an instruction: the predicate; empty where none stands
    bool is_negated = false;          // @!p
    std::vector<std::string> opcode;  // "ld", "global", "L1::no_allocate", "u32"
    std::vector<PtxOperand> operands;
};

// basic: an asm without operands, where % stands for itself.
std::vector<PtxStatement> read_ptx(const std::string& text, bool basic);

}  // namespace translate
