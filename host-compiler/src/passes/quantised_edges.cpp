#include "passes/quantised_edges.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "passes/graph_edit.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

// Real values stay what they are when bytes of `from` become bytes of `to` by subtracting or adding 128.
bool is_shifted_by_128(const Tensor& from, const Tensor& to) {
  const Tensor& narrow = from.type == DataType::UInt8 ? from : to;
  const Tensor& wide = from.type == DataType::UInt8 ? to : from;
  return narrow.type == DataType::UInt8 && wide.type == DataType::Int8 &&
         from.quantization.present() && !from.quantization.per_channel() &&
         from.quantization.scale == to.quantization.scale &&
         wide.quantization.zero_point[0] == narrow.quantization.zero_point[0] - 128;
}

// One input or output at a time; `uses` is made again after each change.
class Edges {
 public:
  explicit Edges(graph::Module& module)
      : function_(*std::find_if(module.functions.begin(), module.functions.end(),
                                [&](const Function& f) { return f.name == module.entry; })),
        uses_(function_) {}

  // Empty when the input is of signed bytes in the end, else why it cannot be.
  std::string input(size_t index) {
    const TensorId x = function_.inputs[index];
    if (tensor(x).type == DataType::Int8) return "";
    Readers readers;
    std::string reason = follow(x, readers);
    if (!reason.empty()) return reason;
    const graph::Quantization quantization = tensor(readers.made.front()).quantization;
    for (const TensorId made : readers.made)
      if (tensor(made).quantization != quantization)
        return "what reads it is quantised in more than one way";
    Tensor& edge = function_.tensors[x.at()];
    edge.type = DataType::Int8;
    edge.quantization = quantization;
    for (const TensorId made : readers.made) replace_reads(function_, made, x);
    erase(readers.conversions);
    return "";
  }

  // The same of an output.
  std::string output(size_t index) {
    const TensorId y = function_.outputs[index];
    if (tensor(y).type == DataType::Int8) return "";
    TensorId source = y;
    while (tensor(source).type != DataType::Int8) {
      std::string reason = step_back(source);
      if (!reason.empty()) return reason;
    }
    // An edge has a name of its own: what is an edge already is copied.
    if (uses_.is_input(source) || uses_.is_output(source))
      source = copy_of(source, tensor(y).name);
    else
      function_.tensors[source.at()].name = tensor(y).name;
    function_.outputs[index] = source;
    uses_ = Uses(function_);
    drop_unread(y);
    return "";
  }

