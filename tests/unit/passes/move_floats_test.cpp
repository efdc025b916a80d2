// Moves of floats between integers come before the dequantize or behind the quantize, bit for bit the same.
#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "elimination_testing.h"
#include "passes/join_lookups.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// What is left after elimination and after functions of one element have become tables.
std::vector<std::string> left(const std::string& body, const std::string& constants = "") {
  const ReducedModule result = reduced(parsed(body, constants));
  const graph::Module joined =
      passes::join_lookups(result.module, passes::find_islands(result.module));
  const Result<void> same = check_reduced(result.module, joined, 40);
  EXPECT_TRUE(same.ok()) << (same.ok() ? "" : same.error().to_string());
  std::vector<std::string> names;
  for (const graph::Node& node : joined.entry_function().nodes)
    names.push_back(fmt::format("{} {}", to_string(node.kind), node.name));
  return names;
}

// x * sigmoid(x) behind, or in front of, something that moves it.
std::string silu(const std::string& move, const std::string& shape, bool behind,
                 const std::string& type = "i8", const std::string& outputs = "%6") {
  const std::string from = behind ? shape : "2,3,4", to = behind ? "2,3,4" : shape;
  return fmt::format(
      R"((%0) -> ({6}) {{
 %0 x: {4}[2,3,4] q(0.1:{5})
 %1 real: f32[2,3,4]
 %2 gate: f32[{0}]
 %3 product: f32[{0}]
 %4 moved: f32[{1}]
 %5 c: f32[] = @0
 %6 y: {4}[{1}] q(0.07:{5})
 dequantize d(%0) -> (%1)
 {2}
 {3}
}})",
      behind ? shape : "2,3,4", shape,
      behind ? move + "(%1) -> (%4)" : "logistic s(%1) -> (%2)\n mul p(%1, %2) -> (%3)",
      behind ? "logistic s(%4) -> (%2)\n mul p(%4, %2) -> (%3)\n quantize q(%3) -> (%6)"
             : move + "(%3) -> (%4)\n quantize q(%4) -> (%6)",
      type, type == "i8" ? 3 : 0, outputs);
}

constexpr const char* kTwo = "const @0 two = f32[2]";

std::string with_attributes(std::string text, const std::string& attributes) {
  const size_t at = text.find("-> (%4)");
  return text.insert(at + 7, " " + attributes);
}

TEST(MoveFloats, FunctionsBesideEveryMoveBecomeATableAndAMoveOfIntegers) {
  struct Move {
    const char *kind, *shape, *attributes;
    bool shrinks;
  };
  for (const Move& move : std::vector<Move>{
           {"reshape", "6,4", "{shape=[6,4]}", false},
           {"reshape", "24", "{shape=[24]}", false},
           {"transpose", "4,2,3", "{permutation=[2,0,1]}", false},
           {"tile", "2,6,4", "{multiples=[1,2,1]}", false},
           {"broadcast_to", "5,2,3,4", "{shape=[5,2,3,4]}", false},
           {"mirror_pad", "2,4,5", "{before=[0,1,0], after=[0,0,1], symmetric=false}", false},
           {"slice", "1,3,2", "{begin=[1,0,1], size=[1,3,2], stride=[1,1,1]}", true}})
    for (const bool behind : {false, true}) {
      const std::string text = with_attributes(
          silu(fmt::format("{} m", move.kind), move.shape, behind), move.attributes);
      EXPECT_THAT(left(text, kTwo),
                  UnorderedElementsAre(fmt::format("{} m", move.kind), "lookup q"))
          << text;
    }
}

