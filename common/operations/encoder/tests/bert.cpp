// SPDX-License-Identifier: MIT
// Weights under Hugging Face's names: what an encoder makes of them, and of files that hold something else.
#include "common/operations/encoder/bert.hpp"

#include <cmath>
#include <functional>

#include "common/operations/encoder/tests/saved_bert.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

using namespace operations::encoder;
using encoder_tests::SavedBert;

constexpr const char* kConfig = R"({"num_attention_heads": 4})";

// What is said of the file or folder at that path, run on 2 sequences of 3 tokens.
std::string complaint_about(const std::string& path, const std::vector<int64_t>& lengths = {},
                            int64_t hidden = 64) {
    try {
        const Bert bert(path);
        const Shape shape = bert.shape({2, 3, hidden}, lengths);
        for (const Parameter& each : parameters_of(shape)) bert.read(each.name);
    } catch (const runner::FileError& error) {
        return error.what();
    } catch (const runner::UsageError& error) {
        return error.what();
    }
    return "accepted";
}

std::string complaint(const SavedBert& saved, const std::string& config = kConfig,
                      const std::vector<int64_t>& lengths = {}, int64_t hidden = 64) {
    const Folder folder;
    folder.write("model.safetensors", saved.bytes());
    folder.write("config.json", config);
    return complaint_about(folder.path / "model.safetensors", lengths, hidden);
}

// Of a config.json with that entry beside the heads.
std::string complaint_about_entry(const std::string& entry, const SavedBert& saved = {}) {
    return complaint(saved, "{\"num_attention_heads\": 4, " + entry + "}");
}

SavedBert changed(const std::function<void(SavedBert&)>& change) {
    SavedBert saved;
    change(saved);
    return saved;
}

}  // namespace

