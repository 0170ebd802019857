// SPDX-License-Identifier: MIT
// How the readers' work grows with a file: counted in pieces of straight code that run, not in seconds.
#include <cstdint>

#include "common/runner/checkpoint.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/safetensors.hpp"

namespace {
uint64_t pieces_run = 0;
}

extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
    ++pieces_run;
}

namespace {

// The work of reading the header of so many tensors, of one number each.
uint64_t work_of(int64_t tensors) {
    testing::SafetensorsFile file;
    for (int64_t i = 0; i < tensors; ++i)
        file.add("layer." + std::to_string(i * 7919 % tensors) + ".weight", {1}, {1.f});
    const Folder folder;
    folder.write("model.safetensors", file.bytes());
    const uint64_t before = pieces_run;
    const runner::Checkpoint read(folder.path / "model.safetensors");
    REQUIRE(read.tensors().size() == static_cast<size_t>(tensors));
    return pieces_run - before;
}

}  // namespace

TEST_CASE("a header of ten times as many tensors takes ten times the work") {
    const uint64_t few = work_of(2000), many = work_of(20000);
    REQUIRE(few > 2000);
    CHECK(many < 13 * few);  // n log n: 10 times as many, and the logarithm's 1.3
}
