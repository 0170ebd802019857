// SPDX-License-Identifier: MIT
#include "common/report/compare.hpp"

#include "common/report/pictures/script.hpp"
#include "common/report/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using namespace report;

TEST_CASE("compare: faster, slower, within the noise, and what only one folder has") {
    const Folder a, b;
    const auto at = [](const char* variant, double us, double p10, double p90) {
        return timed(
            "01_first", variant, 8, 100, us,
            R"("us_p10": )" + std::to_string(p10) + R"(, "us_p90": )" + std::to_string(p90));
    };
    a.write("01_first.json",
            file_of(at("faster", 10, 9.9, 10.1) + "," + at("slower", 10, 9.9, 10.1) + "," +
                    at("overlaps", 10, 9, 11) + "," + at("hardly", 100, 99.9, 100.1) + "," +
                    timed("01_first", "no_percentiles", 8, 100, 10) + "," +
                    timed("01_first", "gone", 8, 100, 10)));
    b.write("01_first.json",
            file_of(at("faster", 8, 7.9, 8.1) + "," + at("slower", 11, 10.9, 11.1) + "," +
                    at("overlaps", 9, 8.5, 9.5) + "," + at("hardly", 98.5, 98.4, 98.6) + "," +
                    timed("01_first", "no_percentiles", 8, 100, 5) + "," +
                    timed("01_first", "new", 8, 100, 10)));
    const RecordFolder in_a = read_folder(a.path), in_b = read_folder(b.path);
    const Comparison comparison = compare(in_a, in_b);
    std::map<std::string, Verdict> verdicts;
    for (const Pair& pair : comparison.timed) verdicts[pair.any().variant] = pair.verdict;
    CHECK(verdicts == std::map<std::string, Verdict>{{"faster", Verdict::faster},
                                                     {"slower", Verdict::slower},
                                                     {"overlaps", Verdict::within_noise},
                                                     {"hardly", Verdict::within_noise},
                                                     {"no_percentiles", Verdict::faster},
                                                     {"gone", Verdict::only_in_a},
                                                     {"new", Verdict::only_in_b}});
    CHECK(comparison.timed.front().ratio == 10. / 8);
    CHECK(comparison.count(Verdict::within_noise) == 2);

    const std::vector<Figure> figures = pictures_of(comparison, in_a, in_b);
    REQUIRE(figures.size() == 1);
    CHECK_THAT(csv_of(figures[0]), ContainsSubstring("\n100,1.25,0.909091,1.11111,"));
}

TEST_CASE("compare: a grid of widths is one picture, however many rows it has") {
    const Folder a, b;
    for (const auto& [folder, us] : {std::pair{&a, 10.}, std::pair{&b, 5.}}) {
        folder->write("01_first.widths.json", file_of(timed("01_first", "v", 800, 10, us) + "," +
                                                      timed("01_first", "v", 400, 20, us) + "," +
                                                      timed("01_first", "v", 200, 40, us)));
        folder->write("01_first.json", file_of(timed("01_first", "v", 800, 30, us)));
    }
    const RecordFolder in_a = read_folder(a.path), in_b = read_folder(b.path);
    const std::vector<Figure> figures = pictures_of(compare(in_a, in_b), in_a, in_b);
    REQUIRE(figures.size() == 2);
    CHECK(figures[0].name == "compare_widths");
    CHECK(figures[0].title == "How much faster B is than A: every kind of width");
    CHECK_THAT(csv_of(figures[0]), ContainsSubstring("\n10,2\n20,2\n40,2\n"));
    CHECK(figures[1].name == "compare_800");
    CHECK_THAT(csv_of(figures[1]), ContainsSubstring("\n30,2\n"));
}

TEST_CASE("compare: counts have no noise") {
    const Folder a, b;
    const auto counted = [](const std::string& loads) {
        return file_of(
            R"({"stage": "01_first", "variant": "v", "backend": "cpu", "rows": 2, "cols": 4,
            "stores_per_element": 1, "bank_conflicts": 0, "loads_per_element": )" +
            loads + "}");
    };
    a.write("01_first.json", counted("2"));
    b.write("01_first.json", counted("2.001"));
    const RecordFolder in_a = read_folder(a.path), in_b = read_folder(b.path);
    CHECK(compare(in_a, in_a).changed_counts.empty());
    const Comparison comparison = compare(in_a, in_b);
    REQUIRE(comparison.changed_counts.size() == 1);
    CHECK(comparison.changed_counts[0].count == "loads_per_element");
    CHECK(comparison.timed.empty());
}
