#include "encode/stream.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/intrinsics.h"
#include "commands/memory_marks.h"
#include "commands/stream_operation.h"
#include "commands/waits.h"
#include "encode/payload.h"
#include "foreign/compiled_stream.h"
#include "hardware/hardware.h"
#include "hardware/memory_systems.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/stream_places.h"
#include "intarsia/targets/ethos_u/marks.h"

namespace intarsia::targets::ethos_u {
namespace {

// The command that says which region a base belongs to.
std::string_view region_command(uint32_t base) {
  struct Row {
    uint32_t base;
    std::string_view region;
  };
  const auto code = [](std::string_view name) { return command_named(name).code; };
  static const Row rows[] = {{code("SET_IFM_BASE0"), "SET_IFM_REGION"},
                             {code("SET_IFM2_BASE0"), "SET_IFM2_REGION"},
                             {code("SET_OFM_BASE0"), "SET_OFM_REGION"},
                             {code("SET_WEIGHT_BASE"), "SET_WEIGHT_REGION"},
                             {code("SET_WEIGHT1_BASE"), "SET_WEIGHT_REGION"},
                             {code("SET_SCALE_BASE"), "SET_SCALE_REGION"},
                             {code("SET_SCALE1_BASE"), "SET_SCALE_REGION"},
                             {code("SET_DMA0_SRC"), "SET_DMA0_SRC_REGION"},
                             {code("SET_DMA0_DST"), "SET_DMA0_DST_REGION"}};
  for (const Row& row : rows)
    if (row.base == base) return row.region;
  INTARSIA_CHECK(false, "memory operands are bases of the table");
}

// Which feature map a tile's base belongs to: IFM_BASE2 to IFM_BASE0.
std::optional<uint32_t> first_tile(uint32_t code) {
  static const std::map<uint32_t, uint32_t> tiles = [] {
    std::map<uint32_t, uint32_t> result;
    for (const std::string_view map : {"IFM", "IFM2", "OFM"})
      for (int tile = 0; tile < 4; ++tile)
        result[command_named(fmt::format("SET_{}_BASE{}", map, tile)).code] =
            command_named(fmt::format("SET_{}_BASE0", map)).code;
    return result;
  }();
  const auto found = tiles.find(code);
  return found == tiles.end() ? std::nullopt : std::optional(found->second);
}

// The step to the next row of a feature map of one row, to the next pixel of one column, to the next brick of a single one
// and to the next channel of one, which the NPU never takes; and the second factor of a sum that scales one operand alone.
std::set<uint32_t> unused_registers(const Intrinsic& intrinsic) {
  struct Map {
    uint32_t height, width, right_tile, lower_tile, stride_y, stride_x, depth, precision, stride_c;
  };
  static const std::vector<Map> maps = [] {
    std::vector<Map> result;
    for (const std::string_view map : {"IFM", "IFM2", "OFM"}) {
      const auto code = [&](std::string_view rest) {
        return command_named(fmt::format("SET_{}_{}", map, rest)).code;
      };
      // The second operand of an element-wise operation has no more channels than the first.
      const std::string_view depth = map == "OFM" ? "SET_OFM_DEPTH_M1" : "SET_IFM_DEPTH_M1";
      result.push_back({code("HEIGHT0_M1"), code("WIDTH0_M1"), code("BASE1"), code("BASE2"),
                        code("STRIDE_Y"), code("STRIDE_X"), command_named(depth).code,
                        code("PRECISION"), code("STRIDE_C")});
    }
    return result;
  }();
  const auto holds = [&](uint32_t code, const auto& what) {
    return std::any_of(
        intrinsic.registers.begin(), intrinsic.registers.end(),
        [&](const RegisterValue& one) { return one.code == code && what(one.value); });
  };
  const auto is = [&](uint32_t code, int64_t value) {
    return holds(code, [&](int64_t own) { return own == value; });
  };
  const auto is_bricks = [](int64_t precision) {
    return field_value("SET_IFM_PRECISION", "activation_format",
                       static_cast<uint32_t>(precision)) ==
           enumerator("activation_format", "NHCWB16");
  };
  const auto has_two_factors = [](int64_t precision) {
    return field_value("SET_IFM_PRECISION", "scale_mode", static_cast<uint32_t>(precision)) ==
           enumerator("ifm_scale_mode", "OPA_OPB_16");
  };
  const auto repeats_channel = [](int64_t broadcast) {
    return field_value("SET_IFM2_BROADCAST", "broadcast_c", static_cast<uint32_t>(broadcast)) != 0;
  };
  std::set<uint32_t> unused;
  if (holds(command_named("SET_IFM2_BROADCAST").code, repeats_channel))
    unused.insert(command_named("SET_IFM2_STRIDE_C").code);
  if (!holds(command_named("SET_IFM_PRECISION").code, has_two_factors))
    unused.insert(command_named("SET_OPB_SCALE").code);
  for (const Map& map : maps) {
    // A step of 0 is one of whole bricks, and the one that was set before may not be.
    const bool needs_whole_bricks = holds(map.precision, is_bricks) && is(map.stride_y, 0);
    if (is(map.height, 0) && is(map.lower_tile, kNoTile) && !needs_whole_bricks)
      unused.insert(map.stride_y);
    if (is(map.width, 0) && is(map.right_tile, kNoTile)) unused.insert(map.stride_x);
    if (is(map.depth, 0)) unused.insert(map.stride_c);
    if (holds(map.precision, is_bricks) &&
        holds(map.depth, [](int64_t depth_m1) { return depth_m1 < kBrickDepth; }))
      unused.insert(map.stride_c);
  }
  return unused;
}

// Commands that set what has changed.
class CommandWriter {
 public:
  void set(uint32_t code, int64_t value) {
    const auto [known, fresh] = values_.try_emplace(code, value);
    if (!fresh && known->second == value) return;
    known->second = value;
    append(code, value);
  }
  // What is never looked at stays as it is, where that is aligned as well: small operations take as long as their commands.
  void set_unused(uint32_t code, int64_t value) {
    const auto known = values_.find(code);
    const int64_t alignment = std::min<int64_t>(value & -value, kStreamAlignment);
    if (known != values_.end() && (value == 0 || known->second % alignment == 0)) return;
    set(code, value);
  }
  bool is_set(uint32_t code) const { return values_.contains(code); }
  void set(std::string_view command, int64_t value) { set(command_named(command).code, value); }
  void start(uint32_t code, int64_t parameter) { append(code, parameter); }
  void start(std::string_view command, int64_t parameter) {
    append(command_named(command).code, parameter);
  }
  std::vector<uint32_t> finish() { return std::move(words_); }
  size_t bytes() const { return 4 * words_.size(); }

