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

namespace {

// What is known of the bytes of a tensor and of all that are the same bytes, by the tensor that the others are aliases of.
struct Bytes {
  int32_t last_use = -1, first_write = -1, last_write = -1, writers = 0;
  bool is_inner = true;
  bool is_aliased = false;
  bool is_linear =
      false;  // never in bricks, since something walks over it by other pixels, or has another shape
};

std::vector<Bytes> bytes_of(const Program& program) {
  std::vector<Bytes> result(program.tensors.size());
  const auto of = [&](int32_t tensor) -> Bytes& {
    return result[static_cast<size_t>(program.root_of(tensor))];
  };
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    Bytes& bytes = of(static_cast<int32_t>(i));
    bytes.is_inner &= program.tensors[i].kind == NpuTensor::Kind::Inner;
    if (program.tensors[i].alias_of >= 0) bytes.is_aliased = bytes.is_linear = true;
  }
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const auto at = static_cast<int32_t>(i);
    const auto use = [&](const Operand& operand) {
      of(operand.tensor).last_use = at;
      of(operand.tensor).is_linear |= operand.walk.has_value();
    };
    use(op.ifm);
    if (op.ifm2) use(*op.ifm2);
    Bytes& made = of(op.ofm.tensor);
    if (made.writers++ == 0) made.first_write = at;
    made.last_write = at;
    made.is_linear |= op.ofm.walk.has_value();
  }
  return result;
}

}  // namespace

// An element-wise result takes the place of an operand that nobody reads afterwards: every block is
// read before it is written.
void ScheduleDraft::find_in_place() {
  const std::vector<Bytes> all = bytes_of(program);
  const auto root_of = [&](int32_t id) { return static_cast<size_t>(program.root_of(id)); };
  // All of the bytes that it has a name for.
  const auto is_all = [&](int32_t id) {
    const NpuTensor &own = tensor(id), &root = program.tensors[root_of(id)];
    return all[root_of(id)].is_inner && own.alias_offset == 0 && own.type == root.type &&
           own.extent.elements() == root.extent.elements();
  };
  // In another shape, and where a reshape is between them, the elements lie alike where neither is ever in bricks.
  const auto lie_alike = [&](int32_t one, int32_t other) {
    const NpuTensor &a = tensor(one), &b = tensor(other);
    const Bytes &of_a = all[root_of(one)], &of_b = all[root_of(other)];
    if (a.type != b.type || !is_all(one) || !is_all(other)) return false;
    if (a.extent == b.extent && !of_a.is_aliased && !of_b.is_aliased) return true;
    return a.extent.elements() == b.extent.elements() && of_a.is_linear && of_b.is_linear;
  };
  // Of a single row a place shared is worth more than columns that come and go: few of these are worth their turns.
  std::vector<bool> rolls = rolls_into_next(program);
  for (size_t i = 0; i < rolls.size(); ++i)
    rolls[i] = rolls[i] && stripe_axis(program.operations[i]) == &Extent::height;
  const auto is_window_before = [&](size_t i) {
    return rolls[i] && !is_elementwise(program.operations[i].kind) &&
           !is_elementwise(program.operations[i + 1].kind);
  };
  in_place_of.assign(program.tensors.size(), -1);
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const size_t to = root_of(op.ofm.tensor);
    // Parts of a result would lie where others have yet to be read; an operand may be made of parts that are all there.
    if (!is_pointwise(op) || !is_whole(op.ofm) || all[to].writers != 1) continue;
    // Rows of a window may be kept as they come and go, in buffers of their own; where they are made from what is there as a
    // whole, its place takes less.
    if (i > 0 && (is_window_before(i - 1) || (rolls[i - 1] && is_window_before(i)))) continue;
    const auto take = [&](const Operand& operand) {
      const Bytes& from = all[root_of(operand.tensor)];
      const auto at = static_cast<int32_t>(i);
      if (in_place_of[to] < 0 && is_whole(operand) && from.last_use == at && from.writers > 0 &&
          from.last_write < at && lie_alike(operand.tensor, op.ofm.tensor))
        in_place_of[to] = program.root_of(operand.tensor);
    };
    take(op.ifm);
    if (op.ifm2) take(*op.ifm2);
  }
  // Where rows are made a few at a time from the same rows of an operand.
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const size_t to = root_of(static_cast<int32_t>(id));
    if (all[to].first_write < 0) continue;
    const auto node_of = [&](int32_t operation) -> const std::string& {
      return program.operations[static_cast<size_t>(operation)].node;
    };
    const std::string& node = node_of(all[to].first_write);
    for (const int32_t other : program.tensors[id].may_replace) {
      const Bytes& from = all[root_of(other)];
      const bool ends_here = from.last_use < 0 || node_of(from.last_use) == node;
      if (in_place_of[to] < 0 && ends_here && from.writers > 0 &&
          from.last_write < all[to].first_write && lie_alike(other, static_cast<int32_t>(id)))
        in_place_of[to] = program.root_of(other);
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
