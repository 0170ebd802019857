// SPDX-License-Identifier: MIT
//
// What was counted of several variants, on one screen.
#include <algorithm>
#include <map>
#include <set>

#include "causes.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "kernel_page.hpp"
#include "report.hpp"
#include "report_words.hpp"
#include "source_lines.hpp"

namespace xray {
namespace {

constexpr double kMoreThanAsked = 1.05;

Counts in_global_memory(const CountedVariant& counted) {
    Counts counts = total(counted.kernels, AccessKind::global_load);
    counts += total(counted.kernels, AccessKind::global_store);
    return counts;
}

std::string number_of(const std::string& stage) {
    return stage.substr(0, stage.find('_'));
}

// Three digits of what was declared are enough to see whether it was counted.
std::string beside(double counted, double declared) {
    constexpr double kThreeDigits = 1000;
    return format(declared < kThreeDigits ? "%.2f/%.3g" : "%.2f/%.0f", counted, declared);
}

bool is_as_declared(const CountedVariant& counted) {
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    return format("%.2f %.2f", declared.loads, declared.stores) ==
           format("%.2f %.2f", found.loads, found.stores);
}

std::string hazards_of(const CountedVariant& counted) {
    std::string text;
    for (const KernelCounts& kernel : counted.kernels)
        text += hazards_text(kernel, counted.sources);
    return text;
}

size_t hazards_in(const CountedVariant& counted) {
    size_t sum = 0;
    for (const KernelCounts& kernel : counted.kernels)
        sum += causes_of(kernel.races).size() + kernel.uninitialized_reads.size();
    return sum;
}

size_t hazards_in(const std::vector<CountedVariant>& all) {
    size_t sum = 0;
    for (const CountedVariant& each : all) sum += hazards_in(each);
    return sum;
}

// What is wrong with a variant, or was not looked at; empty where nothing is.
std::string wrong_with(const CountedVariant& counted) {
    std::string text = hazards_of(counted);
    if (!traffic_agrees(counted)) text += "  " + declared_text(counted);
    if (text.empty()) return {};
    return line_of_page(counted.stage + "/" + counted.variant->name) + text;
}

// Which rows are kept first where there is no room for all.
enum class Weight { wrong, notable, plain };

Weight weight_of(const CountedVariant& counted) {
    if (hazards_in(counted) != 0 || !traffic_agrees(counted)) return Weight::wrong;
    if (counted_conflicts(counted) != 0 || !is_as_declared(counted) ||
        moved_per_byte_asked(in_global_memory(counted)) > kMoreThanAsked) {
        return Weight::notable;
    }
    return Weight::plain;
}

template <class Value>
bool is_the_same(const std::vector<CountedVariant>& all, Value value) {
    return std::all_of(all.begin(), all.end(), [&](const CountedVariant& each) {
        return value(each) == value(all.front());
    });
}

class Summary {
public:
    Summary(const std::vector<CountedVariant>& all, bool lines)
        : all_(all),
          lines_(lines),
          one_stage_(is_the_same(all, [](const auto& each) { return each.stage; })),
          one_shape_(is_the_same(all, [](const auto& each) { return text_of(each.shape); })),
          one_dtype_(is_the_same(all, [](const auto& each) { return each.dtype; })) {
        for (const CountedVariant& each : all_) {
            weights_[&each] = weight_of(each);
            rows_[&each] = cells_of(each);
        }
    }

    std::string text() const {
        const std::string before = heading(), after = caption() + wrong() + rest();
        // What is wrong is said however long it is, and takes no row from the others.
        const size_t around = height_of(before + caption() + rest()) + 1;
        const size_t most = one_stage_ ? all_.size() - 1 : 0;
        for (size_t dropped = 0; dropped <= most; ++dropped) {
            const std::string middle = rows_but(dropped);
            if (height_of(middle) + around <= kScreenHeight) return before + middle + after;
        }
        return before + rows_of_stages() + after_stages();
    }

private:
    std::string heading() const {
        std::string title = one_stage_ ? all_.front().stage + ", " : "";
        title += std::to_string(all_.size()) + " variants";
        std::string context = one_shape_ ? text_of(all_.front().shape) + ", " : "";
        context += one_dtype_ ? name_of(all_.front().dtype) : "each in its first type";
        context += ", one run";
        const size_t used = title.size() + context.size();
        const std::string between = used < kPageWidth ? std::string(kPageWidth - used, ' ') : "\n";
        return title + between + context + "\n" + std::string(kPageWidth, '-') + "\n";
    }

    std::string name_of_variant(const CountedVariant& counted) const {
        constexpr size_t kWidth = 28;
        return io::printable(
            (one_stage_ ? "" : number_of(counted.stage) + "/") + counted.variant->name, kWidth);
    }

    std::string caption() const {
        if (lines_) {
            return "Each variant's busiest line: that with the most sectors (32 bytes of global\n"
                   "memory) and wavefronts (passes through the banks of shared memory).\n";
        }
        return "loads, stores: of global memory per element, counted/declared; moved: bytes per\n"
               "byte asked for; conflicts: of shared memory's banks.\n";
    }

