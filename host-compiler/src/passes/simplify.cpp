#include "passes/simplify.h"

#include <algorithm>

#include <fmt/format.h>

#include "intarsia/plugin/fixed_point.h"
#include "passes/channel_flow.h"
#include "passes/element_values.h"
#include "passes/graph_edit.h"

namespace intarsia::passes {
namespace {

using graph::Activation;
using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

// One pass over the function; every rule returns after its first change, so that Uses is never stale.
class Simplifier {
 public:
  explicit Simplifier(const EliminationJob& job)
      : job_(job), function_(job.function()), uses_(function_) {}

  bool once() {
    for (size_t n = 0; n < function_.nodes.size(); ++n)
      if (unread(n) || constant(n) || identity(n) || known_choice(n) || reshape_only(n) ||
          reshape_of_reshape(n) || activation(n) || chain(n))
        return true;
    return false;
  }

 private:
  // The operand that is no constant, when there is one such.
  std::optional<TensorId> activation_operand(const Node& node) const {
    std::optional<TensorId> found;
    for (const TensorId id : node.inputs) {
      if (!id.valid() || tensor(id).constant.valid()) continue;
      if (found) return std::nullopt;
      found = id;
    }
    return found;
  }
  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }
  Node& node(size_t n) { return function_.nodes[n]; }
  bool touches_state(const Node& node) const {
    const auto variable = [&](TensorId id) { return id.valid() && tensor(id).variable; };
    return std::ranges::any_of(node.inputs, variable) ||
           std::ranges::any_of(node.outputs, variable);
  }
  bool done(std::string pass, const std::string& name, std::string what, std::string why) {
    job_.actions.push_back({std::move(pass), name, std::move(what), std::move(why)});
    return true;
  }
  void erase(size_t n) { function_.nodes.erase(function_.nodes.begin() + static_cast<int64_t>(n)); }

  // Takes node n (x -> y, the same bytes of the same type, shape and quantisation) out. False when the
  // signature of the function needs it.
  bool bypass(size_t n, TensorId x, TensorId y) {
    if (!uses_.is_output(y)) {
      replace_reads(function_, y, x);
      erase(n);
      return true;
    }
    // y keeps its name: users find outputs by it.
    const int maker = uses_.producer(x);
    if (maker < 0 || uses_.is_output(x)) return false;
    for (TensorId& id : node(static_cast<size_t>(maker)).outputs)
      if (id == x) id = y;
    replace_reads(function_, x, y);
    erase(n);
    return true;
  }

  // The operator is only asked to be somewhere when its user pins it; calls may write state.
  bool removable(const Node& node) const {
    return graph::functions_run_by(node).empty() && !job_.must_stay(node) && !touches_state(node) &&
           !node.outputs.empty();
  }

  bool unread(size_t n) {
    if (!removable(node(n))) return false;
    for (const TensorId id : node(n).outputs)
      if (uses_.is_output(id) || !uses_.readers(id).empty()) return false;
    const std::string name = node(n).name;
    erase(n);
    return done("unread", name, "removed", "nobody reads what it makes");
  }

  // An operator on constants only, when its result takes no more room than they do.
  bool constant(size_t n) {
    const Node original = node(n);
    if (!removable(original) || original.inputs.empty() || original.outputs.size() != 1)
      return false;
    const TensorId y = original.outputs[0];
    if (uses_.is_output(y) || tensor(y).type == DataType::Float32) return false;
    int64_t room = 0;
    for (const TensorId id : original.inputs) {
      if (!id.valid()) continue;
      if (!tensor(id).constant.valid()) return false;
      room += tensor(id).bytes();
    }
    if (tensor(y).bytes() > room) return false;

    Module alone;
    alone.name = alone.entry = "alone";
    alone.constants = job_.module.constants;
    Function& body = alone.functions.emplace_back(function_);
    body.name = "alone";
    body.nodes = {original};
    body.inputs.clear();
    body.outputs = {y};
    Result<std::vector<TensorValue>> made = graph::Evaluator(alone).run({});
    if (!made.ok()) return false;
    function_.tensors[y.at()].constant =
        add_constant(job_.module, tensor(y).name, std::move(made.value()[0]));
    erase(n);
    return done("constant", original.name, "computed at compile time",
                "all its operands are constants");
  }

