// Sums that lie side by side: a loop whose iterations add a product to each of several registers, where the products differ
// in nothing but elements that lie beside each other in memory. Such a loop is one over vectors: the channels of a block
// in a convolution, found by their form.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::llvm {

struct LaneNode;
// What a vector holds: of each iteration of the loop that it stands for one lane for each of the sums.
using Lanes = std::shared_ptr<const LaneNode>;

// The same in all lanes.
struct SameLanes {
  tir::Expr value;
};
// Elements of a buffer that lie beside each other from the one at the flat index `first` on: for each lane one, or for each
// iteration, whose lanes share it.
struct ElementLanes {
  tir::BufferId buffer;
  tir::Expr first;
  bool by_iteration;
};
struct BinaryLanes {
  tir::BinaryOp op;
  Lanes lhs, rhs;
};
struct CastLanes {
  Lanes operand;
};
struct LaneNode {
  DataType type;
  std::variant<SameLanes, ElementLanes, BinaryLanes, CastLanes> node;
};

// How the lanes of a vector belong to iterations and sums: the sums of an iteration side by side, or, in pairs, two iterations of
// each sum.
struct LaneOrder {
  int iterations, sums;
  bool pairs;

  size_t lanes() const { return static_cast<size_t>(iterations) * static_cast<size_t>(sums); }
  // Which of a run's elements a lane has.
  int element(size_t lane, const ElementLanes& run) const;
};

struct VectorSums {
  std::vector<tir::BufferId> sums;  // registers of one type
  Lanes term;                       // added in each iteration
  Lanes terms;  // of several iterations in a row; null where they are not side by side
};

// Null where the loop is another one. The vectors need not exist on a machine.
std::optional<VectorSums> vector_sums(const tir::Func& func, const tir::For& loop);

// Whether every lane is a number of 16 bits with a sign.
bool fits_16_bits(const Lanes& lanes);

}  // namespace intarsia::targets::llvm
