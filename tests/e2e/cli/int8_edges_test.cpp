// --io int8: networks with floats at their edges, with the conversions left to the application.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "cli.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

// Recorded networks with floats at their edges; inside they are of signed and of unsigned bytes.
class Int8Edges : public Cli, public testing::WithParamInterface<const char*> {
 protected:
  static std::string folder() {
    return INTARSIA_SOURCE_DIR "/tests/golden/onnx/" + std::string(GetParam());
  }
  static std::string model() { return folder() + "/model.onnx"; }

  Json run(const std::string& file, const std::string& output,
           const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments = {"run", "--native",     model(), "--input",
                                          file,  "--output-dir", output,  "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_TRUE(done(outcome));
    return Json::parse(outcome.out, nullptr, false);
  }
};

// The application converts as TFLite's operators do; the floats that come out are the same to the bit.
TEST_P(Int8Edges, ResultsAreTheSame) {
  const std::vector<uint8_t> real = *read_file(folder() + "/in0.bin");
  run(folder() + "/in0.bin", "floats");
  ASSERT_TRUE(done(intarsia({"compile", model(), "--io", "int8", "-o", "made"})));
  const Json report = Json::parse(read("made/report.json"), nullptr, false);
  ASSERT_EQ(report["inputs"].size(), 1u);
  const Json &input = report["inputs"][0], &output = report["outputs"][0];
  ASSERT_EQ(input["type"], "i8");
  ASSERT_EQ(output["type"], "i8");

  std::vector<uint8_t> bytes(real.size() / sizeof(float));
  const float scale = input["scale"][0];
  const int64_t zero_point = input["zero_point"][0];
  for (size_t i = 0; i < bytes.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &real[i * sizeof(float)], sizeof(float));
    const auto step = static_cast<int64_t>(std::round(value / scale)) + zero_point;
    bytes[i] = static_cast<uint8_t>(std::clamp<int64_t>(step, -128, 127));
  }
  write("bytes.bin", bytes);
  run("bytes.bin", "quantised", {"--io", "int8"});
  const std::vector<uint8_t> scores = read("quantised/out0.bin");
  const std::vector<uint8_t> expected = read("floats/out0.bin");
  ASSERT_EQ(scores.size() * sizeof(float), expected.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto step = static_cast<int8_t>(scores[i]) - output["zero_point"][0].get<int64_t>();
    const float value = output["scale"][0].get<float>() * static_cast<float>(step);
    float wanted = 0;
    std::memcpy(&wanted, &expected[i * sizeof(float)], sizeof(float));
    EXPECT_EQ(std::memcmp(&value, &wanted, sizeof(float)), 0)
        << i << ": " << value << ", " << wanted;
  }
  // The compiled folder has the interface that it has.
  EXPECT_TRUE(done(intarsia({"run", "made", "--input", "bytes.bin", "--output-dir", "of_folder"})));
  EXPECT_EQ(read("of_folder/out0.bin"), scores);
}

TEST_P(Int8Edges, EveryCommandTakesThem) {
  const ProcessOutcome dump = intarsia({"dump", model(), "--stage", "import", "--io", "int8"});
  EXPECT_TRUE(done(dump));
  EXPECT_FALSE(contains(dump.out, "dequantize"));
  const ProcessOutcome explained = intarsia({"explain", model(), "--io", "int8"});
  EXPECT_TRUE(done(explained));
  EXPECT_FALSE(contains(explained.out, "dequantize"));
  const ProcessOutcome verified = intarsia({"verify", model(), "--io", "int8", "--samples", "3"});
  EXPECT_TRUE(done(verified));
  EXPECT_TRUE(contains(verified.out, "agree on 3 samples")) << verified.out;
  EXPECT_TRUE(done(intarsia({"check", model(), "--io", "int8", "--max-ram", "1M"})));
  ASSERT_TRUE(done(intarsia({"compile", model(), "--io", "int8", "-o", "made"})));
  EXPECT_TRUE(done(intarsia({"verify", "made", "--reference", model(), "--io", "int8"})));
  EXPECT_TRUE(refused(intarsia({"verify", "made", "--reference", model()}),
                      {"has other inputs or outputs"}));
  EXPECT_TRUE(refused(intarsia({"build", "made", "--io", "int8", "-o", "x.elf"}),
                      {"made: is compiled", "compile the model again with --io"}));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Int8Edges,
                         testing::Values("residual_qdq_i8", "residual_qdq_u8_per_tensor",
                                         "flattened_qdq_i8"),
                         [](const auto& tested) { return std::string(tested.param); });

class Int8EdgesOf : public Cli {};

TEST_F(Int8EdgesOf, WhatStaysIsSaidInOneLine) {
  write("m.graph", std::string(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 x: f32[1,4]
  %1 t: i16[1,4] q(0.5)
  %2 y: f32[1,4]
  quantize enter(%0) -> (%1)
  dequantize leave(%1) -> (%2)
}
entry @main
)"));
  const ProcessOutcome outcome = intarsia({"compile", "m.graph", "--io", "int8", "-o", "out"});
  EXPECT_EQ(outcome.exit_code, kDone);
  EXPECT_EQ(outcome.err,
            "note: m: input 'x': stays f32: 'enter' (quantize) makes i16 of it\n"
            "note: m: output 'y': stays f32: 'leave' (dequantize) makes it of i16\n");
  EXPECT_TRUE(contains(outcome.out, "'x' f32[1,4]\n")) << outcome.out;
}

// A network that is of bytes is what it is, whatever is asked, and a note says so.
TEST_F(Int8EdgesOf, BytesStayBytes) {
  const ProcessOutcome outcome = intarsia({"compile", digits_path(), "--io", "int8", "-o", "a"});
  ASSERT_EQ(outcome.exit_code, kDone);
  EXPECT_EQ(
      outcome.err,
      "note: --io int8: changes nothing: inputs and outputs are of signed bytes as they are\n");
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "b"})));
  EXPECT_EQ(read_folder("a"), read_folder("b"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--io", "int4", "-o", "c"}), "--io"));
}

}  // namespace
}  // namespace intarsia::test
