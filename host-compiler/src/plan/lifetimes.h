// From the schedule to what the planner places: groups of buffers that share bytes on purpose, and
// the steps during which their bytes must stay.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::plan {

struct Group {
  std::vector<tir::BufferId> buffers;
  int64_t bytes = 0;
  int32_t alignment = 1;
  int32_t first_step = 0, last_step = 0;  // inclusive
  bool holds_output = false;              // of the model: must survive the last step
  bool crosses_loop = false;              // a later iteration may read it again
  std::string memory;                     // the pool it should be in; may be empty
  std::set<std::string> users;            // who reads or writes it
};

// Groups that may share bytes while both are alive: `low` begins at least `distance` bytes before `high`.
struct GroupOverlap {
  int low = 0, high = 0;  // indices into groups
  int64_t distance = 0;
};

struct Lifetimes {
  std::vector<Group> groups;
  std::vector<GroupOverlap> overlaps;
  int32_t steps = 0;
};

// Calls of the schedule as they are written: those of both branches, those of a loop once.
std::vector<tir::Call> schedule_calls(const tir::Func& schedule);

// A call of the schedule with its steps, and the buffers of the schedule that it is given.
struct FunctionSteps {
  const tir::Func* function = nullptr;
  int32_t first = 0, last = 0;  // inclusive
  std::set<int32_t> buffers;    // tir::BufferId::index
};
std::vector<FunctionSteps> functions_with_steps(const tir::Module& module);

// What runs at a step; null for a schedule without calls.
const tir::Func* function_at(const tir::Module& module, int32_t step);

// Aliases share a group always. With `in_place`, an output joins the group of an input that its
// function may overwrite and that nobody reads afterwards, or may overlap it as the function says.
Lifetimes find_lifetimes(const tir::Module& module, bool in_place);

}  // namespace intarsia::plan
