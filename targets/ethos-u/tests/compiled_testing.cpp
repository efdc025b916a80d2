// The same questions as legalise_testing.cpp answers, asked of the whole compiler and the
// simulator.
#include "compiled_testing.h"

#include <gtest/gtest.h>

#include "confirmed_streams.h"
#include "disassembly/disassemble.h"
#include "graph_maker.h"
#include "legalise/patterns.h"
#include "legalise_testing.h"
#include "support/random_network.h"

namespace intarsia::test::ethos_u {

std::string refusal(const graph::Module& module, const graph::Function& function,
                    const graph::Node& node) {
  const graph::NodeId id{static_cast<int32_t>(&node - function.nodes.data())};
  for (const Pattern& pattern : targets::ethos_u::patterns())
    if (const auto found = match(pattern, module, function, id))
      return pattern.refuses(*found).value_or("");
  return "no pattern";
}

namespace {

// All configurations in turn, and beside them memory modes and what to optimise for, so that every pairing comes.
CompileRequest next_request() {
  static uint32_t turn = 0;
  constexpr const char* kTargets[] = {"ethos-u55-128", "ethos-u65-512", "ethos-u55-32",
                                      "ethos-u55-256", "ethos-u55-64",  "ethos-u65-256"};
  constexpr const char* kModes[] = {"shared-sram", "sram-only", "dedicated-sram", "",
                                    "shared-sram"};
  CompileRequest request;
  request.target = kTargets[turn % std::size(kTargets)];
  request.memory_mode = kModes[turn % std::size(kModes)];
  if (turn % 7 >= 5) request.optimise = LoweringOptions::Optimise::Size;
  ++turn;
  return request;
}

void expect_run(const CompiledModel& model, const std::vector<graph::TensorValue>& inputs,
                const std::vector<graph::TensorValue>& expected, const std::string& text) {
  const SimulatedRun run = simulate(model, inputs);
  ASSERT_EQ(run.problem, "") << text;
  EXPECT_EQ(run.outputs, expected) << text;
}

}  // namespace

void expect_same(const graph::Module& module, const std::vector<graph::TensorValue>& inputs) {
  static uint32_t limited = 0;
  CompileRequest request = next_request();
  const std::string text = graph::print(module);
  const std::vector<uint8_t> bytes = {text.begin(), text.end()};
  SCOPED_TRACE(request.target + " " + request.memory_mode +
               (request.optimise == LoweringOptions::Optimise::Size ? " size" : " speed"));
  const Result<CompiledModel> model = compile_for(bytes, request);
  ASSERT_TRUE(model.ok()) << model.error().to_string() << "\n" << text;
  if (model->program().emitted.streams.empty()) return;  // reduced: the output is the input
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok());
  expect_run(*model, inputs, *expected,
             text + print(targets::ethos_u::legalise(module, module.entry_function())));
  // Kept to what is confirmed, fewer operators may be taken, and nothing else is used.
  if (limited % 4 == 2) {
    CompileRequest confirmed = request;
    confirmed.confirmed_only = true;
    const Result<CompiledModel> kept = compile_for(bytes, confirmed);
    ASSERT_TRUE(kept.ok()) << kept.error().to_string() << "\n" << text;
    EXPECT_EQ(unconfirmed_encodings(*kept), "") << text;
  }
  // Now and then with less memory than it takes unasked; what is too little is said.
  if (limited++ % 5 != 0) return;
  request.sram_limit = sram_bytes(*model) * 3 / 4;
  const Result<CompiledModel> smaller = compile_for(bytes, request);
  if (smaller.ok())
    expect_run(*smaller, inputs, *expected, text);
  else
    EXPECT_NE(smaller.error().to_string().find("bytes"), std::string::npos)
        << smaller.error().to_string();
}

