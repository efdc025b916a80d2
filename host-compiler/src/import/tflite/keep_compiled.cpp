// Programs that another compiler made, one after another. They may share an arena: then what one of them left there is
// there for the next, be it a tensor of the model or not, and several may write parts of one tensor. In the graph what
// they leave is a tensor as well: raw bytes that span the arena.
#include "import/tflite/convert_compiled.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

bool share_arena(const OperatorInfo& a, const OperatorInfo& b) {
  if (a.program == nullptr || b.program != a.program) return false;
  const size_t arena = a.program->arena;
  return a.inputs.size() > arena && b.inputs.size() > arena && a.inputs[arena] >= 0 &&
         a.inputs[arena] == b.inputs[arena];
}

bool SubgraphReader::is_written_later(const OperatorInfo& op, int32_t id) const {
  const auto& operators = *model_.subgraph(signature_.subgraph).operators;
  return std::any_of(operators.begin() + op.index + 1, operators.end(),
                     [&](const OperatorInfo& later) {
                       return std::ranges::find(later.outputs, id) != later.outputs.end();
                     });
}

// The tensor as it is before a later program writes more of it.
int32_t SubgraphReader::make_version(int32_t id, const OperatorInfo& op) {
  graph::Tensor version = tensor(id);
  version.name = fmt::format("{}_after_{}", version.name, op.name);
  return same_as_[id] = make({std::move(version), {}});
}

void SubgraphReader::keep_compiled(const OperatorInfo& op) {
  std::optional<CompiledOperator> compiled = convert_compiled(file_, op, tensors_, problems_);
  if (!compiled) return;
  Draft draft;
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  draft.inputs = std::move(compiled->inputs);
  for (int32_t& id : draft.inputs) id = current(id);
  for (const int32_t id : op.outputs) {
    same_as_.erase(id);
    draft.outputs.push_back(is_written_later(op, id) ? make_version(id, op) : id);
  }

  graph::CompiledAttrs& attributes = compiled->attributes;
  const int32_t arena = op.inputs[op.program->arena];
  if (const auto left = arenas_.find(arena); left != arenas_.end()) {
    attributes.input_offsets.push_back(0);
    draft.inputs.push_back(left->second);
    arenas_.erase(left);
  }
  const auto& operators = *model_.subgraph(signature_.subgraph).operators;
  const bool is_shared =
      std::any_of(operators.begin() + op.index + 1, operators.end(),
                  [&](const OperatorInfo& later) { return share_arena(op, later); });
  if (is_shared && attributes.arena_bytes > 0) {
    attributes.output_offsets.push_back(0);
    graph::Tensor left;
    left.name = fmt::format("arena_after_{}", op.name);
    left.type = DataType::UInt8;
    left.shape = {attributes.arena_bytes};
    draft.outputs.push_back(arenas_[arena] = make({std::move(left), {}}));
  }
  draft.node.attributes = std::move(attributes);
  drafts_.push_back(std::move(draft));
}

// What an operator of the CPU writes lies over nothing that is still read. Programs may write over what they like: only
// who made them knows what they still need.
void SubgraphReader::check_arena(const std::vector<OperatorInfo>& operators) {
  struct InArena {
    int32_t id;
    int64_t first, end;               // bytes
    int32_t written = -1, read = -1;  // by which operator, first and last
    const OperatorInfo* reader = nullptr;
  };
  std::map<int32_t, InArena> found;
  std::string ignored;  // converting the programs has reported it
  const auto addresses = arena_addresses(file_, tensors_.count(), ignored);
  if (!addresses) return;
  for (const OperatorInfo& op : operators) {
    if (op.program == nullptr) continue;
    const auto add = [&](int32_t id) {
      const int64_t first = (*addresses)[static_cast<size_t>(id)];
      if (!tensors_.has_data(id))
        found.try_emplace(id, InArena{id, first, first + tensor(id).bytes()});
    };
    for (size_t i = op.program->first_input; i < op.inputs.size(); ++i) add(op.inputs[i]);
    for (const int32_t id : op.outputs) add(id);
  }
  for (const OperatorInfo& op : operators) {
    for (const int32_t id : op.inputs)
      if (const auto at = found.find(id); at != found.end())
        at->second.read = op.index, at->second.reader = &op;
    for (const int32_t id : op.outputs)
      if (const auto at = found.find(id); at != found.end() && at->second.written < 0)
        at->second.written = op.index;
  }
  for (const int32_t id : values(subgraph_.outputs()))
    if (const auto at = found.find(id); at != found.end())
      at->second.read = static_cast<int32_t>(operators.size()), at->second.reader = nullptr;
  for (const auto& [id, made] : found) {
    if (made.written < 0 || operators[static_cast<size_t>(made.written)].program != nullptr)
      continue;
    for (const auto& [other_id, other] : found) {
      const bool is_needed = other.written < made.written && other.read >= made.written;
      if (id == other_id || !is_needed || other.first >= made.end || made.first >= other.end)
        continue;
      problem(
          operators[static_cast<size_t>(made.written)],
          fmt::format("writes {} to bytes {} to {} of the arena, where {} is, which {} still reads",
                      tensors_.label(id), made.first, made.end, tensors_.label(other_id),
                      other.reader == nullptr ? "the model's caller" : other.reader->label()));
    }
  }
}

}  // namespace intarsia::tflite
