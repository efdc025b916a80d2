// How a layer is cut so that what it needs at once fits into SRAM: in rows, and in channels of the
// output. Widths are not cut, and neither are channels of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/program.h"

namespace intarsia::targets::ethos_n {

// Bytes of a bank, for h x w x c elements.
int64_t sram_bytes(const Variant& variant, int64_t height, int64_t width, int64_t channels);

struct StripePlan {
  int64_t count = 1;                   // in rows
  int64_t input_rows = 0;              // of a stripe but the last
  int64_t mce_rows = 0;                // that the MCE makes of one (layers with an MCE)
  int64_t output_rows = 0;             // that reach SRAM
  int64_t depth_count = 1, depth = 0;  // channels of the output in one stripe
  bool needs_neighbours = false;       // rows of the stripes above and below
  bool keeps_weights = true;           // all stripes of the weights are in SRAM at once
  int64_t input_slots = 1, output_slots = 1, weight_slots = 1;
  int64_t input_slot_bytes = 0, output_slot_bytes = 0, weight_slot_bytes = 0;  // of a bank

  // Slots of the input that one stripe reads: above it, its own, below.
  int64_t slots_in_work() const { return needs_neighbours ? 3 : 1; }

  int64_t bank_bytes(size_t inputs) const {
    return kKernelBytes + static_cast<int64_t>(inputs) * input_slots * input_slot_bytes +
           output_slots * output_slot_bytes + weight_slots * weight_slot_bytes;
  }
};

// Nothing: no cut makes it fit.
std::optional<StripePlan> plan_stripes(const Variant& variant, const Layer& layer);

// Its kernel takes all rows at once.
bool needs_whole_height(const Layer& layer);

// Rows and columns of the MCE's result for one of the output: pools take two.
int64_t rows_per_output_row(const Layer& layer);

// Rows that the MCE's result has for a stripe of the input.
inline int64_t upscale_factor(const Layer& layer) {
  return layer.mce && layer.mce->upscale != Upscale::None ? 2 : 1;
}

}  // namespace intarsia::targets::ethos_n
