// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/assembly.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/ptx_instructions.hpp"
#include "common/cpu_device/translate/ptx_text.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

const std::string kPtx = "::cpu_device::ptx::";

// What the literal stands for.
std::string value_of(const std::string& literal) {
    const size_t quote = literal.find('"');
    if (quote == std::string::npos) return {};
    if (quote > 0 && literal[quote - 1] == 'R') {
        const size_t open = literal.find('('), close = literal.rfind(')');
        return literal.substr(open + 1, close - open - 1);
    }
    std::string value;
    for (size_t i = quote + 1; i + 1 < literal.size(); ++i) {
        if (literal[i] != '\\') {
            value += literal[i];
            continue;
        }
        const char c = literal[++i];
        value += c == 'n' || c == 'r' ? '\n' : c == 't' || c == 'v' ? '\t' : c;
    }
    return value;
}

// asm [volatile] ( text : outputs : inputs : clobbers ) in a sequence of tokens.
struct Statement {
    struct Operand {
        std::string constraint;  // "=r"; where a macro stands for it, empty
        std::string unknown;     // that macro
        Range value;             // between its parentheses
        bool is_output;
        std::string expanded = {};  // in place of value, of an operand that stands in a macro
    };
    std::string text;
    std::vector<Operand> operands;
    bool basic = true;
};

class StatementReader {
public:
    StatementReader(const Region& region, const std::vector<Region>& all)
        : region_(region), tokens_(region.tokens), all_(all) {}

    // From `asm` to the closing parenthesis; nothing where no asm statement of that form begins at `at`.
    std::optional<Range> extent(size_t at) const {
        const size_t open = parenthesis_of(at);
        if (open >= tokens_.size() || tokens_[open].text != "(") return {};
        const auto close = matching_close(tokens_, open);
        if (!close) return {};
        return Range{at, *close + 1};
    }

    // The statement that begins at `at`, if one does. Throws PtxError.
    std::optional<Statement> read(size_t at) const {
        const auto whole = extent(at);
        if (!whole) return {};
        const size_t close = whole->end - 1;
        Statement result;
        size_t begin = parenthesis_of(at) + 1;
        int section = 0;
        for (size_t i = begin; i <= close; ++i) {
            const bool colons = is_one_of(tokens_[i], {":", "::"});
            if (colons || i == close) {
                add(section, {begin, i}, result);
                section += tokens_[i].text == "::" ? 2 : 1;
                begin = i + 1;
            } else if (is_open(tokens_[i])) {
                i = matching_close(tokens_, i).value_or(close);
            }
            if (colons) result.basic = false;
        }
        return result;
    }

    // Whether a literal stands there, or a macro that stands for literals.
    bool is_literal(const Token& token) const {
        return token.kind == TokenKind::literal || value_of_macro(token.text).has_value();
    }

    // The tokens of the statement's text.
    Range text_at(Range statement) const {
        const size_t begin = parenthesis_of(statement.begin) + 1;
        size_t end = begin;
        while (end + 1 < statement.end && !is_one_of(tokens_[end], {":", "::"})) ++end;
        return {begin, end};
    }

private:
    // Where the parenthesis of the text should be.
    size_t parenthesis_of(size_t at) const {
        size_t open = at + 1;
        while (open < tokens_.size() &&
               is_one_of(tokens_[open], {"volatile", "__volatile__", "__volatile"})) {
            ++open;
        }
        return open;
    }

    void add(int section, Range range, Statement& to) const {
        if (section == 0) {
            to.text = text_in(range);
            return;
        }
        if (section > 2) return;
        size_t begin = range.begin;
        for (size_t i = range.begin; i <= range.end; ++i) {
            if (i == range.end || tokens_[i].text == ",") {
                const Range operand{begin, i};
                if (i > begin && !add_from_macro(operand, section == 1, to))
                    to.operands.push_back(operand_in(operand, section == 1));
                begin = i + 1;
            } else if (is_open(tokens_[i])) {
                i = matching_close(tokens_, i).value_or(range.end);
            }
        }
    }

    Statement::Operand operand_in(Range range, bool is_output) const {
        size_t open = range.begin;
        if (tokens_[open].text == "[") open = matching_close(tokens_, open).value_or(open) + 1;
        const size_t constraint = open;
        while (open < range.end && tokens_[open].text != "(") ++open;
        if (open == constraint || open >= range.end) {
            throw PtxError("an operand that it does not know: " + text_of(tokens_, range));
        }
        const auto text = literals_in({constraint, open});
        return {text.value_or(""),
                text ? "" : text_of(tokens_, {constraint, open}),
                {open + 1, matching_close(tokens_, open).value_or(range.end)},
                is_output};
    }

