// How the value of an expression goes from one iteration of a loop to the next.
#pragma once

#include <map>
#include <set>

#include "intarsia/plugin/tir.h"

namespace intarsia::engine {

struct Course {
  enum class Kind : uint8_t {
    Same,    // one value for all iterations
    Linear,  // `step` more with each iteration
    Free,
  };
  Kind kind = Kind::Same;
  int64_t step = 0;

  bool is_same() const { return kind == Kind::Same; }
  static Course linear(int64_t step) { return step == 0 ? Course{} : Course{Kind::Linear, step}; }
  static Course free() { return {Kind::Free, 0}; }
};

// What is known inside one loop.
struct LaneScope {
  std::map<tir::VarId, Course> variables;  // others: the same
  std::set<tir::BufferId> registers;       // each iteration has its own of them
};

Course course_of(const tir::Func& func, const LaneScope& scope, const tir::Expr& expr);

}  // namespace intarsia::engine
