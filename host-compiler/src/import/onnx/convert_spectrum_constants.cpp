// What front ends of sound are made with: windows of frames, and the bands that a spectrum is summed in. Their sizes are constants, so
// that all of it is known at import.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {
namespace {

// A whole or a real number that the file has.
std::optional<double> known_parameter(Reader& in, size_t operand, std::string_view what) {
  const graph::TensorId id = in.operand(operand);
  if (!in.require(in.ok() && in.is_constant(id) && element_count(in.shape(id)) == 1,
                  fmt::format("has {} that is known only when the model runs", what),
                  "export the model with its number"))
    return std::nullopt;
  const Values values = in.values_of(id);
  return values.type == kFloat ? static_cast<double>(as_reals(values)[0])
                               : static_cast<double>(as_integers(values)[0]);
}

// 1: floats, which others would have to be converted to.
bool gives_floats(Reader& in) {
  return in.require(in.integer("output_datatype", 1) == 1, "gives numbers that are no floats",
                    "output_datatype 1 is possible");
}

// How much of the constant, of one turn and of two turns around the circle a window is.
struct Cosines {
  double constant, one, two;
};

}  // namespace

void read_window_function(Reader& in) {
  const std::optional<double> size = known_parameter(in, 0, "a size");
  constexpr double kLongest = 1 << 20;
  if (!size || !gives_floats(in) ||
      !in.require(*size >= 1 && *size <= kLongest, fmt::format("is {} elements long", *size)))
    return;
  const Cosines parts = in.is("HannWindow")      ? Cosines{0.5, -0.5, 0}
                        : in.is("HammingWindow") ? Cosines{25.0 / 46, -21.0 / 46, 0}
                                                 : Cosines{0.42, -0.5, 0.08};
  const auto count = static_cast<int64_t>(*size);
  // A window of one element has no second one to be symmetric to.
  const int64_t steps = in.integer("periodic", 1) != 0 ? count : std::max<int64_t>(count - 1, 1);
  std::vector<float> window;
  for (int64_t i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(steps);
    window.push_back(static_cast<float>(parts.constant + parts.one * std::cos(angle) +
                                        parts.two * std::cos(2 * angle)));
  }
  in.result(in.make_constant(real_values({count}, window)));
}

// Triangles whose corners are as far apart in mels, at whole numbers of the spectrum: [frequencies, bands].
void read_mel_weights(Reader& in) {
  const std::optional<double> bands = known_parameter(in, 0, "a number of bands"),
                              length = known_parameter(in, 1, "a length of transforms"),
                              rate = known_parameter(in, 2, "a sampling rate"),
                              lowest = known_parameter(in, 3, "a lowest frequency"),
                              highest = known_parameter(in, 4, "a highest frequency");
  if (!bands || !length || !rate || !lowest || !highest || !gives_floats(in)) return;
  constexpr double kMostBands = 1 << 12, kLongest = 1 << 20;
  if (!in.require(*bands >= 1 && *bands <= kMostBands && *length >= 2 && *length <= kLongest &&
                      *rate >= 1 && *lowest >= 0 && *highest >= *lowest && *highest <= *rate / 2,
                  fmt::format("has {} bands from {} to {} Hz of transforms of {} samples at {} Hz",
                              *bands, *lowest, *highest, *length, *rate)))
    return;
  const auto count = static_cast<int64_t>(*bands),
             frequencies = static_cast<int64_t>(*length) / 2 + 1;
  if (!table_fits(in, count * frequencies)) return;
  const auto mels = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double first = mels(*lowest), step = (mels(*highest) - first) / (*bands + 2);
  const auto corner = [&](int64_t at) {
    const double hertz = 700 * (std::pow(10, (first + step * static_cast<double>(at)) / 2595) - 1);
    return static_cast<int64_t>(std::floor((*length + 1) * hertz / *rate));
  };
  std::vector<float> weights(static_cast<size_t>(count * frequencies), 0);
  for (int64_t band = 0; band < count; ++band) {
    const int64_t low = corner(band), middle = corner(band + 1), high = corner(band + 2);
    const auto put = [&](int64_t frequency, int64_t part, int64_t whole) {
      if (frequency < frequencies)
        weights[static_cast<size_t>(frequency * count + band)] =
            static_cast<float>(part) / static_cast<float>(whole);
    };
    if (low == middle) put(middle, 1, 1);
    for (int64_t at = low; low < middle && at <= middle; ++at) put(at, at - low, middle - low);
    for (int64_t at = middle; at < high; ++at) put(at, high - at, high - middle);
  }
  in.result(in.make_constant(real_values({frequencies, count}, weights)));
}

}  // namespace intarsia::onnx
