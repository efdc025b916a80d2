// Operations on a few elements take as long as their commands: what the NPU does not look at is not set again.
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

// A sum of 16 bits goes through 32 bits and back, so that steps to the next row and pixel change from operation to operation.
void expect_strides(const Shape& shape, size_t least, size_t most) {
  testing::Random random(31);
  Graph g;
  const graph::TensorId x = g.input(DataType::Int16, shape, 0.0011f, 0);
  const graph::TensorId y = g.input(DataType::Int16, shape, 0.0043f, 0);
  const graph::Module module = g.finish(
      g.node(graph::OpKind::Add, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int16, 0.0037f, 0));
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, {});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs));
  ASSERT_EQ(model->program().emitted.streams.size(), 1u);
  const auto commands = targets::ethos_u::disassemble(model->program().emitted.streams[0].commands);
  ASSERT_TRUE(commands && commands->ok());
  EXPECT_EQ(count(**commands, "OP_ELEMENTWISE"), 4u) << **commands;
  for (const char* stride : {"_OFM_STRIDE_Y ", "_OFM_STRIDE_X ", "_IFM_STRIDE_Y "}) {
    EXPECT_GE(count(**commands, stride), least) << stride << **commands;
    EXPECT_LE(count(**commands, stride), most) << stride << **commands;
  }
}

TEST(SmallOperations, StridesOfOnePixelAreSetOnceForEachAlignment) {
  expect_strides({1, 1, 1, 12}, 1, 2);
}

TEST(SmallOperations, StridesThatAreUsedAreSet) {
  expect_strides({1, 2, 3, 12}, 2, 4);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
