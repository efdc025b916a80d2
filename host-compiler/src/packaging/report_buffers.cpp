#include <algorithm>
#include <map>
#include <set>

#include "lowering/region_of.h"
#include "packaging/report_plan.h"
#include "plan/lifetimes.h"

namespace intarsia::packaging {
namespace {

// An operator that reads or writes a buffer of the schedule.
struct Use {
  std::string name;
  tir::Access access = tir::Access::Read;
};

class BufferTable {
 public:
  BufferTable(const CompiledProgram& program, Report& report)
      : program_(program),
        schedule_(program.lowered.entry_func()),
        report_(report),
        uses_(schedule_.buffers.size()),
        tensors_(schedule_.buffers.size()) {
    for (const graph::Function& function : program.module.functions)
      for (const graph::Node& node : function.nodes)
        nodes_.try_emplace(node.name, &function, &node);
  }

  void make() {
    name_model_tensors();
    const std::vector<tir::Call> calls = plan::schedule_calls(schedule_);
    const std::vector<plan::FunctionSteps> steps = plan::functions_with_steps(program_.lowered);
    for (size_t c = 0; c < calls.size(); ++c) read_call(calls[c], steps[c]);
    report_.steps = program_.plan.steps;
    std::map<int32_t, std::string> first_of_group;
    for (const Placement& place : program_.plan.placements) add_row(place, first_of_group);
  }

 private:
  void name_model_tensors() {
    const graph::Function& entry = program_.module.entry_function();
    std::vector<graph::TensorId> ids = entry.inputs;
    ids.insert(ids.end(), entry.outputs.begin(), entry.outputs.end());
    for (size_t i = 0; i < ids.size() && i < schedule_.parameters.size(); ++i)
      name_tensor(i, entry.tensor(ids[i]));
  }

  // A name that is known stays: the model's own inputs and outputs come first.
  void name_tensor(size_t buffer, const graph::Tensor& tensor) {
    if (tensors_[buffer].empty() && schedule_.buffers[buffer].bytes() == tensor.bytes())
      tensors_[buffer] = tensor.name;
  }

  void add_step(int64_t step, const std::string& name, const std::string& device) {
    auto& rows = report_.step_rows;
    if (!rows.empty() && rows.back().name == name && rows.back().device == device &&
        rows.back().last == step - 1)
      rows.back().last = step;
    else
      rows.push_back({step, step, name, device});
  }

  void read_call(const tir::Call& call, const plan::FunctionSteps& steps) {
    const tir::Func& func = *steps.function;
    const auto* body = std::get_if<tir::Seq>(&func.body->node);
    if (func.stepwise && body != nullptr && !body->statements.empty()) {
      read_stream(call, func, *body, steps.first);
      return;
    }
    const std::string name = func.node.empty() ? func.name : func.node;
    add_step(steps.first, name, func.target);
    for (size_t i = 0; i < call.arguments.size() && i < func.parameters.size(); ++i)
      use(call.arguments[i], name, func.parameters[i].access);
    name_results(call, func, name);
  }

  // A node's outputs are what its function writes first, in their order; scratch comes behind them.
  void name_results(const tir::Call& call, const tir::Func& func, const std::string& name) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return;
    const auto& [function, node] = found->second;
    size_t output = 0;
    for (size_t i = 0; i < func.parameters.size() && output < node->outputs.size(); ++i)
      if (func.parameters[i].access == tir::Access::Write)
        name_tensor(call.arguments[i].at(), function->tensor(node->outputs[output++]));
  }

  // Commands say whose they are in their comment, where the target tells.
  void read_stream(const tir::Call& call, const tir::Func& func, const tir::Seq& body,
                   int64_t first) {
    const graph::Function* region = lowering::region_of(program_.module, func);
    std::set<std::string> inside;
    if (region != nullptr)
      for (const graph::Node& node : region->nodes) inside.insert(node.name);
    const std::string only = inside.size() == 1 ? *inside.begin() : func.name;
    for (size_t s = 0; s < body.statements.size(); ++s) {
      const tir::Stmt& statement = body.statements[s];
      const std::string& name = inside.contains(statement->comment) ? statement->comment : only;
      add_step(first + static_cast<int64_t>(s), name, func.target);
      const auto* command = std::get_if<tir::Intrinsic>(&statement->node);
      if (command == nullptr) continue;
      for (const auto& operand : command->operands)
        if (const auto* run = std::get_if<tir::BufferRun>(&operand);
            run != nullptr && run->buffer.at() < call.arguments.size())
          use(call.arguments[run->buffer.at()], name, run->access);
    }
    if (region != nullptr && region->name == func.name) name_edges_of_region(call, *region);
    if (region != nullptr) name_inner_tensors(call, *region);
  }

