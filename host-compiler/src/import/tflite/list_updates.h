// An element of a list replaced, as converters write it that have no lists: what lies before it, the new one and what lies behind
// it, joined. The parts' extents change from step to step, which none of our tensors may.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "import/tflite/tflite_operators.h"

namespace intarsia::tflite {

struct ListUpdate {
  int32_t list, item, place;  // tensors; the place is one number
};

struct ListUpdates {
  std::map<int32_t, ListUpdate> by_joint;  // the number of the concatenation
  std::set<int32_t> parts;                 // numbers of operators whose results nobody else reads
};

// `handed`: tensors whose extents are those of who runs the subgraph.
ListUpdates find_list_updates(const std::vector<OperatorInfo>& operators, TensorTable& tensors,
                              std::span<const int32_t> results, std::span<const int32_t> handed);

}  // namespace intarsia::tflite
