#include "executable/executable_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emission/package_contract.h"
#include "executable/constant_block.h"
#include "intarsia/contract/program_format.h"
#include "intarsia/contract/version.h"
#include "packaging/stream_memory.h"
#include "support/fingerprint.h"
#include "tir/function_index.h"

namespace intarsia::executable {
namespace {

struct Place {
  uint32_t segment = 0, offset = 0;
};

class ProgramWriter {
 public:
  ProgramWriter(const CompiledProgram& compiled, const TargetRegistry& registry)
      : compiled_(compiled),
        registry_(registry),
        schedule_(compiled.lowered.entry_func()),
        functions_(compiled.lowered) {
    for (size_t i = 0; i < compiled.emitted.streams.size(); ++i)
      streams_[compiled.emitted.streams[i].func] = static_cast<uint32_t>(i);
  }

  Result<ExecutableModel> run() {
    const EmittedModel& emitted = compiled_.emitted;
    if (compiled_.plan.memory.pools.size() > INTARSIA_PROGRAM_MAX_MEMORIES)
      return refused(
          fmt::format("the board has more than {} memories", INTARSIA_PROGRAM_MAX_MEMORIES));
    if (compiled_.plan.alignment > int64_t{INTARSIA_PROGRAM_MAX_ALIGNMENT})
      return refused("a device asks for memory that is aligned to more than 32 bytes");
    INTARSIA_TRY_VOID(statement(schedule_.body));
    INTARSIA_TRY_VOID(state());
    tensors(emitted.inputs, 0, model_.program.inputs);
    tensors(emitted.outputs, emitted.inputs.size(), model_.program.outputs);
    for (const std::string& device : emitted.devices)
      model_.program.devices.push_back(to_string(*compiled_.target.device(device)));
    for (const MemoryPool& pool : compiled_.plan.memory.pools)
      model_.program.memories.push_back(pool.name);
    emission::PackageNeeds needs =
        emission::package_needs(compiled_.lowered, compiled_.plan, emitted);
    model_.contract = {needs.model_id, std::move(needs.pool_bytes), needs.alignment,
                       packaging::stream_memories(compiled_)};
    model_.name = emitted.name;
    model_.streams = emitted.streams;
    model_.includes = {includes_.begin(), includes_.end()};
    model_.program.constants = constants_.take();
    model_.program.target = to_string(compiled_.target);
    model_.program.interface_id = interface_id(emitted);
    model_.program.runtime_version = INTARSIA_RUNTIME_VERSION;
    return std::move(model_);
  }

 private:
  Diagnostics refused(const std::string& what) const {
    return Diagnostics(compiled_.emitted.name, what, "compile it as C: leave --format out");
  }

  Place place_of(tir::BufferId id) {
    const tir::Buffer& buffer = schedule_.buffer(id);
    if (buffer.scope == tir::Scope::Constant)
      return {INTARSIA_PROGRAM_CONSTANTS, constants_.place(compiled_.lowered, buffer.constant)};
    const Placement* place = compiled_.plan.find(id);
    INTARSIA_CHECK(place != nullptr, "every buffer of the schedule is planned");
    return {static_cast<uint32_t>(place->pool), static_cast<uint32_t>(place->offset)};
  }

  void instruct(std::vector<uint32_t>& code, intarsia_program_operation operation,
                const std::vector<uint32_t>& operands) {
    code.push_back(static_cast<uint32_t>(operation) | static_cast<uint32_t>(operands.size()) << 8);
    code.insert(code.end(), operands.begin(), operands.end());
  }
  void instruct(intarsia_program_operation operation, const std::vector<uint32_t>& operands = {}) {
    instruct(model_.program.code, operation, operands);
  }

