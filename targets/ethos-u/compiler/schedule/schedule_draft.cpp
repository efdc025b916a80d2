#include "schedule/schedule_draft.h"

#include <algorithm>
#include <utility>

#include "schedule/cascade.h"
#include "schedule/constant_groups.h"
#include "schedule/dependencies.h"

namespace intarsia::targets::ethos_u {

ScheduleDraft::ScheduleDraft(const Hardware& its_hardware, const Program& its_program,
                             const ScheduleOptions& its_options, KnownConstantStreams& known,
                             WeightCopies copies)
    : hardware(its_hardware),
      program(its_program),
      options(its_options),
      streams(known),
      cost(its_hardware, its_options.memory),
      places(its_program.tensors.size()),
      maker(hardware, program, schedule.operations, cost, *options.block_ways, *options.encoded,
            places, memories),
      common_constants_(constants_in_common(program)) {
  find_in_place();
  if (constants_are_slow()) place_groups();
  for (size_t i = 0; i < program.tensors.size(); ++i) place_tensor(static_cast<int32_t>(i));
  schedule.operations = program.operations;
  maker.take(std::move(copies));
  units.resize(program.operations.size());
  for (size_t i = 0; i < units.size(); ++i) make_whole(i);
}

int32_t ScheduleDraft::add_storage(Storage storage, Memory memory) {
  schedule.storages.push_back(std::move(storage));
  memories.push_back(memory);
  return static_cast<int32_t>(schedule.storages.size() - 1);
}

bool ScheduleDraft::is_whole(const Operand& operand) const {
  return operand.extent == tensor(operand.tensor).extent && operand.step == Extent{} &&
         !operand.walk;
}

// An element-wise result takes the place of an operand that nobody reads afterwards: every block is
// read before it is written.
void ScheduleDraft::find_in_place() {
  const size_t count = program.tensors.size();
  std::vector<int32_t> last_use(count, -1), writers(count, 0), first_write(count, -1),
      last_write(count, -1);
  std::vector<bool> aliased(count, false);
  for (size_t i = 0; i < count; ++i)
    if (const int32_t root = program.tensors[i].alias_of; root >= 0)
      aliased[i] = aliased[static_cast<size_t>(root)] = true;
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const auto use = [&](const Operand& operand) {
      last_use[static_cast<size_t>(operand.tensor)] = static_cast<int32_t>(i);
    };
    use(op.ifm);
    if (op.ifm2) use(*op.ifm2);
    if (writers[static_cast<size_t>(op.ofm.tensor)]++ == 0)
      first_write[static_cast<size_t>(op.ofm.tensor)] = static_cast<int32_t>(i);
    last_write[static_cast<size_t>(op.ofm.tensor)] = static_cast<int32_t>(i);
  }
  const auto free_standing = [&](const Operand& operand) {
    return tensor(operand.tensor).kind == NpuTensor::Kind::Inner && is_whole(operand) &&
           !aliased[static_cast<size_t>(operand.tensor)];
  };
  // Of a single row a place shared is worth more than columns that come and go: few of these are worth their turns.
  std::vector<bool> rolls = rolls_into_next(program);
  for (size_t i = 0; i < rolls.size(); ++i)
    rolls[i] = rolls[i] && stripe_axis(program.operations[i]) == &Extent::height;
  const auto is_window_before = [&](size_t i) {
    return rolls[i] && !is_elementwise(program.operations[i].kind) &&
           !is_elementwise(program.operations[i + 1].kind);
  };
  in_place_of.assign(count, -1);
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    // Parts of a result would lie where others have yet to be read; an operand may be made of parts that are all there.
    if (!is_pointwise(op) || !free_standing(op.ofm) ||
        writers[static_cast<size_t>(op.ofm.tensor)] != 1)
      continue;
    // Rows of a window may be kept as they come and go, in buffers of their own; where they are made from what is there as a
    // whole, its place takes less.
    if (i > 0 && (is_window_before(i - 1) || (rolls[i - 1] && is_window_before(i)))) continue;
    const auto take = [&](const Operand& operand) {
      const NpuTensor &from = tensor(operand.tensor), &to = tensor(op.ofm.tensor);
      if (in_place_of[static_cast<size_t>(op.ofm.tensor)] < 0 && free_standing(operand) &&
          last_use[static_cast<size_t>(operand.tensor)] == static_cast<int32_t>(i) &&
          writers[static_cast<size_t>(operand.tensor)] > 0 &&
          last_write[static_cast<size_t>(operand.tensor)] < static_cast<int32_t>(i) &&
          from.extent == to.extent && from.type == to.type)
        in_place_of[static_cast<size_t>(op.ofm.tensor)] = operand.tensor;
    };
    take(op.ifm);
    if (op.ifm2) take(*op.ifm2);
  }
  // Where rows are made a few at a time from the same rows of an operand.
  for (size_t id = 0; id < count; ++id) {
    const NpuTensor& to = program.tensors[id];
    if (to.kind != NpuTensor::Kind::Inner || aliased[id] || first_write[id] < 0) continue;
    const std::string& node = program.operations[static_cast<size_t>(first_write[id])].node;
    for (const int32_t other : to.may_replace) {
      const auto from = static_cast<size_t>(other);
      const NpuTensor& before = program.tensors[from];
      const bool ends_here = last_use[from] < 0 ||
                             program.operations[static_cast<size_t>(last_use[from])].node == node;
      if (in_place_of[id] >= 0 || before.kind != NpuTensor::Kind::Inner || aliased[from] ||
          writers[from] != 1 || before.extent != to.extent || before.type != to.type || !ends_here)
        continue;
      in_place_of[id] = other;
    }
  }
}

