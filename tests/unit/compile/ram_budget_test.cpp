// Random networks under RAM budgets: within the budget, and the evaluator's results to the last bit, with
// all buffers in one memory where the plan puts them.
#include "compile/ram_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "support/kernel_functions.h"
#include "support/random_network.h"
#include "support/tir_interpreter.h"

namespace intarsia {
namespace {

using testing::Random;
using Values = std::vector<graph::TensorValue>;

TargetKind plain_cpu() {
  TargetKind kind;
  kind.spec.name = "plain";
  kind.spec.summary = "for tests";
  kind.spec.role = Role::Cpu;
  return kind;
}

class RamBudget : public ::testing::Test {
 protected:
  void SetUp() override { registry_.add(plain_cpu()); }

  Result<CompiledModel> compiled(const graph::Module& module, std::optional<int64_t> budget,
                                 const std::vector<MemoryPool>& pools = {{"ram", 0}},
                                 bool fits_by_row_tiles = false) const {
    CompileOptions options;
    options.lowering.ram_budget = budget;
    options.fits_by_row_tiles = fits_by_row_tiles;
    options.lowering.eliminate_dead_channels = false;
    options.memory.pools = pools;
    return compile_module(module, registry_, *parse_target(registry_.catalogue(), "plain"),
                          options);
  }

  TargetRegistry registry_;
};

int64_t peak_of(const CompiledModel& model) {
  return model.program().plan.use[0].peak;
}

// The schedule's calls on one block of memory.
Values run_in_memory(const CompiledModel& model, const Values& inputs) {
  const tir::Func& schedule = model.program().lowered.entry_func();
  std::vector<uint8_t> memory(static_cast<size_t>(peak_of(model)), 0xA5);
  const auto bytes_of = [&](tir::BufferId id) {
    const Placement* place = model.program().plan.find(id);
    return std::span<uint8_t>(memory).subspan(static_cast<size_t>(place->offset),
                                              static_cast<size_t>(place->bytes));
  };
  testing::TirInterpreter interpreter(model.program().lowered);
  testing::define_kernels(interpreter);
  for (size_t i = 0; i < inputs.size(); ++i)
    std::copy(inputs[i].begin(), inputs[i].end(), bytes_of({static_cast<int32_t>(i)}).begin());
  std::vector<tir::Stmt> statements = {schedule.body};
  if (const auto* several = std::get_if<tir::Seq>(&schedule.body->node))
    statements = several->statements;
  for (const tir::Stmt& stmt : statements) {
    const auto& call = std::get<tir::Call>(stmt->node);
    std::vector<std::span<uint8_t>> arguments;
    for (const tir::BufferId id : call.arguments) arguments.push_back(bytes_of(id));
    const Result<void> ran = interpreter.run(call.function, arguments);
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  }
  Values outputs;
  for (size_t i = inputs.size(); i < schedule.parameters.size(); ++i) {
    const auto bytes = bytes_of({static_cast<int32_t>(i)});
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

int64_t least_of(const std::string& message) {
  const std::string key = "the least found is ";
  return std::stoll(message.substr(message.find(key) + key.size()));
}

// Rows begin at words more often than not, and there are some.
constexpr testing::NetworkSizes kSizes{1, 24, 2};

struct Tally {
  int tiled = 0, smaller = 0, chains = 0, loops = 0;
};

TEST_F(RamBudget, NetworksStayWithinAndKeepTheirResults) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    const graph::Module module =
        testing::random_network(random, seed % 3 == 0 ? DataType::Int16 : DataType::Int8, kSizes);
    const Values inputs = testing::random_inputs(random, module);
    graph::Evaluator evaluator(module);
    const Result<Values> expected = evaluator.run(inputs);
    ASSERT_TRUE(expected.ok());
    const Result<CompiledModel> whole = compiled(module, std::nullopt);
    ASSERT_TRUE(whole.ok()) << "seed " << seed << whole.error().to_string();
    const Result<CompiledModel> impossible = compiled(module, 1);
    ASSERT_FALSE(impossible.ok());
    ASSERT_THAT(impossible.error().to_string(),
                ::testing::HasSubstr("cannot be met: the least found is "));
    const int64_t least = least_of(impossible.error().to_string()), most = peak_of(*whole);
    EXPECT_LE(least, most) << "seed " << seed;
    tally.smaller += least < most;
    for (const int64_t budget : {least, (least + most) / 2, most}) {
      const Result<CompiledModel> model = compiled(module, budget);
      ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.error().to_string();
      EXPECT_LE(peak_of(*model), budget) << "seed " << seed;
      ASSERT_TRUE(model->program().ram_budget.has_value());
      EXPECT_EQ(model->program().ram_budget->before, most);
      EXPECT_EQ(model->program().ram_budget->after, peak_of(*model));
      ASSERT_EQ(run_in_memory(*model, inputs), *expected)
          << "seed " << seed << ", budget " << budget;
      if (budget == most) {
        EXPECT_TRUE(model->program().ram_budget->tiled.empty());
      }
      for (const tir::Func& func : model->program().lowered.funcs) {
        if (!func.tiled) continue;
        ++tally.tiled;
        tally.chains += func.node.find(',') != std::string::npos;
        tally.loops += tir::print(func).find("for tile") != std::string::npos;
      }
    }
  }
  EXPECT_GT(tally.smaller, 35);
  EXPECT_GT(tally.tiled, 80);
  EXPECT_GT(tally.chains, 20);
  EXPECT_GT(tally.loops, 20);
}

// A board that is too small operator by operator: the refusal says what a budget would do, and it does.
TEST_F(RamBudget, RefusalsNameTheBudgetThatFits) {
  int fits = 0, too_small = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const graph::Module module = testing::random_network(random, DataType::Int8, kSizes);
    const int64_t most = peak_of(*compiled(module, std::nullopt));
    const int64_t least = least_of(compiled(module, 1).error().to_string());
    if (least == most) continue;
    for (const int64_t size : {least, (least + most) / 2, least - 1}) {
      const Result<CompiledModel> refused = compiled(module, std::nullopt, {{"ram", size}});
      if (refused.ok()) continue;  // the plan shares more than the lowering knew
      const std::string message = refused.error().to_string();
      if (size >= least) {
        ++fits;
        EXPECT_THAT(message, ::testing::HasSubstr("; --ram-budget " + std::to_string(size) +
                                                  " computes by row tiles and fits, in "));
        EXPECT_TRUE(compiled(module, size, {{"ram", size}}).ok()) << "seed " << seed;
      } else {
        ++too_small;
        EXPECT_THAT(message, ::testing::HasSubstr("(--ram-budget) the least found is " +
                                                  std::to_string(least) + " bytes"));
      }
    }
  }
  EXPECT_GT(fits, 20);
  EXPECT_GT(too_small, 10);
}

// The budget of a board, taken where it is needed: the program that its bytes as a budget give, else the one without.
TEST_F(RamBudget, WhatDoesNotFitIsComputedByRowTilesOnRequest) {
  int fits = 0, as_it_is = 0, too_small = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const graph::Module module = testing::random_network(random, DataType::Int8, kSizes);
    const Values inputs = testing::random_inputs(random, module);
    graph::Evaluator evaluator(module);
    const Result<CompiledModel> whole = compiled(module, std::nullopt);
    const int64_t most = peak_of(*whole);
    const int64_t least = least_of(compiled(module, 1).error().to_string());
    for (const int64_t size : {least - 1, least, most}) {
      const std::vector<MemoryPool> board = {{"ram", size}};
      const Result<CompiledModel> model = compiled(module, std::nullopt, board, true);
      const Result<CompiledModel> without = compiled(module, std::nullopt, board);
      if (size < least) {
        ASSERT_FALSE(model.ok()) << "seed " << seed;
        EXPECT_EQ(model.error().to_string(), without.error().to_string());
        ++too_small;
        continue;
      }
      ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.error().to_string();
      ASSERT_TRUE(model->program().ram_budget.has_value());
      EXPECT_EQ(model->program().ram_budget->budget, size);
      EXPECT_EQ(model->program().ram_budget->after, peak_of(*model));
      EXPECT_LE(peak_of(*model), size);
      EXPECT_EQ(run_in_memory(*model, inputs), *evaluator.run(inputs)) << "seed " << seed;
      if (without.ok()) {
        ++as_it_is;
        EXPECT_TRUE(model->program().ram_budget->tiled.empty());
        EXPECT_EQ(tir::print(model->program().lowered), tir::print(without->program().lowered));
      } else {
        ++fits;
        EXPECT_FALSE(model->program().ram_budget->tiled.empty());
      }
    }
  }
  EXPECT_GT(fits, 15);
  EXPECT_GT(as_it_is, 50);
  EXPECT_GT(too_small, 50);
  const graph::Module module = [] {
    Random random(1);
    return testing::random_network(random, DataType::Int8, kSizes);
  }();
  const Result<CompiledModel> unlimited = compiled(module, std::nullopt, {{"ram", 0}}, true);
  ASSERT_TRUE(unlimited.ok());
  EXPECT_FALSE(unlimited->program().ram_budget.has_value()) << "there are no bytes to be one";
}

