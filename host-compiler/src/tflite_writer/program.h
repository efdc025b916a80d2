// The runs of a file in their order as one program: the NPU's functions, and between them the CPU's operators, of which it is known only what they
// read and write. It is planned as a whole, in one arena.
#pragma once

#include <vector>

#include "intarsia/plugin/artifacts.h"
#include "tflite_writer/region.h"

namespace intarsia::tflite_writer {

// A call: of a region's function, or an operator of the CPU.
struct Step {
  const Region* region = nullptr;  // null: `op`
  int32_t op = -1;
};

// Where a value of the file is in the arena.
struct ArenaPlace {
  int64_t offset = 0, bytes = 0;
  int32_t first_step = 0, last_step = 0;  // of the plan, both included
};

// What a stream finds in the arena and leaves there.
struct KeptPlace {
  graph::Tensor variable;
  ArenaPlace place;
};

struct Program {
  graph::Module module;  // partitioned: a call for each step
  tir::Module lowered;
  Plan plan;
  std::vector<CommandStream> streams;        // of the steps with a region, in their order
  std::map<int32_t, ArenaPlace> places;      // by tensor of the file
  std::vector<std::vector<KeptPlace>> kept;  // of each stream
  int64_t arena_bytes = 0, fast_bytes = 0;
};

Result<Program> make_program(const Original& model, const std::vector<Step>& steps,
                             const Setting& setting);

}  // namespace intarsia::tflite_writer
