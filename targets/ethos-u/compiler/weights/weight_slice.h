// One slice of a weight stream: its exact size and its bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::targets::ethos_u {

// How values of a slice become bits. A Golomb-Rice code of divisor 2^divisor is a unary quotient and
// `divisor` bits of remainder; the truncated one knows the quotients 0, 1 and 2 only. Uncompressed
// values have `divisor` bits each.
struct WeightCode {
  enum class Kind : uint8_t { GolombRice, Truncated, Uncompressed };
  Kind kind = Kind::GolombRice;
  int32_t divisor = 0;
};
inline constexpr int32_t kWeightDivisors = 6, kZeroDivisors = 4;
inline constexpr int32_t kSliceValues = 1 << 15, kMostQuotient = 31;

// What weight symbols mean: 2 * magnitude + (negative). An index below the size of the palette names
// its entry; others are the symbol, moved by the size of the palette and the direct offset.
struct Palette {
  std::vector<uint16_t> symbols;  // none or 2..32
  int32_t direct_offset = 0;      // 0..31
  int32_t bits = 2;               // of an entry; without entries, of an uncompressed index
  int32_t header_bits() const { return 5 + 5 + 3 + static_cast<int32_t>(symbols.size()) * bits; }
};

inline constexpr int32_t kSliceHeaderBits = 3 + 15 + 3 + 1 + 1;

// Bits of a value's unary part, in the two fields it is split into: one bit for every two of the
// quotient that says whether there is more, and for each that says so one more bit.
struct UnaryBits {
  int32_t first = 1, second = 0;
};
inline UnaryBits unary_bits(const WeightCode& code, int32_t value) {
  const int32_t quotient = value >> code.divisor;
  if (code.kind == WeightCode::Kind::Truncated) return {1, quotient > 0 ? 1 : 0};
  return {quotient / 2 + 1, (quotient + 1) / 2};
}
// False for a quotient that the code does not have.
inline bool codable(const WeightCode& code, int32_t value) {
  switch (code.kind) {
    case WeightCode::Kind::GolombRice:
      return value >> code.divisor <= kMostQuotient;
    case WeightCode::Kind::Truncated:
      return value >> code.divisor <= 2;
    case WeightCode::Kind::Uncompressed:
      return value >> code.divisor == 0;
  }
  return false;
}

// Size of a slice's values, from the sums over its weights and zero runs. The unary parts come in
// fields of fixed size.
int64_t weight_bits(const WeightCode& code, int64_t values, int64_t unary_first,
                    int64_t unary_second);
int64_t zero_bits(int32_t divisor, int64_t values, int64_t unary);

class BitWriter {
 public:
  // At most 32 bits.
  void put(uint32_t value, int32_t bits) {
    pending_ |= uint64_t{value} << pending_bits_;
    pending_bits_ += bits;
    if (pending_bits_ >= 32) flush();
  }
  // Ones up to the next multiple of `bytes`.
  std::vector<uint8_t> finish(size_t bytes);
  int64_t bits() const { return static_cast<int64_t>(bytes_.size()) * 8 + pending_bits_; }

 private:
  void flush();

  std::vector<uint8_t> bytes_;
  uint64_t pending_ = 0;
  int32_t pending_bits_ = 0;
};

struct Slice {
  std::span<const uint16_t> values;    // indices, at least one
  std::span<const int32_t> zero_runs;  // after each value; one more in front with a new palette
  bool has_zero_runs = false;
  WeightCode code;
  int32_t zero_divisor = 0;
  const Palette* new_palette = nullptr;  // null: as before
};
void write_slice(const Slice& slice, BitWriter& out);
void write_end_of_stream(BitWriter& out);

}  // namespace intarsia::targets::ethos_u
