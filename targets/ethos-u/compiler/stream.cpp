#include "stream.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "commands.h"
#include "compiled_stream.h"
#include "ethos_u/marks.h"
#include "memory_marks.h"
#include "hardware.h"
#include "lower.h"
#include "intarsia/check.h"
#include "intrinsics.h"
#include "payload.h"
#include "stream_operation.h"
#include "waits.h"

namespace intarsia::targets::ethos_u {
namespace {

std::vector<tir::Stmt> statements_of(const tir::Stmt& body) {
  if (const auto* sequence = std::get_if<tir::Seq>(&body->node)) return sequence->statements;
  return {body};
}

// The command that says which region a base belongs to.
std::string_view region_command(uint32_t base) {
  struct Row {
    std::string_view base, region;
  };
  static constexpr Row kRows[] = {
      {"SET_IFM_BASE0", "SET_IFM_REGION"},        {"SET_IFM2_BASE0", "SET_IFM2_REGION"},
      {"SET_OFM_BASE0", "SET_OFM_REGION"},        {"SET_WEIGHT_BASE", "SET_WEIGHT_REGION"},
      {"SET_WEIGHT1_BASE", "SET_WEIGHT_REGION"},  {"SET_SCALE_BASE", "SET_SCALE_REGION"},
      {"SET_SCALE1_BASE", "SET_SCALE_REGION"},    {"SET_DMA0_SRC", "SET_DMA0_SRC_REGION"},
      {"SET_DMA0_DST", "SET_DMA0_DST_REGION"}};
  for (const Row& row : kRows)
    if (command_named(row.base).code == base) return row.region;
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

// Commands that set what has changed.
class CommandWriter {
 public:
  void set(uint32_t code, int64_t value) {
    const auto [known, fresh] = values_.try_emplace(code, value);
    if (!fresh && known->second == value) return;
    known->second = value;
    append(code, value);
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
      : hardware_(hardware), module_(module), plan_(plan), func_(func), arguments_(arguments()) {
    stream_.regions = std::move(regions);
  }

  CommandStream run(const std::string& member) {
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
    stream_.func = func_.name;
    stream_.member = member;
    const std::vector<uint32_t> words = writer_.finish();
    std::vector<uint8_t> bytes;
    for (const uint32_t word : words)
      for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
    const uint64_t key = isa::ethos_u::stream_key(bytes);
    for (const Mark& mark : marks) stream_.marks += fmt::format("{:016x} {} {}\n", key, mark.offset, mark.name);
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
      for (size_t p = 0; is_pool && p < arguments_.size(); ++p) {
        const Placement* place = plan_.find(arguments_[p]);
        if (place != nullptr && place->pool == region.pool && func_.parameters[p].access == tir::Access::Read)
          holds.push_back({static_cast<int32_t>(i), place->offset - region.offset, place->bytes});
      }
    }
    return memory_marks(words, stream_, sizes, holds);
  }

  // What the schedule hands over: the buffers behind the parameters.
  std::vector<tir::BufferId> arguments() const {
    for (const tir::Stmt& statement : statements_of(module_.entry_func().body))
      if (const auto* call = std::get_if<tir::Call>(&statement->node);
          call && call->function == func_.name)
        return call->arguments;
    INTARSIA_CHECK(false, "a device's function is called by the schedule");
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
    for (const RegisterValue& value : intrinsic.registers) {
      const std::optional<uint32_t> map = first_tile(value.code);
      if (!map) {
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
    if (!is_transfer)
      writer_.set("SET_BLOCKDEP", waits.blockdep);
    if (waits.kernel) writer_.start("OP_KERNEL_WAIT", *waits.kernel);
    if (waits.dma) writer_.start("OP_DMA_WAIT", *waits.dma);
    writer_.start(intrinsic.operation, intrinsic.parameter);
  }

  AddressRange place(const tir::BufferRun& run) {
    const tir::Buffer& buffer = func_.buffer(run.buffer);
    int64_t element = 0;
    for (size_t axis = 0; axis < run.start.size(); ++axis) {
      const auto* index = std::get_if<tir::IntImm>(&run.start[axis]->node);
      INTARSIA_CHECK(index != nullptr, "commands address constant places");
      element = element * buffer.extents[axis] + index->value;
    }
    AddressRange range = place(run.buffer);
    range.begin += element * element_bytes(buffer.type);
    range.end = range.begin + run.count * element_bytes(buffer.type);
    return range;
  }

  AddressRange place(tir::BufferId id) {
    const tir::Buffer& buffer = func_.buffer(id);
    if (buffer.scope == tir::Scope::Constant) return place_constant(buffer.constant);
    INTARSIA_CHECK(id.at() < arguments_.size(),
                   "lowering makes parameters of all buffers that need memory");
    const tir::Buffer& argument = module_.entry_func().buffer(arguments_[id.at()]);
    if (argument.scope == tir::Scope::Constant) return place_constant(argument.constant);
    const Placement* placement = plan_.find(arguments_[id.at()]);
    INTARSIA_CHECK(placement != nullptr, "every buffer of the schedule is planned");
    return {region({StreamRegion::Kind::Pool, placement->pool}), placement->offset, 0};
  }

  AddressRange place_constant(ConstantId id) {
    const auto [known, fresh] =
        constants_.try_emplace(id.index, static_cast<int64_t>(stream_.constants.size()));
    if (fresh) {
      const std::vector<uint8_t>& bytes = module_.constant(id).bytes;
      stream_.constants.insert(stream_.constants.end(), bytes.begin(), bytes.end());
      const auto unit = static_cast<size_t>(kStreamAlignment);
      stream_.constants.resize((stream_.constants.size() + unit - 1) / unit * unit);
    }
    return {0, known->second, 0};
  }

  int32_t region(const StreamRegion& wanted) {
    auto& regions = stream_.regions;
    const auto found = std::find(regions.begin(), regions.end(), wanted);
    const auto index = static_cast<int32_t>(found - regions.begin());
    if (found == regions.end()) regions.push_back(wanted);
    return index;
  }

  const Hardware& hardware_;
  const tir::Module& module_;
  const Plan& plan_;
  const tir::Func& func_;
  std::vector<tir::BufferId> arguments_;
  CommandStream stream_;
  CommandWriter writer_;
  std::map<int32_t, int64_t> constants_;
};

// Region 0 holds constants, 1 the arena, 2 the fast memory of a dedicated SRAM; further memories follow.
std::vector<StreamRegion> regions_of(const Target& member, const MemoryMap& memory) {
  std::vector<StreamRegion> regions = {{StreamRegion::Kind::Constants, 0, 0}};
  const int32_t fast = fast_pool(member, memory);
  for (size_t i = 0; i < memory.pools.size(); ++i)
    if (static_cast<int32_t>(i) != fast && !memory.pools[i].read_only &&
        memory.reaches(member.name, memory.pools[i]))
      regions.push_back({StreamRegion::Kind::Pool, static_cast<int32_t>(i), 0});
  if (fast >= 0)
    regions.insert(regions.begin() + std::min<ptrdiff_t>(2, std::ssize(regions)),
                   {StreamRegion::Kind::Pool, fast, 0});
  return regions;
}

}  // namespace

Result<Artifacts> make_streams(const Target& member, const tir::Module& module, const Plan& plan) {
  if (plan.memory.pools.size() + 1 > static_cast<size_t>(kRegions))
    return Diagnostics(fmt::format("target '{}'", member.name),
                       fmt::format("the board has {} memories, the device addresses {}",
                                   plan.memory.pools.size(), kRegions - 1),
                       "leave memories out of the board's description");
  const Hardware& hardware = hardware_of(member);
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != member.name || func.name == module.entry) continue;
    CommandStream stream =
        is_compiled_stream(func)
            ? write_compiled_stream(member, module, plan, func)
            : StreamWriter(hardware, module, plan, func, regions_of(member, plan.memory)).run(member.name);
    if (static_cast<int64_t>(stream.commands.size()) > kStreamBytesMax)
      return Diagnostics(func.origin, fmt::format("its command stream of {} bytes is longer than the "
                                                  "{} that the device takes",
                                                  stream.commands.size(), kStreamBytesMax),
                         "let the host run part of the model (--pin)");
    artifacts.streams.push_back(std::move(stream));
  }
  return artifacts;
}

}  // namespace intarsia::targets::ethos_u
