// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/refusals.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/own_names.hpp"
#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

struct Missing {
    std::string_view word;  // or the beginning of one, where a * follows
    const char* why;
};

constexpr const char* kTextures =
    "textures and surfaces: the CPU device has none; load from a plain pointer";
constexpr const char* kDriver =
    "the driver API (cuInit, cuLaunchKernel ...): the CPU device has the runtime API alone";

constexpr const char* kWithoutMask =
    "this function of warps has no mask and is gone from CUDA: write __shfl_sync, "
    "__shfl_down_sync, "
    "__ballot_sync ..., with the mask 0xffffffff in front where all lanes come";

constexpr const char* kSynchronize = "gone from CUDA: write cudaDeviceSynchronize";
constexpr const char* kExchange =
    "CUB's exchanges by shared memory: the CPU device has BLOCK_LOAD_DIRECT, _STRIPED and "
    "_VECTORIZE, "
    "and the same of BLOCK_STORE";

// Names of the toolkit's that are nothing here.
constexpr std::array kMissing = {
    Missing{"cudaTextureObject_t", kTextures},
    Missing{"cudaSurfaceObject_t", kTextures},
    Missing{"cudaCreateTextureObject", kTextures},
    Missing{"cudaCreateSurfaceObject", kTextures},
    Missing{"cudaBindTexture*", kTextures},
    Missing{"cudaMallocArray", kTextures},
    Missing{"cudaArray_t", kTextures},
    Missing{"tex1D*", kTextures},
    Missing{"tex2D*", kTextures},
    Missing{"tex3D*", kTextures},
    Missing{"surf1D*", kTextures},
    Missing{"surf2D*", kTextures},
    Missing{"surf3D*", kTextures},
    Missing{"cuInit", kDriver},
    Missing{"cuDeviceGet", kDriver},
    Missing{"cuCtxCreate", kDriver},
    Missing{"cuModuleLoad*", kDriver},
    Missing{"cuLaunchKernel*", kDriver},
    Missing{"cuMemAlloc*", kDriver},
    Missing{"__shfl", kWithoutMask},
    Missing{"__shfl_up", kWithoutMask},
    Missing{"__shfl_down", kWithoutMask},
    Missing{"__shfl_xor", kWithoutMask},
    Missing{"__ballot", kWithoutMask},
    Missing{"cudaThreadSynchronize", kSynchronize},
    Missing{"BLOCK_LOAD_TRANSPOSE", kExchange},
    Missing{"BLOCK_LOAD_WARP_TRANSPOSE*", kExchange},
    Missing{"BLOCK_STORE_TRANSPOSE", kExchange},
    Missing{"BLOCK_STORE_WARP_TRANSPOSE*", kExchange},
};

bool matches(std::string_view word, std::string_view pattern) {
    if (pattern.back() != '*') return word == pattern;
    pattern.remove_suffix(1);
    return word.substr(0, pattern.size()) == pattern;
}

// Whether there is a collective or an algorithm behind this cub:: that the CPU device has not.
bool is_missing_of_cub(const Tokens& tokens, size_t i) {
    if (i < 2 || tokens[i - 1].text != "::" || tokens[i - 2].text != "cub") return false;
    const std::string& name = tokens[i].text;
    const auto begins = [&](const char* with) { return name.rfind(with, 0) == 0; };
    return (begins("Block") || begins("Warp") || begins("Device") || begins("Grid")) &&
           !is_one_of(tokens[i],
                      {"BlockLoad", "BlockLoadAlgorithm", "BlockReduce", "BlockReduceAlgorithm",
                       "BlockScan", "BlockScanAlgorithm", "BlockStore", "BlockStoreAlgorithm",
                       "DeviceRadixSort", "DeviceReduce", "DeviceScan", "WarpReduce", "WarpScan"});
}

// ---------------------------------------------------------------- PTX

// The registers that PTX reads by name, and what they are here.
const std::map<std::string_view, const char*>& special_registers() {
    static const std::map<std::string_view, const char*> registers = {
        {"laneid", "::cpu_device::lane_id()"},
        {"lanemask_eq", "(1u << ::cpu_device::lane_id())"},
        {"lanemask_lt", "((1u << ::cpu_device::lane_id()) - 1)"},
        {"lanemask_le", "((2u << ::cpu_device::lane_id()) - 1)"},
        {"lanemask_gt", "~((2u << ::cpu_device::lane_id()) - 1)"},
        {"lanemask_ge", "~((1u << ::cpu_device::lane_id()) - 1)"},
        {"globaltimer", "clock64()"},
        {"clock64", "clock64()"},
        {"tid.x", "threadIdx.x"},
        {"ctaid.x", "blockIdx.x"},
        {"ntid.x", "blockDim.x"},
    };
    return registers;
}

