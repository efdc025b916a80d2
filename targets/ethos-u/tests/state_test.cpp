// State on the NPU: what an inference leaves is what the next one finds, on every configuration, and equals the reference evaluator's.
#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"
#include "legalise/legalise.h"
#include "support/random_builder.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;

constexpr int kInferences = 4;

struct Ask {
  const char* target;
  const char* memory_mode;
  bool for_size;
};
constexpr Ask kAsks[] = {
    {"ethos-u55-128", "", false},        {"ethos-u65-512", "dedicated-sram", false},
    {"ethos-u55-32", "sram-only", true}, {"ethos-u55-256", "shared-sram", true},
    {"ethos-u55-64", "", true},          {"ethos-u65-256", "shared-sram", false}};

// Whether all of it runs on the NPU; then each inference continues the one before it, as the evaluator's do.
bool runs_and_goes_on(testing::Random& random, const graph::Module& module, const Ask& ask) {
  const std::string text = graph::print(module);
  CompileRequest request{.target = ask.target};
  request.memory_mode = ask.memory_mode;
  if (ask.for_size) request.optimise = LoweringOptions::Optimise::Size;
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  EXPECT_TRUE(model.ok()) << model.error().to_string() << text;
  if (!model.ok()) return false;
  for (const auto& row : model->partitioned.explanation.operators)
    if (row.device != "ethos-u") return false;
  graph::Evaluator evaluator(module);
  std::vector<std::vector<uint8_t>> all(module.entry_function().inputs.size());
  for (int i = 1; i <= kInferences; ++i) {
    const auto inputs = testing::random_inputs(random, module);
    for (size_t k = 0; k < all.size(); ++k)
      all[k].insert(all[k].end(), inputs[k].begin(), inputs[k].end());
    const auto expected = evaluator.run(inputs);
    EXPECT_TRUE(expected.ok());
    const SimulatedRun run = simulate(*model, all);
    EXPECT_EQ(run.problem, "") << ask.target << "\n" << text;
    EXPECT_EQ(run.outputs, *expected) << ask.target << ", inference " << i << "\n" << text;
  }
  return true;
}

TEST(State, OfRandomLstms) {
  testing::Random random(19);
  int taken = 0;
  for (int round = 0; round < 240 && !::testing::Test::HasFailure(); ++round) {
    const graph::Module module = testing::random_operator(random, OpKind::Lstm, kTypes[round % 2]);
    taken += runs_and_goes_on(random, module, kAsks[round / 2 % std::size(kAsks)]) ? 1 : 0;
  }
  EXPECT_GT(taken, 120);
}

// With so many weights that more operations cost nothing: gates are made as late as they are used.
constexpr int64_t kUnits = 64, kInputs = 192, kSteps = 2;

struct LstmSize {
  int64_t units, inputs, steps, batches = 1;
  bool time_major = false;
};

graph::Module lstm_of(testing::Random& random, const LstmSize& size, DataType type) {
  const auto& [units, inputs, steps, batches, time_major] = size;
  testing::families::Builder b(random, OpKind::Lstm, type);
  const bool wide = type == DataType::Int16;
  const auto scale = [](float of, int64_t zero_point = 0) {
    return graph::Quantization{{of}, {zero_point}, 0};
  };
  b.input(time_major ? Shape{steps, batches, inputs} : Shape{batches, steps, inputs});
  for (int i = 0; i < 4; ++i) b.constant({units, inputs}, DataType::Int8, scale(0.002f), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units, units}, DataType::Int8, scale(0.003f), -127, 127);
  for (int i = 0; i < 4; ++i)
    b.constant({units}, wide ? DataType::Int64 : DataType::Int32, scale(0.01f), -900, 900);
  const graph::Quantization hidden = wide ? scale(1.0f / 32768) : scale(1.0f / 128, 5);
  b.state({batches, units}, type, hidden);
  b.state({batches, units}, DataType::Int16, scale(1.0f / 4096));
  b.node().attributes = graph::LstmAttrs{time_major, 0.0f};
  return b.finish(type, hidden);
}

graph::Module wide_lstm(testing::Random& random, DataType type) {
  return lstm_of(random, {kUnits, kInputs, kSteps}, type);
}

