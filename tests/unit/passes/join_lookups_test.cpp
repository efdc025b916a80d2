// Chains of operators on single elements as lookups: which become one, which stay, and every bit as before.
#include "passes/join_lookups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include <fmt/format.h>

namespace intarsia::passes {
namespace {

using graph::Module;
using graph::OpKind;
using graph::TensorValue;
using testing::ElementsAre;

Module parsed_module(const std::string& text) {
  Result<Module> module = graph::parse(text);
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  const Result<void> verified = graph::verify(*module);
  INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
  return *std::move(module);
}

// Everything that can be joined; a verified module that computes the same on all bytes, or values of 16 bits.
Module joined_everywhere(const Module& module) {
  Module joined = join_lookups(module, find_islands(module));
  const Result<void> verified = graph::verify(joined);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string();
  std::vector<TensorValue> inputs;
  std::mt19937 random(7);
  for (const graph::TensorId id : module.entry_function().inputs) {
    inputs.emplace_back(static_cast<size_t>(module.entry_function().tensor(id).bytes()));
    for (size_t i = 0; i < inputs.back().size(); ++i)
      inputs.back()[i] = static_cast<uint8_t>(inputs.size() > 1                ? random()
                                              : inputs.back().size() < 1 << 17 ? i
                                              : i % 2 == 0                     ? i / 2
                                                                               : i / 512);
  }
  const Result<std::vector<TensorValue>> before = graph::Evaluator(module).run(inputs);
  const Result<std::vector<TensorValue>> after = graph::Evaluator(joined).run(inputs);
  EXPECT_TRUE(before.ok() && after.ok());
  if (before.ok() && after.ok()) {
    EXPECT_EQ(*before, *after);
  }
  return joined;
}

std::vector<OpKind> kinds(const Module& module) {
  std::vector<OpKind> all;
  for (const graph::Node& node : module.entry_function().nodes) all.push_back(node.kind);
  return all;
}

// What is left of an attention's mask (fold_masks_test).
TEST(JoinLookups, AComparisonAndTheChoiceItMakes) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
const @0 half = i8[-78]
const @1 all = i8[127]
const @2 none = i8[-128]
func @main(%0) -> (%5) {
  %0 mask: i8[2,128] q(0.02:-4)
  %1 half: i8[] q(0.01:-128) = @0
  %2 all: i8[] q(39.2:127) = @1
  %3 none: i8[] q(39.2:127) = @2
  %4 here: bool[2,128]
  %5 y: i8[2,128] q(39.2:127)
  greater c(%0, %1) -> (%4)
  select s(%4, %2, %3) -> (%5)
}
entry @main
)"));
  EXPECT_THAT(kinds(joined), ElementsAre(OpKind::Lookup));
}

TEST(JoinLookups, FloatsBetweenTwoQuantisedTensorsBecomeATable) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
const @0 three = f32[3]
func @main(%0) -> (%5) {
  %0 x: i8[2,128] q(0.05:3)
  %1 real: f32[2,128]
  %2 gate: f32[2,128]
  %3 c: f32[] = @0
  %4 product: f32[2,128]
  %5 y: i8[2,128] q(0.04:-20)
  %6 tripled: f32[2,128]
  dequantize d(%0) -> (%1)
  logistic s(%1) -> (%2)
  mul p(%1, %2) -> (%4)
  mul t(%4, %3) -> (%6)
  quantize q(%6) -> (%5)
}
entry @main
)"));
  EXPECT_THAT(kinds(joined), ElementsAre(OpKind::Lookup));
  EXPECT_EQ(joined.entry_function().nodes[0].name, "q");
  EXPECT_TRUE(joined.constants.empty());
}

TEST(JoinLookups, NotPlainWholeNumbers) {
  const Module module = parsed_module(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 x: i8[256] q(0.05:3)
  %1 real: f32[256]
  %2 y: i8[256]
  dequantize d(%0) -> (%1)
  cast c(%1) -> (%2)
}
entry @main
)");
  EXPECT_TRUE(find_islands(module).empty());
}

