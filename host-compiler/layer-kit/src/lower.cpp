#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/layers/layer_target.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::layers {
namespace {

using graph::TensorId;
using tir::Access;

constexpr int32_t kAlignment =
    16;  // of the widest loads of libraries that read any address faster than others

class LayerLowering {
 public:
  LayerLowering(const Library& library, const graph::Module& module,
                const graph::Function& function)
      : library_(library), module_(module), function_(function), builder_(function.name) {}

  tir::LoweredFunction run() {
    for (size_t i = 0; i < function_.inputs.size(); ++i)
      declare(function_.inputs[i], fmt::format("input{}", i), Access::Read);
    for (size_t i = 0; i < function_.outputs.size(); ++i)
      declare(function_.outputs[i], fmt::format("output{}", i), Access::Write);
    for (const LayerOfNodes& layer : fused_layers(library_, function_)) lower(layer);

    tir::Func func = builder_.finish(tir::seq(std::move(body_)));
    func.node = function_.nodes.at(0).name;
    func.origin = fmt::format("{}: {} operators on {}", function_.name, function_.nodes.size(),
                              library_.name);
    func.stepwise = true;
    for (const graph::Node& node : function_.nodes) func.macs += graph::mac_count(function_, node);
    result_.entry = func.name;
    result_.module.funcs.push_back(std::move(func));
    return std::move(result_);
  }

 private:
  const graph::Tensor& tensor(TensorId id) const { return function_.tensor(id); }

  void declare(TensorId id, const std::string& name, Access access) {
    buffers_[id.index] =
        builder_.parameter(name, tensor(id).type, tensor(id).shape, access, kAlignment);
  }

  // Parameters are declared; constants and tensors inside of the function are when first mentioned.
  tir::BufferId buffer(TensorId id) {
    const auto [place, fresh] = buffers_.try_emplace(id.index, tir::BufferId{});
    if (!fresh) return place->second;
    const graph::Tensor& t = tensor(id);
    if (t.constant.valid()) {
      const ConstantId constant{static_cast<int32_t>(result_.module.constants.size())};
      const std::string name = fmt::format("{}_constant{}", function_.name, constant.index);
      result_.module.constants.push_back(
          {name, t.type, t.shape, module_.constant(t.constant).bytes, tir::ConstantUse::Stream});
      place->second = builder_.constant(name, t.type, t.shape, constant);
    } else {
      place->second = builder_.local(fmt::format("inner{}", id.index), t.type, t.shape, kAlignment);
    }
    return place->second;
  }

  tir::BufferRun whole(TensorId id, Access access) {
    const Shape& shape = tensor(id).shape;
    return {buffer(id), std::vector<tir::Expr>(shape.size(), tir::int_imm(0)), element_count(shape),
            access};
  }

  // The scales of a layer's weights, which are no tensor of the function.
  tir::BufferRun scales(const std::vector<float>& values) {
    const ConstantId constant{static_cast<int32_t>(result_.module.constants.size())};
    const std::string name = fmt::format("{}_constant{}", function_.name, constant.index);
    const Shape shape = {static_cast<int64_t>(values.size())};
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    result_.module.constants.push_back(
        {name, DataType::Float32, shape, std::move(bytes), tir::ConstantUse::Stream});
    return {builder_.constant(name, DataType::Float32, shape, constant),
            {tir::int_imm(0)},
            shape[0],
            Access::Read};
  }

  // "conv_1, add_2", on one line whatever names hold.
  std::string names_of(const LayerOfNodes& layer) const {
    std::string text;
    for (const graph::NodeId id : layer.nodes)
      text += (text.empty() ? "" : ", ") + function_.nodes[id.at()].name;
    for (char& c : text)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return text;
  }

