// The graph IR: operators on quantised tensors.
//
// Semantics. A Module holds named Functions (a name is a GlobalVar), the constants they share, and
// which function is the entry. A Function is a list of Nodes in executable order: a node may read
// only function inputs, constants, variables and outputs of earlier nodes (static single assignment:
// a tensor is written by at most one node, and never if it is an input or a constant). Functions are
// pure except for `variable` tensors, whose value lasts from one invocation to the next.
// A quantised tensor of type integer stands for real values scale * (q - zero_point); `axis` selects
// per-channel scales. A tensor without scales is of plain numbers. All shapes are static.
// Functions that `if` and `while` run are pure; state that they work on is passed in and out.
// After partitioning a function may name the device of the composite target that owns it; the entry
// then consists of `call` nodes. Values are never edited behind a back: passes return new modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/graph/data_type.h"
#include "intarsia/graph/op_attributes.h"
#include "intarsia/graph/shared_bytes.h"
#include "intarsia/result.h"

namespace intarsia::graph {

// What an operator does; op_kinds.def describes operands and results of each.
enum class OpKind : uint8_t {
#define OP(name, text, attrs, least, most, outputs) name,
#include "intarsia/graph/op_kinds.def"
#undef OP
};

std::string_view to_string(OpKind kind);                           // "conv2d"
std::optional<OpKind> op_kind_from_string(std::string_view text);  // exact inverse
Attributes default_attributes(OpKind kind);  // the alternative that nodes of the kind carry

inline constexpr size_t kMaxRank = 6;                            // of every tensor
inline constexpr int64_t kMaxTensorBytes = INT64_C(0x7fffffff);  // of every tensor

// An index into Function::tensors.
using TensorId = Handle<struct TensorTag>;
// An index into Function::nodes.
using NodeId = Handle<struct NodeTag>;

// Real value = scale[i] * (q - zero_point[i]); i is the index along `axis`, or 0 when per tensor.
// Both lists have one length: 0 (not quantised), 1, or the extent of `axis`. Scales are finite, > 0.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int32_t axis = 0;
  // Of weights: their scale times that of the input is rounded to single precision, as LiteRT does for convolutions of bytes without
  // a sign.
  bool in_single_precision = false;

  // Whether the tensor is quantised.
  bool present() const { return !scale.empty(); }
  // Whether there is a scale for each index along `axis`.
  bool per_channel() const { return scale.size() > 1; }
  bool operator==(const Quantization&) const = default;
};

// The scale of a layer's sums, of its input's (which has one) and of a channel of its weights'.
inline double sum_scale(const Quantization& input, const Quantization& weights, size_t channel) {
  const float of_input = input.scale[0],
              of_weights = weights.scale[weights.per_channel() ? channel : 0];
  if (weights.in_single_precision) return static_cast<double>(of_input * of_weights);
  return static_cast<double>(of_input) * static_cast<double>(of_weights);
}

// A value between operators, an input, an output, a constant or a variable of a function.
struct Tensor {
  std::string name;  // as in the model; neither unique nor necessarily non-empty
  DataType type = DataType::Int8;
  Shape shape;
  Quantization quantization;
  ConstantId constant;    // valid: the tensor's value is that constant of the module
  bool variable = false;  // state: keeps its value between invocations
  ConstantId initial;     // of a variable: what it starts as; invalid: the zero point

  // Of its values, densely packed.
  int64_t bytes() const { return byte_size(type, shape); }
  bool operator==(const Tensor&) const = default;
};

// One operator of a function.
struct Node {
  OpKind kind = OpKind::Call;
  std::string name;  // for people and for pins; unique within the function, never empty
  Attributes attributes;
  std::vector<TensorId> inputs;  // an absent optional operand is TensorId{}
  std::vector<TensorId> outputs;
  std::string pin;  // device of the composite target that must run it; empty: free

  // The attributes, as the structure that nodes of this kind have.
  template <typename A>
  const A& attrs() const {
    return std::get<A>(attributes);
  }
  bool operator==(const Node&) const = default;
};

// Functions of the module that the node runs: of a call, an `if`, a `while`.
std::vector<std::string> functions_run_by(const Node& node);

// Operators in an order in which they can be executed.
struct Function {
  std::string name;    // GlobalVar
  std::string target;  // device that owns it after partitioning; empty before
  std::string pin;     // device that must run all of it; empty: free
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs, outputs;

  // The tensor of a valid id.
  const Tensor& tensor(TensorId id) const { return tensors.at(id.at()); }
  bool operator==(const Function&) const = default;
};

// Little-endian bytes of a dense tensor.
struct Constant {
  std::string name;
  SharedBytes bytes;  // of all modules that were made from one another
  bool operator==(const Constant&) const = default;
};

// A model.
struct Module {
  std::string name;  // a C identifier made from the model's file name
  std::vector<Function> functions;
  std::vector<Constant> constants;
  std::string entry;  // GlobalVar of the function that is the model

  // The constant of a valid id.
  const Constant& constant(ConstantId id) const { return constants.at(id.at()); }
  const Function* find(std::string_view function) const;  // null when absent
  const Function& entry_function() const;                 // checked to exist
  bool operator==(const Module&) const = default;
};

// Text form. `parse(print(m)) == m` for every verified module.
std::string print(const Module& module);
// Fails with the line and what was expected there; `file` names the text in messages. What is read is not verified yet.
Result<Module> parse(std::string_view text, std::string_view file = "text");

// Shape, type and attribute rules of one operator. On success the shapes of the outputs.
Result<std::vector<Shape>> infer_shapes(const Module& module, const Function& function,
                                        const Node& node);

// Everything the semantics above promise and that infer_shapes asks; all violations together.
Result<void> verify(const Module& module);

// Values of one tensor: little-endian bytes as the tensor's type and shape say.
using TensorValue = std::vector<uint8_t>;

// Reference evaluation of the entry function, operator by operator, in TFLite's arithmetic: the
// oracle of all tests. `on_result` (optional) sees every node's outputs as they are made.
// Variables live in the Evaluator, so that repeated calls continue the stream.
class Evaluator {
 public:
  explicit Evaluator(const Module& module);  // module must be verified and outlive the evaluator
  // Called with the output of that index of a node; `context` is what run() was given.
  using Observer = void (*)(void* context, const Node& node, size_t output, const TensorValue&);

  // Runs are refused that take more steps in all: of an operator one, and one for each KiB it makes.
  // A loop of a model may go on for 2^31 iterations; without a limit so does the evaluation.
  void limit_steps(int64_t most) { most_steps_ = steps_left_ = most; }

  // inputs: one per entry input, in order, each of exactly the tensor's bytes.
  Result<std::vector<TensorValue>> run(const std::vector<TensorValue>& inputs,
                                       Observer on_result = nullptr, void* context = nullptr);

 private:
  Result<std::vector<TensorValue>> run_function(const Function& function,
                                                const std::vector<TensorValue>& inputs,
                                                Observer on_result, void* context);
  Result<std::vector<TensorValue>> run_functions_of(const Function& function, const Node& node,
                                                    std::vector<TensorValue> arguments,
                                                    Observer on_result, void* context);
  Result<void> take_steps(const Function& function, const Node& node, int64_t steps);

  const Module& module_;
  std::vector<std::vector<TensorValue>> variables_;  // per function, per tensor
  int64_t most_steps_ = INT64_MAX, steps_left_ = INT64_MAX;
};

// Multiply-accumulate operations of one node (0 for operators without a dot product).
int64_t mac_count(const Function& function, const Node& node);

}  // namespace intarsia::graph