  // A region's function is called with its inputs and behind them its outputs.
  void name_edges_of_region(const tir::Call& call, const graph::Function& region) {
    std::vector<graph::TensorId> ids = region.inputs;
    ids.insert(ids.end(), region.outputs.begin(), region.outputs.end());
    for (size_t i = 0; i < ids.size() && i < call.arguments.size(); ++i)
      name_tensor(call.arguments[i].at(), region.tensor(ids[i]));
  }

  // What a device keeps between two operators holds the first one's result where only one buffer of that size passes
  // from it to others.
  void name_inner_tensors(const tir::Call& call, const graph::Function& region) {
    std::map<std::string, std::vector<size_t>> passed;  // by the operator that writes them
    for (const tir::BufferId id : call.arguments)
      if (const std::string* writer = passes_from(id.at())) passed[*writer].push_back(id.at());
    for (const graph::Node& node : region.nodes) {
      if (node.outputs.size() != 1) continue;
      const graph::Tensor& tensor = region.tensor(node.outputs.front());
      std::vector<size_t> fitting = passed[node.name];
      std::erase_if(fitting, [&](size_t index) {
        return schedule_.buffers[index].bytes() != tensor.bytes();
      });
      if (fitting.size() == 1) name_tensor(fitting.front(), tensor);
    }
  }

  // The one operator that writes the buffer, where others read it; else null.
  const std::string* passes_from(size_t buffer) const {
    const std::string* writer = nullptr;
    for (const Use& use : uses_[buffer]) {
      if (use.access == tir::Access::Read) continue;
      if (writer != nullptr && *writer != use.name) return nullptr;
      writer = &use.name;
    }
    if (writer == nullptr) return nullptr;
    const bool is_read = std::any_of(uses_[buffer].begin(), uses_[buffer].end(), [&](const Use& u) {
      return u.access == tir::Access::Read && u.name != *writer;
    });
    return is_read ? writer : nullptr;
  }

  void use(tir::BufferId buffer, const std::string& name, tir::Access access) {
    const auto add = [&](size_t index) {
      std::vector<Use>& uses = uses_[index];
      const bool is_known = std::any_of(uses.begin(), uses.end(), [&](const Use& each) {
        return each.name == name && each.access == access;
      });
      if (!is_known) uses.push_back({name, access});
    };
    add(buffer.at());
    // What uses a part of a buffer uses the buffer.
    if (const size_t root = tir::alias_root(schedule_, buffer).buffer.at(); root != buffer.at())
      add(root);
  }

  std::string use_of(size_t index, const BufferRow& row) const {
    const tir::Buffer& buffer = schedule_.buffers[index];
    if (buffer.initial) return "state";
    if (index < schedule_.parameters.size())
      return schedule_.parameters[index].access == tir::Access::Read ? "input" : "output";
    const auto is_other = [&](const std::string& name) { return name != row.written_by; };
    return std::any_of(row.read_by.begin(), row.read_by.end(), is_other) ? "tensor" : "scratch";
  }

  void add_row(const Placement& place, std::map<int32_t, std::string>& first_of_group) {
    const size_t index = place.buffer.at();
    BufferRow row;
    row.name = schedule_.buffers[index].name;
    row.tensor = tensors_[index];
    row.pool = program_.plan.memory.pools[static_cast<size_t>(place.pool)].name;
    row.begin = place.offset;
    row.end = place.offset + place.bytes;
    row.first_step = place.first_step;
    row.last_step = place.last_step;
    for (const Use& use : uses_[index]) {
      if (use.access != tir::Access::Read && row.written_by.empty()) row.written_by = use.name;
      if (use.access != tir::Access::Write) {
        if (std::find(row.read_by.begin(), row.read_by.end(), use.name) == row.read_by.end())
          row.read_by.push_back(use.name);
      }
    }
    row.use = use_of(index, row);
    const auto [first, is_first] = first_of_group.try_emplace(place.group, row.name);
    if (!is_first) row.alias = first->second;
    report_.buffers.push_back(std::move(row));
  }

  const CompiledProgram& program_;
  const tir::Func& schedule_;
  Report& report_;
  std::vector<std::vector<Use>> uses_;  // by buffer
  std::vector<std::string> tensors_;    // by buffer: names in the model
  std::map<std::string, std::pair<const graph::Function*, const graph::Node*>> nodes_;
};

}  // namespace

void add_buffers(const CompiledProgram& program, Report& report) {
  BufferTable(program, report).make();
}

}  // namespace intarsia::packaging
