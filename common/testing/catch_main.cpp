// SPDX-License-Identifier: MIT
// main() of every test program for Catch2 version 2; version 3 brings a compiled one. A test that checks nothing fails,
// and so does a name that no test has.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
    Catch::Session session;
    const int unclear = session.applyCommandLine(argc, argv);
    if (unclear != 0) return unclear;
    auto& warnings = session.configData().warnings;
    warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::NoAssertions |
                                                   Catch::WarnAbout::NoTests);
    return session.run();
}