// Chains of windows over few channels, as small networks begin: taps are folded into channels there, pixels of the
// input then share bytes, and blocks of one operation begin while the one before still writes.
TEST(Chains, OfWindowsOverFewChannelsWaitForWhatTheyRead) {
  using graph::OpKind;
  using graph::TensorId;
  testing::Random random(11);
  for (int round = 0; round < 60; ++round) {
    Graph g;
    const int64_t size = random.range(28, 41);
    int64_t channels = random.range(1, 3);
    TensorId x = g.input(DataType::Int8, {1, size, size, channels}, 0.05f, random.range(-90, 90));
    const auto windows = [&](int64_t filters, int64_t kernel) {
      graph::Conv2dAttrs attributes;
      const int64_t zero = random.range(-90, 90);
      const TensorId weights = g.constant(random, DataType::Int8,
                                          {filters, kernel, kernel, channels}, {{0.01f}, {0}, 0});
      const TensorId bias =
          g.constant(random, DataType::Int32, {filters}, {{0.05f * 0.01f}, {0}, 0});
      x = g.node(OpKind::Conv2d, attributes, {x, weights, bias}, 1, DataType::Int8, 0.05f, zero)
              .at(0);
      channels = filters;
    };
    const auto pool = [&] {
      graph::Pool2dAttrs attributes;
      attributes.filter_h = attributes.filter_w = attributes.stride_h = attributes.stride_w = 2;
      x = g.like(OpKind::MaxPool2d, attributes, {x}).at(0);
    };
    windows(random.range(3, 9), random.range(2, 5));
    pool();
    windows(random.range(3, 17), random.range(2, 5));
    if (round % 2 == 0) pool();
    windows(random.range(3, 17), random.range(2, 3));
    const graph::Module module = g.finish({x});
    expect_same(module, testing::random_inputs(random, module));
  }
}

// Networks of which the NPU takes every operator.
TEST(Networks, OfAllKindsOfOperators) {
  int taken = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    testing::Random random(seed);
    const testing::NetworkSizes sizes{.most_images = 1,
                                      .most_rows = seed % 2 == 0 ? 40 : 9,
                                      .channel_unit = seed % 3 == 0 ? 16 : 3};
    const graph::Module module =
        testing::random_network(random, seed % 5 == 0 ? DataType::Int16 : DataType::Int8, sizes);
    const graph::Function& function = module.entry_function();
    if (!std::all_of(function.nodes.begin(), function.nodes.end(), [&](const graph::Node& node) {
          return refusal(module, function, node).empty();
        }))
      continue;
    ++taken;
    SCOPED_TRACE(seed);
    expect_same(module, testing::random_inputs(random, module));
  }
  EXPECT_GT(taken, 100);
}

// Two residual blocks: a block's input, its map in the middle and its output are alive at once, in both blocks
// as many bytes.
TEST(Stripes, LowerAPeakThatSeveralBlocksShare) {
  using graph::OpKind;
  using graph::TensorId;
  testing::Random random(5);
  Graph g;
  constexpr int64_t kMap = 32 * 32 * 16;
  TensorId x = g.input(DataType::Int8, {1, 32, 32, 16}, 0.05f, 0);
  const auto convolution = [&](TensorId from, int64_t stride) {
    graph::Conv2dAttrs attributes;
    attributes.stride_h = attributes.stride_w = stride;
    attributes.padding = {1, 1, 1, 1};
    const TensorId weights = g.constant(random, DataType::Int8, {16, 3, 3, 16}, {{0.01f}, {0}, 0});
    const TensorId bias = g.constant(random, DataType::Int32, {16}, {{0.05f * 0.01f}, {0}, 0});
    return g.node(OpKind::Conv2d, attributes, {from, weights, bias}, 1, DataType::Int8, 0.05f, 0)
        .at(0);
  };
  for (int block = 0; block < 2; ++block)
    x = g.like(OpKind::Add, graph::BinaryAttrs{}, {x, convolution(convolution(x, 1), 1)}).at(0);
  const graph::Module module = g.finish({convolution(x, 2)});
  const std::string text = graph::print(module);
  const Result<CompiledModel> model =
      compile_for({text.begin(), text.end()},
                  {.memory_mode = "sram-only", .optimise = LoweringOptions::Optimise::Size});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_LT(sram_bytes(*model), kMap * 5 / 2);
  const std::vector<graph::TensorValue> inputs = testing::random_inputs(random, module);
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok());
  expect_run(*model, inputs, *expected, text);
}

std::string commands_that_run(testing::Random& random, const graph::Module& module,
                              const CompileRequest& request) {
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return {};
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "") << request.target;
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs)) << request.target;
  const auto commands = targets::ethos_u::disassemble(model->program().emitted.streams[0].commands);
  EXPECT_TRUE(commands && commands->ok());
  return commands && commands->ok() ? **commands : std::string();
}

}  // namespace intarsia::test::ethos_u
