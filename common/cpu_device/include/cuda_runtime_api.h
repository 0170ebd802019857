// SPDX-License-Identifier: MIT
// The runtime API alone, for host files that launch nothing.
#pragma once
#include "cpu_device/runtime_api.h"
