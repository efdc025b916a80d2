#include "foreign/compiled_stream.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "commands/command_text.h"
#include "commands/memory_marks.h"
#include "foreign/payload_reader.h"
#include "hardware/configuration.h"
#include "hardware/memory_systems.h"
#include "intarsia/plugin/stream_places.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::ethos_u {
namespace {

#define CONSTANT(name, value) [[maybe_unused]] constexpr int64_t k##name = value;
#include "intarsia/targets/ethos_u/constants.def"
#undef CONSTANT

struct U85Commands {
  uint32_t major, minor, patch, commands;
};
constexpr U85Commands kU85Architecture =
#define U85_ARCHITECTURE(major, minor, patch, commands) \
  { major, minor, patch, commands }
#include "intarsia/targets/ethos_u/u85_configurations.def"
    ;

constexpr std::string_view kDevice = "ethos-u";
constexpr std::string_view kIntrinsic = "ethos_u.compiled";
constexpr size_t kPayloadOperand = 0, kConstantsOperand = 1, kFirstInput = 2;  // of graph nodes
constexpr int64_t kTakesArena = 1, kLeavesArena = 2;  // bits of the intrinsic
// Of a transfer from or to SHRAM: a bit of its own, and a region that nobody looks at then (3 from Vela, 0 from us).
constexpr uint64_t kShramBit = 0x100, kRegionBits = 7;
constexpr bool is_shram(uint64_t region) {
  return (region & ~kRegionBits) == kShramBit;
}

using Refusal = std::optional<std::string>;

CommandSet command_set_of(const PayloadView& payload) {
  const bool is_u85 = payload.device && payload.device->product == kU85Product;
  return is_u85 ? CommandSet::U85 : CommandSet::U55;
}

// What the stream may reach: bytes of regions 0, 1 and 2.
struct Regions {
  int64_t bytes[3] = {};
};

Regions regions_of(const graph::Module& module, const graph::Function& function,
                   const graph::Node& node) {
  const auto& attributes = node.attrs<graph::CompiledAttrs>();
  Regions regions{{0, attributes.arena_bytes, attributes.fast_arena_bytes}};
  if (const graph::TensorId constants = node.inputs.at(kConstantsOperand); constants.valid())
    regions.bytes[0] =
        static_cast<int64_t>(module.constant(function.tensor(constants).constant).bytes.size());
  return regions;
}

const SharedBytes& payload_of(const graph::Module& module, const graph::Function& function,
                              const graph::Node& node) {
  return module.constant(function.tensor(node.inputs.at(kPayloadOperand)).constant).bytes;
}

// The commands of a stream, one after another, with the registers as they stand.
class StreamScan {
 public:
  StreamScan(std::span<const uint32_t> words, CommandSet set) : words_(words), set_(set) {}

  bool next() {
    if (at_ >= words_.size()) return false;
    command_ = read_command(words_.subspan(at_), set_);
    offset_ = at_ * 4;
    at_ += command_.words();
    if (command_.name.starts_with("SET_")) registers_[command_.name] = command_.value();
    return true;
  }
  const RawCommand& command() const { return command_; }
  size_t offset() const { return offset_; }
  bool is_cut() const { return at_ > words_.size(); }
  uint64_t value(std::string_view name) const {
    const auto found = registers_.find(name);
    return found == registers_.end() ? 0 : found->second;
  }

