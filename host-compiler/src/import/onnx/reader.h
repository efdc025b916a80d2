// What the readers of operators (convert_*.cpp) work with: the operands of the operator being read, and the
// function that grows.
//
// Tensors keep the order of axes that ONNX gives them; operators on images are put between transpositions
// (`to_channels_last`, `to_channels_first`), which fold_layout.h takes out again.
//
// Quantisation. ONNX writes an integer operator as DequantizeLinear, the operator on reals, QuantizeLinear.
// A value that DequantizeLinear makes is kept as the integers it stands for (Form::Real), and turned into
// floats only for an operator that has to have floats. An operator all of whose operands are such values,
// and whose result goes to QuantizeLinear alone (`tail`), is tried in integers first; where the rules of
// the IR or the accuracy (one step) do not allow that, it is computed in floats.
// uint8 becomes int8 by taking 128 off values and zero points, which changes no real value (Form::Shifted); uint16 int16 likewise.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/onnx_graph.h"
#include "import/tflite/node_names.h"
#include "intarsia/graph.h"
#include "intarsia/import.h"
#include "intarsia/plugin/progress.h"

namespace intarsia::onnx {

enum class Form : uint8_t {
  Plain,    // the value of ONNX
  Shifted,  // int8, the value of ONNX less 128
  Real,     // integers that stand for the reals of ONNX
};

struct Value {
  graph::TensorId tensor;
  Form form = Form::Plain;
  graph::TensorId
      plain;  // of the other forms: the value of ONNX, once an operator has asked for it
};

using TensorList = std::vector<Value>;

// Of Form::Shifted: what the values of ONNX have for type, and how much more they are.
inline DataType unsigned_of(DataType type) {
  return type == DataType::Int16 ? DataType::UInt16 : DataType::UInt8;
}
inline int64_t shift_of(DataType type) {
  return type == DataType::Int16 ? 32768 : 128;
}

// What QuantizeLinear and DequantizeLinear say, with uint8 made int8 and uint16 int16.
struct QuantizedAs {
  DataType type = DataType::Int8;
  graph::Quantization quantization;
  bool shifted = false;
  // Where the range is narrower than that of the type: the integers at its ends.
  std::optional<int64_t> least, most;

  DataType stated_type() const { return shifted ? unsigned_of(type) : type; }

  bool operator==(const QuantizedAs&) const = default;

  bool fits(const graph::Tensor& tensor) const {
    return tensor.type == type && tensor.quantization == quantization;
  }
};

// What follows the operator and can be computed with it.
struct Tail {
  graph::Activation activation = graph::Activation::None;
  std::optional<QuantizedAs>
      as;            // the only reader of the result, or of what it is moved to, is QuantizeLinear
  std::string name;  // of the value after the activation
  std::vector<const Node*> absorbed;  // operators that are computed with it: the activation for one
};

class Reader {
 public:
  // `options` must outlive the reader.
  Reader(const ModelFile& file, Graph graph, Diagnostics& problems, const ImportOptions& options);

  // Everything; check the problems before the module.
  graph::Module read(const std::string& name);

  // ---- the operator being read ----

  const Node& node() const { return *node_; }
  const ImportOptions& options() const { return options_; }
  // The operators of a graph within this one, as if they stood in its place: what it gives for these operands, or nothing
  // and a problem. Where it is read several times, each time with another suffix to its names.
  std::optional<std::vector<Value>> read_branch(const format::Graph& branch,
                                                const std::vector<Value>& operands = {},
                                                const std::string& suffix = "");
  bool is(std::string_view type) const { return node_->type == type; }
  bool ok() const { return !failed_; }
  void problem(std::string what, std::string hint = {});
  // For the user to know; not a problem.
  void remark(std::string what, std::string hint = {});
  // False, and a problem, unless the condition holds.
  bool require(bool condition, std::string what, std::string hint = {});
  // The same for operators that compute otherwise while a network is trained.
  bool require_inference(bool condition) {
    return require(condition, "is in training mode",
                   "export the model for inference (model.eval() in PyTorch)");
  }

