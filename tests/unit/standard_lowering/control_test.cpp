// Branches, loops and variables: the schedule gives what the evaluator gives.
#include <array>

#include <fmt/format.h>

#include "graph/loop_bound.h"
#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

graph::Module parsed(const std::string& text) {
  Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
  const Result<void> sound = graph::verify(*module);
  EXPECT_TRUE(sound.ok()) << (sound.ok() ? "" : sound.error().to_string());
  EXPECT_EQ(graph::print(*graph::parse(graph::print(*module))), graph::print(*module));
  return *module;
}

tir::LoweredFunction lowered(const graph::Module& module) {
  Result<tir::LoweredFunction> result = standard_graph_to_tir(module, module.entry_function());
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  tir::Module whole = result->module;
  whole.entry = result->entry;
  const Result<void> sound = tir::verify(whole);
  EXPECT_TRUE(sound.ok()) << (sound.ok() ? "" : sound.error().to_string()) << tir::print(whole);
  Result<tir::Module> again = tir::parse(tir::print(whole));
  EXPECT_TRUE(again.ok() && tir::equal(*again, whole)) << tir::print(whole);
  return *result;
}

graph::TensorValue floats(const std::vector<float>& values) {
  graph::TensorValue bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

constexpr const char* kBranch = R"(intarsia.graph branch
const @0 two = f32[2]
func @main(%0, %1) -> (%2, %3) {
  %0 flag: bool[1]
  %1 x: f32[3]
  %2 y: f32[3]
  %3 z: f32[3]
  if choose(%0, %1) -> (%2, %3) {then_branch=twice, else_branch=same}
}
func @twice(%0) -> (%2, %0) {
  %0 x: f32[3]
  %1 c: f32[1] = @0
  %2 y: f32[3]
  mul double(%0, %1) -> (%2)
}
func @same(%0) -> (%0, %1) {
  %0 x: f32[3]
  %1 y: f32[3]
  neg minus(%0) -> (%1)
}
entry @main
)";

TEST(Control, ABranchWritesTheOutputsOfBoth) {
  const graph::Module module = parsed(kBranch);
  const tir::LoweredFunction function = lowered(module);
  for (const uint8_t flag : {0, 1}) {
    const Values inputs{{flag}, floats({1, -2, 3})};
    EXPECT_EQ(interpret(function, inputs), evaluate(module, inputs)) << int{flag};
  }
  EXPECT_EQ(interpret(function, {{1}, floats({1, -2, 3})}),
            (Values{floats({2, -4, 6}), floats({1, -2, 3})}));
}

// Fibonacci: the values change places in every iteration. The limit is carried through unchanged.
constexpr const char* kFibonacci = R"(intarsia.graph fibonacci
const @0 zero = i32[0]
const @1 one = i32[1]
const @2 limit = i32[7]
func @main(%1, %2) -> (%6, %7) {
  %0 first: i32[] = @0
  %1 a: i32[1]
  %2 b: i32[1]
  %3 limit: i32[] = @2
  %4 last: i32[]
  %5 same: i32[]
  %6 x: i32[1]
  %7 y: i32[1]
  while loop(%0, %3, %1, %2) -> (%4, %5, %6, %7) {condition=goes_on, body=next}
}
func @goes_on(%0, %1, %2, %3) -> (%4) {
  %0 i: i32[]
  %1 n: i32[]
  %2 a: i32[1]
  %3 b: i32[1]
  %4 less: bool[]
  less compare(%0, %1) -> (%4)
}
func @next(%0, %1, %2, %3) -> (%5, %1, %3, %6) {
  %0 i: i32[]
  %1 n: i32[]
  %2 a: i32[1]
  %3 b: i32[1]
  %4 one: i32[] = @1
  %5 ni: i32[]
  %6 sum: i32[1]
  add count(%0, %4) -> (%5)
  add fib(%2, %3) -> (%6)
}
entry @main
)";

TEST(Control, ALoopOfAKnownNumberOfIterations) {
  const graph::Module module = parsed(kFibonacci);
  const tir::LoweredFunction function = lowered(module);
  const Values inputs{{0, 0, 0, 0}, {1, 0, 0, 0}};
  const Values expected{{13, 0, 0, 0}, {21, 0, 0, 0}};
  EXPECT_EQ(evaluate(module, inputs), expected);
  EXPECT_EQ(interpret(function, inputs), expected);
}

// Runs while i < 100 and x < 50.
constexpr const char* kEarly = R"(intarsia.graph early
const @0 zero = i32[0]
const @1 one = i32[1]
const @2 most = i32[100]
const @3 limit = f32[50]
func @main(%1) -> (%2, %3) {
  %0 first: i32[] = @0
  %1 x: f32[1]
  %2 count: i32[]
  %3 y: f32[1]
  while loop(%0, %1) -> (%2, %3) {condition=goes_on, body=next}
}
func @goes_on(%0, %1) -> (%6) {
  %0 i: i32[]
  %1 x: f32[1]
  %2 most: i32[] = @2
  %3 limit: f32[1] = @3
  %4 few: bool[]
  %5 small: bool[1]
  %6 both: bool[1]
  less few(%0, %2) -> (%4)
  less small(%1, %3) -> (%5)
  logical_and both(%4, %5) -> (%6)
}
func @next(%0, %1) -> (%3, %4) {
  %0 i: i32[]
  %1 x: f32[1]
  %2 one: i32[] = @1
  %3 ni: i32[]
  %4 nx: f32[1]
  add count(%0, %2) -> (%3)
  add double(%1, %1) -> (%4)
}
entry @main
)";