  Result<void> statement(const tir::Stmt& stmt) {
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) return step(*call);
    if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
      for (const tir::Stmt& inner : sequence->statements) INTARSIA_TRY_VOID(statement(inner));
    } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
      const Place flag = place_of(flag_of(*branch));
      instruct(INTARSIA_PROGRAM_IF, {flag.segment, flag.offset});
      INTARSIA_TRY_VOID(statement(branch->then_body));
      if (branch->else_body != nullptr) {
        instruct(INTARSIA_PROGRAM_ELSE);
        INTARSIA_TRY_VOID(statement(branch->else_body));
      }
      instruct(INTARSIA_PROGRAM_END);
    } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      return repeated(*loop);
    }
    return {};
  }

  static tir::BufferId flag_of(const tir::If& branch) {
    return std::get<tir::Load>(branch.condition->node).buffer;
  }

  // A loop of nothing but a branch ends when the branch is not taken, since only the branch changes its flag.
  Result<void> repeated(const tir::For& loop) {
    const auto* only = std::get_if<tir::If>(&loop.body->node);
    if (only != nullptr && only->else_body != nullptr) only = nullptr;
    const int64_t iterations = std::get<tir::IntImm>(loop.hi->node).value;
    constexpr int64_t kMostIterations = 1 << 20;  // of the executor's check
    if (iterations > kMostIterations)
      return refused(fmt::format("a loop of {} iterations is in it", iterations));
    const Place flag =
        only != nullptr ? place_of(flag_of(*only)) : Place{INTARSIA_PROGRAM_NO_SEGMENT, 0};
    instruct(INTARSIA_PROGRAM_LOOP,
             {static_cast<uint32_t>(std::max<int64_t>(iterations, 0)), flag.segment, flag.offset});
    INTARSIA_TRY_VOID(statement(only != nullptr ? only->then_body : loop.body));
    instruct(INTARSIA_PROGRAM_END);
    return {};
  }

  Result<void> step(const tir::Call& call) {
    if (const auto stream = streams_.find(call.function); stream != streams_.end()) {
      const std::string& device = compiled_.emitted.streams[stream->second].device;
      const auto& devices = compiled_.emitted.devices;
      instruct(INTARSIA_PROGRAM_STREAM,
               {stream->second,
                static_cast<uint32_t>(std::ranges::find(devices, device) - devices.begin())});
      return {};
    }
    const tir::Func& func = functions_.at(call.function);
    INTARSIA_TRY(const BoundKernel* kernel, bound(func));
    std::vector<uint32_t> operands = {index_of(kernel->code)};
    const auto add = [&](const Place& place) {
      operands.push_back(place.segment);
      operands.push_back(place.offset);
    };
    for (const tir::BufferId argument : call.arguments) add(place_of(argument));
    for (const ConstantId constant : kernel->constants)
      add({INTARSIA_PROGRAM_CONSTANTS, constants_.place(compiled_.lowered, constant)});
    if (!kernel->numbers.empty())
      add({INTARSIA_PROGRAM_CONSTANTS, constants_.place(kernel->numbers)});
    if (!kernel->reals.empty()) add({INTARSIA_PROGRAM_CONSTANTS, constants_.place(kernel->reals)});
    INTARSIA_CHECK(operands.size() == 1 + 2 * kernel->code.operands.size(),
                   "each operand of a kernel is bound");
    instruct(INTARSIA_PROGRAM_CALL, operands);
    return {};
  }

  Result<const BoundKernel*> bound(const tir::Func& func) {
    if (const auto known = bound_.find(func.name); known != bound_.end()) return &known->second;
    const Target* device = compiled_.target.device(func.target);
    INTARSIA_CHECK(device != nullptr, "functions belong to devices of the target");
    const KernelLibrary* library = registry_.kind_of(*device).kernels_for(*device);
    includes_.insert("intarsia/kernels/kernels.h");
    if (library != nullptr)
      for (std::string& header : library->includes(*device)) includes_.insert(std::move(header));
    INTARSIA_TRY(BoundKernel kernel,
                 bound_kernel(compiled_.lowered, func,
                              library != nullptr ? library->structs : ConstantStructs()));
    if (kernel.code.operands.size() > INTARSIA_PROGRAM_MAX_OPERANDS)
      return refused(fmt::format("{} has {} operands, and a kernel of a package has {} at most",
                                 kernel.code.name, kernel.code.operands.size(),
                                 INTARSIA_PROGRAM_MAX_OPERANDS));
    return &bound_.emplace(func.name, std::move(kernel)).first->second;
  }

  uint32_t index_of(const KernelCode& code) {
    const auto [known, is_new] =
        indices_.try_emplace(code.id, static_cast<uint32_t>(model_.kernels.size()));
    if (is_new) {
      model_.kernels.push_back(code);
      model_.program.kernels.push_back({code.id, code.name});
    }
    return known->second;
  }

  Result<void> state() {
    std::vector<uint32_t>& reset = model_.program.reset;
    for (size_t b = 0; b < schedule_.buffers.size(); ++b) {
      const tir::Buffer& buffer = schedule_.buffers[b];
      const tir::BufferId id{static_cast<int32_t>(b)};
      if (!buffer.initial || compiled_.plan.find(id) == nullptr) continue;
      const Place place = place_of(id);
      if (buffer.initial_values.valid()) {
        instruct(reset, INTARSIA_PROGRAM_COPY,
                 {place.segment, place.offset, static_cast<uint32_t>(buffer.bytes()),
                  constants_.place(compiled_.lowered, buffer.initial_values)});
        continue;
      }
      INTARSIA_TRY_VOID(fill(reset, buffer, place));
    }
    return {};
  }

  Result<void> fill(std::vector<uint32_t>& reset, const tir::Buffer& buffer, const Place& place) {
    const bool is_float = buffer.type == DataType::Float32;
    auto element = static_cast<uint32_t>(*buffer.initial);
    if (is_float) element = std::bit_cast<uint32_t>(static_cast<float>(*buffer.initial));
    uint32_t bytes = static_cast<uint32_t>((bits(buffer.type) + 7) / 8);
    if (bytes > 4 || *buffer.initial == 0) {
      if (*buffer.initial != 0) return refused("its state begins with numbers of 64 bits");
      bytes = 1;
    }
    instruct(reset, INTARSIA_PROGRAM_FILL,
             {place.segment, place.offset, static_cast<uint32_t>(buffer.bytes() / bytes), bytes,
              element});
    return {};
  }

  void tensors(const std::vector<TensorInfo>& from, size_t first_parameter,
               std::vector<PackageProgram::Tensor>& to) {
    for (size_t i = 0; i < from.size(); ++i) {
      const TensorInfo& tensor = from[i];
      const Place place = place_of(tir::BufferId{static_cast<int32_t>(first_parameter + i)});
      PackageProgram::Tensor written;
      written.name = tensor.name;
      written.type = std::string(to_string(tensor.type));
      written.memory = place.segment;
      written.offset = place.offset;
      written.bytes = static_cast<uint32_t>(tensor.bytes);
      written.shape.assign(tensor.shape.begin(), tensor.shape.end());
      written.scale.assign(tensor.quantization.scale.begin(), tensor.quantization.scale.end());
      written.zero_point.assign(tensor.quantization.zero_point.begin(),
                                tensor.quantization.zero_point.end());
      to.push_back(std::move(written));
    }
  }

  const CompiledProgram& compiled_;
  const TargetRegistry& registry_;
  const tir::Func& schedule_;
  tir::FunctionIndex functions_;
  std::map<std::string, uint32_t> streams_;
  std::map<std::string, BoundKernel> bound_;  // by function
  std::map<uint64_t, uint32_t> indices_;      // by id of a kernel
  std::set<std::string> includes_;
  ConstantBlock constants_;
  ExecutableModel model_;
};

void add_to(Fingerprint& print, const std::vector<TensorInfo>& tensors) {
  for (const TensorInfo& tensor : tensors)
    print.add(fmt::format("{} [{}] {} {}", to_string(tensor.type), fmt::join(tensor.shape, ","),
                          fmt::join(tensor.quantization.scale, ","),
                          fmt::join(tensor.quantization.zero_point, ",")));
}

}  // namespace

std::vector<uint8_t> ExecutableModel::package() const {
  return write_package(name, streams, contract, &program);
}

uint32_t interface_id(const EmittedModel& model) {
  Fingerprint print;
  print.add(fmt::format("{} inputs", model.inputs.size()));
  add_to(print, model.inputs);
  add_to(print, model.outputs);
  return print.word();
}

Result<ExecutableModel> make_executable(const CompiledProgram& program,
                                        const TargetRegistry& registry) {
  return ProgramWriter(program, registry).run();
}

}  // namespace intarsia::executable
