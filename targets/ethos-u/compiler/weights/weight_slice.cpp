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

// One position of a unary field.
struct UnaryStep {
  bool more = false, second = false, completes = false;
};

std::vector<UnaryStep> weight_steps(const Slice& slice) {
  std::vector<UnaryStep> steps;
  steps.reserve(slice.values.size() * 2);
  const bool truncated = slice.code.kind == WeightCode::Kind::Truncated;
  for (const uint16_t value : slice.values) {
    if (slice.code.kind == WeightCode::Kind::Uncompressed) {
      steps.push_back({false, false, true});
      continue;
    }
    int32_t quotient = value >> slice.code.divisor;
    if (truncated) {
      steps.push_back({quotient > 0, quotient > 1, true});
      continue;
    }
    for (; quotient >= 2; quotient -= 2) steps.push_back({true, true, false});
    steps.push_back({quotient > 0, false, true});
  }
  return steps;
}

std::vector<UnaryStep> zero_steps(const Slice& slice) {
  std::vector<UnaryStep> steps;
  if (!slice.has_zero_runs) return steps;
  for (const int32_t run : slice.zero_runs) {
    for (int32_t quotient = run >> slice.zero_divisor; quotient > 0; --quotient)
      steps.push_back({true, false, false});
    steps.push_back({false, false, true});
  }
  return steps;
}

// Values whose unary part is sent; their remainders follow one field later.
struct Progress {
  size_t step = 0;         // next unary position
  int64_t completed = 0;   // values
  int64_t remainders = 0;  // sent
};

uint32_t low_bits(uint32_t value, int32_t bits) {
  return value & ((uint32_t{1} << bits) - 1);
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

void BitWriter::put(uint32_t value, int32_t bits) {
  pending_ |= uint64_t{value} << pending_bits_;
  for (pending_bits_ += bits; pending_bits_ >= 8; pending_bits_ -= 8, pending_ >>= 8)
    bytes_.push_back(static_cast<uint8_t>(pending_));
}

std::vector<uint8_t> BitWriter::finish(size_t bytes) {
  if (pending_bits_ > 0) put(low_bits(~uint32_t{0}, 8 - pending_bits_), 8 - pending_bits_);
  bytes_.resize(round_up(bytes_.size(), bytes), 0xFF);
  return std::move(bytes_);
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

  const std::vector<UnaryStep> weights = weight_steps(slice), zeros = zero_steps(slice);
  const int64_t zero_count = slice.has_zero_runs ? static_cast<int64_t>(slice.zero_runs.size()) : 0;
  const size_t weight_field = raw && slice.code.divisor > 5 ? 8 : kUnaryField;
  Progress weight, zero;
  int64_t weights_due = 0, zeros_due = 0;  // whose remainders follow the next field
  bool any = true;
  while (any) {
    // The decoder's two queues are kept in step: weights run ahead of zeros by at most eight.
    const int64_t balance = slice.has_zero_runs ? weight.completed - zero.completed : 0;
    const bool send_weights = balance < 8 && weight.completed < value_count;
    const bool send_zeros = balance >= 0 && zero.completed < zero_count;
    uint32_t first = 0, second = 0;
    int32_t second_bits = 0;
    if (send_weights) {
      for (size_t i = 0; i < weight_field && weight.step < weights.size(); ++i, ++weight.step) {
        const UnaryStep& step = weights[weight.step];
        if (step.more) {
          first |= uint32_t{1} << i;
          second |= static_cast<uint32_t>(step.second) << second_bits++;
        }
        weight.completed += step.completes;
      }
      if (!raw) out.put(first, kUnaryField);
    }
    if (send_zeros) {
      const int32_t field = zero_field(slice.zero_divisor);
      uint32_t unary = 0;
      for (int32_t i = 0; i < field && zero.step < zeros.size(); ++i, ++zero.step) {
        if (zeros[zero.step].more) unary |= uint32_t{1} << i;
        zero.completed += zeros[zero.step].completes;
      }
      out.put(unary, field);
    }
    if (send_weights && !raw) out.put(second, second_bits);
    for (; weight.remainders < weights_due; ++weight.remainders)
      out.put(low_bits(slice.values[static_cast<size_t>(weight.remainders)], slice.code.divisor),
              slice.code.divisor);
    for (; zero.remainders < zeros_due; ++zero.remainders)
      out.put(low_bits(static_cast<uint32_t>(slice.zero_runs[static_cast<size_t>(zero.remainders)]),
                       slice.zero_divisor),
              slice.zero_divisor);
    weights_due = weight.completed;
    zeros_due = zero.completed;
    any = send_weights || send_zeros;
  }
}

void write_end_of_stream(BitWriter& out) {
  out.put(kEndOfStream, 3);
}

}  // namespace intarsia::targets::ethos_u
