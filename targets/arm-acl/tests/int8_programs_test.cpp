// Layers and networks of int8 as programs for 64-bit Arm with the Arm Compute Library, in QEMU, beside the reference and what
// TensorFlow Lite recorded.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "cli.h"
#include "intarsia/graph/tensor_values.h"
#include "needs.h"
#include "support/parsed.h"
#include "support/shared_data.h"

namespace intarsia::test::arm_acl {
namespace {

using ::testing::HasSubstr;

constexpr const char* kInt8Target = "cortex-a53 + arm_acl";

std::string what_int8_misses() {
  return INTARSIA_ASKS_ARM_ACL != 0
             ? ""
             : needs("arm-acl") + "CMake found no Arm Compute Library, compiler or emulator";
}

// Operators of these inputs, each with an output of its own; C is how many channels the inputs have.
constexpr const char* kInt8Operators = R"(intarsia.graph operators
const @0 first = {FIRST}
const @1 second = {SECOND}
const @2 third = {THIRD}
const @3 bias = x"0001000000ffffff10000000f0ffffff00000000"
func @main(%0, %1) -> ({OUTPUTS}) {
  %0 a: i8[1,7,6,{C}] q(0.05:-3)
  %1 b: i8[1,7,6,{C}] q(0.03:20)
  %2 w: i8[5,3,3,{C}] q(axis=0; 0.01, 0.02, 0.005, 0.01, 0.03) = @0
  %3 d: i8[1,3,3,{C}] q(0.02:0) = @1
  %4 f: i8[5,{C}] q(0.01:0) = @2
  %5 bias: i32[5] = @3
{TENSORS}{NODES}}
entry @main
)";

struct Int8Operator {
  const char* text;   // with its operands
  const char* shape;  // of the result, {C} for channels
  const char* quantisation;
  const char* attributes;
  int32_t steps;  // as docs/arm-acl.md states it
};

const std::vector<Int8Operator>& int8_operators() {
  static const std::vector<Int8Operator> all = {
      {"conv2d p(%0, %2, %5)", "[1,7,6,5]", "0.2:-128",
       "padding={top=1,left=1,bottom=1,right=1},activation=relu6", 1},
      {"conv2d q(%0, %2)", "[1,3,2,5]", "0.5:5", "stride_h=2,stride_w=2", 1},
      {"depthwise_conv2d r(%0, %3)", "[1,7,6,{C}]", "0.2:7",
       "padding={top=1,left=1,bottom=1,right=1}", 1},
      {"depthwise_conv2d s(%0, %3)", "[1,3,2,{C}]", "0.2:-20",
       "stride_h=2,stride_w=2,activation=relu", 1},
      {"fully_connected t(%0, %4, %5)", "[1,7,6,5]", "0.2:-9", "keep_dims=true", 1},
      {"max_pool2d u(%0)", "[1,3,3,{C}]", "0.05:-3",
       "filter_h=2,filter_w=2,stride_h=2,stride_w=2,activation=relu", 0},
      {"add y(%0, %1)", "[1,7,6,{C}]", "0.08:-11", "activation=relu", 1},
      {"sub z(%0, %1)", "[1,7,6,{C}]", "0.08:3", "", 1},
      {"mul aa(%0, %1)", "[1,7,6,{C}]", "0.2:3", "", 1},
      {"maximum ab(%0, %0)", "[1,7,6,{C}]", "0.05:-3", "", 0},
      {"relu ac(%0)", "[1,7,6,{C}]", "0.05:-3", "activation=relu_n1_to_1", 0},
      {"logistic ad(%0)", "[1,7,6,{C}]", "0.00390625:-128", "", 1},
      {"tanh ae(%0)", "[1,7,6,{C}]", "0.0078125:0", "", 1},
      {"hard_swish ah(%0)", "[1,7,6,{C}]", "0.03:-110", "", 1},
      {"conv2d af(%0, %2)", "[1,7,6,5]", "0.3:4", "padding={top=1,left=1,bottom=1,right=1}", 1},
      {"add ag(%20, %6)", "[1,7,6,5]", "0.4:-9", "activation=relu", 2}};  // behind `af`
  return all;
}

std::string int8_text(int channels, std::mt19937& random) {
  std::string outputs, tensors, nodes, text = kInt8Operators;
  const auto fill = [](std::string& in, const std::string& name, const std::string& with) {
    for (size_t at = in.find(name); at != std::string::npos; at = in.find(name))
      in.replace(at, name.size(), with);
  };
  const auto bytes = [&](int count) {
    std::string made = "x\"";
    for (int i = 0; i < count; ++i) made += fmt::format("{:02x}", random() & 255);
    return made + "\"";
  };
  int id = 6;
  for (const Int8Operator& each : int8_operators()) {
    if (id != 20) outputs += fmt::format("{}%{}", id == 6 ? "" : ", ", id);
    tensors += fmt::format("  %{} t{}: i8{} q({})\n", id, id, each.shape, each.quantisation);
    nodes += fmt::format("  {} -> (%{}){}\n", each.text, id,
                         *each.attributes == 0 ? "" : fmt::format(" {{{}}}", each.attributes));
    ++id;
  }
  fill(text, "{FIRST}", bytes(45 * channels));
  fill(text, "{SECOND}", bytes(9 * channels));
  fill(text, "{THIRD}", bytes(5 * channels));
  fill(text, "{OUTPUTS}", outputs);
  fill(text, "{TENSORS}", tensors);
  fill(text, "{NODES}", nodes);
  fill(text, "{C}", fmt::format("{}", channels));
  return text;
}

class Int8Programs : public Cli, public ::testing::WithParamInterface<int> {};

TEST_P(Int8Programs, ComputeEveryOperatorWithinItsSteps) {
  if (!what_int8_misses().empty()) GTEST_SKIP() << what_int8_misses();
  std::mt19937 random(13);
  const std::string text = int8_text(GetParam(), random);
  write("operators.graph", text);
  const graph::Module module = parsed_graph(text);
  const auto inputs = graph::make_sample(module, graph::kFirstRandomSample);
  write("a.bin", inputs[0]);
  write("b.bin", inputs[1]);
  const ProcessOutcome explained =
      intarsia({"explain", "operators.graph", "--board", "aarch64-linux", "--target", kInt8Target});
  ASSERT_TRUE(done(explained));
  EXPECT_THAT(explained.out,
              HasSubstr(fmt::format("{} operators on arm_acl", int8_operators().size())));
  EXPECT_THAT(explained.out, HasSubstr("may be a step from the reference's"));
  ASSERT_TRUE(
      done(intarsia({"run", "operators.graph", "--board", "aarch64-linux", "--target", kInt8Target,
                     "--input", "a.bin", "--input", "b.bin", "--output-dir", "out"})));
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  ASSERT_TRUE(expected.ok());
  const graph::Function& entry = module.entry_function();
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const Int8Operator& each = int8_operators()[static_cast<size_t>(entry.outputs[i].index) - 6];
    const auto found = graph::first_difference(entry.tensor(entry.outputs[i]), expected->at(i),
                                               read(fmt::format("out/out{}.bin", i)), each.steps);
    EXPECT_FALSE(found.has_value())
        << each.text << ": " << found->text(entry.tensor(entry.outputs[i]).shape);
  }
}

