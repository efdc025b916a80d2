#include <fmt/format.h>

#include "intarsia/plugin/tir_build.h"
#include "layer_sdk_kind.h"

namespace intarsia::targets::layer_sdk {
namespace {

// All of the layers are one step: the library keeps what is between them.
class Lowering {
 public:
  Lowering(const graph::Module& module, const graph::Function& function)
      : module_(module), function_(function), builder_(function.name) {}

  tir::LoweredFunction run() {
    for (const graph::TensorId id : function_.inputs) declare(id, "input", tir::Access::Read);
    for (const graph::TensorId id : function_.outputs) declare(id, "output", tir::Access::Write);
    const std::string text = network_text(module_, function_);
    tir::LoweredFunction result;
    const Shape extents = {static_cast<int64_t>(text.size())};
    const std::string name = function_.name + "_network";
    result.module.constants.push_back({name, DataType::Int8, extents,
                                       std::vector<uint8_t>(text.begin(), text.end()),
                                       tir::ConstantUse::Stream});
    const tir::BufferId network =
        builder_.constant("network", DataType::Int8, extents, ConstantId{0});
    operands_.insert(operands_.begin(),
                     tir::BufferRun{network, {tir::int_imm(0)}, extents[0], tir::Access::Read});
    tir::Func func = builder_.finish(tir::intrinsic(std::string(kNetwork), std::move(operands_)));
    func.stepwise = true;
    func.node = function_.nodes.at(0).name;
    func.origin = fmt::format("{}: {} layers", function_.name, function_.nodes.size());
    result.entry = func.name;
    result.module.funcs.push_back(std::move(func));
    return result;
  }

 private:
  void declare(graph::TensorId id, const char* what, tir::Access access) {
    const Shape& shape = function_.tensor(id).shape;
    const tir::BufferId buffer = builder_.parameter(fmt::format("{}{}", what, operands_.size()),
                                                    DataType::Float32, shape, access, 16);
    operands_.push_back(tir::BufferRun{buffer,
                                       std::vector<tir::Expr>(shape.size(), tir::int_imm(0)),
                                       element_count(shape), access});
  }

  const graph::Module& module_;
  const graph::Function& function_;
  tir::FuncBuilder builder_;
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands_;
};

}  // namespace

Result<tir::LoweredFunction> lower(const graph::Module& module, const graph::Function& function) {
  if (function.inputs.size() > static_cast<size_t>(kMaxTensors) ||
      function.outputs.size() > static_cast<size_t>(kMaxTensors))
    return Diagnostics(function.name,
                       fmt::format("has more than {} inputs or outputs", kMaxTensors),
                       "pin some of its operators to the host");
  return Lowering(module, function).run();
}

}  // namespace intarsia::targets::layer_sdk
