// SPDX-License-Identifier: MIT
// Records that nobody's run wrote: read or refused in a line, and what is read draws into its folder alone.
#include "common/report/records.hpp"

#include "common/report/compare.hpp"
#include "common/report/pictures/pictures.hpp"
#include "common/report/pictures/script.hpp"
#include "common/report/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/hostile/mutations.hpp"
#include "common/testing/hostile/refusals.hpp"

namespace {

// gnuplot runs what stands between backticks of a script, but for those in single quotes.
bool runs_a_command(const std::string& script) {
    char quote = 0;
    for (size_t i = 0; i < script.size(); ++i) {
        const char each = script[i];
        if (each == '\n') quote = 0;
        if (each == '`' && quote != '\'' && script.substr(script.rfind('\n', i) + 1, 1) != "#")
            return true;
        if (quote == '"' && each == '\\') ++i;
        if (each == '\'' || each == '"') quote = quote == 0 ? each : quote == each ? 0 : quote;
    }
    return false;
}

void require_harmless(const report::Figure& figure) {
    INFO(figure.name);
    REQUIRE(!figure.name.empty());
    REQUIRE(figure.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-.") == std::string::npos);
    REQUIRE(figure.name[0] != '.');
    REQUIRE(!runs_a_command(report::script_of(figure, {"svg"})));
    for (size_t panel = 0; panel < figure.panels.size(); ++panel)
        REQUIRE(!runs_a_command(report::terminal_script_of(figure, panel, 80, 20)));
    report::csv_of(figure);
}

std::string verdict(const Folder& folder, const std::string& text) {
    folder.write("results/01_first.json", text);
    return refusal_of([&] {
        const report::RecordFolder read = report::read_folder(folder.path / "results");
        const report::Comparison comparison = report::compare(read, read);
        REQUIRE(comparison.count(report::Verdict::slower) == 0);
        for (const report::Figure& figure : report::pictures_of(comparison, read, read))
            require_harmless(figure);
        for (const std::string& stage : report::stages_in({read})) {
            for (const report::Figure& figure : report::stage_pictures({read}, stage, {}))
                require_harmless(figure);
            for (const report::Figure& figure : report::traffic({read}, stage, {}))
                require_harmless(figure);
        }
        for (const report::Figure& figure : report::staircases({read}, {}))
            require_harmless(figure);
    });
}

}  // namespace

TEST_CASE("thousands of damaged files of records are read or refused in a line") {
    const Folder folder;
    const std::string one = timed("01_first", "v", 8, 100, 4, R"("us_p10": 3, "us_p90": 5)") + ",";
    const std::string more =
        timed("01_first", "w", 8, 200, 5, R"("role": "peer", "op": "softmax")");
    const std::string counted =
        R"(,{"stage": "01_first", "variant": "v", "backend": "cpu", "rows": 256, "cols": 1024,
            "shape": {"rows": 256, "cols": 1024}, "loads_per_element": 2, "stores_per_element": 1,
            "declared_loads_per_element": 2, "declared_stores_per_element": 1,
            "sectors_per_request": 4, "bank_conflicts": 0})";
    Mutations mutations({file_of(one + more), file_of(one + more + counted), file_of("")},
                        {"`touch pwned`",
                         "$(id)",
                         "../../escape",
                         "/absolute",
                         "\\u001b[2J",
                         "\\n",
                         "\\u0000",
                         "'",
                         "\"",
                         "@x",
                         "#",
                         "%s%n",
                         "\x1b[2J",
                         "\xff\xfe",
                         "0",
                         "-1",
                         "1e308",
                         "-1e308",
                         "1e999",
                         "1e-320",
                         "9223372036854775808",
                         "null",
                         "true",
                         "[]",
                         "{}",
                         "[",
                         "{",
                         "}",
                         "]",
                         ",",
                         ":",
                         "\"rows\": 0",
                         "\"us_median\": -4",
                         "\"stage\": \"/tmp/x\"",
                         "\"op\": \"a/../b\"",
                         "\"dtype\": \"float31\"",
                         "\"schema\": 2",
                         std::string(5000, '['),
                         std::string(3000, 'x'),
                         "NaN",
                         "Infinity"});
    size_t read = 0;
    for (uint64_t number = 0; number < 4000; ++number) {
        INFO("mutation " << number);
        read += verdict(folder, mutations.make(number)).empty();
    }
    CHECK(read > 100);
    CHECK(read < 3500);
}

TEST_CASE("records that have broken readers are refused by name of what is wrong") {
    const Folder folder;
    const auto said = [&](const std::string& list) { return verdict(folder, file_of(list)); };
    CHECK(said(timed("01_first", "v", 8, 100, 4)).empty());
    CHECK_THAT(verdict(folder, std::string(100000, '[')), ContainsSubstring("01_first.json: "));
    CHECK_THAT(said(timed("01_first", "v", 8, 100, 4, "\"us_median\": 0")),
               ContainsSubstring("us_median"));
    CHECK_THAT(said(timed("01_first", "v", 8, 100, 4, "\"us_median\": -1")),
               ContainsSubstring("us_median"));
    CHECK_THAT(said(timed("01_first", "v", 8, 100, 4, "\"us_median\": 1e308")),
               ContainsSubstring("us_median"));
    CHECK_THAT(said(timed("/tmp/escape", "v", 8, 100, 4)), ContainsSubstring("/tmp/escape"));
    CHECK_THAT(said(timed("../escape", "v", 8, 100, 4)), ContainsSubstring("../escape"));
    // A name may be odd, and is then drawn as it is.
    CHECK(said(timed("01_first", "`touch pwned`", 8, 100, 4)).empty());
}
