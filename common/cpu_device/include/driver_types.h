// SPDX-License-Identifier: MIT
// The runtime API's types, for files that include only this.
#pragma once
#include "cpu_device/types.h"
