#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "support/bounded_read.h"
#include "support/files.h"

namespace intarsia {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

std::string_view npy_type(DataType type) {
  switch (type) {
    case DataType::Int8:
      return "|i1";
    case DataType::UInt8:
      return "|u1";
    case DataType::Int16:
      return "<i2";
    case DataType::Int32:
      return "<i4";
    case DataType::Int64:
      return "<i8";
    case DataType::Float32:
      return "<f4";
    case DataType::Bool:
      return "|b1";
    default:
      return "";
  }
}

// The value of 'key' in the header's dictionary literal, up to the next comma that ends it.
std::string_view dictionary_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos) return {};
  const size_t end = header.find_first_of(header[begin] == '(' ? ")" : ",}", begin);
  return header.substr(begin, end == std::string_view::npos ? end : end - begin);
}

// "(1, 49, 10)" of the header's 'shape', which ends before the ")"; nothing when it is not a list of numbers.
std::optional<Shape> npy_shape(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  text.remove_prefix(1);
  Shape shape;
  for (;;) {
    while (text.starts_with(' ') || text.starts_with(',')) text.remove_prefix(1);
    if (text.empty()) return shape;
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

// Dimensions of 1 move no byte and may be there or not; a flat array has no axes to confuse, and only its size is
// looked at. In front of the tensor's dimensions may be the number of slices.
bool is_shape_of(const Shape& array, const Shape& tensor, int32_t slices) {
  const Shape given = without_ones(array), wanted = without_ones(tensor);
  if (given == wanted || given.size() <= 1) return true;
  if (slices == 1 || (slices > 1 && given[0] != slices)) return false;
  return Shape(given.begin() + 1, given.end()) == wanted;
}

// Strips the .npy header (versions 1 to 3) after checking it against the tensor.
Result<std::vector<uint8_t>> npy_data(const std::string& path, const std::vector<uint8_t>& bytes,
                                      const TensorInfo& tensor, int32_t slices) {
  if (bytes.size() < 12)
    return Diagnostics(path, "is a truncated .npy file", "save the array again");
  const bool wide = bytes[6] >= 2;
  const size_t length =
      wide ? bytes[8] | bytes[9] << 8 | bytes[10] << 16 | static_cast<size_t>(bytes[11]) << 24
           : static_cast<size_t>(bytes[8] | bytes[9] << 8);
  const size_t data = (wide ? 12u : 10u) + length;
  if (data > bytes.size())
    return Diagnostics(path, "is a truncated .npy file", "save the array again");
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + (wide ? 12 : 10),
                                length);
  const std::string_view type = dictionary_value(header, "'descr'");
  const std::string_view order = dictionary_value(header, "'fortran_order'");
  if (order != "False")
    return Diagnostics(path, "is stored in column order", "save it with numpy.ascontiguousarray");
  if (type.find(npy_type(tensor.type)) == std::string_view::npos)
    return Diagnostics(path,
                       fmt::format("holds elements of type {}, input '{}' needs {}", type,
                                   tensor.name, to_string(tensor.type)),
                       "convert the array with astype (quantised values, not reals)");
  const std::optional<Shape> shape = npy_shape(dictionary_value(header, "'shape'"));
  if (!shape)
    return Diagnostics(path, "is a .npy file whose shape cannot be read", "save the array again");
  if (!is_shape_of(*shape, tensor.shape, slices))
    return Diagnostics(
        path,
        fmt::format("is an array of shape [{}], input '{}' needs [{}]{}", fmt::join(*shape, ","),
                    tensor.name, fmt::join(tensor.shape, ","),
                    slices == 1 ? "" : " or a row of such arrays"),
        "transpose or reshape it; the bytes of a .bin file are taken as they are");
  return std::vector<uint8_t>(bytes.begin() + static_cast<std::ptrdiff_t>(data), bytes.end());
}

std::string taken_text(const TensorInfo& tensor) {
  return fmt::format("input '{}' ({}[{}]) takes", tensor.name, to_string(tensor.type),
                     fmt::join(tensor.shape, ","));
}

// No more than can be of use: what is named may be a device that never ends.
Result<std::vector<uint8_t>> read_enough(const std::string& path, const TensorInfo& tensor,
                                         bool any_slices, size_t all) {
  constexpr size_t kLongestHeader = 1 << 16;  // of .npy; numpy itself takes 10,000 bytes
  const std::optional<uint64_t> size = known_size(path);
  if (any_slices && size) return read_file(path);
  const bool is_open = any_slices || (!size && all > kMostOfUnknownSize);
  const size_t most = is_open ? kMostOfUnknownSize : all + kLongestHeader;
  INTARSIA_TRY(std::vector<uint8_t> bytes, read_beginning(path, most));
  if (bytes.size() <= most) return bytes;
  if (is_open)
    return Diagnostics(path,
                       fmt::format("is longer than the {} GiB that are read of what has no known "
                                   "size",
                                   kMostOfUnknownSize >> 30),
                       "give a file");
  return Diagnostics(
      path,
      size ? fmt::format("has {} bytes, {} {}", *size, taken_text(tensor), all)
           : fmt::format("is longer than the {} bytes that {}", all, taken_text(tensor)),
      "give the tensor's bytes in the model's input type");
}

}  // namespace

Result<std::vector<uint8_t>> read_tensor_file(const std::string& path, const TensorInfo& tensor,
                                              int32_t slices) {
  const size_t one = static_cast<size_t>(tensor.bytes), all = one * static_cast<size_t>(slices);
  INTARSIA_TRY(std::vector<uint8_t> bytes, read_enough(path, tensor, slices == kAnySlices, all));
  if (bytes.size() >= kNpyMagic.size() &&
      std::memcmp(bytes.data(), kNpyMagic.data(), kNpyMagic.size()) == 0) {
    INTARSIA_TRY(bytes, npy_data(path, bytes, tensor, slices));
  }
  const bool fits = slices == kAnySlices ? one > 0 && !bytes.empty() && bytes.size() % one == 0
                                         : bytes.size() == one || bytes.size() == all;
  if (!fits)
    return Diagnostics(path,
                       fmt::format("has {} bytes, {} {}{}", bytes.size(), taken_text(tensor), one,
                                   slices > 1 ? fmt::format(", or {} for {} runs", all, slices)
                                   : slices == kAnySlices ? ", or a multiple of that"
                                                          : ""),
                       "give the tensor's bytes in the model's input type");
  return bytes;
}

}  // namespace intarsia
