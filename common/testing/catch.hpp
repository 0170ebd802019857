// SPDX-License-Identifier: MIT
// Catch2, version 2 (Debian 12, Ubuntu 22.04) or 3, under one set of names: version 3's, with no namespace before them.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Catch::Matchers::WithinULP;
#else
#include <catch2/catch.hpp>
using Catch::EndsWith;
using Catch::StartsWith;
using Catch::WithinAbs;
using Catch::WithinRel;
using Catch::WithinULP;
inline auto ContainsSubstring(const std::string& text) {
    return Catch::Contains(text);
}
#endif
