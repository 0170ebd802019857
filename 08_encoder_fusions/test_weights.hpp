// SPDX-License-Identifier: MIT
// Runs an encoder as `run --weights` does: from files of weights and states to a file.
#pragma once
#include <string>
#include <vector>

#include "common/operations/encoder/tests/saved_bert.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/redirected.hpp"

runner::Stage describe_08_encoder_fusions();

namespace encoder_tests {

// Two sequences of three tokens of 64 numbers.
struct RunFromFiles {
    RunFromFiles() {
        folder.write("config.json", R"({"num_attention_heads": 4})");
        std::vector<double> x;
        for (int i = 0; i < 2 * 3 * 64; ++i) x.push_back((i * i + 3 * i) % 29 / 16. - 1);
        runner::write_npy(folder.path / "x.npy", {2, 3, 64}, x, runner::ElementType::float32);
        options.stages = {"08"};
        options.input_file = folder.path / "x.npy";
        options.weights = folder.path / "model.safetensors";
        options.save_output = folder.path / "y.npy";
        options.out = folder.path / "results";
    }
    void save(const SavedBert& saved) const { folder.write("model.safetensors", saved.bytes()); }
    // Returns y.
    std::vector<double> run(const std::string& variant) {
        options.variant = variant;
        {
            const Redirected redirected(folder.path / "printed");
            REQUIRE(runner::run({describe_08_encoder_fusions()}, options) == runner::kGood);
        }
        INFO(folder.read("printed"));
        const runner::Array y = runner::read_npy(folder.path / "y.npy");
        CHECK(y.shape == std::vector<int64_t>{2, 3, 64});
        return y.values;
    }

    const Folder folder;
    runner::RunOptions options;
};

}  // namespace encoder_tests
