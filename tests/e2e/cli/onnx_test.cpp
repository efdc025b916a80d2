// ONNX models end to end: what the generated C computes, and what is said about bad files.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "cli.h"
#include "float_values.h"
#include "support/files.h"

namespace intarsia::test {
namespace {

class Onnx : public Cli {
 protected:
  static std::string folder(const std::string& name) {
    return std::string(INTARSIA_SOURCE_DIR) + "/tests/golden/onnx/" + name;
  }
};

TEST_F(Onnx, GeneratedCComputesWhatOnnxruntimeDoes) {
  const std::string model = folder("residual_qdq_i8");
  ASSERT_TRUE(done(intarsia({"run", model + "/model.onnx", "--target", "c", "--input",
                             model + "/in0.bin", "--output-dir", "."})));
  const std::vector<uint8_t> actual = read("out0.bin");
  const Result<std::vector<uint8_t>> expected = read_file(model + "/out0.bin");
  ASSERT_TRUE(expected.ok());
  ASSERT_EQ(actual.size(), expected->size());
  constexpr float kStep = 0.00199898309f;  // of the network's output
  EXPECT_LE(largest_steps(actual, *expected, kStep), 2.01);
}

TEST_F(Onnx, ReferenceAndGeneratedCAgree) {
  for (const char* name : {"encoder_qdq_i8", "flattened_qdq_u8_per_tensor", "encoder_float"})
    EXPECT_TRUE(done(intarsia({"verify", folder(name) + "/model.onnx", "--target", "c"}))) << name;
}

TEST_F(Onnx, AnInputOfAKnownValueIsNoInput) {
  const std::string sums =
      std::string(INTARSIA_SOURCE_DIR) + "/tests/golden/operators/add_i32/model.tflite";
  std::vector<uint8_t> given;
  for (uint8_t i = 0; i < 12; ++i) given.insert(given.end(), {i, 0, 0, 0});
  write("in.bin", given);
  ASSERT_TRUE(done(
      intarsia({"run", sums, "--input-value", "t1=7", "--input", "in.bin", "--output-dir", "."})));
  const std::vector<uint8_t> sum = read("out0.bin");
  ASSERT_EQ(sum.size(), given.size());
  for (size_t i = 0; i < sum.size(); i += 4) EXPECT_EQ(sum[i], given[i] + 7);
  EXPECT_TRUE(refused(intarsia({"compile", sums, "--input-value", "t1", "-o", "out"}),
                      {"--input-value: 't1' is not NAME=VALUE"}));
}

TEST_F(Onnx, CutOffFilesWriteNothing) {
  std::vector<uint8_t> bytes = *read_file(folder("residual_qdq_i8") + "/model.onnx");
  bytes.resize(bytes.size() / 2);
  write("half.onnx", bytes);
  EXPECT_TRUE(refused(intarsia({"compile", "half.onnx", "-o", "out"}),
                      {"half.onnx", "the file is cut off or damaged"}));
  EXPECT_FALSE(exists("out"));
}

}  // namespace
}  // namespace intarsia::test
