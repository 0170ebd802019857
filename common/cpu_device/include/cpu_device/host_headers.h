// SPDX-License-Identifier: MIT
// What the toolkit's cooperative groups, CUB and libcu++ include of the host's library, beyond what nvcc does by itself.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
