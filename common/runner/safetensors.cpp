// SPDX-License-Identifier: MIT
#include "common/runner/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/io/memory.hpp"
#include "common/io/text.hpp"
#include "common/runner/file_kind.hpp"
#include "common/runner/json_text.hpp"
#include "common/runner/operand.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

using io::refuse;
using nlohmann::json;

constexpr size_t kPrefix = 8;                  // bytes, in which the header's size stands
constexpr uint64_t kLargestHeader = 16 << 20;  // a large model's has some hundred kilobytes
constexpr size_t kDeepest = 4;                 // levels of nesting there
std::string list_in_words(const std::vector<int64_t>& shape) {
    std::string text;
    for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return io::printable("[" + text + "]", kQuoted);
}

// Bits of an element; 0 for a type that nobody here knows.
int bits_of(const std::string& type) {
    static const std::map<std::string, int> kBits = {
        {"BOOL", 8},    {"U8", 8},          {"I8", 8},          {"F8_E4M3", 8}, {"F8_E5M2", 8},
        {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"C64", 64},    {"I16", 16},
        {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},    {"U32", 32},
        {"F32", 32},    {"I64", 64},        {"U64", 64},        {"F64", 64}};
    const auto found = kBits.find(type);
    return found == kBits.end() ? 0 : found->second;
}

// How a file of another kind becomes one of this.
std::string in_python(const std::string& path) {
    const std::string name =
        io::printable(std::filesystem::path(path).filename().string(), kQuoted);
    return "convert it, in Python:\nimport torch; from safetensors.torch import save_file\n"
           "save_file({k: v.clone() for k, v in torch.load(\"" +
           name + "\", weights_only=True).items()}, \"model.safetensors\")";
}

[[noreturn]] void refuse_other_kind(const std::string& path, const std::string& otherwise) {
    const KnownFile file = kind_of_file(path);
    const std::string is = "it is " + file.words;
    switch (file.kind) {
        case FileKind::unknown:
        case FileKind::safetensors:
            refuse(path, otherwise);
        case FileKind::torch:
        case FileKind::pickle:
            refuse(path, is +
                             ", which can run any code when it is read, so only .safetensors "
                             "files are read; " +
                             in_python(path));
        case FileKind::npy:
        case FileKind::npz:
            refuse(path, is + "; weights are a .safetensors file, and --input takes .npy");
        case FileKind::json:
            refuse(path, is + "; weights are a .safetensors file, or the .safetensors.index.json "
                              "of several");
        default:
            refuse(path, is + "; weights are a .safetensors file" +
                             (file.advice.empty() ? "" : ": " + file.advice));
    }
}

// The numbers of an array, each at most 2^62; -1 for a first one where it is none.
std::vector<int64_t> numbers_in(const json& array) {
    std::vector<int64_t> numbers;
    for (const json& each : array) {
        if (!each.is_number_unsigned() || each.get<uint64_t>() > uint64_t{1} << 62) return {-1};
        numbers.push_back(each.get<int64_t>());
    }
    return numbers;
}

SavedTensor tensor_of(const std::string& path, const std::string& name, const json& entry,
                      uint64_t bytes) {
    const auto refuse_it = [&](const std::string& why) {
        refuse(path, "its tensor " + in_quotes(name) + " " + why);
    };
    if (!entry.is_object()) refuse_it("is described by no object");
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
        if (!entry.contains(key)) refuse_it("has no '" + std::string(key) + "'");
    }
    if (!entry.at("dtype").is_string()) refuse_it("has a 'dtype' that is no word");
    SavedTensor tensor;
    tensor.type = entry.at("dtype").get<std::string>();
    if (entry.at("shape").is_array()) tensor.shape = numbers_in(entry.at("shape"));
    if (!entry.at("shape").is_array() || (!tensor.shape.empty() && tensor.shape[0] < 0))
        refuse_it("has a 'shape' that is no list of sizes");
    std::vector<int64_t> offsets;
    if (entry.at("data_offsets").is_array()) offsets = numbers_in(entry.at("data_offsets"));
    if (offsets.size() != 2) refuse_it("has 'data_offsets' that are no two numbers");
    tensor.begin = static_cast<uint64_t>(offsets[0]);
    tensor.end = static_cast<uint64_t>(offsets[1]);
    if (tensor.begin > tensor.end || tensor.end > bytes)
        refuse_it("lies from byte " + std::to_string(offsets[0]) + " to " +
                  std::to_string(offsets[1]) + ", and the file holds " + std::to_string(bytes) +
                  " after its header");

    const int bits = bits_of(tensor.type);
    if (bits == 0) refuse_it("has elements of an unknown type " + in_quotes(tensor.type));
    uint64_t wanted = static_cast<uint64_t>(bits) / 8;
    const bool is_empty = std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0;
    for (const int64_t size : tensor.shape) {
        if (is_empty) wanted = 0;
        // More than the file could hold: no overflow below.
        if (!is_empty && wanted > bytes / static_cast<uint64_t>(size))
            refuse_it("claims shape " + list_in_words(tensor.shape) + ", more than the file holds");
        wanted *= static_cast<uint64_t>(size);
    }
    if (wanted != tensor.end - tensor.begin)
        refuse_it("of shape " + list_in_words(tensor.shape) + " and type " + tensor.type +
                  " needs " + std::to_string(wanted) + " bytes, and has " +
                  std::to_string(tensor.end - tensor.begin));
    return tensor;
}