TEST(JoinLookups, IntegersToo) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
const @0 three = i8[90]
func @main(%0) -> (%4) {
  %0 x: i8[256] q(0.05:3)
  %1 gate: i8[256] q(0.00390625:-128)
  %2 product: i8[256] q(0.04:-20)
  %3 c: i8[1] q(0.02:1) = @0
  %4 y: i16[256] q(0.001:0)
  logistic s(%0) -> (%1)
  mul p(%1, %3) -> (%2)
  quantize w(%2) -> (%4)
}
entry @main
)"));
  EXPECT_THAT(kinds(joined), ElementsAre(OpKind::Lookup));
}

// An int16 `x` on this scale, what happens to it in floats, and what is made of that.
std::string of_words(const std::string& steps, float from, const std::string& to) {
  return fmt::format(R"(intarsia.graph m
const @0 factor = f32[0.25]
const @1 most = f32[1]
func @main(%0) -> (%3) {{
  %0 x: i16[65536] q({1})
  %1 real: f32[65536]
  %2 made: f32[65536]
  %3 y: {2}
  %4 a: f32[65536]
  %5 b: f32[65536]
  %6 c: f32[] = @0
  %7 d: f32[] = @1
  dequantize d(%0) -> (%1)
  {0}
  quantize q(%2) -> (%3)
}}
entry @main
)",
                     steps, from, to);
}

// What floats between an int16 and another integer become where it is the same for every value.
TEST(JoinLookups, FunctionsOfInt16BecomeOperatorsOnIntegers) {
  const auto joined = [](const std::string& steps, float from, const std::string& to) {
    return kinds(
        joined_everywhere(parsed_module(of_words(steps, from, "i16[65536] q(" + to + ")"))));
  };
  const std::string absolute = "neg n(%1) -> (%4)\n maximum m(%1, %4) -> (%2)";
  EXPECT_THAT(joined("neg n(%1) -> (%2)", 0.0001f, "0.0001"), ElementsAre(OpKind::Mul));
  EXPECT_THAT(joined("abs n(%1) -> (%2)", 0.0001f, "0.0001"), ElementsAre(OpKind::Abs));
  EXPECT_THAT(joined(absolute, 0.0001f, "0.0001"), ElementsAre(OpKind::Abs));
  EXPECT_THAT(joined("minimum r(%1, %7) -> (%2)", 0.0001f, "0.00015"),
              ElementsAre(OpKind::Minimum, OpKind::Quantize));
  // Changes of scale by less than a half round twice, others once.
  EXPECT_THAT(joined(absolute, 0.0001f, "0.00015"), ElementsAre(OpKind::Abs));
  EXPECT_THAT(joined("neg n(%1) -> (%4)\n neg m(%4) -> (%2)", 0.0001f, "0.00015"),
              ElementsAre(OpKind::Quantize));
  EXPECT_THAT(joined("relu r(%1) -> (%2) {activation=relu}", 0.0001f, "0.0001"),
              ElementsAre(OpKind::Relu));
  EXPECT_THAT(joined("relu r(%1) -> (%2) {activation=relu6}", 0.0003f, "0.0003"),
              ElementsAre(OpKind::Relu));
  EXPECT_THAT(joined("minimum r(%1, %7) -> (%2)", 0.0001f, "0.0001"), ElementsAre(OpKind::Minimum));
  EXPECT_THAT(joined("maximum r(%1, %6) -> (%4)\n minimum s(%4, %7) -> (%2)", 0.0001f, "0.0001"),
              ElementsAre(OpKind::Maximum, OpKind::Minimum));
  EXPECT_THAT(joined("hard_swish n(%1) -> (%2)", 0.0001f, "0.0001"),
              ElementsAre(OpKind::HardSwish));
  EXPECT_THAT(joined("mul m(%1, %6) -> (%2)", 0.0001f, "0.000025"), ElementsAre(OpKind::Mul));
}

// Of two steps the first has a name that no other operator has.
TEST(JoinLookups, FunctionsOfInt16HaveFreeNames) {
  std::string text = of_words("minimum r(%1, %7) -> (%2)", 0.0001f, "i16[65536] q(0.00015)");
  text.replace(text.find("-> (%3)"), 7, "-> (%3, %8)");
  text.replace(text.find("  dequantize"), 0, R"(  %8 z: i16[65536] q(0.0001)
  relu q_minimum(%0) -> (%8)
)");
  EXPECT_THAT(kinds(joined_everywhere(parsed_module(text))),
              ElementsAre(OpKind::Relu, OpKind::Minimum, OpKind::Quantize));
}

