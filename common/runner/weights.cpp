// SPDX-License-Identifier: MIT
#include "common/runner/weights.hpp"

namespace runner {

WeightedStages::WeightedStages(const std::vector<Stage>& all, const RunOptions& options) {
    if (options.input_file.empty())
        throw UsageError("--weights wants something to run on: --input FILE.npy");
    std::string known;
    for (const Stage* stage : chosen_stages(all, options.stages)) {
        Stage chosen = *stage;
        chosen.variants.clear();
        chosen.baseline.reset();
        for (const Variant& variant : stage->variants) {
            const auto* const takes = dynamic_cast<const TakesWeights*>(variant.operation);
            if (takes == nullptr) continue;
            known += " " + variant.name;
            if (!options.variant.empty() && options.variant != variant.name) continue;
            operations.push_back(takes->with_weights(options.weights, options.lengths));
            chosen.variants = {variant};
            chosen.variants.front().operation = operations.back().get();
        }
        if (!chosen.variants.empty()) stages.push_back(std::move(chosen));
    }
    if (!stages.empty()) return;
    throw UsageError("--weights: nothing that was chosen takes weights" +
                     (known.empty() ? "; stage 08 does" : "; here are:" + known));
}

}  // namespace runner
