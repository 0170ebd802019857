// SPDX-License-Identifier: MIT
// What a header declares of its launcher: which shapes that excludes, and which one near them it takes; which launcher
// of a header is meant, and what stands above it.
#include "common/course/my/limits.hpp"

#include "common/course/my/launchers.hpp"
#include "common/course/my/operations.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"

namespace {

using my::Limits;
using runner::Shape;

Limits of_softmax(const std::string& text) {
    return {text, my::operation_called("softmax")};
}

std::string error_of(const std::string& text) {
    try {
        of_softmax(text);
    } catch (const runner::UsageError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kHeader = R"HEADER(
// takes: cols <= 1024
namespace outer {
cudaError_t first(const float* x, cudaStream_t stream);
namespace inner {
/* takes: cols % 4 == 0
 * takes: float */
template <class T>
cudaError_t second(T* x, cudaStream_t stream = 0) { return g("cudaError_t third(cudaStream_t)"); }
}  // namespace inner
#define MACRO cudaError_t fourth(int, cudaStream_t) {}
struct S { cudaError_t member(cudaStream_t stream) { return cudaSuccess; } };
inline cudaError_t helper(int number) { return cudaSuccess; }
}  // namespace outer
cudaError_t second(int, cudaStream_t);
)HEADER";

}  // namespace

TEST_CASE("limits exclude shapes, and name one near them") {
    const Limits limits =
        of_softmax("cols <= 1024, cols % 4 == 0, rows * cols < 5000, half, y != x, x % 16 == 0");
    CHECK(limits.exclusion_of({3, 1000}) == "");
    CHECK(limits.exclusion_of({3, 1028}) == "cols <= 1024");
    CHECK(limits.exclusion_of({3, 33}) == "cols % 4 == 0");
    CHECK(limits.exclusion_of({5, 1000}) == "rows * cols < 5000");
    CHECK(limits.nearest({3, 33}) == Shape({3, 36}));
    CHECK(limits.nearest({3, 4099}) == Shape({3, 1024}));
    CHECK(limits.exclusion_of(limits.nearest({65537, 3})) == "");
    CHECK(limits.dtypes() == std::vector<runner::DType>{runner::DType::float16});
    CHECK(!limits.in_place());
    CHECK(limits.alignments() == std::vector<std::pair<std::string, int64_t>>{{"x", 16}});
    CHECK(of_softmax("cols == 768").nearest({3, 33}) == Shape({3, 768}));
    CHECK(of_softmax("").exclusion_of({65537, 100000}) == "");
    // Contradictions leave nothing, and end.
    CHECK(of_softmax("cols < 3, cols > 5")
              .exclusion_of(of_softmax("cols < 3, cols > 5").nearest({3, 4})) != "");
    const Limits of_topk("k <= 32, k <= cols", my::operation_called("softmax_topk"));
    Shape long_list{4, 2053};
    long_list.set_option("k", 300);
    CHECK(of_topk.exclusion_of(long_list) == "k <= 32");
    CHECK(of_topk.nearest(long_list).option("k", 0) == 32);
}

TEST_CASE("what is no limit is named, with what would be one") {
    for (const char* const text :
         {"columns <= 3", "cols", "cols = 3", "cols <=", "x <= 16", "cols % 0 == 0", "foat"}) {
        INFO(text);
        CHECK_THAT(error_of(text), ContainsSubstring(text) && ContainsSubstring("cols % 4 == 0"));
    }
}

TEST_CASE("a header's launchers are found by their text, with the limits that stand above them") {
    std::string found;
    for (const my::LauncherText& each : my::launchers_in(kHeader))
        found += each.name + " [" + each.takes + "] ";
    CHECK(found ==
          "outer::first [cols <= 1024] outer::inner::second [cols % 4 == 0, float] second [cols <= "
          "1024] ");
    const auto chosen = [](const std::string& asked) {
        try {
            return my::chosen_launcher(kHeader, asked, "this").name;
        } catch (const runner::UsageError& error) {
            return std::string(error.what());
        }
    };
    CHECK(chosen("first") == "outer::first");
    CHECK(chosen("second") == "second");
    CHECK(chosen("inner::second<float>") == "outer::inner::second<float>");
    CHECK_THAT(chosen(""), ContainsSubstring("outer::first outer::inner::second second"));
    CHECK_THAT(chosen("nothing"), ContainsSubstring("no such function"));
    CHECK(my::chosen_launcher("namespace a { cudaError_t only(cudaStream_t s); }", "", "").name ==
          "a::only");
    CHECK_THROWS_AS(my::chosen_launcher("int main() {}", "", "this"), runner::UsageError);
}

TEST_CASE("an operation that there is not is answered with those like it") {
    const auto error = [](const std::string& name) {
        try {
            my::operation_called(name);
        } catch (const runner::UsageError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(error("transpose"),
               ContainsSubstring("did you mean") && ContainsSubstring("matrix_transpose"));
    CHECK_THAT(error("sofmax"), ContainsSubstring("did you mean softmax?"));
    CHECK_THAT(error("nothing"),
               ContainsSubstring("there are: ") && ContainsSubstring("attention"));
}
