// SPDX-License-Identifier: MIT
//
// In place of command.cpp in a program without `xray` and `ncu`.
#include "verbs.hpp"

namespace xray {

struct Verbs::Flags {};

bool Verbs::are_linked() {
    return false;
}
Verbs::Verbs(CLI::App&) {}
Verbs::~Verbs() = default;
bool Verbs::chosen() const {
    return false;
}
int Verbs::run(const std::vector<runner::Stage>&) {
    return 0;
}

}  // namespace xray
