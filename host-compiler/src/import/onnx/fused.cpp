#include "import/onnx/fused.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace intarsia::onnx {

namespace {

// What is written for one operator, from its operands to its first output: a chain, in which each operator has the result of the one
// before as its first operand.
class Chain {
 public:
  Chain(const Node& node, int64_t operator_set, std::vector<Node>& nodes)
      : node_(node), operator_set_(operator_set), nodes_(nodes) {}

  std::string at(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : ""; }

  Node& add(std::string_view type, std::vector<std::string> inputs) {
    result_ = fmt::format("{}:{}", node_.outputs[0], steps_++);
    Node& made = nodes_.emplace_back();
    made.type = type;
    made.index = node_.index;
    made.operator_set = operator_set_;
    made.inputs = std::move(inputs);
    made.outputs = {result_};
    last_ = nodes_.size() - 1;
    return made;
  }
  Node& then(std::string_view type, std::vector<std::string> others = {}) {
    others.insert(others.begin(), result_);
    return add(type, std::move(others));
  }
  void then_add(const std::string& operand) {
    if (!operand.empty()) then("Add", {operand});
  }

  // Takes attributes along, under the names that ONNX's operator has for them.
  void copy(Node& to, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const auto found = node_.attributes.find(std::string(name));
      if (found != node_.attributes.end()) to.attributes[found->first] = found->second;
    }
  }
  void set(Node& to, const std::string& name, float value) {
    to.attributes[name].set_name(name);
    to.attributes[name].set_real(value);
  }

  // One more output of the operator last added.
  std::string also(std::string_view what) {
    nodes_[last_].outputs.push_back(fmt::format("{}:{}", result_, what));
    return nodes_[last_].outputs.back();
  }
  // The result so far is another output of the operator, too.
  void gives(size_t output) {
    if (output < node_.outputs.size() && !node_.outputs[output].empty()) {
      nodes_[last_].outputs[0] = node_.outputs[output];
      result_ = node_.outputs[output];
    }
  }
  // The last operator has the name and the first output of the whole.
  void finish() {
    nodes_[last_].name = node_.name;
    nodes_[last_].outputs[0] = node_.outputs[0];
  }

  // Of the numbers for the activation, those that there are.
  void activation(const std::vector<float>& numbers) {
    const auto given = node_.attributes.find("activation");
    if (given == node_.attributes.end() || given->second.text().empty()) return;
    const std::string type = given->second.text();
    Node& made = then(type);
    if (type == "Clip") made.operator_set = 6;  // with its limits as attributes
    const std::array<std::string, 2> names = type == "Clip"
                                                 ? std::array<std::string, 2>{"min", "max"}
                                                 : std::array<std::string, 2>{"alpha", "beta"};
    for (size_t i = 0; i < std::min(names.size(), numbers.size()); ++i)
      set(made, names[i], numbers[i]);
  }

 private:
  const Node& node_;
  const int64_t operator_set_;
  std::vector<Node>& nodes_;
  std::string result_;
  size_t last_ = 0;
  int steps_ = 0;
};

void write_conv(const Node& node, Chain& chain) {
  Node& conv = chain.add("Conv", {chain.at(0), chain.at(1), chain.at(2)});
  chain.copy(conv, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  chain.then_add(chain.at(3));
  const auto numbers = node.attributes.find("activation_params");
  std::vector<float> given;
  if (numbers != node.attributes.end())
    given.assign(numbers->second.reals().begin(), numbers->second.reals().end());
  chain.activation(given);
}

void write_gemm(const Node& node, Chain& chain) {
  Node& gemm = chain.add("Gemm", {chain.at(0), chain.at(1), chain.at(2)});
  chain.copy(gemm, {"alpha", "beta", "transA", "transB"});
  std::vector<float> given;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    const auto number = node.attributes.find(name);
    if (number == node.attributes.end()) break;
    given.push_back(number->second.real());
  }
  chain.activation(given);
}

void write_gelu(const Node& node, Chain& chain) {
  const bool has_bias = !chain.at(1).empty();
  if (has_bias) chain.add("Add", {chain.at(0), chain.at(1)});
  Node& gelu = has_bias ? chain.then("Gelu") : chain.add("Gelu", {chain.at(0)});
  if (node.type == "FastGelu") {
    gelu.attributes["approximate"].set_name("approximate");
    gelu.attributes["approximate"].set_text("tanh");
  }
}

void write_quick_gelu(const Node& node, Chain& chain) {
  Node& swish = chain.add("Swish", {chain.at(0)});
  const auto alpha = node.attributes.find("alpha");
  chain.set(swish, "alpha", alpha == node.attributes.end() ? 1.702f : alpha->second.real());
}

