// Operations on a few elements take as long as their commands: what the NPU does not look at is not set again.
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"
#include "disassembly/disassemble.h"
#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// The commands of the module's only stream, disassembled, whose results are the reference's; empty where something failed.
std::string checked_commands(const graph::Module& module, testing::Random& random,
                             const CompileRequest& request = {}) {
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return {};
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs));
  EXPECT_EQ(model->program().emitted.streams.size(), 1u);
  const auto commands = targets::ethos_u::disassemble(model->program().emitted.streams[0].commands);
  EXPECT_TRUE(commands && commands->ok());
  return commands && commands->ok() ? **commands : std::string();
}

// A sum of 16 bits goes through 32 bits and back, so that steps to the next row and pixel change from operation to operation.
void expect_strides(const Shape& shape, size_t least, size_t most) {
  testing::Random random(31);
  Graph g;
  const graph::TensorId x = g.input(DataType::Int16, shape, 0.0011f, 0);
  const graph::TensorId y = g.input(DataType::Int16, shape, 0.0043f, 0);
  const graph::Module module = g.finish(
      g.node(graph::OpKind::Add, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int16, 0.0037f, 0));
  const std::string commands = checked_commands(module, random);
  ASSERT_FALSE(commands.empty());
  EXPECT_EQ(count(commands, "OP_ELEMENTWISE"), 4u) << commands;
  for (const char* stride : {"_OFM_STRIDE_Y ", "_OFM_STRIDE_X ", "_IFM_STRIDE_Y "}) {
    EXPECT_GE(count(commands, stride), least) << stride << commands;
    EXPECT_LE(count(commands, stride), most) << stride << commands;
  }
}

TEST(SmallOperations, StridesOfOnePixelAreSetOnceForEachAlignment) {
  expect_strides({1, 1, 1, 12}, 1, 2);
}

TEST(SmallOperations, StridesThatAreUsedAreSet) {
  expect_strides({1, 2, 3, 12}, 2, 4);
}

// Of a single pixel the channels are bricks one behind the other. From the first of one to the next it is never gone, nor from a factor
// of one channel.
TEST(SmallOperations, StepsFromBrickToBrickOfOneAreNotSet) {
  constexpr size_t kSums = 4;
  for (const auto& [channels, most] : {std::pair<int64_t, size_t>{16, 2}, {32, 2 * kSums}}) {
    testing::Random random(34);
    Graph g;
    const Shape shape = {1, 1, 1, channels};
    graph::TensorId sum = g.input(DataType::Int16, shape, 0.0011f, 0);
    const graph::TensorId y = g.input(DataType::Int16, shape, 0.0043f, 0);
    for (size_t i = 0; i < kSums; ++i)
      sum = g.node(graph::OpKind::Add, graph::BinaryAttrs{}, {sum, y}, 1, DataType::Int16,
                   0.0041f - 0.0003f * static_cast<float>(i), 0)[0];
    const graph::Module module = g.finish({sum});
    const std::string commands = checked_commands(module, random);
    ASSERT_FALSE(commands.empty());
    // What is between inputs and output goes from 16 to 32 bits and back for each sum.
    EXPECT_EQ(count(commands, "_IFM2_STRIDE_C "), 1u) << commands;
    EXPECT_LE(count(commands, "_OFM_STRIDE_C "), most) << commands;
  }
}

