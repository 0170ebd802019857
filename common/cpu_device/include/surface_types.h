// SPDX-License-Identifier: MIT
// Surfaces, as the host describes them.
#pragma once
#include "cpu_device/textures.h"