TEST_CASE("a BERT's weights are found under all of their names") {
    std::vector<std::vector<double>> found;
    for (const char* prefix : {"", "bert.", "roberta.", "electra.", "module.bert.", "model.",
                               "_orig_mod.module.roberta."}) {
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
    // Layer 1 has its keys' weights after the queries'.
    const Folder folder;
    folder.write("model.safetensors", SavedBert().bytes());
    folder.write("config.json", kConfig);
    const Bert bert(folder.path / "model.safetensors");
    CHECK(bert.read("qkv_weight").at((3 + 1) * 64 * 64 + 5) ==
          SavedBert::value("1.attention.self.key.weight", 5));
}

TEST_CASE("a BERT's matrices are read in 8 bits, with their scales") {
    using runner::ElementType;
    const auto of = [](const std::string& type, float largest) {
        SavedBert saved;
        saved.type = type;
        saved.largest = largest;
        return saved;
    };
    const auto with = [&](const std::function<void(SavedBert&)>& change,
                          const std::function<void(const Bert&)>& look) {
        SavedBert saved = of("I8", 127);
        change(saved);
        const Folder folder;
        folder.write("model.safetensors", saved.bytes());
        folder.write("config.json", kConfig);
        look(Bert(folder.path / "model.safetensors"));
    };
    // Values are elements times scales; row 130 of layer 1 is row 2 of its values' weights.
    constexpr size_t kRow = 3 * 64 + 130;
    const double element = of("I8", 127).element("1.attention.self.value.weight", 2 * 64 + 7, 64);
    with([](SavedBert&) {},
         [&](const Bert& bert) {
             const std::vector<double> values = bert.read("qkv_weight");
             CHECK(values.size() == size_t{2} * 3 * 64 * 64);
             CHECK(values[kRow * 64] == 127 * 3. / 1024);
             CHECK(values[kRow * 64 + 7] == element * 3 / 1024);
             const std::vector<float> steps = bert.steps_of_rows("qkv_weight", ElementType::int8);
             CHECK(steps.size() == size_t{2} * 3 * 64);
             CHECK(steps[kRow] == 3.f / 1024);
             CHECK(bert.steps_of_rows("qkv_weight", ElementType::float8_e4m3) ==
                   std::vector<float>(steps.size(), 0.f));
             CHECK(bert.steps_of_tensors(ElementType::int8) ==
                   std::vector<float>(2 * kRounded, 0.f));
         });
    with(
        [](SavedBert& s) {
            s.has_one_scale = true;
            s.input_scale = 0.5f;
            s.output_scale = 2;
            s.without = "1.output.dense.output_scale";
        },
        [&](const Bert& bert) {
            CHECK(bert.read("qkv_weight")[kRow * 64 + 7] == element / 1024);
            std::vector<float> wanted;
            for (int i = 0; i < 2 * kRounded; ++i)
                wanted.push_back(i % kRounded < kQkvResult ? 0.5f : 2.f);
            wanted.back() = 0;
            CHECK(bert.steps_of_tensors(ElementType::int8) == wanted);
            CHECK(bert.steps_of_tensors(ElementType::float8_e4m3) ==
                  std::vector<float>(2 * kRounded, 0.f));
        });

    const auto said = [&](const std::function<void(SavedBert&)>& change) {
        SavedBert saved = of("F8_E4M3", 448);
        change(saved);
        return complaint(saved);
    };
    CHECK(said([](SavedBert&) {}) == "accepted");
    CHECK_THAT(said([](SavedBert& s) { s.without = "1.output.dense.weight_scale"; }),
               ContainsSubstring("'encoder.layer.1.output.dense.weight' has elements of F8_E4M3, "
                                 "and there is no 'encoder.layer.1.output.dense.weight_scale'"));
    CHECK_THAT(said([](SavedBert& s) { s.input_scale = -1; }),
               ContainsSubstring(".input_scale' has a scale that is negative"));
    CHECK_THAT(said([](SavedBert& s) { s.input_scale = NAN; }), ContainsSubstring("or no number"));
    CHECK_THAT(said([](SavedBert& s) {
                   s.without = "0.output.dense.weight_scale";
                   s.more = {"encoder.layer.0.output.dense.weight_scale"};
               }),
               ContainsSubstring("is [3] of F32; scales are floating-point numbers, [64, 1] of "
                                 "them or one"));
    CHECK_THAT(complaint(changed(
                   [](SavedBert& s) { s.more = {"encoder.layer.0.output.dense.input_scale"}; })),
               ContainsSubstring("has elements of F32; scales belong to elements of I8"));
    CHECK_THAT(said([](SavedBert& s) { s.more = {"encoder.layer.0.output.dense.zero_point"}; }),
               ContainsSubstring("no part of a BERT's encoder"));
}

TEST_CASE("what is no BERT, or no input for it, gets one clear line") {
    CHECK(complaint({}) == "accepted");
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.prefix = "yoso."; })),
               ContainsSubstring("begin with 'yoso.'") && ContainsSubstring("'roberta.'"));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.prefix = "bert.decoder."; })),
               ContainsSubstring("begin with 'bert.decoder.'"));
    CHECK_THAT(complaint(changed([](SavedBert& s) {
                   s.layers = 0;
                   s.more = {"model.layers.0.self_attn.q_proj.weight"};
               })),
               ContainsSubstring("no weights of a BERT") && ContainsSubstring("a decoder such as"));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.layers = 0; })),
               ContainsSubstring("begin with 'embeddings.word_embeddings.weight'"));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.without = "1.output.dense.bias"; })),
               ContainsSubstring("no tensor 'encoder.layer.1.output.dense.bias'"));
    CHECK_THAT(
        complaint(changed([](SavedBert& s) { s.without = "0.attention.self.query.weight"; })),
        ContainsSubstring("it has a layer 0, and no "));
    CHECK_THAT(
        complaint(changed([](SavedBert& s) { s.without = "1.attention.self.query.weight"; })),
        ContainsSubstring("it has a layer 1, and no "));
    CHECK_THAT(complaint(changed([](SavedBert& s) { s.transposed = true; })),
               ContainsSubstring("has shape [64, 96], not [96, 64]"));
    CHECK_THAT(complaint({}, kConfig, {}, 48), ContainsSubstring("are for hidden states of 64"));
    CHECK_THAT(complaint({}, kConfig, {3}), ContainsSubstring("1 lengths for 2 sequences"));
    CHECK_THAT(complaint({}, kConfig, {3, 4}), ContainsSubstring("4 tokens in sequences of 3"));
    CHECK_THAT(complaint({}, kConfig, {0, 0}), ContainsSubstring("no sequence has a token"));
}