  // Which operands there are, the words, and the operands' buffers.
  void lower(const LayerOfNodes& layer) {
    std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
    operands.push_back(tir::int_imm(layer.layer.operands));
    for (const int32_t word : words_of(layer.layer)) operands.push_back(tir::int_imm(word));
    for (size_t i = 0; i < layer.operands.size(); ++i) {
      if (static_cast<Operand>(i) == Operand::scales && !layer.weight_scales.empty())
        operands.push_back(scales(layer.weight_scales));
      if (!layer.operands[i].valid()) continue;
      const bool writes = static_cast<Operand>(i) == Operand::result;
      operands.push_back(whole(layer.operands[i], writes ? Access::Write : Access::Read));
    }
    const std::string name = fmt::format("{}.{}", library_.name, to_string(layer.layer.what()));
    body_.push_back(tir::with_comment(names_of(layer), tir::intrinsic(name, std::move(operands))));
  }

  const Library& library_;
  const graph::Module& module_;
  const graph::Function& function_;
  tir::FuncBuilder builder_;
  std::map<int32_t, tir::BufferId> buffers_;
  std::vector<tir::Stmt> body_;
  tir::LoweredFunction result_;
};

Reason refuses_node(const Library& library, bool int8, const PatternMatch& match) {
  LayerOfNodes layer;
  const graph::Node& node = match.function.nodes.at(match.nodes.at(0).at());
  if (!int8 && match.function.tensor(node.inputs.at(0)).type == DataType::Int8)
    return fmt::format("'{}' is i8; layers of float32 are taken{}",
                       match.function.tensor(node.inputs[0]).name,
                       library.int8 ? ", with -int8=false" : "");
  if (Reason reason = make_layer(match.function, match.nodes.at(0), layer)) return reason;
  return library.refuses(layer.layer);
}

// Every operator that make_layer knows.
constexpr graph::OpKind kKinds[] = {graph::OpKind::Conv2d,
                                    graph::OpKind::DepthwiseConv2d,
                                    graph::OpKind::FullyConnected,
                                    graph::OpKind::MaxPool2d,
                                    graph::OpKind::AveragePool2d,
                                    graph::OpKind::Mean,
                                    graph::OpKind::Softmax,
                                    graph::OpKind::Add,
                                    graph::OpKind::Sub,
                                    graph::OpKind::Mul,
                                    graph::OpKind::Div,
                                    graph::OpKind::Minimum,
                                    graph::OpKind::Maximum,
                                    graph::OpKind::Relu,
                                    graph::OpKind::LeakyRelu,
                                    graph::OpKind::Logistic,
                                    graph::OpKind::Tanh,
                                    graph::OpKind::Elu,
                                    graph::OpKind::HardSwish,
                                    graph::OpKind::Gelu,
                                    graph::OpKind::Abs,
                                    graph::OpKind::Square,
                                    graph::OpKind::Sqrt,
                                    graph::OpKind::Exp,
                                    graph::OpKind::Log,
                                    graph::OpKind::Neg};

}  // namespace

std::vector<Pattern> patterns(const Library& library, bool int8) {
  std::vector<Pattern> all;
  for (const graph::OpKind kind : kKinds)
    all.push_back(
        {std::string(graph::to_string(kind)), {kind}, [library, int8](const PatternMatch& match) {
           return refuses_node(library, int8, match);
         }});
  return all;
}

Result<tir::LoweredFunction> lower(const Library& library, const graph::Module& module,
                                   const graph::Function& function) {
  return LayerLowering(library, module, function).run();
}

std::vector<std::string> notes(const Library& library, const graph::Function& function) {
  std::vector<std::string> lines;
  size_t rounded = 0;
  for (const LayerOfNodes& layer : fused_layers(library, function)) {
    std::vector<std::string_view> names;
    for (const graph::NodeId id : layer.nodes) {
      const graph::Node& node = function.nodes[id.at()];
      names.push_back(node.name);
      if (layer.layer.is_int8() && largest_steps(node.kind) > 0) ++rounded;
    }
    if (names.size() > 1) lines.push_back(fmt::format("{} are one call", fmt::join(names, " + ")));
  }
  if (rounded > 0)
    lines.push_back(fmt::format(
        "int8 results of {} operator{} may be a step from the reference's on the same operands "
        "(-int8=false leaves them to the host)",
        rounded, rounded == 1 ? "" : "s"));
  return lines;
}

}  // namespace intarsia::layers
