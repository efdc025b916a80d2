#include "schedule/step_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {

StepWriter::StepWriter(ScheduleDraft& draft, ConstantPlanner& constants,
                       const npu::PrefetchPlan& plan)
    : draft_(draft),
      planner_(constants),
      plan_(plan),
      table_places_(draft.program.tables.size(), Span{-1, 0, 0}) {}

void StepWriter::retract() {
  const auto kept = static_cast<ptrdiff_t>(storages_before_);
  draft_.schedule.steps.clear();
  draft_.streamed.clear();
  draft_.schedule.storages.erase(draft_.schedule.storages.begin() + kept,
                                 draft_.schedule.storages.end());
  draft_.memories.erase(draft_.memories.begin() + kept, draft_.memories.end());
}

void StepWriter::make_buffers() {
  for (size_t i = 0; i < draft_.units.size(); ++i) {
    if (!plan_.fetched[i]) continue;
    Storage buffer;
    buffer.name = draft_.operation(draft_.units[i]).node;
    const Unit& unit = draft_.units[i];
    const int32_t group = draft_.group_of(unit);
    buffer.bytes =
        group >= 0 ? draft_.schedule.storages[static_cast<size_t>(group)].bytes
        : unit.weights_kept
            ? unit.scale_bytes
            : static_cast<int64_t>(planner_.stream(unit, unit.fetched_block).bytes.size()) -
                  (unit.repeated >= 0 ? unit.scale_bytes : 0);
    buffer.fast = true;
    buffers_[i] = draft_.add_storage(std::move(buffer), Memory::Cache);
  }
}

void StepWriter::write() {
  storages_before_ = draft_.schedule.storages.size();
  make_buffers();
  list_transfers();
  keep_weights();
  for (size_t k = 0; k < draft_.units.size(); ++k) {
    for (const size_t i : issued_[k]) {
      if (plan_.table_position[i] == static_cast<int32_t>(k)) {
        if (planner_.slots()[i].load) write_table(i);
        for (const ConstantPlanner::Kept& copy : kept_)
          if (copy.first == i) write_copy(copy);
      }
      if (plan_.position[i] == static_cast<int32_t>(k)) write_transfer(i);
    }
    write_unit(k);
  }
}

// Programs have thousands of units: each is not compared with all behind it.
void StepWriter::list_transfers() {
  const size_t count = draft_.units.size();
  issued_.assign(count, {});
  reserved_.assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    const int32_t table = plan_.table_position[i], position = plan_.position[i];
    const auto own = static_cast<int32_t>(i);
    if (table >= 0 && table <= own) issued_[static_cast<size_t>(table)].push_back(i);
    if (position >= 0 && position <= own && position != table)
      issued_[static_cast<size_t>(position)].push_back(i);
    if (!plan_.fetched[i]) continue;
    for (int32_t k = std::max(plan_.reserved_from[i], 0); k <= own && k < position; ++k)
      reserved_[static_cast<size_t>(k)].push_back(i);
  }
}

size_t StepWriter::owner_of(size_t i) const {
  return draft_.units[i].owner < 0 ? i : static_cast<size_t>(draft_.units[i].owner);
}

int32_t StepWriter::constant_storage(size_t i) {
  const Unit& unit = draft_.units[i];
  if (const int32_t group = draft_.group_of(unit); group >= 0) return group;
  if (unit.owner >= 0) return constants_.at(owner_of(i));
  const BlockConfig& block = plan_.fetched[i] ? unit.fetched_block : unit.direct_block;
  const ConstantStream& constants = planner_.stream(unit, block);
  if (unit.repeated >= 0) return constants_[i] = stored_once(i, in_parts(constants).scale_bytes);
  if (draft_.shares_constants(unit)) return constants_[i] = stored_once(i, constants.bytes);
  constants_[i] = draft_.add_storage({draft_.operation(unit).node,
                                      Storage::Kind::Constant,
                                      -1,
                                      static_cast<int64_t>(constants.bytes.size()),
                                      {}},
                                     Memory::Constants);
  draft_.streamed.emplace_back(constants_[i], &constants);
  return constants_[i];
}

int32_t StepWriter::stored_once(size_t i, std::vector<uint8_t> bytes) {
  const auto [known, fresh] = once_.try_emplace(std::string(bytes.begin(), bytes.end()), -1);
  if (fresh)
    known->second =
        draft_.add_storage({draft_.operation(draft_.units[i]).node, Storage::Kind::Constant, -1,
                            std::ssize(bytes), std::move(bytes)},
                           Memory::Constants);
  return known->second;
}

int32_t StepWriter::weight_storage(int32_t group, const std::vector<uint8_t>& bytes) {
  const auto [at, fresh] = weights_.try_emplace(group, -1);
  if (fresh) {
    const auto first = static_cast<size_t>(
        draft_.maker.copies().groups.at(static_cast<size_t>(group)).operations.front());
    at->second = draft_.add_storage({draft_.program.operations.at(first).node,
                                     Storage::Kind::Constant, -1, std::ssize(bytes), bytes},
                                    Memory::Constants);
  }
  INTARSIA_CHECK(draft_.schedule.storages[static_cast<size_t>(at->second)].contents == bytes,
                 "operations of a group take their weights in one order");
  return at->second;
}

void StepWriter::keep_weights() {
  kept_ = planner_.kept();
  for (const ConstantPlanner::Kept& copy : kept_) {
    Storage buffer;
    buffer.name = draft_.operation(draft_.units[copy.first]).node;
    buffer.bytes = copy.bytes;
    buffer.fast = true;
    copies_[copy.group] = draft_.add_storage(std::move(buffer), Memory::Cache);
  }
}

