// Large models as .tflite files with command streams: many operators on both sides, and many bytes of weights.
#include <gmock/gmock.h>

#include "cli.h"
#include "tflite_builder.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

class LargeOffload : public Cli {
 protected:
  // As it computes without an NPU, with it, and as the written file; and the summary of that.
  std::string expect_the_same(const ModelSpec& model, size_t input_bytes) const {
    write("model.tflite", build(model));
    std::vector<uint8_t> input(input_bytes);
    uint32_t random = 1;
    for (uint8_t& byte : input)
      byte = static_cast<uint8_t>((random = random * 1664525 + 1013904223) >> 24);
    write("in.bin", input);
    const ProcessOutcome made = intarsia({"compile", "model.tflite", "--target", "ethos-u55-256",
                                          "--format", "tflite", "-o", "npu.tflite"});
    EXPECT_TRUE(made.succeeded()) << made.err;
    for (const auto& [file, target] :
         {std::pair("model.tflite", "c"), {"npu.tflite", "ethos-u55-256"}}) {
      const ProcessOutcome ran = intarsia({"run", file, "--target", target, "--input", "in.bin",
                                           "--output-dir", std::string(file) + ".out"});
      EXPECT_TRUE(ran.succeeded()) << ran.err;
    }
    EXPECT_EQ(read("npu.tflite.out/out0.bin"), read("model.tflite.out/out0.bin"));
    return made.out;
  }
};

// A chain of pools and differences, in which every so often the CPU turns the values into probabilities.
TEST_F(LargeOffload, AThousandOperators) {
  const auto values = [](size_t i) {
    return TensorSpec{"v" + std::to_string(i), {1, 6, 6, 8}, kInt8, {0.5f}, {3}};
  };
  const auto real = [](size_t i) {
    return TensorSpec{"real" + std::to_string(i), {1, 6, 6, 8}, kFloat32, {}, {}};
  };
  const auto pool = options_of(&format::CreatePool2dOptions, format::Padding::Same, 1, 1, 3, 3,
                               format::Activation::None);
  const auto difference = options_of(&format::CreateSubOptions, format::Activation::None);
  ModelSpec m;
  int32_t last = m.add(values(0)), before = last;
  m.inputs = {last};
  while (m.operators.size() < 1000) {
    const size_t count = m.operators.size();
    if (count % 20 == 17) {
      const int32_t first = m.add(real(count)), second = m.add(real(count + 1));
      const int32_t next = m.add(values(count + 2));
      m.operators.push_back({kDequantize, {last}, {first}, {}, 2});
      m.operators.push_back(
          {kSoftmax, {first}, {second}, options_of(&format::CreateSoftmaxOptions, 1.0f)});
      m.operators.push_back({kQuantize, {second}, {next}, {}, 1});
      before = last = next;
      continue;
    }
    const int32_t next = m.add(values(count + 1));
    if (count % 2 == 0)
      m.operators.push_back(
          {count % 4 == 0 ? kMaxPool2d : kAveragePool2d, {last}, {next}, pool, 2});
    else
      m.operators.push_back({kSub, {before, last}, {next}, difference, 2});
    before = last;
    last = next;
  }
  m.outputs = {last};
  const std::string summary = expect_the_same(m, 6 * 6 * 8);
  EXPECT_THAT(summary, HasSubstr("CPU operators = 150 (15.0%)"));
  EXPECT_THAT(summary, HasSubstr("NPU operators = 850 (85.0%)"));
}

TEST_F(LargeOffload, TensOfMegabytesOfWeights) {
  constexpr int32_t kWidth = 2048;
  ModelSpec m;
  m.inputs = {m.add({"x", {1, kWidth}, kInt8, {0.5f}, {0}})};
  uint32_t random = 5;
  for (int layer = 0; layer < 8; ++layer) {
    std::vector<uint8_t> weights(size_t{kWidth} * kWidth);
    for (uint8_t& byte : weights)
      byte = static_cast<uint8_t>(((random = random * 1664525 + 1013904223) >> 26) - 32);
    const int32_t matrix = m.add(
        {"w" + std::to_string(layer), {kWidth, kWidth}, kInt8, {0.001f}, {0}, std::move(weights)});
    const int32_t input = layer == 0 ? 0 : matrix - 1;
    const int32_t output = m.add({"y" + std::to_string(layer), {1, kWidth}, kInt8, {0.5f}, {0}});
    m.operators.push_back(
        {kFullyConnected,
         {input, matrix, -1},
         {output},
         options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                    static_cast<int8_t>(0), false, false, static_cast<int8_t>(0))});
  }
  m.outputs = {static_cast<int32_t>(m.tensors.size()) - 1};
  const std::string summary = expect_the_same(m, kWidth);
  EXPECT_THAT(summary, HasSubstr("NPU operators = 8 (100.0%)"));
  EXPECT_GT(read("npu.tflite").size(), size_t{20} << 20);
}

}  // namespace
}  // namespace intarsia::test