// Instructions without operands.
const std::map<std::string_view, const char*>& plain_instructions() {
    static const std::map<std::string_view, const char*> instructions = {
        {"bar.sync 0;", "__syncthreads()"},
        {"barrier.sync 0;", "__syncthreads()"},
        {"membar.gl;", "__threadfence()"},
        {"membar.cta;", "__threadfence_block()"},
        {"membar.sys;", "__threadfence_system()"},
        {"trap;", "__trap()"},
        {"brkpt;", "__brkpt()"},
    };
    return instructions;
}

// The text in a literal, without quotes.
std::string_view inside(const Token& literal) {
    std::string_view text = literal.text;
    const size_t first = text.find('"'), last = text.rfind('"');
    return first == last ? std::string_view() : text.substr(first + 1, last - first - 1);
}

// The register's name in "mov.u32 %0, %%laneid;"; empty where it is something else.
std::string_view register_read_by(std::string_view instruction) {
    const size_t percent = instruction.rfind('%');
    if (instruction.substr(0, 4) != "mov." || percent == std::string_view::npos) return {};
    const size_t end = instruction.find(';', percent);
    return instruction.substr(percent + 1, end - percent - 1);
}

// asm [volatile] (INSTRUCTION : "=r"(WHERE)) at `at`, whose parenthesis opens at `open`.
std::string known_instruction(const Tokens& tokens, size_t open, size_t close) {
    if (tokens[open + 1].kind != TokenKind::literal) return {};
    const std::string_view instruction = inside(tokens[open + 1]);
    if (const auto plain = plain_instructions().find(instruction);
        plain != plain_instructions().end()) {
        return plain->second;
    }
    const auto found = special_registers().find(register_read_by(instruction));
    if (found == special_registers().end()) return {};
    for (size_t i = open + 2; i + 1 < close; ++i) {
        if (tokens[i].kind != TokenKind::literal || tokens[i + 1].text != "(") continue;
        const size_t end = matching_close(tokens, i + 1).value_or(close);
        return text_of(tokens, {i + 1, end + 1}) + " = " + found->second;
    }
    return {};
}

void translate_ptx(const Tokens& tokens, size_t at, Edits& edits) {
    size_t open = at + 1;
    while (open < tokens.size() &&
           is_one_of(tokens[open], {"volatile", "__volatile__", "goto", "inline"})) {
        ++open;
    }
    if (open + 1 >= tokens.size() || tokens[open].text != "(") return;
    const auto close = matching_close(tokens, open);
    if (!close || tokens[open + 1].kind != TokenKind::literal) return;
    std::string instruction;
    for (size_t i = open + 1; tokens[i].kind == TokenKind::literal; ++i) {
        instruction += inside(tokens[i]);
    }
    if (instruction.empty()) return;  // a barrier for the compiler, which g++ knows
    const size_t begin = tokens[at].begin, end = tokens[*close].end;
    if (const std::string known = known_instruction(tokens, open, *close); !known.empty()) {
        edits.replace(begin, end, known + edits.line_ends(begin, end));
        return;
    }
    constexpr size_t kMost = 60;
    std::string shown = instruction.substr(0, kMost);
    for (char& c : shown) {
        if (c == '\\' || c == '"') c = ' ';
    }
    edits.insert(begin,
                 "static_assert(false, \"inline PTX that the CPU device does not know: " + shown +
                     " -- put it under #ifdef __CUDA_ARCH__, and the same in C++ under "
                     "#else\"); ");
}

// ---------------------------------------------------------------- functions of the host's

// Functions that are defined here for the host alone.
std::set<std::string> host_functions(const Tokens& tokens,
                                     const std::vector<Declaration>& declarations) {
    std::set<std::string> host;
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || function.in_class) continue;
        const Range before{function.head.begin, function.name};
        const bool perhaps_more =
            has_word(tokens, function.head,
                     {"__device__", "__global__", "constexpr", "consteval"}) ||
            std::any_of(tokens.begin() + static_cast<ptrdiff_t>(before.begin),
                        tokens.begin() + static_cast<ptrdiff_t>(before.end),
                        [](const Token& token) { return is_like_a_macro(token.text); }) ||
            tokens[function.name - 1].text == "::" || before.begin == before.end;
        if (!perhaps_more) host.insert(tokens[function.name].text);
    }
    for (const Declaration& function : declarations) {
        if (is_for_device(tokens, function)) host.erase(tokens[function.name].text);
    }
    return host;
}

