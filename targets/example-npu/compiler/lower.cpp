#include <map>

#include <fmt/format.h>

#include "commands.h"
#include "intarsia/plugin/tir_build.h"
#include "intrinsics.h"
#include "npu_kind.h"
#include "scaling.h"

namespace intarsia::targets::example_npu {
namespace {

using graph::TensorId;
using tir::Access;
using tir::BufferId;

class Lowering {
 public:
  Lowering(const graph::Module& module, const graph::Function& function)
      : module_(module), function_(function), builder_(function.name) {}

  Result<tir::LoweredFunction> run() {
    for (size_t i = 0; i < function_.inputs.size(); ++i)
      declare_parameter(function_.inputs[i], fmt::format("input{}", i), Access::Read);
    for (size_t i = 0; i < function_.outputs.size(); ++i)
      declare_parameter(function_.outputs[i], fmt::format("output{}", i), Access::Write);
    for (const graph::Node& node : function_.nodes) lower(node);

    tir::Func func = builder_.finish(tir::seq(std::move(body_)));
    func.node = function_.nodes.at(0).name;
    func.origin =
        fmt::format("{}: {} operators on example-npu", function_.name, function_.nodes.size());
    result_.entry = func.name;
    result_.module.funcs.push_back(std::move(func));
    return std::move(result_);
  }

 private:
  const graph::Tensor& tensor(TensorId id) const { return function_.tensor(id); }

  void declare_parameter(TensorId id, const std::string& name, Access access) {
    buffers_[id.index] = builder_.parameter(name, DataType::Int8, tensor(id).shape, access, kLanes);
  }

  // Parameters are declared; constants and tensors inside of the function are when first mentioned.
  BufferId buffer(TensorId id) {
    const auto [place, fresh] = buffers_.try_emplace(id.index, BufferId{});
    if (!fresh) return place->second;
    const graph::Tensor& t = tensor(id);
    if (t.constant.valid()) {
      const ConstantId constant{static_cast<int32_t>(result_.module.constants.size())};
      const std::string name = fmt::format("{}_constant{}", function_.name, constant.index);
      result_.module.constants.push_back({name, DataType::Int8, t.shape,
                                          module_.constant(t.constant).bytes,
                                          tir::ConstantUse::Stream});
      place->second = builder_.constant(name, DataType::Int8, t.shape, constant);
    } else {
      place->second =
          builder_.local(fmt::format("inner{}", id.index), DataType::Int8, t.shape, kLanes);
    }
    return place->second;
  }

  // Image `batch` of a tensor, or all of it.
  tir::BufferRun image(TensorId id, Access access, int64_t batch) {
    const Shape& shape = tensor(id).shape;
    std::vector<tir::Expr> start(shape.size(), tir::int_imm(0));
    start.at(0) = tir::int_imm(batch);
    return {buffer(id), std::move(start), element_count(shape) / shape.at(0), access};
  }
  tir::BufferRun whole(TensorId id, Access access) {
    const Shape& shape = tensor(id).shape;
    return {buffer(id), std::vector<tir::Expr>(shape.size(), tir::int_imm(0)), element_count(shape),
            access};
  }

  void emit(const graph::Node& node, const Intrinsic& intrinsic) {
    body_.push_back(tir::with_comment(one_line(node.name), to_statement(intrinsic)));
  }

  static std::string one_line(std::string name) {
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return name;
  }

  int64_t zero(TensorId id) const { return tensor(id).quantization.zero_point.at(0); }

  void lower(const graph::Node& node) {
    switch (node.kind) {
      case graph::OpKind::Add:
        return lower_add(node);
      case graph::OpKind::Mul:
        return lower_mul(node);
      case graph::OpKind::MaxPool2d:
        return lower_max_pool(node);
      default:
        INTARSIA_CHECK(false, "the partitioner hands over what the patterns took");
    }
  }

  // Zero points and clamp of an element-wise operator.
  void set_elementwise(const graph::Node& node, Intrinsic& intrinsic) const {
    const TensorId a = node.inputs[0], b = node.inputs[1], out = node.outputs[0];
    const auto clamp =
        clamp_of(node.attrs<graph::BinaryAttrs>().activation, tensor(out).quantization);
    intrinsic.fields["vectors"] = element_count(tensor(out).shape) / kLanes;
    intrinsic.fields["zero_a"] = zero(a);
    intrinsic.fields["zero_b"] = zero(b);
    intrinsic.fields["zero_out"] = zero(out);
    intrinsic.fields["low"] = clamp->low;
    intrinsic.fields["high"] = clamp->high;
  }

  void lower_add(const graph::Node& node) {
    const TensorId a = node.inputs[0], b = node.inputs[1], out = node.outputs[0];
    Intrinsic add{"add", {}, {}};
    add.runs = {whole(a, Access::Read), whole(b, Access::Read), whole(out, Access::Write)};
    set_elementwise(node, add);
    const AddFactors factors = add_factors(tensor(a), tensor(b), tensor(out));
    add.fields["multiplier_a"] = factors.a.multiplier;
    add.fields["multiplier_b"] = factors.b.multiplier;
    add.fields["multiplier_out"] = factors.out.multiplier;
    add.fields["shift_a"] = factors.a.right_shift;
    add.fields["shift_b"] = factors.b.right_shift;
    add.fields["shift_out"] = factors.out.right_shift;
    emit(node, add);
  }

  void lower_mul(const graph::Node& node) {
    const TensorId a = node.inputs[0], b = node.inputs[1], out = node.outputs[0];
    Intrinsic mul{"mul", {}, {}};
    mul.runs = {whole(a, Access::Read), whole(b, Access::Read), whole(out, Access::Write)};
    set_elementwise(node, mul);
    const Factor factor = mul_factor(tensor(a), tensor(b), tensor(out));
    mul.fields["multiplier"] = factor.multiplier;
    mul.fields["left_shift"] = factor.left_shift;
    mul.fields["shift"] = factor.right_shift;
    emit(node, mul);
  }

  void lower_max_pool(const graph::Node& node) {
    const TensorId in = node.inputs[0], out = node.outputs[0];
    const auto& attrs = node.attrs<graph::Pool2dAttrs>();
    const Shape &from = tensor(in).shape, &to = tensor(out).shape;
    const auto clamp = clamp_of(attrs.activation, tensor(out).quantization);
    for (int64_t batch = 0; batch < from.at(0); ++batch) {
      Intrinsic pool{"max_pool", {}, {}};
      pool.runs = {image(in, Access::Read, batch), image(out, Access::Write, batch)};
      pool.fields = {{"in_height", from.at(1)},
                     {"in_width", from.at(2)},
                     {"out_height", to.at(1)},
                     {"out_width", to.at(2)},
                     {"channel_vectors", from.at(3) / kLanes},
                     {"low", clamp->low},
                     {"high", clamp->high},
                     {"filter_height", attrs.filter_h},
                     {"filter_width", attrs.filter_w},
                     {"stride_height", attrs.stride_h},
                     {"stride_width", attrs.stride_w},
                     {"pad_top", attrs.padding.top},
                     {"pad_left", attrs.padding.left}};
      emit(node, pool);
    }
  }

  const graph::Module& module_;
  const graph::Function& function_;
  tir::FuncBuilder builder_;
  std::map<int32_t, BufferId> buffers_;
  std::vector<tir::Stmt> body_;
  tir::LoweredFunction result_;
};

}  // namespace

Result<tir::LoweredFunction> lower(const graph::Module& module, const graph::Function& function) {
  return Lowering(module, function).run();
}

}  // namespace intarsia::targets::example_npu