// Products of the input of as many steps together as take no more memory than its weights, the last ones of fewer.
TEST(State, OfLstmsThatLookAhead) {
  testing::Random random(22);
  for (const auto& [size, together] : {std::pair<LstmSize, size_t>{{5, 12, 7}, 2},
                                       {{16, 12, 9}, 2},
                                       {{8, 20, 7, 2}, 2},
                                       {{8, 20, 7, 2, true}, 2},
                                       {{kUnits, kInputs, 5}, 1},
                                       {{6, 3, 4}, 4}})
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
      const graph::Module module = lstm_of(random, size, type);
      const auto convolutions = [&](bool may_look_ahead) {
        const std::vector<targets::ethos_u::Operation> operations =
            targets::ethos_u::legalise(module, module.entry_function(),
                                       {.may_look_ahead = may_look_ahead})
                .operations;
        return static_cast<size_t>(std::ranges::count(
            operations, targets::ethos_u::OperationKind::Conv, &targets::ethos_u::Operation::kind));
      };
      const size_t plain = convolutions(false);
      const auto steps = static_cast<size_t>(size.steps);
      const size_t of_step = plain / steps / 2;  // those of the input, as many as of the state
      EXPECT_EQ(convolutions(true), steps * of_step + (together < steps ? together : plain / 2));
      for (const Ask& ask : kAsks) {
        SCOPED_TRACE(ask.target);
        EXPECT_TRUE(runs_and_goes_on(random, module, ask));
      }
    }
}

// Where there is one way alone to make a layer it is the one that takes least memory.
TEST(State, OfLstmsThatMayNotLookAhead) {
  testing::Random random(23);
  const std::string text = graph::print(lstm_of(random, {32, 16, 20}, DataType::Int8));
  const auto bytes = [&](bool confirmed_only) {
    CompileRequest request{.target = "ethos-u55-128"};
    request.memory_mode = "sram-only";
    request.optimise = LoweringOptions::Optimise::Size;
    request.confirmed_only = confirmed_only;
    const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
    EXPECT_TRUE(model.ok());
    return model.ok() ? sram_bytes(*model) : -1;
  };
  EXPECT_LE(bytes(true), bytes(false));
}

// Of a sequence of which the last step is read alone, two steps take memory at a time. And copies of weights are not kept where
// they take more memory than they save time.
TEST(State, OfAnLstmWhoseLastStepIsRead) {
  testing::Random random(24);
  const LstmSize size{32, 16, 20};
  const graph::Quantization hidden{{1.0f / 128}, {5}, 0};
  for (const int64_t last : {size.steps - 1, int64_t{0}}) {
    graph::Module module = lstm_of(random, size, DataType::Int8);
    graph::Function& main = module.functions.at(0);
    graph::Tensor step;
    step.name = "step";
    step.type = DataType::Int8;
    step.shape = {1, size.units};
    step.quantization = hidden;
    main.tensors.push_back(step);
    graph::Node slice;
    slice.name = "slice";
    slice.kind = OpKind::Slice;
    slice.inputs = main.outputs;
    slice.outputs = {graph::TensorId{static_cast<int32_t>(main.tensors.size()) - 1}};
    slice.attributes = graph::SliceAttrs{{0, last, 0}, {1, 1, size.units}, {1, 1, 1}, {1}};
    main.outputs = slice.outputs;
    main.nodes.push_back(slice);
    for (const Ask& ask : kAsks) {
      SCOPED_TRACE(ask.target);
      EXPECT_TRUE(runs_and_goes_on(random, module, ask));
    }
    const std::string text = graph::print(module);
    const auto bytes = [&](LoweringOptions::Optimise optimise) {
      CompileRequest request{.target = "ethos-u55-128"};
      request.memory_mode = "shared-sram";
      request.optimise = optimise;
      const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
      EXPECT_TRUE(model.ok());
      return model.ok() ? sram_bytes(*model) : -1;
    };
    // The input, the output, and of a step: the products of all gates twice, the cell state, and the hidden state twice.
    EXPECT_LE(bytes(LoweringOptions::Optimise::Size),
              size.steps * size.inputs + (16 + 2 + 3) * size.units);
    EXPECT_LE(bytes(LoweringOptions::Optimise::Balanced),
              2 * bytes(LoweringOptions::Optimise::Size));
  }
}

TEST(State, OfLstmsWithManyWeights) {
  testing::Random random(20);
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    const graph::Module module = wide_lstm(random, type);
    for (const Ask& ask : kAsks) {
      SCOPED_TRACE(ask.target);
      EXPECT_TRUE(runs_and_goes_on(random, module, ask));
    }
    const std::string text = graph::print(module);
    const Result<CompiledModel> model =
        compile_for({text.begin(), text.end()}, {.target = "ethos-u55-128",
                                                 .memory_mode = "sram-only",
                                                 .optimise = LoweringOptions::Optimise::Balanced});
    ASSERT_TRUE(model.ok());
    const int64_t bytes = type == DataType::Int16 ? 2 : 1;
    const int64_t ends = bytes * (kSteps * (kInputs + kUnits) + kUnits) + 2 * kUnits;
    EXPECT_LE(sram_bytes(*model), ends + 12 * kUnits)
        << "both products of all gates take 16 bytes for each unit";
  }
}