// Nothing for types that are not read.
std::optional<ElementType> type_of(const SavedTensor& tensor) {
    static const std::map<std::string, ElementType> kTypes = {
        {"F32", ElementType::float32},   {"F16", ElementType::float16},
        {"BF16", ElementType::bfloat16}, {"F64", ElementType::float64},
        {"I8", ElementType::int8},       {"F8_E4M3", ElementType::float8_e4m3}};
    const auto type = kTypes.find(tensor.type);
    return type == kTypes.end() ? std::nullopt : std::optional(type->second);
}

// Each byte belongs to one tensor, as the format wants it.
void require_no_gaps(const std::string& path, const std::map<std::string, SavedTensor>& tensors,
                     uint64_t bytes) {
    std::vector<std::pair<const std::string*, const SavedTensor*>> in_order;
    for (const auto& [name, tensor] : tensors) in_order.emplace_back(&name, &tensor);
    std::stable_sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second->begin, a.second->end) <
               std::pair(b.second->begin, b.second->end);
    });
    uint64_t end = 0;
    for (const auto& [name, tensor] : in_order) {
        if (tensor->begin < end)
            refuse(path, "its tensor " + in_quotes(*name) + " overlaps the one before it");
        if (tensor->begin > end)
            refuse(path, std::to_string(tensor->begin - end) + " bytes before its tensor " +
                             in_quotes(*name) + " belong to no tensor");
        end = tensor->end;
    }
    if (end < bytes)
        refuse(path,
               std::to_string(bytes - end) + " bytes after its last tensor belong to no tensor");
}

}  // namespace

Safetensors::Safetensors(std::string path) : path_(std::move(path)) {
    io::require_readable(path_);
    std::ifstream file(path_, std::ios::binary);
    if (!file) refuse(path_, "cannot be opened for reading");
    const uint64_t file_size = std::filesystem::file_size(path_);
    unsigned char prefix[kPrefix] = {};
    file.read(reinterpret_cast<char*>(prefix), kPrefix);
    if (file_size < kPrefix || !file)
        refuse_other_kind(path_, "not a .safetensors file: it has " + std::to_string(file_size) +
                                     " bytes, and the size of a header alone takes 8");
    uint64_t header_size = 0;
    for (size_t i = 0; i < kPrefix; ++i) header_size |= uint64_t{prefix[i]} << (8 * i);
    const bool is_cut = header_size > file_size - kPrefix;
    if (header_size > kLargestHeader || is_cut)
        refuse_other_kind(
            path_,
            "not a .safetensors file, or a truncated one: its header claims " +
                std::to_string(header_size) + " bytes, " +
                (is_cut
                     ? "and the file has " + std::to_string(file_size - kPrefix) + " after its size"
                     : "more than the " + std::to_string(kLargestHeader) + " that are read"));
    std::string text(header_size, '\0');
    file.read(text.data(), static_cast<std::streamsize>(header_size));
    if (!file) refuse(path_, "could not be read to the end of its header");
    if (text.empty() || text.front() != '{')
        refuse_other_kind(path_, "not a .safetensors file: its header is no JSON object");

    data_ = kPrefix + header_size;
    const json header = parsed_json(path_, "its header", text, kDeepest);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") continue;  // anything that its writer wanted to be known
        tensors_.emplace(name, tensor_of(path_, name, entry, file_size - data_));
    }
    require_no_gaps(path_, tensors_, file_size - data_);
}

void Safetensors::require(const std::string& name, const std::vector<int64_t>& shape,
                          const std::string& why) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) refuse(path_, "there is no tensor " + in_quotes(name));
    const SavedTensor& tensor = found->second;
    if (tensor.shape != shape)
        refuse(path_, "its tensor " + in_quotes(name) + " has shape " +
                          list_in_words(tensor.shape) + ", not " + list_in_words(shape) + why);
    if (!type_of(tensor))
        refuse(path_, "its tensor " + in_quotes(name) + " has elements of type " + tensor.type +
                          "; F32, F16, BF16, F64, I8 and F8_E4M3 are read");
}

std::vector<double> Safetensors::read(const std::string& name,
                                      const std::vector<int64_t>& shape) const {
    require(name, shape);
    const SavedTensor& tensor = tensors_.at(name);
    const ElementType type = *type_of(tensor);
    const uint64_t bytes = tensor.end - tensor.begin;
    const uint64_t count = bytes / size_of(type);
    const double needed = static_cast<double>(count) * sizeof(double) + static_cast<double>(bytes);
    if (const std::string why = io::memory_shortage(needed, needed); !why.empty())
        refuse(path_, why);

    static_assert(std::endian::native == std::endian::little,
                  "the values are read in the host's byte order");
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(data_ + tensor.begin));
    std::vector<double> values(count);
    visit(type, [&](auto of) {
        using T = typename decltype(of)::type;
        if constexpr (!std::is_integral_v<T> || std::is_same_v<T, int8_t>) {
            std::vector<T> elements(count);
            file.read(reinterpret_cast<char*>(elements.data()),
                      static_cast<std::streamsize>(bytes));
            std::transform(elements.begin(), elements.end(), values.begin(),
                           [](T each) { return to_double(each); });
        }
    });
    if (!file) refuse(path_, "could not be read to the end of " + in_quotes(name));
    return values;
}

}  // namespace runner
