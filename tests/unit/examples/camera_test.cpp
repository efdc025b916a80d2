// From a camera's frame to the network's input, against areas averaged in double precision.
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "camera-wake-word/camera.h"
}

namespace intarsia::examples {
namespace {

constexpr float pixel_scale = 1.0F / 255;

std::vector<int8_t> input_of(const std::vector<uint16_t>& frame, float input_scale = pixel_scale,
                             int32_t zero_point = -128) {
  std::vector<int8_t> input(CAMERA_SIDE * CAMERA_SIDE);
  camera_to_input(frame.data(), input.data(), input_scale, zero_point);
  return input;
}

/// Brightness 0 to 1, a colour of n bits as its share of the greatest one.
double brightness(uint16_t pixel) {
  return (77 * ((pixel >> 11) / 31.0) + 150 * ((pixel >> 5 & 63) / 63.0) +
          29 * ((pixel & 31) / 31.0)) /
         256;
}

/// How much of source pixel `at` lies below the 2.5 pixels of `out`.
double overlap(int out, int at) {
  return std::max(0.0, std::min(2.5 * (out + 1), at + 1.0) - std::max(2.5 * out, double(at)));
}

double average(const std::vector<uint16_t>& frame, int y, int x) {
  double sum = 0;
  for (int i = y * 5 / 2; i < y * 5 / 2 + 3 && i < CAMERA_CROP; ++i) {
    for (int j = x * 5 / 2; j < x * 5 / 2 + 3 && j < CAMERA_CROP; ++j) {
      const int left = (CAMERA_WIDTH - CAMERA_CROP) / 2;
      sum += overlap(y, i) * overlap(x, j) * brightness(frame[size_t(i * CAMERA_WIDTH + left + j)]);
    }
  }
  return sum / 6.25;
}

TEST(Camera, PixelsAreAveragesOfTheirAreas) {
  std::mt19937 random(2);
  std::vector<uint16_t> frame(CAMERA_WIDTH * CAMERA_HEIGHT);
  for (uint16_t& pixel : frame) pixel = uint16_t(random());
  const std::vector<int8_t> input = input_of(frame);
  for (int y = 0; y < CAMERA_SIDE; ++y) {
    for (int x = 0; x < CAMERA_SIDE; ++x) {
      // Half a unit of rounding; repeating a colour's high bits is at most a unit off its share of the greatest colour.
      ASSERT_NEAR(input[size_t(y * CAMERA_SIDE + x)] + 128, 255 * average(frame, y, x), 1.0)
          << y << ' ' << x;
    }
  }
}

TEST(Camera, BlackAndWhiteAreTheEndsOfTheRange) {
  EXPECT_EQ(input_of(std::vector<uint16_t>(CAMERA_WIDTH * CAMERA_HEIGHT, 0)),
            std::vector<int8_t>(48 * 48, -128));
  EXPECT_EQ(input_of(std::vector<uint16_t>(CAMERA_WIDTH * CAMERA_HEIGHT, 0xFFFF)),
            std::vector<int8_t>(48 * 48, 127));
}

TEST(Camera, FollowsTheScaleAndSaturates) {
  const std::vector<uint16_t> white(CAMERA_WIDTH * CAMERA_HEIGHT, 0xFFFF);
  EXPECT_EQ(input_of(white, 1.0F / 64, 10), std::vector<int8_t>(48 * 48, 74));
  EXPECT_EQ(input_of(white, 1.0F / 512, 0), std::vector<int8_t>(48 * 48, 127));
}

TEST(Camera, TakesTheMiddleOfTheFrame) {
  std::vector<uint16_t> frame(CAMERA_WIDTH * CAMERA_HEIGHT, 0xFFFF);
  for (int y = 0; y < CAMERA_HEIGHT; ++y) {
    for (int x = 20; x < 140; ++x) frame[size_t(y * CAMERA_WIDTH + x)] = 0;
  }
  EXPECT_EQ(input_of(frame), std::vector<int8_t>(48 * 48, -128));
}

}  // namespace
}  // namespace intarsia::examples
