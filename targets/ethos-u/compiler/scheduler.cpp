#include "scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "constant_streams.h"
#include "feature_map.h"
#include "intarsia/check.h"
#include "prefetch.h"
#include "table_slots.h"
#include "units.h"

namespace intarsia::targets::ethos_u {
namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kStreamAlignment - 1) / kStreamAlignment * kStreamAlignment;
}

// More fast memory than the feature maps need has to pay for itself: so many percent of memory are
// worth one percent of time.
constexpr double kMemoryPerTime = 5;
constexpr double kBudgets[] = {1.0, 1.05, 1.15, 1.35};

class Scheduler {
 public:
  Scheduler(const Hardware& hardware, const Program& program, const ScheduleOptions& options)
      : hardware_(hardware),
        program_(program),
        options_(options),
        cost_(hardware, options.memory),
        places_(program.tensors.size()),
        table_storage_(program.tables.size(), -1) {}

  Schedule run() {
    for (size_t i = 0; i < program_.tensors.size(); ++i) place_tensor(static_cast<int32_t>(i));
    UnitMaker maker(hardware_, program_, cost_, places_, memories_);
    for (size_t i = 0; i < program_.operations.size(); ++i)
      units_.push_back(maker.make(static_cast<int32_t>(i), 0,
                                  program_.operations[i].ofm.extent.depth));
    plan_tables();
    plan_ = choose_plan();
    emit();
    return std::move(result_);
  }

 private:
  const NpuTensor& tensor(int32_t id) const { return program_.tensors.at(static_cast<size_t>(id)); }
  const Operation& operation(const Unit& unit) const {
    return program_.operations.at(static_cast<size_t>(unit.operation));
  }

  // ---- memory ----

  int32_t add_storage(Storage storage, Memory memory) {
    result_.storages.push_back(std::move(storage));
    memories_.push_back(memory);
    return static_cast<int32_t>(result_.storages.size() - 1);
  }

  const TensorPlace& place_tensor(int32_t id) {
    TensorPlace& place = places_.at(static_cast<size_t>(id));
    if (place.storage >= 0) return place;
    const NpuTensor& t = tensor(id);
    if (t.alias_of >= 0) {
      const TensorPlace root = place_tensor(t.alias_of);
      place = {root.storage, root.offset + t.alias_offset, Layout::Nhwc};
      return place;
    }
    Storage storage;
    storage.name = t.name;
    storage.bytes = stored_bytes(t.extent, t.type, Layout::Nhwc);
    storage.parameter = t.parameter;
    Memory memory = Memory::Arena;
    switch (t.kind) {
      case NpuTensor::Kind::Input:
        storage.kind = Storage::Kind::Input;
        break;
      case NpuTensor::Kind::Output:
        storage.kind = Storage::Kind::Output;
        break;
      case NpuTensor::Kind::Inner:
        memory = Memory::Cache;
        break;
      case NpuTensor::Kind::Constant:
        storage.kind = Storage::Kind::Constant;
        storage.contents = t.bytes;
        memory = Memory::Constants;
        break;
    }
    place = {add_storage(std::move(storage), memory), 0, Layout::Nhwc};
    return place;
  }

  bool is_fast(int32_t storage) const {
    return cost_.port(memories_.at(static_cast<size_t>(storage))) == cost_.port(Memory::Cache) &&
           result_.storages[static_cast<size_t>(storage)].kind != Storage::Kind::Constant;
  }

  // Bytes of fast memory that feature maps take while each unit runs.
  std::vector<int64_t> live_bytes() const {
    struct Life {
      size_t first = std::numeric_limits<size_t>::max(), last = 0;
    };
    std::vector<Life> lives(result_.storages.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      const auto touch = [&](const FeatureMap& map) {
        Life& life = lives[static_cast<size_t>(map.span.storage)];
        life.first = std::min(life.first, i);
        life.last = std::max(life.last, i);
      };
      touch(units_[i].ifm);
      touch(units_[i].ofm);
      if (units_[i].ifm2) touch(*units_[i].ifm2);
    }
    std::vector<int64_t> bytes(units_.size(), 0);
    for (size_t s = 0; s < lives.size(); ++s) {
      Life life = lives[s];
      if (life.first > life.last || !is_fast(static_cast<int32_t>(s))) continue;
      if (result_.storages[s].kind == Storage::Kind::Input) life.first = 0;
      if (result_.storages[s].kind == Storage::Kind::Output) life.last = units_.size() - 1;
      for (size_t i = life.first; i <= life.last; ++i)
        bytes[i] += aligned(result_.storages[s].bytes);
    }
    return bytes;
  }

  // ---- constants ----

  void plan_tables() {
    TableSlots slots(hardware_);
    slots_.resize(units_.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      const Operation& op = operation(units_[i]);
      if (op.activation != Activation::Lut) {
        slots.clobber(static_cast<int32_t>(i));
        continue;
      }
      const auto bytes =
          static_cast<int64_t>(program_.tables.at(static_cast<size_t>(op.lut)).bytes.size());
      slots_[i] = slots.use(op.lut, bytes, static_cast<int32_t>(i));
    }
  }

  const ConstantStream& stream(const Unit& unit, const BlockConfig& block) {
    const auto key = std::tuple(unit.operation, unit.first, unit.end, block.ofm.depth, block.part_kernel);
    const auto [place, fresh] = streams_.try_emplace(key);
    if (fresh)
      place->second = make_constant_stream(hardware_, operation(unit), unit.ifm.type, block,
                                           unit.first, unit.end);
    return place->second;
  }

  bool constants_are_slow() const {
    return cost_.memory(Memory::Constants).bytes_per_cycle <
           cost_.memory(Memory::Cache).bytes_per_cycle;
  }

