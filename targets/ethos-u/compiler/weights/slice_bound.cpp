#include "weights/slice_bound.h"

#include <algorithm>
#include <array>
#include <limits>

#include "intarsia/plugin/check.h"
#include "weights/weight_choice.h"

namespace intarsia::targets::ethos_u {
namespace {

// Values that are looked at together. In fewer of them a change hardly pays, in more it is taken for too good.
constexpr size_t kLeaf = 16;
// Codes are told apart in stretches of up to this many leaves, twice as many in each level.
constexpr int kMostLevel = 10;
constexpr int32_t kImpossibleLeaf = 1 << 20;

static_assert(int64_t{kImpossibleLeaf} << kMostLevel < std::numeric_limits<int32_t>::max());

// The same as Columns of what no longer fits 16 bits.
struct WideColumns {
  using Four [[gnu::vector_size(16)]] = int32_t;
  std::array<Four, kColumns / 4> fours;

  static Four least_of(const Four& a, const Four& b) { return a < b ? a : b; }
  int32_t least() const {
    Four all = least_of(least_of(fours[0], fours[1]), least_of(fours[2], fours[3]));
    all = least_of(all, __builtin_shufflevector(all, all, 2, 3, 0, 1));
    return std::min(all[0], all[1]);
  }
  WideColumns& operator+=(const WideColumns& other) {
    for (size_t i = 0; i < fours.size(); ++i) fours[i] += other.fours[i];
    return *this;
  }
};

WideColumns widened(const Columns& columns) {
  WideColumns result;
  for (size_t i = 0; i < result.fours.size(); ++i) {
    const Columns::Eight& half = columns.eights[i / 2];
    const size_t at = i % 2 * 4;
    const WideColumns::Four four = {half[at], half[at + 1], half[at + 2], half[at + 3]};
    const WideColumns::Four impossible = four >= kImpossible;
    result.fours[i] = four | (impossible & kImpossibleLeaf);
  }
  return result;
}

// A stretch of values: its bits by code, the least of them, and the least with a change within it.
struct Stretch {
  int level = 0;
  WideColumns bits;  // up to kMostLevel
  int64_t one = 0, several = 0;
};

// Whatever begins in the second of two without a change is taken to have had no other code in the first, which is too good.
void append(Stretch& first, const Stretch& second, int64_t change) {
  const int64_t several = std::min({first.several + std::min(second.one, second.several),
                                    first.one + second.several, change + first.one + second.one});
  if (first.level < kMostLevel) {
    first.bits += second.bits;
    first.one = first.bits.least();
  } else {
    first.one += second.one;
  }
  first.several = several;
  ++first.level;
}

// The least bits of an index under any code; of few values they are not worth a table.
class LeastBits {
 public:
  LeastBits(const std::vector<Columns>& rows, size_t values) : rows_(rows) {
    if (values < rows.size()) return;
    known_.reserve(rows.size());
    for (const Columns& row : rows) known_.push_back(row.least()[0]);
  }
  int32_t operator[](size_t index) const {
    return known_.empty() ? rows_[index].least()[0] : known_[index];
  }

 private:
  const std::vector<Columns>& rows_;
  std::vector<int32_t> known_;
};

}  // namespace

SliceBound slice_bound(std::span<const uint16_t> indices, const std::vector<Columns>& rows,
                       int64_t change) {
  INTARSIA_CHECK(!indices.empty(), "a section has a value at least");
  const LeastBits least(rows, indices.size());
  std::vector<Stretch> stretches;  // of falling levels, as the digits of a binary number
  for (size_t begin = 0; begin < indices.size(); begin += kLeaf) {
    const auto leaf = indices.subspan(begin, std::min(kLeaf, indices.size() - begin));
    Columns bits = rows[leaf[0]];
    int64_t each = least[leaf[0]];
    for (const uint16_t index : leaf.subspan(1)) {
      bits.add_saturated(rows[index]);
      each += least[index];
    }
    Stretch& made = stretches.emplace_back();
    made.bits = widened(bits);
    made.one = made.bits.least();
    made.several = change + each;
    while (stretches.size() > 1 &&
           stretches[stretches.size() - 2].level == stretches.back().level) {
      append(stretches[stretches.size() - 2], stretches.back(), change);
      stretches.pop_back();
    }
  }
  while (stretches.size() > 1) {
    Stretch& before = stretches[stretches.size() - 2];
    append(before, stretches.back(), change);
    stretches.pop_back();
  }
  return {stretches[0].one, stretches[0].several};
}

}  // namespace intarsia::targets::ethos_u