    const Region* macro_named(const std::string& name) const {
        const auto found = std::find_if(all_.begin(), all_.end(), [&](const Region& region) {
            return region.is_macro && region.name == name;
        });
        return found == all_.end() ? nullptr : &*found;
    }

    // Adds the operands for which a macro of the file stands: of FOUR(8), which is "+f"(d[8]), "+f"(d[9]), ..., four.
    bool add_from_macro(Range range, bool is_output, Statement& to) const {
        const Region* const macro = macro_named(tokens_[range.begin].text);
        const bool has_operands =
            macro != nullptr && std::any_of(macro->tokens.begin(), macro->tokens.end(),
                                            [](const Token& token) { return token.text == "("; });
        if (!has_operands) return false;
        const Tokens of_call(tokens_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                             tokens_.begin() + static_cast<std::ptrdiff_t>(range.end));
        constexpr int kDeepest = 8;
        const Tokens all = expanded(of_call, kDeepest);
        size_t begin = 0;
        for (size_t i = 0; i <= all.size(); ++i) {
            if (i < all.size() && is_open(all[i])) {
                i = matching_close(all, i).value_or(all.size() - 1);
            } else if (i == all.size() || all[i].text == ",") {
                if (i > begin) to.operands.push_back(operand_of_macro(all, {begin, i}, is_output));
                begin = i + 1;
            }
        }
        return true;
    }

    Statement::Operand operand_of_macro(const Tokens& all, Range range, bool is_output) const {
        std::string constraint;
        size_t open = range.begin;
        while (open < range.end && all[open].kind == TokenKind::literal)
            constraint += value_of(all[open++].text);
        if (open == range.begin || open >= range.end || all[open].text != "(")
            throw PtxError("an operand that it does not know: " + text_of(all, range));
        std::string value;  // words of several places
        const size_t close = matching_close(all, open).value_or(range.end);
        for (size_t i = open + 1; i < close; ++i) value += (value.empty() ? "" : " ") + all[i].text;
        if (value.empty()) throw PtxError("an operand without a value");
        return {constraint, "", {}, is_output, value};
    }

    // With the file's macros in place of their names, so many of them within each other.
    Tokens expanded(const Tokens& tokens, int deepest) const {
        Tokens all;
        for (size_t i = 0; i < tokens.size(); ++i) {
            const Region* const macro =
                tokens[i].kind == TokenKind::identifier ? macro_named(tokens[i].text) : nullptr;
            const bool is_called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
            if (macro == nullptr || deepest == 0 || (macro->has_parameters && !is_called)) {
                all.push_back(tokens[i]);
                continue;
            }
            std::vector<Tokens> arguments(1);
            if (macro->has_parameters) {
                const size_t close = matching_close(tokens, i + 1).value_or(tokens.size() - 1);
                int depth = 0;
                for (size_t at = i + 2; at < close; ++at) {
                    depth += is_open(tokens[at]) ? 1 : is_close(tokens[at]) ? -1 : 0;
                    if (depth == 0 && tokens[at].text == ",") {
                        arguments.emplace_back();
                    } else {
                        arguments.back().push_back(tokens[at]);
                    }
                }
                i = close;
            }
            Tokens body;
            for (const Token& token : macro->tokens) {
                const auto parameter =
                    std::find(macro->parameters.begin(), macro->parameters.end(), token.text);
                const auto number = static_cast<size_t>(parameter - macro->parameters.begin());
                if (parameter == macro->parameters.end() || number >= arguments.size()) {
                    body.push_back(token);
                } else {
                    body.insert(body.end(), arguments[number].begin(), arguments[number].end());
                }
            }
            const Tokens inner = expanded(body, deepest - 1);
            all.insert(all.end(), inner.begin(), inner.end());
        }
        return all;
    }

    // The text of literals side by side, and of macros that stand for such.
    std::optional<std::string> literals_in(Range range) const {
        std::string text;
        for (size_t i = range.begin; i < range.end; ++i) {
            if (tokens_[i].kind == TokenKind::literal) {
                text += value_of(tokens_[i].text);
            } else if (tokens_[i].text == "#" && i + 1 < range.end) {
                text += kParameter + tokens_[++i].text + kParameter;
            } else if (const auto value = value_of_macro(tokens_[i].text)) {
                text += *value;
            } else {
                return {};
            }
        }
        return text;
    }

    std::string text_in(Range range) const {
        if (const auto text = literals_in(range)) return *text;
        throw PtxError("its text is no string literal: " + text_of(tokens_, range));
    }

