#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "intarsia/build.h"
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

// Strips the .npy header (versions 1 to 3) after checking it against the tensor.
Result<std::vector<uint8_t>> npy_data(const std::string& path, const std::vector<uint8_t>& bytes,
                                      const TensorInfo& tensor) {
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
  return std::vector<uint8_t>(bytes.begin() + static_cast<std::ptrdiff_t>(data), bytes.end());
}

}  // namespace

Result<std::vector<uint8_t>> read_tensor_file(const std::string& path, const TensorInfo& tensor,
                                              int32_t slices) {
  INTARSIA_TRY(std::vector<uint8_t> bytes, read_file(path));
  if (bytes.size() >= kNpyMagic.size() &&
      std::memcmp(bytes.data(), kNpyMagic.data(), kNpyMagic.size()) == 0) {
    INTARSIA_TRY(bytes, npy_data(path, bytes, tensor));
  }
  const size_t one = static_cast<size_t>(tensor.bytes), all = one * static_cast<size_t>(slices);
  if (bytes.size() != one && bytes.size() != all)
    return Diagnostics(
        path,
        fmt::format("has {} bytes, input '{}' ({}[{}]) takes {}{}", bytes.size(), tensor.name,
                    to_string(tensor.type), fmt::join(tensor.shape, ","), one,
                    slices > 1 ? fmt::format(", or {} for {} runs", all, slices) : ""),
        "give the tensor's bytes in the model's input type");
  return bytes;
}

}  // namespace intarsia
