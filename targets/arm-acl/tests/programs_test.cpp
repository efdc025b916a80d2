// Float networks as programs for 64-bit Arm with the Arm Compute Library, in QEMU, beside what the host's C computes and what
// TensorFlow Lite recorded; and who takes what.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "intarsia/graph/tensor_values.h"
#include "intarsia/plugin/target_kind.h"
#include "linux_programs.h"
#include "needs.h"
#include "support/parsed.h"
#include "support/shared_data.h"

namespace intarsia::targets::arm_acl {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::arm_acl {
namespace {

using ::testing::HasSubstr;

constexpr const char *kBoard = "aarch64-linux", *kTarget = "cortex-a53 + arm_acl";

bool can_run() {
  return INTARSIA_ASKS_ARM_ACL != 0;
}
std::string what_is_missing() {
  return needs("arm-acl") + "CMake found no Arm Compute Library, compiler or emulator";
}

std::string float_difference(const std::vector<uint8_t>& expected,
                             const std::vector<uint8_t>& actual, float tolerance) {
  if (expected.size() != actual.size()) return "sizes differ";
  for (size_t at = 0; at < expected.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, expected.data() + at, sizeof a);
    std::memcpy(&b, actual.data() + at, sizeof b);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::abs(a - b) <= tolerance * std::max(1.0f, std::abs(a))))
      return fmt::format("element {}: {:.9g}, Arm Compute Library {:.9g}", at / sizeof(float), a,
                         b);
  }
  return "";
}

class Networks : public Cli, public ::testing::WithParamInterface<const char*> {};

TEST_P(Networks, AreWithinTheTolerance) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!can_run()) GTEST_SKIP() << what_is_missing();
  const std::filesystem::path folder = shared_folder() / "models" / GetParam();
  const std::string model = (folder / "model.tflite").string();
  for (int index = 0; index < 2; ++index) {
    ASSERT_TRUE(done(
        intarsia({"run", model, "--board", kBoard, "--target", kTarget, "--input",
                  (folder / fmt::format("in{}_0.bin", index)).string(), "--output-dir", "out"})));
    EXPECT_EQ(float_difference(read_bytes(folder / fmt::format("out{}_0.bin", index)),
                               read("out/out0.bin"), 1e-5f),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Networks,
                         ::testing::Values("hello_world_float", "pretrainedResnet"),
                         [](const auto& info) { return std::string(info.param); });

// Operators of these inputs, each with an output of its own.
constexpr const char* kOperators = R"(intarsia.graph operators
const @0 first = {FIRST}
const @1 second = {SECOND}
const @2 third = {THIRD}
func @main(%0, %1) -> ({OUTPUTS}) {
  %0 a: f32[1,7,6,4]
  %1 b: f32[1,7,6,4]
  %2 w: f32[5,3,3,4] = @0
  %3 d: f32[1,3,3,8] = @1
  %4 f: f32[6,4] = @2
{TENSORS}{NODES}}
entry @main
)";

struct Operator {
  const char* text;   // with its operands
  const char* shape;  // of the result
  const char* attributes;
  float tolerance;  // as docs/arm-acl.md states it
};

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = {
      {"conv2d p(%0, %2)", "[1,7,6,5]", "padding={top=1,left=1,bottom=1,right=1},activation=relu6",
       1e-4f},
      {"conv2d q(%0, %2)", "[1,3,2,5]", "stride_h=2,stride_w=2", 1e-4f},
      {"depthwise_conv2d r(%0, %3)", "[1,5,4,8]", "multiplier=2,activation=relu", 1e-4f},
      {"fully_connected s(%0, %4)", "[1,7,6,6]", "keep_dims=true", 1e-4f},
      {"max_pool2d t(%0)", "[1,3,3,4]", "filter_h=2,filter_w=2,stride_h=2,stride_w=2", 0},
      {"average_pool2d u(%0)", "[1,7,6,4]",
       "filter_h=3,filter_w=3,padding={top=1,left=1,bottom=1,right=1}", 1e-4f},
      {"mean v(%0)", "[1,4]", "axes=[1,2]", 1e-4f},
      {"softmax w(%0)", "[1,7,6,4]", "", 1e-4f},
      {"add x(%0, %1)", "[1,7,6,4]", "activation=relu", 0},
      {"sub y(%0, %1)", "[1,7,6,4]", "", 0},
      {"mul z(%0, %1)", "[1,7,6,4]", "", 0},
      {"minimum aa(%0, %1)", "[1,7,6,4]", "", 0},
      {"maximum ab(%0, %1)", "[1,7,6,4]", "", 0},
      {"relu ac(%0)", "[1,7,6,4]", "activation=relu_n1_to_1", 0},
      {"leaky_relu ad(%0)", "[1,7,6,4]", "alpha=0.25", 0},
      {"logistic ae(%0)", "[1,7,6,4]", "", 1e-4f},
      {"tanh af(%0)", "[1,7,6,4]", "", 1e-4f},
      {"elu ag(%0)", "[1,7,6,4]", "", 1e-4f},
      {"hard_swish ah(%0)", "[1,7,6,4]", "", 1e-4f},
      {"abs ai(%0)", "[1,7,6,4]", "", 0},
      {"square aj(%0)", "[1,7,6,4]", "", 0},
      {"exp ak(%0)", "[1,7,6,4]", "", 1e-4f},
      {"neg al(%0)", "[1,7,6,4]", "", 0}};
  return all;
}

std::string floats_text(size_t count, std::mt19937& random) {
  std::string text = "x\"";
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(random() % 4096) / 4096.0f - 0.5f;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) text += fmt::format("{:02x}", bits >> shift & 255);
  }
  return text + "\"";
}

