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

constexpr const char* kReferences =
    "texture and surface references are gone from CUDA 12: make an object with "
    "cudaCreateTextureObject "
    "(or cudaCreateSurfaceObject), give it to the kernel as a cudaTextureObject_t, and read "
    "tex2D<float>(object, x, y)";
constexpr const char* kMipmaps = "mipmaps: the CPU device has none; a cudaArray_t has one level";
constexpr const char* kDriver =
    "the driver API (cuInit, cuLaunchKernel ...): the CPU device has the runtime API alone";

constexpr const char* kWithoutMask =
    "this function of warps has no mask and is gone from CUDA: write __shfl_sync, "
    "__shfl_down_sync, "
    "__ballot_sync ..., with the mask 0xffffffff in front where all lanes come";

// Names of the toolkit's that are nothing here.
constexpr std::array kMissing = {
    Missing{"cudaBindTexture*", kReferences},
    Missing{"cudaBindSurfaceToArray", kReferences},
    Missing{"cudaUnbindTexture", kReferences},
    Missing{"cudaGetTextureReference", kReferences},
    Missing{"textureReference", kReferences},
    Missing{"surfaceReference", kReferences},
    Missing{"cudaMallocMipmappedArray", kMipmaps},
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
};

bool matches(std::string_view word, std::string_view pattern) {
    if (pattern.back() != '*') return word == pattern;
    pattern.remove_suffix(1);
    return word.substr(0, pattern.size()) == pattern;
}

// texture<float, 2> image; at the beginning of a declaration, in a file that has no such class of its own.
bool is_texture_reference(const Tokens& tokens, size_t i) {
    if (!is_one_of(tokens[i], {"texture", "surface"}) || i + 1 >= tokens.size() ||
        tokens[i + 1].text != "<") {
        return false;
    }
    if (i > 0 && !is_one_of(tokens[i - 1], {";", "}", "{", "static", "extern"})) return false;
    for (size_t at = 1; at < i; ++at) {
        if (tokens[at].text == tokens[i].text && is_one_of(tokens[at - 1], {"class", "struct"})) {
            return false;
        }
    }
    return true;
}

// Whether there is a collective or an algorithm behind this cub:: that the CPU device has not.
bool is_missing_of_cub(const Tokens& tokens, size_t i) {
    if (i < 2 || tokens[i - 1].text != "::" || tokens[i - 2].text != "cub") return false;
    const std::string& name = tokens[i].text;
    const auto begins = [&](const char* with) { return name.rfind(with, 0) == 0; };
    return (begins("Block") || begins("Warp") || begins("Device") || begins("Grid")) &&
           !is_one_of(tokens[i], {"BlockAdjacentDifference",
                                  "BlockDiscontinuity",
                                  "BlockExchange",
                                  "BlockHistogram",
                                  "BlockHistogramAlgorithm",
                                  "BlockLoad",
                                  "BlockLoadAlgorithm",
                                  "BlockMergeSort",
                                  "BlockRadixSort",
                                  "BlockReduce",
                                  "BlockReduceAlgorithm",
                                  "BlockScan",
                                  "BlockScanAlgorithm",
                                  "BlockShuffle",
                                  "BlockStore",
                                  "BlockStoreAlgorithm",
                                  "DeviceAdjacentDifference",
                                  "DeviceCount",
                                  "DeviceFor",
                                  "DeviceHistogram",
                                  "DeviceMergeSort",
                                  "DevicePartition",
                                  "DeviceRadixSort",
                                  "DeviceReduce",
                                  "DeviceRunLengthEncode",
                                  "DeviceScan",
                                  "DeviceSegmentedRadixSort",
                                  "DeviceSegmentedReduce",
                                  "DeviceSegmentedSort",
                                  "DeviceSelect",
                                  "DeviceTransform",
                                  "WarpExchange",
                                  "WarpExchangeAlgorithm",
                                  "WarpId",
                                  "WarpMergeSort",
                                  "WarpReduce",
                                  "WarpScan"});
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
            edits.fail(tokens[i],
                       "cub::" + tokens[i].text + ": the CPU device's CUB does not have it");
        }
        if (is_texture_reference(tokens, i)) edits.fail(tokens[i], kReferences);
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
    macros.add(others.macros);
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

// name<<<1, 32>>>(), where name is a function and no kernel, also not one of an included file.
void refuse_launches_of_functions(const Tokens& tokens,
                                  const std::vector<Declaration>& declarations,
                                  const Functions& included, Edits& edits) {
    std::map<std::string, bool> functions;  // whether they are the device's
    for (const Declaration& function : declarations) {
        const std::string& name = tokens[function.name].text;
        if (!function.is_defined() || function.in_class || included.for_device.count(name) != 0) {
            continue;
        }
        functions[name] = is_for_device(tokens, function);
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
    std::vector<Region> regions = regions_of(source);
    all.macros = macros_of(regions);
    spell_out(all.macros, regions);
    for (const Region& region : regions) {
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
    refuse_launches_of_functions(tokens, declarations, included, edits);
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
            // The device has its own max and min, whatever has that name in some namespace.
            if (of_std || is_one_of(tokens[i], {"max", "min"}) || functions.host.count(name) == 0 ||
                has_its_own(tokens, function, name)) {
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
    // What a function's body includes declares variables of the function's.
    std::vector<std::pair<size_t, size_t>> bodies;
    for (const Region& region : regions_of(source)) {
        for (const Declaration& each : declarations_of(region)) {
            if (each.is_defined())
                bodies.emplace_back(region.tokens[each.body.begin - 1].begin,
                                    region.tokens[each.body.end].end);
        }
    }
    std::vector<std::string> names;
    for (size_t begin = 0; begin < source.size();) {
        const size_t end = std::min(source.find('\n', begin), source.size());
        const std::string_view name =
            included_in(std::string_view(source).substr(begin, end - begin));
        const bool in_body = std::any_of(bodies.begin(), bodies.end(), [&](const auto& body) {
            return body.first < begin && begin < body.second;
        });
        if (!name.empty() && !in_body) names.emplace_back(name);
        begin = end + 1;
    }
    return names;
}

void refuse_headers(const std::string& source, const std::string& folder,
                    const std::set<std::string>& found, Edits& edits) {
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
            // CUTLASS is no part of the toolkit.
            const bool is_cutlass = name.rfind("cutlass/", 0) == 0 || name.rfind("cute/", 0) == 0;
            const bool is_own =
                (is_cutlass && found.count(name) != 0) ||
                (quoted && std::filesystem::exists(std::filesystem::path(folder) / name, ignored));
            const bool is_library =
                quoted ? is_named_in_the_toolkit(name) : is_of_the_toolkit(name);
            if (!is_own && name.rfind("cub/", 0) == 0 && !is_stand_in(name)) {
                // What is missing of it is named where it is used.
                edits.replace(begin + hash, end, "#include <cub/cub.cuh>");
            } else if (!is_own && is_library && !is_stand_in(name)) {
                const std::string why =
                    (quoted ? "\"" + name + "\"" : "<" + name + ">") +
                    " is a part of the CUDA toolkit that the CPU device does not have" +
                    (name.rfind("thrust/", 0) == 0 || name.rfind("cuda/std/", 0) == 0
                         ? std::string(
                               ": it runs with the headers of CCCL (pip install cuda-cccl, then "
                               "remove build/cpu/CMakeCache.txt)")
                         : std::string());
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
