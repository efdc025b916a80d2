// TensorFlow's front end of floats: AudioSpectrogram, the energies of frames, and Mfcc, their cepstral coefficients. Windows, bands
// and cosines are constants.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/ranges.h>

#include "import/tflite/custom_options.h"
#include "import/tflite/subgraph_reader.h"
#include "import/tflite/transform_writer.h"

namespace intarsia::tflite {

using graph::OpKind;

namespace {

MadeConstant hann_window(int64_t length) {
  std::vector<float> window;
  for (int64_t i = 0; i < length; ++i)
    window.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle_of(i, length))));
  return real_constant("window", {length}, window);
}

// Frequencies as the ear spaces them.
double mel_of(double frequency) {
  return 1127.0 * std::log1p(frequency / 700.0);
}

struct MelBands {
  int64_t frequencies, channels;
  double sample_rate, lowest, highest;
};

// Triangles in mels, one for each channel, as a matrix [channels, frequencies].
std::vector<float> triangles(const MelBands& b) {
  const auto count = static_cast<size_t>(b.channels);
  const double low = mel_of(b.lowest),
               spacing = (mel_of(b.highest) - low) / static_cast<double>(b.channels + 1);
  std::vector<double> peaks;  // the last one is where the last channel ends
  for (size_t i = 0; i <= count; ++i) peaks.push_back(low + spacing * static_cast<double>(i + 1));
  const double step = 0.5 * b.sample_rate / static_cast<double>(b.frequencies - 1);
  const auto behind =
      static_cast<double>(b.frequencies);  // limits may be beyond what integers hold
  const auto first = static_cast<int64_t>(std::min(1.5 + b.lowest / step, behind)),
             last = static_cast<int64_t>(std::min(b.highest / step, behind - 1));
  std::vector<float> matrix(count * static_cast<size_t>(b.frequencies));
  size_t next = 0;  // the first channel whose peak is not below the frequency
  for (int64_t i = first; i <= last; ++i) {
    const double mel = mel_of(static_cast<double>(i) * step);
    while (next < count && peaks[next] < mel) ++next;
    const double before = next == 0 ? low : peaks[next - 1];
    const double falls = (peaks[next] - mel) / (peaks[next] - before);
    const auto at = [&](size_t channel) -> float& {
      return matrix[channel * static_cast<size_t>(b.frequencies) + static_cast<size_t>(i)];
    };
    if (next > 0) at(next - 1) = static_cast<float>(falls);
    if (next < count) at(next) = static_cast<float>(1 - falls);
  }
  return matrix;
}

// [coefficients, channels]
std::vector<float> cosines(int64_t coefficients, int64_t channels) {
  const double factor = std::sqrt(2.0 / static_cast<double>(channels));
  std::vector<float> matrix;
  for (int64_t i = 0; i < coefficients; ++i)
    for (int64_t j = 0; j < channels; ++j)
      matrix.push_back(static_cast<float>(
          factor * std::cos(static_cast<double>(i) * std::numbers::pi *
                            (static_cast<double>(j) + 0.5) / static_cast<double>(channels))));
  return matrix;
}

}  // namespace