 private:
  struct Readers {
    std::set<size_t> conversions;  // nodes
    std::vector<TensorId> made;    // their results of signed bytes
  };

  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }

  std::string what(const Node& node) const {
    return fmt::format("'{}' ({})", node.name, graph::to_string(node.kind));
  }

  // Everything that reads an input, up to signed bytes.
  std::string follow(TensorId x, Readers& readers) const {
    const Tensor& from = tensor(x);
    if (from.type != DataType::Float32 && from.type != DataType::UInt8)
      return "neither floats nor unsigned bytes are converted there";
    if (uses_.is_output(x)) return "it is an output of the model too";
    if (uses_.readers(x).empty()) return "no operator reads it";
    for (const size_t n : uses_.readers(x)) {
      const Node& node = function_.nodes[n];
      if (node.kind != OpKind::Quantize)
        return fmt::format("{} reads it, which is no conversion to i8", what(node));
      if (has_programs(std::span(function_.nodes).first(n)))
        return fmt::format("a program of another compiler runs before {}", what(node));
      const TensorId y = node.outputs[0];
      const Tensor& to = tensor(y);
      if (to.variable || uses_.is_output(y))
        return fmt::format("the result of {} is state or an output of the model", what(node));
      readers.conversions.insert(n);
      if (from.type == DataType::Float32 && to.type == DataType::UInt8) {
        if (std::string reason = follow(y, readers); !reason.empty()) return reason;
        continue;
      }
      if (to.type != DataType::Int8)
        return fmt::format("{} makes {} of it", what(node), to_string(to.type));
      if (to.quantization.per_channel())
        return fmt::format("{} quantises it channel by channel", what(node));
      if (from.type == DataType::UInt8 && !is_shifted_by_128(from, to))
        return fmt::format("{} does more than to subtract 128 from each byte", what(node));
      readers.made.push_back(y);
    }
    return "";
  }

  // From the result of a conversion to its operand.
  std::string step_back(TensorId& y) const {
    const Tensor& to = tensor(y);
    if (to.type != DataType::Float32 && to.type != DataType::UInt8)
      return "neither floats nor unsigned bytes are converted there";
    const int producer = uses_.producer(y);
    if (producer < 0 || to.variable) return "no operator computes it";
    const Node& node = function_.nodes[static_cast<size_t>(producer)];
    if (has_programs(std::span(function_.nodes).subspan(static_cast<size_t>(producer))))
      return fmt::format("a program of another compiler runs after {}", what(node));
    const bool to_floats = to.type == DataType::Float32;
    if (node.kind != (to_floats ? OpKind::Dequantize : OpKind::Quantize))
      return fmt::format("{} computes it, which is no conversion from i8", what(node));
    const Tensor& from = tensor(node.inputs[0]);
    if (from.constant.valid() || from.variable)
      return fmt::format("{} converts a constant or state", what(node));
    if (from.quantization.per_channel())
      return fmt::format("{} converts it channel by channel", what(node));
    const bool known = from.type == DataType::Int8 || (to_floats && from.type == DataType::UInt8);
    if (!known) return fmt::format("{} makes it of {}", what(node), to_string(from.type));
    if (!to_floats && !is_shifted_by_128(from, to))
      return fmt::format("{} does more than to add 128 to each byte", what(node));
    y = node.inputs[0];
    return "";
  }

  TensorId copy_of(TensorId source, const std::string& name) {
    Tensor tensor = function_.tensor(source);
    tensor.name = name;
    Node copy;
    copy.name = free_name(function_, name + "_copy");
    copy.kind = OpKind::Reshape;
    copy.attributes = graph::ReshapeAttrs{tensor.shape};
    copy.inputs = {source};
    copy.outputs = {add_tensor(function_, std::move(tensor))};
    function_.nodes.push_back(copy);
    return copy.outputs[0];
  }

  // The conversions that made an earlier output, as far back as nobody reads them any more.
  void drop_unread(TensorId y) {
    while (uses_.readers(y).empty() && !uses_.is_output(y)) {
      const int producer = uses_.producer(y);
      if (producer < 0) return;
      const Node& node = function_.nodes[static_cast<size_t>(producer)];
      if (node.kind != OpKind::Dequantize && node.kind != OpKind::Quantize) return;
      y = node.inputs[0];
      erase({static_cast<size_t>(producer)});
    }
  }

  void erase(const std::set<size_t>& nodes) {
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n)
      function_.nodes.erase(function_.nodes.begin() + static_cast<int64_t>(*n));
    uses_ = Uses(function_);
  }

  Function& function_;
  Uses uses_;
};

}  // namespace

QuantisedEdges quantised_edges(const graph::Module& module) {
  QuantisedEdges result{module, {}};
  const Function& before = module.entry_function();
  Edges edges(result.module);
  const auto note = [&](const char* edge, TensorId id, const std::string& reason) {
    const Tensor& tensor = before.tensor(id);
    if (!reason.empty())
      result.kept.add(fmt::format("{}: {} '{}'", module.name, edge, tensor.name),
                      fmt::format("stays {}: {}", to_string(tensor.type), reason));
  };
  for (size_t i = 0; i < before.inputs.size(); ++i) note("input", before.inputs[i], edges.input(i));
  for (size_t i = 0; i < before.outputs.size(); ++i)
    note("output", before.outputs[i], edges.output(i));
  drop_unused(result.module);
  return result;
}

}  // namespace intarsia::passes
