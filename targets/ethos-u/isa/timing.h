// How fast the NPU and its memories are: timing.def and memory_systems.def as values, and nothing that reckons with them.
// The compiler's estimate (compiler/schedule/operation_timing.h) and the simulator's clock (sim/pipeline.h) are written
// apart from each other, each on these tables alone. docs/ethos-u-timing.md states both models in words.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace intarsia::isa::ethos_u {

struct Volume {
  int64_t height = 1, width = 1, depth = 1;
  constexpr int64_t elements() const { return height * width * depth; }
};

// ---- What a configuration can do -------------------------------------------------------------------

struct NpuTiming {
  std::string_view name, tag;
  bool is_u65 = false;
  int64_t cores = 1, macs = 0;  // macs: a cycle, of all cores
  Volume ofm_ublock, ifm_ublock;
  int64_t bus_bytes = 8;  // of one AXI port
  int64_t outstanding_dma = 1, outstanding_kernels = 2;
  // Cycles an OFM element.
  double binary_32 = 0, unary_32 = 0, multiply_32 = 0, multiply_or_acc40 = 0, simple_add_sub = 0,
         add_sub = 0, max_pool = 0, other_output = 0;
  double table = 0, clamp = 0;
  double delay_acc32 = 0, delay_acc40 = 0;
};

inline constexpr auto kNpuTimings = [] {
  enum Product { U55, U65 };
#define PRODUCT(name, number, text, address_bits, data_bits, dma, kernels, id)
#define GRANULES(...)
#define CONFIGURATION(...) +1
  std::array<NpuTiming, 0
#include "intarsia/targets/ethos_u/configurations.def"
             >
      all = {};
#undef CONFIGURATION
  size_t at = 0;
#define CONFIGURATION(name_, tag_, product, macs_, cores_, ofm_width, ofm_height, ofm_depth, \
                      ifm_width, ifm_height, ifm_depth, units, shram)                        \
  all[at].name = #name_, all[at].tag = tag_, all[at].is_u65 = product == U65,                \
  all[at].macs = macs_, all[at].cores = cores_,                                              \
  all[at].ofm_ublock = {ofm_height, ofm_width, ofm_depth},                                   \
  all[at++].ifm_ublock = {ifm_height, ifm_width, ifm_depth};
#include "intarsia/targets/ethos_u/configurations.def"
#undef CONFIGURATION
#undef PRODUCT
#define CONFIGURATION(...)
#define PRODUCT(name, number, text, address_bits, data_bits, dma, kernels, id) \
  for (NpuTiming & npu : all)                                                  \
    if (npu.is_u65 == (name == U65))                                           \
      npu.bus_bytes = (data_bits) / 8, npu.outstanding_dma = dma, npu.outstanding_kernels = kernels;
