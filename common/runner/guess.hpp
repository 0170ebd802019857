// SPDX-License-Identifier: MIT
// `--ask`: what the audience guessed, beside what came.
#pragma once
#include <string>

namespace runner {

// "you said 300, it is 2.00: 150 times too much". `shown`: what came, as it is printed elsewhere. Without
// a guess only what it is.
std::string guess_and_truth(const std::string& guess, double truth, const std::string& shown);

}  // namespace runner
