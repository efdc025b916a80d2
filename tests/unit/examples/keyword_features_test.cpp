// The keyword example's features of recorded and of extreme samples against the same steps in double precision, and
// what its detector makes of scores.
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "spectrum_reference.h"

extern "C" {
#include "keyword-stream/detector.h"
#include "keyword-stream/features.h"
}

namespace intarsia::examples {
namespace {

constexpr float feature_scale = 0.03F;
constexpr int zero_point = 3;

/// All frames of a stream that arrives in pieces of `piece` samples.
std::vector<std::vector<int8_t>> frames_of(const std::vector<int16_t>& samples, int32_t piece) {
  std::vector<std::vector<int8_t>> frames;
  spotter_features features;
  spotter_features_start(&features, feature_scale, zero_point);
  for (size_t at = 0; at < samples.size();) {
    std::vector<int8_t> frame(SPOTTER_BANDS);
    int complete = 0;
    const auto left = std::min<int32_t>(piece, int32_t(samples.size() - at));
    at += size_t(
        spotter_features_take(&features, samples.data() + at, left, frame.data(), &complete));
    if (complete != 0) frames.push_back(frame);
  }
  return frames;
}

/// Real features of the window that begins at `first`, in units of the network's input.
std::vector<double> reference(const std::vector<int16_t>& samples, size_t first) {
  static const std::vector<int> edges =
      mel_edges(SPOTTER_BANDS, SPOTTER_WINDOW, SPOTTER_SAMPLE_RATE, 80, 7600);
  std::vector<double> window(SPOTTER_WINDOW);
  for (size_t i = 0; i < window.size(); ++i) {
    const double angle = 2 * std::numbers::pi * (double(i) + 0.5) / double(SPOTTER_WINDOW);
    window[i] = samples[first + i] * 32767.0 * (1 - std::cos(angle)) / 2;
  }
  std::vector<double> result;
  for (const double energy : band_energies(spectrum(window), edges)) {
    result.push_back((std::log2(energy) - int(SPOTTER_CENTRE_LOG2)) / int(SPOTTER_OCTAVES) /
                         feature_scale +
                     zero_point);
  }
  return result;
}

/// A feature is the reference rounded: half a unit, and a twentieth for what fixed point adds.
void expect_near_reference(const std::vector<int16_t>& samples, const char* what) {
  const auto frames = frames_of(samples, 160);
  ASSERT_EQ(frames.size(), (samples.size() - SPOTTER_WINDOW) / SPOTTER_HOP + 1);
  for (size_t f = 0; f < frames.size(); f += 7) {
    const std::vector<double> wanted = reference(samples, f * SPOTTER_HOP);
    for (size_t b = 0; b < wanted.size(); ++b) {
      ASSERT_NEAR(frames[f][b], std::clamp(wanted[b], -128.0, 127.0), 0.55)
          << what << " frame " << f << " band " << b;
    }
  }
}

TEST(KeywordFeatures, OfRecordingsAreNearTheReference) {
  expect_near_reference(recorded_samples("keyword-stream/quiet.pcm"), "quiet");
  expect_near_reference(recorded_samples("keyword-stream/noisy.pcm"), "noisy");
}

TEST(KeywordFeatures, OfTheLoudestAndOfFaintSamplesAreNearTheReference) {
  std::mt19937 random(4);
  for (const int peak : {32767, 20}) {
    std::vector<int16_t> samples(9000);
    for (int16_t& sample : samples) sample = int16_t(random() % 2 != 0 ? peak : -peak);
    expect_near_reference(samples, peak == 20 ? "faint" : "loud");
  }
}

TEST(KeywordFeatures, DoNotDependOnThePiecesOfTheStream) {
  const std::vector<int16_t> samples = recorded_samples("keyword-stream/noisy.pcm");
  const auto frames = frames_of(samples, 160);
  EXPECT_EQ(frames_of(samples, 1), frames);
  EXPECT_EQ(frames_of(samples, 100000), frames);
}

TEST(KeywordFeatures, SilenceIsTheLeastFeature) {
  for (const auto& frame : frames_of(std::vector<int16_t>(2000, 0), 500)) {
    for (const int8_t q : frame) EXPECT_EQ(q, -128);
  }
}

/// Runs after which a detection was reported, for scores of the first keyword.
std::vector<int> detections(const std::vector<uint8_t>& scores) {
  spotter_detector detector;
  spotter_detector_start(&detector);
  std::vector<int> found;
  for (size_t i = 0; i < scores.size(); ++i) {
    uint8_t all[SPOTTER_CLASSES] = {};
    all[SPOTTER_FIRST_KEYWORD] = scores[i];
    int32_t percent = 0;
    if (spotter_detector_take(&detector, all, &percent) == SPOTTER_FIRST_KEYWORD)
      found.push_back(int(i));
  }
  return found;
}

TEST(KeywordDetector, ReportsAWordOnceAndAgainAfterThePause) {
  const std::vector<uint8_t> word(SPOTTER_REFRACTORY_RUNS + SPOTTER_SMOOTHED, 255);
  EXPECT_EQ(detections(word), (std::vector<int>{SPOTTER_SMOOTHED - 1,
                                                SPOTTER_SMOOTHED - 1 + SPOTTER_REFRACTORY_RUNS}));
}

TEST(KeywordDetector, OneHighScoreIsNoWord) {
  std::vector<uint8_t> scores(30, 0);
  scores[5] = scores[15] = 255;
  EXPECT_EQ(detections(scores), std::vector<int>{});
}

}  // namespace
}  // namespace intarsia::examples
