// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/course/report/pages.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/course/report/lesson.hpp"
#include "common/course/report/tests/document.hpp"
#include "common/io/changes.hpp"
#include "common/io/command.hpp"
#include "common/io/files.hpp"
#include "common/records/where.hpp"
#include "common/report/html/from_markdown.hpp"
#include "common/report/html/picture.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

using Json = nlohmann::json;
using report::Html;

const std::filesystem::path kRepository = STAGES_SOURCE_DIRECTORY;

const std::vector<std::string> none;

std::string markdown(const std::string& text) {
    Html html;
    report::add_markdown(html, text, [](const std::string& target) { return target; });
    return html.document("", "");
}

// An access as a row of a listing has it: line, access, requests, sectors or wavefronts.
using Row = std::array<std::string, 4>;

std::vector<Row> rows_of(const std::string& page) {
    static const std::regex line("<th( rowspan=\"\\d+\")?>(\\d+)</th>");
    static const std::regex cells(
        "<td>([^<]*)</td><td class=\"n\">([^<]*)</td><td class=\"n\">([^<]*)</td>");
    std::vector<Row> rows;
    for (size_t at = page.find("class=\"wide listing\""); at != std::string::npos;
         at = page.find("class=\"wide listing\"", at + 1)) {
        const std::string table = page.substr(at, page.find("</table>", at) - at);
        std::string number;
        for (size_t row = table.find("<tr"); row != std::string::npos;
             row = table.find("<tr", row + 1)) {
            const std::string text = table.substr(row, table.find("</tr>", row) - row);
            std::smatch match;
            if (std::regex_search(text, match, line)) number = match[2];
            if (std::regex_search(text, match, cells))
                rows.push_back({number, match[1], match[2], match[3]});
        }
    }
    return rows;
}

std::string grouped(int64_t number) {
    std::string text = std::to_string(number);
    for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<size_t>(at), ",");
    return text;
}

// The same from what `xray --json` wrote. What one line does on several ways to it stands in one row.
std::vector<Row> rows_of(const Json& counted) {
    std::vector<Row> rows;
    for (const Json& variant : counted.at("variants")) {
        std::map<std::tuple<std::string, int, bool, std::string>, std::array<int64_t, 4>> sums;
        for (const Json& kernel : variant.at("kernels")) {
            for (const Json& line : kernel.at("lines")) {
                const std::string kind = line.at("kind");
                const bool fused =
                    variant.at("shared_accesses_fuse") && kind.rfind("shared_", 0) == 0;
                const Json& counts = line.at("counts");
                auto& sum = sums[{line.at("file"), line.at("line"), line.at("cub"), kind}];
                sum[0] += counts.at(fused ? "fused_requests" : "requests").get<int64_t>();
                sum[1] += counts.at("sectors").get<int64_t>();
                sum[2] += counts.at(fused ? "fused_wavefronts" : "wavefronts").get<int64_t>();
                sum[3] += counts.at("bytes").get<int64_t>();
            }
        }
        for (const auto& [key, sum] : sums) {
            const auto& [file, line, cub, kind] = key;
            std::string words = (cub ? "CUB&#39;s " : "") + kind;
            std::replace(words.begin(), words.end(), '_', ' ');
            rows.push_back({std::to_string(line), words, grouped(sum[0]),
                            kind.rfind("global_", 0) == 0   ? grouped(sum[1]) + " sectors"
                            : kind.rfind("shared_", 0) == 0 ? grouped(sum[2]) + " wavefronts"
                                                            : grouped(sum[3]) + " bytes"});
        }
    }
    return rows;
}