  bool has(size_t operand) const {
    return operand < node_->inputs.size() && !node_->inputs[operand].empty();
  }
  // Whether the operand is there and has no element: exporters compute with parts of shapes, which may be of no axes.
  // Such an operand has() nothing.
  bool is_empty(size_t operand) const;
  // The output is such a tensor: a list of nothing, or of this shape, one of whose extents is 0.
  void result_empty(size_t output, const Shape& shape = {0}) {
    if (!failed_) empty_.insert_or_assign(node_->outputs[output], shape);
  }
  const Value& value(size_t operand) { return values_[node_->inputs[operand]]; }
  // The operand that is a list of tensors; null: it is a tensor.
  const TensorList* list(size_t operand) const;
  bool is_real(size_t operand) { return value(operand).form == Form::Real; }
  // Whether anything reads the output.
  bool is_read(size_t output) const;
  // Whether all that reads the first output makes floats of it.
  bool is_read_as_floats() const;
  // The operand as ONNX has it.
  graph::TensorId operand(size_t number) { return plain(values_[node_->inputs[number]]); }
  // No tensor where the operand is absent.
  graph::TensorId optional_operand(size_t number) {
    return has(number) ? operand(number) : graph::TensorId{};
  }
  graph::TensorId plain(Value& value);
  // As ONNX has it, which may be of more axes than the tensor's, or of no element.
  const Shape& shape_of(size_t operand);

  int64_t integer(const std::string& attribute, int64_t absent) const;
  float real(const std::string& attribute, float absent) const;
  std::string text(const std::string& attribute, const std::string& absent) const;
  std::optional<std::vector<int64_t>> integers(const std::string& attribute) const;
  // Nothing in them where the attribute is absent.
  std::vector<float> reals(const std::string& attribute) const;
  std::vector<std::string> texts(const std::string& attribute) const;
  // The values of an operand that has to be known; a problem when it is not.
  std::optional<std::vector<int64_t>> known_integers(size_t operand, std::string_view what);
  std::optional<float> known_real(size_t operand, std::string_view what);
  // From an operand or, in older operator sets, from the attribute; nothing when it is in neither.
  std::optional<std::vector<int64_t>> integers_from(size_t operand, const std::string& attribute,
                                                    std::string_view what);
  // 0 .. rank-1, counting from the end when negative; a problem when it is outside.
  int64_t axis(int64_t given, size_t rank);

  // For operators that are known by what stands before them: the operator that makes a value of the file, a value that is known,
  // and the integers that it is the reals of. Null, nothing and no tensor where there is none.
  const Node* operator_of(const std::string& value) const;
  std::optional<Values> known(const std::string& value) const;
  graph::TensorId known_tensor(const std::string& value);
  graph::TensorId integers_of(const std::string& value) const;
  // Whether one operator reads the value, once, and nobody outside.
  bool is_read_once(const std::string& value) const { return only_reader(value) != nullptr; }
  // All operators that read it.
  std::vector<const Node*> readers_of(const std::string& value) const;
  // What it is kept as, in whatever form; no tensor: nothing makes it.
  graph::TensorId tensor_of(const std::string& value) const;
  // How many elements it has; -1: it is read by nobody yet, or nothing.
  int64_t elements_of(const std::string& value) const;
  // What the file says of a value, where it says all of it.
  std::optional<Shape> declared_shape(const std::string& value) const;
  // What was made of a tensor along axes before, for who may need it again.
  graph::TensorId& made_along(graph::TensorId id, const std::vector<int64_t>& axes) {
    return made_along_[{id.at(), axes}];
  }

  // ---- what it becomes ----

