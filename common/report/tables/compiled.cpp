// SPDX-License-Identifier: MIT
#include "common/io/table.hpp"
#include "common/records/compile_costs.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {

std::string compiled(const Source& source) {
    return compiled(source.expected(records::kCompileCost));
}

std::string compiled(const std::filesystem::path& path) {
    const records::CompileCosts costs = records::read_compile_costs(path);
    std::string text = head_of({"instantiated", "kernels", "seconds of nvcc", "kB of object file"});
    for (const records::CompileCost& cost : costs.all) {
        text += row_of({cost.calls, std::to_string(cost.kernels), io::number(cost.seconds, 1),
                        io::number(cost.bytes / 1000, 0)});
    }
    return text + "\nnvcc " + costs.nvcc + ", for sm_90a.\n";
}

}  // namespace report
