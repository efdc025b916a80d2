// Every way to cut an operation into blocks, with what each costs. Operations of one shape have the same, whatever their
// constants hold: a network repeats its shapes, and a schedule asks for them again in every layout, slice and memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "schedule/block_config.h"
#include "schedule/cost.h"

namespace intarsia::targets::ethos_u {

// A preference, and no fact of the hardware: Arm's estimate (OperationBlocks::full_cycles) takes every block to be a full one and
// a read of NHWC to end with its pixel, ours takes them as they are, and no silicon was asked. What costs a tenth more by the
// former is worth two percent by ours: where ours hardly tells two ways apart, the other decides.
inline constexpr double kFullBlocksWeight = 0.2;

struct BlockWays {
  struct Way {
    BlockConfig block;
    double padding =
        1;  // by what zeros in the stream of weights, and blocks that are not full, are taken to make it worse
    double pipeline = 0;  // no shorter than weights take to decode, their headers aside
    double decoding = 0;  // of weights, their headers aside
    double areas = 0;     // blocks of the plane, for each of which weights are read again
    double ifm = 0, ifm2 = 0, ofm = 0;  // cycles of their ports
    double first_fetch = 0, drain = 0;
    double full = 0;  // by Arm's estimate, without weights
  };
  std::vector<Way> ways;
  CostModel::Places places;
  bool has_ifm2 = false;

  // What constants of that size make of a way.
  OperationCost cost(const CostModel& model, const Way& way, const ConstantSizes& constants) const;
};

// May be used by several threads at a time.
class KnownBlockWays {
 public:
  std::shared_ptr<const BlockWays> of(const Hardware& hardware, const CostModel& model,
                                      const Operation& operation, const CostModel::Maps& maps,
                                      const CostModel::Places& places);

 private:
  // Those of a few networks; beyond that all are forgotten.
  static constexpr int64_t kMostWays = int64_t{1} << 18;
  using Shape = std::array<int32_t, 24>;
  struct Hash {
    size_t operator()(const Shape& shape) const;
  };
  static Shape shape_of(const Operation& operation, const CostModel::Maps& maps,
                        const CostModel::Places& places);
  struct Device {
    const Hardware* hardware = nullptr;
    isa::ethos_u::MemorySystem system;
  };
  int32_t number_of(const Hardware& hardware, const isa::ethos_u::MemorySystem& system);

  std::mutex mutex_;
  std::vector<Device> devices_;
  std::unordered_map<Shape, std::shared_ptr<const BlockWays>, Hash> known_;
  int64_t ways_ = 0;
};

}  // namespace intarsia::targets::ethos_u
