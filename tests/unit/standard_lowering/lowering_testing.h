// Lowered functions against the reference evaluator.
#pragma once

#include <cmath>
#include <cstring>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/plugin/standard_lowering.h"
#include "operators/families.h"
#include "support/float_values.h"
#include "support/kernel_functions.h"
#include "support/random_operator.h"

namespace intarsia::testing {

using Values = std::vector<graph::TensorValue>;

// An operator and the type of its activations.
struct Case {
  graph::OpKind kind;
  DataType type;
};

inline std::vector<Case> supported_cases() {
  using enum DataType;
  using graph::OpKind;
  std::vector<Case> cases;
  for (const OpKind kind :
       {OpKind::Conv2d, OpKind::DepthwiseConv2d, OpKind::FullyConnected, OpKind::AveragePool2d,
        OpKind::MaxPool2d, OpKind::Add, OpKind::Mul, OpKind::Reshape, OpKind::Softmax, OpKind::Pad,
        OpKind::Mean, OpKind::Relu}) {
    cases.push_back({kind, Int8});
    cases.push_back({kind, Float32});
  }
  for (const OpKind kind : {OpKind::Sub,           OpKind::Minimum,
                            OpKind::Maximum,       OpKind::SquaredDifference,
                            OpKind::Prelu,         OpKind::LeakyRelu,
                            OpKind::Logistic,      OpKind::Tanh,
                            OpKind::Abs,           OpKind::TransposeConv2d,
                            OpKind::BatchMatmul,   OpKind::Concat,
                            OpKind::Pack,          OpKind::Slice,
                            OpKind::Transpose,     OpKind::SpaceToDepth,
                            OpKind::DepthToSpace,  OpKind::SpaceToBatch,
                            OpKind::BatchToSpace,  OpKind::MirrorPad,
                            OpKind::PadV2,         OpKind::Gather,
                            OpKind::ResizeNearest, OpKind::ResizeBilinear,
                            OpKind::Exp,           OpKind::Log,
                            OpKind::Gelu,          OpKind::Rsqrt,
                            OpKind::Sum,           OpKind::ReduceMax,
                            OpKind::ReduceMin,     OpKind::Select}) {
    for (const DataType type : {Int8, Int16, Float32}) cases.push_back({kind, type});
  }
  for (const OpKind kind :
       {OpKind::Conv2d, OpKind::DepthwiseConv2d, OpKind::FullyConnected, OpKind::AveragePool2d,
        OpKind::MaxPool2d, OpKind::Add, OpKind::Mul, OpKind::Softmax, OpKind::Pad, OpKind::Mean,
        OpKind::Relu, OpKind::Cast}) {
    cases.push_back({kind, Int16});
  }
  for (const OpKind kind :
       {OpKind::HardSwish, OpKind::Elu, OpKind::Sqrt, OpKind::ArgMax, OpKind::ArgMin,
        OpKind::L2Normalization, OpKind::LogSoftmax, OpKind::Equal, OpKind::NotEqual,
        OpKind::Greater, OpKind::GreaterEqual, OpKind::Less, OpKind::LessEqual, OpKind::Cast}) {
    cases.push_back({kind, Int8});
    cases.push_back({kind, Float32});
  }
  cases.push_back({OpKind::HardSwish, Int16});
  for (const DataType type : {Int8, Int16, Int32, Float32}) cases.push_back({OpKind::Div, type});
  for (const DataType type : {Int32, Float32}) cases.push_back({OpKind::Neg, type});
  for (const OpKind kind : {OpKind::Square, OpKind::Ceil, OpKind::Floor, OpKind::Round}) {
    cases.push_back({kind, Float32});
  }
  for (const OpKind kind : {OpKind::AddN, OpKind::Cumsum}) {
    cases.push_back({kind, Int8});
    cases.push_back({kind, Float32});
  }
  for (const OpKind kind :
       {OpKind::BroadcastTo, OpKind::Tile, OpKind::GatherNd, OpKind::DynamicUpdateSlice})
    for (const DataType type : {Int8, Int16, Float32}) cases.push_back({kind, type});
  for (const DataType type : {Int8, Int16, Int32, Float32})
    cases.push_back({OpKind::ScatterNd, type});
  for (const DataType type : {Int8, Int16}) cases.push_back({OpKind::ReduceProd, type});
  for (const OpKind kind : {OpKind::ReduceMax, OpKind::ReduceMin, OpKind::ArgMax, OpKind::ArgMin,
                            OpKind::Sum, OpKind::Cumsum})
    cases.push_back({kind, Int32});
  cases.push_back({OpKind::Select, Bool});
  for (const OpKind kind : {OpKind::ArgMax, OpKind::ArgMin}) cases.push_back({kind, Int16});
  for (const OpKind kind : {OpKind::Sin, OpKind::Cos, OpKind::Pow, OpKind::L2Pool2d})
    cases.push_back({kind, Float32});
  for (const OpKind kind : {OpKind::FloorDiv, OpKind::FloorMod, OpKind::ReduceProd})
    for (const DataType type : {Float32, Int32}) cases.push_back({kind, type});
  for (const OpKind kind : {OpKind::LogicalAnd, OpKind::LogicalOr, OpKind::LogicalNot,
                            OpKind::ReduceAny, OpKind::ReduceAll})
    cases.push_back({kind, Bool});
  for (const OpKind kind : {OpKind::LogicalAnd, OpKind::LogicalOr}) cases.push_back({kind, Int32});
  for (const OpKind kind :
       {OpKind::HybridConv2d, OpKind::HybridDepthwiseConv2d, OpKind::HybridFullyConnected})
    cases.push_back({kind, Int8});
  for (const OpKind kind :
       {OpKind::SignalWindow, OpKind::SignalRfft, OpKind::SignalIrfft, OpKind::SignalEnergy})
    cases.push_back({kind, Int16});
  for (const OpKind kind : {OpKind::SignalFilterBank, OpKind::SignalPcan, OpKind::SignalLog})
    cases.push_back({kind, UInt32});
  cases.push_back({OpKind::SignalSquareRoot, Int64});
  for (const DataType type : {Int8, Int16, UInt8}) {
    cases.push_back({OpKind::Quantize, type});
    cases.push_back({OpKind::Dequantize, type});
  }
  // Element-wise operators that are not among these: of every type that the table says.
  std::set<OpKind> known;
  for (const Case& c : cases) known.insert(c.kind);
  for (const auto family : operators::all_families())
    for (const operators::Operator& row : family) {
      std::set<DataType> types;  // several rules may begin with one
      for (const graph::TypeRule& rule : row.types)
        if (row.elementwise != operators::Elementwise::No && rule.in_c() &&
            !known.contains(row.kind) && types.insert(rule.input(0)).second)
          cases.push_back({row.kind, rule.input(0)});
    }
  return cases;
}

// Operators with state or several results, which a plain call of their C function does not show.
inline std::vector<Case> cases_of_many_results() {
  using enum DataType;
  using graph::OpKind;
  return {{OpKind::Split, Int8},
          {OpKind::Split, Float32},
          {OpKind::Unpack, Int16},
          {OpKind::Svdf, Int8},
          {OpKind::Svdf, Float32},
          {OpKind::Lstm, Int8},
          {OpKind::Lstm, Int16},
          {OpKind::Lstm, Float32},
          {OpKind::Recurrent, Float32},
          {OpKind::QuantizeRows, Float32},
          {OpKind::SignalAutoScale, Int16},
          {OpKind::SignalSpectralSubtraction, UInt32},
          {OpKind::DetectBoxes, Float32}};
}

inline std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::string(to_string(info.param.kind)) + "_" + std::string(to_string(info.param.type));
}