// What a step makes of the cell state replaces what it had, where the variable lies in the memory of all maps: nobody else reads it.
TEST(State, OfAnLstmIsMadeInPlace) {
  testing::Random random(21);
  const graph::Module module = wide_lstm(random, DataType::Int8);
  const auto operations = [&](bool variables_are_fast) {
    return targets::ethos_u::legalise(module, module.entry_function(),
                                      {.variables_are_fast = variables_are_fast})
        .operations.size();
  };
  EXPECT_EQ(operations(true) + 1, operations(false)) << "it is copied where variables lie";
}

graph::Module parsed(const std::string& text) {
  Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *module;
}

void expect_on_all(const graph::Module& module) {
  testing::Random random(3);
  for (const Ask& ask : kAsks) {
    SCOPED_TRACE(ask.target);
    EXPECT_TRUE(runs_and_goes_on(random, module, ask));
  }
}

// Two variables that take each other's value: neither is overwritten before it was read.
TEST(State, VariablesChangePlaces) {
  expect_on_all(parsed(R"(intarsia.graph exchange
func @main(%0) -> (%1) {
  %0 x: i8[1,4,4,8] q(0.5:3)
  %1 y: i8[1,4,4,8] q(0.5:3)
  %2 a: i8[1,4,4,8] q(0.5:3) variable
  %3 b: i8[1,4,4,8] q(0.5:3) variable
  %4 of_a: i8[1,4,4,8] q(0.5:3)
  %5 of_b: i8[1,4,4,8] q(0.5:3)
  %6 sum: i8[1,4,4,8] q(0.5:3)
  read_variable ra(%2) -> (%4)
  read_variable rb(%3) -> (%5)
  add first(%0, %4) -> (%6)
  add second(%6, %5) -> (%1)
  assign_variable wa(%5) -> (%2)
  assign_variable wb(%6) -> (%3)
}
entry @main
)"));
}

// Windows over what is kept, whose result is kept then: in stripes the last would overwrite rows that the first still reads.
TEST(State, WindowsReadWhatIsReplaced) {
  expect_on_all(parsed(R"(intarsia.graph smear
func @main(%0) -> (%1) {
  %0 x: i8[1,24,24,16] q(0.5:3)
  %1 y: i8[1,24,24,16] q(0.5:3)
  %2 kept: i8[1,24,24,16] q(0.5:3) variable
  %3 before: i8[1,24,24,16] q(0.5:3)
  %4 wide: i8[1,24,24,16] q(0.5:3)
  %5 wider: i8[1,24,24,16] q(0.5:3)
  read_variable r(%2) -> (%3)
  add sum(%0, %3) -> (%1)
  max_pool2d first(%3) -> (%4) {filter_h=3, filter_w=3, padding={top=1, left=1, bottom=1, right=1}}
  max_pool2d second(%4) -> (%5) {filter_h=3, filter_w=3, padding={top=1, left=1, bottom=1, right=1}}
  assign_variable w(%5) -> (%2)
}
entry @main
)"));
}

// What is kept is made before the last operator reads what it replaces.
TEST(State, IsReplacedBehindItsLastReader) {
  expect_on_all(parsed(R"(intarsia.graph late
func @main(%0) -> (%1) {
  %0 x: i8[1,8,8,16] q(0.5:3)
  %1 y: i8[1,8,8,16] q(0.5:3)
  %2 kept: i8[1,8,8,16] q(0.5:3) variable
  %3 before: i8[1,8,8,16] q(0.5:3)
  %4 after: i8[1,8,8,16] q(0.5:3)
  read_variable r(%2) -> (%3)
  max_pool2d next(%0) -> (%4) {filter_h=3, filter_w=3, padding={top=1, left=1, bottom=1, right=1}}
  add sum(%0, %3) -> (%1)
  assign_variable w(%4) -> (%2)
}
entry @main
)"));
}

// What begins with values of its own is written once, before the first inference.
TEST(State, BeginsAsTheModelSays) {
  expect_on_all(parsed(R"(intarsia.graph delay
const @0 begin = i8[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
func @main(%0) -> (%1) {
  %0 x: i8[1,16] q(0.5:0)
  %1 y: i8[1,16] q(0.5:0)
  %2 kept: i8[1,16] q(0.5:0) variable initial @0
  %3 before: i8[1,16] q(0.5:0)
  read_variable r(%2) -> (%3)
  add sum(%0, %3) -> (%1)
  assign_variable w(%0) -> (%2)
}
entry @main
)"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
