#include "scheduler.h"

#include <algorithm>
#include <limits>

#include "constant_streams.h"
#include "feature_map.h"
#include "intarsia/check.h"
#include "weight_encoder.h"

namespace intarsia::targets::ethos_u {
namespace {

// Which tables lie in SHRAM where.
class TableSlots {
 public:
  explicit TableSlots(const Hardware& hardware) : hardware_(hardware) {}

  struct Slot {
    int32_t number = 0;
    bool load = false;  // it is not there yet
  };
  Slot use(int32_t table, int64_t bytes) {
    for (size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].table == table) {
        std::rotate(entries_.begin() + static_cast<int64_t>(i),
                    entries_.begin() + static_cast<int64_t>(i) + 1, entries_.end());
        return {entries_.back().number, false};
      }
    // Tables lie at multiples of their size; of the places the one whose last user is longest ago.
    const auto slots = static_cast<int32_t>(bytes / kLutSlotBytes);
    int32_t best = 0;
    size_t best_age = 0;
    for (int32_t number = 0; number + slots <= kLutBytes / kLutSlotBytes; number += slots) {
      size_t age = entries_.size();
      for (size_t i = 0; i < entries_.size(); ++i)
        if (overlaps(entries_[i], number, bytes)) age = entries_.size() - 1 - i;
      if (number == 0 || age > best_age) {
        best = number;
        best_age = age;
      }
    }
    std::erase_if(entries_, [&](const Entry& entry) { return overlaps(entry, best, bytes); });
    entries_.push_back({table, best, bytes});
    return {best, true};
  }
  // An operation without table was run.
  void clobber() {
    if (hardware_.reserved_banks() == 0) entries_.clear();
  }

 private:
  struct Entry {
    int32_t table, number;
    int64_t bytes;
  };
  static bool overlaps(const Entry& entry, int32_t number, int64_t bytes) {
    const int64_t mine = entry.number * kLutSlotBytes, other = number * kLutSlotBytes;
    return mine < other + bytes && other < mine + entry.bytes;
  }
  const Hardware& hardware_;
  std::vector<Entry> entries_;  // least recently used first
};

class Scheduler {
 public:
  Scheduler(const Hardware& hardware, const Program& program, const ScheduleOptions& options)
      : hardware_(hardware),
        program_(program),
        cost_(hardware, options.memory),
        tables_(hardware),
        places_(program.tensors.size()),
        table_storage_(program.tables.size(), -1) {}

  Schedule run() {
    for (size_t i = 0; i < program_.tensors.size(); ++i) place_tensor(static_cast<int32_t>(i));
    for (size_t i = 0; i < program_.operations.size(); ++i)
      schedule_operation(static_cast<int32_t>(i));
    return std::move(result_);
  }

 private:
  const NpuTensor& tensor(int32_t id) const { return program_.tensors.at(static_cast<size_t>(id)); }

  int32_t add_storage(Storage storage) {
    result_.storages.push_back(std::move(storage));
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
    switch (t.kind) {
      case NpuTensor::Kind::Input:
        storage.kind = Storage::Kind::Input;
        break;
      case NpuTensor::Kind::Output:
        storage.kind = Storage::Kind::Output;
        break;
      case NpuTensor::Kind::Inner:
        break;
      case NpuTensor::Kind::Constant:
        storage.kind = Storage::Kind::Constant;
        storage.contents = t.bytes;
        break;
    }
    place = {add_storage(std::move(storage)), 0, Layout::Nhwc};
    return place;
  }

  FeatureMap map_of(const Operand& operand) const {
    return feature_map(tensor(operand.tensor), operand,
                       places_.at(static_cast<size_t>(operand.tensor)));
  }

  Memory memory_of(int32_t storage) const {
    return result_.storages.at(static_cast<size_t>(storage)).kind == Storage::Kind::Constant
               ? Memory::Constants
               : Memory::Arena;
  }

  void schedule_operation(int32_t index) {
    const Operation& operation = program_.operations.at(static_cast<size_t>(index));
    Step step;
    step.operation = index;
    step.node = operation.node;
    step.ifm = map_of(operation.ifm);
    step.ofm = map_of(operation.ofm);
    if (operation.ifm2) step.ifm2 = map_of(*operation.ifm2);
    step.pads = operation.pads;
    choose_block(operation, step);
    if (has_weights(operation.kind)) add_weights(operation, step);
    if (operation.activation == Activation::Lut) {
      add_table(operation, step);
    } else {
      tables_.clobber();
    }
    result_.steps.push_back(std::move(step));
  }

  void choose_block(const Operation& operation, Step& step) const {
    CostModel::Places places;
    places.ifm = memory_of(step.ifm.span.storage);
    places.ofm = memory_of(step.ofm.span.storage);
    if (step.ifm2) places.ifm2 = memory_of(step.ifm2->span.storage);
    const int64_t weight_bytes =
        has_weights(operation.kind) ? estimate_weight_bytes(operation.weights) : 0;
    const auto scale_bytes = static_cast<int64_t>(operation.scales.size()) * kScaleBytes;
    double best = std::numeric_limits<double>::infinity();
    BlockConfig chosen;
    for (const BlockConfig& block :
         block_candidates(hardware_, block_request(operation, step.ifm.type, step.ofm.extent))) {
      step.block = block;
      const double cycles = cost_.cycles(operation, step, places, weight_bytes, scale_bytes);
      if (cycles < best) {
        best = cycles;
        chosen = block;
      }
    }
    step.block = chosen;
  }

  void add_weights(const Operation& operation, Step& step) {
    ConstantStream stream =
        make_constant_stream(hardware_, operation, step.ifm.type, step.block, 0,
                             operation.ofm.extent.depth);
    Storage storage;
    storage.name = operation.node;
    storage.kind = Storage::Kind::Constant;
    storage.bytes = static_cast<int64_t>(stream.bytes.size());
    storage.contents = std::move(stream.bytes);
    const int32_t id = add_storage(std::move(storage));
    for (Span& span : stream.weights) span.storage = id;
    for (Span& span : stream.scales) span.storage = id;
    step.weights = std::move(stream.weights);
    step.scales = std::move(stream.scales);
  }

  void add_table(const Operation& operation, Step& step) {
    const LookUpTable& table = program_.tables.at(static_cast<size_t>(operation.lut));
    const auto bytes = static_cast<int64_t>(table.bytes.size());
    const TableSlots::Slot slot = tables_.use(operation.lut, bytes);
    step.table_slot = slot.number;
    if (!slot.load) return;
    int32_t& storage = table_storage_.at(static_cast<size_t>(operation.lut));
    if (storage < 0)
      storage = add_storage({table.name, Storage::Kind::Constant, -1, bytes, table.bytes});
    Step transfer;
    transfer.node = operation.node;
    transfer.from = {storage, 0, bytes};
    transfer.to = {-1, hardware_.lut_address() + slot.number * kLutSlotBytes, bytes};
    result_.steps.push_back(std::move(transfer));
  }

  const Hardware& hardware_;
  const Program& program_;
  CostModel cost_;
  TableSlots tables_;
  std::vector<TensorPlace> places_;
  std::vector<int32_t> table_storage_;
  Schedule result_;
};

}  // namespace

Schedule make_schedule(const Hardware& hardware, const Program& program,
                       const ScheduleOptions& options) {
  return Scheduler(hardware, program, options).run();
}

}  // namespace intarsia::targets::ethos_u
