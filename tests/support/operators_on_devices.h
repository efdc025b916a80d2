// What devices that run the portable lowering's loops are tried on: random operators on integers, and a network of several
// kernels.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "intarsia/compile.h"
#include "support/random_operator.h"

namespace intarsia::test {

inline const std::vector<graph::OpKind>& operators_of_loops() {
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

inline CompileOptions options_with_ram() {
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  return options;
}

inline bool all_on(const CompiledModel& model, const std::string& device) {
  for (const Explanation::Operator& row : model.partitioned.explanation.operators)
    if (row.device != device) return false;
  return true;
}

using RunOnDevice = std::function<std::vector<graph::TensorValue>(
    const CompiledModel& model, const std::vector<graph::TensorValue>& inputs)>;

// Expects of every operator that the device takes what the reference evaluator gives, bit for bit. How many of each kind
// ran.
inline std::map<graph::OpKind, int> random_operators_match(const TargetRegistry& registry,
                                                           const TargetSpec& target,
                                                           const std::string& device,
                                                           const RunOnDevice& run) {
  intarsia::testing::Random random(2);
  std::map<graph::OpKind, int> ran;
  for (const graph::OpKind kind : operators_of_loops()) {
    // A program takes a device half a second to compile.
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
      if (type == DataType::Int16 && random.chance(60)) continue;
      if (type == DataType::Int16 && kind == graph::OpKind::Split)
        continue;  // made in one type only
      const graph::Module module = intarsia::testing::random_operator(random, kind, type);
      const Result<CompiledModel> model =
          compile_module(module, registry, target, options_with_ram());
      if (!model.ok() || !all_on(*model, device)) continue;  // scales that nobody takes
      const std::vector<graph::TensorValue> inputs =
          intarsia::testing::random_inputs(random, module);
      graph::Evaluator evaluator(module);
      const auto expected = evaluator.run(inputs);
      EXPECT_TRUE(expected.ok()) << graph::print(module);
      if (!expected.ok()) return ran;
      EXPECT_EQ(run(*model, inputs), *expected) << graph::print(module);
      ++ran[kind];
    }
  }
  return ran;
}

inline void expect_most_ran(const std::map<graph::OpKind, int>& ran) {
  for (const graph::OpKind kind :
       {graph::OpKind::Conv2d, graph::OpKind::DepthwiseConv2d, graph::OpKind::FullyConnected,
        graph::OpKind::Add, graph::OpKind::AveragePool2d, graph::OpKind::Concat})
    EXPECT_TRUE(ran.contains(kind)) << graph::to_string(kind);
  EXPECT_GT(ran.size(), 25u) << "operators ran";
}

// Two kernels of one region, a reshape between them, and a branch.
inline constexpr const char* kTwoKernelsAndABranch = R"(intarsia.graph network
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

}  // namespace intarsia::test
