// Cascades: operations that run in turns, some rows of each, so that of a feature map between them only a few rows exist
// at a time, in a ring buffer of the fast memory; the slower memory sees what enters and leaves. From how the operations
// read each other's rows follow the order of their steps, how long each row is needed, and so how large each ring is.
//
// Nothing is computed twice. Each operation makes rows as soon as somebody needs them and not before; outputs that
// nobody of the cascade reads keep pace with each other.
//
// A target brings the graph with its windows, how many rows it makes at a time, and in which units (slots) its rings are
// filled and read. Whether the rings, with constants and code, fit, is asked with scratch_placement.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/plugin/row_window.h"

namespace intarsia::npu {

struct CascadeProblem {
  struct Map {
    int64_t rows = 0;
    // Rows of a slot: rings are whole slots, and who reads a row waits for its whole slot.
    int64_t slot_rows = 1;
    // It lies in slower memory, from where it comes slot by slot; no operation of the cascade makes it. Slots come
    // before the step that reads them first, and `slots_ahead` more so that they arrive meanwhile.
    bool loads = false;
    int64_t slots_ahead = 0;
    // All its rows have to be made, also those that nobody of the cascade reads.
    bool leaves = false;
  };
  struct Input {
    size_t map = 0;
    RowWindow window;
  };
  struct Operation {
    std::vector<Input> inputs;
    size_t output = 0;  // a map that no other operation makes
    // Rows made at a time: a part of a slot, or whole slots; the last piece is what is left. 0: as many as are asked for
    // (then its output is read in the cascade); rows that its only reader passes over are not made.
    int64_t piece_rows = 0;
  };
  std::vector<Map> maps;
  std::vector<Operation> operations;  // each behind those that make its inputs
};

struct CascadeStep {
  size_t operation = 0;
  RowRange rows;  // of its output
  struct Load {
    size_t map = 0;
    int64_t slot = 0;
  };
  std::vector<Load> loads;  // before it
};

struct CascadeOrder {
  std::vector<CascadeStep> steps;
  // By map: the fewest slots of a ring with which no slot is written, or loaded, before the last step that needs what it
  // held; at least 1. Row r lies in slot r / slot_rows modulo that.
  std::vector<int64_t> ring_slots;
};

// None: more than `most_steps` steps.
std::optional<CascadeOrder> order_cascade(const CascadeProblem& problem, size_t most_steps);

}  // namespace intarsia::npu
