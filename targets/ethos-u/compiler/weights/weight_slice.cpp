#include "weights/weight_slice.h"

#include <algorithm>
#include <array>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kZeroRunsOff = 6, kEndOfStream = 7, kUncompressed = 7;
constexpr int32_t kUnaryField = 12;

int32_t zero_field(int32_t divisor) {
  return divisor < 3 ? 12 : 8;
}

// What one of the two kinds of values has sent. The remainders of values follow one field after their unary parts.
struct Progress {
  int64_t completed = 0;   // values whose unary part is sent
  int32_t quotient = 0;    // what is left to send of the next one's
  int64_t remainders = 0;  // sent
  int64_t due = 0;         // values whose remainders follow the next field
};

uint32_t low_bits(uint32_t value, int32_t bits) {
  return value & ((uint32_t{1} << bits) - 1);
}

// Of unary parts as many as a field takes.
struct Field {
  uint32_t first = 0, second = 0;
  int32_t second_bits = 0;
};

Field weight_field(const Slice& slice, Progress& weight) {
  Field field;
  const auto count = std::ssize(slice.values);
  const int32_t divisor = slice.code.divisor;
  int32_t at = 0;
  if (slice.code.kind == WeightCode::Kind::Truncated) {
    for (; at < kUnaryField && weight.completed < count; ++at, ++weight.completed) {
      const int32_t quotient = slice.values[static_cast<size_t>(weight.completed)] >> divisor;
      if (quotient == 0) continue;
      field.first |= uint32_t{1} << at;
      field.second |= uint32_t{quotient > 1} << field.second_bits++;
    }
    return field;
  }
  // Ones for every two of the quotient, and what remains of it, which is the value's last position.
  int32_t left = weight.quotient;
  while (at < kUnaryField && weight.completed < count) {
    const int32_t pairs = std::min(left / 2, kUnaryField - at);
    const uint32_t ones = (uint32_t{1} << pairs) - 1;
    field.first |= ones << at;
    field.second |= ones << field.second_bits;
    field.second_bits += pairs;
    at += pairs;
    left -= 2 * pairs;
    if (at == kUnaryField) break;
    field.first |= static_cast<uint32_t>(left) << at++;
    field.second_bits += left;
    ++weight.completed;
    left = weight.completed < count ? slice.values[static_cast<size_t>(weight.completed)] >> divisor
                                    : 0;
  }
  weight.quotient = left;
  return field;
}

uint32_t zero_field_of(const Slice& slice, Progress& zero) {
  const int32_t size = zero_field(slice.zero_divisor);
  const auto count = std::ssize(slice.zero_runs);
  uint32_t field = 0;
  int32_t left = zero.quotient;
  for (int32_t at = 0; at < size && zero.completed < count;) {
    const int32_t ones = std::min(left, size - at);
    field |= ((uint32_t{1} << ones) - 1) << at;
    at += ones;
    left -= ones;
    if (at == size) break;
    ++at;
    ++zero.completed;
    left = zero.completed < count
               ? slice.zero_runs[static_cast<size_t>(zero.completed)] >> slice.zero_divisor
               : 0;
  }
  zero.quotient = left;
  return field;
}

template <class Value>
void put_remainders(std::span<const Value> values, int32_t bits, Progress& progress,
                    BitWriter& out) {
  if (bits > 0)
    for (int64_t i = progress.remainders; i < progress.due; ++i)
      out.put(low_bits(static_cast<uint32_t>(values[static_cast<size_t>(i)]), bits), bits);
  progress.remainders = progress.due;
  progress.due = progress.completed;
}

}  // namespace

int64_t weight_bits(const WeightCode& code, int64_t values, int64_t unary_first,
                    int64_t unary_second) {
  const int64_t remainders = values * code.divisor;
  if (code.kind == WeightCode::Kind::Uncompressed) return remainders;
  return remainders + round_up(unary_first, kUnaryField) + unary_second;
}

int64_t zero_bits(int32_t divisor, int64_t values, int64_t unary) {
  const int32_t field = zero_field(divisor);
  return values * divisor + round_up(unary, field);
}

std::vector<uint8_t> BitWriter::finish(size_t bytes) {
  if (pending_bits_ % 8 != 0) {
    const int32_t rest = 8 - pending_bits_ % 8;
    put(low_bits(~uint32_t{0}, rest), rest);
  }
  for (; pending_bits_ > 0; pending_bits_ -= 8, pending_ >>= 8)
    bytes_.push_back(static_cast<uint8_t>(pending_));
  bytes_.resize(round_up(bytes_.size(), bytes), 0xFF);
  return std::move(bytes_);
}

void BitWriter::flush() {
  const size_t at = bytes_.size();
  bytes_.resize(at + 4);
  for (size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<uint8_t>(pending_ >> (8 * i));
  pending_ >>= 32;
  pending_bits_ -= 32;
}

void write_slice(const Slice& slice, BitWriter& out) {
  const int64_t value_count = static_cast<int64_t>(slice.values.size());
  INTARSIA_CHECK(value_count >= 1 && value_count <= kSliceValues, "slices have 1..32768 values");
  const bool raw = slice.code.kind == WeightCode::Kind::Uncompressed;
  out.put(static_cast<uint32_t>(slice.has_zero_runs ? slice.zero_divisor : kZeroRunsOff), 3);
  out.put(static_cast<uint32_t>(value_count - 1), 15);
  out.put(static_cast<uint32_t>(raw ? kUncompressed : slice.code.divisor), 3);
  out.put(slice.code.kind == WeightCode::Kind::Truncated ? 1 : 0, 1);
  out.put(slice.new_palette != nullptr ? 1 : 0, 1);
  if (const Palette* palette = slice.new_palette) {
    const size_t entries = palette->symbols.size();
    out.put(static_cast<uint32_t>(palette->direct_offset), 5);
    out.put(static_cast<uint32_t>(entries == 0 ? 0 : entries - 1), 5);
    out.put(static_cast<uint32_t>(palette->bits - 2), 3);
    for (const uint16_t symbol : palette->symbols) out.put(symbol, palette->bits);
  }

  const int64_t zero_count = std::ssize(slice.zero_runs);
  const int64_t raw_field = slice.code.divisor > 5 ? 8 : kUnaryField;
  Progress weight, zero;
  if (!raw) weight.quotient = slice.values[0] >> slice.code.divisor;
  if (slice.has_zero_runs) zero.quotient = slice.zero_runs[0] >> slice.zero_divisor;
  bool any = true;
  while (any) {
    // The decoder's two queues are kept in step: weights run ahead of zeros by at most eight.
    const int64_t balance = slice.has_zero_runs ? weight.completed - zero.completed : 0;
    const bool send_weights = balance < 8 && weight.completed < value_count;
    const bool send_zeros = balance >= 0 && zero.completed < zero_count;
    Field field;
    if (send_weights && raw) weight.completed = std::min(weight.completed + raw_field, value_count);
    if (send_weights && !raw) {
      field = weight_field(slice, weight);
      out.put(field.first, kUnaryField);
    }
    if (send_zeros) out.put(zero_field_of(slice, zero), zero_field(slice.zero_divisor));
    if (send_weights && !raw) out.put(field.second, field.second_bits);
    put_remainders(slice.values, slice.code.divisor, weight, out);
    put_remainders(slice.zero_runs, slice.zero_divisor, zero, out);
    any = send_weights || send_zeros;
  }
}

void write_end_of_stream(BitWriter& out) {
  out.put(kEndOfStream, 3);
}

}  // namespace intarsia::targets::ethos_u