INSTANTIATE_TEST_SUITE_P(Channels, Int8Programs, ::testing::Values(3, 16),
                         [](const auto& info) { return fmt::format("Of{}", info.param); });

constexpr const char* kRefused = R"(intarsia.graph refused
func @main(%0) -> (%1, %2) {
  %0 a: i8[1,4,4,4] q(0.05:-3)
  %1 b: i8[1,4] q(0.05:-3)
  %2 c: i8[1,4,4,4] q(0.00390625:-128)
  mean m(%0) -> (%1) {axes=[1,2]}
  softmax s(%0) -> (%2)
}
entry @main
)";

TEST_F(Cli, ExplainsWhatTheArmComputeLibraryRoundsTooFarOff) {
  write("refused.graph", std::string(kRefused));
  const ProcessOutcome explained =
      intarsia({"explain", "refused.graph", "--board", "aarch64-linux", "--target", kInt8Target});
  EXPECT_THAT(explained.out, HasSubstr("average_pool of int8 is off by more than the step"));
  EXPECT_THAT(explained.out, HasSubstr("softmax of int8 is off by more than the step"));
}

class Int8Networks : public Cli, public ::testing::WithParamInterface<const char*> {};

TEST_P(Int8Networks, AreNearWhatWasRecorded) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!what_int8_misses().empty()) GTEST_SKIP() << what_int8_misses();
  const std::filesystem::path folder = shared_folder() / "models" / GetParam();
  const auto signed_bytes = [](const std::vector<uint8_t>& bytes) {
    return std::vector<int8_t>(bytes.begin(), bytes.end());
  };
  for (const int index : {0, 2}) {
    const std::string input = (folder / fmt::format("in{}_0.bin", index)).string();
    ASSERT_TRUE(
        done(intarsia({"run", (folder / "model.tflite").string(), "--board", "aarch64-linux",
                       "--target", kInt8Target, "--input", input, "--output-dir", "out"})));
    const auto recorded = signed_bytes(read_bytes(folder / fmt::format("out{}_0.bin", index)));
    const auto results = signed_bytes(read("out/out0.bin"));
    ASSERT_EQ(results.size(), recorded.size());
    int largest = 0;
    for (size_t i = 0; i < results.size(); ++i)
      largest = std::max(largest, std::abs(results[i] - recorded[i]));
    EXPECT_LE(largest, 4) << "sample " << index;
    // The winner, of which some samples have two.
    const auto winner = std::ranges::max_element(recorded) - recorded.begin();
    EXPECT_EQ(results[static_cast<size_t>(winner)], std::ranges::max(results))
        << "sample " << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Int8Networks,
                         ::testing::Values("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8",
                                           "ad01_int8"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace intarsia::test::arm_acl
