// Operators of audio front ends, and detections.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

namespace {

// Bands of a row of energies, which meet at random places.
Module filter_bank(Builder& b) {
  Random& r = b.random();
  const int64_t bands = r.range(2, 5), energies = r.range(bands, 20), widest = energies / bands;
  b.input({energies}, DataType::UInt32);
  const int64_t weights = r.range(1, 30);
  b.constant({weights}, DataType::Int16, {}, 0, 4096);
  b.constant({weights}, DataType::Int16, {}, r.chance(20) ? -4096 : 0, 4096);
  const int64_t width = std::min(widest, weights);
  b.constant({bands}, DataType::Int16, {}, 0, energies - width);
  b.constant({bands}, DataType::Int16, {}, 0, weights - width);
  b.constant({bands}, DataType::Int16, {}, 0, width);
  b.node().attributes = NoAttrs{};
  return b.finish(DataType::Int64, {});
}

Module spectral_subtraction(Builder& b) {
  Random& r = b.random();
  const int64_t channels = r.range(1, 6), bits = r.range(0, 20);
  b.input({channels}, DataType::UInt32), b.input({channels}, DataType::UInt32);
  const auto factor = [&] { return r.range(0, int64_t{1} << bits); };
  SpectralSubtractionAttrs a;
  a.taken = factor(), a.kept = factor(), a.odd_taken = factor(), a.odd_kept = factor();
  a.smoothing_bits = r.range(0, 12), a.bits = bits;
  a.least_remaining = factor(), a.clamped = r.chance(50);
  b.node().attributes = a;
  b.output({}, DataType::UInt32);
  return b.finish(DataType::UInt32, {});
}

}  // namespace

Module signal(Builder& b, OpKind kind) {
  Random& r = b.random();
  const auto fourier = [&](bool forwards) {
    const int64_t length = int64_t{1} << r.range(2, 7);
    Shape shape{forwards ? r.range(1, length) : length + 2};
    if (r.chance(40)) shape.insert(shape.begin(), r.range(1, 3));
    b.input(shape);
    b.node().attributes = SignalFftAttrs{length};
    return b.finish(DataType::Int16, {});
  };
  switch (kind) {
    case OpKind::SignalWindow: {
      const int64_t width = r.range(1, 9);
      b.input(r.chance(50) ? Shape{width} : Shape{r.range(1, 3), width});
      b.constant({width}, DataType::Int16, {}, -4096, r.chance(50) ? 4096 : 32767);
      b.node().attributes = SignalShiftAttrs{r.range(0, 16)};
      return b.finish(DataType::Int16, {});
    }
    case OpKind::SignalAutoScale:
      if (r.chance(50)) {
        const int64_t most = int64_t{1} << r.range(0, 14);
        b.constant({r.range(1, 9)}, DataType::Int16, {}, -most, most);
      } else {
        b.input({r.range(1, 9)});
      }
      b.node().attributes = NoAttrs{};
      b.output({}, DataType::Int32);
      return b.finish(DataType::Int16, {});
    case OpKind::SignalRfft:
      return fourier(true);
    case OpKind::SignalIrfft:
      return fourier(false);
    case OpKind::SignalEnergy: {
      const int64_t count = r.range(1, 9), begin = r.range(0, count);
      b.input({2 * count});
      b.node().attributes = SignalEnergyAttrs{begin, r.range(begin, count)};
      return b.finish(DataType::UInt32, {});
    }
    case OpKind::SignalFilterBank:
      return filter_bank(b);
    case OpKind::SignalSquareRoot: {
      const int64_t least = r.chance(20) ? 0 : int64_t{1} << r.range(0, 62);
      b.constant({r.range(1, 9)}, DataType::Int64, {}, least, least + (int64_t{1} << 31));
      b.input({}, DataType::Int32);
      b.node().attributes = NoAttrs{};
      return b.finish(DataType::UInt32, {});
    }
    case OpKind::SignalSpectralSubtraction:
      return spectral_subtraction(b);
    case OpKind::SignalPcan: {
      const int64_t channels = r.range(1, 6);
      b.input({channels}, DataType::UInt32), b.input({channels}, DataType::UInt32);
      b.constant({125}, DataType::Int16, {}, -32768, 32767);
      b.node().attributes = SignalShiftAttrs{r.range(0, 40)};
      return b.finish(DataType::UInt32, {});
    }
    default:
      b.input({r.range(1, 9)}, DataType::UInt32);
      b.node().attributes = SignalLogAttrs{r.range(0, 12), r.range(1, 1 << 16)};
      return b.finish(DataType::Int16, {});
  }
}

// Anchors with sizes that are not negative, so that boxes overlap.
Module detect_boxes(Builder& b) {
  Random& r = b.random();
  const int64_t count = r.range(1, 12), classes = r.range(1, 4);
  b.input({1, count, r.range(4, 6)});
  b.input({1, count, classes + r.range(0, 1)});
  b.constant({count, 4}, DataType::Float32, {}, 0, 0);
  DetectBoxesAttrs a;
  a.classes = classes, a.most = r.range(1, 8), a.by_class = r.chance(50);
  a.most_of_class = r.range(1, 5);
  a.least_score = r.real(-2.0f, 1.0f), a.most_overlap = r.real(0.0f, 0.9f);
  a.y_scale = r.real(1, 10), a.x_scale = r.real(1, 10);
  a.h_scale = r.real(1, 5), a.w_scale = r.real(1, 5);
  b.node().attributes = a;
  for (int i = 0; i < 3; ++i) b.output({}, DataType::Float32);
  return b.finish(DataType::Float32, {});
}

}  // namespace intarsia::testing::families
