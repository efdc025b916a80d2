#include "import/onnx/qlinear.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace intarsia::onnx {

namespace {

// Where each real operand of the operator begins (tensor, scale, zero point), where its result's scale and
// zero point are, its bias, and the axis along which each operand may have scales.
struct Abbreviation {
  std::string_view type, stands_for;
  std::vector<size_t> operands;
  size_t output;
  int bias = -1;  // -1: none
  std::vector<int64_t> axes = {};
};

const std::vector<Abbreviation>& abbreviations() {
  static const std::vector<Abbreviation> table = {
      {"QLinearConv", "Conv", {0, 3}, 6, 8, {1, 0}},
      {"QLinearMatMul", "MatMul", {0, 3}, 6, -1, {-2, -1}},
      {"QGemm", "Gemm", {0, 3}, 7, 6, {-2, -1}},
      {"QLinearAdd", "Add", {0, 3}, 6},
      {"QLinearMul", "Mul", {0, 3}, 6},
      {"QLinearSigmoid", "Sigmoid", {0}, 3},
      {"QLinearLeakyRelu", "LeakyRelu", {0}, 3},
      {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 3},
      {"QLinearAveragePool", "AveragePool", {0}, 3},
      {"QLinearSoftmax", "Softmax", {0}, 3},
  };
  return table;
}

class Writer {
 public:
  Writer(const Node& node, int64_t operator_set, std::vector<Node>& nodes)
      : node_(node), operator_set_(operator_set), nodes_(nodes) {}

  std::string dequantized(size_t first, int64_t axis) {
    const std::string name = fmt::format("{}:real{}", node_.outputs[0], first);
    Node& made = add("DequantizeLinear", name);
    made.inputs = {at(first), at(first + 1), at(first + 2)};
    made.attributes["axis"].set_integer(axis);
    return name;
  }

  Node& add(std::string_view type, const std::string& output) {
    Node& made = nodes_.emplace_back();
    made.type = type;
    made.name = output == node_.outputs[0] ? "" : node_.name;
    made.index = node_.index;
    made.operator_set = operator_set_;
    made.outputs = {output};
    return made;
  }

  // The operator on reals, and the quantisation of its result when `scale` names one.
  void finish(std::string_view type, std::vector<std::string> inputs, size_t scale) {
    const bool quantised = !at(scale).empty();
    const std::string result = quantised ? node_.outputs[0] + ":result" : node_.outputs[0];
    Node& made = add(type, result);
    made.name = node_.name;
    made.inputs = std::move(inputs);
    made.attributes = node_.attributes;
    if (!quantised) return;
    Node& quantise = add("QuantizeLinear", node_.outputs[0]);
    quantise.inputs = {result, at(scale), at(scale + 1)};
  }

  std::string at(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : ""; }

 private:
  const Node& node_;
  const int64_t operator_set_;
  std::vector<Node>& nodes_;
};

}  // namespace

bool is_abbreviation(const Node& node) {
  return node.type == "QLinearConcat" || node.type == "QLinearWhere" ||
         std::ranges::find(abbreviations(), node.type, &Abbreviation::type) !=
             abbreviations().end();
}

void write_out(const Node& node, int64_t operator_set, std::vector<Node>& nodes) {
  Writer writer(node, operator_set, nodes);
  std::vector<std::string> inputs;
  if (node.type ==
      "QLinearConcat") {  // the result's parameters come first, then each operand with its own
    for (size_t i = 2; i + 2 < node.inputs.size(); i += 3)
      inputs.push_back(writer.dequantized(i, 0));
    return writer.finish("Concat", std::move(inputs), 0);
  }
  if (node.type == "QLinearWhere")
    return writer.finish("Where",
                         {writer.at(0), writer.dequantized(1, 0), writer.dequantized(4, 0)}, 7);
  const Abbreviation& what = *std::ranges::find(abbreviations(), node.type, &Abbreviation::type);
  for (size_t i = 0; i < what.operands.size(); ++i) {
    int64_t axis = what.axes.empty() ? 0 : what.axes[i];
    const auto transposed = node.attributes.find("transB");
    if (node.type == "QGemm" && i == 1 && transposed != node.attributes.end() &&
        transposed->second.integer() != 0)
      axis = 0;
    inputs.push_back(writer.dequantized(what.operands[i], axis));
  }
  if (what.bias >= 0 && !writer.at(static_cast<size_t>(what.bias)).empty())
    inputs.push_back(writer.at(static_cast<size_t>(what.bias)));
  writer.finish(what.stands_for, std::move(inputs), what.output);
}

}  // namespace intarsia::onnx