// Floats round halves away from zero, which neither products nor changes of scale do; and there is no table of 65,536 results.
TEST(JoinLookups, FunctionsOfInt16ThatStayFloatsAreSaid) {
  const auto stays = [](const std::string& steps, const std::string& to, OpKind function) {
    const Module module = parsed_module(of_words(steps, 0.0001f, to));
    std::map<std::string, std::string> in_floats;
    EXPECT_TRUE(find_islands(module, &in_floats).empty());
    EXPECT_EQ(in_floats, (std::map<std::string, std::string>{{"q", "x"}}));
    EXPECT_EQ(kinds(module)[1], function);
  };
  stays("neg n(%1) -> (%2)", "i16[65536] q(0.0002)", OpKind::Neg);
  stays("logistic n(%1) -> (%2)", "i16[65536] q(0.000030517578125)", OpKind::Logistic);
  stays("logistic n(%1) -> (%2)", "i8[65536] q(0.00390625:-128)", OpKind::Logistic);
  std::map<std::string, std::string> in_floats;
  find_islands(parsed_module(of_words("abs n(%1) -> (%2)", 0.0001f, "i16[65536] q(0.0001)")),
               &in_floats);
  EXPECT_TRUE(in_floats.empty());
}

TEST(JoinLookups, AFunctionThatIsQuantisedTwice) {
  const auto text = [](const std::string& outputs) {
    return fmt::format(R"(intarsia.graph m
func @main(%0) -> ({}) {{
  %0 x: i8[256] q(0.05:3)
  %1 a: f32[256]
  %2 b: f32[256]
  %3 y: i8[256] q(0.04:-20)
  %4 z: i16[256] q(0.0001)
  dequantize d(%0) -> (%1)
  tanh t(%1) -> (%2)
  quantize q(%2) -> (%3)
  quantize r(%2) -> (%4)
}}
entry @main
)",
                       outputs);
  };
  EXPECT_THAT(kinds(joined_everywhere(parsed_module(text("%3, %4")))),
              ElementsAre(OpKind::Lookup, OpKind::Lookup));
  EXPECT_THAT(kinds(joined_everywhere(parsed_module(text("%3, %4, %2")))),
              ElementsAre(OpKind::Dequantize, OpKind::Tanh, OpKind::Lookup, OpKind::Lookup));
}

// Two tensors of int16 from the same floats, one of which goes on to a function of its own.
TEST(JoinLookups, HardSwishOfInt16WhoseFloatsOthersRead) {
  const auto text = [](const std::string& outputs) {
    return fmt::format(R"(intarsia.graph m
func @main(%0) -> ({}) {{
  %0 x: i16[65536] q(0.0004)
  %1 real: f32[65536]
  %2 made: f32[65536]
  %3 y: i16[65536] q(0.0003)
  %4 z: i16[65536] q(0.0001)
  %5 a: i16[65536] q(0.0002)
  dequantize d(%0) -> (%1)
  hard_swish n(%1) -> (%2)
  quantize q(%2) -> (%3)
  quantize r(%2) -> (%4)
  abs s(%4) -> (%5)
}}
entry @main
)",
                       outputs);
  };
  EXPECT_THAT(kinds(joined_everywhere(parsed_module(text("%3, %5")))),
              ElementsAre(OpKind::HardSwish, OpKind::HardSwish, OpKind::Abs));
  EXPECT_THAT(kinds(joined_everywhere(parsed_module(text("%3, %5, %2")))),
              ElementsAre(OpKind::Dequantize, OpKind::HardSwish, OpKind::HardSwish,
                          OpKind::HardSwish, OpKind::Abs));
  Module pinned = parsed_module(text("%3, %5"));
  pinned.functions[0].nodes[1].pin = "cpu";
  EXPECT_TRUE(find_islands(pinned).empty());
}

TEST(JoinLookups, NotWhatAnotherTensorDecidesToo) {
  const Module module = parsed_module(R"(intarsia.graph m
func @main(%0, %1) -> (%5) {
  %0 x: i8[256] q(0.05:3)
  %1 z: i8[256] q(0.05:3)
  %2 a: f32[256]
  %3 b: f32[256]
  %4 sum: f32[256]
  %5 y: i8[256] q(0.04:-20)
  dequantize d(%0) -> (%2)
  dequantize e(%1) -> (%3)
  add p(%2, %3) -> (%4)
  quantize q(%4) -> (%5)
}
entry @main
)");
  EXPECT_TRUE(find_islands(module).empty());
}

