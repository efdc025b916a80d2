// Masks of attentions as the less of two integers, bit for bit the same.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::string masked(const std::string& order, const std::string& comparison = "greater") {
  return fmt::format(R"((%0, %1) -> (%6) {{
 %0 x: i8[1,2,3,4] q(0.1:2)
 %1 m: i8[1,3,4] q(0.02:-4)
 %2 half: i8[] q(0.01:-128) = @0
 %3 none: i8[] q(0.1:2) = @1
 %4 c: bool[1,3,4]
 %5 d: bool[1,1,3,4]
 %6 y: i8[1,2,3,4] q(0.1:2)
 {1} compare(%1, %2) -> (%4)
 reshape shape(%4) -> (%5) {{shape=[1,1,3,4]}}
 select pick(%5, {0}) -> (%6)
}})",
                     order, comparison);
}

TEST(FoldMasks, LimitsOfInt8) {
  for (const char* order : {"%0, %3", "%3, %0"})
    for (const char* comparison : {"greater", "equal", "not_equal", "less", "less_equal"})
      for (const auto& [limit, kind] : {std::pair{"-128", "minimum"}, {"127", "maximum"}}) {
        const ReducedModule result =
            reduced(parsed(masked(order, comparison),
                           fmt::format("const @0 h = i8[-78] const @1 n = i8[{}]", limit)));
        EXPECT_THAT(nodes(result),
                    ElementsAre(fmt::format("{} compare", comparison), "select pick_mask",
                                "reshape pick_mask_shape", fmt::format("{} pick", kind)))
            << order << " " << comparison << " " << limit;
      }
}

// Two layers with one mask: each has a comparison of its own, with which it becomes a lookup.
TEST(FoldMasks, SharedComparisons) {
  const std::string body = R"((%0, %1) -> (%6, %7) {
 %0 x: i8[1,2,3,4] q(0.1:2)
 %1 m: i8[1,3,4] q(0.02:-4)
 %2 half: i8[] q(0.01:-128) = @0
 %3 none: i8[] q(0.1:2) = @1
 %4 c: bool[1,3,4]
 %5 d: bool[1,1,3,4]
 %6 y: i8[1,2,3,4] q(0.1:2)
 %7 z: i8[1,2,3,4] q(0.1:2)
 greater compare(%1, %2) -> (%4)
 reshape shape(%4) -> (%5) {shape=[1,1,3,4]}
 select a(%5, %0, %3) -> (%6)
 select b(%5, %3, %0) -> (%7)
})";
  EXPECT_THAT(
      nodes(reduced(parsed(body, "const @0 h = i8[-78] const @1 n = i8[-128]"))),
      ElementsAre("greater compare", "select a_mask", "reshape a_mask_shape", "minimum a",
                  "greater b_compare", "select b_mask", "reshape b_mask_shape", "minimum b"));
}

TEST(FoldMasks, OtherNumbersAreSelected) {
  for (const char* number : {"-127", "0", "126"})
    EXPECT_THAT(
        nodes(reduced(parsed(masked("%0, %3"),
                             fmt::format("const @0 h = i8[-78] const @1 n = i8[{}]", number)))),
        Contains("select pick"));
}

// Causal attention: the condition is known, and selections of two known numbers are computed when the model is compiled.
TEST(FoldMasks, KnownConditionsLimit) {
  for (const char* type : {"i8", "i16"}) {
    const bool is_byte = std::string(type) == "i8";
    const char *zero = is_byte ? "2" : "0", *least = is_byte ? "-128" : "-32768",
               *most = is_byte ? "127" : "32767";
    for (const char* order : {"%0, %2", "%2, %0"}) {
      const std::string body = fmt::format(R"((%0) -> (%3) {{
 %0 x: {0}[2,1,3,4] q(0.1:{1})
 %1 c: bool[1,3,1] = @0
 %2 none: {0}[4] q(0.1:{1}) = @1
 %3 y: {0}[2,1,3,4] q(0.1:{1})
 select pick(%1, {2}) -> (%3)
}})",
                                           type, zero, order);
      const auto of = [&](const std::string& numbers) {
        return nodes(reduced(
            parsed(body, fmt::format("const @0 c = bool[true, false, true] const @1 n = {}[{}]",
                                     type, numbers))));
      };
      EXPECT_THAT(of(fmt::format("{0},{0},{0},{0}", least)),
                  ElementsAre("select pick_most_limit", "minimum pick"));
      EXPECT_THAT(of(fmt::format("{0},{0},{0},{0}", most)),
                  ElementsAre("select pick_least_limit", "maximum pick"));
      EXPECT_THAT(of(fmt::format("{},7,{},-90", least, most)),
                  ElementsAre("select pick_least_limit", "maximum pick_least",
                              "select pick_most_limit", "minimum pick"));
    }
  }
}

// Numbers on another scale are chosen as they are.
TEST(FoldMasks, KnownConditionsOfOtherScales) {
  EXPECT_THAT(nodes(reduced(parsed(R"((%0) -> (%3) {
 %0 x: i8[3] q(0.1:2)
 %1 c: bool[3] = @0
 %2 none: i8[] q(0.2:2) = @1
 %3 y: i8[3] q(0.1:2)
 select pick(%1, %0, %2) -> (%3)
})",
                                   "const @0 c = bool[true, false, true] const @1 n = i8[-128]"))),
              ElementsAre("select pick"));
}

// What is compared with more than a number is no function of one integer.
TEST(FoldMasks, ComparisonsOfTwoTensors) {
  const std::string body = R"((%0, %1, %2) -> (%5) {
 %0 x: i8[1,3,4] q(0.1:2)
 %1 m: i8[1,3,4] q(0.02:-4)
 %2 n: i8[1,3,4] q(0.02:-4)
 %3 none: i8[] q(0.1:2) = @0
 %4 c: bool[1,3,4]
 %5 y: i8[1,3,4] q(0.1:2)
 greater compare(%1, %2) -> (%4)
 select pick(%4, %0, %3) -> (%5)
})";
  EXPECT_THAT(nodes(reduced(parsed(body, "const @0 n = i8[-128]"))), Not(Contains("minimum pick")));
}

}  // namespace
}  // namespace intarsia
