#include "encode/to_tir.h"

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/intrinsics.h"
#include "encode/registers.h"
#include "hardware/memory_systems.h"
#include "intarsia/plugin/kept_state.h"
#include "intarsia/plugin/rounding.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::ethos_u {
namespace {

using tir::Access;
using tir::BufferId;

constexpr int32_t kAlignment = static_cast<int32_t>(kStreamAlignment);

class Writer {
 public:
  Writer(const Hardware& hardware, const graph::Module& module, const graph::Function& function,
         const Program& program, const Schedule& schedule, const std::string& slow_memory)
      : hardware_(hardware),
        module_(module),
        function_(function),
        program_(program),
        schedule_(schedule),
        slow_memory_(slow_memory),
        builder_(function.name),
        buffers_(schedule.storages.size()) {}

  tir::LoweredFunction run() {
    declare_parameters();
    // What becomes a parameter where functions are put together comes before constants, so that nobody has another number then:
    // renaming copies every command.
    for (const bool is_constant : {false, true})
      for (size_t i = 0; i < schedule_.storages.size(); ++i)
        if ((schedule_.storages[i].kind == Storage::Kind::Constant) == is_constant) declare(i);
    std::vector<tir::Stmt> body;
    for (const Step& step : schedule_.steps) body.push_back(statement(step));
    tir::Func func = builder_.finish(tir::seq(std::move(body)));
    func.stepwise = true;
    func.node = function_.nodes.at(0).name;
    func.origin = fmt::format("{}: {} operators as {} operations on {}", function_.name,
                              function_.nodes.size(), program_.operations.size(), hardware_.tag);
    result_.entry = func.name;
    result_.module.funcs.push_back(std::move(func));
    return std::move(result_);
  }

 private:
  static std::string one_line(std::string name) {
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return name;
  }

  void declare_parameters() {
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      const graph::Tensor& tensor = function_.tensor(function_.inputs[i]);
      inputs_.push_back(builder_.parameter(fmt::format("input{}", i), tensor.type, tensor.shape,
                                           Access::Read, kAlignment));
    }
    for (size_t i = 0; i < function_.outputs.size(); ++i) {
      const graph::Tensor& tensor = function_.tensor(function_.outputs[i]);
      outputs_.push_back(builder_.parameter(fmt::format("output{}", i), tensor.type, tensor.shape,
                                            Access::Write, kAlignment));
    }
  }

  void declare(size_t index) {
    const Storage& storage = schedule_.storages[index];
    const auto parameter = static_cast<size_t>(storage.parameter);
    switch (storage.kind) {
      case Storage::Kind::Input:
        buffers_[index] = inputs_.at(parameter);
        return;
      case Storage::Kind::Output:
        buffers_[index] = outputs_.at(parameter);
        return;
      case Storage::Kind::Inner:
        buffers_[index] = builder_.local(fmt::format("inner{}", index), DataType::Int8,
                                         {storage.bytes}, kAlignment);
        builder_.func().buffers.back().memory = storage.fast ? kOwnSram : slow_memory_;
        return;
      case Storage::Kind::State:
        buffers_[index] = declare_state({storage.parameter});
        return;
      case Storage::Kind::Constant: {
        const ConstantId id{static_cast<int32_t>(result_.module.constants.size())};
        const std::string name = fmt::format("{}_constant{}", function_.name, id.index);
        result_.module.constants.push_back(
            {name, DataType::Int8, {storage.bytes}, storage.contents, tir::ConstantUse::Stream});
        buffers_[index] = builder_.constant(name, DataType::Int8, {storage.bytes}, id);
      }
    }
  }

  BufferId declare_state(graph::TensorId id) {
    const graph::Tensor& tensor = function_.tensor(id);
    const BufferId made = builder_.local(state_name(id), tensor.type, tensor.shape, kAlignment);
    tir::Buffer& buffer = builder_.func().buffers.back();
    buffer.memory = slow_memory_;
    buffer.initial = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
    if (tensor.initial.valid()) {
      buffer.initial_values = {static_cast<int32_t>(result_.module.constants.size())};
      result_.module.constants.push_back({fmt::format("{}_initial{}", function_.name, id.index),
                                          tensor.type, tensor.shape,
                                          module_.constant(tensor.initial).bytes});
    }
    return made;
  }

  // The elements that hold these bytes.
  tir::BufferRun run_of(const Span& span, Access access) {
    const BufferId id = buffers_.at(static_cast<size_t>(span.storage));
    const tir::Buffer& buffer = builder_.func().buffer(id);
    const int64_t size = element_bytes(buffer.type);
    int64_t element = span.offset / size;
    const int64_t count = ceil_div(span.offset + span.bytes, size) - element;
    std::vector<tir::Expr> start(buffer.extents.size(), tir::int_imm(0));
    for (size_t axis = start.size(); axis-- > 0;) {
      start[axis] = tir::int_imm(element % buffer.extents[axis]);
      element /= buffer.extents[axis];
    }
    return {id, std::move(start), count, access};
  }

  tir::Stmt statement(const Step& step) {
    Intrinsic intrinsic;
    const auto touch = [&](std::string_view base, const Span& span, Access access) {
      intrinsic.memory.push_back({command_named(base).code, run_of(span, access)});
    };
    Encoded encoded;
    if (step.operation < 0) {
      touch("SET_DMA0_SRC", step.from, Access::Read);
      if (step.to.storage >= 0) touch("SET_DMA0_DST", step.to, Access::Write);
      encoded = encode_transfer(step);
    } else {
      touch("SET_IFM_BASE0", step.ifm.span, Access::Read);
      if (step.ifm2) touch("SET_IFM2_BASE0", step.ifm2->span, Access::Read);
      for (size_t core = 0; core < step.weights.size(); ++core) {
        // A core without channels reads nothing, but its registers name a place.
        const size_t shown = step.weights[core].bytes > 0 ? core : 0;
        touch(core == 0 ? "SET_WEIGHT_BASE" : "SET_WEIGHT1_BASE", step.weights[shown],
              Access::Read);
        touch(core == 0 ? "SET_SCALE_BASE" : "SET_SCALE1_BASE", step.scales[shown], Access::Read);
      }
      touch("SET_OFM_BASE0", step.ofm.span, Access::Write);
      for (const int32_t storage : step.reserved)
        touch("SET_DMA0_DST",
              {storage, 0, schedule_.storages.at(static_cast<size_t>(storage)).bytes},
              Access::Write);
      encoded = encode_operation(
          hardware_, schedule_.operations.at(static_cast<size_t>(step.operation)), step);
    }
    intrinsic.registers = std::move(encoded.registers);
    intrinsic.operation = encoded.operation;
    intrinsic.parameter = encoded.parameter;
    return statements_.of(intrinsic, one_line(step.node));
  }

  const Hardware& hardware_;
  const graph::Module& module_;
  const graph::Function& function_;
  const Program& program_;
  const Schedule& schedule_;
  const std::string& slow_memory_;
  tir::FuncBuilder builder_;
  tir::LoweredFunction result_;
  Statements statements_;
  std::vector<BufferId> inputs_, outputs_, buffers_;
};

}  // namespace

tir::LoweredFunction to_tir(const Hardware& hardware, const graph::Module& module,
                            const graph::Function& function, const Program& program,
                            const Schedule& schedule, const std::string& slow_memory) {
  return Writer(hardware, module, function, program, schedule, slow_memory).run();
}

}  // namespace intarsia::targets::ethos_u
