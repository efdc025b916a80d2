#include "packaging/stream_memory.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "intarsia/contract/device.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "plan/lifetimes.h"
#include "tir/function_index.h"

namespace intarsia::packaging {
namespace {

// An operand of a stream, where the plan has placed it.
struct Operand {
  Placement place;
  bool is_result = false;  // others may read what the stream has written there
};

class StreamOperands {
 public:
  explicit StreamOperands(const CompiledProgram& program) : program_(program) {
    const std::vector<tir::Call> calls = plan::schedule_calls(program.lowered.entry_func());
    find_users(calls);
    const tir::FunctionIndex functions(program.lowered);
    for (const tir::Call& call : calls) {
      const tir::Func& callee = functions.at(call.function);
      std::vector<Operand>& operands = of_[call.function];
      for (size_t i = 0; i < call.arguments.size(); ++i)
        if (const Placement* place = program.plan.find(call.arguments[i])) {
          const bool written = callee.parameters.at(i).access != tir::Access::Read;
          operands.push_back({*place, written && users_.at(place->group).size() > 1});
        }
    }
  }

  std::vector<Operand> of(const std::string& function) const {
    const auto found = of_.find(function);
    return found == of_.end() ? std::vector<Operand>{} : found->second;
  }

 private:
  // Who reads or writes the bytes of each group: calls, by their place in the schedule, and whoever has inputs, outputs and
  // state, by their buffers.
  void find_users(const std::vector<tir::Call>& calls) {
    const tir::Func& schedule = program_.lowered.entry_func();
    const auto add = [&](tir::BufferId id, int64_t user) {
      if (const Placement* place = program_.plan.find(id)) users_[place->group].insert(user);
    };
    for (size_t c = 0; c < calls.size(); ++c)
      for (const tir::BufferId id : calls[c].arguments) add(id, static_cast<int64_t>(c));
    for (size_t b = 0; b < schedule.buffers.size(); ++b)
      if (b < schedule.parameters.size() || schedule.buffers[b].initial)
        add({static_cast<int32_t>(b)}, -1 - static_cast<int64_t>(b));
  }

  const CompiledProgram& program_;
  std::map<int32_t, std::set<int64_t>> users_;  // by group
  std::map<std::string, std::vector<Operand>> of_;
};

uint32_t word(int64_t value) {
  INTARSIA_CHECK(value >= 0 && value <= std::numeric_limits<uint32_t>::max(),
                 "the regions of streams are checked to lie in 32 bits");
  return static_cast<uint32_t>(value);
}

// In whole lines of the memory, and of one another: what overlaps or touches is one range.
std::vector<PoolRange> ranges_of(const Plan& plan, const std::vector<Operand>& operands,
                                 bool results_only) {
  std::map<int32_t, std::map<int64_t, int64_t>> by_pool;  // begin to end
  for (const Operand& operand : operands) {
    if (operand.place.bytes == 0 || (results_only && !operand.is_result)) continue;
    const auto pool = static_cast<size_t>(operand.place.pool);
    const int64_t line = plan.memory.pools[pool].alignment;
    const int64_t begin = operand.place.offset / line * line;
    const int64_t end =
        std::min(round_up(operand.place.offset + operand.place.bytes, line), plan.use[pool].peak);
    int64_t& known = by_pool[operand.place.pool][begin];
    known = std::max(known, end);
  }
  std::vector<PoolRange> ranges;
  for (const auto& [pool, begins] : by_pool) {
    for (const auto& [begin, end] : begins) {
      PoolRange* last =
          ranges.empty() || ranges.back().pool != word(pool) ? nullptr : &ranges.back();
      if (last == nullptr || word(begin) > last->offset + last->bytes)
        ranges.push_back({word(pool), word(begin), word(end - begin)});
      else
        last->bytes = std::max(last->bytes, word(end) - last->offset);
    }
  }
  return ranges;
}

// Of those that the device works in: a memory of its own, or the fastest of several that differ.
bool is_fast(const Plan& plan, const std::string& device, int32_t pool) {
  const MemoryPool& it = plan.memory.pools[static_cast<size_t>(pool)];
  const auto has_one = [&](auto compare) {
    return std::ranges::any_of(plan.memory.pools, [&](const MemoryPool& other) {
      return !other.read_only && plan.memory.reaches(device, other) &&
             compare(other.cycles_per_access, it.cycles_per_access);
    });
  };
  const bool own = std::find(it.accessible_by.begin(), it.accessible_by.end(), "cpu") ==
                       it.accessible_by.end() &&
                   !it.accessible_by.empty();
  return own || (has_one(std::greater<>()) && !has_one(std::less<>()));
}

uint8_t memory_of(const Plan& plan, const CommandStream& stream, const StreamRegion& region) {
  if (region.kind == StreamRegion::Kind::Constants) return INTARSIA_MEMORY_CONSTANTS;
  return is_fast(plan, stream.device, region.pool) ? INTARSIA_MEMORY_FAST : INTARSIA_MEMORY_MAIN;
}

// From the region's base to the end of what the stream uses of its pool.
uint32_t bytes_of(const StreamRegion& region, const CommandStream& stream,
                  const std::vector<Operand>& operands) {
  if (region.kind == StreamRegion::Kind::Constants)
    return word(static_cast<int64_t>(stream.constants.size()));
  int64_t end = region.offset;
  for (const Operand& operand : operands)
    if (operand.place.pool == region.pool)
      end = std::max(end, operand.place.offset + operand.place.bytes);
  return word(end - region.offset);
}

}  // namespace

std::vector<StreamMemory> stream_memories(const CompiledProgram& program) {
  const StreamOperands all(program);
  std::vector<StreamMemory> memories;
  for (const CommandStream& stream : program.emitted.streams) {
    const std::vector<Operand> operands = all.of(stream.func);
    StreamMemory& memory = memories.emplace_back();
    for (const StreamRegion& region : stream.regions) {
      memory.region_bytes.push_back(bytes_of(region, stream, operands));
      memory.region_memories.push_back(memory_of(program.plan, stream, region));
    }
    memory.accessed = ranges_of(program.plan, operands, false);
    memory.results = ranges_of(program.plan, operands, true);
  }
  return memories;
}

}  // namespace intarsia::packaging