// Operand: [samples, channels]; result: [channels, frames, frequencies].
void SubgraphReader::compose_spectrogram(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  CustomOptions options(in);
  const int64_t size = options.integer("window_size"), stride = options.integer("stride");
  const bool squared = options.integer("magnitude_squared", 0) != 0;
  if (!in.clean()) return;
  constexpr int64_t kMostSamples = int64_t{1} << 24;
  if (input.type != DataType::Float32 || input.shape.size() != 2 || size < 2 || stride < 1 ||
      size > kLongest || stride > kMostSamples || input.shape[0] < size)
    return in.problem(fmt::format("takes frames of {} samples, {} apart, of {}[{}]", size, stride,
                                  to_string(input.type), fmt::join(input.shape, ",")),
                      "floats [samples, channels] are possible");
  const int64_t samples = input.shape[0], channels = input.shape[1];
  const int64_t frames = 1 + (samples - size) / stride;
  const auto length = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
  const int64_t kept = length / 2 + 1, rows = channels * frames;
  // Frames begin and end where pieces do.
  const int64_t piece = std::gcd(size, stride), pieces = size / piece;
  in.decide_shape({channels, frames, kept});
  if (!in.clean() || !can_be_made(in, frames, pieces)) return;
  TransformWriter writer = writer_for<TransformWriter>(op);
  int32_t x = current(op.inputs[0]);
  if (channels > 1) x = writer.transpose(x, {1, 0}, input.shape);
  const int64_t used = (frames - 1) * stride + size;
  x = writer.fitted(writer.reshape(x, {channels, samples}), {channels, samples}, 1, used);
  x = writer.reshape(x, {channels, used / piece, piece});
  MadeConstant places{{.name = "pieces", .type = DataType::Int32, .shape = {frames, pieces}}, {}};
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < pieces; ++i) {
      const auto place = static_cast<int32_t>(frame * (stride / piece) + i);
      const auto* bytes = reinterpret_cast<const uint8_t*>(&place);
      places.bytes.insert(places.bytes.end(), bytes, bytes + sizeof place);
    }
  x = put(op, OpKind::Gather, graph::GatherAttrs{1, 0}, {x, make(std::move(places))},
          reals({channels, frames, pieces, piece}));
  x = writer.multiply(writer.reshape(x, {rows, size}), hann_window(size), {rows, size});
  x = writer.transform(writer.fitted(x, {rows, size}, 1, length), rows,
                       {length, kept, true, false, false});
  x = writer.reshape(x, {rows, kept, 2});
  x = put(op, OpKind::Mul, graph::BinaryAttrs{}, {x, x}, reals({rows, kept, 2}));
  x = put(op, OpKind::Sum, graph::ReduceAttrs{{2}, false}, {x}, reals({rows, kept}));
  if (!squared) x = put(op, OpKind::Sqrt, graph::NoAttrs{}, {x}, reals({rows, kept}));
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{{channels, frames, kept}}, {x});
}

// Operands: energies [channels, frames, frequencies], and the sample rate; result: [channels, frames, coefficients].
void SubgraphReader::compose_mfcc(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  CustomOptions options(in);
  const int64_t bands = options.integer("filterbank_channel_count", 40),
                coefficients = options.integer("dct_coefficient_count", 13);
  const auto highest = static_cast<double>(options.real("upper_frequency_limit")),
             lowest = static_cast<double>(options.real("lower_frequency_limit"));
  const auto rate = in.integers(1, "the sample rate");
  if (!rate || !in.clean()) return;
  if (input.type != DataType::Float32 || input.shape.size() != 3 || input.shape[2] < 2 ||
      rate->size() != 1 || (*rate)[0] < 1 || bands < 1 || coefficients < 1 ||
      coefficients > bands || bands > input.shape[2] || !(lowest >= 0) || !(highest > lowest) ||
      !std::isfinite(highest))
    return in.problem(
        fmt::format("makes {} coefficients of {} bands from {} to {} Hz of {}[{}]", coefficients,
                    bands, lowest, highest, to_string(input.type), fmt::join(input.shape, ",")),
        "floats [channels, frames, frequencies] are possible");
  Shape shape = input.shape;
  const int64_t frequencies = shape[2];
  shape[2] = coefficients;
  in.decide_shape(shape);
  if (!in.clean() || !can_be_made(in, bands, frequencies)) return;
  const auto product = [&](int32_t x, MadeConstant matrix) {
    shape[2] = matrix.tensor.shape[0];
    return put(op, OpKind::FullyConnected, graph::FullyConnectedAttrs{true, {}},
               {x, make(std::move(matrix))}, reals(shape));
  };
  const MelBands mel{frequencies, bands, static_cast<double>((*rate)[0]), lowest, highest};
  const int32_t magnitudes =
      put(op, OpKind::Sqrt, graph::NoAttrs{}, {current(op.inputs[0])}, reals(input.shape));
  const int32_t energies =
      product(magnitudes, real_constant("bands", {bands, frequencies}, triangles(mel)));
  constexpr float kLeastEnergy = 1e-12f;
  const int32_t audible =
      put(op, OpKind::Maximum, graph::NoAttrs{},
          {energies, make(real_constant("least", {}, {kLeastEnergy}))}, reals(shape));
  const int32_t logs = put(op, OpKind::Log, graph::NoAttrs{}, {audible}, reals(shape));
  put_last(
      op, OpKind::FullyConnected, graph::FullyConnectedAttrs{true, {}},
      {logs, make(real_constant("cosines", {coefficients, bands}, cosines(coefficients, bands)))});
}

}  // namespace intarsia::tflite