TEST_CASE("tensors under two names, or of another computation, are refused") {
    const auto with = [](const std::string& name, bool old_names = false) {
        return complaint(changed([&](SavedBert& s) {
            s.old_names = old_names;
            s.more = {name};
        }));
    };
    CHECK_THAT(with("encoder.layer.1.output.LayerNorm.gamma"),
               ContainsSubstring("it has both") &&
                   ContainsSubstring("'encoder.layer.1.output.LayerNorm.weight'"));
    CHECK_THAT(with("encoder.layer.1.output.LayerNorm.bias", true),
               ContainsSubstring("it has both"));
    CHECK_THAT(with("bert.encoder.layer.0.attention.self.query.weight"),
               ContainsSubstring("under two names") &&
                   ContainsSubstring("'bert.encoder.layer.0.attention.self.query.weight'"));
    for (const char* part : {"encoder.layer.0.attention.self.distance_embedding.weight",
                             "encoder.layer.0.crossattention.self.query.weight",
                             "encoder.layer.1.attention.self.query.lora_A.weight",
                             "encoder.layer.01.output.dense.bias",
                             "encoder.layer.9999999999999999999999.output.dense.bias",
                             "encoder.embed_positions.weight"})
        CHECK_THAT(with(part), ContainsSubstring("no part of a BERT's encoder"));
    CHECK_THAT(with("encoder.layer.7.output.dense.bias"),
               ContainsSubstring("it has a layer 7, and no "));
    CHECK(with("cls.predictions.bias") == "accepted");
}

TEST_CASE("a config.json that contradicts the tensors, or their computation, is refused") {
    const auto refused = [](const std::string& entry, const std::string& why) {
        INFO(entry);
        const std::string said = complaint_about_entry(entry);
        CHECK_THAT(said, ContainsSubstring("config.json: its ") && ContainsSubstring(why));
        // The key and its value.
        const size_t colon = entry.find(':');
        CHECK_THAT(said, ContainsSubstring("its " + entry.substr(1, colon - 2) + " is " +
                                           entry.substr(colon + 2)));
    };
    refused(R"("num_hidden_layers": 1)", "have 2 layers");
    refused(R"("num_hidden_layers": 3)", "have 2 layers");
    refused(R"("num_hidden_layers": "2")", "whole number");
    refused(R"("hidden_size": 768)", "have 64 numbers");
    refused(R"("intermediate_size": 256)", "have 96 numbers");
    refused(R"("intermediate_size": 96.5)", "whole number");
    refused(R"("position_embedding_type": "relative_key")", "\"absolute\"");
    refused(R"("position_embedding_type": "relative_key_query")", "\"absolute\"");
    refused(R"("is_decoder": true)", "with false");
    refused(R"("add_cross_attention": true)", "with false");
    refused(R"("model_type": "gpt2")", "bert, camembert");
    refused(R"("pruned_heads": {"0":[1]})", "whole models");
    refused(R"("hidden_act": "mish")", "gelu, gelu_new");
    refused(R"("layer_norm_eps": -1)", "above 0");
    for (const char* entry :
         {R"("num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96)",
          R"("position_embedding_type": "absolute", "is_decoder": false, "pruned_heads": {})",
          R"("model_type": "bert", "is_decoder": null, "vocab_size": 3)",
          R"("model_type": "xlm-roberta")"})
        CHECK(complaint_about_entry(entry) == "accepted");
    CHECK_THAT(complaint_about_entry(R"("model_type": "roberta")",
                                     changed([](SavedBert& s) { s.prefix = "module.bert."; })),
               ContainsSubstring("begin with 'bert.'"));
    CHECK_THAT(complaint_about_entry(R"("num_attention_heads": 2)"), ContainsSubstring("twice"));

    CHECK_THAT(complaint({}, R"({"num_attention_heads": 5})"),
               ContainsSubstring("no 5 equal heads"));
    CHECK_THAT(complaint({}, R"({"num_attention_heads": 0})"), ContainsSubstring("at least 1"));
    CHECK_THAT(complaint({}, R"({"num_attention_heads": "x"})"), ContainsSubstring("is \"x\""));
    CHECK_THAT(complaint({}, "{}"), ContainsSubstring("it has no num_attention_heads"));
    CHECK_THAT(complaint({}, "[1]"), ContainsSubstring("no JSON object"));
    CHECK_THAT(complaint({}, "{"), ContainsSubstring("no valid JSON"));
    const Folder folder;
    folder.write("model.safetensors", SavedBert().bytes());
    CHECK_THAT(complaint_about(folder.path / "model.safetensors"),
               ContainsSubstring("config.json: no such file beside the weights") &&
                   ContainsSubstring("num_attention_heads"));
}

