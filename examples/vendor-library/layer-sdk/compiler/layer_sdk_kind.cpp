#include "layer_sdk_kind.h"

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"

namespace intarsia::targets::layer_sdk {
namespace {

using graph::OpKind;
using Reason = std::optional<std::string>;

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "layer-sdk";
  spec.summary = "a vendor's library that reads networks of single-precision layers";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("macs-per-cycle", 64, 1, 65536, "for the cost policy")};
  return spec;
}

// What the library says of any layer.
Reason refuses_layer(const PatternMatch& match) {
  const graph::Node& node = match.node();
  for (const graph::TensorId id : node.inputs) {
    if (!id.valid()) continue;
    const graph::Tensor& tensor = match.function.tensor(id);
    if (tensor.type != DataType::Float32)
      return fmt::format("its schemes of quantisation are not those of '{}': it takes f32",
                         tensor.name);
    if (tensor.variable) return std::string("it keeps no state between runs");
  }
  return std::nullopt;
}

// Layers with weights of their own, which the file holds.
Reason refuses_weights(const PatternMatch& match) {
  for (size_t i = 1; i < match.node().inputs.size(); ++i)
    if (match.node().inputs[i].valid() && !match.input(i).constant.valid())
      return std::string("its weights are computed by the network");
  return refuses_layer(match);
}

Reason refuses_conv(const PatternMatch& match) {
  if (match.input(0).shape.at(3) != match.input(1).shape.at(3))
    return std::string("it has no groups");
  return refuses_weights(match);
}

Reason refuses_sum(const PatternMatch& match) {
  if (match.input(0).shape != match.input(1).shape)
    return std::string("its operands need broadcasting");
  if (match.input(0).constant.valid() || match.input(1).constant.valid())
    return std::string("an operand is a constant");
  return refuses_layer(match);
}

Reason refuses_softmax(const PatternMatch& match) {
  const float beta = match.node().attrs<graph::SoftmaxAttrs>().beta;
  if (beta != 1.0f) return fmt::format("its softmax has no factor {}", beta);
  return refuses_layer(match);
}

std::vector<Pattern> patterns(const Target&) {
  return {{"conv2d", {OpKind::Conv2d}, refuses_conv},
          {"fully_connected", {OpKind::FullyConnected}, refuses_weights},
          {"max_pool2d", {OpKind::MaxPool2d}, refuses_layer},
          {"average_pool2d", {OpKind::AveragePool2d}, refuses_layer},
          {"add", {OpKind::Add}, refuses_sum},
          {"relu", {OpKind::Relu}, refuses_layer},
          {"reshape", {OpKind::Reshape}, refuses_layer},
          {"softmax", {OpKind::Softmax}, refuses_softmax}};
}

CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                  const graph::Node& node) {
  const auto macs = static_cast<double>(graph::mac_count(function, node));
  const auto moved = static_cast<double>(element_count(function.tensor(node.outputs[0]).shape));
  return {(macs + moved) / static_cast<double>(target.get_int("macs-per-cycle")), 500};
}

DeviceDriver driver(const Target&) {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/layer_sdk/driver.h",
          .driver_type = "struct intarsia_layer_sdk",
          .open_function = "intarsia_layer_sdk_open",
          .has_registers = false,
          .link_libraries = {}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = patterns;
  kind.graph_to_tir = [](const Target&, const graph::Module& module,
                         const graph::Function& function,
                         const LoweringOptions&) { return lower(module, function); };
  kind.tir_to_runtime = make_streams;
  kind.cost = sum_of_operators(cost);
  kind.driver = driver;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::layer_sdk
