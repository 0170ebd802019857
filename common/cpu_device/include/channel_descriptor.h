// SPDX-License-Identifier: MIT
// What the elements of an array are.
#pragma once
#include "cpu_device/arrays.h"