#include "intarsia/targets/ethos_u/configurations.def"
#undef CONFIGURATION
#undef PRODUCT
#undef GRANULES
#define OUTPUT_TIMING(configuration, binary, unary, mul32, mul, simple, add, pool, other) \
  for (NpuTiming & npu : all)                                                             \
    if (npu.name == #configuration)                                                       \
      npu.binary_32 = binary, npu.unary_32 = unary, npu.multiply_32 = mul32,              \
      npu.multiply_or_acc40 = mul, npu.simple_add_sub = simple, npu.add_sub = add,        \
      npu.max_pool = pool, npu.other_output = other;
#define ACTIVATION_TIMING(configuration, table_, clamp_) \
  for (NpuTiming & npu : all)                            \
    if (npu.name == #configuration) npu.table = table_, npu.clamp = clamp_;
#define ACCUMULATOR_DELAY(configuration, bits32, bits40) \
  for (NpuTiming & npu : all)                            \
    if (npu.name == #configuration) npu.delay_acc32 = bits32, npu.delay_acc40 = bits40;
#define ASSUMED_TIMING(...)
#define PUBLISHED_TIMING(...)
#include "intarsia/targets/ethos_u/timing.def"
#undef PUBLISHED_TIMING
#undef ASSUMED_TIMING
#undef OUTPUT_TIMING
#undef ACTIVATION_TIMING
#undef ACCUMULATOR_DELAY
  return all;
}();

// The numbers of timing.def that stand alone, by the names there.
#define OUTPUT_TIMING(...)
#define ACTIVATION_TIMING(...)
#define ACCUMULATOR_DELAY(...)
struct AssumedTiming {
#define PUBLISHED_TIMING(...)
#define ASSUMED_TIMING(name, value) double name = value;
#include "intarsia/targets/ethos_u/timing.def"
#undef PUBLISHED_TIMING
#undef ASSUMED_TIMING
};
struct PublishedTiming {
#define PUBLISHED_TIMING(name, value) int32_t name = value;
#define ASSUMED_TIMING(...)
#include "intarsia/targets/ethos_u/timing.def"
#undef PUBLISHED_TIMING
#undef ASSUMED_TIMING
};
#undef OUTPUT_TIMING
#undef ACTIVATION_TIMING
#undef ACCUMULATOR_DELAY
inline constexpr AssumedTiming kAssumed;
inline constexpr PublishedTiming kPublished;

// By the name or the tag of configurations.def; null: there is none.
constexpr const NpuTiming* find_npu_timing(std::string_view name) {
  for (const NpuTiming& npu : kNpuTimings)
    if (npu.name == name || npu.tag == name) return &npu;
  return nullptr;
}

// ---- Memories --------------------------------------------------------------------------------------

struct MemoryTiming {
  std::string_view name;
  double bytes_per_cycle = 8;
  int64_t burst_bytes = 32, read_latency = 32, write_latency = 32;
};

// Memories by the role of the region that lies in them. A port is a resource of its own.
struct MemorySystem {
  std::string_view name, mode;
  double clock_mhz = 500;
  std::array<MemoryTiming, 3> ports;        // AXI0, AXI1, and the tables' SHRAM
  int constants = 1, arena = 0, cache = 0;  // indices of ports
  int64_t cache_bytes = 0;
  // Regions that Vela's streams and ours use: 0 constants, 1 arena, 2 fast copy.
  constexpr int port_of_region(int64_t region) const {
    return region == 0 ? constants : region == 2 ? cache : arena;
  }
  const MemoryTiming& memory_of_region(int64_t region) const {
    return ports[static_cast<size_t>(port_of_region(region))];
  }
};
inline constexpr int kShramPort = 2;

// A system in numbers: the clock in MHz, and for each of AXI0 and AXI1 bytes a cycle, burst bytes, read and write latency in
// cycles, as in "400:8/32/32/32:0.5/128/64/64". Without the second both lead to one memory. Nothing: it is not that.
inline std::optional<MemorySystem> read_memory_system(const NpuTiming& npu, std::string_view text) {
  const std::string copy(text);
  const char* at = copy.c_str();
  const auto number = [&](double least, double most) -> std::optional<double> {
    if (*at < '0' || *at > '9') return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    at = end;
    if (value < least || value > most) return std::nullopt;
    return value;
  };
  const auto next = [&](char mark) { return *at == mark && ++at != nullptr; };
  MemorySystem out;
  out.name = "the given memories";
  const auto clock = number(1, 10000);
  if (!clock) return std::nullopt;
  out.clock_mhz = *clock;
  size_t ports = 0;
  while (ports < 2 && next(':')) {
    const auto bytes = number(1e-6, static_cast<double>(npu.bus_bytes));
    if (!bytes || !next('/')) return std::nullopt;
    const auto burst = number(1, 4096);
    if (!burst || !next('/')) return std::nullopt;
    const auto read = number(0, 1e7);
    if (!read || !next('/')) return std::nullopt;
    const auto write = number(0, 1e7);
    if (!write) return std::nullopt;
    out.ports[ports] = {ports == 0 ? "AXI0" : "AXI1", *bytes, static_cast<int64_t>(*burst),
                        static_cast<int64_t>(*read), static_cast<int64_t>(*write)};
    ++ports;
  }
  if (ports == 0 || *at != 0) return std::nullopt;
  if (ports == 1) out.ports[1] = out.ports[0];
  return out;
}

// `system` empty: the product's first; else a name, or a system in numbers. Nothing: no such system, mode, or not of this
// product.
inline std::optional<MemorySystem> memory_system(const NpuTiming& npu, std::string_view system,
                                                 std::string_view mode) {
  enum Port { Axi0, Axi1 };
  enum Product { U55, U65 };
  MemorySystem out;
  std::string_view behind[2];
  bool has_system = false, has_mode = false;
  const std::optional<MemorySystem> in_numbers = read_memory_system(npu, system);
  if (in_numbers) {
    out = *in_numbers;
    has_system = true;
  }
#define SYSTEM(name_, product, clock, axi0, axi1)                                            \
  if (!has_system && (product == U65) == npu.is_u65 && (system.empty() || system == #name_)) \
    has_system = true, out.name = #name_, out.clock_mhz = clock, behind[0] = #axi0,          \
    behind[1] = #axi1;
#define SYSTEM_MEMORY(system, memory, scale, burst, read, write)
#define MEMORY_MODE(name_, tag, const_port, arena_port, cache_port, bytes)                  \
  if (mode == #name_ || mode == tag)                                                        \
    has_mode = true, out.mode = #name_, out.constants = const_port, out.arena = arena_port, \
    out.cache = cache_port, out.cache_bytes = bytes;
#include "intarsia/targets/ethos_u/memory_systems.def"
#undef SYSTEM
#undef SYSTEM_MEMORY
#undef MEMORY_MODE
  if (!has_system || !has_mode) return std::nullopt;
#define SYSTEM(name, product, clock, axi0, axi1)
#define SYSTEM_MEMORY(system, memory, scale, burst, read, write) \
  for (size_t port = 0; port < 2; ++port)                        \
    if (out.name == #system && behind[port] == #memory)          \
      out.ports[port] = {#memory, static_cast<double>(npu.bus_bytes) * scale, burst, read, write};
#define MEMORY_MODE(name, tag, const_port, arena_port, cache_port, bytes)
#include "intarsia/targets/ethos_u/memory_systems.def"
#undef SYSTEM
#undef SYSTEM_MEMORY
#undef MEMORY_MODE
  if (in_numbers) {
    // One memory serves all; what it moves is counted as one port.
    if (out.ports[0].name == out.ports[1].name)
      out.constants = out.arena = out.cache = 0;
    else if (out.constants == out.arena && out.arena == out.cache)
      out.constants = 1;
  } else if (out.constants == out.arena && out.arena == out.cache) {
    const int other = 1 - out.arena;
    out.ports[static_cast<size_t>(other)] = out.ports[static_cast<size_t>(out.arena)];
    out.ports[static_cast<size_t>(other)].name = "OnChipFlash";
    out.constants = other;
  }
  out.ports[kShramPort] = {"SHRAM", static_cast<double>(npu.bus_bytes), 1, 0, 0};
  return out;
}

}  // namespace intarsia::isa::ethos_u