std::string operators_text(std::mt19937& random) {
  std::string outputs, tensors, nodes, text = kOperators;
  int id = 5;
  for (const Operator& each : operators()) {
    outputs += fmt::format("{}%{}", id == 5 ? "" : ", ", id);
    tensors += fmt::format("  %{} t{}: f32{}\n", id, id, each.shape);
    nodes += fmt::format("  {} -> (%{}){}\n", each.text, id,
                         *each.attributes == 0 ? "" : fmt::format(" {{{}}}", each.attributes));
    ++id;
  }
  const auto fill = [&](const std::string& name, const std::string& with) {
    text.replace(text.find(name), name.size(), with);
  };
  fill("{FIRST}", floats_text(180, random));
  fill("{SECOND}", floats_text(72, random));
  fill("{THIRD}", floats_text(24, random));
  fill("{OUTPUTS}", outputs);
  fill("{TENSORS}", tensors);
  fill("{NODES}", nodes);
  return text;
}

class Programs : public Cli {};

TEST_F(Programs, ComputeEveryOperatorWithinItsTolerance) {
  if (!can_run()) GTEST_SKIP() << what_is_missing();
  std::mt19937 random(11);
  const std::string text = operators_text(random);
  write("operators.graph", text);
  const graph::Module module = parsed_graph(text);
  const auto inputs = graph::make_sample(module, graph::kFirstRandomSample);
  write("a.bin", inputs[0]);
  write("b.bin", inputs[1]);
  const ProcessOutcome explained =
      intarsia({"explain", "operators.graph", "--board", kBoard, "--target", kTarget});
  ASSERT_TRUE(done(explained));
  EXPECT_THAT(explained.out, HasSubstr(fmt::format("{} operators on arm_acl", operators().size())));
  ASSERT_TRUE(done(intarsia({"run", "operators.graph", "--board", kBoard, "--target", kTarget,
                             "--input", "a.bin", "--input", "b.bin", "--output-dir", "out"})));
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  ASSERT_TRUE(expected.ok());
  for (size_t i = 0; i < operators().size(); ++i)
    EXPECT_EQ(float_difference(expected->at(i), read(fmt::format("out/out{}.bin", i)),
                               operators()[i].tolerance),
              "")
        << operators()[i].text;
}

constexpr const char* kGroups = R"(intarsia.graph groups
const @0 w = {W}
func @main(%0) -> (%2) {
  %0 a: f32[1,7,6,4]
  %1 w: f32[4,3,3,2] = @0
  %2 b: f32[1,5,4,4]
  conv2d c(%0, %1) -> (%2)
}
entry @main
)";

TEST_F(Programs, HaveWhatTheLibraryRefusesOnTheHost) {
  if (!can_run()) GTEST_SKIP() << what_is_missing();
  std::mt19937 random(12);
  std::string text = kGroups;
  text.replace(text.find("{W}"), 3, floats_text(72, random));
  write("groups.graph", text);
  const ProcessOutcome explained =
      intarsia({"explain", "groups.graph", "--board", kBoard, "--target", kTarget});
  ASSERT_TRUE(done(explained));
  EXPECT_THAT(explained.out, HasSubstr("it has no convolution of groups"));
}

constexpr const char* kConvolution = R"(intarsia.graph edges
const @0 w = {W}
func @main(%0) -> (%3) {
  %0 a: f32[1,7,6,4]
  %1 w: f32[5,3,3,4] = @0
  %2 b: f32[1,5,4,5]
  %3 c: f32[1,5,4,5]
  conv2d c(%0, %1) -> (%2)
  tanh t(%2) -> (%3)
}
entry @main
)";

class Packages : public LinuxPrograms {};

// Of a core that also is found without an operating system: the library's headers want exceptions and all of C++.
TEST_F(Packages, AreBuiltForLinuxByCMakeAndMake) {
  if (!can_run()) GTEST_SKIP() << what_is_missing();
  std::mt19937 random(13);
  std::string text = kConvolution;
  text.replace(text.find("{W}"), 3, floats_text(180, random));
  write("edges.graph", text);
  const graph::Module module = parsed_graph(text);
  const auto inputs = graph::make_sample(module, graph::kFirstRandomSample);
  write("edges.in", inputs[0]);
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  ASSERT_TRUE(expected.ok());
  // Without a board the core says that there is an operating system.
  for (const std::vector<std::string>& board :
       {std::vector<std::string>{"--board", kBoard}, std::vector<std::string>{}}) {
    std::vector<std::string> command = {"compile", "edges.graph", "--target",
                                        kTarget,   "-o",          "edges"};
    command.insert(command.end(), board.begin(), board.end());
    ASSERT_TRUE(done(intarsia(command)));
    for (const Build build : {Build::CMake, Build::Make}) {
      if (build == Build::Make && !have_program("make")) continue;
      ASSERT_TRUE(build_and_run(arm_linux(), build, {{"edges", 1}}));
      EXPECT_EQ(float_difference(expected->at(0), read("edges.out"), 1e-4f), "") << name_of(build);
    }
  }
}

TEST(Target, IsWrittenAsItIsAnywhereElse) {
  const TargetRegistry registry = registry_beside_c(targets::arm_acl::add_kinds);
  EXPECT_EQ(printed_target(registry, R"({"kind":"composite","target_host":"c -mcpu=cortex-a53",)"
                                     R"("devices":[{"kind":"arm_acl"}]})"),
            printed_target(registry, "c -mcpu=cortex-a53 + arm_acl"));
  EXPECT_FALSE(parse_target(registry.catalogue(), "arm_acl").ok());
}

}  // namespace
}  // namespace intarsia::test::arm_acl