void write_skip_normalization(const Node& node, Chain& chain) {
  const bool simplified = node.type == "SkipSimplifiedLayerNormalization";
  chain.add("Add", {chain.at(0), chain.at(1)});
  chain.then_add(chain.at(simplified ? 3 : 4));
  chain.gives(3);
  Node& norm = simplified ? chain.then("RMSNormalization", {chain.at(2)})
                          : chain.then("LayerNormalization", {chain.at(2), chain.at(3)});
  chain.set(norm, "epsilon", 1e-12f);
  chain.copy(norm, {"epsilon"});
}

// The rows of embeddings, which a reader of their own adds up, and what makes one scale of them.
void write_embeddings(const Node& node, Chain& chain) {
  Node& rows = chain.add("EmbeddedRows", {chain.at(0), chain.at(2), chain.at(3), chain.at(8),
                                          chain.at(1), chain.at(4)});
  rows.domain = node.domain;
  rows.name = node.name;
  if (node.outputs.size() > 1) rows.outputs.push_back(node.outputs[1]);
  chain.gives(2);
  Node& norm = chain.then("LayerNormalization", {chain.at(5), chain.at(6)});
  chain.set(norm, "epsilon", 1e-12f);
  chain.copy(norm, {"epsilon"});
}

// A product of bytes, in the form in which dynamic quantisers write it.
void write_integer_product(const Node& node, Chain& chain) {
  const bool is_given = node.type == "MatMulIntegerToFloat";
  std::string values = chain.at(0), scale = chain.at(2), zero = chain.at(4);
  const std::string weights = chain.at(1), weights_scale = chain.at(is_given ? 3 : 2),
                    weights_zero = chain.at(is_given ? 5 : 3), bias = chain.at(is_given ? 6 : 4);
  if (!is_given) {
    values = chain.add("DynamicQuantizeLinear", {values}).outputs[0];
    scale = chain.also("scale"), zero = chain.also("zero");
  }
  const std::string factor = chain.add("Mul", {scale, weights_scale}).outputs[0];
  chain.add("MatMulInteger", {values, weights, zero, weights_zero});
  Node& cast = chain.then("Cast");
  cast.attributes["to"].set_name("to");
  cast.attributes["to"].set_integer(1);  // FLOAT
  chain.then("Mul", {factor});
  chain.then_add(bias);
}

// The places come before the angles.
void write_rotation(const Node&, Chain& chain) {
  Node& turned = chain.add("RotaryEmbedding", {chain.at(0), chain.at(2), chain.at(3), chain.at(1)});
  chain.copy(turned, {"interleaved", "num_heads", "rotary_embedding_dim"});
}

struct FusedOperator {
  std::string_view type;
  void (*write)(const Node&, Chain&);
};

constexpr auto kFused = std::to_array<FusedOperator>({
    {"BiasGelu", write_gelu},
    {"DynamicQuantizeMatMul", write_integer_product},
    {"EmbedLayerNormalization", write_embeddings},
    {"FastGelu", write_gelu},
    {"FusedConv", write_conv},
    {"FusedGemm", write_gemm},
    {"Gelu", write_gelu},
    {"MatMulIntegerToFloat", write_integer_product},
    {"QuickGelu", write_quick_gelu},
    {"RotaryEmbedding", write_rotation},
    {"SkipLayerNormalization", write_skip_normalization},
    {"SkipSimplifiedLayerNormalization", write_skip_normalization},
});

const FusedOperator* find_fused(const Node& node) {
  if (node.domain != "com.microsoft") return nullptr;
  const auto found = std::ranges::find(kFused, node.type, &FusedOperator::type);
  return found == kFused.end() ? nullptr : &*found;
}

}  // namespace

bool is_fused(const Node& node) {
  if (node.type == "EmbedLayerNormalization") {
    for (const size_t needed : {2, 3, 5, 6})
      if (node.inputs.size() <= needed || node.inputs[needed].empty()) return false;
  }
  const auto activation = node.attributes.find("activation");
  constexpr auto kActivations = std::to_array<std::string_view>(
      {"", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"});
  return find_fused(node) != nullptr &&
         (activation == node.attributes.end() ||
          std::ranges::find(kActivations, activation->second.text()) != kActivations.end());
}

void write_out_fused(const Node& node, int64_t operator_set, std::vector<Node>& nodes) {
  Chain chain(node, operator_set, nodes);
  find_fused(node)->write(node, chain);
  chain.finish();
}

}  // namespace intarsia::onnx