// Layers of 16 bits whose channels are no whole bricks, cut into parts that are: what one part writes is whole bricks of the rest's row.
TEST(SmallOperations, PartsOfOddLayersAreWholeBricks) {
  for (const char* target : {"ethos-u55-32", "ethos-u55-128", "ethos-u65-256", "ethos-u65-512"})
    for (const int64_t channels : {250, 257, 262, 300}) {
      SCOPED_TRACE(fmt::format("{} {}", target, channels));
      testing::Random random(36);
      Graph g;
      const graph::TensorId x = g.input(DataType::Int16, {1, 40}, 0.0002f, 0);
      const graph::TensorId weights =
          g.constant(random, DataType::Int8, {channels, 40}, {{0.01f}, {0}, 0});
      const graph::TensorId y =
          g.node(graph::OpKind::FullyConnected, graph::FullyConnectedAttrs{},
                 {x, weights, graph::TensorId{}}, 1, DataType::Int16, 0.0003f, 0)[0];
      const graph::TensorId curve = g.node(graph::OpKind::Tanh, graph::NoAttrs{}, {y}, 1,
                                           DataType::Int16, 1.0f / 32768, 0)[0];
      const graph::Module module = g.finish(g.node(graph::OpKind::Add, graph::BinaryAttrs{},
                                                   {y, curve}, 1, DataType::Int16, 0.0005f, 0));
      EXPECT_FALSE(checked_commands(module, random, {.target = target}).empty());
    }
}

// What fills the padding of copied windows reads one row, to whose next one nothing steps: the step of an operation before may
// be none of whole bricks.
TEST(SmallOperations, PaddingThatIsReadAsBricksStepsByWholeBricks) {
  for (const int64_t width : {9, 7, 5}) {
    SCOPED_TRACE(width);
    testing::Random random(37);
    Graph g;
    const graph::TensorId x = g.input(DataType::Int8, {1, 14, width, 4}, 0.02f, 3);
    const graph::TensorId curve = g.node(graph::OpKind::Logistic, graph::NoAttrs{}, {x}, 1,
                                         DataType::Int8, 1.0f / 256, -128)[0];
    const graph::TensorId weights =
        g.constant(random, DataType::Int8, {19, 5, 5, 4}, {{0.01f}, {0}, 0});
    graph::Conv2dAttrs attrs;
    attrs.padding = {2, 2, 2, 2};
    const graph::Module module =
        g.finish(g.node(graph::OpKind::Conv2d, attrs, {curve, weights, graph::TensorId{}}, 1,
                        DataType::Int8, 0.05f, -48));
    EXPECT_FALSE(checked_commands(module, random, {.target = "ethos-u55-64"}).empty());
  }
}

// A unit less on the way where what is put through a table is short. Micro-blocks of one pixel have a slower output unit for it.
TEST(SmallOperations, ShortFunctionsAreProductsWithOne) {
  for (const auto& [target, width, pools] :
       {std::tuple<const char*, int64_t, size_t>{"ethos-u55-128", 4, 0},
        {"ethos-u55-128", 64, 2},
        {"ethos-u55-32", 4, 2}}) {
    testing::Random random(35);
    Graph g;
    const graph::TensorId x = g.input(DataType::Int16, {1, 1, width, 16}, 0.0002f, 0);
    const graph::TensorId y =
        g.node(graph::OpKind::Tanh, graph::NoAttrs{}, {x}, 1, DataType::Int16, 1.0f / 32768, 0)[0];
    const graph::Module module = g.finish(g.node(graph::OpKind::Logistic, graph::NoAttrs{}, {y}, 1,
                                                 DataType::Int16, 1.0f / 32768, 0));
    const std::string commands = checked_commands(module, random, {.target = target});
    ASSERT_FALSE(commands.empty());
    EXPECT_EQ(count(commands, "OP_POOL"), pools) << target << commands;
    EXPECT_EQ(count(commands, "OP_ELEMENTWISE"), 2 - pools) << target << commands;
  }
}

// Functions with a table each, one behind the other.
graph::Module functions(size_t count) {
  Graph g;
  const graph::TensorId x = g.input(DataType::Int8, {1, 24}, 0.031f, 3);
  graph::TensorId y = g.input(DataType::Int8, {1, 24}, 0.017f, -5);
  for (size_t i = 0; i < count; ++i)
    y = g.node(i % 2 == 0 ? graph::OpKind::Tanh : graph::OpKind::Logistic, graph::NoAttrs{},
               {g.node(graph::OpKind::Mul, graph::BinaryAttrs{}, {y, x}, 1, DataType::Int8,
                       0.02f + 0.003f * static_cast<float>(i), 0)[0]},
               1, DataType::Int8, i % 2 == 0 ? 1.0f / 128 : 1.0f / 256, i % 2 == 0 ? 0 : -128)[0];
  return g.finish({y});
}