TEST_CASE("shards are read as one file is, by whatever name they are given") {
    const auto values_of = [](const std::string& path) {
        const Bert bert(path);
        return bert.read("outer_weight");
    };
    const Folder one, several;
    for (const Folder* folder : {&one, &several}) folder->write("config.json", kConfig);
    one.write("model.safetensors", SavedBert().bytes());
    const std::string first = changed([](SavedBert& s) { s.layers = 1; }).bytes();
    const std::string second = changed([](SavedBert& s) { s.first = 1; }).bytes();
    several.write("model-00001-of-00002.safetensors", first);
    several.write("model-00002-of-00002.safetensors", second);
    const std::string a = "model-00001-of-00002.safetensors",
                      b = "model-00002-of-00002.safetensors";
    CHECK_THAT(complaint_about(several.path / a),
               ContainsSubstring("one shard of several") &&
                   ContainsSubstring("model.safetensors.index.json"));
    const auto write_index = [&](const std::string& map) {
        several.write("model.safetensors.index.json",
                      R"({"metadata": {"total_size": 1}, "weight_map": {)" + map + "}}");
    };
    const auto entry = [](const std::string& name, const std::string& shard) {
        return "\"" + name + "\": \"" + shard + "\"";
    };
    const std::string query = "encoder.layer.0.attention.self.query.weight";
    const std::string good = entry(query, a) + "," + entry("encoder.layer.1.output.dense.bias", b);
    write_index(good);
    const std::vector<double> whole = values_of(one.path / "model.safetensors");
    CHECK(values_of(one.path) == whole);
    for (const std::string name : {"", "/", "/model.safetensors.index.json"})
        CHECK(values_of(several.path.string() + name) == whole);
    for (const std::string& shard : {a, b}) CHECK(values_of(several.path / shard) == whole);

    const auto said = [&](const std::string& map) {
        write_index(map);
        return complaint_about(several.path);
    };
    CHECK_THAT(said(good + "," + entry("encoder.layer.1.more", b)),
               ContainsSubstring("promises the tensor 'encoder.layer.1.more' in '" + b + "'"));
    CHECK_THAT(said(entry(query, b) + "," + entry("encoder.layer.0.output.dense.bias", a)),
               ContainsSubstring("it lies in '" + a + "'"));
    CHECK_THAT(said(good + "," + entry("x", "model-00003-of-00003.safetensors")),
               ContainsSubstring("model-00003-of-00003.safetensors', which has 1 of its 3"));
    CHECK_THAT(said(entry(query, "../" + a)), ContainsSubstring("no .safetensors file beside it"));
    CHECK_THAT(said(good + "," + entry(query, b)), ContainsSubstring("twice"));
    CHECK_THAT(said(""), ContainsSubstring("no 'weight_map'"));
    CHECK_THAT(said(good + "," + entry("embeddings.word_embeddings.weight", "c.safetensors")),
               ContainsSubstring("c.safetensors"));
    several.write("c.safetensors", first);
    CHECK_THAT(said(good + "," + entry("embeddings.word_embeddings.weight", "c.safetensors")),
               ContainsSubstring("two of its shards"));
}

TEST_CASE("a folder or file of something else is named, with the way from there") {
    const auto said = [](const std::string& name, const std::string& content) {
        const Folder folder;
        folder.write("config.json", kConfig);
        if (!name.empty()) folder.write(name, content);
        return complaint_about(folder.path);
    };
    CHECK_THAT(said("", ""), ContainsSubstring("it has 'config.json'"));
    const std::string zip = std::string("PK\x03\x04") + std::string(22, '\0') + '\x10' +
                            std::string(3, '\0') + "archive/data.pkl" + std::string(400, '\1');
    for (const std::string& pickle : {zip, std::string("\x80\x02}q\x01X\x03\0\0\0abc", 13)}) {
        CHECK_THAT(said("pytorch_model.bin", pickle),
                   ContainsSubstring("a pickle") &&
                       ContainsSubstring("\nimport torch; from safetensors.torch import") &&
                       ContainsSubstring("torch.load(\"pytorch_model.bin\""));
    }
    CHECK_THAT(said("pytorch_model.bin.index.json", "{}"), ContainsSubstring("save_pretrained()"));
    CHECK_THAT(said("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid "),
               ContainsSubstring("git lfs pull"));
    CHECK_THAT(said("model.safetensors", "<!DOCTYPE html>\n<html>"),
               ContainsSubstring("a web page"));
    CHECK_THAT(said("model.safetensors", ""), ContainsSubstring("an empty file"));
    CHECK_THAT(said("model.safetensors", "\x93NUMPY\x01"), ContainsSubstring("a .npy array"));
}
