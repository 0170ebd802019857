// SPDX-License-Identifier: MIT
#pragma once
int twice(int x);
extern "C" int thrice(int x);
