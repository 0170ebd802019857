// SPDX-License-Identifier: MIT
// How much memory there is: to be asked before much of it is wanted.
#pragma once
#include <cstddef>
#include <string>

namespace io {

// Bytes that programs can still get, caches included: Linux's own estimate, and no more than what the
// process's control group (a container's limit) leaves.
size_t available_memory();

// Bytes of addresses that the process may still map: `ulimit -v`.
size_t address_space_left();

// "51.5 GB".
std::string gigabytes(double bytes);

// Why so many bytes cannot be had, and addresses for so many of them: "needs 51.5 GB of memory, and 24.0 GB
// are free". Empty where they can.
std::string memory_shortage(double bytes, double addresses);

}  // namespace io
