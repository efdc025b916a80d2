// Which layers run one after another and which together: of all ways to cut the program into sections, the one
// that reads and writes the fewest bytes of DRAM, commands included, but moves no more of the others than layer by
// layer.
#pragma once

#include <optional>
#include <vector>

#include "program/program.h"
#include "schedule/cascade.h"
#include "schedule/placement.h"
#include "weights/weight_store.h"

namespace intarsia::targets::ethos_n {

struct Section {
  size_t first = 0, end = 0;               // layers
  std::optional<Cascade> cascade;          // together
  std::vector<LayerPlacement> placements;  // else: one for each
  Traffic traffic;
};

// In order, all layers once.
std::vector<Section> cut_into_sections(const Variant& variant, const Program& program,
                                       WeightStore& weights);
// The same with every layer by itself: the measure.
std::vector<Section> cut_into_layers(const Variant& variant, const Program& program,
                                     WeightStore& weights);

}  // namespace intarsia::targets::ethos_n
