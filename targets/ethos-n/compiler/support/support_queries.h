// Whether the driver stack runs an operation: the limits of support_rules.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/graph/data_type.h"
#include "program/tables.h"

namespace intarsia::targets::ethos_n {

enum class Support : uint8_t { Supported, EstimateOnly, Unsupported };

struct Answer {
  Support support = Support::Supported;
  // Of the first limit that is not kept; empty when it is supported.
  std::string_view name;  // short and stable: "kernel-size"
  std::string words;      // a clause for people
};

enum class QueryKind : uint8_t {
  Input,
  Convolution,
  Depthwise,
  StandalonePadding,
  TransposeConvolution,
  Concatenation,
  Split,
  Addition,
  Multiplication,
  FullyConnected,
  Relu,
  LeakyRelu,
  Requantize,
  MeanXy,
  Sigmoid,
  Tanh,
  AveragePooling,
  MaxPooling,
  Reshape,
  DepthToSpace,
  SpaceToDepth,
  Resize,
};

struct QueryTensor {
  DataType type = DataType::Int8;
  std::array<int64_t, 4> shape = {1, 1, 1, 1};  // NHWC; weights HWIO, or HWIM for depthwise
  std::vector<float> scales = {1};
  std::optional<int64_t> axis;  // of several scales
  int64_t zero_point = 0;
};

struct Query {
  QueryKind kind = QueryKind::Input;
  std::vector<QueryTensor> inputs;
  QueryTensor weights, bias;
  float output_scale = 1;
  int64_t output_zero_point = 0;
  DataType output_type = DataType::Int8;
  std::array<int64_t, 4> output_shape = {1, 1, 1,
                                         1};  // Reshape, Resize; convolutions: what it should be
  int64_t kernel_h = 1, kernel_w = 1;         // of windows
  int64_t stride_y = 1, stride_x = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  int64_t axis = 3, block = 2;
  std::vector<int64_t> sizes;
  int64_t low = -128, high = 127;
  float alpha = 0.1f;

  const QueryTensor& input() const { return inputs.at(0); }
};

Answer ask(const Variant& variant, const Query& query);

}  // namespace intarsia::targets::ethos_n