    // The text that a macro without parameters stands for, by literals and by macros within it, at most `deepest` of them
    // within each other.
    std::optional<std::string> value_of_macro(const std::string& name, int deepest = 8) const {
        const Region* const macro = macro_named(name);
        if (macro == nullptr || deepest == 0) return {};
        std::string value;
        for (const Token& token : macro->tokens) {
            if (token.kind == TokenKind::literal) {
                value += value_of(token.text);
            } else if (const auto inner = value_of_macro(token.text, deepest - 1)) {
                value += *inner;
            } else {
                return {};
            }
        }
        return value;
    }

    const Region& region_;
    const Tokens& tokens_;
    const std::vector<Region>& all_;
};

// "a.b::c" as a part of a C++ name; a macro's parameter is pasted to it.
std::string word_of(const std::string& text) {
    std::string word;
    bool in_parameter = false, is_behind_one = false;
    for (const char c : text) {
        if (c != kParameter && std::exchange(is_behind_one, false)) word += "##";
        if (c == kParameter) {
            if (!in_parameter) word += "##";
            is_behind_one = in_parameter;
            in_parameter = !in_parameter;
        } else if (c == ':' || c == '.' || c == '$' || c == '%') {
            if (word.empty() || word.back() != '_' || c != ':') word += '_';
        } else {
            word += c;
        }
    }
    return word;
}

// Writes the C++ of one statement.
class Writer {
public:
    Writer(const Tokens& tokens, const Statement& statement)
        : tokens_(tokens), asm_(statement), ptx_(read_ptx(statement.text, statement.basic)) {}

    std::vector<Edits::Piece> run() {
        declare_names();
        find_written();
        find_accumulators();
        const std::string body = body_of_all();
        add("do { " + labels_);
        for (size_t i = 0; i < asm_.operands.size(); ++i) {
            if (has_instructions_) {
                declare_operand(i);
            } else {
                name_operand(i);
            }
        }
        add(registers_ + body);
        for (size_t i = 0; i < asm_.operands.size() && has_instructions_; ++i) {
            if (!asm_.operands[i].is_output || accumulators_.count(i) != 0) continue;
            add(kPtx + "give<" + constraint_of(i) + ">(cpu_device_o" + std::to_string(i) + ", " +
                register_of(i) + "); ");
        }
        add("} while (0)");
        return std::move(pieces_);
    }

private:
    using Kind = PtxStatement::Kind;

    void add(std::string text) { pieces_.push_back({std::move(text), 0, 0}); }

    static std::string register_of(size_t operand) {
        return "cpu_device_r" + std::to_string(operand);
    }

    // The letter of a constraint: 'r' of "+r".
    std::string constraint_of(size_t index) const {
        const Statement::Operand& operand = asm_.operands[index];
        if (!operand.unknown.empty()) {
            return "(" + operand.unknown + ")[" + (operand.is_output ? "1" : "0") + "]";
        }
        std::string letters = operand.constraint;
        letters.erase(std::remove_if(letters.begin(), letters.end(),
                                     [](char c) { return c == '=' || c == '+' || c == '&'; }),
                      letters.end());
        if (letters.size() != 1 || std::string("hrlqfdn").find(letters) == std::string::npos) {
            throw PtxError("the constraint \"" + operand.constraint +
                           "\"; it knows h, r, l, q, f, d and n");
        }
        return "'" + letters + "'";
    }

    // The text, then what stands between the operand's parentheses.
    void add_value(const Statement::Operand& operand, std::string text) {
        if (!operand.expanded.empty()) return add(text + operand.expanded);
        if (operand.value.begin == operand.value.end) throw PtxError("an operand without a value");
        pieces_.push_back({std::move(text), tokens_[operand.value.begin].begin,
                           tokens_[operand.value.end - 1].end});
    }

    // An empty text is a barrier for the compiler: its operands must exist, but are neither read nor written, for they may
    // be accumulators of a wgmma under way.
    void name_operand(size_t index) {
        const Statement::Operand& operand = asm_.operands[index];
        constraint_of(index);
        add_value(operand, operand.is_output ? "[[maybe_unused]] auto&& cpu_device_o" +
                                                   std::to_string(index) + " = ("
                                             : "static_cast<void>(sizeof(");
        add(operand.is_output ? "); " : ")); ");
    }

