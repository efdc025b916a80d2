#include "wide_weights.h"

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::cortex_m {
namespace {

// Elements of a group in the order they lie in.
const std::vector<size_t>& group_order(CoreClass core) {
  static const std::vector<size_t> dsp = {0, 2, 1, 3}, mve = {0, 1, 2, 3, 4, 5, 6, 7};
  return core == CoreClass::Mve ? mve : dsp;
}

}  // namespace

std::string wide_prefix(CoreClass core) {
  return core == CoreClass::Mve ? "intarsia_mve_" : "intarsia_dsp_";
}

bool has_wide_kernels(CoreClass core) {
  return core == CoreClass::Dsp || core == CoreClass::Mve;
}

int64_t wide_run(CoreClass core, int64_t count) {
  const auto group = static_cast<int64_t>(group_order(core).size());
  return round_up(count, group);
}

std::vector<uint8_t> wide_weights(CoreClass core, const WeightRows& rows) {
  const std::vector<size_t>& order = group_order(core);
  std::vector<uint8_t> bytes;
  const size_t count = rows.at(0).size();
  for (size_t first = 0; first < rows.size(); first += kWideLanes)
    for (size_t group = 0; group < count; group += order.size())
      for (size_t channel = first; channel < first + kWideLanes; ++channel)
        for (const size_t element : order) {
          const bool is_there = channel < rows.size() && group + element < count;
          bytes.push_back(is_there ? static_cast<uint8_t>(rows[channel][group + element])
                                   : uint8_t{0});
        }
  return bytes;
}

WeightRows weight_rows(const OpView& view, size_t input, int64_t rows) {
  const std::vector<int64_t> values = view.values(input);
  const size_t row = values.size() / static_cast<size_t>(rows);
  WeightRows result(static_cast<size_t>(rows), std::vector<int8_t>(row));
  for (size_t i = 0; i < values.size(); ++i)
    result[i / row][i % row] = static_cast<int8_t>(values[i]);
  return result;
}

void append_word(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 4; ++byte)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

void append_wide(std::vector<uint8_t>& bytes, int64_t value) {
  append_word(bytes, value);
  append_word(bytes, static_cast<int64_t>(static_cast<uint64_t>(value) >> 32));
}

}  // namespace intarsia::targets::cortex_m
