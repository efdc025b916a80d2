#include "plan/constant_places.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "intarsia/lowering_options.h"

namespace intarsia::plan {
namespace {

// In this order, each to the first memory that has room.
std::optional<std::vector<int32_t>> first_fit_in_order(std::span<const ConstantToPlace> constants,
                                                       std::span<const int64_t> capacities,
                                                       const std::vector<size_t>& order) {
  std::vector<int64_t> left(capacities.begin(), capacities.end());
  std::vector<int32_t> memories(constants.size(), -1);
  for (const size_t i : order) {
    const int64_t room = constant_room(constants[i].bytes);
    const auto found = std::ranges::find_if(left, [&](int64_t bytes) { return bytes >= room; });
    if (found == left.end()) return std::nullopt;
    *found -= room;
    memories[i] = static_cast<int32_t>(found - left.begin());
  }
  return memories;
}

}  // namespace

int64_t constant_room(int64_t bytes) {
  return (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
}

ConstantsToPlace constants_of(const tir::Module& module, const MemoryMap& memory) {
  ConstantsToPlace result;
  const bool has_choice = pools_of_constants(memory).size() > 1;
  const std::vector<int64_t> reads =
      has_choice ? constant_reads(module) : std::vector<int64_t>(module.constants.size(), 0);
  for (size_t i = 0; i < module.constants.size(); ++i) {
    if (module.constants[i].use == tir::ConstantUse::Stream) continue;
    result.ids.push_back(ConstantId{static_cast<int32_t>(i)});
    result.sizes.push_back({static_cast<int64_t>(module.constants[i].bytes.size()), reads[i]});
  }
  return result;
}

std::optional<std::vector<int32_t>> place_constants(std::span<const ConstantToPlace> constants,
                                                    std::span<const int64_t> capacities) {
  std::vector<size_t> order(constants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(-constants[a].reads, -constants[a].bytes) <
           std::tuple(-constants[b].reads, -constants[b].bytes);
  });
  if (auto memories = first_fit_in_order(constants, capacities, order)) return memories;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return constants[a].bytes > constants[b].bytes; });
  return first_fit_in_order(constants, capacities, order);
}

std::vector<int32_t> pools_of_constants(const MemoryMap& memory) {
  std::vector<int32_t> pools;
  const auto pool = [&](int32_t p) -> const MemoryPool& {
    return memory.pools[static_cast<size_t>(p)];
  };
  for (int32_t p = 0; p < std::ssize(memory.pools); ++p)
    if (pool(p).holds_constants) pools.push_back(p);
  std::stable_sort(pools.begin(), pools.end(), [&](int32_t a, int32_t b) {
    return std::tuple(pool(a).cycles_per_access, pool(a).constants_order) <
           std::tuple(pool(b).cycles_per_access, pool(b).constants_order);
  });
  for (int32_t p = 0; p < std::ssize(memory.pools) && pools.empty(); ++p)
    if (pool(p).read_only) pools.push_back(p);
  return pools;
}

}  // namespace intarsia::plan

namespace intarsia {

std::optional<int32_t> constant_cycles(const LoweringOptions& options, const std::string& node) {
  if (options.memory == nullptr || options.memory->open) return std::nullopt;
  if (const auto found = options.cycles_of_constants.find(node);
      found != options.cycles_of_constants.end())
    return found->second;
  std::optional<int32_t> least;
  for (const MemoryPool& pool : options.memory->pools)
    if (pool.holds_constants)
      least = std::min(least.value_or(pool.cycles_per_access), pool.cycles_per_access);
  return least;
}

}  // namespace intarsia