// The largest of floats is that of the integers which they are made of; what comes behind is a table of it.
TEST(MoveFloats, MaximaAndMinimaOfWhatWasIntegersAreThoseOfTheIntegers) {
  const auto chosen = [](const std::string& choice, const std::string& shape,
                         const std::string& type, const std::string& function) {
    return fmt::format(R"((%0) -> (%4) {{
 %0 x: {2}[1,4,6,3] q(0.1:0)
 %1 real: f32[1,4,6,3]
 %2 most: f32[{1}]
 %3 made: f32[{1}]
 %4 y: {2}[{1}] q(0.03:0)
 dequantize d(%0) -> (%1)
 {0}
 {3}
}})",
                       choice, shape, type, function);
  };
  const std::string rescaled = "quantize q(%2) -> (%4)",
                    curve = "logistic l(%2) -> (%3)\n quantize q(%3) -> (%4)";
  for (const auto& [kind, attributes, shape] : std::vector<std::array<std::string, 3>>{
           {"reduce_max", "{axes=[1,2]}", "1,3"},
           {"reduce_min", "{axes=[3]}", "1,4,6"},
           {"max_pool2d", "{filter_h=2, filter_w=2}", "1,3,5,3"}}) {
    const std::string text = fmt::format("{} m(%1) -> (%2) {}", kind, attributes);
    EXPECT_THAT(left(chosen(text, shape, "i8", rescaled)),
                UnorderedElementsAre(fmt::format("{} m", kind), "quantize q"));
    EXPECT_THAT(left(chosen(text, shape, "i8", curve)),
                UnorderedElementsAre(fmt::format("{} m", kind), "lookup q"));
    EXPECT_EQ(left(chosen(text, shape, "i16", rescaled)).front(), fmt::format("{} m", kind));
  }
  // A limit of floats is none of the integers.
  const std::string limited = "max_pool2d m(%1) -> (%2) {filter_h=2, filter_w=2, activation=relu6}";
  EXPECT_EQ(left(chosen(limited, "1,3,5,3", "i8", rescaled)).size(), 3u);
  // Nor keeps a function of floats their order.
  const std::string squared = R"((%0) -> (%4) {
 %0 x: i8[2,6] q(0.1:3)
 %1 real: f32[2,6]
 %2 square: f32[2,6]
 %3 most: f32[2]
 %4 y: i8[2] q(0.03:3)
 dequantize d(%0) -> (%1)
 square s(%1) -> (%2)
 reduce_max m(%2) -> (%3) {axes=[1]}
 quantize q(%3) -> (%4)
})";
  EXPECT_EQ(left(squared).size(), 4u);
}

// Zeros beside the elements become what the functions make of zero.
TEST(MoveFloats, PaddingHasWhatTheFunctionsMakeOfIt) {
  const auto padded = [](const std::string& function, const std::string& zero_point) {
    return fmt::format(R"((%0) -> (%4) {{
 %0 x: i8[2,3] q(0.1:3)
 %1 real: f32[2,3]
 %2 padded: f32[2,6]
 %3 made: f32[2,6]
 %4 y: i8[2,6] q(0.02:{1})
 dequantize d(%0) -> (%1)
 pad m(%1) -> (%2) {{before=[0,1], after=[0,2]}}
 {0} f(%2) -> (%3)
 quantize q(%3) -> (%4)
}})",
                       function, zero_point);
  };
  EXPECT_THAT(left(padded("sin", "-5")), ElementsAre("lookup q", "pad m"));
  EXPECT_THAT(left(padded("cos", "-5")), ElementsAre("lookup q", "pad_v2 m"));
  EXPECT_THAT(left(R"((%0) -> (%4) {
 %0 x: i8[2,3] q(0.1:3)
 %1 real: f32[2,3]
 %2 padded: f32[2,6]
 %3 made: f32[2,6]
 %4 y: i8[2,6] q(0.02:-100)
 %5 value: f32[1] = @0
 dequantize d(%0) -> (%1)
 pad_v2 m(%1, %5) -> (%2) {before=[0,1], after=[0,2]}
 exp f(%2) -> (%3)
 quantize q(%3) -> (%4)
})",
                   kTwo),
              ElementsAre("lookup q", "pad_v2 m"));
}

// Each of what is joined has a table of its own, whatever scale it is on.
TEST(MoveFloats, ConcatenationOfFunctions) {
  const std::string text = R"((%0, %1) -> (%8) {
 %0 a: i8[2,3] q(0.1:3)
 %1 b: i8[2,4] q(0.02:-7)
 %2 ra: f32[2,3]
 %3 rb: f32[2,4]
 %4 fa: f32[2,3]
 %5 both: f32[2,7]
 %6 gate: f32[2,7]
 %7 product: f32[2,7]
 %8 y: i8[2,7] q(0.05:-9)
 dequantize da(%0) -> (%2)
 dequantize db(%1) -> (%3)
 tanh t(%2) -> (%4)
 concat c(%4, %3) -> (%5) {axis=1}
 logistic s(%5) -> (%6)
 mul p(%5, %6) -> (%7)
 quantize q(%7) -> (%8)
})";
  EXPECT_THAT(left(text), ElementsAre("lookup q_0", "lookup q_1", "concat c"));
}