    std::string wrong() const {
        std::string text;
        for (const CountedVariant& each : all_) text += wrong_with(each);
        if (hazards_in(all_) != 0) return text;
        return text + "No races and no reads of uninitialized memory were found.\n";
    }

    std::string rest() const {
        const std::string stage = one_stage_ ? number_of(all_.front().stage) : "NN";
        return "One page: ./stages xray " + stage +
               " --variant NAME; its lines: --lines; all pages: --all\n";
    }

    // The last of those that matter least.
    std::set<const CountedVariant*> least(size_t count) const {
        std::vector<const CountedVariant*> order;
        for (const CountedVariant& each : all_) order.push_back(&each);
        std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
            return weights_.at(a) < weights_.at(b);
        });
        return {order.end() - static_cast<std::ptrdiff_t>(count), order.end()};
    }

    std::vector<std::string> cells_of(const CountedVariant& counted) const {
        std::vector<std::string> cells = {name_of_variant(counted)};
        constexpr size_t kShapeWidth = 14;
        if (lines_) {
            constexpr size_t kPlaceWidth = 22;
            const std::optional<BusiestLine> line = busiest_line(counted);
            if (!line) return {cells[0], "none", "", "", ""};
            const int64_t requests = is_shared(line->kind) ? counted.compiled(line->counts).requests
                                                           : line->counts.requests;
            return {cells[0], end_of(line->place, kPlaceWidth), word_for(line->kind).plural,
                    grouped(requests), format("x %.2f", ratio(line->work, requests))};
        }
        if (!one_shape_) cells.push_back(io::printable(word_of(counted.shape), kShapeWidth));
        const runner::Traffic declared = counted.declared(), found = counted.traffic();
        cells.push_back(beside(found.loads, declared.loads));
        cells.push_back(beside(found.stores, declared.stores));
        cells.push_back(format("%.2f", moved_per_byte_asked(in_global_memory(counted))));
        cells.push_back(grouped(counted_conflicts(counted)));
        if (hazards_in(all_) != 0) cells.push_back(std::to_string(hazards_in(counted)));
        return cells;
    }

    std::string rows_but(size_t dropped) const {
        using io::Align;
        std::vector<io::Column> columns = {{"variant", 0, Align::left}};
        if (lines_) {
            columns.push_back({"line", 0, Align::left});
            columns.push_back({"", 0, Align::left});
            columns.push_back({"requests", 0, Align::right});
            columns.push_back({"each", 0, Align::right});
        } else {
            if (!one_shape_) columns.push_back({"shape", 0, Align::left});
            for (const char* title : {"loads", "stores", "moved", "conflicts"})
                columns.push_back({title, 0, Align::right});
            if (hazards_in(all_) != 0) columns.push_back({"hazards", 0, Align::right});
        }
        io::Table table(columns);
        const std::set<const CountedVariant*> left_out = least(dropped);
        std::string names;
        for (const CountedVariant& each : all_) {
            if (left_out.count(&each) == 0) {
                table.row(rows_.at(&each));
            } else {
                names += (names.empty() ? " " : ", ") + io::printable(each.variant->name);
            }
        }
        if (dropped == 0) return table.text();
        const bool plain = std::all_of(left_out.begin(), left_out.end(), [&](const auto* each) {
            return weights_.at(each) == Weight::plain;
        });
        return table.text() +
               io::wrapped("  " + std::to_string(dropped) + " more" +
                           (plain ? ", as declared and without conflicts:" : ":") + names) +
               "\n";
    }

    std::string rows_of_stages() const {
        io::Table table({{"stage", 0, io::Align::left},
                         {"variants", 0, io::Align::right},
                         {"conflicts in", 0, io::Align::right},
                         {"moved > asked in", 0, io::Align::right},
                         {"wrong", 0, io::Align::right}});
        struct Sum {
            int variants = 0, conflicts = 0, moved = 0, wrong = 0;
        };
        std::map<std::string, Sum> stages;
        for (const CountedVariant& each : all_) {
            Sum& sum = stages[each.stage];
            ++sum.variants;
            sum.conflicts += counted_conflicts(each) != 0;
            sum.moved += moved_per_byte_asked(in_global_memory(each)) > kMoreThanAsked;
            sum.wrong += weights_.at(&each) == Weight::wrong;
        }
        for (const auto& [stage, sum] : stages) {
            table.row({stage, std::to_string(sum.variants), std::to_string(sum.conflicts),
                       std::to_string(sum.moved), std::to_string(sum.wrong)});
        }
        return table.text();
    }

    std::string after_stages() const {
        return "conflicts: of shared memory's banks; moved: bytes of global memory.\n" + wrong() +
               "One stage: ./stages xray NN. Every page: --all.\n";
    }

    const std::vector<CountedVariant>& all_;
    bool lines_, one_stage_, one_shape_, one_dtype_;
    std::map<const CountedVariant*, Weight> weights_;
    std::map<const CountedVariant*, std::vector<std::string>> rows_;
};

}  // namespace

std::string summary_of(const std::vector<CountedVariant>& all, bool lines) {
    return Summary(all, lines).text();
}

}  // namespace xray