void StepWriter::write_copy(const ConstantPlanner::Kept& copy) {
  const Unit& unit = draft_.units[copy.first];
  const ConstantParts parts = in_parts(planner_.stream(unit, unit.fetched_block));
  Step transfer;
  transfer.node = draft_.operation(unit).node;
  transfer.from = {weight_storage(copy.group, parts.weight_bytes), 0, copy.bytes};
  transfer.to = {copies_.at(copy.group), 0, copy.bytes};
  draft_.schedule.steps.push_back(std::move(transfer));
}

void StepWriter::write_table(size_t i) {
  const Operation& op = draft_.operation(draft_.units[i]);
  const TableSlots::Slot& slot = planner_.slots()[i];
  std::vector<int32_t> tables = {op.lut};
  tables.insert(tables.end(), slot.more.begin(), slot.more.end());
  const auto table = [&](int32_t id) -> const LookUpTable& {
    return draft_.program.tables.at(static_cast<size_t>(id));
  };
  Span& first = table_places_.at(static_cast<size_t>(op.lut));
  if (first.storage < 0) {
    std::vector<uint8_t> bytes;
    for (const int32_t id : tables) {
      table_places_.at(static_cast<size_t>(id)).offset = std::ssize(bytes);
      bytes.insert(bytes.end(), table(id).bytes.begin(), table(id).bytes.end());
    }
    const int32_t storage = draft_.add_storage(
        {table(op.lut).name, Storage::Kind::Constant, -1, std::ssize(bytes), bytes},
        Memory::Constants);
    for (const int32_t id : tables) {
      Span& place = table_places_.at(static_cast<size_t>(id));
      place.storage = storage;
      place.bytes = std::ssize(table(id).bytes);
    }
  }
  int64_t bytes = 0;
  for (const int32_t id : tables) bytes += std::ssize(table(id).bytes);
  Step transfer;
  transfer.node = op.node;
  transfer.from = {first.storage, first.offset, bytes};
  transfer.to = {-1, draft_.hardware.lut_address() + slot.number * kLutSlotBytes, bytes};
  draft_.schedule.steps.push_back(std::move(transfer));
}

void StepWriter::write_transfer(size_t i) {
  const Unit& unit = draft_.units[i];
  const int32_t from =
      unit.repeated >= 0 && !unit.weights_kept
          ? weight_storage(unit.repeated,
                           in_parts(planner_.stream(unit, unit.fetched_block)).weight_bytes)
          : constant_storage(i);
  const int64_t bytes = draft_.schedule.storages[static_cast<size_t>(from)].bytes;
  Step transfer;
  transfer.node = draft_.operation(draft_.units[i]).node;
  transfer.from = {from, 0, bytes};
  transfer.to = {buffers_.at(i), 0, bytes};
  draft_.schedule.steps.push_back(std::move(transfer));
}

void StepWriter::take_constants(size_t i, bool fetched, Step& step) {
  const Unit& unit = draft_.units[i];
  const ConstantStream& constants = planner_.stream(draft_.units[owner_of(i)], step.block);
  const bool is_apart = unit.repeated >= 0 || (!fetched && draft_.shares_constants(unit));
  int32_t weights = -1, scales = -1;
  if (is_apart) {
    ConstantParts parts = in_parts(constants);
    if (unit.weights_kept)
      weights = copies_.at(unit.repeated);
    else if (fetched)
      weights = buffers_.at(owner_of(i));
    else if (unit.repeated >= 0)
      weights = weight_storage(unit.repeated, parts.weight_bytes);
    else
      weights = stored_once(i, std::move(parts.weight_bytes));
    if (unit.repeated < 0)
      scales = stored_once(i, std::move(parts.scale_bytes));
    else
      scales = unit.weights_kept && fetched ? buffers_.at(owner_of(i)) : constant_storage(i);
    step.weights = std::move(parts.weights);
    step.scales = std::move(parts.scales);
  } else {
    weights = scales = fetched ? buffers_.at(owner_of(i)) : constant_storage(i);
    step.weights = constants.weights;
    step.scales = constants.scales;
  }
  for (Span& span : step.weights) span.storage = weights;
  for (Span& span : step.scales) span.storage = scales;
}

void StepWriter::write_unit(size_t i) {
  const Unit& unit = draft_.units[i];
  const Operation& op = draft_.operation(unit);
  Step step;
  step.operation = unit.view;
  step.node = op.node;
  step.ifm = unit.ifm;
  step.ofm = unit.ofm;
  step.ifm2 = unit.ifm2;
  step.pads = unit.pads;
  const bool fetched = plan_.fetched[owner_of(i)];
  step.block = fetched ? unit.fetched_block : unit.direct_block;
  step.table_slot = planner_.slots()[i].number;
  for (const size_t later : reserved_[i]) step.reserved.push_back(buffers_.at(later));
  for (const ConstantPlanner::Kept& copy : kept_)
    if (copy.from <= i && static_cast<int32_t>(i) < plan_.table_position[copy.first])
      step.reserved.push_back(copies_.at(copy.group));
  if (fetched && !has_weights(op.kind)) {
    for (FeatureMap* map : {&step.ifm, step.ifm2 ? &*step.ifm2 : nullptr})
      if (map != nullptr && draft_.groups.contains(map->span.storage))
        map->span.storage = buffers_.at(owner_of(i));
  }
  if (has_weights(op.kind)) take_constants(i, fetched, step);
  draft_.schedule.steps.push_back(std::move(step));
}

}  // namespace intarsia::targets::ethos_u
