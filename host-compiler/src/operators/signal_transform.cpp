// Fourier transforms of real int16 samples. TFLite Micro's halve as they go, so that nothing overflows, and round at every
// step; so every step is part of what they compute.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "operators/families.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

constexpr int64_t kMostPoints = 1 << 15;

bool has_length(OpCheck& check) {
  const int64_t length = check.node.attrs<SignalFftAttrs>().length;
  return check.require(
      length >= 4 && length <= kMostPoints && std::has_single_bit(static_cast<uint64_t>(length)),
      fmt::format("is a transform of {} points", length),
      fmt::format("powers of two from 4 to {} are possible", kMostPoints));
}

Shapes infer_rfft(OpCheck& check) {
  Shape shape = check.in(0).shape;
  const int64_t length = check.node.attrs<SignalFftAttrs>().length;
  if (!has_length(check) || !check.require(!shape.empty(), "needs rows of samples")) return {};
  check.require(shape.back() <= length,
                fmt::format("transforms {} samples by {} points", shape.back(), length));
  shape.back() = length + 2;
  return {shape};
}

Shapes infer_irfft(OpCheck& check) {
  Shape shape = check.in(0).shape;
  const int64_t length = check.node.attrs<SignalFftAttrs>().length;
  if (!has_length(check) || !check.require(!shape.empty(), "needs rows of frequencies")) return {};
  check.require(shape.back() == length + 2,
                fmt::format("has rows of {} numbers, needs {} for {} points", shape.back(),
                            length + 2, length));
  shape.back() = length;
  return {shape};
}

// ---- reference ----

int16_t q15(double x) {
  return static_cast<int16_t>(std::floor(0.5 + 32767 * x));
}

// exp(i * angle) in Q15.
struct FixedComplex {
  int16_t real = 0, imaginary = 0;

  static FixedComplex turn(double angle) { return {q15(std::cos(angle)), q15(std::sin(angle))}; }
  static FixedComplex kept(int real, int imaginary) {
    return {static_cast<int16_t>(real), static_cast<int16_t>(imaginary)};
  }
  friend FixedComplex operator+(FixedComplex a, FixedComplex b) {
    return kept(a.real + b.real, a.imaginary + b.imaginary);
  }
  friend FixedComplex operator-(FixedComplex a, FixedComplex b) {
    return kept(a.real - b.real, a.imaginary - b.imaginary);
  }
  friend FixedComplex operator*(FixedComplex a, FixedComplex b) {
    const auto rounded = [](int64_t x) { return static_cast<int16_t>((x + 16384) >> 15); };
    return {rounded(int64_t{a.real} * b.real - int64_t{a.imaginary} * b.imaginary),
            rounded(int64_t{a.real} * b.imaginary + int64_t{a.imaginary} * b.real)};
  }
  FixedComplex over(int parts) const {
    const int factor = 32767 / parts;
    return kept((real * factor + 16384) >> 15, (imaginary * factor + 16384) >> 15);
  }
  FixedComplex conjugate() const { return kept(real, -imaginary); }
  FixedComplex times_i() const { return kept(-imaginary, real); }
};
using Spectrum = std::vector<FixedComplex>;

// The turns of a transform of `points`; forwards: clockwise.
Spectrum turns_of(int64_t points, bool forwards) {
  Spectrum turns;
  for (int64_t k = 0; k < points; ++k) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
    turns.push_back(FixedComplex::turn(forwards ? -angle : angle));
  }
  return turns;
}

// What takes even and odd samples apart: from the first frequency on.
Spectrum halves_of(int64_t points, bool forwards) {
  Spectrum halves;
  for (int64_t k = 1; k <= points / 2; ++k) {
    const double angle =
        std::numbers::pi * (static_cast<double>(k) / static_cast<double>(points) + 0.5);
    halves.push_back(FixedComplex::turn(forwards ? -angle : angle));
  }
  return halves;
}

// The transform of every `stride`-th sample from `x` on; `turns` are those of all samples.
Spectrum transformed(const FixedComplex* x, int64_t points, int64_t stride, const Spectrum& turns,
                     bool forwards) {
  if (points == 1) return {*x};
  const int parts = points % 4 == 0 ? 4 : 2;
  const int64_t each = points / parts;
  std::vector<Spectrum> part;
  for (int i = 0; i < parts; ++i)
    part.push_back(transformed(x + i * stride, each, stride * parts, turns, forwards));
  Spectrum result(static_cast<size_t>(points));
  for (int64_t k = 0; k < each; ++k) {
    std::vector<FixedComplex> p;
    for (int i = 0; i < parts; ++i) {
      p.push_back(part[static_cast<size_t>(i)][static_cast<size_t>(k)].over(parts));
      if (i > 0) p.back() = p.back() * turns[static_cast<size_t>(i * k * stride)];
    }
    const auto at = [&](int64_t quarter) -> FixedComplex& {
      return result[static_cast<size_t>(k + quarter * each)];
    };
    if (parts == 2) {
      at(0) = p[0] + p[1], at(1) = p[0] - p[1];
      continue;
    }
    const FixedComplex even = p[0] + p[2], odd = p[1] + p[3];
    const FixedComplex rest = p[0] - p[2], turned = (p[1] - p[3]).times_i();
    at(0) = even + odd, at(2) = even - odd;
    at(1) = forwards ? rest - turned : rest + turned;
    at(3) = forwards ? rest + turned : rest - turned;
  }
  return result;
}