    void declare_operand(size_t index) {
        const Statement::Operand& operand = asm_.operands[index];
        const std::string number = std::to_string(index), letter = constraint_of(index);
        const auto begin_with = [&](std::string text) { add_value(operand, std::move(text)); };
        if (accumulators_.count(index) != 0) {
            begin_with("auto&& cpu_device_o" + number + " = (");
            add("); ");
        } else if (operand.is_output) {
            const bool is_read = operand.constraint.empty() ||
                                 operand.constraint.find('+') != std::string::npos ||
                                 kept_.count(index) != 0;
            begin_with("auto&& cpu_device_o" + number + " = (");
            add("); auto " + register_of(index) + " = " + kPtx + (is_read ? "old<" : "fresh<") +
                letter + ">(cpu_device_o" + number + "); ");
        } else if (letter == "'n'") {
            begin_with("[[maybe_unused]] constexpr " + kPtx + "Integer " + register_of(index) +
                       "{static_cast<long long>(");
            add(")}; ");
        } else {
            begin_with("[[maybe_unused]] const auto " + register_of(index) + " = " + kPtx +
                       "take<" + letter + ">(");
            add("); ");
        }
    }

    // Registers and labels get names of their own, since all are declared in front.
    void declare_names() {
        std::string labels;
        size_t scopes = 0;
        std::vector<size_t> around = {0};
        for (const PtxStatement& each : ptx_) {
            if (each.kind == Kind::open) around.push_back(++scopes);
            if (each.kind == Kind::close) around.pop_back();
            const std::string scope = "_" + std::to_string(around.back());
            if (each.kind == Kind::label) {
                const std::string name = "cpu_device_l_" + word_of(each.name) + scope;
                names_[{around.back(), each.name}] = name;
                labels += (labels.empty() ? "" : ", ") + name;
            }
            if (each.kind != Kind::registers) continue;
            for (const std::string& name : each.registers) {
                const std::string word = "cpu_device_v_" + word_of(name) + scope;
                names_[{around.back(), without_percent(name)}] = word;
                registers_ += "[[maybe_unused]] " + kPtx + "Register<" + kPtx + "dot_" +
                              word_of(each.name) + "> " + word + "{}; ";
            }
        }
        if (!labels.empty()) labels_ = "__label__ " + labels + "; ";
    }

    static std::string without_percent(const std::string& name) {
        return name.substr(std::min(name.find_first_not_of('%'), name.size()));
    }

    // Outputs that an instruction writes under a guard keep what they were where it does not hold.
    void find_written() {
        const bool branches = !labels_.empty();
        for (const PtxStatement& each : ptx_) {
            if (each.kind != Kind::instruction || (each.guard.empty() && !branches)) continue;
            for (const PtxOperand& operand : each.operands) keep(operand);
        }
    }
    void keep(const PtxOperand& operand) {
        if (operand.kind == PtxOperand::Kind::operand) kept_.insert(operand.number);
        for (const PtxOperand& part : operand.parts) keep(part);
    }

    // A wgmma's results arrive later: it gets the variables themselves.
    void find_accumulators() {
        for (const PtxStatement& each : ptx_) {
            if (each.kind != Kind::instruction) continue;
            has_instructions_ = true;
            if (!is_wgmma(each)) continue;
            if (each.operands.empty() || each.operands[0].kind != PtxOperand::Kind::list)
                throw PtxError("a wgmma.mma_async whose first operand is no list of accumulators");
            for (const PtxOperand& part : each.operands[0].parts) {
                const bool is_output = part.kind == PtxOperand::Kind::operand &&
                                       part.number < asm_.operands.size() &&
                                       asm_.operands[part.number].is_output;
                if (!is_output) {
                    throw PtxError("wgmma's accumulator '" + part.text +
                                   "': each must be an output of the asm, such as \"+f\"(d[0])");
                }
                accumulators_.insert(part.number);
            }
        }
    }
    static bool is_wgmma(const PtxStatement& instruction) {
        const std::vector<std::string>& opcode = instruction.opcode;
        return opcode.size() > 1 && opcode[0] == "wgmma" && opcode[1] == "mma_async";
    }

    std::string name_of(const std::string& name) const {
        for (size_t i = around_.size(); i-- > 0;) {
            const auto found = names_.find({around_[i], without_percent(name)});
            if (found != names_.end()) return found->second;
        }
        throw PtxError("'" + name + "' is declared nowhere in it");
    }

    std::string body_of_all() {
        std::string body;
        size_t scopes = 0;
        around_ = {0};
        const bool carries = std::any_of(ptx_.begin(), ptx_.end(), [](const PtxStatement& each) {
            return each.kind == Kind::instruction && uses_carry(each.opcode);
        });
        if (carries) registers_ += kPtx + "Carry cpu_device_carry; ";
        for (const PtxStatement& each : ptx_) {
            if (each.kind == Kind::open) around_.push_back(++scopes);
            if (each.kind == Kind::close) around_.pop_back();
            if (each.kind == Kind::label)
                body += name_of(each.name) + ": __attribute__((unused)); ";
            if (each.kind == Kind::instruction) body += guarded(each);
        }
        return body;
    }