template <class T>
std::vector<T> sorted(std::vector<T> all) {
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("the page of the course is a document that travels, with the counts of xray --json") {
    const Folder folder;
    const std::vector<std::string> stages = records::stage_folders(kRepository);
    REQUIRE(stages.size() >= 8);
    // What is quick to count.
    std::string counted = io::quoted(STAGES_LESSONS) + " xray --json " +
                          io::quoted((folder.path / "counts.json").string());
    for (const size_t i : {0, 1, 2, 3, 4, 6}) counted += " " + stages[i];
    std::string said;
    REQUIRE(io::run(counted, said) == 0);

    const std::string page =
        course::course_page(kRepository, stages, course::read_counts(folder.path / "counts.json"));
    CHECK(testing::mistakes_in(page) == none);
    CHECK(page.size() < 1'900'000);  // 2 MB with the listings of what was not counted here
    const std::vector<Row> rows = sorted(rows_of(page));
    CHECK(rows.size() > 50);
    CHECK(rows == sorted(rows_of(Json::parse(folder.read("counts.json")))));
    size_t changed = 0;
    for (const std::string& stage : stages) {
        INFO(stage);
        const std::string id = "<section id=\"stage-" + stage.substr(0, 2) + "\">";
        const size_t begin = page.find(id);
        REQUIRE(begin != std::string::npos);
        const std::string part = page.substr(begin, page.find("</section>", begin) - begin);
        if (!std::filesystem::exists(
                records::record_of(kRepository, stage, records::kShown, records::kOwn)))
            continue;                                              // a stage at work
        CHECK(part.find("<dt>source</dt>") != std::string::npos);  // its card
        CHECK(part.find("<img ") != std::string::npos);
        CHECK(part.find("<table>") != std::string::npos);
        // Its idea, beside the sentence below the title.
        CHECK(part.find("<p>") != std::string::npos);
        const bool is_changed = !course::lesson_of(kRepository, stage).pairs.empty();
        CHECK((part.find("<ins>") != std::string::npos) == is_changed);
        changed += is_changed ? 1 : 0;
    }
    CHECK(changed >= 4);
}

TEST_CASE("hostile names, sources and outputs stay text") {
    const Folder folder;
    const std::string hostile = "</title><script>alert(\"x\" & 'y')</script>\x1b[31m \xff";
    const std::string file = "my/" + hostile + ".cu";
    course::Counts counts;
    counts.name = file;
    counts.findings = {hostile};
    counts.wrong = counts.notes = {hostile};
    course::Kernel kernel;
    kernel.name = hostile;
    kernel.launch = hostile;
    kernel.lines[{"source.cu", 1}][{"global_load", false}] = {1, 128, 4, 0, 0, 1, 4};
    kernel.races.push_back({{{"source.cu:1", hostile}}, hostile, hostile, 1, false});
    counts.kernels.push_back(kernel);
    folder.write("source.cu", hostile + "\n\t" + hostile + "\n");
    folder.write(hostile.substr(8, 6) + ".svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    folder.write("common/report/html/page.css", "p { color: red; }\n");
    const std::string page =
        course::own_page(folder.path, {file, hostile, hostile, false, folder.path}, {counts});
    CHECK(testing::mistakes_in(page) == none);
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)") != std::string::npos);
    CHECK(page.find('\x1b') == std::string::npos);
    CHECK(rows_of(page) == std::vector<Row>{{"1", "global load", "1", "4 sectors"}});
    CHECK(page.find("class=\"danger\"") != std::string::npos);

    CHECK(testing::mistakes_in(course::own_page(folder.path, {file, "", "", true}, {})) == none);
    CHECK_THROWS_AS(course::read_counts(folder.path / "source.cu"), io::FileError);
}

TEST_CASE("an id that is used twice, and a link that leads nowhere, are refused") {
    Html html;
    html.element("p", "", {{"id", "a"}}).link("there", "#a");
    CHECK(testing::mistakes_in(html.document("", "")) == none);
    CHECK_THROWS_AS(html.element("p", "", {{"id", "a"}}), std::logic_error);
    html.link("nowhere", "#b");
    CHECK_THROWS_AS(html.document("", ""), std::logic_error);
    // The test's own reader sees both.
    CHECK(testing::mistakes_in("<!DOCTYPE html>\n<p id=\"a\"><b id=\"a\"></b></p>").size() == 1);
    CHECK(testing::mistakes_in("<!DOCTYPE html>\n<p><a href=\"#b\"></a></p>").size() == 1);
    CHECK(testing::mistakes_in("<!DOCTYPE html>\n<p><b></p>").size() == 1);
    CHECK(testing::mistakes_in("<!DOCTYPE html>\n<img src=\"https://a.b/c.svg\" />").size() == 1);
}

TEST_CASE("Markdown of the READMEs becomes HTML") {
    const auto holds = [](const std::string& text, const std::string& wanted) {
        const std::string page = markdown(text);
        INFO(page);
        CHECK(testing::mistakes_in(page) == none);
        CHECK(page.find(wanted) != std::string::npos);
    };
    holds("in [0, 1]: [M & G](https://a.b/c) and",
          "in [0, 1]: <a href=\"https://a.b/c\">M &amp; G</a> and");
    holds("[`x.cuh`](x.cuh)", "<code>x.cuh</code>");
    holds("[a](javascript:alert(1))", "<p>a");
    holds("a **bold `x*y`** 2 * 3 * 4", "a <strong>bold <code>x*y</code></strong> 2 * 3 * 4");
    holds("| a | `b|c` |\n|---|---|\n| 1 | **2** |\n", "<td>1</td>\n<td><strong>2</strong></td>");
    holds("d_{j-1} + e^{x_j} and 2^31, of x_row and int8_t",
          "d<sub>j-1</sub> + e<sup>x<sub>j</sub></sup> and 2<sup>31</sup>, of x_row and int8_t");
    holds("    d_{j}  // of `x_j`\n    y", "d<sub>j</sub>     // of");  // columns stay
    holds("one\n- two\n  three\n- four\n\n    code <\n\nend", "<li>two\nthree</li>");
    holds("```\na\n\nb\n```\nend", "<pre tabindex=\"0\">a\n\nb\n</pre>");
    holds("* [ ` ](", "* [ ` ](");
}

TEST_CASE("changed lines make both texts, with as few changes as there can be") {
    using Kind = io::ChangedLine::Kind;
    const std::vector<std::string> before = {"a", "b", "c", "d", "e"},
                                   after = {"b", "x", "c", "e", "f"};
    std::vector<std::string> old_lines, new_lines;
    size_t same = 0;
    for (const io::ChangedLine& line : io::changes(before, after)) {
        if (line.kind != Kind::added) old_lines.push_back(line.text);
        if (line.kind != Kind::removed) new_lines.push_back(line.text);
        same += line.kind == Kind::same ? 1 : 0;
    }
    CHECK(old_lines == before);
    CHECK(new_lines == after);
    CHECK(same == 3);
}

TEST_CASE("base64 as RFC 4648 has it") {
    CHECK(report::base64("") == "");
    CHECK(report::base64("f") == "Zg==");
    CHECK(report::base64("fo") == "Zm8=");
    CHECK(report::base64("foobar") == "Zm9vYmFy");
    CHECK(report::base64("\xff\xfe\xfd") == "//79");
}