// Functions that are defined here for the device alone.
std::set<std::string> device_functions(const Tokens& tokens,
                                       const std::vector<Declaration>& declarations) {
    std::set<std::string> device;
    const auto is_for_it_alone = [&](const Declaration& function) {
        return has_word(tokens, function.head, {"__device__"}) &&
               !has_word(tokens, function.head, {"__host__", "constexpr", "consteval"}) &&
               std::none_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                            tokens.begin() + static_cast<ptrdiff_t>(function.name),
                            [](const Token& token) { return is_like_a_macro(token.text); });
    };
    for (const Declaration& function : declarations) {
        if (function.is_defined() && !function.in_class && is_for_it_alone(function)) {
            device.insert(tokens[function.name].text);
        }
    }
    for (const Declaration& function : declarations) {
        if (function.is_function && !is_for_it_alone(function)) {
            device.erase(tokens[function.name].text);
        }
    }
    return device;
}

// Whether there is something like [=] or [&x]: what stands in it may be for the device.
bool has_lambda(const Tokens& tokens, Range range) {
    for (size_t i = range.begin; i + 1 < range.end; ++i) {
        const bool opens =
            tokens[i].text == "[" && i > 0 &&
            is_one_of(tokens[i - 1], {"(", ",", "=", "return", "{", ";", "&&", "||"});
        if (opens) return true;
    }
    return false;
}

}  // namespace

void refuse_what_is_missing(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Place> places = places_of(region);
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].kind != TokenKind::identifier) continue;
        const bool on_device = places[i].in_device_function;
        if (is_one_of(tokens[i], {"asm", "__asm__", "__asm"}) && (on_device || region.is_macro)) {
            translate_ptx(tokens, i, edits);
        }
        const bool is_call = i + 1 < tokens.size() && tokens[i + 1].text == "(" &&
                             (i == 0 || !is_one_of(tokens[i - 1], {".", "->"}));
        if (on_device && is_call && is_one_of(tokens[i], {"malloc", "free", "calloc"})) {
            edits.fail(tokens[i], "'" + tokens[i].text +
                                      "' in a kernel: the CPU device has no memory for kernels to "
                                      "allocate; cudaMalloc it before the launch");
        }
        if (on_device && tokens[i].text == "new" && i + 1 < tokens.size() &&
            tokens[i + 1].kind == TokenKind::identifier) {
            edits.fail(tokens[i],
                       "'new' in a kernel: the CPU device has no memory for kernels to allocate; "
                       "cudaMalloc it before the launch");
        }
        if (is_missing_of_cub(tokens, i)) {
            edits.fail(tokens[i], "cub::" + tokens[i].text +
                                      ": of CUB the CPU device has BlockLoad, BlockReduce, "
                                      "BlockScan, BlockStore, WarpReduce, WarpScan, DeviceReduce, "
                                      "DeviceScan and DeviceRadixSort");
        }
        for (const Missing& missing : kMissing) {
            if (matches(tokens[i].text, missing.word)) edits.fail(tokens[i], missing.why);
        }
    }
}

void Functions::add(const Functions& others) {
    host.insert(others.host.begin(), others.host.end());
    device.insert(others.device.begin(), others.device.end());
    for_device.insert(others.for_device.begin(), others.for_device.end());
    for_host.insert(others.for_host.begin(), others.for_host.end());
    declared.insert(others.declared.begin(), others.declared.end());
    variables.add(others.variables);
    for (const std::string& name : for_device) host.erase(name);
    for (const std::string& name : for_host) device.erase(name);
}

