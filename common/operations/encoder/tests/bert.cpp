// SPDX-License-Identifier: MIT
// Weights under Hugging Face's names: what an encoder makes of them, and of files that hold something else.
#include "common/operations/encoder/bert.hpp"

#include <functional>

#include "common/operations/encoder/tests/saved_bert.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

using namespace operations::encoder;
using encoder_tests::SavedBert;

// What is said of a BERT that was saved so, run on 2 sequences of 3 tokens.
std::string complaint(const SavedBert& saved, const std::string& config = "{}",
                      const std::vector<int64_t>& lengths = {}, int64_t hidden = 64) {
    const Folder folder;
    folder.write("model.safetensors", saved.bytes());
    folder.write("config.json", config);
    try {
        const Bert bert(folder.path / "model.safetensors");
        const Shape shape = bert.shape({2, 3, hidden}, lengths);
        for (const Parameter& each : parameters_of(shape)) bert.read(each.name);
    } catch (const runner::FileError& error) {
        return error.what();
    } catch (const runner::UsageError& error) {
        return error.what();
    }
    return "accepted";
}

SavedBert changed(const std::function<void(SavedBert&)>& change) {
    SavedBert saved;
    change(saved);
    return saved;
}

}  // namespace

TEST_CASE("a BERT's weights are found under all of their names") {
    std::vector<std::vector<double>> found;
    for (const char* prefix : {"", "bert."}) {
        for (const bool old_names : {false, true}) {
            SavedBert saved;
            saved.prefix = prefix;
            saved.old_names = old_names;
            const Folder folder;
            folder.write("model.safetensors", saved.bytes());
            folder.write(
                "config.json",
                R"({"num_attention_heads": 4, "hidden_act": "gelu_new", "layer_norm_eps": 1e-5})");
            const Bert bert(folder.path / "model.safetensors");
            const Shape shape = bert.shape({2, 3, 64}, {3, 1});
            CHECK(runner::word_of(shape) ==
                  "2x3x4x16,epsilon=1e-05,inner=96,layers=2,tanh=1,tokens=4");
            std::vector<double> all;
            for (const Parameter& each : parameters_of(shape)) {
                const std::vector<double> values = bert.read(each.name);
                all.insert(all.end(), values.begin(), values.end());
            }
            found.push_back(all);
        }
    }
    for (const std::vector<double>& each : found) CHECK(each == found.front());
    // Of layer 1 the keys' weights lie behind the queries'.
    const Folder folder;
    folder.write("model.safetensors", SavedBert().bytes());
    const Bert bert(folder.path / "model.safetensors");
    CHECK(bert.read("qkv_weight").at((3 + 1) * 64 * 64 + 5) ==
          SavedBert::value("1.attention.self.key.weight", 5));
    CHECK(bert.shape({2, 3, 64}, {}).heads == 1);  // of 64 numbers, if nobody says otherwise
}

TEST_CASE("what is no BERT, or no input for it, gets one clear line") {
    CHECK(complaint({}) == "accepted");
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.prefix = "roberta."; })),
               ContainsSubstring("no weights of a BERT"));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.without = "1.output.dense.bias"; })),
               ContainsSubstring("no tensor 'encoder.layer.1.output.dense.bias'"));
    CHECK_THAT(
        complaint(changed([](SavedBert& s) { s.without = "0.attention.self.query.weight"; })),
        ContainsSubstring("no weights of a BERT"));
    CHECK_THAT(
        complaint(changed([](SavedBert& s) { s.without = "1.attention.self.query.weight"; })),
        ContainsSubstring("it has a layer 1, and no "));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.transposed = true; })),
               ContainsSubstring("has shape [64, 96]; [96, 64] is wanted"));
    CHECK_THAT(complaint({}, "{}", {}, 48), ContainsSubstring("are for hidden states of 64"));
    CHECK_THAT(complaint({}, R"({"num_attention_heads": 5})"), ContainsSubstring("are no 5 heads"));
    CHECK_THAT(complaint({}, R"({"num_attention_heads": 0})"), ContainsSubstring("are no 0 heads"));
    CHECK_THAT(complaint({}, R"({"num_attention_heads": "x"})"),
               ContainsSubstring("config.json: its num_attention_heads"));
    CHECK_THAT(complaint({}, R"({"hidden_act": "mish"})"), ContainsSubstring("'mish'"));
    CHECK_THAT(complaint({}, R"({"layer_norm_eps": -1})"), ContainsSubstring("layer_norm_eps"));
    CHECK_THAT(complaint({}, "[1]"), ContainsSubstring("no JSON object"));
    CHECK_THAT(complaint({}, "{"), ContainsSubstring("no JSON object"));
    CHECK_THAT(complaint({}, "{}", {3}), ContainsSubstring("1 lengths for 2 sequences"));
    CHECK_THAT(complaint({}, "{}", {3, 4}), ContainsSubstring("4 tokens in sequences of 3"));
    CHECK_THAT(complaint({}, "{}", {0, 0}), ContainsSubstring("no sequence has a token"));
}
