// SPDX-License-Identifier: MIT
// main() of every test program for Catch2 version 2; version 3 brings a compiled one.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
