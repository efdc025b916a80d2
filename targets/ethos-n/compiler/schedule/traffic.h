// What a way to run layers costs: the bytes that the DMA moves between DRAM and SRAM (feature maps, weights as
// often as they are loaded, code of PLE kernels), and its stripes, whose commands are read from DRAM too.
#pragma once

#include <cstdint>

#include "program/program.h"
#include "schedule/placement.h"
#include "weights/weight_store.h"

namespace intarsia::targets::ethos_n {

struct Traffic {
  int64_t bytes = 0;
  int64_t stripes = 0;

  // Commands of a stripe: registers of the MCE and the PLE, a transfer or two, some waits.
  int64_t with_commands() const { return bytes + 600 * stripes; }
  Traffic& operator+=(const Traffic& other) {
    bytes += other.bytes;
    stripes += other.stripes;
    return *this;
  }
};

// As the DMA moves it: bricks are whole.
int64_t transfer_bytes(const FeatureMap& map, int64_t rows);

// Of one layer by itself. `loads_kernel`: its kernel is not the one that the PLE has.
Traffic traffic_of(const Layer& layer, size_t number, const LayerPlacement& placement,
                   WeightStore& weights, bool loads_kernel);

}  // namespace intarsia::targets::ethos_n
