#include "tflite_writer/states.h"

#include <algorithm>
#include <map>

#include "import/tflite/tflite_file.h"
#include "support/c_identifier.h"
#include "support/shown_text.h"

namespace intarsia::tflite_writer {

namespace {

using ResourceName = std::pair<std::string, std::string>;  // container, and name in it

ResourceName resource_of(const tflite::OperatorInfo& handle) {
  const auto* options = handle.raw->options_as_VarHandleOptions();
  if (options == nullptr) return {};
  return {std::string(tflite::text(options->container())),
          std::string(tflite::text(options->shared_name()))};
}

bool is_handle(const tflite::OperatorInfo& op) {
  return op.code == tflite::kVAR_HANDLE && op.outputs.size() == 1 && op.outputs[0] >= 0;
}

// All elements are the zero point.
bool is_zero_point(const graph::Tensor& tensor, std::span<const uint8_t> bytes) {
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  const auto width = static_cast<size_t>(std::max(bits(tensor.type) / 8, 1));
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<uint8_t>(zero >> (8 * (i % width)))) return false;
  return true;
}

}  // namespace

std::vector<State> states_of(const Original& model) {
  std::vector<State> states;
  std::map<ResourceName, size_t> resources;
  std::map<int32_t, size_t> by_tensor;  // variable tensors, and handles
  for (const tflite::OperatorInfo& op : model.operators()) {
    if (!is_handle(op)) continue;
    const ResourceName name = resource_of(op);
    const auto [at, fresh] = resources.try_emplace(name, states.size());
    if (fresh) states.push_back({name.second.empty() ? "variable" : name.second, -1, {}, {}});
    states[at->second].handles.insert(op.index);
    by_tensor[op.outputs[0]] = at->second;
  }
  for (const tflite::OperatorInfo& op : model.operators())
    for (const int32_t id : op.inputs) {
      if (id < 0) continue;
      auto at = by_tensor.find(id);
      if (at == by_tensor.end()) {
        if (!model.is_variable(id)) continue;
        at = by_tensor.emplace(id, states.size()).first;
        states.push_back({model.name(id), id, {}, {}});
      }
      states[at->second].operators.insert(op.index);
    }
  return states;
}

bool is_access(const State& state, std::string_view kind, std::string_view node) {
  if (state.tensor >= 0 || (kind != "read_variable" && kind != "assign_variable")) return false;
  const std::string name = c_identifier(state.name, "variable");
  return node.starts_with("read_" + name) || node.starts_with("assign_" + name);
}

bool has_unknown_handle(const Original& model, const tflite::OperatorInfo& op) {
  if (op.code != tflite::kREAD_VARIABLE && op.code != tflite::kASSIGN_VARIABLE) return false;
  if (op.inputs.empty() || op.inputs[0] < 0) return true;
  const int32_t producer = model.producer(op.inputs[0]);
  return producer < 0 || !is_handle(model.op(producer));
}

std::string refuses_beginning(const State& state, const Result<graph::Module>& whole) {
  if (!whole.ok()) return "what it begins as is not known, since the model cannot be read whole";
  const graph::Function& entry = whole->entry_function();
  const std::string name = shown_text(state.name);  // as the importer takes it over
  const auto found = std::ranges::find_if(entry.tensors, [&](const graph::Tensor& tensor) {
    return tensor.variable && tensor.name == name;
  });
  if (found == entry.tensors.end()) return "what it begins as is not known";
  if (!found->initial.valid() || is_zero_point(*found, whole->constant(found->initial).bytes))
    return {};
  return "it begins with other values than the zero point, as which variable tensors begin";
}

}  // namespace intarsia::tflite_writer
