// Where in SRAM each layer works, and which results stay there for the next layer instead of going to
// DRAM and back.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "stripes/stripes.h"

namespace intarsia::targets::ethos_n {

struct LayerPlacement {
  StripePlan plan;
  // Bytes of a bank. `inputs`: one address per input, of its first slot.
  int64_t kernel = 0, weights = 0, outputs = 0;
  std::vector<int64_t> inputs;
  std::vector<bool> input_stays;  // it is there already, from the layer before
  bool output_stays = false;      // the next layer takes it from here
};

// For each layer, whether the next one alone reads what it writes, and nobody else writes there.
std::vector<bool> feeds_next_only(const Program& program);

// One for each layer from `first` to `end`, in order. `plans`, `feeds_next`: of all layers.
std::vector<LayerPlacement> place_layers(const Variant& variant, const Program& program,
                                         const std::vector<StripePlan>& plans,
                                         const std::vector<bool>& feeds_next, size_t first,
                                         size_t end);

}  // namespace intarsia::targets::ethos_n
