#include "intarsia/plugin/op_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/plugin/check.h"

namespace intarsia::operators {

std::vector<uint8_t> unpacked_int4(const std::vector<uint8_t>& packed, int64_t count) {
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t pair = packed[static_cast<size_t>(i / 2)];
    const int nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
    bytes.push_back(static_cast<uint8_t>(nibble < 8 ? nibble : nibble - 16));
  }
  return bytes;
}

DataType OpView::stored_type(size_t input) const {
  return in(input).type == DataType::Int4 ? DataType::Int8 : in(input).type;
}

std::vector<uint8_t> OpView::stored_bytes(size_t input) const {
  INTARSIA_CHECK(is_constant(input), "bytes are asked of a constant");
  const std::vector<uint8_t>& bytes = module.constant(in(input).constant).bytes;
  if (in(input).type != DataType::Int4) return bytes;
  return unpacked_int4(bytes, element_count(in(input).shape));
}

std::vector<int64_t> OpView::values(size_t input) const {
  const graph::Tensor tensor{"", stored_type(input), in(input).shape, {}, {}};
  INTARSIA_CHECK(is_integer(tensor.type), "values are asked of a constant of integers");
  const std::vector<uint8_t> bytes = stored_bytes(input);
  const size_t size = static_cast<size_t>(bits(tensor.type)) / 8;
  std::vector<int64_t> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t raw = 0;
    for (size_t b = 0; b < size; ++b) raw |= uint64_t{bytes[i * size + b]} << (8 * b);
    const int unused = static_cast<int>(64 - 8 * size);
    values[i] = is_signed(tensor.type) ? static_cast<int64_t>(raw << unused) >> unused
                                       : static_cast<int64_t>(raw);
  }
  return values;
}

std::string describe(const graph::Tensor& tensor) {
  return fmt::format("{}[{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
}

std::string OpView::signature() const {
  std::string text{graph::to_string(node.kind)};
  const char* separator = " ";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!has(i) || is_constant(i)) continue;
    text += separator + describe(in(i));
    separator = ", ";
  }
  return text + " -> " + describe(out());
}

}  // namespace intarsia::operators