    std::string guarded(const PtxStatement& instruction) const {
        std::string guard;
        if (!instruction.guard.empty()) {
            guard = std::string("if (") + (instruction.is_negated ? "!" : "") +
                    name_of(instruction.guard) + ") ";
        }
        return guard + "{ " + call_of(instruction) + "; } ";
    }

    std::string call_of(const PtxStatement& instruction) const {
        const std::vector<std::string>& opcode = instruction.opcode;
        const size_t count = parts_of_name(opcode);
        if (count == 0) {
            std::string shown;
            for (const std::string& part : opcode) shown += (shown.empty() ? "" : ".") + part;
            throw PtxError("the instruction '" + shown + "'");
        }
        if (opcode[0] == "bra") {
            if (instruction.operands.size() != 1) throw PtxError("a 'bra' without its one label");
            return "goto " + name_of(instruction.operands[0].text);
        }
        std::string call = kPtx + "op", modifiers, operands;
        for (size_t i = 0; i < opcode.size(); ++i) {
            if (i < count) {
                call += "_" + word_of(opcode[i]);
            } else {
                modifiers += (i > count ? ", " : "") + kPtx + "dot_" + word_of(opcode[i]);
            }
        }
        const bool of_constants = takes_constants(opcode), of_integers = reads_integers(opcode);
        const auto add_operand = [&](const PtxOperand& operand) {
            const bool is_float =
                operand.kind == PtxOperand::Kind::single || operand.kind == PtxOperand::Kind::real;
            operands += (operands.empty() ? "" : ", ") +
                        (is_float && of_integers ? kPtx + "FloatForInteger{}"
                         : of_constants          ? constant_or(operand)
                                                 : text_of_operand(operand));
        };
        if (is_wgmma(instruction)) {
            std::for_each(instruction.operands.begin() + 1, instruction.operands.end(),
                          add_operand);
            operands = kPtx + "list(" + operands + ")";
            for (const PtxOperand& each : instruction.operands[0].parts) {
                operands += ", " + kPtx + "accumulator<" + constraint_of(each.number) +
                            ">(cpu_device_o" + std::to_string(each.number) + ")";
            }
        } else {
            std::for_each(instruction.operands.begin(), instruction.operands.end(), add_operand);
        }
        if (uses_carry(opcode)) operands += ", cpu_device_carry";
        return call + "<" + kPtx + "mods<" + modifiers + ">>(" + operands + ")";
    }

    // An immediate as a type, for the compiler to judge; any other operand as it is.
    std::string constant_or(const PtxOperand& operand) const {
        using Of = PtxOperand::Kind;
        const bool is_constant = operand.kind == Of::operand &&
                                 operand.number < asm_.operands.size() &&
                                 asm_.operands[operand.number].constraint == "n";
        if (is_constant) return kPtx + "Constant<" + text_of_operand(operand) + ".value>{}";
        if (operand.kind != Of::integer && operand.kind != Of::parameter)
            return text_of_operand(operand);
        return kPtx + "Constant<" + text_of_operand(operand) + ".value>{}";
    }

    std::string list_of(const PtxOperand& operand, const std::string& function) const {
        std::string parts;
        for (const PtxOperand& each : operand.parts)
            parts += (parts.empty() ? "" : ", ") + text_of_operand(each);
        return kPtx + function + "(" + parts + ")";
    }

