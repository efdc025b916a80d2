#include "weights/code_rows.h"

#include <array>

#include "intarsia/plugin/check.h"
#include "weights/weight_choice.h"

namespace intarsia::targets::ethos_u {
namespace {

// Of the codes that every palette has: searches begin with this table for every section.
std::array<Columns, kSymbols> make_common_rows() {
  std::array<Columns, kSymbols> rows;
  rows.fill(Columns::filled(kImpossible));
  const std::vector<WeightCode> codes = common_codes();
  for (size_t c = 0; c < codes.size(); ++c)
    for (int32_t index = 0; index < kSymbols && codable(codes[c], index); ++index)
      rows[static_cast<size_t>(index)].set(c, bits_of(codes[c], index));
  return rows;
}

}  // namespace

std::vector<Columns> bits_by_index(const std::vector<WeightCode>& codes, size_t count) {
  static const std::array<Columns, kSymbols> common = make_common_rows();
  constexpr size_t kCommon = 2 * kWeightDivisors;
  INTARSIA_CHECK(codes.size() >= kCommon && codes.size() <= kColumns, "every code has its column");
  std::vector<Columns> rows(common.begin(), common.begin() + static_cast<ptrdiff_t>(count));
  for (size_t c = kCommon; c < codes.size(); ++c)
    for (size_t i = 0; i < count && codable(codes[c], static_cast<int32_t>(i)); ++i)
      rows[i].set(c, bits_of(codes[c], static_cast<int32_t>(i)));
  return rows;
}

}  // namespace intarsia::targets::ethos_u
