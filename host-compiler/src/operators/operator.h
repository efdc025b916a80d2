// An operator, all of it: one row of its family's table. The rules, the reference evaluator, the portable C lowering and the
// passes read the rows; nothing else has a list of operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "graph/op_check.h"
#include "graph/type_rule.h"
#include "intarsia/graph.h"
#include "intarsia/plugin/op_lowering.h"
#include "operators/channel_rule.h"
#include "operators/evaluation/invocation.h"
#include "operators/lowering/refusals.h"
#include "row_tiling/row_tile_geometry.h"

namespace intarsia::operators {

enum class Elementwise : uint8_t {
  No,
  Unary,   // of one operand
  Binary,  // of two, broadcast as numpy does
};

struct Operator {
  graph::OpKind kind;
  // The operand types that it takes. Empty where they are no list: operators that move elements of any type say in `infer`
  // which.
  std::span<const graph::TypeRule> types = {};
  // Checks a node whose operands exist, after its types were checked, and returns the shapes of its outputs when nothing was
  // found. Reports all violations that it can see safely.
  graph::Shapes (*infer)(graph::OpCheck& check);
  // The reference results. Null: the evaluator runs functions for it (a call, a branch, a loop).
  Result<void> (*evaluate)(const Invocation& call) = nullptr;
  // The portable C: declares operands, returns the body. Null: there is none of its own.
  Stmt (*lower)(OpLowering& op) = nullptr;
  // Why `lower` does not take a node of one of the types. Null: it takes all.
  Refusal (*refuses)(const OpView& view) = nullptr;
  // Multiply-accumulates of one execution. Null: none.
  int64_t (*mac_count)(const graph::Function& function, const graph::Node& node) = nullptr;
  // Each element of the output is made of the elements at its place.
  Elementwise elementwise = Elementwise::No;
  // How it slides over the rows of its image, so that it can run on some rows at a time. Null: it needs all.
  row_tiling::RowWindow (*rows)(const OpView& view) = nullptr;
  // How channels pass through it. Null: those of element-wise operators one by one, else it needs and makes all.
  ChannelRule (*channels)(const graph::Function& function, const graph::Node& node) = nullptr;
  bool keeps_state = false;  // reads or writes variables
};

// Output row k is made of row k of the operands.
inline row_tiling::RowWindow each_row(const OpView&) {
  return {};
}

const Operator& operator_of(graph::OpKind kind);

}  // namespace intarsia::operators