    std::string text_of_operand(const PtxOperand& operand) const {
        using Of = PtxOperand::Kind;
        switch (operand.kind) {
            case Of::operand:
                if (operand.number >= asm_.operands.size()) {
                    throw PtxError("'" + operand.text + "', and it has " +
                                   std::to_string(asm_.operands.size()) + " operands");
                }
                if (accumulators_.count(operand.number) != 0) {
                    throw PtxError("'" + operand.text +
                                   "' is an accumulator of its wgmma, which is not there before "
                                   "wgmma.wait_group");
                }
                return register_of(operand.number);
            case Of::name:
                if (operand.text == "WARP_SZ") return kPtx + "Integer{32}";
                return name_of(operand.text);
            case Of::special:
                for (size_t i = around_.size(); i-- > 0;) {  // one of its own
                    const auto found = names_.find({around_[i], operand.text});
                    if (found != names_.end()) return found->second;
                }
                if (!is_special_register(operand.text))
                    throw PtxError("the register %" + operand.text);
                return kPtx + "special_" + word_of(operand.text) + "()";
            case Of::integer:
                return kPtx + "Integer{static_cast<long long>(" + operand.text +
                       (operand.text[0] == '-' ? "ll" : "ull") + ")}";
            case Of::single:
                return kPtx + "Single{0x" + operand.text + "u}";
            case Of::real:
                if (operand.text.compare(0, 2, "0x") == 0)
                    return kPtx + "Double{" + operand.text + "ull}";
                return kPtx + "real(" + operand.text + ")";
            case Of::list:
                return list_of(operand, "list");
            case Of::address:
                return list_of(operand, "at");
            case Of::sum:
                return list_of(operand, "sum");
            case Of::pair:
                return list_of(operand, "pair");
            case Of::negated:
                return "!" + text_of_operand(operand.parts[0]);
            case Of::opposite:
                return list_of(operand, "opposite");
            case Of::selected: {
                std::string digits;
                for (const char c : operand.text.substr(1)) digits += std::string(", ") + c;
                return list_of(operand,
                               "selected<'" + operand.text.substr(0, 1) + "'" + digits + ">");
            }
            case Of::sink:
                return kPtx + "Sink{}";
            case Of::parameter:
                return kPtx + "Integer{static_cast<long long>(" + operand.text + ")}";
        }
        return {};
    }

    const Tokens& tokens_;
    const Statement& asm_;
    const std::vector<PtxStatement> ptx_;
    std::vector<Edits::Piece> pieces_;
    std::string labels_, registers_;
    std::map<std::pair<size_t, std::string>, std::string> names_;
    std::vector<size_t> around_;
    std::set<size_t> kept_, accumulators_;
    bool has_instructions_ = false;
};

// The host's own assembler: its instructions have no suffixes behind a dot, and need no ';'.
bool is_like_ptx(const std::string& text) {
    try {
        const auto statements = read_ptx(text, false);
        return !statements.empty() &&
               std::all_of(statements.begin(), statements.end(), [](const PtxStatement& each) {
                   return each.kind != PtxStatement::Kind::instruction || each.opcode.size() > 1 ||
                          each.opcode[0] == "trap" || each.opcode[0] == "exit";
               });
    } catch (const PtxError&) {
        return false;
    }
}

// What stops the compiler, but only where the program uses the function that this stands in: library headers have
// wrappers of every instruction.
std::string refusal(const PtxError& error) {
    std::string why = error.what();
    for (char& c : why) {
        if (c == '\\' || c == '"' || c == '\n' || c == kParameter) c = ' ';
    }
    // Its call must stay until the compiler comes to it: a function that does nothing goes before.
    return "do { struct Inline_ptx { __attribute__((noinline, error(\"inline PTX that the CPU "
           "device "
           "does not know: " +
           why + "\"))) static void unknown() { asm volatile(\"\"); } }; " +
           "Inline_ptx::unknown(); } while (0)";
}

// A statement with #if inside becomes one statement a branch, with the directives around them: g++ then chooses, as nvcc's
// preprocessor would.
class BranchWriter {
public:
    // `statement` is where all of its tokens lie, those of every branch.
    BranchWriter(const Region& region, Range statement, const std::vector<Region>& all,
                 const Edits& edits)
        : region_(region), all_(all), line_(edits.line(region.tokens[statement.begin].begin)) {
        for (size_t i = statement.begin; i < statement.end; ++i) {
            for (const Conditional& each : region.conditionals) {
                if (each.token == i && i > statement.begin) whole_.push_back({0, &each});
            }
            whole_.push_back({i, nullptr});
        }
    }

    bool has_branches() const {
        return std::any_of(whole_.begin(), whole_.end(),
                           [](const Part& part) { return part.directive != nullptr; });
    }

    std::vector<Edits::Piece> run() {
        expand(whole_);
        return std::move(pieces_);
    }

private:
    // A token, or a directive.
    struct Part {
        size_t token;
        const Conditional* directive;
    };
    using Parts = std::vector<Part>;

    // Writes what `parts` is for every outcome of its directives.
    void expand(const Parts& parts) {
        const auto is_directive = [](const Part& part) { return part.directive != nullptr; };
        const auto open = std::find_if(parts.begin(), parts.end(), is_directive);
        if (open == parts.end()) return write(parts);
        std::vector<Parts::const_iterator> of_block;
        int depth = 0;
        for (auto part = open; part != parts.end(); ++part) {
            if (!is_directive(*part)) continue;
            const Conditional::Kind kind = part->directive->kind;
            if (kind == Conditional::Kind::open) ++depth;
            if (depth == 1) of_block.push_back(part);
            if (kind == Conditional::Kind::close && --depth == 0) break;
        }
        if (depth != 0 || open->directive->kind != Conditional::Kind::open)
            throw PtxError("an #if that is not whole inside of it");
        bool has_else = false;
        for (size_t i = 0; i + 1 < of_block.size(); ++i) {
            direct(*of_block[i]->directive);
            has_else = of_block[i]->directive->word == "else";
            expand_with(parts, open, {of_block[i] + 1, of_block[i + 1]}, of_block.back());
        }
        if (!has_else) {
            direct("else");
            expand_with(parts, open, {}, of_block.back());
        }
        direct("endif");
    }

