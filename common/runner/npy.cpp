// SPDX-License-Identifier: MIT
#include "common/runner/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "common/io/memory.hpp"
#include "common/io/text.hpp"
#include "common/runner/file_kind.hpp"
#include "common/runner/npy_header.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kLargestNpyHeader = 1 << 20;  // NumPy's own are under 200 bytes
constexpr size_t kMostDimensions = 64;
// Little-endian bytes as a number, whatever the host's order.
uint32_t little_endian(const unsigned char* bytes, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= uint32_t{bytes[i]} << (8 * i);
    return value;
}

// NumPy's name for a type. bfloat16 and float8_e4m3 have none.
std::optional<std::string> descr_of(ElementType type) {
    switch (type) {
        case ElementType::float32:
            return "<f4";
        case ElementType::float16:
            return "<f2";
        case ElementType::float64:
            return "<f8";
        case ElementType::int32:
            return "<i4";
        case ElementType::int64:
            return "<i8";
        case ElementType::boolean:
            return "|b1";
        case ElementType::int8:
            return "|i1";
        case ElementType::bfloat16:
        case ElementType::float8_e4m3:
            break;
    }
    return std::nullopt;
}

using io::refuse;

std::string tuple_of(const std::vector<int64_t>& shape) {
    std::string text = "(";
    for (const int64_t size : shape)
        text += std::to_string(size) + (shape.size() == 1 ? "," : ", ");
    if (shape.size() > 1) text.resize(text.size() - 2);
    return text + ")";
}

// The same for a message: a header may claim a hundred thousand dimensions.
std::string tuple_in_words(const std::vector<int64_t>& shape) {
    return io::printable(tuple_of(shape), kQuoted);
}

// Says what the file is, and how to save that as an array.
[[noreturn]] void refuse_other_kind(const std::string& path) {
    const KnownFile file = kind_of_file(path);
    const std::string is = "not a .npy file but " + file.words;
    std::string array;
    switch (file.kind) {
        case FileKind::npz:
            array = "numpy.load(FILE)[NAME]";
            break;
        case FileKind::torch:
            array = "torch.load(FILE).float().numpy()";
            break;
        case FileKind::pickle:
            array = "numpy.load(FILE, allow_pickle=True)";
            break;
        case FileKind::text:
            array = "numpy.loadtxt(FILE)";
            break;
        case FileKind::safetensors:
            refuse(path, is + ", which --weights takes; numpy.save writes .npy");
        case FileKind::unknown:
            refuse(path, "not a .npy file (numpy.save writes one)");
        case FileKind::npy:
            refuse(path, "not a .npy file: it is cut off in its first bytes");
        default:
            refuse(path,
                   is + "; " + (file.advice.empty() ? "numpy.save writes .npy" : file.advice));
    }
    refuse(path, is + ": numpy.save(\"x.npy\", " + array + ") makes one of it");
}

struct StoredType {
    DType dtype = DType::float32;
    bool is_swapped = false;  // the bytes of each element
};

// What a type that is not read holds, by the letter behind its byte order.
std::string contents_of(const std::string& type) {
    const char kind = type.size() > 1 ? type[1] : '?';
    const std::map<char, const char*> kContents = {
        {'b', "booleans"},
        {'i', "whole numbers"},
        {'u', "whole numbers"},
        {'c', "complex numbers"},
        {'f', "floating-point numbers of another size"},
        {'O', "Python objects, which a pickle holds"},
        {'S', "bytes"},
        {'U', "words"},
        {'M', "dates"},
        {'m', "differences of dates"},
        {'V', "bytes of a type that NumPy does not know, such as bfloat16"}};
    const auto found = kContents.find(kind);
    return found == kContents.end() ? "of an unknown type" : found->second;
}

StoredType stored_type(const std::string& path, const std::string& type) {
    for (const DType dtype : all_dtypes()) {
        const std::optional<std::string> descr = descr_of(element_type(dtype));
        if (!descr) continue;
        if (*descr == type) return {dtype, false};
        if (">" + descr->substr(1) == type) return {dtype, true};
    }
    refuse(path, "its elements are '" + io::printable(type, kQuoted) + "', " + contents_of(type) +
                     "; float32 ('<f4'), float16 ('<f2') and float64 ('<f8') are read (NumPy "
                     "has no bfloat16): save x.astype(numpy.float32)");
}

static_assert(std::endian::native == std::endian::little,
              "elements are read in the host's byte order");

template <class T>
void swap_bytes(std::vector<T>& elements) {
    for (T& each : elements) {
        auto* bytes = reinterpret_cast<unsigned char*>(&each);
        std::reverse(bytes, bytes + sizeof(T));
    }
}

