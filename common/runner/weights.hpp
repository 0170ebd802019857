// SPDX-License-Identifier: MIT
// Runs on what a user has trained: operations whose inputs, but for the first, can come from a file of weights.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"

namespace runner {

class TakesWeights {
public:
    virtual ~TakesWeights() = default;

    // The same operation with the weights of a saved model (Checkpoint): its shape_of_array() and complete() are
    // theirs. lengths: of the sequences of a batch, none where all are full. FileError for files without these weights.
    virtual std::unique_ptr<Operation> with_weights(const std::string& path,
                                                    const std::vector<int64_t>& lengths) const = 0;
};

// Of the stages that were chosen those variants that take the weights that options name: the one that options name,
// or of each stage the last. UsageError where there is none, or no input file.
struct WeightedStages {
    WeightedStages(const std::vector<Stage>& all, const RunOptions& options);

    std::vector<Stage> stages;
    std::vector<std::unique_ptr<Operation>> operations;
};

}  // namespace runner