// Pieces of a function, each of which is used in another way.
TEST(MoveFloats, SplitBehindFunctions) {
  const auto text = [](const std::string& type, const std::string& outputs) {
    return fmt::format(R"((%0) -> ({1}) {{
 %0 x: {0}[2,6] q(0.1:0)
 %1 real: f32[2,6]
 %2 f: f32[2,6]
 %3 a: f32[2,3]
 %4 b: f32[2,3]
 %5 c: f32[2,3]
 %6 y: i8[2,3] q(0.01:4)
 %7 z: i8[2,3] q(0.02:5)
 dequantize d(%0) -> (%1)
 logistic l(%1) -> (%2)
 split s(%2) -> (%3, %4) {{axis=1, sizes=[3,3]}}
 quantize q(%3) -> (%6)
 square g(%4) -> (%5)
 quantize r(%5) -> (%7)
}})",
                       type, outputs);
  };
  EXPECT_THAT(left(text("i8", "%6, %7")), UnorderedElementsAre("split s", "lookup q", "lookup r"));
  // Floats that leave the function are needed as they are.
  EXPECT_THAT(left(text("i8", "%6, %7, %4")),
              UnorderedElementsAre("dequantize d", "logistic l", "split s", "quantize q",
                                   "square g", "quantize r"));
  // Of 16 bits there is no table, but the floats are fewer where nobody else reads them.
  EXPECT_THAT(left(text("i16", "%6, %7, %2")),
              UnorderedElementsAre("dequantize d", "logistic l", "split s", "quantize q",
                                   "square g", "quantize r"));
}

TEST(MoveFloats, SeveralMovesAndTwoReaders) {
  const std::string text = R"((%0) -> (%7, %8) {
 %0 x: i8[2,6] q(0.1:3)
 %1 real: f32[2,6]
 %2 f: f32[2,6]
 %3 a: f32[12]
 %4 g: f32[12]
 %5 b: f32[3,4]
 %6 h: f32[3,4]
 %7 y: i8[3,4] q(0.01:4)
 %8 z: i8[12] q(0.02:5)
 dequantize d(%0) -> (%1)
 tanh t(%1) -> (%2)
 reshape m(%2) -> (%3) {shape=[12]}
 square g(%3) -> (%4)
 reshape n(%4) -> (%5) {shape=[3,4]}
 sqrt h(%5) -> (%6)
 quantize q(%6) -> (%7)
 quantize r(%3) -> (%8)
})";
  const std::vector<std::string> names = left(text);
  EXPECT_EQ(
      std::ranges::count_if(names, [](const std::string& n) { return n.starts_with("lookup"); }),
      2);
  EXPECT_TRUE(std::ranges::all_of(names, [](const std::string& n) {
    return n.starts_with("lookup") || n.starts_with("reshape");
  })) << testing::PrintToString(names);
}

TEST(MoveFloats, NotWhatIsPinnedNorWhatHasOtherSources) {
  const std::string text = with_attributes(silu("reshape m", "6,4", false), "{shape=[6,4]}");
  const ReducedModule kept = reduced(parsed(text, kTwo), {.keep = {"m"}});
  EXPECT_THAT(kept.actions, IsEmpty());
  EXPECT_THAT(left(R"((%0, %1) -> (%5) {
 %0 a: i8[2,3] q(0.1:3)
 %1 b: f32[2,4]
 %2 ra: f32[2,3]
 %3 both: f32[2,7]
 %4 f: f32[2,7]
 %5 y: i8[2,7] q(0.05:-9)
 dequantize d(%0) -> (%2)
 concat c(%2, %1) -> (%3) {axis=1}
 tanh t(%3) -> (%4)
 quantize q(%4) -> (%5)
})"),
              ElementsAre("dequantize d", "concat c", "tanh t", "quantize q"));
}

}  // namespace
}  // namespace intarsia
