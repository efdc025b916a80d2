// TFLite Micro's audio front end: from a spectrum to what a network reads. Its integers have no scales: what they count is
// agreed upon between the operators.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "operators/families.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

// ---- rules ----

bool is_row(OpCheck& check, size_t operand, std::string_view name) {
  return check.rank(operand, 1, name);
}

Shapes infer_signal_window(OpCheck& check) {
  const Shape& shape = check.in(0).shape;
  const int64_t shift = check.node.attrs<SignalShiftAttrs>().shift;
  check.require(shift >= 0 && shift <= 30, fmt::format("shifts by {}, 0 to 30 bits", shift));
  if (is_row(check, 1, "window"))
    check.require(!shape.empty() && shape.back() == check.in(1).shape[0],
                  fmt::format("has a window of {} samples for other rows", check.in(1).shape[0]));
  return {shape};
}

Shapes infer_auto_scale(OpCheck& check) {
  is_row(check, 0, "input");
  return {check.in(0).shape, {}};
}

Shapes infer_energy(OpCheck& check) {
  const auto& a = check.node.attrs<SignalEnergyAttrs>();
  if (!is_row(check, 0, "spectrum")) return {};
  const int64_t count = check.in(0).shape[0] / 2;
  check.require(check.in(0).shape[0] % 2 == 0, "needs pairs of real and imaginary parts");
  check.require(0 <= a.begin && a.begin <= a.end && a.end <= count,
                fmt::format("asks for the frequencies {} to {} of {}", a.begin, a.end, count));
  return {{count}};
}

enum FilterBankOperand : size_t {
  kBandInput,
  kBandRising,
  kBandFalling,
  kBandEnergies,
  kBandWeights,
  kBandWidths
};

std::vector<int64_t> elements_of_int16(const OpCheck& check, size_t operand) {
  const auto& bytes = check.module.constant(check.in(operand).constant).bytes;
  std::vector<int64_t> values;
  for (size_t at = 0; at + 2 <= bytes.size(); at += 2) {
    const auto raw = static_cast<uint16_t>(bytes[at] | bytes[at + 1] << 8);
    values.push_back(static_cast<int16_t>(raw));
  }
  return values;
}

Shapes infer_filter_bank(OpCheck& check) {
  static constexpr std::string_view kNames[] = {"energy",         "weights",       "unweights",
                                                "first energies", "first weights", "widths"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    is_row(check, i, kNames[i]);
    if (i > 0)
      check.require(check.in(i).constant.valid(), fmt::format("the {} are no constant", kNames[i]));
  }
  if (!check.ok()) return {};
  const int64_t bands = check.in(kBandWidths).shape[0];
  check.require(bands >= 2, "needs a band and one before it");
  for (const size_t i : {kBandEnergies, kBandWeights})
    check.require(check.in(i).shape[0] == bands,
                  fmt::format("has {} {} for {} bands", check.in(i).shape[0], kNames[i], bands));
  if (!check.ok()) return {};
  const std::vector<int64_t> from = elements_of_int16(check, kBandEnergies),
                             first = elements_of_int16(check, kBandWeights),
                             widths = elements_of_int16(check, kBandWidths);
  const int64_t energies = check.in(kBandInput).shape[0];
  const int64_t weights = std::min(check.in(kBandRising).shape[0], check.in(kBandFalling).shape[0]);
  for (size_t band = 0; band < widths.size() && check.ok(); ++band) {
    if (widths[band] <= 0) continue;
    check.require(from[band] >= 0 && from[band] + widths[band] <= energies,
                  fmt::format("band {} is not among the {} frequencies", band, energies));
    check.require(first[band] >= 0 && first[band] + widths[band] <= weights,
                  fmt::format("band {} has no weights among the {}", band, weights));
  }
  return {{bands - 1}};
}

Shapes infer_square_root(OpCheck& check) {
  is_row(check, 0, "input");
  check.require(element_count(check.in(1).shape) == 1, "needs one shift");
  return {check.in(0).shape};
}

bool of_one_shape(OpCheck& check) {
  return is_row(check, 0, "input") && is_row(check, 1, "noise") &&
         check.require(check.in(0).shape == check.in(1).shape,
                       "needs an estimate of the noise for each channel");
}