size_t transfers_of_functions(const std::string& target, size_t functions_count) {
  const graph::Module module = functions(functions_count);
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, {.target = target});
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return 0;
  testing::Random random(32);
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "") << target;
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs)) << target;
  const auto commands = targets::ethos_u::disassemble(model->program().emitted.streams[0].commands);
  EXPECT_TRUE(commands && commands->ok());
  return count(**commands, "OP_DMA_START");
}

// From a memory whose first byte takes longer than four tables; from one that gives its bytes slowly each comes when it is needed.
TEST(SmallOperations, TablesComeTogetherFromMemoriesOfLongLatency) {
  EXPECT_EQ(transfers_of_functions("ethos-u65-256", 12), 3u);
  EXPECT_EQ(transfers_of_functions("ethos-u65-512", 12), 3u);
  EXPECT_EQ(transfers_of_functions("ethos-u55-128", 12), 12u);
  EXPECT_GE(transfers_of_functions("ethos-u55-32", 12), 12u);
}

// Where no element has anything to do with its neighbours, pixels of a few channels are gone through as pixels of sixteen: micro-blocks
// have eight channels at least, which a mask of one would leave empty. Two rows of them, where micro-blocks have two.
TEST(SmallOperations, MapsOfFewChannelsFillMicroBlocks) {
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const Shape& shape : {Shape{1, 16, 48, 1}, Shape{1, 1, 1024, 1}, Shape{1, 40, 48, 3}}) {
      testing::Random random(33);
      Graph g;
      const graph::TensorId x = g.input(type, shape, 0.031f, 0);
      const float scale = type == DataType::Int8 ? 1.0f / 128 : 1.0f / 32768;
      const graph::Module module =
          g.finish(g.node(graph::OpKind::Tanh, graph::NoAttrs{}, {x}, 1, type, scale, 0));
      const std::string commands = checked_commands(module, random, {.target = "ethos-u55-256"});
      ASSERT_FALSE(commands.empty());
      EXPECT_EQ(count(commands, "OP_POOL"), 1u) << commands;
      EXPECT_EQ(count(commands, "_OFM_DEPTH_M1       depth=16"), 1u) << commands;
      EXPECT_EQ(count(commands, "pool 1x"), 0u) << commands;
    }
}

// Factors of sums, which two operations read whose first byte comes late, are fetched once for both: what they take stays while the
// second sum takes most memory, so that no other operation's constants would have been given room there.
TEST(SmallOperations, FactorsOfSumsComeOnceForAll) {
  testing::Random random(35);
  Graph g;
  graph::TensorId sum = g.input(DataType::Int16, {1, 32}, 0.0011f, 0);
  for (int block = 0; block < 3; ++block) {
    const auto product = [&](const graph::TensorId& of, int64_t from, int64_t to, float scale) {
      const auto weights = g.constant(random, DataType::Int8, {to, from}, {{0.01f}, {0}, 0});
      return g.node(graph::OpKind::FullyConnected, graph::FullyConnectedAttrs{},
                    {of, weights, graph::TensorId{}}, 1, DataType::Int16, scale, 0)[0];
    };
    const graph::TensorId inner = product(sum, 32, 48, 0.0021f);
    const graph::TensorId back = product(inner, 48, 32, 0.0043f);
    sum = g.node(graph::OpKind::Sub, graph::BinaryAttrs{}, {sum, back}, 1, DataType::Int16,
                 0.0037f - 0.0003f * static_cast<float>(block), 0)[0];
  }
  const graph::Module module = g.finish({sum});
  const std::string commands = checked_commands(
      module, random, {.target = "ethos-u65-256", .optimise = LoweringOptions::Optimise::Balanced});
  ASSERT_FALSE(commands.empty());
  EXPECT_EQ(count(commands, "OP_DMA_START"), 1u) << commands;
}

}  // namespace
}  // namespace intarsia::test::ethos_u
