// Chains of operators on single elements from a model file to what devices run.
#include "cli.h"

namespace intarsia::test {
namespace {

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// What a converter leaves of x * sigmoid(x) when it knows no integer form: floats between two quantised tensors.
constexpr const char* kFloats = R"(intarsia.graph silu
func @main(%0) -> (%4) {
  %0 x: i8[1,8,8,16] q(0.05:3)
  %1 real: f32[1,8,8,16]
  %2 gate: f32[1,8,8,16]
  %3 product: f32[1,8,8,16]
  %4 y: i8[1,8,8,16] q(0.04:-20)
  dequantize d(%0) -> (%1)
  logistic s(%1) -> (%2)
  mul p(%1, %2) -> (%3)
  quantize q(%3) -> (%4)
}
entry @main
)";

constexpr const char* kIntegers = R"(intarsia.graph chain
func @main(%0) -> (%2) {
  %0 x: i8[1,8,8,16] q(0.05:3)
  %1 a: i8[1,8,8,16] q(0.05:3)
  %2 y: i8[1,8,8,16] q(0.00390625:-128)
  relu r(%0) -> (%1) {activation=relu6}
  logistic s(%1) -> (%2)
}
entry @main
)";

class Lookups : public Cli {
 protected:
  std::string explained(const char* graph, const std::string& target,
                        const std::vector<std::string>& more = {}) {
    write("m.graph", std::string(graph));
    std::vector<std::string> arguments = {"explain", "m.graph", "--target", target};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_TRUE(done(outcome));
    const ProcessOutcome verified = intarsia({"verify", "m.graph", "--target", target});
    EXPECT_TRUE(done(verified));
    return outcome.out;
  }
};

TEST_F(Lookups, FloatsBetweenIntegersRunOnTheNpu) {
  const std::string text = explained(kFloats, "cortex-m55+ethos-u55-128");
  EXPECT_TRUE(says(text, "a table of what d, s, p, q give")) << text;
  EXPECT_TRUE(says(text, "1 operator on ethos-u")) << text;
}

TEST_F(Lookups, FloatsBetweenIntegersNeedNoneOnACpu) {
  const std::string text = explained(kFloats, "cortex-m0");
  EXPECT_TRUE(says(text, "lookup")) << text;
  ASSERT_TRUE(done(intarsia({"compile", "m.graph", "--target", "cortex-m0", "-o", "made"})));
  const std::vector<uint8_t> source = read("made/silu.c");
  EXPECT_FALSE(says(std::string(source.begin(), source.end()), "float"));
}

// Ethos-N has no tables, but takes both operators.
TEST_F(Lookups, ADeviceWithoutTablesKeepsWhatItTakes) {
  const std::string text = explained(kIntegers, "cortex-m55+ethos-n78-4tops-4ple");
  EXPECT_TRUE(says(text, "2 operators on ethosn")) << text;
  EXPECT_TRUE(says(explained(kIntegers, "cortex-m55+ethos-u55-128"), "1 operator on ethos-u"));
}

TEST_F(Lookups, WhatAPinNamesStays) {
  const std::string text = explained(kIntegers, "cortex-m55+ethos-u55-128", {"--pin", "r=c"});
  EXPECT_TRUE(says(text, "relu")) << text;
  EXPECT_TRUE(says(text, "logistic")) << text;
}

}  // namespace
}  // namespace intarsia::test
