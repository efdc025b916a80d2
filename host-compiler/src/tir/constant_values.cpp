#include "tir/constant_values.h"

#include "tir/fold.h"

namespace intarsia::tir {

std::vector<int64_t> integer_values(const Constant& constant) {
  const bool whole =
      static_cast<int64_t>(constant.bytes.size()) == byte_size(constant.type, constant.extents);
  if (!whole || constant.type == DataType::Float32) return {};
  std::vector<int64_t> values;
  const auto count = static_cast<size_t>(element_count(constant.extents));
  values.reserve(count);
  if (constant.type == DataType::Int4) {
    for (size_t i = 0; i < count; ++i)
      values.push_back(wrap(DataType::Int4, constant.bytes[i / 2] >> (i % 2 * 4)));
    return values;
  }
  const size_t size = static_cast<size_t>(bits(constant.type)) / 8;
  for (size_t i = 0; i < count; ++i) {
    uint64_t raw = 0;
    for (size_t b = 0; b < size; ++b) raw |= uint64_t{constant.bytes[i * size + b]} << (8 * b);
    values.push_back(wrap(constant.type, static_cast<int64_t>(raw)));
  }
  return values;
}

}  // namespace intarsia::tir