 private:
  std::span<const uint32_t> words_;
  CommandSet set_;
  size_t at_ = 0, offset_ = 0;
  RawCommand command_;
  std::map<std::string_view, uint64_t> registers_;
};

// Memory that a command names with begin and length; feature maps are left to the device.
struct Reach {
  std::string_view what, region, base, length;
  uint64_t scale = 1;
};
constexpr Reach kWeights[] = {
    {"its weights", "SET_WEIGHT_REGION", "SET_WEIGHT_BASE", "SET_WEIGHT_LENGTH"},
    {"its scales", "SET_SCALE_REGION", "SET_SCALE_BASE", "SET_SCALE_LENGTH"}};
constexpr Reach kTransfer[] = {
    {"its source", "SET_DMA0_SRC_REGION", "SET_DMA0_SRC", "SET_DMA0_LEN"},
    {"its destination", "SET_DMA0_DST_REGION", "SET_DMA0_DST", "SET_DMA0_LEN"}};

Refusal refuses_reach(const StreamScan& scan, const Reach& reach, const Regions& regions) {
  const uint64_t region = scan.value(reach.region), base = scan.value(reach.base),
                 length = scan.value(reach.length);
  if (is_shram(region)) return std::nullopt;
  const std::string where =
      fmt::format("{} at byte {:#x} of its stream", scan.command().name, scan.offset());
  if (region >= std::size(regions.bytes))
    return fmt::format("{} has {} in region {}, for which there is no memory", where, reach.what,
                       region);
  const auto bytes = static_cast<uint64_t>(regions.bytes[region]);
  if (base > bytes || length > bytes - base)
    return fmt::format("{} has {} in {:#x}..{:#x} of region {}, which has {:#x} bytes", where,
                       reach.what, base, base + length, region, bytes);
  return std::nullopt;
}

// What an Ethos-U85's register says of memory: a feature map's region may be the number of a buffer in the NPU, and a
// transfer may go by strides or indices. Those are left to the device.
Refusal refuses_u85_command(const StreamScan& scan, const Regions& regions) {
  constexpr uint32_t kRegions = 7, kElsewhere = 0xF00;
  const RawCommand& command = scan.command();
  if (command.name == "OP_CONV" && command.parameter() != 0) return std::nullopt;
  if (command.name == "OP_CONV" || command.name == "OP_DEPTHWISE")
    for (const Reach& reach : kWeights)
      if (Refusal refusal = refuses_reach(scan, reach, regions)) return refusal;
  const bool is_transfer = command.name == "OP_DMA_START";
  for (const Reach& reach : kTransfer)
    if (is_transfer &&
        ((scan.value("SET_DMA0_SRC_REGION") | scan.value("SET_DMA0_DST_REGION")) & kElsewhere) == 0)
      if (Refusal refusal = refuses_reach(scan, reach, regions)) return refusal;
  const bool names_region =
      command.name == "SET_WEIGHT_REGION" || command.name == "SET_SCALE_REGION";
  if (names_region && (command.parameter() & kRegions) >= std::size(regions.bytes))
    return fmt::format(
        "{} at byte {:#x} of its stream names region {}, for which there is no memory",
        command.name, scan.offset(), command.parameter());
  return std::nullopt;
}

Refusal refuses_commands(std::span<const uint32_t> words, CommandSet set, const Regions& regions) {
  StreamScan scan(words, set);
  std::string_view last;
  while (scan.next()) {
    const RawCommand& command = scan.command();
    if (scan.is_cut() || command.name.empty())
      return fmt::format("byte {:#x} of its stream is no command", scan.offset());
    last = command.name;
    if (last == "OP_STOP") break;
    if (set == CommandSet::U85) {
      if (Refusal refusal = refuses_u85_command(scan, regions)) return refusal;
      continue;
    }
    const bool has_weights = last == "OP_CONV" || last == "OP_DEPTHWISE";
    if (has_weights)
      for (const Reach& reach : kWeights)
        if (Refusal refusal = refuses_reach(scan, reach, regions)) return refusal;
    if (last == "OP_DMA_START")
      for (const Reach& reach : kTransfer)
        if (Refusal refusal = refuses_reach(scan, reach, regions)) return refusal;
    const bool names_region = last.starts_with("SET_") && last.ends_with("_REGION");
    if (names_region && command.parameter() >= std::size(regions.bytes) &&
        !is_shram(static_cast<uint64_t>(command.parameter())))
      return fmt::format(
          "{} at byte {:#x} of its stream names region {}, for which there is no memory", last,
          scan.offset(), command.parameter());
  }
  if (last != "OP_STOP") return "its stream does not end with OP_STOP";
  return std::nullopt;
}

Refusal refuses_device(const StreamDevice& device, const Configuration& configuration) {
  if (device.name != configuration.tag)
    return fmt::format("it was compiled for {}, the device is {}", device.name, configuration.tag);
  if (device.shram_kib != configuration.shram_kib * configuration.cores)
    return fmt::format("it was compiled for {} KiB of SHRAM, the device has {}", device.shram_kib,
                       configuration.shram_kib * configuration.cores);
  const Architecture &of_stream = device.architecture, has = architecture_of(configuration);
  if (of_stream.major != has.major || of_stream.minor > has.minor || device.stream_version != 0)
    return fmt::format(
        "it was compiled for architecture {}.{}.{} (stream version {}), the device has {}.{}.{}",
        of_stream.major, of_stream.minor, of_stream.patch, device.stream_version, has.major,
        has.minor, has.patch);
  return std::nullopt;
}

Refusal refuses_u85(const StreamDevice& device, int64_t macs) {
  const std::string name = fmt::format("ethos-u85-{}", macs);
  if (device.name != name)
    return fmt::format("it was compiled for {}, the device is {}", device.name, name);
  if (device.architecture.major != kU85Architecture.major ||
      device.stream_version != kU85Architecture.commands)
    return fmt::format(
        "it was compiled for architecture {}.{}.{} (stream version {}), the device "
        "has {}.{}.{} (stream version {})",
        device.architecture.major, device.architecture.minor, device.architecture.patch,
        device.stream_version, kU85Architecture.major, kU85Architecture.minor,
        kU85Architecture.patch, kU85Architecture.commands);
  return std::nullopt;
}

template <typename RefusesDevice>
Refusal refuses(const PatternMatch& match, const RefusesDevice& refuses_its_device) {
  const graph::Node& node = match.node();
  const auto& attributes = node.attrs<graph::CompiledAttrs>();
  if (attributes.device != kDevice) return fmt::format("it was compiled for {}", attributes.device);
  const std::vector<uint32_t> words = words_of(payload_of(match.module, match.function, node));
  const Result<PayloadView> payload = read_payload(words);
  if (!payload.ok()) return payload.error().items().front().what;
  if (!payload->device) return "its payload does not say for which device it is";
  if (Refusal refusal = refuses_its_device(*payload->device)) return refusal;
  if (payload->has_separate_regions)
    return "its stream has inputs and outputs in regions of their own; compile it without "
           "--separate-io-regions";
  if (payload->first_word * 4 % static_cast<size_t>(kStreamAlignment) != 0)
    return fmt::format("its stream begins at byte {} of the payload, no multiple of {}",
                       payload->first_word * 4, kStreamAlignment);
  for (const auto* offsets : {&attributes.input_offsets, &attributes.output_offsets})
    for (const int64_t offset : *offsets)
      if (offset % kStreamAlignment != 0)
        return fmt::format("a tensor is at {} of its arena, no multiple of {}", offset,
                           kStreamAlignment);
  return refuses_commands(
      std::span<const uint32_t>(words).subspan(payload->first_word, payload->word_count),
      command_set_of(*payload), regions_of(match.module, match.function, node));
}

// A register of an Ethos-U85 may name a buffer in the NPU where that of others names a region.
bool u85_reaches_fast_arena(const StreamScan& scan) {
  constexpr uint64_t kStorage = 14, kFastArena = 2;
  const std::string_view name = scan.command().name;
  const auto is_fast = [&](std::string_view region) {
    return (scan.value(region) & (kShramBit | kRegionBits)) == kFastArena;
  };
  if (name == "OP_DMA_START")
    return is_fast("SET_DMA0_SRC_REGION") || is_fast("SET_DMA0_DST_REGION");
  const bool is_operation = name.starts_with("OP_") && name != "OP_DMA_WAIT" &&
                            name != "OP_KERNEL_WAIT" && name != "OP_STOP" && name != "OP_IRQ";
  if (!is_operation) return false;
  if (is_fast("SET_WEIGHT_REGION") || is_fast("SET_SCALE_REGION")) return true;
  constexpr std::array<std::array<std::string_view, 2>, 3> kMaps = {
      {{"SET_IFM_PRECISION", "SET_IFM_REGION"},
       {"SET_OFM_PRECISION", "SET_OFM_REGION"},
       {"SET_IFM2_PRECISION", "SET_IFM2_REGION"}}};
  for (const auto& [precision, region] : kMaps)
    if (scan.value(precision) >> kStorage == 0 && is_fast(region)) return true;
  return false;
}

bool uses_fast_arena(std::span<const uint8_t> payload) {
  const std::vector<uint32_t> words = words_of(payload);
  const Result<PayloadView> view = read_payload(words);
  INTARSIA_CHECK(view.ok(), "the pattern has read this payload");
  StreamScan scan(std::span<const uint32_t>(words).subspan(view->first_word, view->word_count),
                  command_set_of(*view));
  if (command_set_of(*view) == CommandSet::U85) {
    while (scan.next())
      if (u85_reaches_fast_arena(scan)) return true;
    return false;
  }
  while (scan.next())
    if (scan.command().name.starts_with("SET_") && scan.command().name.ends_with("_REGION") &&
        scan.command().parameter() == 2)
      return true;
  return false;
}

}  // namespace

