// SPDX-License-Identifier: MIT
// A record as plain data: what a variant, a peer or a roof took or was counted at, at one shape. Schema 1.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace records {

// Keeps the order in which the names came.
void add_once(std::vector<std::string>& names, const std::string& name);

// By name: rows, cols and whatever else an operation has, options such as a temperature of 0.8 among them.
using Sizes = std::map<std::string, double>;

// One kernel of a model's layer, in microseconds since the layer's beginning, which is the end of the layer before.
// A kernel that is launched early begins before the one before it ends, and then waits for it.
struct Step {
    std::string name;         // its function's, and its tile: "product_kernel Tile<128, 2>"
    std::string grid, block;  // "(256, 1, 1)"
    double begin, end;
};

// Words that are empty, and figures that are absent, were not recorded.
struct Record {
    std::string stage, variant;
    std::string role;  // "ours", "peer", "invalid", "part" or "roof"
    std::string op;    // the operation
    std::string
        shown_as;  // the operation whose question it answers in another way, as pictures call it
    std::string along;  // along which sizes it is shown: "cols k", "m=n=k", "queries=keys/batch"
    std::string
        options;  // which names of the shape are no sizes but options: "k", "temperature top_p"
    std::string backend, dtype, input;
    std::string roof;      // what the roof's speed is that of: copy, read, join, own
    std::string part;      // "selection": of a "part", what of the work it does alone
    std::string way;       // "cluster: why", where the variant chose
    std::string baseline;  // what speedup is relative to

    Sizes sizes;
    std::vector<std::string>
        shape;  // names of the sizes and options that pose the problem, in their order
    std::vector<std::string>
        flat;  // names of those beside the shape: the rows and columns that come of it

    std::vector<Step> steps;  // the kernels of a layer, sorted by their ends: "kernels"

    std::map<std::string, double> figures;  // by name: us_median, gbps, ... (schema.hpp)
    bool overflows = false;                 // by design: the stage takes no maximum off
    bool further = false;                   // goes beyond its stage's lesson
    bool swept = false;                     // a point of a sweep: tables leave it out

    void add_size(const std::string& name, double size);       // to the shape
    void add_flat_size(const std::string& name, double size);  // beside it
    std::vector<std::string> size_names() const;               // of shape and flat, each once
    bool poses(const std::string& name) const;                 // whether the shape has it
    double size(const std::string& name, double otherwise = 0) const;
    std::string shape_text() const;   // "4000 x 128256 k=5"
    std::string shape_word() const;   // "4000x128256,k=5", as a command line takes it
    std::string shape_names() const;  // of its sizes: "rows x cols"

    std::optional<double> figure(const std::string& name) const;
    bool has(const std::string& name) const { return figures.count(name) > 0; }
    double at(
        const std::string& name) const;  // std::runtime_error names the figure that is missing

    // What a kernel adds to the layer's time: the microseconds from the end of the kernel before to its own end.
    double added(size_t step) const;
    double layer_us() const { return steps.empty() ? 0 : steps.back().end; }

    bool computes() const { return has("tflops"); }  // is about operations, not bytes
    bool timed() const { return backend != "cpu" && has("us_median"); }
    bool counted() const { return has("loads_per_element"); }
};

// The stage that a path says: NN_name.peers.json and NN_name/recorded/GPU/peers.json are of NN_name. Empty where it says
// none.
std::string stage_of(const std::filesystem::path& path);

// What was recorded in one run of one stage: only figures of one file were measured side by side.
struct File {
    std::filesystem::path path;
    std::string gpu, driver, cuda, nvcc, commit, date;
    std::map<std::string, std::string>
        libraries;       // the version of torch, triton, ..., where they took part
    std::string chosen;  // the flags that narrowed the run
    std::vector<Record> records;

    // As the file's path says.
    std::string stage() const { return stage_of(path); }
    bool peers() const;   // NN_name.peers.json, or peers.json in a stage's folder; the others alike
    bool widths() const;  // NN_name.widths.json: a grid of widths, all of one size in bytes
    bool timeline() const;  // NN_name.timeline.json: when the kernels of a layer run
    bool partial() const;   // NN_name.partial.json: of a run that its flags narrowed
    bool run() const { return !peers() && !widths() && !timeline(); }
};

// ---- JSON

// The JSON of a file, one of its header alone, and a file of it: whole or not at all, in a folder that is made.
// io::FileError where it cannot be written.
std::string json_of(const File& file);
std::string header_of(const File& file);
void write(const File& file);

// Older files lack fields, and newer ones have more: both can be read. Strict is what is written today: it has each field
// that all records have, and none that the schema does not know.
enum class Reading { lenient, strict };

// io::FileError names the file, the record and the field that is wrong, and what is wanted. What is read has no
// control characters.
File read(const std::filesystem::path& path, Reading reading = Reading::lenient);

}  // namespace records
