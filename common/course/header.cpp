// SPDX-License-Identifier: MIT
#include "common/course/header.hpp"
