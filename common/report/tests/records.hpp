// SPDX-License-Identifier: MIT
// Records made by hand.
#pragma once
#include <sstream>
#include <string>

// A file of records, from what goes between the brackets.
inline std::string file_of(const std::string& list, const std::string& gpu = "GPU One") {
    return R"({"schema": 1, "gpu": ")" + gpu +
           R"(", "date": "2026-01-02T03:04:05Z", "from_the_future": [], "records": [)" + list +
           "]}";
}

// One timed record. `more` may add or repeat fields; the last of a name counts.
inline std::string timed(const std::string& stage, const std::string& variant, int rows, int cols,
                         double us, const std::string& more = "") {
    std::ostringstream text;
    text << R"({"stage": ")" << stage << R"(", "variant": ")" << variant
         << R"(", "backend": "cuda", "rows": )" << rows << R"(, "cols": )" << cols
         << R"(, "us_median": )" << us << R"(, "gbps": )" << 1000 / us
         << R"(, "bytes": 1000000, "roof_gbps": 500)" << (more.empty() ? "" : ", ") << more << "}";
    return text.str();
}