    // The block from `open` to `close` is one of its branches.
    void expand_with(const Parts& parts, Parts::const_iterator open, const Parts& branch,
                     Parts::const_iterator close) {
        Parts chosen(parts.begin(), open);
        chosen.insert(chosen.end(), branch.begin(), branch.end());
        chosen.insert(chosen.end(), close + 1, parts.end());
        expand(chosen);
    }

    void direct(const Conditional& directive) {
        if (directive.condition.empty()) return direct(directive.word);
        pieces_.push_back({"\n#" + directive.word + " ", directive.condition.front().begin,
                           directive.condition.back().end});
    }
    void direct(const std::string& word) {
        pieces_.push_back({"\n#" + word + "\n#line " + std::to_string(line_) + "\n", 0, 0});
    }

    void write(const Parts& parts) {
        constexpr size_t kMost = 64;
        if (++written_ > kMost) throw PtxError("more than 64 branches of #if inside of it");
        Region branch;
        for (const Part& part : parts) branch.tokens.push_back(region_.tokens[part.token]);
        try {
            const auto statement = StatementReader(branch, all_).read(0);
            if (!statement) throw PtxError("an #if between asm and its text");
            for (const Statement::Operand& operand : statement->operands)
                check_is_whole(branch.tokens, operand.value);
            for (Edits::Piece& piece : Writer(branch.tokens, *statement).run())
                pieces_.push_back(std::move(piece));
        } catch (const PtxError& error) {
            pieces_.push_back({refusal(error), 0, 0});
        }
    }

    void check_is_whole(const Tokens& tokens, Range value) const {
        if (value.begin == value.end) return;
        const bool is_cut = std::any_of(whole_.begin(), whole_.end(), [&](const Part& part) {
            return part.directive != nullptr && part.directive->begin > tokens[value.begin].begin &&
                   part.directive->begin < tokens[value.end - 1].begin;
        });
        if (is_cut) throw PtxError("an #if inside of an operand");
    }

    const Region& region_;
    const std::vector<Region>& all_;
    const size_t line_;
    Parts whole_;
    std::vector<Edits::Piece> pieces_;
    size_t written_ = 0;
};

bool translate_statement(const Region& region, size_t at, const std::vector<Region>& all,
                         bool on_device, Edits& edits) {
    const Tokens& tokens = region.tokens;
    bool is_ptx = on_device;
    try {
        const StatementReader reader(region, all);
        const auto extent = reader.extent(at);
        if (!extent) return false;
        const size_t begin = tokens[at].begin, end = tokens[extent->end - 1].end;
        BranchWriter branches(region, *extent, all, edits);
        if (branches.has_branches()) {
            if (!on_device) return false;
            edits.replace(begin, end, branches.run(), false);
            return true;
        }
        const Statement statement = *reader.read(at);
        is_ptx = is_ptx || is_like_ptx(statement.text);
        if (!is_ptx) return false;
        edits.replace(begin, end, Writer(tokens, statement).run(), region.is_macro);
        return true;
    } catch (const PtxError& error) {
        if (!is_ptx) return false;
        edits.insert(tokens[at].begin, refusal(error) + "; ");
        return false;
    }
}

// A macro whose parameters are parts of the text: "mma" SHAPE ".f16 ...", called with "m16n8k16". Each set of literals that
// it is called with gets a macro of its own in front of it, which those calls then name.
class TextParameters {
public:
    TextParameters(const Region& macro, const std::vector<Region>& all)
        : macro_(macro), all_(all), reader_(macro, all) {
        if (!macro.is_macro || !macro.has_parameters) return;
        for (size_t i = 0; i < macro.tokens.size(); ++i) {
            if (!is_one_of(macro.tokens[i], {"asm", "__asm__", "__asm"})) continue;
            const auto statement = reader_.extent(i);
            if (!statement) continue;
            statements_.push_back(*statement);
            const Range text = reader_.text_at(*statement);
            for (size_t at = text.begin; at < text.end; ++at) {
                if (macro.tokens[at - 1].text == "#") continue;
                const auto found = std::find(macro.parameters.begin(), macro.parameters.end(),
                                             macro.tokens[at].text);
                if (found != macro.parameters.end())
                    places_.push_back({at, static_cast<size_t>(found - macro.parameters.begin())});
            }
        }
    }