Shapes infer_subtraction(OpCheck& check) {
  const auto& a = check.node.attrs<SpectralSubtractionAttrs>();
  of_one_shape(check);
  check.require(check.out(1).type == UInt32, "makes an estimate of the noise of type u32");
  for (const int64_t factor : {a.taken, a.kept, a.odd_taken, a.odd_kept, a.least_remaining})
    check.require(factor >= 0 && factor <= INT32_MAX,
                  fmt::format("has the factor {}, which is negative or too large", factor));
  check.require(a.smoothing_bits >= 0 && a.smoothing_bits <= 31,
                fmt::format("smooths by {} bits, 0 to 31", a.smoothing_bits));
  check.require(a.bits >= 0 && a.bits <= 31,
                fmt::format("has {} bits of fraction, 0 to 31", a.bits));
  return {check.in(0).shape, check.in(0).shape};
}

// Three gains, then four numbers for each power of two.
constexpr int64_t kGains = 125;

Shapes infer_pcan(OpCheck& check) {
  const int64_t shift = check.node.attrs<SignalShiftAttrs>().shift;
  of_one_shape(check);
  check.require(shift >= 0 && shift <= 63, fmt::format("shifts by {}, 0 to 63 bits", shift));
  if (is_row(check, 2, "gains"))
    check.require(check.in(2).shape[0] >= kGains,
                  fmt::format("has {} gains, needs {}", check.in(2).shape[0], kGains));
  return {check.in(0).shape};
}

Shapes infer_signal_log(OpCheck& check) {
  const auto& a = check.node.attrs<SignalLogAttrs>();
  is_row(check, 0, "input");
  check.require(a.shift >= 0 && a.shift <= 31, fmt::format("shifts by {}, 0 to 31 bits", a.shift));
  check.require(a.scale >= 1 && a.scale <= INT32_MAX,
                fmt::format("has the scale {}, which must be positive", a.scale));
  return {check.in(0).shape};
}

// ---- reference ----

Result<void> eval_signal_window(const Invocation& call) {
  const int64_t shift = call.node.attrs<SignalShiftAttrs>().shift, width = call.in(1).shape[0];
  for (int64_t i = 0; i < element_count(call.out().shape); ++i) {
    const int32_t product = call.data<int16_t>(0)[i] * call.data<int16_t>(1)[i % width];
    call.result<int16_t>()[i] = static_cast<int16_t>(std::clamp(product >> shift, -32768, 32767));
  }
  return {};
}

Result<void> eval_auto_scale(const Invocation& call) {
  const int64_t count = call.in().shape[0];
  const int16_t* input = call.data<int16_t>(0);
  unsigned largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, static_cast<unsigned>(std::abs(int{input[i]})));
  const int used = std::bit_width(largest);
  const int shift = largest == 0 ? 0 : std::max(0, 15 - used);
  *call.result<int32_t>(1) = shift;
  std::transform(input, input + count, call.result<int16_t>(),
                 [&](int16_t x) { return static_cast<int16_t>(x * (1 << shift)); });
  return {};
}

Result<void> eval_energy(const Invocation& call) {
  const auto& a = call.node.attrs<SignalEnergyAttrs>();
  const int64_t count = call.out().shape[0];
  std::fill_n(call.result<uint32_t>(), count, 0u);
  for (int64_t i = a.begin; i < a.end; ++i) {
    const int64_t real = call.data<int16_t>(0)[2 * i], imaginary = call.data<int16_t>(0)[2 * i + 1];
    call.result<uint32_t>()[i] = static_cast<uint32_t>(real * real + imaginary * imaginary);
  }
  return {};
}

Result<void> eval_filter_bank(const Invocation& call) {
  const auto sum = [&](int64_t band, size_t weights) {
    uint64_t total = 0;
    for (int64_t i = 0; i < call.data<int16_t>(kBandWidths)[band]; ++i) {
      const int64_t weight =
          call.data<int16_t>(weights)[call.data<int16_t>(kBandWeights)[band] + i];
      const int64_t energy =
          call.data<uint32_t>(kBandInput)[call.data<int16_t>(kBandEnergies)[band] + i];
      total += static_cast<uint64_t>(weight * energy);
    }
    return total;
  };
  for (int64_t channel = 0; channel < call.out().shape[0]; ++channel)
    call.result<int64_t>()[channel] =
        static_cast<int64_t>(sum(channel + 1, kBandRising) + sum(channel, kBandFalling));
  return {};
}

