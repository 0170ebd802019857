// SPDX-License-Identifier: MIT
//
// The program with the kernels (an executable, or a library that something else has loaded) as a
// file and in memory: where it lies, its symbols, its thread-local variables, which are what
// __shared__ variables become here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory.hpp"

namespace cpu_device {

struct Symbol {
    uintptr_t value;  // address for a function, offset in the thread-local block for a variable
    size_t size;
    std::string name;  // mangled
};

struct ProgramImage {
    std::string path;
    uintptr_t load_offset;  // address in memory minus address in the file
    AddressRange all;       // code and data
    AddressRange code;
    std::vector<Symbol> shared;  // __shared__ variables with static size, by offset
    size_t thread_local_bytes;
};

// Read once, at the first call. Without a symbol table `shared` is empty.
const ProgramImage& program_image();

// Where the program's thread-local variables of the calling thread lie.
uintptr_t thread_local_block();

// The function of the program that holds `address`; null if it is not known.
const Symbol* function_at(uintptr_t address);

// The variable of the program that holds `address` and can be written to; null if there is none.
const Symbol* variable_at(uintptr_t address);

// The tables of virtual functions of the program's classes: from the first to the last, empty if there is none;
// and whether an address lies in one.
AddressRange virtual_tables();
bool is_virtual_table(uintptr_t address);

// Whether one that no translation made known as the device's is surely the host's. Of a member its class may
// say elsewhere that it is the device's, and what a function keeps is the device's in one of the device's.
bool is_the_hosts(const Symbol& variable);

// A mangled name as written in the source, or the name itself.
std::string demangled(const std::string& name);

}  // namespace cpu_device
