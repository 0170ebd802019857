// SPDX-License-Identifier: MIT
#include "common/course/readme.hpp"

#include "common/testing/catch.hpp"

using course::with_generated_parts;

TEST_CASE("generated parts are replaced, all else stays") {
    const std::string text =
        "a\n<!-- generated: one -->\nold\n<!-- end of generated -->\nb\n"
        "<!-- generated: two -->\n<!-- end of generated -->\nc\n";
    const auto part = [](const std::string& name) { return "new " + name + "\n"; };
    const std::string wanted =
        "a\n<!-- generated: one -->\nnew one\n<!-- end of generated -->\nb\n"
        "<!-- generated: two -->\nnew two\n<!-- end of generated -->\nc\n";
    CHECK(with_generated_parts(text, part) == wanted);
    CHECK(with_generated_parts(wanted, part) == wanted);
    CHECK(with_generated_parts("no parts", part) == "no parts");
}

TEST_CASE("a part that does not close is an error, not a lost README") {
    const auto part = [](const std::string&) { return std::string(); };
    CHECK_THROWS_WITH(with_generated_parts("<!-- generated: one -->\nfor ever", part),
                      ContainsSubstring("is not closed"));
    CHECK_THROWS_WITH(with_generated_parts("<!-- generated: <!-- end of generated -->", part),
                      ContainsSubstring("is not closed"));
}