TEST(JoinLookups, NotAConstantForEachChannelNorAPinnedOperatorNorASingleOne) {
  constexpr const char* kText = R"(intarsia.graph m
const @0 factors = f32[3, 4]
func @main(%0) -> (%4) {{
  %0 x: i8[128,2] q(0.05:3)
  %1 a: f32[128,2]
  %2 c: f32[{}] = @0
  %3 p: f32[128,2]
  %4 y: i8[128,2] q(0.04:-20)
  dequantize d(%0) -> (%1)
  mul p(%1, %2) -> (%3)
  quantize q(%3) -> (%4)
}}
entry @main
)";
  EXPECT_TRUE(find_islands(parsed_module(fmt::format(kText, 2))).empty());
  Module pinned = parsed_module(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 x: i8[256] q(0.05:3)
  %1 a: i8[256] q(0.00390625:-128)
  %2 y: i8[256] q(0.0078125:0)
  logistic s(%0) -> (%1)
  tanh t(%1) -> (%2)
}
entry @main
)");
  EXPECT_EQ(find_islands(pinned).size(), 1u);
  pinned.functions[0].nodes[0].pin = "cpu";
  EXPECT_TRUE(find_islands(pinned).empty());
}

// What is read elsewhere stays; what only the lookup's chain reads goes.
TEST(JoinLookups, KeepsWhatOthersRead) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
func @main(%0) -> (%1, %4) {
  %0 x: i8[256] q(0.05:3)
  %1 a: i8[256] q(0.00390625:-128)
  %2 b: f32[256]
  %3 c: f32[256]
  %4 y: i8[256] q(0.04:-20)
  logistic s(%0) -> (%1)
  dequantize d(%1) -> (%2)
  sqrt r(%2) -> (%3)
  quantize q(%3) -> (%4)
}
entry @main
)"));
  EXPECT_THAT(kinds(joined), ElementsAre(OpKind::Logistic, OpKind::Lookup));
  EXPECT_EQ(joined.entry_function().nodes[1].inputs[0], joined.entry_function().inputs[0]);
}

// Square roots of numbers below zero are none, and quantised as the evaluator does.
TEST(JoinLookups, TwoTablesInARowAndNumbersThatAreNone) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
func @main(%0) -> (%3, %6) {
  %0 x: i8[256] q(0.05:0)
  %1 a: f32[256]
  %2 b: f32[256]
  %3 y: i8[256] q(0.04:-20)
  %4 c: f32[256]
  %5 d: f32[256]
  %6 z: i8[256] q(0.02:5)
  dequantize d(%0) -> (%1)
  log r(%1) -> (%2)
  quantize q(%2) -> (%3)
  dequantize e(%3) -> (%4)
  sqrt f(%4) -> (%5)
  quantize g(%5) -> (%6)
}
entry @main
)"));
  EXPECT_THAT(kinds(joined), ElementsAre(OpKind::Lookup, OpKind::Lookup));
}

// A lookup itself joins what follows it, and the graph's text has it.
TEST(JoinLookups, JoinsALookupAndHasAText) {
  const Module joined = joined_everywhere(parsed_module(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 x: i8[256] q(0.05:3)
  %1 a: i8[256] q(0.00390625:-128)
  %2 y: i8[256] q(0.0078125:0)
  logistic s(%0) -> (%1)
  tanh t(%1) -> (%2)
}
entry @main
)"));
  const Result<Module> again = graph::parse(graph::print(joined));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(*again, joined);
}

TEST(JoinLookups, ALookupHasToFitItsType) {
  const auto verified = [](const std::string& results) {
    return graph::verify(*graph::parse(fmt::format(R"(intarsia.graph m
func @main(%0) -> (%1) {{
  %0 x: i8[4] q(0.05:3)
  %1 y: i8[4] q(0.05:3)
  lookup l(%0) -> (%1) {{results=[{}]}}
}}
entry @main
)",
                                                   results)));
  };
  std::string many = "0";
  for (int i = 1; i < 255; ++i) many += ", 1";
  EXPECT_FALSE(verified(many).ok());
  EXPECT_FALSE(verified(many + ", 128").ok());
  EXPECT_TRUE(verified(many + ", 127").ok());
}

}  // namespace
}  // namespace intarsia::passes
