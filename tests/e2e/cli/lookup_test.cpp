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

// Two branches that are joined in floats, one of them behind a reshape, whose result is read twice.
constexpr const char* kMoved = R"(intarsia.graph moved
func @main(%0, %1) -> (%10, %11) {
  %0 x: i8[1,8,8,16] q(0.05:3)
  %1 z: i8[1,64,8] q(0.02:-9)
  %2 real: f32[1,8,8,16]
  %3 gate: f32[1,8,8,16]
  %4 product: f32[1,8,8,16]
  %5 flat: f32[1,64,16]
  %6 other: f32[1,64,8]
  %7 both: f32[1,64,24]
  %8 roots: f32[1,64,24]
  %9 c: f32[1,64,16]
  %10 y: i8[1,64,24] q(0.02:-120)
  %11 w: i8[1,64,16] q(0.04:-20)
  dequantize d(%0) -> (%2)
  logistic s(%2) -> (%3)
  mul p(%2, %3) -> (%4)
  reshape m(%4) -> (%5) {shape=[1,64,16]}
  dequantize e(%1) -> (%6)
  concat j(%5, %6) -> (%7) {axis=2}
  abs f(%7) -> (%8)
  quantize q(%8) -> (%10)
  tanh g(%5) -> (%9)
  quantize r(%9) -> (%11)
}
entry @main
)";

// An absolute value written out, to a scale on which integers give the same, and a curve, of which there are none.
constexpr const char* kWords = R"(intarsia.graph words
func @main(%0) -> (%4, %6) {
  %0 x: i16[1,8,8,16] q(0.0005)
  %1 real: f32[1,8,8,16]
  %2 minus: f32[1,8,8,16]
  %3 larger: f32[1,8,8,16]
  %4 y: i16[1,8,8,16] q(0.0005)
  %5 curve: f32[1,8,8,16]
  %6 z: i16[1,8,8,16] q(0.01)
  dequantize d(%0) -> (%1)
  neg n(%1) -> (%2)
  maximum m(%1, %2) -> (%3)
  quantize q(%3) -> (%4)
  square l(%1) -> (%5)
  quantize r(%5) -> (%6)
}
entry @main
)";

constexpr const char* kCurve = R"(intarsia.graph curve
func @main(%0) -> (%3) {
  %0 x: i16[1,64,64,16] q(0.0003)
  %1 real: f32[1,64,64,16]
  %2 gate: f32[1,64,64,16]
  %3 y: i16[1,64,64,16] q(0.000030517578125)
  dequantize d(%0) -> (%1)
  logistic s(%1) -> (%2)
  quantize q(%2) -> (%3)
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

TEST_F(Lookups, MovesOfFloatsBecomeMovesOfIntegers) {
  for (const char* target :
       {"c", "cortex-m55", "cortex-m55+ethos-u55-128", "cortex-m55+ethos-u65-256"}) {
    const std::string text = explained(kMoved, target);
    EXPECT_TRUE(says(text, "a table of what")) << target << text;
  }
  ASSERT_TRUE(done(intarsia({"compile", "m.graph", "--target", "cortex-m0", "-o", "made"})));
  const std::vector<uint8_t> source = read("made/moved.c");
  EXPECT_FALSE(says(std::string(source.begin(), source.end()), "float"));
}

TEST_F(Lookups, OfInt16WhereIntegersGiveTheSame) {
  for (const char* target : {"c", "cortex-m55", "cortex-m55+ethos-u55-128"}) {
    const std::string text = explained(kWords, target);
    EXPECT_TRUE(says(text, "just what d, n, m, q give")) << target << text;
    EXPECT_TRUE(says(text, "floats from 'x' on")) << target << text;
  }
}

// The last bit of a float, which a C library may have otherwise, can be a step of an integer: the operators alone are right.
TEST_F(Lookups, LastBitsOfFloatsAreNotHeldAgainstAProgram) {
  write("m.graph", std::string(kCurve));
  const ProcessOutcome verified =
      intarsia({"verify", "m.graph", "--target", "c", "--samples", "8"});
  EXPECT_TRUE(done(verified));
  EXPECT_TRUE(says(verified.out, "agree on 8 samples")) << verified.out;
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