Pattern compiled_stream_pattern(const Target& device) {
  const Configuration& configuration = configuration_of(device);
  return {
      "compiled stream", {graph::OpKind::Compiled}, [&configuration](const PatternMatch& match) {
        return refuses(match, [&](const StreamDevice& made_for) {
          return refuses_device(made_for, configuration);
        });
      }};
}

Pattern u85_stream_pattern(int64_t macs) {
  return {"compiled stream", {graph::OpKind::Compiled}, [macs](const PatternMatch& match) {
            return refuses(
                match, [&](const StreamDevice& made_for) { return refuses_u85(made_for, macs); });
          }};
}

bool is_compiled_stream(const graph::Function& function) {
  return function.nodes.size() == 1 && function.nodes[0].kind == graph::OpKind::Compiled;
}

tir::LoweredFunction lower_compiled_stream(const graph::Module& module,
                                           const graph::Function& function) {
  const graph::Node& node = function.nodes.at(0);
  const auto& attributes = node.attrs<graph::CompiledAttrs>();
  tir::LoweredFunction result;
  const std::string kernel_name = function.name + "_stream";

  // The stream itself: one command that may touch all of its memory.
  tir::FuncBuilder kernel(kernel_name);
  const auto add_arena = [&](const char* name, int64_t bytes) {
    return kernel.parameter(name, DataType::Int8, {bytes}, tir::Access::ReadWrite,
                            kStreamAlignment);
  };
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  const auto whole = [](tir::BufferId buffer, int64_t bytes, tir::Access access) {
    return tir::BufferRun{buffer, {tir::int_imm(0)}, bytes, access};
  };
  const SharedBytes payload = as_cop1(payload_of(module, function, node));
  const bool has_fast_arena = uses_fast_arena(payload);
  const tir::BufferId arena = add_arena("arena", attributes.arena_bytes);
  operands.push_back(whole(arena, attributes.arena_bytes, tir::Access::ReadWrite));
  // What it reads and writes of the arena, and whom it shares it with, for those who watch a run.
  const auto spans_arena = [&](graph::TensorId id) {
    const graph::Tensor& tensor = function.tensor(id);
    return tensor.type == DataType::UInt8 && tensor.shape == Shape{attributes.arena_bytes} &&
           !tensor.quantization.present();
  };
  int64_t sharing = 0;
  for (const graph::TensorId output : node.outputs)
    if (spans_arena(output)) sharing |= kLeavesArena;
  for (size_t i = 0; i < attributes.input_offsets.size(); ++i) {
    const graph::TensorId input = node.inputs[kFirstInput + i];
    if (spans_arena(input))
      sharing |= kTakesArena;
    else
      operands.push_back(tir::BufferRun{arena,
                                        {tir::int_imm(attributes.input_offsets[i])},
                                        function.tensor(input).bytes(),
                                        tir::Access::Read});
  }
  // In an arena that operators share, one may write a part of a tensor and a later one the rest.
  for (size_t i = 0; sharing == 0 && i < attributes.output_offsets.size(); ++i)
    operands.push_back(tir::BufferRun{arena,
                                      {tir::int_imm(attributes.output_offsets[i])},
                                      function.tensor(node.outputs[i]).bytes(),
                                      tir::Access::Write});
  operands.push_back(tir::int_imm(sharing));
  if (has_fast_arena)
    operands.push_back(whole(add_arena("fast_arena", attributes.fast_arena_bytes),
                             attributes.fast_arena_bytes, tir::Access::ReadWrite));
  const auto add_constant = [&](const char* name, const SharedBytes& bytes) {
    const ConstantId id{static_cast<int32_t>(result.module.constants.size())};
    const auto size = static_cast<int64_t>(bytes.size());
    result.module.constants.push_back({fmt::format("{}_{}", function.name, name),
                                       DataType::UInt8,
                                       {size},
                                       bytes,
                                       tir::ConstantUse::Stream});
    operands.push_back(
        whole(kernel.constant(name, DataType::UInt8, {size}, id), size, tir::Access::Read));
  };
  add_constant("payload", payload);
  if (const graph::TensorId constants = node.inputs.at(kConstantsOperand); constants.valid())
    add_constant("constants", module.constant(function.tensor(constants).constant).bytes);
  tir::Func func = kernel.finish(tir::seq({tir::with_comment(
      node.name, tir::intrinsic(std::string(kIntrinsic), std::move(operands)))}));
  func.node = node.name;
  func.origin = fmt::format("{}: a stream of another compiler", node.name);
  result.module.funcs.push_back(std::move(func));

  // Its tensors are parts of the arena.
  std::map<int32_t, int64_t> offsets;
  for (size_t i = 0; i < attributes.input_offsets.size(); ++i)
    offsets[node.inputs[kFirstInput + i].index] = attributes.input_offsets[i];
  for (size_t i = 0; i < attributes.output_offsets.size(); ++i)
    offsets[node.outputs[i].index] = attributes.output_offsets[i];
  tir::FuncBuilder schedule(function.name);
  std::vector<graph::TensorId> parameters = function.inputs;
  parameters.insert(parameters.end(), function.outputs.begin(), function.outputs.end());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const graph::Tensor& tensor = function.tensor(parameters[i]);
    schedule.parameter(fmt::format("tensor{}", i), tensor.type, tensor.shape,
                       i < function.inputs.size() ? tir::Access::Read : tir::Access::Write,
                       kStreamAlignment);
  }
  const tir::BufferId whole_arena =
      schedule.local("arena", DataType::Int8, {attributes.arena_bytes}, kStreamAlignment);
  std::vector<tir::BufferId> arguments = {whole_arena};
  if (has_fast_arena) {
    arguments.push_back(schedule.local("fast_arena", DataType::Int8, {attributes.fast_arena_bytes},
                                       kStreamAlignment));
    schedule.func().buffers.back().memory = kOwnSram;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    tir::Buffer& buffer = schedule.func().buffers[i];
    buffer.alias = whole_arena;
    buffer.alias_offset = offsets.at(parameters[i].index);
  }
  // A variable is where the stream reads it and leaves it for the next run.
  std::set<int64_t> states;
  for (size_t i = 0; i < attributes.input_offsets.size(); ++i) {
    const graph::Tensor& tensor = function.tensor(node.inputs[kFirstInput + i]);
    const int64_t offset = attributes.input_offsets[i];
    if (!tensor.variable || !states.insert(offset).second) continue;
    const tir::BufferId state = schedule.local(fmt::format("state{}", states.size()), tensor.type,
                                               tensor.shape, kStreamAlignment);
    tir::Buffer& buffer = schedule.func().buffers[state.at()];
    buffer.alias = whole_arena;
    buffer.alias_offset = offset;
    buffer.initial = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  }
  result.module.funcs.push_back(
      schedule.finish(tir::seq({tir::call_func(kernel_name, std::move(arguments))})));
  result.entry = function.name;
  return result;
}