Result<void> eval_square_root(const Invocation& call) {
  const int shift = call.data<int32_t>(1)[0] & 31;
  for (int64_t i = 0; i < call.out().shape[0]; ++i) {
    const auto x = static_cast<uint64_t>(call.data<int64_t>(0)[i]);
    auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(x)));
    root = std::min<uint64_t>(root, UINT32_MAX);
    while (root * root > x) --root;
    while (root < UINT32_MAX && (root + 1) * (root + 1) <= x) ++root;
    const uint64_t most = x >> 32 == 0 ? UINT16_MAX : UINT32_MAX;
    if (x - root * root > root && root != most) ++root;
    call.result<uint32_t>()[i] = static_cast<uint32_t>(root) >> shift;
  }
  return {};
}

Result<void> eval_subtraction(const Invocation& call) {
  const auto& a = call.node.attrs<SpectralSubtractionAttrs>();
  for (int64_t i = 0; i < call.out().shape[0]; ++i) {
    const bool odd = i % 2 == 1;
    const auto taken = static_cast<uint64_t>(odd ? a.odd_taken : a.taken);
    const auto kept = static_cast<uint64_t>(odd ? a.odd_kept : a.kept);
    const uint64_t input = call.data<uint32_t>(0)[i];
    const auto signal = static_cast<uint32_t>(input << a.smoothing_bits);
    const auto noise =
        static_cast<uint32_t>((signal * taken + call.data<uint32_t>(1)[i] * kept) >> a.bits);
    const auto least =
        static_cast<uint32_t>((input * static_cast<uint64_t>(a.least_remaining)) >> a.bits);
    const uint32_t rest = noise > signal ? 0 : (signal - noise) >> a.smoothing_bits;
    call.result<uint32_t>(0)[i] = std::max(rest, least);
    call.result<uint32_t>(1)[i] = a.clamped ? std::min(noise, signal) : noise;
  }
  return {};
}

// The parabola of the power of two, with 15 bits of fraction: start + place * (slope + place * bend).
int16_t gain_at(uint32_t noise, const int16_t* gains) {
  if (noise < 3) return gains[noise];
  const int octave = std::bit_width(noise);
  const int16_t* of = gains + 4 * octave - 6;
  const int64_t place = (octave < 11 ? noise << (11 - octave) : noise >> (octave - 11)) & 1023;
  const int64_t slope = (of[2] * place >> 5) + int64_t{of[1]} * 32;
  return static_cast<int16_t>(
      (static_cast<int32_t>(static_cast<uint32_t>(slope * place + 16384)) >> 15) + of[0]);
}

Result<void> eval_pcan(const Invocation& call) {
  const int64_t shift = call.node.attrs<SignalShiftAttrs>().shift;
  for (int64_t i = 0; i < call.out().shape[0]; ++i) {
    const auto gain =
        static_cast<uint32_t>(int32_t{gain_at(call.data<uint32_t>(1)[i], call.data<int16_t>(2))});
    const auto ratio = static_cast<uint32_t>((uint64_t{call.data<uint32_t>(0)[i]} * gain) >> shift);
    call.result<uint32_t>()[i] = ratio < 8192 ? ratio * ratio >> 20 : (ratio >> 6) - 64;
  }
  return {};
}

// How far the logarithm to base 2 is above the line between two powers of two, at 128 places and the end.
constexpr int64_t kBends = 129;
int64_t bend_at(int64_t place) {
  const double x = static_cast<double>(place) / 128;
  return static_cast<int64_t>(std::floor(65536 * (std::log2(1 + x) - x) + 0.5));
}

