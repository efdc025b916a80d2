#include "arrays.h"

#include <utility>

namespace nb = nanobind;

namespace intarsia::python {
namespace {

// Arrays have no elements of four bits: those of such tensors have eight.
nb::dlpack::dtype dlpack_type(DataType type) {
  using Code = nb::dlpack::dtype_code;
  const Code code = type == DataType::Bool      ? Code::Bool
                    : type == DataType::Float32 ? Code::Float
                    : is_signed(type)           ? Code::Int
                                                : Code::UInt;
  const int width = type == DataType::Int4 ? 8 : bits(type);
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(width), 1};
}

const char* numpy_name(DataType type) {
  switch (type) {
    case DataType::Bool:
      return "bool";
    case DataType::Int4:
    case DataType::Int8:
      return "int8";
    case DataType::UInt8:
      return "uint8";
    case DataType::Int16:
      return "int16";
    case DataType::UInt16:
      return "uint16";
    case DataType::Int32:
      return "int32";
    case DataType::UInt32:
      return "uint32";
    case DataType::Int64:
      return "int64";
    case DataType::Float32:
      return "float32";
  }
  return "";
}

// Two elements a byte, low nibble first; each value begins with a byte.
std::vector<uint8_t> packed(const uint8_t* elements, int64_t count, size_t values) {
  std::vector<uint8_t> bytes;
  for (size_t v = 0; v < values; ++v)
    for (int64_t i = 0; i < count; ++i, ++elements) {
      if (i % 2 == 0)
        bytes.push_back(*elements & 15);
      else
        bytes.back() |= static_cast<uint8_t>((*elements & 15) << 4);
    }
  return bytes;
}

std::vector<uint8_t> unpacked(const std::vector<uint8_t>& bytes, int64_t count, size_t values) {
  std::vector<uint8_t> elements;
  const auto size = static_cast<size_t>((count + 1) / 2);
  for (size_t v = 0; v < values; ++v)
    for (int64_t i = 0; i < count; ++i) {
      const int nibble = bytes[v * size + static_cast<size_t>(i / 2)] >> (i % 2 == 0 ? 0 : 4) & 15;
      elements.push_back(static_cast<uint8_t>(nibble >= 8 ? nibble - 16 : nibble));
    }
  return elements;
}

TensorFacts facts(const std::string& name, DataType type, const Shape& shape,
                  const graph::Quantization& quantization) {
  return {name,
          numpy_name(type),
          std::string(to_string(type)),
          shape,
          quantization.scale,
          quantization.zero_point,
          quantization.axis};
}

}  // namespace

TensorFacts facts_of(const graph::Tensor& tensor) {
  return facts(tensor.name, tensor.type, tensor.shape, tensor.quantization);
}

TensorFacts facts_of(const TensorInfo& tensor) {
  return facts(tensor.name, tensor.type, tensor.shape, tensor.quantization);
}

Array to_array(DataType type, const Shape& shape, std::vector<uint8_t> bytes, size_t samples) {
  if (type == DataType::Int4)
    bytes = unpacked(bytes, element_count(shape), samples == 0 ? 1 : samples);
  auto* kept = new std::vector<uint8_t>(std::move(bytes));
  const nb::capsule owner(kept,
                          [](void* it) noexcept { delete static_cast<std::vector<uint8_t>*>(it); });
  std::vector<size_t> extents(shape.begin(), shape.end());
  if (samples > 0) extents.insert(extents.begin(), samples);
  return Array(kept->data(), extents.size(), extents.data(), owner, nullptr, dlpack_type(type));
}

std::vector<uint8_t> bytes_of(DataType type, const Shape& shape, const Operand& operand,
                              size_t samples) {
  const auto* bytes = static_cast<const uint8_t*>(operand.data());
  if (type == DataType::Int4)
    return packed(bytes, element_count(shape), samples == 0 ? 1 : samples);
  return {bytes, bytes + operand.nbytes()};
}

}  // namespace intarsia::python