namespace {

Functions functions_in(const Tokens& tokens, const std::vector<Declaration>& declarations) {
    Functions found;
    found.host = host_functions(tokens, declarations);
    found.device = device_functions(tokens, declarations);
    for (const Declaration& function : declarations) {
        if (!function.is_function || function.in_class) continue;
        const std::string& name = tokens[function.name].text;
        found.declared.insert(name);
        if (found.host.count(name) == 0) found.for_device.insert(name);
        if (found.device.count(name) == 0) found.for_host.insert(name);
    }
    return found;
}

Functions together(const Tokens& tokens, const std::vector<Declaration>& declarations,
                   const Functions& included) {
    Functions all = functions_in(tokens, declarations);
    all.add(included);
    return all;
}

// What to do in place of calling that function of the C library's; null where there is no such function.
const char* in_place_of_c(const Token& token) {
    if (is_one_of(token, {"rand", "srand", "random", "drand48", "rand_r"}))
        return ": make numbers of the thread's index, or copy some there";
    if (is_one_of(token, {"sprintf", "snprintf", "fprintf", "vprintf", "puts", "putchar", "fputs"}))
        return ": printf prints there";
    if (is_one_of(token, {"exit", "_exit", "abort"}))
        return ": return ends a thread, __trap() the launch";
    if (is_one_of(token, {"time", "gettimeofday", "clock_gettime"}))
        return ": clock64() counts there";
    if (is_one_of(token, {"scanf",   "sscanf", "getchar", "fopen",   "fclose", "fread",
                          "fwrite",  "fflush", "getenv",  "system",  "strlen", "strcmp",
                          "strncmp", "strcpy", "strncpy", "strcat",  "atoi",   "atof",
                          "strtol",  "qsort",  "usleep",  "memmove", "memcmp"}))
        return "";
    return nullptr;
}

// What of the standard library is for the host alone, and what to do; null where it is nothing of that.
const char* in_place_of_std(const Token& token) {
    if (is_one_of(token, {"cout", "cerr", "clog", "endl", "ofstream", "ifstream", "stringstream",
                          "ostringstream", "to_string"}))
        return "printf prints there";
    if (is_one_of(token, {"vector", "string", "map", "unordered_map", "set", "list", "deque",
                          "unique_ptr", "shared_ptr", "make_unique", "make_shared"}))
        return "printf prints there, and arrays have a constant size";
    if (is_one_of(token, {"sort", "swap", "fill", "copy", "accumulate", "reverse", "iota",
                          "transform", "for_each", "min_element", "max_element"}))
        return "write out what it does";
    if (is_one_of(token, {"function"}))
        return "a template's parameter takes a lambda with __device__";
    if (is_one_of(token,
                  {"mt19937", "mt19937_64", "random_device", "default_random_engine",
                   "uniform_real_distribution", "uniform_int_distribution", "normal_distribution"}))
        return "make numbers of the thread's index, or copy some there";
    if (is_one_of(token, {"thread", "mutex", "lock_guard", "chrono", "runtime_error"}))
        return "a kernel has none of it";
    return nullptr;
}

// name<<<1, 32>>>(), where name is a function and no kernel.
void refuse_launches_of_functions(const Tokens& tokens,
                                  const std::vector<Declaration>& declarations, Edits& edits) {
    std::map<std::string, bool> functions;  // whether they are the device's
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || function.in_class) continue;
        functions[tokens[function.name].text] = is_for_device(tokens, function);
    }
    for (const Declaration& function : declarations) {
        const bool perhaps_kernel =
            function.is_function &&
            (is_kernel(tokens, function) ||
             std::any_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                         tokens.begin() + static_cast<ptrdiff_t>(function.name),
                         [](const Token& token) { return is_like_a_macro(token.text); }));
        if (perhaps_kernel) functions.erase(tokens[function.name].text);
    }
    for (const Declaration& function : declarations) {
        if (!function.is_defined()) continue;
        for (size_t i = function.body.begin + 1; i < function.body.end; ++i) {
            if (tokens[i].text != "<<<") continue;
            size_t name = i - 1;
            if (tokens[name].text == ">") name = matching_angle(tokens, name).value_or(1) - 1;
            const auto launched = functions.find(tokens[name].text);
            if (launched == functions.end() || has_its_own(tokens, function, launched->first) ||
                (name > 0 && is_one_of(tokens[name - 1], {".", "->", "::"}))) {
                continue;
            }
            const bool of_device = launched->second;
            edits.fail(tokens[name],
                       "'" + launched->first + "' is launched, and is a function of the " +
                           (of_device ? "device" : "host") + ": a kernel has __global__ " +
                           (of_device ? "in place of __device__" : "before its void"));
        }
    }
}

}  // namespace

