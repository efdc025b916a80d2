#include "tflite_writer/state_sides.h"

#include <fmt/format.h>

#include <algorithm>

namespace intarsia::tflite_writer {

namespace {

bool has_operator(const Original& model, int32_t code) {
  return std::ranges::find(model.operators(), code, &tflite::OperatorInfo::code) !=
         model.operators().end();
}

Result<graph::Module> imported_whole(const Original& model, const Setting& setting) {
  ImportOptions import;
  import.file = model.file().name();
  import.foreign = setting.registry.foreign_formats();
  return import_model(model.file_bytes(), import);
}

}  // namespace

void StateSides::begin(std::map<int32_t, std::string>& on_cpu) {
  const bool has_bodies = has_operator(model_, tflite::kIF) || has_operator(model_, tflite::kWHILE);
  std::optional<Result<graph::Module>> whole;
  if (has_operator(model_, tflite::kCALL_ONCE) && !has_bodies)
    whole = imported_whole(model_, setting_);
  for (size_t i = 0; i < states_.size(); ++i) {
    const bool is_resource = states_[i].tensor < 0;
    std::string reason;
    if (states_[i].operators.empty())
      reason = "no operator works on it";
    else if (is_resource && has_bodies)
      reason = "branches and loops may work on it too";
    else if (is_resource && whole)
      reason = refuses_beginning(states_[i], *whole);
    if (!reason.empty()) keep_on_cpu(i, reason, on_cpu);
  }
  settle(on_cpu);
}

void StateSides::settle(std::map<int32_t, std::string>& on_cpu) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (is_on_cpu_[i]) continue;
      const auto& users = states_[i].operators;
      const auto user =
          std::ranges::find_if(users, [&](int32_t op) { return on_cpu.contains(op); });
      if (user == users.end()) continue;
      keep_on_cpu(i, std::string(on_cpu.at(*user)), on_cpu);
      again = true;
    }
  }
}

std::set<int32_t> StateSides::handles() const {
  std::set<int32_t> result;
  for (size_t i = 0; i < states_.size(); ++i)
    if (!is_on_cpu_[i]) result.insert(states_[i].handles.begin(), states_[i].handles.end());
  return result;
}

bool StateSides::place(std::vector<Run>& runs, std::map<int32_t, std::string>& on_cpu) {
  bool fine = true;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (is_on_cpu_[i]) continue;
    const State& state = states_[i];
    std::vector<Run*> users;
    for (Run& run : runs)
      if (std::ranges::any_of(run.operators,
                              [&](int32_t op) { return state.operators.contains(op); }))
        users.push_back(&run);
    std::string reason;
    if (users.size() != 1)
      reason = "several regions of the NPU would work on it";
    else if (!runs.back().on_npu)
      reason =
          "the CPU has operators behind the last region of the NPU, and an interpreter may put "
          "what they work in over it";
    if (reason.empty()) {
      auto& operators = users[0]->operators;
      operators.insert(operators.begin(), state.handles.begin(), state.handles.end());
      continue;
    }
    keep_on_cpu(i, reason, on_cpu);
    fine = false;
  }
  settle(on_cpu);
  return fine;
}

void StateSides::keep_on_cpu(size_t index, const std::string& reason,
                             std::map<int32_t, std::string>& on_cpu) {
  is_on_cpu_[index] = true;
  const State& state = states_[index];
  const std::string why = fmt::format("the CPU keeps the state '{}': {}", state.name, reason);
  for (const auto* users : {&state.handles, &state.operators})
    for (const int32_t op : *users) on_cpu.try_emplace(op, why);
}

}  // namespace intarsia::tflite_writer