 private:
  void append(uint32_t code, int64_t value) {
    if (command_of_code(code).payload == Payload::None) {
      words_.push_back(code | static_cast<uint32_t>(value) << 16);
      return;
    }
    words_.push_back(code | static_cast<uint32_t>(value >> 32) << 16);
    words_.push_back(static_cast<uint32_t>(value));
  }

  std::map<uint32_t, int64_t> values_;
  std::vector<uint32_t> words_;
};

class StreamWriter {
 public:
  StreamWriter(const Hardware& hardware, const tir::Module& module, const Plan& plan,
               const tir::Func& func, std::vector<StreamRegion> regions)
      : hardware_(hardware),
        plan_(plan),
        func_(func),
        schedule_(module.entry_func()),
        places_(module, plan, func, static_cast<size_t>(kStreamAlignment), std::move(regions)) {}

  CommandStream run(const std::string& device) {
    WaitTracker tracker(hardware_);
    struct Mark {
      size_t offset;
      std::string_view name;
    };
    std::vector<Mark> marks;
    for (const tir::Stmt& statement : statements_of(func_.body)) {
      if (marks.empty() || marks.back().name != statement->comment)
        marks.push_back({writer_.bytes(), statement->comment});
      append(from_statement(statement), tracker);
      if (stream_.operators.empty() || stream_.operators.back() != statement->comment)
        stream_.operators.push_back(statement->comment);
    }
    writer_.start("OP_STOP", 0xFFFF);
    stream_.regions = places_.regions();
    stream_.constants = places_.take_constants();
    stream_.func = func_.name;
    stream_.device = device;
    const std::vector<uint32_t> words = writer_.finish();
    std::vector<uint8_t> bytes;
    for (const uint32_t word : words)
      for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
    const uint64_t key = isa::ethos_u::stream_key(bytes);
    for (const Mark& mark : marks)
      stream_.marks += fmt::format("{:016x} {} {}\n", key, mark.offset, mark.name);
    stream_.marks += marks_of_memory(bytes);
    stream_.commands = make_payload(hardware_, words);
    return std::move(stream_);
  }

 private:
  // Regions begin with their pools; the caller provides what is only read.
  std::string marks_of_memory(std::span<const uint8_t> words) const {
    std::vector<int64_t> sizes;
    std::vector<KnownBytes> holds;
    for (size_t i = 0; i < stream_.regions.size(); ++i) {
      const StreamRegion& region = stream_.regions[i];
      const bool is_pool = region.kind == StreamRegion::Kind::Pool;
      sizes.push_back(is_pool ? plan_.use.at(static_cast<size_t>(region.pool)).peak - region.offset
                              : static_cast<int64_t>(stream_.constants.size()));
      for (size_t p = 0; is_pool && p < places_.arguments().size(); ++p) {
        const Placement* place = plan_.find(places_.arguments()[p]);
        const bool is_filled = func_.parameters[p].access == tir::Access::Read ||
                               schedule_.buffer(places_.arguments()[p]).initial;
        if (place != nullptr && place->pool == region.pool && is_filled)
          holds.push_back({static_cast<int32_t>(i), place->offset - region.offset, place->bytes});
      }
    }
    return memory_marks(words, stream_, sizes, holds);
  }