Functions functions_of(const std::string& source) {
    Functions all;
    for (const Region& region : regions_of(source)) {
        if (region.is_macro) continue;
        all.add(functions_in(region.tokens, declarations_of(region)));
        all.variables.add(host_variables_of(region));
    }
    return all;
}

void refuse_host_functions(const Region& region, const Functions& included, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const Functions functions = together(tokens, declarations, included);
    refuse_launches_of_functions(tokens, declarations, edits);
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || !is_for_device(tokens, function)) continue;
        // What is for both sides may have a way for the host: nvcc, too, only warns.
        if (has_word(tokens, function.head, {"__host__"})) continue;
        const std::string runs = "'" + tokens[function.name].text + "' runs on the device and ";
        for (size_t i = function.name + 1; i + 1 < function.body.end; ++i) {
            const std::string& name = tokens[i].text;
            const bool of_std = is_of_std(tokens, i);
            if (const char* const instead = of_std ? in_place_of_std(tokens[i]) : nullptr) {
                edits.fail(tokens[i], runs + "uses 'std::" + name +
                                          "', which is for the host alone: " + instead);
            }
            if (i < function.body.begin || tokens[i + 1].text != "(" ||
                is_one_of(tokens[i - 1], {".", "->"}) || (tokens[i - 1].text == "::" && !of_std)) {
                continue;
            }
            const char* const instead = in_place_of_c(tokens[i]);
            if (instead != nullptr && functions.declared.count(name) == 0 &&
                !has_its_own(tokens, function, name)) {
                edits.fail(tokens[i], runs + "calls '" + name +
                                          "', a function of the C library for the host alone" +
                                          instead);
            }
            if (of_std || functions.host.count(name) == 0 || has_its_own(tokens, function, name)) {
                continue;
            }
            edits.fail(tokens[i], runs + "calls '" + name +
                                      "', a function of the host: write __device__ before " +
                                      "the definition of '" + name + "'");
        }
    }
}

void refuse_device_functions(const Region& region, const Functions& included, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const std::set<std::string> host = host_functions(tokens, declarations);
    const std::set<std::string> device = together(tokens, declarations, included).device;
    for (const Declaration& function : declarations) {
        // What a macro or a template's argument makes of it may be anything.
        if (!function.is_defined() || function.in_class ||
            host.count(tokens[function.name].text) == 0 ||
            has_word(tokens, function.head, {"template"}) || has_lambda(tokens, function.body)) {
            continue;
        }
        for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
            const std::string& name = tokens[i].text;
            if (is_one_of(tokens[i - 1], {".", "->", "::"}) ||
                has_its_own(tokens, function, name)) {
                continue;
            }
            const std::string runs = "'" + tokens[function.name].text + "' runs on the host and ";
            if (is_one_of(tokens[i], {"threadIdx", "blockIdx"}) && tokens[i + 1].text == ".") {
                edits.fail(tokens[i], runs + "asks for '" + name +
                                          "', which threads of a kernel have: write __device__ "
                                          "before the definition of '" +
                                          tokens[function.name].text + "', or launch a kernel");
            } else if (tokens[i + 1].text == "(" && device.count(name) != 0) {
                edits.fail(tokens[i], runs + "calls '" + name +
                                          "', a function of the device: write __host__ __device__ "
                                          "before the definition of '" +
                                          name + "'");
            }
        }
    }
}