TEST(Control, ALoopThatStopsOnItsData) {
  const graph::Module module = parsed(kEarly);
  const tir::LoweredFunction function = lowered(module);
  for (const float x : {3.0f, 60.0f, 0.0f}) {
    const Values inputs{floats({x})};
    EXPECT_EQ(interpret(function, inputs), evaluate(module, inputs)) << x;
  }
  EXPECT_EQ(interpret(function, {floats({3})}), (Values{{5, 0, 0, 0}, floats({96})}));
}

// ---- what is refused ----

std::string refused(const std::string& text) {
  Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
  const Result<void> sound = graph::verify(*module);
  return sound.ok() ? "" : sound.error().to_string();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Control, ALoopWithoutABoundIsRefusedByName) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"add count(%0, %4)", "add count(%0, %1)"},  // the counter grows by something unknown
           {"less compare(%0, %1)", "greater compare(%0, %1)"},
           {"less compare(%0, %1)", "not_equal compare(%0, %1)"},
           {"%0 first: i32[] = @0", "%0 first: i32[] variable"}}) {
    const std::string problem = refused(replaced(kFibonacci, from, to));
    EXPECT_NE(problem.find("operator 'loop' (while)"), std::string::npos) << to << problem;
    EXPECT_NE(problem.find("may run for ever"), std::string::npos) << to << problem;
  }
  EXPECT_NE(
      refused(replaced(kEarly, "logical_and both", "logical_or both")).find("may run for ever"),
      std::string::npos);
}

// kFibonacci with a counter of 64 bits from `first` to `limit`.
std::optional<graph::LoopBound> bound_of_long_loop(const std::string& first,
                                                   const std::string& limit,
                                                   const std::string& compare) {
  std::string text = kFibonacci;
  for (size_t at = 0; (at = text.find("i32[]", at)) != std::string::npos;)
    text.replace(at, 5, "i64[]");
  text = replaced(text, "zero = i32[0]", "zero = i64[" + first + "]");
  text = replaced(text, "one = i32[1]", compare == "less" ? "one = i64[1]" : "one = i64[-1]");
  text = replaced(text, "limit = i32[7]", "limit = i64[" + limit + "]");
  // Before anybody has said that there are no sums of such numbers.
  const graph::Module module = *graph::parse(replaced(text, "less compare", compare + " compare"));
  return graph::loop_bound(module, module.entry_function(), module.entry_function().nodes.front());
}

TEST(Control, ALoopWhoseLimitIsBehindItDoesNotRun) {
  const std::string least = "-9223372036854775808", most = "9223372036854775807";
  for (const auto& [first, limit, compare] :
       std::vector<std::array<std::string, 3>>{{"1", least, "less"},
                                               {most, "-5", "less"},
                                               {"-1", most, "greater"},
                                               {least, "5", "greater"},
                                               {"7", "7", "less"}}) {
    const std::optional<graph::LoopBound> bound = bound_of_long_loop(first, limit, compare);
    ASSERT_TRUE(bound.has_value()) << first << " " << limit;
    EXPECT_EQ(bound->iterations, 0) << first << " " << limit;
    EXPECT_TRUE(bound->exact);
  }
  EXPECT_EQ(bound_of_long_loop("3", "7", "less")->iterations, 4);
  EXPECT_EQ(bound_of_long_loop("7", "3", "greater")->iterations, 4);
}

// Each step of the condition twice the paths to the counter.
TEST(Control, AConditionMayShareWhatItIsMadeOf) {
  std::string tensors, nodes;
  for (int i = 0; i < 64; ++i) {
    tensors += fmt::format("  %{} b{}: bool[1]\n", 7 + i, i);
    nodes += fmt::format("  logical_and and{0}(%{1}, %{1}) -> (%{2})\n", i, 6 + i, 7 + i);
  }
  std::string text = replaced(kEarly, "goes_on(%0, %1) -> (%6)", "goes_on(%0, %1) -> (%70)");
  text = replaced(text, "  %6 both: bool[1]\n", "  %6 both: bool[1]\n" + tensors);
  text = replaced(text, "(%4, %5) -> (%6)\n", "(%4, %5) -> (%6)\n" + nodes);
  const graph::Module module = parsed(text);
  const std::optional<graph::LoopBound> bound =
      graph::loop_bound(module, module.entry_function(), module.entry_function().nodes.front());
  ASSERT_TRUE(bound.has_value());
  EXPECT_EQ(bound->iterations, 100);
  EXPECT_FALSE(bound->exact);
}

TEST(Control, FunctionsThatRunEachOtherAreRefused) {
  const std::string problem =
      refused(replaced(kBranch, "  neg minus(%0) -> (%1)\n", R"(  %2 flag: bool[1] = @0
  %3 z: f32[3]
  if again(%2, %0) -> (%1, %3) {then_branch=same, else_branch=same}
)"));
  EXPECT_NE(problem.find("function 'same': calls itself"), std::string::npos) << problem;
}

TEST(Control, WhatDoesNotFitIsNamed) {
  EXPECT_NE(refused(replaced(kBranch, "then_branch=twice", "then_branch=thrice"))
                .find("runs 'thrice', which does not exist"),
            std::string::npos);
  EXPECT_NE(refused(replaced(kBranch, "%0 flag: bool[1]", "%0 flag: bool[2]"))
                .find("its condition is not one bool"),
            std::string::npos);
  EXPECT_NE(refused(replaced(kBranch, "  %3 z: f32[3]\n  if", "  %3 z: i32[3]\n  if"))
                .find("operator 'choose' (if)"),
            std::string::npos);
}

}  // namespace

}  // namespace intarsia::testing