// A budget larger than the board: it is the board that decides.
TEST_F(RamBudget, AsksForLessThanTheBudgetOnASmallerBoard) {
  int smaller = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const graph::Module module = testing::random_network(random, DataType::Int8, kSizes);
    const int64_t most = peak_of(*compiled(module, std::nullopt));
    const int64_t least = least_of(compiled(module, 1).error().to_string());
    const Result<CompiledModel> model = compiled(module, most, {{"ram", least}});
    EXPECT_TRUE(model.ok()) << "seed " << seed << ": " << model.error().to_string();
    smaller += least < most;
  }
  EXPECT_GT(smaller, 10);
}

// Lowered only, the line buffers are the function's own: the verifier sees that nothing of them is read
// before it is written.
TEST_F(RamBudget, LineBuffersAreWrittenBeforeTheyAreRead) {
  const TargetSpec target = *parse_target(registry_.catalogue(), "plain");
  int tiled = 0;
  for (uint32_t seed = 1001; seed <= 1100; ++seed) {
    Random random(seed);
    const graph::Module module = testing::random_network(random, DataType::Int8, kSizes);
    for (const int64_t budget : {1, 100, 200, 400}) {
      LoweringOptions options;
      options.ram_budget = budget;
      const Result<tir::LoweredFunction> lowered =
          registry_.kind_of(target.host())
              .graph_to_tir(target.host(), module, module.entry_function(), options);
      ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
      const Result<void> verified = tir::verify(lowered->module);
      ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().to_string();
      for (const tir::Func& func : lowered->module.funcs) tiled += func.tiled;
    }
  }
  EXPECT_GT(tiled, 100);
}

}  // namespace
}  // namespace intarsia
