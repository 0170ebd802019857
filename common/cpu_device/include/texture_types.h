// SPDX-License-Identifier: MIT
// Textures, as the host describes them.
#pragma once
#include "cpu_device/textures.h"
