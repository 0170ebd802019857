// SPDX-License-Identifier: MIT
// Softmax as others wrote it, described like a stage, so that the same code runs and checks it.
#pragma once
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace peers {

struct Peer {
    runner::Stage stage;   // its name and variants; its traffic and bounds are nobody's promise
    std::string obstacle;  // why it cannot run on this machine; empty where it can
};

Peer nvidia_online_softmax();  // nvidia_online_softmax.cuh
Peer cudnn();                  // cudnn.cpp

}  // namespace peers
