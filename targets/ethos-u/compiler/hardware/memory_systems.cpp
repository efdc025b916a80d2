#include "hardware/memory_systems.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hardware/hardware.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {

namespace {

const isa::ethos_u::NpuTiming& timing_of(const Target& device) {
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(hardware_of(device).tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  return *npu;
}

}  // namespace

isa::ethos_u::MemorySystem memory_system_of(const Target& device) {
  const auto system = isa::ethos_u::memory_system(timing_of(device), device.get_string("system"),
                                                  device.get_string("memory-mode"));
  INTARSIA_CHECK(system.has_value(), "the kind admits only systems and memory modes of the table");
  return *system;
}

namespace {

// The port of a memory whose speed the board says; else as it is in the system that is meant without a board.
std::string port_text(const isa::ethos_u::MemoryTiming& otherwise, const MemoryPool* pool,
                      double clock_mhz, int64_t bus_bytes) {
  if (pool == nullptr || !pool->speed)
    return fmt::format("{}/{}/{}/{}", otherwise.bytes_per_cycle, otherwise.burst_bytes,
                       otherwise.read_latency, otherwise.write_latency);
  const MemorySpeed& speed = *pool->speed;
  const double cycles_per_ns = clock_mhz / 1000;
  const auto cycles = [&](int64_t ns) {
    return static_cast<int64_t>(std::ceil(static_cast<double>(ns) * cycles_per_ns));
  };
  return fmt::format("{}/{}/{}/{}",
                     std::min(static_cast<double>(speed.bytes_per_second) / (clock_mhz * 1e6),
                              static_cast<double>(bus_bytes)),
                     speed.burst_bytes, cycles(speed.read_latency_ns),
                     cycles(speed.write_latency_ns));
}

}  // namespace

Result<std::optional<std::string>> system_on_board(const Target& device, const MemoryMap& memory) {
  if (device.attributes.written("system")) return std::optional<std::string>();
  const auto master = memory.masters.find(device.name);
  const auto clock =
      memory.clocks_mhz.find(master == memory.masters.end() ? "ethos-u" : master->second);
  const auto pool_at = [&](int32_t pool) {
    return pool < 0 ? nullptr : &memory.pools[static_cast<size_t>(pool)];
  };
  const MemoryPool* fast = pool_at(fast_pool(device, memory));
  const MemoryPool* maps = pool_at(slow_pool(device, memory));
  const MemoryPool* constants = memory.streams ? &*memory.streams : nullptr;
  const auto says_speed = [](const MemoryPool* pool) { return pool != nullptr && pool->speed; };
  if (clock == memory.clocks_mhz.end() && !says_speed(fast) && !says_speed(maps) &&
      !says_speed(constants))
    return std::optional<std::string>();
  if (constants != nullptr && !memory.reaches(device.name, *constants))
    return Diagnostics(
        device.name,
        fmt::format("the board keeps its command streams and weights in '{}', which it does not "
                    "reach",
                    constants->name),
        fmt::format("name another memory in roles.streams of board.json, or 'ethos-u' in "
                    "accessible_by of '{}'",
                    constants->name));
  const isa::ethos_u::NpuTiming& npu = timing_of(device);
  const isa::ethos_u::MemorySystem otherwise = memory_system_of(device);
  const double mhz =
      clock == memory.clocks_mhz.end() ? otherwise.clock_mhz : static_cast<double>(clock->second);
  // AXI0 leads to the fast memory, or to all maps; AXI1 to constants, in dedicated modes to maps too.
  const bool dedicated = is_dedicated(device);
  const MemoryPool* axi0 = dedicated ? fast : maps;
  const MemoryPool* axi1 = dedicated && says_speed(maps) ? maps : constants;
  const std::string text =
      fmt::format("{}:{}", mhz, port_text(otherwise.ports[0], axi0, mhz, npu.bus_bytes));
  // Maps and constants in one memory have one way to it.
  if (axi0 != nullptr && axi1 != nullptr && axi0->name == axi1->name) return std::optional(text);
  return std::optional(text + ":" + port_text(otherwise.ports[1], axi1, mhz, npu.bus_bytes));
}

bool is_dedicated(const Target& device) {
  return device.get_string("memory-mode").starts_with("dedicated");
}

bool has_arms_driver(const Target& device) {
  return device.get_string("driver") == "arm";
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
