// Modules that are nothing but buffers with lifetimes, for tests of what lies in which memory.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::testing {

struct Life {
  int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both included
  int32_t alignment = 1;
};

// One call per step, with the buffers that begin or end there; that of `device_step` is for "npu".
inline tir::Module module_of(const std::vector<Life>& lives, int steps, int device_step = -1) {
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  tir::Func schedule;
  schedule.name = "main";
  for (size_t i = 0; i < lives.size(); ++i) {
    tir::Buffer buffer{
        "b" + std::to_string(i), DataType::Int8, {lives[i].bytes}, tir::Scope::Local, {}, {},
        lives[i].alignment};
    schedule.buffers.push_back(buffer);
  }
  std::vector<std::vector<tir::BufferId>> at(static_cast<size_t>(steps));
  for (size_t i = 0; i < lives.size(); ++i) {
    const tir::BufferId id{static_cast<int32_t>(i)};
    at[static_cast<size_t>(lives[i].first)].push_back(id);
    if (lives[i].last != lives[i].first) at[static_cast<size_t>(lives[i].last)].push_back(id);
  }
  std::vector<tir::Stmt> calls;
  for (int step = 0; step < steps; ++step) {
    const auto& arguments = at[static_cast<size_t>(step)];
    tir::FuncBuilder build("f" + std::to_string(step));
    for (size_t i = 0; i < arguments.size(); ++i)
      build.parameter("p" + std::to_string(i), DataType::Int8, {1}, tir::Access::ReadWrite);
    tir::Func func = build.finish(tir::seq({}));
    if (step == device_step) func.target = "npu";
    module.funcs.push_back(std::move(func));
    calls.push_back(tir::call_func("f" + std::to_string(step), arguments));
  }
  schedule.body = tir::seq(std::move(calls));
  module.funcs.push_back(std::move(schedule));
  return module;
}

}  // namespace intarsia::testing