// Values whose first index goes fastest, in the order in which the last one does.
std::vector<double> row_major(const std::vector<int64_t>& shape,
                              const std::vector<double>& values) {
    const size_t rank = shape.size();
    std::vector<size_t> steps(rank, 1);  // from one index to the next, in the result
    for (size_t i = rank; i-- > 1;) steps[i - 1] = steps[i] * static_cast<size_t>(shape[i]);
    std::vector<double> reordered(values.size());
    std::vector<int64_t> index(rank, 0);
    size_t to = 0;
    for (const double value : values) {
        reordered[to] = value;
        for (size_t i = 0; i < rank; ++i) {
            to += steps[i];
            if (++index[i] < shape[i]) break;
            to -= steps[i] * static_cast<size_t>(shape[i]);
            index[i] = 0;
        }
    }
    return reordered;
}

}  // namespace

Array read_npy(const std::string& path) {
    io::require_readable(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be opened for reading");
    const uintmax_t file_size = std::filesystem::file_size(path);

    unsigned char start[12] = {};
    file.read(reinterpret_cast<char*>(start), sizeof(start));
    if (static_cast<size_t>(file.gcount()) < sizeof(start) ||
        std::memcmp(start, kMagic, kMagicSize) != 0) {
        refuse_other_kind(path);
    }
    const int version = start[6];
    if (version < 1 || version > 3)
        refuse(path, "a .npy file of unknown version " + std::to_string(version) +
                         "; numpy.save writes 1, 2 and 3");
    const size_t prefix = version == 1 ? 10 : 12;
    const size_t header_size = little_endian(start + 8, version == 1 ? 2 : 4);
    if (header_size > kLargestNpyHeader || prefix + header_size > file_size) {
        refuse(path,
               "its header claims " + std::to_string(header_size) + " bytes; the file is damaged");
    }
    std::string text(header_size, '\0');
    file.seekg(static_cast<std::streamoff>(prefix));
    file.read(text.data(), static_cast<std::streamsize>(header_size));
    const NpyHeader header = parse_npy_header(path, text);

    const StoredType type = stored_type(path, header.type);
    if (header.shape.size() > kMostDimensions)
        refuse(path, "its header claims " + std::to_string(header.shape.size()) +
                         " dimensions; NumPy's arrays have at most " +
                         std::to_string(kMostDimensions));
    const uint64_t element_size = size_of(type.dtype);
    uint64_t count = 1;
    for (const int64_t size : header.shape) {
        const auto factor = static_cast<uint64_t>(size);
        if (factor != 0 &&
            count > file_size / factor) {  // more than the file could hold: no overflow below
            refuse(path, "its header claims shape " + tuple_in_words(header.shape) +
                             ", more than the file holds");
        }
        count *= factor;
    }
    const uint64_t wanted = count * element_size;
    const uint64_t held = file_size - prefix - header_size;
    if (held != wanted) {
        refuse(path, "shape " + tuple_in_words(header.shape) + " needs " + std::to_string(wanted) +
                         " bytes, the file holds " + std::to_string(held) +
                         (held < wanted ? ": it is truncated" : ": it has bytes too many"));
    }

    const double copies = header.fortran_order ? 2 : 1;
    const double needed =
        static_cast<double>(count) * sizeof(double) * copies + static_cast<double>(wanted);
    if (const std::string why = io::memory_shortage(needed, needed); !why.empty())
        refuse(path, why);

    Array array{header.shape, std::vector<double>(count), type.dtype};
    visit(type.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        std::vector<T> elements(count);
        file.read(reinterpret_cast<char*>(elements.data()), static_cast<std::streamsize>(wanted));
        if (type.is_swapped) swap_bytes(elements);
        std::transform(elements.begin(), elements.end(), array.values.begin(),
                       [](T each) { return to_double(each); });
    });
    if (!file && wanted > 0) refuse(path, "could not be read to its end");
    if (header.fortran_order) array.values = row_major(array.shape, array.values);
    return array;
}

void write_npy(const std::string& path, const std::vector<int64_t>& shape,
               const std::vector<double>& values, ElementType type) {
    const ElementType written = descr_of(type) ? type : ElementType::float32;
    std::string header = "{'descr': '" + *descr_of(written) +
                         "', 'fortran_order': False, 'shape': " + tuple_of(shape) + ", }";
    constexpr size_t kPrefix = 10;
    constexpr size_t kAlignment = 64;  // of the data, as the format asks
    while ((kPrefix + header.size() + 1) % kAlignment != 0) header += ' ';
    header += '\n';

    std::string content(kMagic, kMagicSize);
    content +=
        {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    content += header;
    visit(written, [&](auto of) {
        using T = typename decltype(of)::type;
        const size_t start = content.size();
        content.resize(start + values.size() * sizeof(T));
        for (size_t i = 0; i < values.size(); ++i) {
            const T element = static_cast<T>(values[i]);
            std::memcpy(content.data() + start + i * sizeof(T), &element, sizeof(T));
        }
    });
    io::replace_file(path, content);
}

}  // namespace runner
