// Loops whose iterations may be computed side by side, statement by statement, with the results that they have one after
// the other. One loop of each nest is chosen: the one with most iterations.
#pragma once

#include <map>
#include <set>

#include "engine/lane_course.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::engine {

struct LaneLoop {
  // Scalars that an iteration gives a value before it reads them.
  std::set<tir::BufferId> own_registers;
  // Statements `r = r + x` (or min, max) of a scalar that no other statement of the loop mentions.
  std::set<const tir::StmtNode*> reductions;
};

std::map<const tir::StmtNode*, LaneLoop> choose_lane_loops(const tir::Func& func,
                                                           const tir::Stmt& body);

// Scalar variables of the function that no kernel is given the address of.
bool is_plain_register(const tir::Func& func, const tir::Stmt& body, tir::BufferId buffer);

// The two operands of a reduction: nothing for another statement.
struct Reduction {
  tir::BinaryOp op;
  tir::Expr added;
};
std::optional<Reduction> reduction_of(const tir::Store& store);

}  // namespace intarsia::engine
