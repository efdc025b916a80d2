// What `intarsia verify` holds against a program whose devices round in their own way, and what it does not.
#include "requests/verify_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::requests {
namespace {

using testing::HasSubstr;

// Doubles twice: 1 step off after the first operator is 2 steps off after the second.
constexpr const char* kTwice = R"(intarsia.graph twice
func @main(%0) -> (%2) {
  %0 in: i8[1,3] q(1)
  %1 two: i8[1,3] q(1)
  %2 four: i8[1,3] q(1)
  add first(%0, %0) -> (%1)
  add second(%1, %1) -> (%2)
}
entry @main
)";

graph::Module opened(const char* text) {
  const Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return with_all_outputs(*module);
}

OperatorCheck check(const std::map<std::string, int32_t>& allowed, const graph::TensorValue& four,
                    const graph::TensorValue& two) {
  const Result<OperatorCheck> result =
      check_operators(opened(kTwice), allowed, {{{1, 2, 3}}}, {{four, two}});
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return *result;
}

TEST(VerifyOperators, ADifferenceIsOfTheOperatorThatMadeIt) {
  EXPECT_EQ(check({}, {4, 8, 12}, {2, 4, 6}).difference, "");
  const OperatorCheck within = check({{"first", 1}}, {4, 10, 12}, {2, 5, 6});
  EXPECT_EQ(within.difference, "");
  EXPECT_EQ(within.largest, 1);
}

TEST(VerifyOperators, MoreThanAllowedIsRefused) {
  EXPECT_THAT(
      check({{"first", 1}}, {4, 12, 12}, {2, 6, 6}).difference,
      HasSubstr("operator 'first' (add), tensor 'two', sample 0, element 1 [0,1]: reference 4, "
                "program 6, which is more than the 1"));
  EXPECT_THAT(check({{"second", 1}}, {4, 10, 12}, {2, 5, 6}).difference,
              HasSubstr("operator 'first' (add)"));
  EXPECT_THAT(check({{"first", 1}}, {4, 9, 12}, {2, 5, 6}).difference,
              HasSubstr("operator 'second' (add)"));
}

// A table names every operator; the second is not blamed for what the first did.
TEST(VerifyOperators, ARowForEveryOperator) {
  const OperatorCheck found = check({}, {4, 12, 12}, {2, 6, 6});
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].node, "first");
  EXPECT_NE(found.rows[0].difference, "");
  EXPECT_EQ(found.rows[1].difference, "");
}

TEST(VerifyOperators, FloatsThatAreComputedAndBecomeIntegers) {
  const auto makes = [](const std::string& behind) {
    const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
func @main(%0) -> (%3) {
  %0 x: i16[4] q(0.01)
  %1 real: f32[4]
  %2 curve: f32[4]
  %3 y: )" + behind + "}\nentry @main\n");
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
    return module.ok() && makes_integers_of_computed_floats(*module);
  };
  const std::string curve = "dequantize d(%0) -> (%1)\n logistic s(%1) -> (%2)\n ";
  EXPECT_TRUE(makes("i16[4] q(0.01)\n" + curve + "quantize q(%2) -> (%3)\n"));
  EXPECT_TRUE(makes("bool[4]\n" + curve + "less l(%2, %1) -> (%3)\n"));
  EXPECT_FALSE(makes("f32[4]\n" + curve + "abs a(%2) -> (%3)\n"));
  EXPECT_FALSE(makes("i16[4] q(0.02)\ndequantize d(%0) -> (%1)\n quantize q(%1) -> (%3)\n"));
}

TEST(VerifyOperators, OutputsByName) {
  const Result<graph::Module> module = graph::parse(kTwice);
  ASSERT_TRUE(module.ok());
  const auto count = [&](const std::vector<std::string>& names) {
    return with_outputs(*module, names)->entry_function().outputs.size();
  };
  EXPECT_EQ(count({"first"}), 2u);
  EXPECT_EQ(count({"two"}), 2u);     // a tensor
  EXPECT_EQ(count({"second"}), 1u);  // is an output already
  EXPECT_EQ(count({"all"}), 2u);
  EXPECT_THAT(with_outputs(*module, {"firs"}).error().to_string(), HasSubstr("'first'"));
}

// State goes on from sample to sample, as in the program.
TEST(VerifyOperators, SharedStateIsComparedWithTheWhole) {
  const graph::Module module = opened(R"(intarsia.graph shared
func @main(%0) -> (%2) {
  %0 in: i8[1] q(1)
  %1 kept: i8[1] q(1) variable
  %2 sum: i8[1] q(1)
  add total(%0, %1) -> (%2)
  reshape keep(%0) -> (%1) {shape=[1]}
}
entry @main
)");
  const std::vector<Values> samples = {{{1}}, {{5}}};
  const Result<std::vector<Values>> results = evaluate(module, samples);
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  EXPECT_EQ((*results)[1][0], graph::TensorValue{6});
  EXPECT_EQ(check_operators(module, {}, samples, *results)->difference, "");
  std::vector<Values> wrong = *results;
  wrong[1][0] = {7};
  EXPECT_THAT(check_operators(module, {}, samples, wrong)->difference,
              HasSubstr("operator 'total' (add), tensor 'sum', sample 1, element 0 [0]: reference "
                        "6, program 7"));
}

// One operator writes the state that the other reads: alone, neither has its history.
TEST(VerifyOperators, SharedStateIsNoOperatorsOwn) {
  const Result<OperatorCheck> result =
      check_operators(opened(R"(intarsia.graph shared
func @main(%0) -> (%2) {
  %0 in: i8[1,3] q(1)
  %1 kept: i8[1,3] q(1) variable
  %2 sum: i8[1,3] q(1)
  add total(%0, %1) -> (%2)
  reshape keep(%0) -> (%1) {shape=[1,3]}
}
entry @main
)"),
                      {{"total", 1}}, {{{1, 2, 3}}}, {{{1, 2, 3}, {1, 2, 3}}});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("operators 'total' and 'keep' share state"));
}

TEST(VerifyOperators, PinsAreThoseOfTheExplanation) {
  Explanation explanation;
  explanation.operators = {{"first", "add", "", "npu", {}}, {"second", "add", "", "cpu", {}}};
  const graph::Module pinned = pinned_as(opened(kTwice), explanation);
  EXPECT_EQ(pinned.entry_function().nodes[0].pin, "npu");
  EXPECT_EQ(pinned.entry_function().nodes[1].pin, "cpu");
}

}  // namespace
}  // namespace intarsia::requests