Result<void> eval_signal_log(const Invocation& call) {
  const auto& a = call.node.attrs<SignalLogAttrs>();
  std::vector<int64_t> bends;
  for (int64_t i = 0; i < kBends; ++i) bends.push_back(bend_at(i));
  for (int64_t i = 0; i < call.out().shape[0]; ++i) {
    const uint32_t x = call.data<uint32_t>(0)[i] << a.shift;
    call.result<int16_t>()[i] = 0;
    if (x < 2) continue;
    const int64_t whole = std::bit_width(x) - 1;
    const int64_t fraction = ((int64_t{x} << 16) >> whole) - 65536;
    const auto segment = static_cast<size_t>(fraction / 512);
    const int64_t line = ((bends[segment + 1] - bends[segment]) * (fraction % 512)) >> 16;
    const int64_t log2 = (whole << 16) + fraction + bends[segment] + line;
    const auto natural = static_cast<uint32_t>((45426 * log2 + 32768) >> 16);
    const uint32_t scaled = (static_cast<uint32_t>(a.scale) * natural + 32768) >> 16;
    call.result<int16_t>()[i] = static_cast<int16_t>(std::min<uint32_t>(scaled, 32767));
  }
  return {};
}

// ---- C ----

// Whole operands, each as one row.
struct SignalRuns {
  explicit SignalRuns(OpLowering& op) : op(op) {
    std::vector<std::optional<Shape>> inputs;
    std::vector<Shape> outputs;
    for (size_t i = 0; i < op.view.node.inputs.size(); ++i)
      inputs.emplace_back(Shape{element_count(op.view.in(i).shape)});
    for (size_t i = 0; i < op.view.node.outputs.size(); ++i)
      outputs.push_back({element_count(op.view.out(i).shape)});
    op.declare(inputs, outputs);
  }
  tir::BufferRun in(size_t i) const {
    return {op.in(i), {tir::int_imm(0)}, element_count(op.view.in(i).shape), tir::Access::Read};
  }
  tir::BufferRun out(size_t i = 0) const {
    return {op.out(i), {tir::int_imm(0)}, element_count(op.view.out(i).shape), tir::Access::Write};
  }

  OpLowering& op;
};

Stmt lower_signal_window(OpLowering& op) {
  const int64_t width = op.view.in(1).shape[0];
  const int64_t rows = element_count(op.view.in(0).shape) / width;
  op.declare({Shape{rows, width}, Shape{width}}, Shape{rows, width});
  const Expr shift = tir::int_imm(op.view.node.attrs<SignalShiftAttrs>().shift);
  return op.b.loop("row", rows, [&](const Expr& row) {
    return op.b.loop("i", width, [&](const Expr& i) {
      const Expr product = to_i32(op.b.load(op.in(0), {row, i})) * to_i32(op.b.load(op.in(1), {i}));
      return op.b.store(
          op.out(), {row, i},
          clamp(tir::binary(tir::BinaryOp::Shr, product, shift), type_range(Int16), Int16));
    });
  });
}

Stmt lower_auto_scale(OpLowering& op) {
  const SignalRuns run(op);
  return tir::intrinsic("intarsia_signal_auto_scale",
                        {run.in(0), run.out(0), run.out(1), tir::int_imm(op.view.in(0).shape[0])});
}

Stmt lower_energy(OpLowering& op) {
  const auto& a = op.view.node.attrs<SignalEnergyAttrs>();
  const SignalRuns run(op);
  return tir::intrinsic("intarsia_signal_energy",
                        {run.in(0), run.out(), tir::int_imm(a.begin), tir::int_imm(a.end),
                         tir::int_imm(op.view.out().shape[0])});
}

Stmt lower_filter_bank(OpLowering& op) {
  const SignalRuns run(op);
  return tir::intrinsic(
      "intarsia_signal_filter_bank",
      {run.in(kBandInput), run.in(kBandRising), run.in(kBandFalling), run.in(kBandEnergies),
       run.in(kBandWeights), run.in(kBandWidths), run.out(), tir::int_imm(op.view.out().shape[0])});
}

Stmt lower_square_root(OpLowering& op) {
  const SignalRuns run(op);
  return tir::intrinsic("intarsia_signal_square_root",
                        {run.in(0), run.in(1), run.out(), tir::int_imm(op.view.out().shape[0])});
}

