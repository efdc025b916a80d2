// Operations that have the same weights and other scales, as the steps of a recurrent network have: their scales lie apart, so
// that the weights are stored once, and a copy of them in fast memory may stay for all of the operations.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "program/program.h"

namespace intarsia::targets::ethos_u {

struct WeightCopies {
  struct Group {
    std::vector<int32_t> operations;  // of the program, rising; two at least
    bool kept = false;                // in fast memory, from the first to the last
  };
  std::vector<Group> groups;
  std::vector<int32_t> groups_of;  // by operation; -1: none. Empty: nothing lies apart
  // What these, maps and all that is fetched may take of fast memory at any time.
  int64_t most_bytes = std::numeric_limits<int64_t>::max();

  int32_t group_of(int32_t operation) const {
    return groups_of.empty() ? -1 : groups_of[static_cast<size_t>(operation)];
  }
};

// Those of the program of which `pays` says that they are worth it, none of them kept: operations of one shape and type.
WeightCopies weight_copies(const Program& program,
                           const std::function<bool(const WeightCopies::Group&)>& pays);

// By operation, whether another one has the same weights, of whatever shape its maps are, or the same scales, as the phases of a
// transposed convolution have.
std::vector<bool> constants_in_common(const Program& program);

}  // namespace intarsia::targets::ethos_u