  PrefetchPlan choose_plan() {
    const std::vector<int64_t> live = live_bytes();
    std::vector<PrefetchUnit> units(units_.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      const Unit& unit = units_[i];
      PrefetchUnit& out = units[i];
      out.direct = unit.direct;
      out.fetched = unit.fetched;
      out.live_bytes = live[i];
      if (has_weights(operation(unit).kind) && constants_are_slow()) {
        out.bytes = static_cast<int64_t>(stream(unit, unit.fetched_block).bytes.size());
        out.transfer = cost_.transfer(Memory::Constants, Memory::Cache, out.bytes);
      }
      out.has_table = slots_[i].load;
      if (out.has_table) {
        const auto lut = static_cast<size_t>(operation(unit).lut);
        out.table = cost_.transfer(Memory::Constants, std::nullopt,
                                   static_cast<int64_t>(program_.tables.at(lut).bytes.size()));
        out.table_earliest = slots_[i].earliest;
      }
    }
    const int64_t base = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
    if (options_.sram_limit)
      return plan_prefetch(hardware_, units, std::max(base, *options_.sram_limit));
    if (options_.for_size) return plan_prefetch(hardware_, units, base);
    PrefetchPlan best;
    double best_score = std::numeric_limits<double>::infinity();
    for (const double factor : kBudgets) {
      PrefetchPlan plan = plan_prefetch(
          hardware_, units, static_cast<int64_t>(static_cast<double>(base) * factor));
      const double memory = static_cast<double>(std::max(plan.peak_bytes, base)) /
                            static_cast<double>(std::max<int64_t>(base, 1));
      const double score = plan.cycles * std::pow(memory, 1 / kMemoryPerTime);
      if (score < best_score) {
        best_score = score;
        best = std::move(plan);
      }
    }
    return best;
  }

  // ---- steps ----

  void emit() {
    for (size_t k = 0; k < units_.size(); ++k) {
      for (size_t i = k; i < units_.size(); ++i) {
        if (plan_.table_position[i] == static_cast<int32_t>(k)) emit_table(i);
        if (plan_.position[i] == static_cast<int32_t>(k)) emit_transfer(i);
      }
      emit_unit(k);
    }
  }

  int32_t constant_storage(size_t i) {
    const Unit& unit = units_[i];
    const BlockConfig& block = plan_.fetched[i] ? unit.fetched_block : unit.direct_block;
    const ConstantStream& constants = stream(unit, block);
    return add_storage({operation(unit).node, Storage::Kind::Constant, -1,
                        static_cast<int64_t>(constants.bytes.size()), constants.bytes},
                       Memory::Constants);
  }

  void emit_table(size_t i) {
    const Operation& op = operation(units_[i]);
    const LookUpTable& table = program_.tables.at(static_cast<size_t>(op.lut));
    const auto bytes = static_cast<int64_t>(table.bytes.size());
    int32_t& storage = table_storage_.at(static_cast<size_t>(op.lut));
    if (storage < 0)
      storage = add_storage({table.name, Storage::Kind::Constant, -1, bytes, table.bytes},
                            Memory::Constants);
    Step transfer;
    transfer.node = op.node;
    transfer.from = {storage, 0, bytes};
    transfer.to = {-1, hardware_.lut_address() + slots_[i].number * kLutSlotBytes, bytes};
    result_.steps.push_back(std::move(transfer));
  }

  void emit_transfer(size_t i) {
    const int32_t from = constant_storage(i);
    const int64_t bytes = result_.storages[static_cast<size_t>(from)].bytes;
    Storage buffer;
    buffer.name = operation(units_[i]).node;
    buffer.bytes = bytes;
    const int32_t to = add_storage(std::move(buffer), Memory::Cache);
    buffers_[i] = to;
    Step transfer;
    transfer.node = operation(units_[i]).node;
    transfer.from = {from, 0, bytes};
    transfer.to = {to, 0, bytes};
    result_.steps.push_back(std::move(transfer));
  }

  void emit_unit(size_t i) {
    const Unit& unit = units_[i];
    const Operation& op = operation(unit);
    Step step;
    step.operation = unit.operation;
    step.node = op.node;
    step.ifm = unit.ifm;
    step.ofm = unit.ofm;
    step.ifm2 = unit.ifm2;
    step.pads = op.pads;
    step.block = plan_.fetched[i] ? unit.fetched_block : unit.direct_block;
    step.table_slot = slots_[i].number;
    if (has_weights(op.kind)) {
      const int32_t storage = plan_.fetched[i] ? buffers_.at(i) : constant_storage(i);
      const ConstantStream& constants = stream(unit, step.block);
      step.weights = constants.weights;
      step.scales = constants.scales;
      for (Span& span : step.weights) span.storage = storage;
      for (Span& span : step.scales) span.storage = storage;
    }
    result_.steps.push_back(std::move(step));
  }

  const Hardware& hardware_;
  const Program& program_;
  const ScheduleOptions& options_;
  CostModel cost_;
  std::vector<TensorPlace> places_;
  std::vector<Memory> memories_;  // by storage
  std::vector<int32_t> table_storage_;
  std::vector<Unit> units_;
  std::vector<TableSlots::Slot> slots_;  // by unit
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, bool>, ConstantStream> streams_;
  std::map<size_t, int32_t> buffers_;  // of fetched constants, by unit
  PrefetchPlan plan_;
  Schedule result_;
};

}  // namespace

Schedule make_schedule(const Hardware& hardware, const Program& program,
                       const ScheduleOptions& options) {
  return Scheduler(hardware, program, options).run();
}

}  // namespace intarsia::targets::ethos_u