Stmt lower_subtraction(OpLowering& op) {
  const auto& a = op.view.node.attrs<SpectralSubtractionAttrs>();
  const SignalRuns run(op);
  const auto factor = [](int64_t value) { return tir::int_imm(value, UInt32); };
  return tir::intrinsic(
      "intarsia_signal_spectral_subtraction",
      {run.in(0), run.in(1), run.out(0), run.out(1), factor(a.taken), factor(a.kept),
       factor(a.odd_taken), factor(a.odd_kept), tir::int_imm(a.smoothing_bits),
       tir::int_imm(a.bits), factor(a.least_remaining), tir::int_imm(a.clamped ? 1 : 0),
       tir::int_imm(op.view.out().shape[0])});
}

Stmt lower_pcan(OpLowering& op) {
  const SignalRuns run(op);
  return tir::intrinsic("intarsia_signal_pcan",
                        {run.in(0), run.in(1), run.in(2), run.out(),
                         tir::int_imm(op.view.node.attrs<SignalShiftAttrs>().shift),
                         tir::int_imm(op.view.out().shape[0])});
}

Stmt lower_signal_log(OpLowering& op) {
  const auto& a = op.view.node.attrs<SignalLogAttrs>();
  const SignalRuns run(op);
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < kBends; ++i)
    for (const int shift : {0, 8}) bytes.push_back(static_cast<uint8_t>(bend_at(i) >> shift));
  const BufferId bends = op.raw_table("bends", Int16, {kBends}, std::move(bytes));
  return tir::intrinsic(
      "intarsia_signal_log",
      {run.in(0), tir::BufferRun{bends, {tir::int_imm(0)}, kBends, tir::Access::Read}, run.out(),
       tir::int_imm(a.shift), tir::int_imm(a.scale, UInt32), tir::int_imm(op.view.out().shape[0])});
}

constexpr TypeRule kSignalWindowTypes[] = {{Int16, Int16, Int16}};
constexpr TypeRule kSampleTypes[] = {{Int16, Int16}};
constexpr TypeRule kEnergyTypes[] = {{Int16, UInt32}};
constexpr TypeRule kFilterBankTypes[] = {{UInt32, Int16, Int16, Int16, Int16, Int16, Int64}};
constexpr TypeRule kRootTypes[] = {{Int64, Int32, UInt32}};
constexpr TypeRule kSubtractionTypes[] = {{UInt32, UInt32, UInt32}};
constexpr TypeRule kPcanTypes[] = {{UInt32, UInt32, Int16, UInt32}};
constexpr TypeRule kSignalLogTypes[] = {{UInt32, Int16}};

constexpr Operator kSignalOperators[] = {
    {.kind = OpKind::SignalWindow,
     .types = kSignalWindowTypes,
     .infer = infer_signal_window,
     .evaluate = eval_signal_window,
     .lower = lower_signal_window},
    {.kind = OpKind::SignalAutoScale,
     .types = kSampleTypes,
     .infer = infer_auto_scale,
     .evaluate = eval_auto_scale,
     .lower = lower_auto_scale},
    {.kind = OpKind::SignalEnergy,
     .types = kEnergyTypes,
     .infer = infer_energy,
     .evaluate = eval_energy,
     .lower = lower_energy},
    {.kind = OpKind::SignalFilterBank,
     .types = kFilterBankTypes,
     .infer = infer_filter_bank,
     .evaluate = eval_filter_bank,
     .lower = lower_filter_bank},
    {.kind = OpKind::SignalSquareRoot,
     .types = kRootTypes,
     .infer = infer_square_root,
     .evaluate = eval_square_root,
     .lower = lower_square_root},
    {.kind = OpKind::SignalSpectralSubtraction,
     .types = kSubtractionTypes,
     .infer = infer_subtraction,
     .evaluate = eval_subtraction,
     .lower = lower_subtraction},
    {.kind = OpKind::SignalPcan,
     .types = kPcanTypes,
     .infer = infer_pcan,
     .evaluate = eval_pcan,
     .lower = lower_pcan},
    {.kind = OpKind::SignalLog,
     .types = kSignalLogTypes,
     .infer = infer_signal_log,
     .evaluate = eval_signal_log,
     .lower = lower_signal_log},
};

}  // namespace

std::span<const Operator> signal_operators() {
  return kSignalOperators;
}

}  // namespace intarsia::operators
