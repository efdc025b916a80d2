// Carries out what a stream of the Ethos-U85 asks for, an operation at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_u85/output_stage.h"

namespace intarsia::simulators::ethos_u85 {

// [y][x][c] of an OFM before transposition.
using Results = std::vector<int64_t>;

// What stays in the device from one operation to the next.
struct Machine {
  std::map<uint32_t, Results>
      chained;  // by buffer, as stored, until an operation of the chain writes memory
  // Sums that wait for the next operation.
  struct Kept {
    int32_t height = 0, width = 0, depth = 0;
    Results sums;
  };
  std::optional<Kept> kept;
};

// `max_macs`: the largest operation that is executed.
std::optional<Fault> execute(const Operation& operation, const Configuration& configuration,
                             Memory& memory, Machine& machine, uint64_t max_macs);
std::optional<Fault> execute(const DmaTransfer& transfer, Memory& memory);

// ---- The families; all maps were checked ----
// Sums of products, without bias.
std::optional<Fault> sum_convolution(const Operation& operation, const Configuration& configuration,
                                     const Memory& memory, Results& sums);
std::optional<Fault> sum_pool(const Operation& operation, const Memory& memory, Results& sums);
void sum_resize(const Operation& operation, const Memory& memory, Results& sums);
// Scaled results.
std::optional<Fault> do_elementwise(const Operation& operation, const Memory& memory,
                                    const Machine& machine, Results& results);

}  // namespace intarsia::simulators::ethos_u85