// Add and mul take scales that other factors refuse; those modules are drawn again.
inline graph::Module lowerable_operator(Random& random, const Case& c) {
  for (;;) {
    graph::Module module = random_operator(random, c.kind, c.type);
    const graph::Function& function = module.entry_function();
    if (!standard_lowering_refuses(module, function, function.nodes[0])) return module;
  }
}

inline Values evaluate(const graph::Module& module, const Values& inputs) {
  graph::Evaluator evaluator(module);
  Result<Values> outputs = evaluator.run(inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().to_string());
  return outputs.ok() ? *outputs : Values{};
}

// Runs the entry of a lowered function in the interpreter, which also stops at overflows and
// accesses out of bounds.
inline Values interpret(const tir::LoweredFunction& lowered, Values inputs) {
  TirInterpreter interpreter(lowered.module);
  define_kernels(interpreter);
  const tir::Func& entry = *lowered.module.find(lowered.entry);
  Values outputs;
  for (size_t i = inputs.size(); i < entry.parameters.size(); ++i) {
    outputs.emplace_back(static_cast<size_t>(entry.buffers[i].bytes()), uint8_t{0xCD});
  }
  std::vector<std::span<uint8_t>> arguments(inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), outputs.begin(), outputs.end());
  const Result<void> ran = interpreter.run(lowered.entry, arguments);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return outputs;
}

// Bit for bit; float results within rounding of sums in another order.
inline ::testing::AssertionResult same_values(DataType type, const graph::TensorValue& actual,
                                              const graph::TensorValue& expected) {
  if (actual.size() != expected.size()) return ::testing::AssertionFailure() << "sizes differ";
  if (type != DataType::Float32) {
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i] != expected[i]) {
        return ::testing::AssertionFailure()
               << "byte " << i << ": " << int{actual[i]} << " instead of " << int{expected[i]};
      }
    }
    return ::testing::AssertionSuccess();
  }
  const std::string found = test::float_difference(actual, expected, test::kOtherOrder);
  if (!found.empty()) return ::testing::AssertionFailure() << found;
  return ::testing::AssertionSuccess();
}

}  // namespace intarsia::testing
