#include "standard_lowering/op_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/check.h"

namespace intarsia::standard_lowering {

std::vector<int64_t> OpView::values(size_t input) const {
  const graph::Tensor& tensor = in(input);
  INTARSIA_CHECK(is_constant(input) && is_integer(tensor.type) && bits(tensor.type) >= 8,
                 "values are asked of a constant of whole-byte integers");
  const std::vector<uint8_t>& bytes = module.constant(tensor.constant).bytes;
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

}  // namespace intarsia::standard_lowering