  void append(const Intrinsic& intrinsic, WaitTracker& tracker) {
    std::vector<PlacedOperand> operands;
    const bool is_transfer = intrinsic.operation == command_named("OP_DMA_START").code;
    for (const MemoryOperand& operand : intrinsic.memory)
      if (is_transfer || operand.base != command_named("SET_DMA0_DST").code)
        operands.push_back({operand.base, place(operand.run)});
    const Waits waits = tracker.next(view_operation(hardware_, intrinsic, operands));

    for (const PlacedOperand& operand : operands) {
      writer_.set(region_command(operand.base), operand.range.region);
      if (!first_tile(operand.base)) writer_.set(operand.base, operand.range.begin);
    }
    const std::set<uint32_t> unused = unused_registers(intrinsic);
    for (const RegisterValue& value : intrinsic.registers) {
      const std::optional<uint32_t> map = first_tile(value.code);
      if (!map) {
        if (unused.contains(value.code))
          writer_.set_unused(value.code, value.value);
        else
          writer_.set(value.code, value.value);
      } else if (value.value != kNoTile) {
        const auto at = std::find_if(operands.begin(), operands.end(),
                                     [&](const PlacedOperand& o) { return o.base == *map; });
        INTARSIA_CHECK(at != operands.end(), "tiles belong to a feature map with a place");
        writer_.set(value.code, at->range.begin + value.value);
      } else if (!writer_.is_set(value.code)) {
        writer_.set(value.code, 0);  // never read, but every register has a value
      }
    }
    if (!is_transfer) writer_.set("SET_BLOCKDEP", waits.blockdep);
    if (waits.kernel) writer_.start("OP_KERNEL_WAIT", *waits.kernel);
    if (waits.dma) writer_.start("OP_DMA_WAIT", *waits.dma);
    writer_.start(intrinsic.operation, intrinsic.parameter);
  }

  AddressRange place(const tir::BufferRun& run) {
    const StreamPlace place = places_.of(run);
    return {place.region, place.offset,
            place.offset + run.count * element_bytes(func_.buffer(run.buffer).type)};
  }

  const Hardware& hardware_;
  const Plan& plan_;
  const tir::Func& func_;
  const tir::Func& schedule_;
  StreamPlaces places_;
  CommandStream stream_;
  CommandWriter writer_;
};

// Region 0 holds constants, 1 the arena, 2 the fast memory of a dedicated SRAM; further memories follow.
// Memories the plan leaves empty have no region: the program has no bytes of them.
std::vector<StreamRegion> regions_of(const Target& device, const Plan& plan) {
  const auto used = [&](int32_t pool) { return plan.use.at(static_cast<size_t>(pool)).peak > 0; };
  std::vector<StreamRegion> regions = {{StreamRegion::Kind::Constants, 0, 0}};
  const int32_t fast = fast_pool(device, plan.memory);
  for (int32_t i = 0; i < std::ssize(plan.memory.pools); ++i) {
    const MemoryPool& pool = plan.memory.pools[static_cast<size_t>(i)];
    if (i != fast && !pool.read_only && used(i) && plan.memory.reaches(device.name, pool))
      regions.push_back({StreamRegion::Kind::Pool, i, 0});
  }
  const size_t kFastRegion = 2;
  if (fast < 0 || !used(fast)) {
    // Arm's driver takes region 2 for fast memory in any case. The constants keep its place.
    if (has_arms_driver(device) && regions.size() > kFastRegion)
      regions.insert(regions.begin() + kFastRegion, regions.front());
    return regions;
  }
  // The number says which memory it is, to the driver and to who counts cycles. Where the plan needs no arena
  // its place is kept by the constants, which lie in the same memory.
  if (regions.size() < 2) regions.push_back(regions.front());
  regions.insert(regions.begin() + kFastRegion, {StreamRegion::Kind::Pool, fast, 0});
  return regions;
}

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  const size_t kept = has_arms_driver(device) ? 2 : 1;  // for constants, and for fast memory
  if (plan.memory.pools.size() + kept > static_cast<size_t>(kRegions))
    return Diagnostics(fmt::format("target '{}'", device.name),
                       fmt::format("the board has {} memories, the device addresses {}",
                                   plan.memory.pools.size(), static_cast<size_t>(kRegions) - kept),
                       "leave memories out of the board's description");
  const Hardware& hardware = hardware_of(device);
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != device.name || func.name == module.entry) continue;
    CommandStream stream =
        is_compiled_stream(func)
            ? write_compiled_stream(device, module, plan, func)
            : StreamWriter(hardware, module, plan, func, regions_of(device, plan)).run(device.name);
    if (static_cast<int64_t>(stream.commands.size()) > kStreamBytesMax)
      return Diagnostics(func.origin,
                         fmt::format("its command stream of {} bytes is longer than the "
                                     "{} that the device takes",
                                     stream.commands.size(), kStreamBytesMax),
                         "let the host run part of the model (--pin)");
    artifacts.streams.push_back(std::move(stream));
  }
  return artifacts;
}

}  // namespace intarsia::targets::ethos_u
