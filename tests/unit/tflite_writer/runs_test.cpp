#include "tflite_writer/runs.h"

#include <gmock/gmock.h>

#include "tflite_builder.h"

namespace intarsia::tflite_writer {
namespace {

using testing::ElementsAre;

test::TensorSpec value(const std::string& name) {
  return {name, {1, 16}};
}

// Two chains of sums from one input, which meet: 0 -> 1, 2 -> 3, 4 = 1 + 3.
std::vector<uint8_t> two_chains() {
  test::ModelSpec m;
  for (const char* name : {"x", "a0", "a1", "b0", "b1", "sum"}) m.add(value(name));
  const auto add = [&](int32_t a, int32_t b, int32_t to) {
    m.operators.push_back({test::kAdd, {a, b}, {to}});
  };
  add(0, 0, 1);
  add(1, 1, 2);
  add(0, 0, 3);
  add(3, 3, 4);
  add(2, 4, 5);
  m.inputs = {0};
  m.outputs = {5};
  return test::build(m);
}

std::vector<std::vector<int32_t>> operators_of(const std::vector<Run>& runs) {
  std::vector<std::vector<int32_t>> result;
  for (const Run& run : runs) result.push_back(run.operators);
  return result;
}

TEST(Runs, OneWhereTheNpuTakesAll) {
  const auto model = Original::open(two_chains(), "m", {});
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(operators_of(runs_of(*model, {})), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
}

TEST(Runs, AnOperatorOfTheCpuSplitsOnlyWhatWaitsForIt) {
  const auto model = Original::open(two_chains(), "m", {});
  ASSERT_TRUE(model.ok());
  const auto runs = runs_of(*model, {1});
  EXPECT_THAT(operators_of(runs),
              ElementsAre(ElementsAre(0, 2, 3), ElementsAre(1), ElementsAre(4)));
  EXPECT_TRUE(runs[0].on_npu);
  EXPECT_FALSE(runs[1].on_npu);
}

TEST(Runs, TheCpuBeginsWhereItHasTo) {
  const auto model = Original::open(two_chains(), "m", {});
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(operators_of(runs_of(*model, {0, 2})),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3, 4)));
}

// What keeps state runs in the order of the file, also where its operands would let it run before.
TEST(Runs, StateKeepsItsOrder) {
  test::ModelSpec m;
  for (const char* name : {"x", "a", "b", "c"}) m.add(value(name));
  m.operators = {{test::kAdd, {0, 0}, {1}},
                 {.code = test::kCustom, .inputs = {1}, .outputs = {2}, .custom_code = "First"},
                 {.code = test::kCustom, .inputs = {0}, .outputs = {3}, .custom_code = "Second"}};
  m.inputs = {0};
  m.outputs = {2, 3};
  const auto model = Original::open(test::build(m), "m", {});
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(operators_of(runs_of(*model, {1, 2})),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(Runs, OperatorsThatWaitForEachOtherAreLeftOut) {
  test::ModelSpec m;
  for (const char* name : {"x", "a", "b"}) m.add(value(name));
  m.operators = {{test::kAdd, {0, 2}, {1}}, {test::kAdd, {1, 1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  const auto model = Original::open(test::build(m), "m", {});
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(runs_of(*model, {}).empty());
}

TEST(Original, RefusesATensorThatTwoOperatorsWrite) {
  test::ModelSpec m;
  for (const char* name : {"x", "a"}) m.add(value(name));
  m.operators = {{test::kAdd, {0, 0}, {1}}, {test::kAdd, {0, 0}, {1}}};
  m.inputs = {0};
  m.outputs = {1};
  const auto model = Original::open(test::build(m), "m", {});
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().to_string(), testing::HasSubstr("is written by"));
}

}  // namespace
}  // namespace intarsia::tflite_writer
