// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/headers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
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