  const graph::Tensor& tensor(graph::TensorId id) const;
  const Shape& shape(graph::TensorId id) const { return tensor(id).shape; }
  // Null: a constant or an input.
  const graph::Node* maker_of(graph::TensorId id) const;
  bool is_constant(graph::TensorId id) const { return tensor(id).constant.valid(); }
  Values values_of(graph::TensorId constant) const;
  graph::TensorId make_constant(Values values, graph::Quantization quantization = {});
  graph::TensorId number(float value) { return make_constant(real_values({}, {value})); }

  // A new operator; its output, or no tensor when the rules of the IR refuse it (a problem, outside of
  // attempts). Of constants it is computed at once.
  graph::TensorId emit(graph::OpKind kind, graph::Attributes attributes,
                       std::vector<graph::TensorId> inputs, DataType type,
                       graph::Quantization quantization = {}, std::string_view suffix = {});
  std::vector<graph::TensorId> emit_many(graph::OpKind kind, graph::Attributes attributes,
                                         std::vector<graph::TensorId> inputs, size_t outputs,
                                         DataType type, const graph::Quantization& quantization,
                                         std::string_view suffix = {});
  // The same with outputs of several types.
  struct Typed {
    DataType type;
    graph::Quantization quantization;
  };
  std::vector<graph::TensorId> emit_typed(graph::OpKind kind, graph::Attributes attributes,
                                          std::vector<graph::TensorId> inputs,
                                          const std::vector<Typed>& outputs,
                                          std::string_view suffix = {});
  // A loop that carries these tensors; what they are at its end. Its functions are of this module.
  std::vector<graph::TensorId> emit_loop(graph::Function condition, graph::Function body,
                                         std::vector<graph::TensorId> carried);
  // The operators of a function, whose constants are the module's, in the place of one; its outputs.
  std::vector<graph::TensorId> emit_inline(const graph::Function& written,
                                           const std::vector<graph::TensorId>& arguments);
  // For functions of loops: where their constants go, and names of which there are none yet.
  graph::Module& module() { return module_; }
  std::string function_name(std::string_view suffix);
  // The same type and quantisation as the first input.
  graph::TensorId emit_alike(graph::OpKind kind, graph::Attributes attributes,
                             std::vector<graph::TensorId> inputs, std::string_view suffix = {});
  graph::TensorId transpose(graph::TensorId id, std::vector<int64_t> permutation);
  graph::TensorId reshape(graph::TensorId id, Shape shape);
  graph::TensorId to_channels_last(graph::TensorId id);
  graph::TensorId to_channels_first(graph::TensorId id);
  graph::TensorId cast(graph::TensorId id, DataType type);
  graph::TensorId requantize(graph::TensorId id, const QuantizedAs& as);

  void result(size_t output, Value value);
  void result(graph::TensorId id) { result(0, {id, Form::Plain, {}}); }
  // Whose shape in ONNX is this one, which may have more axes than tensors of the IR (many_axes.h).
  void result_of_shape(Value value, const Shape& shape);
  void result_list(TensorList list) { lists_[node_->outputs.front()] = std::move(list); }
  // The result of an operator that only moves the elements of operand 0.
  void carried(graph::TensorId id) { result(0, {id, value(0).form, {}}); }
  // Operand 0 for such an operator.
  graph::TensorId carry(size_t operand = 0);

  // Puts x * factor + offset (per channel, axis 1) into the convolution of floats that makes x, when nothing
  // else reads it and all are constants; what then is the result, or no tensor.
  graph::TensorId fold_into_convolution(graph::TensorId x, graph::TensorId factor,
                                        graph::TensorId offset, graph::Activation activation);