// Null: it is no compiled stream.
static const tir::Intrinsic* intrinsic_of(const tir::Func& func) {
  const auto* sequence = std::get_if<tir::Seq>(&func.body->node);
  const tir::Stmt& only =
      sequence != nullptr && sequence->statements.size() == 1 ? sequence->statements[0] : func.body;
  const auto* intrinsic = std::get_if<tir::Intrinsic>(&only->node);
  return intrinsic != nullptr && intrinsic->name == kIntrinsic ? intrinsic : nullptr;
}

bool is_compiled_stream(const tir::Func& func) {
  return intrinsic_of(func) != nullptr;
}

CommandStream write_compiled_stream(const Target& device, const tir::Module& module,
                                    const Plan& plan, const tir::Func& func) {
  CommandStream stream;
  stream.func = func.name;
  stream.device = device.name;
  stream.operators = {func.node};
  stream.regions = {{StreamRegion::Kind::Constants, 0}};
  for (const tir::BufferId argument : arguments_of(module, func)) {
    const Placement* place = plan.find(argument);
    INTARSIA_CHECK(place != nullptr, "every buffer of the schedule is planned");
    stream.regions.push_back({StreamRegion::Kind::Pool, place->pool, place->offset});
  }
  std::vector<KnownBytes> holds, yields;
  int64_t sharing = 0;
  for (const auto& operand : intrinsic_of(func)->operands) {
    const auto* run = std::get_if<tir::BufferRun>(&operand);
    if (run == nullptr) sharing = std::get<tir::IntImm>(std::get<tir::Expr>(operand)->node).value;
    // The arena itself is there to be read and written.
    const bool is_tensor = run != nullptr && run->access != tir::Access::ReadWrite &&
                           run->buffer.at() < func.parameters.size();
    if (is_tensor)
      (run->access == tir::Access::Read ? holds : yields)
          .push_back({1, std::get<tir::IntImm>(run->start.at(0)->node).value, run->count});
  }
  std::vector<const tir::Buffer*> constants;
  for (const tir::Buffer& buffer : func.buffers)
    if (buffer.scope == tir::Scope::Constant) constants.push_back(&buffer);
  stream.commands = module.constant(constants.at(0)->constant).bytes;
  if (constants.size() > 1) stream.constants = module.constant(constants[1]->constant).bytes;
  std::vector<int64_t> sizes = {static_cast<int64_t>(stream.constants.size())};
  for (size_t i = 0; i < func.parameters.size(); ++i) sizes.push_back(func.buffers[i].bytes());
  const std::vector<uint32_t> words = words_of(stream.commands);
  const Result<PayloadView> view = read_payload(words);
  INTARSIA_CHECK(view.ok(), "the pattern has read this payload");
  const auto words_of_stream =
      std::span(stream.commands).subspan(4 * view->first_word, 4 * view->word_count);
  stream.marks = memory_marks(words_of_stream, stream, sizes, holds, yields);
  if ((sharing & kTakesArena) != 0) stream.marks += shared_region_mark(words_of_stream, "finds", 1);
  if ((sharing & kLeavesArena) != 0)
    stream.marks += shared_region_mark(words_of_stream, "leaves", 1);
  return stream;
}

}  // namespace intarsia::targets::ethos_u