    // Returns whether there are such calls.
    bool run(Edits& edits) {
        if (places_.empty()) return false;
        for (const Region& region : all_) {
            for (size_t i = 0; i + 1 < region.tokens.size(); ++i) {
                const Token& name = region.tokens[i];
                if (name.text != macro_.name || region.tokens[i + 1].text != "(") continue;
                if (const auto number = number_of_call(region, i + 1, edits))
                    edits.replace(name.begin, name.end, name_of(*number));
            }
        }
        return !known_.empty();
    }

private:
    struct Place {
        size_t token, parameter;
    };

    std::string name_of(size_t number) const {
        return macro_.name + "_cpu_device_" + std::to_string(number);
    }

    // Of the macro for the call's literals; nothing where it passes anything else.
    std::optional<size_t> number_of_call(const Region& region, size_t open, Edits& edits) {
        const Tokens& tokens = region.tokens;
        const auto close = matching_close(tokens, open);
        if (!close) return {};
        std::vector<Tokens> arguments(1);
        for (size_t i = open + 1; i < *close; ++i) {
            if (tokens[i].text == ",") {
                arguments.emplace_back();
                continue;
            }
            const size_t last = is_open(tokens[i]) ? matching_close(tokens, i).value_or(i) : i;
            for (; i < last; ++i) arguments.back().push_back(tokens[i]);
            arguments.back().push_back(tokens[i]);
        }
        std::string literals;
        for (const Place& place : places_) {
            if (place.parameter >= arguments.size()) return {};
            for (const Token& token : arguments[place.parameter]) {
                if (!reader_.is_literal(token)) return {};
                literals += token.text + " ";
            }
            literals += ",";
        }
        const auto [found, is_new] = known_.try_emplace(literals, known_.size());
        if (is_new) define(found->second, arguments, edits);
        return found->second;
    }

    void define(size_t number, const std::vector<Tokens>& arguments, Edits& edits) const {
        Region one;
        one.is_macro = true;
        std::vector<size_t> begins;  // where each token went
        for (size_t i = 0; i < macro_.tokens.size(); ++i) {
            begins.push_back(one.tokens.size());
            const auto place = std::find_if(places_.begin(), places_.end(),
                                            [&](const Place& each) { return each.token == i; });
            if (place == places_.end()) {
                one.tokens.push_back(macro_.tokens[i]);
            } else {
                const Tokens& literals = arguments[place->parameter];
                one.tokens.insert(one.tokens.end(), literals.begin(), literals.end());
            }
        }
        begins.push_back(one.tokens.size());
        std::string body;
        size_t written = 0;
        for (const Range& each : statements_) {
            const size_t begin = begins[each.begin];
            body += text_of(one.tokens, {written, begin}) + " ";
            try {
                const auto statement = StatementReader(one, all_).read(begin);
                for (const Edits::Piece& piece : Writer(one.tokens, *statement).run())
                    body += piece.text + text_between(piece);
            } catch (const PtxError& error) {
                body += refusal(error);
            }
            written = begins[each.end];
        }
        body += text_of(one.tokens, {written, one.tokens.size()});
        std::string parameters;
        for (const std::string& name : macro_.parameters)
            parameters += (parameters.empty() ? "" : ", ") + name;
        edits.insert(macro_.begin, "#define " + name_of(number) + "(" + parameters + ") " + body +
                                       "\n#line " + std::to_string(edits.line(macro_.begin)) +
                                       "\n");
    }

    std::string text_between(const Edits::Piece& piece) const {
        Tokens tokens;
        for (const Token& token : macro_.tokens) {
            if (token.begin >= piece.begin && token.end <= piece.end) tokens.push_back(token);
        }
        return text_of(tokens, {0, tokens.size()});
    }

    const Region& macro_;
    const std::vector<Region>& all_;
    const StatementReader reader_;
    std::vector<Range> statements_;
    std::vector<Place> places_;
    std::map<std::string, size_t> known_;
};

}  // namespace

bool translate_assembly(const Region& region, const std::vector<Region>& all, Edits& edits) {
    bool any = TextParameters(region, all).run(edits);
    const std::vector<Place> places = places_of(region);
    for (size_t i = 0; i < region.tokens.size(); ++i) {
        if (!is_one_of(region.tokens[i], {"asm", "__asm__", "__asm"})) continue;
        const bool on_device = places[i].in_device_function;
        any = translate_statement(region, i, all, on_device, edits) || any;
    }
    return any;
}

}  // namespace translate
