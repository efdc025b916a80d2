// The format that this vendor's tools read: JSON, layers in their order, tensors by name, images with channels last, weights as
// the hexadecimal digits of their little-endian bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layer_sdk_kind.h"

namespace intarsia::targets::layer_sdk {
namespace {

using graph::OpKind;

class Export {
 public:
  Export(const graph::Module& module, const graph::Function& function)
      : module_(module), function_(function) {}

  std::string run() {
    std::string text = "{\n  \"format\": \"layer-sdk\", \"version\": 1,\n";
    text += fmt::format("  \"inputs\": [{}],\n  \"outputs\": [{}],\n", tensors(function_.inputs),
                        tensors(function_.outputs));
    std::vector<std::string> layers;
    for (const graph::Node& node : function_.nodes) layers.push_back("    " + layer(node));
    return text + fmt::format("  \"layers\": [\n{}\n  ]\n}}\n", fmt::join(layers, ",\n"));
  }

 private:
  // Names of tensors may be anything, and need not be unique.
  static std::string name(graph::TensorId id) { return fmt::format("\"t{}\"", id.index); }

  std::string tensors(const std::vector<graph::TensorId>& ids) const {
    std::vector<std::string> items;
    for (const graph::TensorId id : ids)
      items.push_back(fmt::format("{{\"name\": {}, \"shape\": [{}]}}", name(id),
                                  fmt::join(function_.tensor(id).shape, ", ")));
    return fmt::format("{}", fmt::join(items, ", "));
  }

  std::string weights(const char* key, const graph::Node& node, size_t operand) const {
    if (operand >= node.inputs.size() || !node.inputs[operand].valid()) return "";
    const graph::Tensor& tensor = function_.tensor(node.inputs[operand]);
    std::string digits;
    for (const uint8_t byte : module_.constant(tensor.constant).bytes)
      digits += fmt::format("{:02x}", byte);
    return fmt::format(", \"{}\": {{\"shape\": [{}], \"data\": \"{}\"}}", key,
                       fmt::join(tensor.shape, ", "), digits);
  }

  template <typename Attrs>
  static std::string window(const Attrs& attrs) {
    const graph::Padding2d& pad = attrs.padding;
    return fmt::format(", \"strides\": [{}, {}], \"padding\": [{}, {}, {}, {}]", attrs.stride_h,
                       attrs.stride_w, pad.top, pad.left, pad.bottom, pad.right);
  }

  std::string details(const graph::Node& node) const {
    switch (node.kind) {
      case OpKind::Conv2d: {
        const auto& attrs = node.attrs<graph::Conv2dAttrs>();
        return window(attrs) +
               fmt::format(", \"dilations\": [{}, {}]", attrs.dilation_h, attrs.dilation_w) +
               activation(attrs.activation) + weights("weights", node, 1) +
               weights("bias", node, 2);
      }
      case OpKind::FullyConnected:
        return activation(node.attrs<graph::FullyConnectedAttrs>().activation) +
               weights("weights", node, 1) + weights("bias", node, 2);
      case OpKind::MaxPool2d:
      case OpKind::AveragePool2d: {
        const auto& attrs = node.attrs<graph::Pool2dAttrs>();
        return window(attrs) +
               fmt::format(", \"window\": [{}, {}]", attrs.filter_h, attrs.filter_w) +
               activation(attrs.activation);
      }
      case OpKind::Add:
        return activation(node.attrs<graph::BinaryAttrs>().activation);
      default:
        return "";
    }
  }

  static std::string activation(graph::Activation which) {
    return fmt::format(", \"activation\": \"{}\"", graph::to_string(which));
  }

  std::string layer(const graph::Node& node) const {
    std::vector<std::string> operands;
    for (const graph::TensorId id : node.inputs)
      if (id.valid() && !function_.tensor(id).constant.valid()) operands.push_back(name(id));
    const graph::TensorId out = node.outputs.at(0);
    return fmt::format("{{\"type\": \"{}\", \"inputs\": [{}], \"output\": {}, \"shape\": [{}]{}}}",
                       graph::to_string(node.kind), fmt::join(operands, ", "), name(out),
                       fmt::join(function_.tensor(out).shape, ", "), details(node));
  }

  const graph::Module& module_;
  const graph::Function& function_;
};

}  // namespace

std::string network_text(const graph::Module& module, const graph::Function& function) {
  return Export(module, function).run();
}

}  // namespace intarsia::targets::layer_sdk
