// Layers that run together, stripe by stripe in rows: a stripe of a feature map that only they need goes from the
// PLE to SRAM and from there to the next layer, and its place to a later stripe. DRAM sees what enters and leaves.
//
// A feature map in SRAM is a ring of slots of as many rows as a stripe of its readers has; its writer fills a
// slot in one or several pieces. From the order of the steps (intarsia/npu/cascade_order.h) follow how many slots a ring
// has, and from when to when each place in SRAM is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "commands/mce_registers.h"
#include "intarsia/npu/cascade_order.h"
#include "intarsia/plugin/rounding.h"
#include "program/program.h"
#include "schedule/traffic.h"
#include "stripes/stripes.h"
#include "weights/weight_store.h"

namespace intarsia::targets::ethos_n {

struct CascadeMap {
  FeatureMap map;                         // in DRAM, where `loads`; its shape everywhere
  bool loads = false;                     // no layer of the cascade writes it
  std::vector<FeatureMap> stores;         // where it goes to DRAM
  int64_t slot_rows = 0, piece_rows = 0;  // a slot is filled in pieces
  int64_t slots = 1, slot_bytes = 0;      // bytes of a bank
  int64_t address = 0;                    // of a bank

  int64_t row_bytes(const Variant& variant) const {
    return sram_bytes(variant, 8, map.width, map.depth);
  }
  // Where rows from `row` on are: a multiple of 8.
  int64_t place(const Variant& variant, int64_t row) const {
    return address + row / slot_rows % slots * slot_bytes +
           row % slot_rows / 8 * row_bytes(variant);
  }
};

inline constexpr int64_t kPartsAtOnce = 2;

struct CascadeLayer {
  size_t number = 0;  // in the program
  StripePlan plan;
  std::vector<size_t> inputs;  // maps
  size_t output = 0;
  size_t kernel = 0;    // of the cascade's
  int64_t weights = 0;  // address
  // The weights are not there for good: they share their place with other layers', and come in parts of this many
  // channels of the output, each of which is a stripe of the MCE; the PLE takes them for one.
  bool reloads = false;
  int64_t part = 0;             // all channels, where it does not reload
  int64_t part_slot_bytes = 0;  // of a bank: of the two parts that are there at once

  int64_t parts(const Layer& layer) const {
    return layer.mce ? ceil_div(layer.mce->depth, part) : 1;
  }
};

struct CascadeKernel {
  const PleKernel* kernel = nullptr;
  bool loads = false;  // else the PLE has it already, and keeps it
  int64_t address = 0;
};

struct CascadeStep {
  size_t layer = 0;  // of the cascade
  int64_t stripe = 0;
  std::vector<npu::CascadeStep::Load> loads;         // before it
  bool loads_weights = false, loads_kernel = false;  // into SRAM
  bool switches_kernel = false;                      // of the PLE
};

struct Cascade {
  std::vector<CascadeMap> maps;
  std::vector<CascadeLayer> layers;  // copies, which are nothing here, are left out
  std::vector<CascadeKernel> kernels;
  std::vector<CascadeStep> steps;
  int64_t bank_bytes = 0;  // from 0 to the end of what is used
  Traffic traffic;
};

// Layers first .. end - 1 of the program; nothing: they cannot run so, or it does not fit. `before`: the kernel that
// the PLE has at that time.
std::optional<Cascade> plan_cascade(const Variant& variant, const Program& program, size_t first,
                                    size_t end, const PleKernel* before, WeightStore& weights);

}  // namespace intarsia::targets::ethos_n
