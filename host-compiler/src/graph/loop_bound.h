// How often a `while` can run at most, read off its condition and its body: memory and time of a
// generated program are known before it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/graph.h"

namespace intarsia::graph {

struct LoopBound {
  int64_t iterations = 0;  // at most
  bool exact = false;      // exactly, whatever the data
};

// Of a `while` whose condition holds only while a counter (an i32 or i64 scalar that begins as a
// constant and that the body changes by a constant) is on one side of a constant limit; the
// condition may be a conjunction of that and anything else. None when no such counter is found.
std::optional<LoopBound> loop_bound(const Module& module, const Function& function,
                                    const Node& node);

}  // namespace intarsia::graph