const TensorPlace& ScheduleDraft::place_tensor(int32_t id) {
  TensorPlace& place = places.at(static_cast<size_t>(id));
  if (place.storage >= 0) return place;
  const NpuTensor& t = tensor(id);
  if (const int32_t taken = in_place_of.at(static_cast<size_t>(id)); taken >= 0) {
    const TensorPlace from = place_tensor(taken);
    place = from;
    return place;
  }
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
    case NpuTensor::Kind::State:
      storage.kind = Storage::Kind::State;
      break;
    case NpuTensor::Kind::Inner:
      memory = Memory::Cache;
      storage.fast = true;
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

void ScheduleDraft::place_groups() {
  for (ConstantGroup& group : constant_groups(program)) {
    const int32_t storage =
        add_storage({"constants", Storage::Kind::Constant, -1,
                     static_cast<int64_t>(group.bytes.size()), std::move(group.bytes)},
                    Memory::Constants);
    groups.insert(storage);
    for (const ConstantGroup::Member& member : group.members)
      places.at(static_cast<size_t>(member.tensor)) = {storage, member.offset, Layout::Nhwc};
  }
}

int32_t ScheduleDraft::group_of(const Unit& unit) const {
  for (const FeatureMap* map : {&unit.ifm, unit.ifm2 ? &*unit.ifm2 : nullptr})
    if (map != nullptr && groups.contains(map->span.storage)) return map->span.storage;
  return -1;
}

bool ScheduleDraft::is_fast(int32_t storage) const {
  return cost.port(memories.at(static_cast<size_t>(storage))) == cost.port(Memory::Cache) &&
         schedule.storages[static_cast<size_t>(storage)].kind != Storage::Kind::Constant;
}

std::vector<MapLife> ScheduleDraft::map_lives() const {
  std::vector<MapLife> lives(schedule.storages.size());
  for (size_t i = 0; i < units.size(); ++i) {
    const auto touch = [&](const FeatureMap& map) {
      MapLife& life = lives[static_cast<size_t>(map.span.storage)];
      life.first = std::min(life.first, i);
      life.last = std::max(life.last, i);
    };
    touch(units[i].ifm);
    touch(units[i].ofm);
    if (units[i].ifm2) touch(*units[i].ifm2);
  }
  return lives;
}

std::vector<int64_t> ScheduleDraft::live_bytes() const {
  const std::vector<MapLife> lives = map_lives();
  std::vector<int64_t> bytes(units.size(), 0);
  for (size_t s = 0; s < lives.size(); ++s) {
    MapLife life = lives[s];
    if (life.first > life.last || !is_fast(static_cast<int32_t>(s))) continue;
    const Storage::Kind kind = schedule.storages[s].kind;
    if (is_there_before(kind)) life.first = 0;
    if (is_there_after(kind)) life.last = units.size() - 1;
    for (size_t i = life.first; i <= life.last; ++i)
      bytes[i] += aligned_to_stream(schedule.storages[s].bytes);
  }
  return bytes;
}

int64_t ScheduleDraft::peak_bytes() const {
  const std::vector<int64_t> live = live_bytes();
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

void ScheduleDraft::set_layout(int32_t id, Layout layout) {
  TensorPlace& place = places.at(static_cast<size_t>(id));
  place.layout = layout;
  schedule.storages.at(static_cast<size_t>(place.storage)).bytes =
      stored_bytes(tensor(id).extent, tensor(id).type, layout);
}

void ScheduleDraft::make_whole(size_t i) {
  units[i] = maker.make(static_cast<int32_t>(i), 0, program.operations[i].ofm.extent.depth,
                        i > 0 && maker.by_columns(units[i - 1]));
}

bool ScheduleDraft::constants_are_slow() const {
  return cost.memory(Memory::Constants).bytes_per_cycle <
         cost.memory(Memory::Cache).bytes_per_cycle;
}

size_t ScheduleDraft::PairHash::operator()(const Pair& pair) const {
  uint64_t state = 0x9e3779b97f4a7c15;
  for (const uint64_t part : pair) {
    state = (state ^ part) * 0xd6e8feb86659fd93;
    state ^= state >> 32;
  }
  return static_cast<size_t>(state);
}

bool ScheduleDraft::waits_for_last(const Unit& before, const Unit& unit) {
  Pair pair = {};
  size_t at = 0;
  for (const Unit* one : {&before, &unit}) {
    const Extent& block = one->fetched_block.ofm;
    const bool bricks[] = {one->ifm.layout == Layout::Nhcwb16, one->ofm.layout == Layout::Nhcwb16};
    const auto add = [&](int64_t high, int64_t low) {
      pair[at++] = static_cast<uint64_t>(high) << 32 | static_cast<uint32_t>(low);
    };
    add(one->view, one->first);
    add(one->end, one->rows.first);
    add(block.height, block.width);
    add(block.depth, int64_t{bricks[0]} + 2 * int64_t{bricks[1]});
  }
  const auto [known, fresh] = waits_.try_emplace(pair);
  if (fresh) known->second = waits_for_last_once(before, unit);
  return known->second;
}

bool ScheduleDraft::waits_for_last_once(const Unit& before, const Unit& unit) const {
  const auto operation = [&](const Unit& of) -> const Operation& {
    return schedule.operations.at(static_cast<size_t>(of.view));
  };
  return unit_waits_for_last(hardware, operation(before), before, before.fetched_block,
                             operation(unit), unit, unit.fetched_block);
}

}  // namespace intarsia::targets::ethos_u
