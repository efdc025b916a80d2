// A schedule while it is made: where every tensor lies, and which units of work run in which order.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"
#include "program/program.h"
#include "schedule/cost.h"
#include "schedule/feature_map.h"
#include "schedule/schedule.h"
#include "schedule/scheduler.h"
#include "schedule/units.h"

namespace intarsia::targets::ethos_u {

inline int64_t aligned_to_stream(int64_t bytes) {
  return round_up(bytes, kStreamAlignment);
}

// Units that touch a storage, and all between them; none where `first` is behind `last`.
struct MapLife {
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
};

// The stages of the scheduler change it one after the other: layouts, stripes, memories, constants, steps.
// `maker` refers to its members: it stays where it was made.
class ScheduleDraft {
 public:
  // Places all tensors in NHWC, feature maps in fast memory, with one unit for each operation.
  // `known`: streams of the program that other drafts have asked for.
  ScheduleDraft(const Hardware& hardware, const Program& program, const ScheduleOptions& options,
                KnownConstantStreams& known, WeightCopies copies = {});
  ScheduleDraft(const ScheduleDraft&) = delete;
  ScheduleDraft& operator=(const ScheduleDraft&) = delete;

  const NpuTensor& tensor(int32_t id) const { return program.tensors.at(static_cast<size_t>(id)); }
  const Operation& operation(const Unit& unit) const {
    return program.operations.at(static_cast<size_t>(unit.operation));
  }
  int32_t add_storage(Storage storage, Memory memory);

  // The group of constants that the unit reads as feature maps; -1: none.
  int32_t group_of(const Unit& unit) const;
  // Whether other operations have the weights or the scales of the unit's, too.
  bool shares_constants(const Unit& unit) const {
    return common_constants_[static_cast<size_t>(unit.operation)];
  }
  bool is_fast(int32_t storage) const;
  bool constants_are_slow() const;

  // Of storages that are feature maps.
  std::vector<MapLife> map_lives() const;
  // Bytes of fast memory that feature maps take while each unit runs.
  std::vector<int64_t> live_bytes() const;
  int64_t peak_bytes() const;

  // Units keep the places that they were made with.
  void set_layout(int32_t id, Layout layout);
  // The unit of a whole operation again, after places have changed.
  void make_whole(size_t operation);
  // Whether BLOCKDEP of a unit behind another is 0, with constants in fast memory.
  bool waits_for_last(const Unit& before, const Unit& unit);
  // The same of units that are not asked for again: remembering it takes as long as finding it.
  bool waits_for_last_once(const Unit& before, const Unit& unit) const;

  const Hardware& hardware;
  const Program& program;
  const ScheduleOptions& options;
  KnownConstantStreams& streams;
  CostModel cost;
  std::vector<TensorPlace> places;
  std::vector<int32_t> in_place_of;  // by tensor: whose place it takes; -1
  std::vector<Memory> memories;      // by storage
  std::set<int32_t> groups;          // storages of constants that are read as feature maps
  std::vector<Unit> units;
  Schedule schedule;
  // Storages that hold streams, which are copied into those of the schedule that is kept.
  std::vector<std::pair<int32_t, const ConstantStream*>> streamed;
  UnitMaker maker;

 private:
  std::vector<bool> common_constants_;  // by operation
  bool is_whole(const Operand& operand) const;
  void find_in_place();
  const TensorPlace& place_tensor(int32_t id);
  void place_groups();

  // What it follows from, of both units.
  using Pair = std::array<uint64_t, 8>;
  struct PairHash {
    size_t operator()(const Pair& pair) const;
  };
  std::unordered_map<Pair, bool, PairHash> waits_;
};

}  // namespace intarsia::targets::ethos_u