  // What follows the operator; `with_activation` says whether activations may be part of it. Where the operator that reads its result
  // alone is computed with it, too, what follows that one.
  Tail tail(bool with_activation, const Node* together = nullptr);
  void finish(const Tail& tail, Value value);
  // Nothing for what the model returns, too.
  const Node* only_reader(const std::string& value) const;
  // How everything that reads the value quantises it in the end, if all do alike: at once, or behind operators that may as well move
  // integers or compare them.
  std::optional<QuantizedAs> quantized_behind(const std::string& value, int depth = 16) const;
  // QuantizeLinear or DequantizeLinear with parameters that are known, one or per channel. Of 16 bits that only stand between the two, and
  // have their zero point elsewhere, a scale around 0, unless weights are to be widened.
  std::optional<QuantizedAs> quantized_as(const Node& node) const;

  // What Relu, or Clip between limits that are known, is as the activation of another operator; None: nothing of the kind.
  graph::Activation activation_of(const Node& node) const;

  // The quantisation of a tensor that has none yet; false when it has another one.
  bool state_quantization(graph::TensorId id, const graph::Quantization& quantization);
  // Whether operators only move it, or make reals of it.
  bool is_only_moved(graph::TensorId id) const;

  // Runs `make`, which emits an integer operator and returns its output or no tensor; where it fails, what
  // it added is taken back.
  template <typename Make>
  graph::TensorId attempt(Make&& make) {
    const State before = begin_attempt();
    const graph::TensorId made = make();
    return end_attempt(before, made);
  }

 private:
  struct State {
    size_t tensors, nodes, constants;
    bool failed;
  };

  State begin_attempt();
  graph::TensorId end_attempt(const State& before, graph::TensorId made);
  void add_constants(const std::map<std::string, Values>& constants);
  void add_reader(const Node& node);
  // Extents that --shape gives an input count for the symbol on its axis, wherever that stands.
  void bind_symbols();
  void read_inputs();
  void read_outputs();
  // Where the file states another one.
  void note_other_shape(const format::Named& output, const std::string& where,
                        const Shape& computed);
  graph::TensorId copied(graph::TensorId id);
  // Whether the integers of a QuantizeLinear or DequantizeLinear are made by the one, and read by others with the same parameters alone.
  bool is_between_reals(const Node& node) const;
  void read_node(const Node& node);
  void align_second_operand(Node& present);
  void merge_axes(Node& present);
  std::string base_name() const;
  bool compute_now(const graph::Node& node);
  void note(std::string where, std::string what, std::string hint) {
    if (options_.notes != nullptr)
      options_.notes->add(std::move(where), std::move(what), std::move(hint));
  }

  const ModelFile& file_;
  std::map<std::string, Values> constants_;  // the file's
  std::deque<Node> nodes_;  // in the order in which they are read; those of branches behind them
  Diagnostics& problems_;
  const ImportOptions& options_;
  graph::Module module_;
  graph::Function function_;
  std::map<std::string, Value> values_;
  std::map<std::string, TensorList> lists_;
  std::map<std::string, Shape>
      many_axes_;  // shapes of values that have more than the IR (many_axes.h)
  std::map<std::string, std::vector<const Node*>> readers_;  // operators by the value they read
  std::map<std::string, int64_t> symbols_;                   // extents by their symbols
  std::set<std::string> batches_;              // symbols of open batches, which become 1
  std::map<std::string, const Node*> makers_;  // operators by the value they make
  std::map<std::pair<size_t, std::vector<int64_t>>, graph::TensorId> made_along_;
  std::map<std::pair<size_t, std::vector<int64_t>>, graph::TensorId> transposed_;  // constants
  std::set<std::string> results_;  // what the model returns
  std::set<const Node*> absorbed_;
  UniqueNames names_;
  const Node* node_ = nullptr;          // the one being read, without names of empty operands
  std::map<std::string, Shape> empty_;  // values of no element: their shapes
  Shape whole_;  // of the result, where operands of more axes than the IR has are read with fewer
  const Node* listed_ = nullptr;  // the same one in nodes_
  bool failed_ = false;
  bool attempting_ = false;
};

inline constexpr DataType kFloat = DataType::Float32;

}  // namespace intarsia::onnx
