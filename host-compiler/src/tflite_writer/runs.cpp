#include "tflite_writer/runs.h"

#include <algorithm>

namespace intarsia::tflite_writer {

bool keeps_state(const Original& model, const tflite::OperatorInfo& op) {
  switch (op.code) {
    case tflite::kVAR_HANDLE:
    case tflite::kREAD_VARIABLE:
    case tflite::kASSIGN_VARIABLE:
    case tflite::kCALL_ONCE:
    case tflite::kIF:
    case tflite::kWHILE:
    case tflite::kCUSTOM:
      return true;
    default:
      break;
  }
  return std::ranges::any_of(op.inputs,
                             [&](int32_t id) { return id >= 0 && model.is_variable(id); });
}

std::vector<Run> runs_of(const Original& model, const std::set<int32_t>& on_cpu,
                         const std::set<int32_t>& handles) {
  const auto count = static_cast<int32_t>(model.operators().size());
  std::vector<bool> done(model.operators().size(), false);
  const auto is_done = [&](int32_t index) { return bool{done[static_cast<size_t>(index)]}; };
  for (const int32_t handle : handles) done[static_cast<size_t>(handle)] = true;
  int32_t next_with_state = 0;  // those before it are done
  const auto skip_done = [&] {
    while (next_with_state < count &&
           (is_done(next_with_state) || !keeps_state(model, model.op(next_with_state))))
      ++next_with_state;
  };
  const auto may_run = [&](const tflite::OperatorInfo& op) {
    if (keeps_state(model, op) && op.index != next_with_state) return false;
    return std::ranges::all_of(op.inputs, [&](int32_t id) {
      return id < 0 || model.producer(id) < 0 || is_done(model.producer(id));
    });
  };
  std::vector<Run> runs;
  const auto run_side = [&](bool on_npu, bool may_wait) {
    Run run{on_npu, {}};
    // The file's order need not be one in which operators can run, so until nothing more can.
    for (bool more = true; more;) {
      more = false;
      for (int32_t i = 0; i < count; ++i) {
        skip_done();
        if (is_done(i) || on_cpu.contains(i) == on_npu || !may_run(model.op(i))) continue;
        done[static_cast<size_t>(i)] = more = true;
        run.operators.push_back(i);
      }
    }
    if (run.operators.empty()) return false;
    // What is kept can be read at any time. It is read where something is made of it.
    if (on_npu && may_wait && std::ranges::all_of(run.operators, [&](int32_t i) {
          return model.op(i).code == tflite::kREAD_VARIABLE;
        })) {
      for (const int32_t i : run.operators) done[static_cast<size_t>(i)] = false;
      next_with_state = 0;
      return false;
    }
    runs.push_back(std::move(run));
    return true;
  };
  bool on_npu = true;
  for (int idle = 0; idle < 3; on_npu = !on_npu) idle = run_side(on_npu, idle == 0) ? 0 : idle + 1;
  return runs;
}

}  // namespace intarsia::tflite_writer
