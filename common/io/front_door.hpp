// SPDX-License-Identifier: MIT
// What a program owes to whoever started it.
#pragma once

namespace io {

// From now on the process is killed when the process ends whose number STAGES_DOOR holds: the script that started it,
// also where that was killed and could hand nothing on. Nothing where the environment names none.
void end_with_front_door();

}  // namespace io
