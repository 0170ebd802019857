// SPDX-License-Identifier: MIT
// PTX in C++: what the translation makes of asm statements. Each instruction is a function with the instruction's name,
// its suffixes as types and its operands in PTX's order:
//   add.s32 d, a, 1;    op_add<mods<dot_s32>>(d, a, Integer{1})
// The meaning of each is that of the PTX ISA 9.0.
#pragma once
#include "cuda_runtime.h"

#include "cpu_device/ptx/async.h"
#include "cpu_device/ptx/bits.h"
#include "cpu_device/ptx/bulk.h"
#include "cpu_device/ptx/cluster.h"
#include "cpu_device/ptx/compare.h"
#include "cpu_device/ptx/control.h"
#include "cpu_device/ptx/convert.h"
#include "cpu_device/ptx/float.h"
#include "cpu_device/ptx/integer.h"
#include "cpu_device/ptx/matrix.h"
#include "cpu_device/ptx/mbarrier.h"
#include "cpu_device/ptx/memory.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/ptx/special.h"
#include "cpu_device/ptx/tensor.h"
#include "cpu_device/ptx/video.h"
#include "cpu_device/ptx/warp.h"
#include "cpu_device/ptx/wgmma.h"
