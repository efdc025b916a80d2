// Random operators and networks through lowering, plan, package, driver and an OpenCL device give what the
// reference evaluator gives, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds.h"
#include "needs.h"
#include "support/device_end_to_end.h"
#include "support/random_operator.h"

namespace intarsia::test::opencl {
namespace {

// On integers.
const std::vector<graph::OpKind>& operators() {
  using graph::OpKind;
  static const std::vector<OpKind> kinds = {OpKind::Conv2d,
                                            OpKind::DepthwiseConv2d,
                                            OpKind::FullyConnected,
                                            OpKind::AveragePool2d,
                                            OpKind::MaxPool2d,
                                            OpKind::Add,
                                            OpKind::Mul,
                                            OpKind::Pad,
                                            OpKind::Mean,
                                            OpKind::Relu,
                                            OpKind::Sub,
                                            OpKind::Minimum,
                                            OpKind::Maximum,
                                            OpKind::SquaredDifference,
                                            OpKind::Prelu,
                                            OpKind::LeakyRelu,
                                            OpKind::Logistic,
                                            OpKind::Tanh,
                                            OpKind::Abs,
                                            OpKind::TransposeConv2d,
                                            OpKind::BatchMatmul,
                                            OpKind::Concat,
                                            OpKind::Pack,
                                            OpKind::Slice,
                                            OpKind::Transpose,
                                            OpKind::SpaceToDepth,
                                            OpKind::DepthToSpace,
                                            OpKind::SpaceToBatch,
                                            OpKind::BatchToSpace,
                                            OpKind::MirrorPad,
                                            OpKind::PadV2,
                                            OpKind::Gather,
                                            OpKind::ResizeNearest,
                                            OpKind::Sum,
                                            OpKind::ReduceMax,
                                            OpKind::Select,
                                            OpKind::Split};
  return kinds;
}

CompileOptions options_of(std::map<std::string, std::string> pins = {}) {
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  options.partition.pins = std::move(pins);
  return options;
}

bool all_on_device(const CompiledModel& model) {
  for (const Explanation::Operator& row : model.partitioned.explanation.operators)
    if (row.device != "opencl") return false;
  return true;
}

TEST(EndToEnd, RandomOperators) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + opencl");
  intarsia::testing::Random random(2);
  std::map<graph::OpKind, int> ran;
  for (const graph::OpKind kind : operators()) {
    // A program takes a device half a second to compile.
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
      if (type == DataType::Int16 && random.chance(60)) continue;
      if (type == DataType::Int16 && kind == graph::OpKind::Split)
        continue;  // made in one type only
      const graph::Module module = intarsia::testing::random_operator(random, kind, type);
      const Result<CompiledModel> model = compile_module(module, registry, target, options_of());
      if (!model.ok() || !all_on_device(*model)) continue;  // scales that nobody takes
      const std::vector<graph::TensorValue> inputs =
          intarsia::testing::random_inputs(random, module);
      graph::Evaluator evaluator(module);
      const auto expected = evaluator.run(inputs);
      ASSERT_TRUE(expected.ok()) << expected.error().to_string();
      OpenDevice fresh;  // programs are known by their address, which the next model may have again
      EXPECT_EQ(run_compiled(*model, {{"opencl", &fresh.opencl.device}}, inputs), *expected)
          << graph::print(module);
      ++ran[kind];
    }
  }
  for (const graph::OpKind kind :
       {graph::OpKind::Conv2d, graph::OpKind::DepthwiseConv2d, graph::OpKind::FullyConnected,
        graph::OpKind::Add, graph::OpKind::AveragePool2d, graph::OpKind::Concat})
    EXPECT_GT(ran[kind], 0) << graph::to_string(kind);
  EXPECT_GT(ran.size(), 25u) << "operators ran";
}

// Two kernels of one region, a reshape between them, and a branch.
constexpr const char* kNetwork = R"(intarsia.graph network
const @0 weights = x"00010203040506070809fafbfcfdfeff101112131415161718191a1b1c1d1e1f"
func @main(%0, %1) -> (%4, %6) {
  %0 a: i8[1,2,1,16] q(0.1:5)
  %1 b: i8[1,2,1,16] q(0.2:-7)
  %2 sum: i8[1,2,1,16] q(0.25:2)
  %3 flat: i8[2,16] q(0.25:2)
  %4 scores: i8[2,2] q(0.15:-3)
  %5 weights: i8[2,16] q(0.03:0) = @0
  %6 doubled: i8[1,2,1,16] q(0.3:9)
  add first(%0, %1) -> (%2)
  reshape flatten(%2) -> (%3) {shape=[2,16]}
  fully_connected classify(%3, %5) -> (%4)
  add last(%2, %2) -> (%6)
}
entry @main
)";

TEST(EndToEnd, ANetworkIsOneStreamThatRunsAgainAndAgain) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  const TargetRegistry registry = make_registry();
  const graph::Module module = parsed_graph(kNetwork);
  const Result<CompiledModel> model =
      compile_module(module, registry, parsed_target(registry, "c + opencl"), options_of());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  ASSERT_TRUE(all_on_device(*model));
  EXPECT_EQ(model->program().emitted.streams.size(), 1u);
  intarsia::testing::Random random(5);
  graph::Evaluator evaluator(module);
  for (int i = 0; i < 3; ++i) {
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    OpenDevice fresh;
    EXPECT_EQ(run_compiled(*model, {{"opencl", &fresh.opencl.device}}, inputs),
              *evaluator.run(inputs));
  }
}

}  // namespace
}  // namespace intarsia::test::opencl