Result<void> eval_rfft(const Invocation& call) {
  const int64_t length = call.node.attrs<SignalFftAttrs>().length, points = length / 2;
  const int64_t samples = call.in().shape.back();
  const Spectrum turns = turns_of(points, true), halves = halves_of(points, true);
  for (int64_t row = 0; row < element_count(call.in().shape) / samples; ++row) {
    const int16_t* x = call.data<int16_t>(0) + row * samples;
    const auto sample = [&](int64_t i) { return i < samples ? x[i] : int16_t{0}; };
    Spectrum packed;
    for (int64_t i = 0; i < points; ++i) packed.push_back({sample(2 * i), sample(2 * i + 1)});
    const Spectrum found = transformed(packed.data(), points, 1, turns, true);
    const auto store = [&](int64_t k, int real, int imaginary) {
      int16_t* to = call.result<int16_t>() + row * (length + 2) + 2 * k;
      to[0] = static_cast<int16_t>(real), to[1] = static_cast<int16_t>(imaginary);
    };
    const FixedComplex zero = found[0].over(2);
    store(0, zero.real + zero.imaginary, 0), store(points, zero.real - zero.imaginary, 0);
    for (int64_t k = 1; k <= points / 2; ++k) {
      const FixedComplex a = found[static_cast<size_t>(k)].over(2);
      const FixedComplex b = found[static_cast<size_t>(points - k)].conjugate().over(2);
      const FixedComplex even = a + b, odd = (a - b) * halves[static_cast<size_t>(k - 1)];
      store(k, (even.real + odd.real) >> 1, (even.imaginary + odd.imaginary) >> 1);
      store(points - k, (even.real - odd.real) >> 1, (odd.imaginary - even.imaginary) >> 1);
    }
  }
  return {};
}

Result<void> eval_irfft(const Invocation& call) {
  const int64_t length = call.node.attrs<SignalFftAttrs>().length, points = length / 2;
  const Spectrum turns = turns_of(points, false), halves = halves_of(points, false);
  for (int64_t row = 0; row < element_count(call.out().shape) / length; ++row) {
    const int16_t* x = call.data<int16_t>(0) + row * (length + 2);
    const auto frequency = [&](int64_t k) { return FixedComplex{x[2 * k], x[2 * k + 1]}; };
    Spectrum packed(static_cast<size_t>(points));
    packed[0] = FixedComplex::kept(x[0] + x[length], x[0] - x[length]).over(2);
    for (int64_t k = 1; k <= points / 2; ++k) {
      const FixedComplex a = frequency(k).over(2), b = frequency(points - k).conjugate().over(2);
      const FixedComplex even = a + b, odd = (a - b) * halves[static_cast<size_t>(k - 1)];
      packed[static_cast<size_t>(k)] = even + odd;
      packed[static_cast<size_t>(points - k)] = (even - odd).conjugate();
    }
    const Spectrum found = transformed(packed.data(), points, 1, turns, false);
    for (int64_t i = 0; i < points; ++i) {
      call.result<int16_t>()[row * length + 2 * i] = found[static_cast<size_t>(i)].real;
      call.result<int16_t>()[row * length + 2 * i + 1] = found[static_cast<size_t>(i)].imaginary;
    }
  }
  return {};
}

// ---- C ----

tir::BufferRun pairs_table(OpLowering& op, const std::string& role, const Spectrum& row) {
  std::vector<uint8_t> bytes;
  for (const FixedComplex& pair : row)
    for (const int16_t part : {pair.real, pair.imaginary})
      for (const int shift : {0, 8}) bytes.push_back(static_cast<uint8_t>(part >> shift));
  const auto count = static_cast<int64_t>(2 * row.size());
  const BufferId table = op.raw_table(role, Int16, {count}, std::move(bytes));
  return {table, {tir::int_imm(0)}, count, tir::Access::Read};
}

Stmt lower_transform(OpLowering& op) {
  const bool forwards = op.view.node.kind == OpKind::SignalRfft;
  const int64_t length = op.view.node.attrs<SignalFftAttrs>().length;
  const int64_t from = op.view.in(0).shape.back(), to = op.view.out().shape.back();
  const int64_t rows = element_count(op.view.in(0).shape) / from;
  op.declare({Shape{rows, from}}, Shape{rows, to});
  const tir::BufferRun turns = pairs_table(op, "turns", turns_of(length / 2, forwards));
  const tir::BufferRun halves = pairs_table(op, "halves", halves_of(length / 2, forwards));
  return op.b.loop("row", rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    std::vector<std::variant<tir::BufferRun, Expr>> operands{
        tir::BufferRun{op.in(0), start, from, tir::Access::Read},
        tir::BufferRun{op.out(), start, to, tir::Access::Write}, turns, halves};
    if (forwards) operands.emplace_back(tir::int_imm(from));
    operands.emplace_back(tir::int_imm(length));
    return tir::intrinsic(forwards ? "intarsia_signal_rfft_s16" : "intarsia_signal_irfft_s16",
                          std::move(operands));
  });
}

constexpr TypeRule kTransformTypes[] = {{Int16, Int16}};

constexpr Operator kSignalTransformOperators[] = {
    {.kind = OpKind::SignalRfft,
     .types = kTransformTypes,
     .infer = infer_rfft,
     .evaluate = eval_rfft,
     .lower = lower_transform},
    {.kind = OpKind::SignalIrfft,
     .types = kTransformTypes,
     .infer = infer_irfft,
     .evaluate = eval_irfft,
     .lower = lower_transform},
};

}  // namespace

std::span<const Operator> signal_transform_operators() {
  return kSignalTransformOperators;
}

}  // namespace intarsia::operators
