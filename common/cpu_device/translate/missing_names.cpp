// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/missing_names.hpp"

#include <array>
#include <string_view>

#include "common/cpu_device/translate/outline.hpp"
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

}  // namespace translate
