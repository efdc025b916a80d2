// The operators the NPU takes: one rule each, in a file per family. A rule's two functions agree:
// what `refuses` lets pass, `legalise` makes operations of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "legalise/builder.h"

namespace intarsia::targets::ethos_u {

using Reason = std::optional<std::string>;

struct Site {
  const graph::Module& module;
  const graph::Function& function;
  const graph::Node& node;

  bool has(size_t operand) const {
    return operand < node.inputs.size() && node.inputs[operand].valid();
  }
  const graph::Tensor& in(size_t operand = 0) const {
    return function.tensor(node.inputs.at(operand));
  }
  const graph::Tensor& out(size_t index = 0) const {
    return function.tensor(node.outputs.at(index));
  }
};

struct OperatorRule {
  graph::OpKind kind;
  Reason (*refuses)(const Site& site);
  void (*legalise)(Builder& builder, const graph::Node& node);
};

const OperatorRule* find_rule(graph::OpKind kind);  // null: the NPU has no rule for it
// The constraint that the site does not meet: the common ones on tensors, then the rule's own.
Reason refuses(const Site& site);

// convolution.cpp
Reason refuses_conv2d(const Site& site);
Reason refuses_depthwise_conv2d(const Site& site);
Reason refuses_fully_connected(const Site& site);
void legalise_conv2d(Builder& builder, const graph::Node& node);
void legalise_depthwise_conv2d(Builder& builder, const graph::Node& node);
void legalise_fully_connected(Builder& builder, const graph::Node& node);

// pool.cpp
Reason refuses_max_pool2d(const Site& site);
Reason refuses_average_pool2d(const Site& site);
void legalise_max_pool2d(Builder& builder, const graph::Node& node);
void legalise_average_pool2d(Builder& builder, const graph::Node& node);

// reduction.cpp
Reason refuses_sum(const Site& site);
Reason refuses_extreme(const Site& site);
void legalise_sum(Builder& builder, const graph::Node& node);
void legalise_extreme(Builder& builder, const graph::Node& node);

// elementwise.cpp
Reason refuses_add(const Site& site);
Reason refuses_mul(const Site& site);
void legalise_add(Builder& builder, const graph::Node& node);
void legalise_mul(Builder& builder, const graph::Node& node);

Reason refuses_sub(const Site& site);
Reason refuses_extremum(const Site& site);
void legalise_sub(Builder& builder, const graph::Node& node);
void legalise_minimum(Builder& builder, const graph::Node& node);
void legalise_maximum(Builder& builder, const graph::Node& node);

// leaky_relu.cpp
Reason refuses_leaky_relu(const Site& site);
void legalise_leaky_relu(Builder& builder, const graph::Node& node);

// prelu.cpp
Reason refuses_prelu(const Site& site);
void legalise_prelu(Builder& builder, const graph::Node& node);

// lookup.cpp: any function of one element
Reason refuses_table(const Site& site);
void legalise_table(Builder& builder, const graph::Node& node);
Reason refuses_abs(const Site& site);
void legalise_abs(Builder& builder, const graph::Node& node);
// Lookup: the results may be of another type than the int8 that it reads.
Reason refuses_lookup(const Site& site);
void legalise_lookup(Builder& builder, const graph::Node& node);
// Logistic and tanh: a table of int8, the NPU's own unit of int16.
Reason refuses_sigmoid(const Site& site);
void legalise_sigmoid(Builder& builder, const graph::Node& node);

// resize.cpp
Reason refuses_resize(const Site& site);
void legalise_resize(Builder& builder, const graph::Node& node);

// transpose_convolution.cpp
Reason refuses_transpose_conv2d(const Site& site);
void legalise_transpose_conv2d(Builder& builder, const graph::Node& node);

// rescale.cpp
Reason refuses_rescale(const Site& site);
Reason refuses_quantize(const Site& site);
void legalise_relu(Builder& builder, const graph::Node& node);
void legalise_quantize(Builder& builder, const graph::Node& node);

// softmax.cpp
Reason refuses_softmax(const Site& site);
void legalise_softmax(Builder& builder, const graph::Node& node);

// log_softmax.cpp
Reason refuses_log_softmax(const Site& site);
void legalise_log_softmax(Builder& builder, const graph::Node& node);

// l2_normalization.cpp
Reason refuses_l2_normalization(const Site& site);
void legalise_l2_normalization(Builder& builder, const graph::Node& node);

// transpose.cpp
Reason refuses_transpose(const Site& site);
void legalise_transpose(Builder& builder, const graph::Node& node);

// rearrange.cpp
Reason refuses_blocks(const Site& site);
Reason refuses_mirror_pad(const Site& site);
Reason refuses_repeat(const Site& site);
void legalise_blocks(Builder& builder, const graph::Node& node);
void legalise_mirror_pad(Builder& builder, const graph::Node& node);
void legalise_repeat(Builder& builder, const graph::Node& node);
// Its elements again and again along the axes that `out` has more of, at most kMostRepeats copies.
Reason refuses_repeats(const Shape& in, const Shape& out);
Operand repeated(Builder& builder, const Operand& in, const Shape& in_shape,
                 const Shape& out_shape);

// pick.cpp
Reason refuses_pick(const Site& site);
void legalise_pick(Builder& builder, const graph::Node& node);

// arg_extreme.cpp
Reason refuses_arg_extreme(const Site& site);
void legalise_arg_extreme(Builder& builder, const graph::Node& node);

// batch_matmul.cpp
Reason refuses_batch_matmul(const Site& site);
void legalise_batch_matmul(Builder& builder, const graph::Node& node);

// squared_difference.cpp
Reason refuses_squared_difference(const Site& site);
void legalise_squared_difference(Builder& builder, const graph::Node& node);

// div.cpp
Reason refuses_div(const Site& site);
void legalise_div(Builder& builder, const graph::Node& node);

// state.cpp: variables, and what is left to the host, with the reason
Reason refuses_variable(const Site& site);
void legalise_assign(Builder& builder, const graph::Node& node);
Reason refuses_state(const Site& site);
void never(Builder& builder, const graph::Node& node);

// lstm.cpp
Reason refuses_lstm(const Site& site);
void legalise_lstm(Builder& builder, const graph::Node& node);

// move.cpp
// Whether the operator, which only says where bytes are, has one beside it that runs on the NPU.
bool is_beside_taken(const Site& site);
Reason refuses_reshape(const Site& site);
Reason refuses_pad(const Site& site);
void legalise_reshape(Builder& builder, const graph::Node& node);
void legalise_pad(Builder& builder, const graph::Node& node);
// Concatenation, packing, splitting, unpacking, slices: what belongs to a box of the whole.
struct Part {
  graph::TensorId tensor;
  Shape begin, size, stride;  // no strides: 1
  Shape at = {};              // where it goes in `tensor`; empty: it is all of that
  Shape of = {};  // the whole with fewer axes, which begin, size and stride are of; empty: as it is
};
std::vector<Part> parts_of(const graph::Function& function, const graph::Node& node);
Reason refuses_parts(const Site& site);
void legalise_parts(Builder& builder, const graph::Node& node);
// Whether a window that reads this pad's output can do without it.
bool folds_into_window(const Site& pad, const Site& window);

}  // namespace intarsia::targets::ethos_u
