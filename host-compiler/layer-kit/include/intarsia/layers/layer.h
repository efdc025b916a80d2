// Layers: what libraries of kernels compute in one call, with everything that a call is configured with. The compilers of
// targets that offload to such a library share how operators become layers, and the stream that a driver reads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::layers {

enum class Kind : int32_t {
#define LAYER_KIND(name) name,
#include "intarsia/contract/layers.def"
};
std::string_view to_string(Kind kind);  // "inner_product"

// The functions of one number that a layer may end with. Named as in layers.def, with capitals: some are C functions.
enum class Function : int32_t {
#define LAYER_FUNCTION(name) of_##name,
#include "intarsia/contract/layers.def"
};
std::string_view to_string(Function function);  // "hard_swish"

enum class Type : int32_t {
#define LAYER_TYPE(name) of_##name,
#include "intarsia/contract/layers.def"
};

enum class Operand : int32_t {
#define LAYER_OPERAND(name) name,
#include "intarsia/contract/layers.def"
};

// The words of a layer, and which operands it has.
struct Layer {
#define LAYER_FIELD(name) int32_t name = 0;
#include "intarsia/contract/layers.def"
  uint32_t operands = 0;  // a bit for each

  Kind what() const {
    return static_cast<Kind>(kind);
  }
  bool is_int8() const {
    return static_cast<Type>(type) == Type::of_int8;
  }
  bool has(Operand operand) const {
    return (operands >> static_cast<int32_t>(operand) & 1) != 0;
  }
  bool is_weighted() const {
    return what() == Kind::convolution || what() == Kind::depthwise ||
           what() == Kind::inner_product;
  }
  bool is_pool() const {
    return what() == Kind::max_pool || what() == Kind::average_pool;
  }
  bool operator==(const Layer&) const = default;
};

// The words as they are in a stream, in the order of the table.
std::vector<int32_t> words_of(const Layer& layer);
// "convolution 1x8x8x3 -> 1x8x8x16, kernel 3x3, pads 1 1 1 1, relu": everything that is not as it mostly is.
std::string describe(const Layer& layer);

// A layer of a function: the operators that it stands for, and its operands by tensor; those that it does not have are
// not valid.
struct LayerOfNodes {
  Layer layer;
  std::vector<graph::NodeId> nodes;  // in the order of the function; the last one makes the result
  std::vector<graph::TensorId> operands;  // by Operand; `scales` is no tensor
  std::vector<float> weight_scales;       // of int8

  graph::TensorId& operand(Operand which) { return operands[static_cast<size_t>(which)]; }
  graph::TensorId operand(Operand which) const { return operands[static_cast<size_t>(which)]; }
};

// A constraint that is not met, in words and with the values; nothing where all are.
using Reason = std::optional<std::string>;

// A library: what it computes of what a layer can say.
struct Library {
  std::string name;  // of the kind
  // Why it does not compute such a layer.
  std::function<Reason(const Layer&)> refuses;
  // Whether it has layers of int8. Their results may be a step away from the reference's, see `largest_steps`.
  bool int8 = false;
};

// By how many steps of its result an operator of int8 may differ from the reference on the same operands: libraries round a
// product of floats once, where TFLite rounds integers twice. None where values are only chosen from.
int32_t largest_steps(graph::OpKind kind);

// The operator as a layer, into `made`; or why there is none.
Reason make_layer(const graph::Function& function, graph::NodeId node, LayerOfNodes& made);

// All operators of a function, each of which is a layer that the library takes, as few layers: functions of one number and
// sums become part of the layer before them where the library takes that too. In an order in which they can run.
std::vector<LayerOfNodes> fused_layers(const Library& library, const graph::Function& function);

}  // namespace intarsia::layers
