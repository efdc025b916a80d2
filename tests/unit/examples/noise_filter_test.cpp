// The denoiser's way from samples to features and back, with gains of the test instead of the network's.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "spectrum_reference.h"

extern "C" {
#include "streaming-denoiser/noise_filter.h"
}

namespace intarsia::examples {
namespace {

using Gains = std::vector<uint16_t>;
constexpr size_t hop = NOISE_FILTER_HOP;
constexpr float filter_scale = 0.03F;

std::vector<int16_t> recording() {
  std::vector<int16_t> samples = recorded_samples("streaming-denoiser/noisy.pcm");
  samples.resize(40 * hop);
  return samples;
}

struct Filtered {
  std::vector<int16_t> samples;
  std::vector<std::vector<int8_t>> features;
};

Filtered filter(const std::vector<int16_t>& samples, const Gains& gains) {
  noise_filter state;
  noise_filter_start(&state, filter_scale, 0);
  Filtered result;
  result.samples.resize(samples.size());
  for (size_t at = 0; at < samples.size(); at += hop) {
    result.features.emplace_back(NOISE_FILTER_BANDS);
    noise_filter_listen(&state, samples.data() + at, result.features.back().data());
    noise_filter_restore(&state, gains.data(), result.samples.data() + at);
  }
  return result;
}

double window(size_t i) {
  return std::sin(std::numbers::pi * (double(i) + 0.5) / double(NOISE_FILTER_WINDOW));
}

const std::vector<int>& edges() {
  static const std::vector<int> made =
      mel_edges(NOISE_FILTER_BANDS, NOISE_FILTER_WINDOW, NOISE_FILTER_SAMPLE_RATE, 60, 7900);
  return made;
}

/// The spectrum of the window that ends with frame `frame`, of samples as large as the fixed-point code makes them.
std::vector<std::complex<double>> spectrum_of(const std::vector<int16_t>& samples, size_t frame) {
  std::vector<double> x(NOISE_FILTER_WINDOW);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = frame * hop + i;
    x[i] = at < hop ? 0 : samples[at - hop] * window(i) * 32767 / 16;
  }
  return spectrum(x);
}

/// A gain between the centres of two bands is interpolated; outside of them it is that of the band.
double gain_at(const Gains& gains, size_t bin) {
  const auto k = int(bin);
  size_t band = 0;
  while (band + 1 < gains.size() && k >= edges()[band + 2]) ++band;
  if (k <= edges()[1]) return gains.front() / 256.0;
  if (band + 1 == gains.size()) return gains.back() / 256.0;
  const double part = double(k - edges()[band + 1]) / (edges()[band + 2] - edges()[band + 1]);
  return (gains[band] * (1 - part) + gains[band + 1] * part) / 256;
}

TEST(NoiseFilter, GainsOfOneGiveTheSamplesBackOneFrameLater) {
  const std::vector<int16_t> samples = recording();
  const std::vector<int16_t> out = filter(samples, Gains(NOISE_FILTER_BANDS, 256)).samples;
  for (size_t i = hop; i < out.size(); ++i) ASSERT_NEAR(out[i], samples[i - hop], 1.5) << i;
}

TEST(NoiseFilter, GainsOfNothingGiveSilence) {
  for (const int16_t sample : filter(recording(), Gains(NOISE_FILTER_BANDS, 0)).samples)
    ASSERT_EQ(sample, 0);
}

TEST(NoiseFilter, FullScaleDoesNotOverflow) {
  std::vector<int16_t> samples(20 * hop);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = i / 40 % 2 == 0 ? INT16_MAX : INT16_MIN;
  const std::vector<int16_t> out = filter(samples, Gains(NOISE_FILTER_BANDS, 256)).samples;
  for (size_t i = hop; i < out.size(); ++i) ASSERT_NEAR(out[i], samples[i - hop], 3) << i;
}

TEST(NoiseFilter, GainsActOnTheirBandsAsInTheReference) {
  const std::vector<int16_t> samples = recording();
  Gains gains(NOISE_FILTER_BANDS);
  for (size_t b = 0; b < gains.size(); ++b) gains[b] = uint16_t(256 - 11 * b);
  const std::vector<int16_t> out = filter(samples, gains).samples;
  std::vector<double> wanted(samples.size() + hop);
  for (size_t frame = 0; frame < samples.size() / hop; ++frame) {
    auto bins = spectrum_of(samples, frame);
    for (size_t k = 0; k < bins.size(); ++k) bins[k] *= gain_at(gains, k);
    const std::vector<double> part = samples_of(bins);
    for (size_t i = 0; i < part.size(); ++i) wanted[frame * hop + i] += part[i] * window(i) / 2048;
  }
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], wanted[i], 1.5) << i;
}

TEST(NoiseFilter, FeaturesAreNearTheReference) {
  const std::vector<int16_t> samples = recording();
  const Filtered filtered = filter(samples, Gains(NOISE_FILTER_BANDS, 256));
  for (size_t frame = 1; frame < filtered.features.size(); ++frame) {
    const std::vector<double> energies = band_energies(spectrum_of(samples, frame), edges());
    for (size_t b = 0; b < energies.size(); ++b) {
      const double real = (std::log2(energies[b]) - int(NOISE_FILTER_CENTRE_LOG2)) /
                          int(NOISE_FILTER_OCTAVES) / filter_scale;
      // Half a unit of rounding, and a twentieth for what fixed point adds.
      ASSERT_NEAR(filtered.features[frame][b], std::clamp(real, -128.0, 127.0), 0.55)
          << frame << " band " << b;
    }
  }
}

}  // namespace
}  // namespace intarsia::examples
