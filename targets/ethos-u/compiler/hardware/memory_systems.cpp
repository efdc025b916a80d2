#include "hardware/memory_systems.h"

#include <algorithm>

#include "hardware/hardware.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {

isa::ethos_u::MemorySystem memory_system_of(const Target& device) {
  const Hardware& hardware = hardware_of(device);
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(hardware.tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  const auto system = isa::ethos_u::memory_system(*npu, device.get_string("system"),
                                                  device.get_string("memory-mode"));
  INTARSIA_CHECK(system.has_value(), "the kind admits only systems and memory modes of the table");
  return *system;
}

bool is_dedicated(const Target& device) {
  return device.get_string("memory-mode").starts_with("dedicated");
}

std::optional<int64_t> sram_limit_of(const Target& device) {
  const AttributeValue* limit = device.attributes.find("sram-limit");
  return limit == nullptr ? std::nullopt : std::optional(std::get<int64_t>(*limit));
}

std::vector<MemoryPool> own_memories(const Target& device) {
  if (!is_dedicated(device)) return {};
  const int64_t cache = memory_system_of(device).cache_bytes;
  const int64_t bytes = std::min(cache, sram_limit_of(device).value_or(cache));
  if (bytes <= 0) return {};  // a pool of no bytes would be one without a limit
  return {{kOwnSram, bytes, false, 1, {"ethos-u"}, static_cast<int32_t>(kStreamAlignment)}};
}

int32_t fast_pool(const Target& device, const MemoryMap& memory) {
  if (!is_dedicated(device)) return -1;
  int32_t fastest = -1;
  bool differ = false;
  for (size_t i = 0; i < memory.pools.size(); ++i) {
    const MemoryPool& pool = memory.pools[i];
    if (pool.read_only || !memory.reaches(device.name, pool)) continue;
    if (pool.name == kOwnSram) return static_cast<int32_t>(i);
    if (fastest >= 0) {
      const int32_t least = memory.pools[static_cast<size_t>(fastest)].cycles_per_access;
      differ = differ || pool.cycles_per_access != least;
      if (pool.cycles_per_access >= least) continue;
    }
    fastest = static_cast<int32_t>(i);
  }
  return differ ? fastest : -1;
}

int32_t slow_pool(const Target& device, const MemoryMap& memory) {
  const int32_t fast = fast_pool(device, memory);
  int32_t result = -1;
  for (size_t i = 0; i < memory.pools.size(); ++i) {
    const MemoryPool& pool = memory.pools[i];
    if (static_cast<int32_t>(i) == fast || pool.read_only || !memory.reaches(device.name, pool))
      continue;
    if (result < 0 ||
        pool.cycles_per_access < memory.pools[static_cast<size_t>(result)].cycles_per_access)
      result = static_cast<int32_t>(i);
  }
  return result;
}

}  // namespace intarsia::targets::ethos_u
