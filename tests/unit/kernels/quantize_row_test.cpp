// Rows of floats as bytes with a scale: where a row has no scale, because a value is infinite, the zero point is defined.
#include "intarsia/kernels/quantize_row.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  std::array<int8_t, 3> values{};
  float scale = 0;
  int32_t zero_point = 0;
};

Row asymmetric(const std::array<float, 3>& values) {
  Row row;
  intarsia_quantize_row_asymmetric(values.data(), row.values.data(), &row.scale, &row.zero_point,
                                   3);
  return row;
}

TEST(QuantizeRow, Asymmetric) {
  const Row row = asymmetric({-1.0f, 0.0f, 1.55f});
  EXPECT_FLOAT_EQ(row.scale, 0.01f);
  EXPECT_EQ(row.zero_point, -28);
  EXPECT_EQ(row.values, (std::array<int8_t, 3>{-128, -28, 127}));
  EXPECT_EQ(asymmetric({0.0f, 1.0f, 2.0f}).zero_point, -128);
  EXPECT_EQ(asymmetric({0.0f, -1.0f, -2.0f}).zero_point, 127);
}

TEST(QuantizeRow, AsymmetricOfInfiniteValues) {
  EXPECT_EQ(asymmetric({0.0f, kInfinity, 1.0f}).zero_point, -128);
  EXPECT_EQ(asymmetric({0.0f, -kInfinity, 1.0f}).zero_point, 127);
  EXPECT_EQ(asymmetric({-kInfinity, kInfinity, std::nanf("")}).zero_point, -128);
}

}  // namespace
