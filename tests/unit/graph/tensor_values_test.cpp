#include "intarsia/graph/tensor_values.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::graph {
namespace {

Tensor tensor_of(DataType type, Shape shape) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  return tensor;
}

template <typename T>
TensorValue bytes_of(const std::vector<T>& values) {
  TensorValue bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> values_of(const TensorValue& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Sample `index` of one input of four elements.
template <typename T>
std::vector<T> sample(DataType type, int index, std::optional<int64_t> zero_point = {}) {
  Function function;
  function.tensors = {tensor_of(type, {4})};
  if (zero_point) function.tensors[0].quantization = {{0.5f}, {*zero_point}, 0};
  function.inputs = {TensorId{0}};
  return values_of<T>(make_sample({}, function, index).at(0));
}

TEST(Samples, TheFirstThreeAreZeroSmallestAndLargest) {
  EXPECT_THAT(sample<int8_t>(DataType::Int8, 0, -5), testing::Each(-5));
  EXPECT_THAT(sample<int8_t>(DataType::Int8, 1, -5), testing::Each(-128));
  EXPECT_THAT(sample<int8_t>(DataType::Int8, 2, -5), testing::Each(127));
  EXPECT_THAT(sample<uint8_t>(DataType::UInt8, 1), testing::Each(0));
  EXPECT_THAT(sample<uint8_t>(DataType::UInt8, 2), testing::Each(255));
  EXPECT_THAT(sample<int16_t>(DataType::Int16, 1), testing::Each(-32768));
  EXPECT_THAT(sample<int64_t>(DataType::Int64, 1),
              testing::Each(std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(sample<int64_t>(DataType::Int64, 2),
              testing::Each(std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(sample<float>(DataType::Float32, 0), testing::Each(0.0f));
  EXPECT_THAT(sample<float>(DataType::Float32, 1), testing::Each(-1.0f));
  EXPECT_THAT(sample<float>(DataType::Float32, 2), testing::Each(1.0f));
}

TEST(Samples, ABoolIsZeroOrOne) {
  for (int index = 0; index < 20; ++index)
    EXPECT_THAT(sample<uint8_t>(DataType::Bool, index), testing::Each(testing::Le(1)));
  EXPECT_THAT(sample<uint8_t>(DataType::Bool, 2), testing::Each(1));
}

TEST(Samples, RandomOnesDifferAndRepeat) {
  EXPECT_NE(sample<int8_t>(DataType::Int8, 3), sample<int8_t>(DataType::Int8, 4));
  EXPECT_EQ(sample<int8_t>(DataType::Int8, 3), sample<int8_t>(DataType::Int8, 3));
  EXPECT_THAT(sample<float>(DataType::Float32, 3),
              testing::Each(testing::AllOf(testing::Ge(-1.0f), testing::Le(1.0f))));
}

TEST(FirstDifference, OfFloats) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const auto agree = [](float a, float b) {
    return !first_difference(tensor_of(DataType::Float32, {1}), bytes_of<float>({a}),
                             bytes_of<float>({b}));
  };
  EXPECT_TRUE(agree(nan, nan));
  EXPECT_TRUE(agree(nan, -nan));
  EXPECT_FALSE(agree(nan, 0));
  EXPECT_FALSE(agree(0, nan));
  EXPECT_TRUE(agree(kInf, kInf));
  EXPECT_TRUE(agree(-kInf, -kInf));
  EXPECT_FALSE(agree(kInf, -kInf));
  EXPECT_FALSE(agree(kInf, 1));
  EXPECT_FALSE(agree(std::numeric_limits<float>::max(), kInf));
  EXPECT_TRUE(agree(0.0f, -0.0f));
  EXPECT_TRUE(agree(0.5f, 0.50003f));
  EXPECT_FALSE(agree(0.5f, 0.50005f));
  EXPECT_TRUE(agree(1000.0f, 1000.03f));
  EXPECT_FALSE(agree(1000.0f, 1000.05f));
}

TEST(FirstDifference, OfIntegers) {
  const auto text = [](DataType type, const TensorValue& a, const TensorValue& b, Shape shape,
                       int32_t steps = 0) {
    const auto found = first_difference(tensor_of(type, shape), a, b, steps);
    return found ? found->text(shape) : "";
  };
  EXPECT_EQ(text(DataType::Int8, {1, 255, 3, 4}, {1, 255, 128, 4}, {1, 2, 2}),
            "element 2 [0,1,0]: reference 3, program -128");
  EXPECT_EQ(text(DataType::Int16, bytes_of<int16_t>({-2}), bytes_of<int16_t>({-3}), {1}),
            "element 0 [0]: reference -2, program -3");
  EXPECT_EQ(text(DataType::UInt8, {127}, {128}, {1}, 1), "");
  EXPECT_NE(text(DataType::Int8, {127}, {128}, {1}, 1), "");  // 127 and -128
  EXPECT_EQ(text(DataType::Int16, {1, 0}, {2, 0}, {1}, 1), "");
  EXPECT_NE(text(DataType::Int16, {1, 0}, {3, 0}, {1}, 1), "");
  EXPECT_NE(text(DataType::Int32, {1, 0, 0, 0}, {2, 0, 0, 0}, {1}, 1), "");  // has no steps
  EXPECT_NE(text(DataType::Bool, {1}, {2}, {1}), "");
  EXPECT_EQ(text(DataType::Int8, {1, 2}, {1}, {2}), "reference of 2 bytes, program's of 1");
}

TEST(LargestSteps, OfQuantisedValues) {
  EXPECT_EQ(largest_steps(tensor_of(DataType::Int8, {3}), {1, 255, 3}, {1, 2, 5}), 3);
  EXPECT_EQ(largest_steps(tensor_of(DataType::UInt8, {2}), {1, 255}, {1, 2}), 253);
  EXPECT_EQ(largest_steps(tensor_of(DataType::Int16, {3}), bytes_of<int16_t>({-300, 7, 255}),
                          bytes_of<int16_t>({-299, 7, 256})),
            1);
  EXPECT_EQ(largest_steps(tensor_of(DataType::Int32, {1}), bytes_of<int32_t>({1}),
                          bytes_of<int32_t>({3})),
            0);
}

}  // namespace
}  // namespace intarsia::graph