  // Elements that the operand can have, as dense values; nothing for types with too many.
  std::optional<TensorValue> elements_of(TensorId id) const {
    if (!enumerable(tensor(id).type)) return std::nullopt;
    return pack(tensor(id).type, possible_values(function_, uses_, id));
  }

  static bool only_moves(OpKind kind) {
    switch (kind) {
      case OpKind::Reshape:
      case OpKind::Pad:
      case OpKind::PadV2:
      case OpKind::MirrorPad:
      case OpKind::Slice:
      case OpKind::Concat:
      case OpKind::Transpose:
        return true;
      default:
        return false;
    }
  }

  // All elements of x and no others, in their order.
  bool keeps_order(const Node& node, TensorId x, TensorId y) const {
    const Shape& shape = tensor(x).shape;
    if (element_count(shape) != element_count(tensor(y).shape)) return false;
    if (node.kind == OpKind::Slice) {
      const auto& stride = node.attrs<graph::SliceAttrs>().stride;
      return std::ranges::all_of(stride, [](int64_t step) { return step > 0; });
    }
    if (node.kind != OpKind::Transpose) return true;
    int64_t last = -1;  // of the axes that have an extent
    for (const int64_t axis : node.attrs<graph::TransposeAttrs>().permutation) {
      if (shape[static_cast<size_t>(axis)] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  bool moves_nothing(const Node& node, TensorId x, TensorId y) const {
    if (tensor(x).type != tensor(y).type) return false;
    if (only_moves(node.kind)) return keeps_order(node, x, y);
    const std::optional<TensorValue> elements = elements_of(x);
    return elements && keeps_elements(job_.module, function_, node, *elements);
  }

  bool identity(size_t n) {
    const Node& original = node(n);
    if (!removable(original) || original.outputs.size() != 1) return false;
    const std::optional<TensorId> operand = activation_operand(original);
    if (!operand) return false;
    const TensorId x = *operand, y = original.outputs[0];
    if (tensor(x).shape != tensor(y).shape || tensor(x).quantization != tensor(y).quantization ||
        !moves_nothing(original, x, y))
      return false;
    const std::string name = original.name, kind(to_string(original.kind));
    const bool by_value = !only_moves(original.kind);
    if (!bypass(n, x, y)) return false;
    return done("identity", name, "removed",
                by_value
                    ? fmt::format("this {} gives back every value that its input can have", kind)
                    : fmt::format("this {} changes neither bytes nor shape", kind));
  }

  // A selection whose condition says the same everywhere, as where sums of exponentials guard against what is not finite.
  bool known_choice(size_t n) {
    const Node& original = node(n);
    if (original.kind != OpKind::Select || !removable(original)) return false;
    const Tensor& condition = tensor(original.inputs[0]);
    if (!condition.constant.valid()) return false;
    const SharedBytes& said = job_.module.constant(condition.constant).bytes;
    if (said.empty() ||
        std::ranges::any_of(said, [&](uint8_t one) { return (one != 0) != (said.data()[0] != 0); }))
      return false;
    const TensorId x = original.inputs[said.data()[0] != 0 ? 1 : 2], y = original.outputs[0];
    if (tensor(x).constant.valid() || tensor(x).variable || tensor(x).type != tensor(y).type ||
        tensor(x).shape != tensor(y).shape || tensor(x).quantization != tensor(y).quantization)
      return false;
    const std::string name = original.name;
    if (!bypass(n, x, y)) return false;
    return done("identity", name, "removed", "its condition chooses the same operand everywhere");
  }

  // A mean of one element, a transpose of extents of 1: the same elements in another shape.
  bool reshape_only(size_t n) {
    Node& original = node(n);
    const bool candidate = original.kind == OpKind::Mean || original.kind == OpKind::Slice ||
                           original.kind == OpKind::Transpose;
    if (!candidate || !removable(original) || tensor(original.inputs[0]).constant.valid())
      return false;
    const TensorId x = original.inputs[0], y = original.outputs[0];
    if (element_count(tensor(x).shape) != element_count(tensor(y).shape) ||
        !moves_nothing(original, x, y))
      return false;
    const std::string kind(to_string(original.kind));
    original.kind = OpKind::Reshape;
    original.attributes = graph::ReshapeAttrs{tensor(y).shape};
    return done("identity", original.name, "became a reshape",
                fmt::format("this {} gives back all elements in their order", kind));
  }

  bool reshape_of_reshape(size_t n) {
    Node& second = node(n);
    if (second.kind != OpKind::Reshape || job_.must_stay(second)) return false;
    const int maker = uses_.producer(second.inputs[0]);
    if (maker < 0) return false;
    const Node& first = node(static_cast<size_t>(maker));
    if (first.kind != OpKind::Reshape || !removable(first) || touches_state(second)) return false;
    second.inputs[0] = first.inputs[0];
    return done("chain", second.name, fmt::format("reads the input of '{}'", first.name),
                "a reshape moves no byte, so only the last shape counts");
  }

  static Activation* fused(Node& node) {
    switch (node.kind) {
      case OpKind::Conv2d:
        return &std::get<graph::Conv2dAttrs>(node.attributes).activation;
      case OpKind::DepthwiseConv2d:
        return &std::get<graph::DepthwiseConv2dAttrs>(node.attributes).activation;
      case OpKind::FullyConnected:
        return &std::get<graph::FullyConnectedAttrs>(node.attributes).activation;
      case OpKind::AveragePool2d:
      case OpKind::MaxPool2d:
        return &std::get<graph::Pool2dAttrs>(node.attributes).activation;
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
        return &std::get<graph::BinaryAttrs>(node.attributes).activation;
      default:
        return nullptr;
    }
  }

  // relu(conv(x)) of one quantisation: the convolution clamps.
  bool activation(size_t n) {
    const Node original = node(n);
    if (original.kind != OpKind::Relu || !removable(original)) return false;
    const TensorId t = original.inputs[0], y = original.outputs[0];
    const int maker = uses_.producer(t);
    if (maker < 0 || uses_.is_output(t) || uses_.readers(t).size() != 1 ||
        tensor(t).type != tensor(y).type || tensor(t).quantization != tensor(y).quantization)
      return false;
    Node& producer = node(static_cast<size_t>(maker));
    Activation* own = fused(producer);
    if (own == nullptr || *own != Activation::None || touches_state(producer)) return false;
    const Activation wanted = original.attrs<graph::ReluAttrs>().activation;
    if (!clamps_as_fused(original, wanted)) return false;
    *own = wanted;
    producer.outputs[0] = y;
    erase(n);
    return done("activation", original.name,
                fmt::format("became the activation of '{}'", producer.name),
                "both clamp the same quantised value to the same range");
  }

  // The relu is the clamp that a fused activation is, for every value its input can have.
  bool clamps_as_fused(const Node& relu, Activation activation) const {
    const TensorId x = relu.inputs[0];
    const Tensor& output = tensor(relu.outputs[0]);
    if (output.type == DataType::Float32) return true;  // one clamp of floats, fused or not
    const std::optional<TensorValue> elements = elements_of(x);
    if (!elements) return false;
    const std::optional<TensorValue> made = on_elements(job_.module, function_, relu, *elements);
    if (!made || made->size() != elements->size()) return false;
    const auto range = output.type == DataType::Int8
                           ? graph::quantized_range<int8_t>(activation, output)
                           : graph::quantized_range<int16_t>(activation, output);
    const auto count = static_cast<int64_t>(elements->size()) * 8 / bits(output.type);
    for (int64_t i = 0; i < count; ++i)
      if (element_at(output.type, made->data(), i) !=
          range.clamp(element_at(output.type, elements->data(), i)))
        return false;
    return true;
  }

  // Those of TFLite's converter, which every CPU target takes.
  static bool usual_requantisation(DataType from, DataType to) {
    if (from == DataType::UInt8) return to == DataType::Int8;
    if (to == DataType::UInt8) return from == DataType::Int8;
    return to == DataType::Int8 || to == DataType::Int16 || to == DataType::Int32;
  }

  // second(first(x)), both on single elements: x itself, second(x), or one requantisation of x.
  bool chain(size_t n) {
    const Node second = node(n);
    if (!is_unary(second.kind) || !removable(second)) return false;
    const int maker = uses_.producer(second.inputs[0]);
    if (maker < 0) return false;
    const Node first = node(static_cast<size_t>(maker));
    if (!is_unary(first.kind) || !removable(first)) return false;
    const TensorId x = first.inputs[0], y = second.outputs[0];
    const std::optional<TensorValue> elements = elements_of(x);
    if (!elements) return false;
    const auto both_on = [&](const TensorValue& some) -> std::optional<TensorValue> {
      const std::optional<TensorValue> between = on_elements(job_.module, function_, first, some);
      return between ? on_elements(job_.module, function_, second, *between) : std::nullopt;
    };
    Node alone = second;
    alone.inputs[0] = x;
    Node requantisation = alone;
    requantisation.kind = OpKind::Quantize;
    requantisation.attributes = graph::NoAttrs{};
    const bool requantised = usual_requantisation(tensor(x).type, tensor(y).type);
    const bool same_types = tensor(x).type == tensor(second.inputs[0]).type;
    bool gives_back =
             tensor(x).type == tensor(y).type && tensor(x).quantization == tensor(y).quantization,
         second_alone = same_types || (second.kind == OpKind::Quantize && requantised),
         requantises = requantised;
    const TensorValue few = few_of(tensor(x).type, *elements);
    const std::optional<TensorValue> of_few = both_on(few);
    if (!of_few) return false;
    gives_back = gives_back && *of_few == few;
    second_alone = second_alone && same_as(alone, few, *of_few);
    requantises = requantises && same_as(requantisation, few, *of_few);
    if (!gives_back && !second_alone && !requantises) return false;

    const std::optional<TensorValue> made = both_on(*elements);
    if (!made) return false;
    const std::string both = fmt::format("'{}' after '{}'", second.name, first.name);
    if (gives_back && *made == *elements && bypass(n, x, y))
      return done("chain", second.name, fmt::format("{} removed", both),
                  "together they give back every value that the first one's input can have");
    if (second_alone && same_as(alone, *elements, *made)) {
      node(n) = std::move(alone);
      return done("chain", second.name, fmt::format("reads the input of '{}'", first.name),
                  fmt::format("{} gives what it alone gives, for every value of the input", both));
    }
    if (requantises && same_as(requantisation, *elements, *made)) {
      node(n) = std::move(requantisation);
      return done("chain", second.name, fmt::format("{} became one requantisation", both),
                  "it gives the same for every value of the input");
    }
    return false;
  }

  bool same_as(const Node& candidate, const TensorValue& elements,
               const TensorValue& expected) const {
    const std::optional<TensorValue> made =
        on_elements(job_.module, function_, candidate, elements);
    return made && *made == expected;
  }

  const EliminationJob& job_;
  Function& function_;
  Uses uses_;
};

}  // namespace

bool simplify(const EliminationJob& job) {
  return repeat<Simplifier>(job);
}

}  // namespace intarsia::passes
