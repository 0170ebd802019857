// SPDX-License-Identifier: MIT
#include "program_image.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>

#include "shared_memory.hpp"

namespace cpu_device {
namespace {

// Calls use(symbol, name, name of its section) for each defined symbol of the file.
template <class Use>
void for_each_symbol(const std::string& path, Use use) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    void* mapped = MAP_FAILED;
    if (fstat(file, &status) == 0) {
        mapped = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    if (mapped == MAP_FAILED) return;

    const char* image = static_cast<const char*>(mapped);
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
    const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image + header->e_shoff);
    const char* section_names = image + sections[header->e_shstrndx].sh_offset;
    for (int index = 0; index < header->e_shnum; index++) {
        const ElfW(Shdr)& section = sections[index];
        if (section.sh_type != SHT_SYMTAB) continue;
        const char* names = image + sections[section.sh_link].sh_offset;
        const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image + section.sh_offset);
        for (size_t i = 0; i < section.sh_size / sizeof(*symbols); i++) {
            const unsigned where = symbols[i].st_shndx;
            if (where == SHN_UNDEF) continue;
            use(symbols[i], names + symbols[i].st_name,
                where < header->e_shnum ? section_names + sections[where].sh_name : "");
        }
    }
    munmap(mapped, status.st_size);
}

// Not the runtime's own thread-local variables (it has none inside functions), nor the compiler's
// bookkeeping for others.
bool is_shared_variable(std::string_view name) {
    for (const std::string_view own :
         {"threadIdx", "blockIdx", "blockDim", "gridDim", "shared_bytes"}) {
        if (name == own) return false;
    }
    for (const std::string_view prefix : {"_ZGV", "_ZTH", "_ZTW", "_ZN10cpu_device"}) {
        if (name.substr(0, prefix.size()) == prefix) return false;
    }
    return true;
}

// Whether this file's code lies in the object: the kernels linked with it lie in the same.
bool is_ours(const dl_phdr_info& info) {
    static const char somewhere = 0;
    const auto address = reinterpret_cast<uintptr_t>(&somewhere) - info.dlpi_addr;
    return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const auto& segment) {
        return segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_memsz;
    });
}

int describe_program(dl_phdr_info* info, size_t, void* result) {
    if (!is_ours(*info)) return 0;
    auto& image = *static_cast<ProgramImage*>(result);
    image.load_offset = info->dlpi_addr;
    if (info->dlpi_name[0] != '\0') image.path = info->dlpi_name;  // the executable has no name
    image.all.low = image.code.low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        const uintptr_t low = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_TLS) image.thread_local_bytes = segment.p_memsz;
        if (segment.p_type != PT_LOAD) continue;
        const auto widen = [&](AddressRange& range) {
            range.low = std::min(range.low, low);
            range.high = std::max(range.high, low + segment.p_memsz);
        };
        widen(image.all);
        if ((segment.p_flags & PF_X) != 0) widen(image.code);
    }
    return 1;
}

ProgramImage read_program_image() {
    ProgramImage image{};
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length > 0) image.path.assign(path, static_cast<size_t>(length));
    dl_iterate_phdr(describe_program, &image);
    for_each_symbol(image.path, [&](const ElfW(Sym) & symbol, const char* name, const char*) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_size > 0 &&
            is_shared_variable(name)) {
            image.shared.push_back({symbol.st_value, symbol.st_size, name});
        }
    });
    std::sort(image.shared.begin(), image.shared.end(),
              [](const Symbol& a, const Symbol& b) { return a.value < b.value; });
    return image;
}

}  // namespace

const ProgramImage& program_image() {
    // Lives to the very end of the process, as what follows: what is said last asks for it.
    static const ProgramImage* const image = new ProgramImage(read_program_image());
    return *image;
}

uintptr_t thread_local_block() {
    // A library's block comes into being with a thread's first access to it.
    [[maybe_unused]] const volatile unsigned char first_access = *dynamic_shared_memory();
    uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            if (!is_ours(*info)) return 0;
            *static_cast<uintptr_t*>(result) = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
            return 1;
        },
        &address);
    return address;
}

namespace {

// Of several names for one place the one that says how long it is comes last.
void sort_by_address(std::vector<Symbol>& symbols) {
    std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
        return std::tie(a.value, a.size) < std::tie(b.value, b.size);
    });
}

// All functions of the program, by address.
std::vector<Symbol> read_functions() {
    const ProgramImage& image = program_image();
    std::vector<Symbol> functions;
    for_each_symbol(image.path, [&](const ElfW(Sym) & symbol, const char* name, const char*) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
            functions.push_back({image.load_offset + symbol.st_value, symbol.st_size, name});
        }
    });
    sort_by_address(functions);
    return functions;
}

// Those that can be written to.
std::vector<Symbol> read_variables() {
    const ProgramImage& image = program_image();
    std::vector<Symbol> variables;
    for_each_symbol(
        image.path, [&](const ElfW(Sym) & symbol, const char* name, std::string_view section) {
            if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0 &&
                (section == ".data" || section == ".bss")) {
                variables.push_back({image.load_offset + symbol.st_value, symbol.st_size, name});
            }
        });
    sort_by_address(variables);
    return variables;
}

std::vector<Symbol> read_virtual_tables() {
    const ProgramImage& image = program_image();
    std::vector<Symbol> tables;
    for_each_symbol(image.path, [&](const ElfW(Sym) & symbol, const char* name, const char*) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0 &&
            std::strncmp(name, "_ZTV", 4) == 0) {
            tables.push_back({image.load_offset + symbol.st_value, symbol.st_size, name});
        }
    });
    sort_by_address(tables);
    return tables;
}

const std::vector<Symbol>& all_virtual_tables() {
    static const auto& tables = *new std::vector<Symbol>(read_virtual_tables());
    return tables;
}

const Symbol* symbol_that_holds(const std::vector<Symbol>& symbols, uintptr_t address) {
    const auto above =
        std::upper_bound(symbols.begin(), symbols.end(), address,
                         [](uintptr_t at, const Symbol& symbol) { return at < symbol.value; });
    if (above == symbols.begin()) return nullptr;
    const Symbol& nearest = *std::prev(above);
    return address - nearest.value < nearest.size ? &nearest : nullptr;
}

}  // namespace

const Symbol* function_at(uintptr_t address) {
    static const auto& functions = *new std::vector<Symbol>(read_functions());
    return symbol_that_holds(functions, address);
}

const Symbol* variable_at(uintptr_t address) {
    static const auto& variables = *new std::vector<Symbol>(read_variables());
    return symbol_that_holds(variables, address);
}

AddressRange virtual_tables() {
    const std::vector<Symbol>& tables = all_virtual_tables();
    if (tables.empty()) return {};
    return {tables.front().value, tables.back().value + tables.back().size};
}

bool is_virtual_table(uintptr_t address) {
    return symbol_that_holds(all_virtual_tables(), address) != nullptr;
}

bool is_the_hosts(const Symbol& variable) {
    const auto begins = [&](const char* text) { return variable.name.rfind(text, 0) == 0; };
    if (begins("_ZN")) return begins("_ZN12_GLOBAL__N_1");
    return !begins("_ZZ") && !begins("_ZG");
}

std::string demangled(const std::string& name) {
    // Without this a variable `n` would be the type that is called so.
    if (name.rfind("_Z", 0) != 0) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : name;
}

}  // namespace cpu_device