namespace {

// Whether the CPU device has a header of that name. Any other of the toolkit's may be installed where g++ finds
// it, and would not go with ours.
bool is_stand_in(std::string_view name) {
    // Between colons: see CMakeLists.txt.
    constexpr std::string_view kAll = ":" STAND_INS ":";
    return kAll.find(":" + std::string(name) + ":") != std::string_view::npos;
}

// Headers that nvcc includes by itself.
bool is_included_by_nvcc(std::string_view name) {
    constexpr std::array<std::string_view, 7> kNames = {
        "builtin_types.h", "common_functions.h", "device_functions.h", "device_types.h",
        "driver_types.h",  "host_defines.h",     "math_functions.h"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool is_of_the_toolkit(std::string_view name) {
    constexpr std::array<std::string_view, 32> kBeginnings = {"cublas",        "cufft",
                                                              "curand",        "cusolver",
                                                              "cusparse",      "cudnn",
                                                              "nccl",          "thrust/",
                                                              "cutlass/",      "cute/",
                                                              "texture_",      "surface_",
                                                              "nvrtc",         "cub/",
                                                              "cuda/",         "cuda_",
                                                              "cudaGL",        "cudaProf",
                                                              "nv/",           "nvtx3/",
                                                              "nvml",          "crt/",
                                                              "sm_",           "device_f",
                                                              "driver_",       "cooperative_groups",
                                                              "cuComplex",     "library_types",
                                                              "device_atomic", "channel_descriptor",
                                                              "npp",           "nvJitLink"};
    return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
        return name.substr(0, beginning.size()) == beginning;
    });
}

// In quotes a name may be a learner's, in a folder that the compiler is told of: these are not.
bool is_named_in_the_toolkit(std::string_view name) {
    constexpr std::array<std::string_view, 24> kNames = {"cuComplex.h",
                                                         "cublas.h",
                                                         "cublasLt.h",
                                                         "cublas_v2.h",
                                                         "cuda_awbarrier.h",
                                                         "cuda_fp8.h",
                                                         "cuda_gl_interop.h",
                                                         "cuda_profiler_api.h",
                                                         "cudaProfiler.h",
                                                         "cudnn.h",
                                                         "cufft.h",
                                                         "cufftXt.h",
                                                         "curand.h",
                                                         "curand_kernel.h",
                                                         "cusolverDn.h",
                                                         "cusparse.h",
                                                         "library_types.h",
                                                         "nccl.h",
                                                         "nvml.h",
                                                         "nvrtc.h",
                                                         "nvToolsExt.h",
                                                         "cuda_fp6.h",
                                                         "cuda_fp4.h",
                                                         "channel_descriptor.h"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           name.substr(0, 7) == "thrust/" || name.substr(0, 4) == "cub/" ||
           name.substr(0, 6) == "nvtx3/";
}

// The header that a line includes, with how it is written before it: < or ". Else nothing.
std::string_view included_in(std::string_view line) {
    const size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') return {};
    const size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string_view::npos || line.compare(word, 7, "include") != 0) return {};
    const size_t open = line.find_first_of("<\"", word);
    if (open == std::string_view::npos) return {};
    const size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    return close == std::string_view::npos ? std::string_view() : line.substr(open, close - open);
}

}  // namespace

std::vector<std::string> included_by(const std::string& source) {
    std::vector<std::string> names;
    for (size_t begin = 0; begin < source.size();) {
        const size_t end = std::min(source.find('\n', begin), source.size());
        const std::string_view name =
            included_in(std::string_view(source).substr(begin, end - begin));
        if (!name.empty() && name[0] == '"') names.emplace_back(name.substr(1));
        begin = end + 1;
    }
    return names;
}

void refuse_headers(const std::string& source, const std::string& folder, Edits& edits) {
    int conditions = 0;  // that the line stands under
    for (size_t begin = 0; begin < source.size();) {
        const size_t end = std::min(source.find('\n', begin), source.size());
        const std::string_view line = std::string_view(source).substr(begin, end - begin);
        const size_t hash = line.find_first_not_of(" \t");
        if (hash != std::string_view::npos && line[hash] == '#') {
            const size_t word = line.find_first_not_of(" \t", hash + 1);
            conditions += word != std::string_view::npos && line.compare(word, 2, "if") == 0;
            conditions -= word != std::string_view::npos && line.compare(word, 5, "endif") == 0;
        }
        if (const std::string_view included = included_in(line); !included.empty()) {
            const std::string name(included.substr(1));
            const bool quoted = included[0] == '"';
            std::error_code ignored;
            const bool is_own =
                quoted && std::filesystem::exists(std::filesystem::path(folder) / name, ignored);
            const bool is_library =
                quoted ? is_named_in_the_toolkit(name) : is_of_the_toolkit(name);
            if (!is_own && (name == "cuda.h" || is_included_by_nvcc(name))) {
                // Many have it and use nothing of it; what they use of it is refused where it stands.
                edits.replace(begin + hash, end, "");
            } else if (!is_own && is_library && !is_stand_in(name)) {
                const std::string why =
                    (quoted ? "\"" + name + "\"" : "<" + name + ">") +
                    " is a part of the CUDA toolkit that the CPU device does not have";
                // Without it nothing behind makes sense. But under a condition it may be nothing.
                if (conditions == 0) {
                    edits.fail({TokenKind::punctuation, "#", begin + hash, end}, why);
                }
                edits.replace(begin + hash, end, "#error " + why);
            }
        }
        begin = end + 1;
    }
}

}  // namespace translate
