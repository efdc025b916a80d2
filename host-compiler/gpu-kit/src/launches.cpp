#include "intarsia/gpu/launches.h"

#include <fmt/format.h>

#include "intarsia/gpu/lower.h"

namespace intarsia::gpu {
namespace {

class LaunchWriter {
 public:
  LaunchWriter(const Dialect& dialect, const tir::Module& module, const Plan& plan,
               const tir::Func& func, size_t constant_alignment)
      : source_(source_intrinsic(dialect)),
        module_(module),
        func_(func),
        places_(module, plan, func, constant_alignment) {}

  Launches run(const Target& device) {
    CommandStream& stream = launches_.stream;
    stream.func = func_.name;
    stream.device = device.name;
    for (const tir::Stmt& statement : statements_of(func_.body)) {
      const auto& intrinsic = std::get<tir::Intrinsic>(statement->node);
      if (intrinsic.name == source_) {
        const auto& run = std::get<tir::BufferRun>(intrinsic.operands.at(0));
        launches_.source = module_.constant(func_.buffer(run.buffer).constant).bytes;
        continue;
      }
      append(intrinsic);
      if (stream.operators.empty() || stream.operators.back() != statement->comment)
        stream.operators.push_back(statement->comment);
    }
    stream.regions = places_.regions();
    stream.constants = places_.constants();
    launches_.region_bytes = places_.extents();
    return std::move(launches_);
  }

 private:
  void append(const tir::Intrinsic& intrinsic) {
    std::vector<uint32_t> numbers, addresses;
    std::vector<Use>& uses = launches_.uses.emplace_back();
    for (const auto& operand : intrinsic.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
        const StreamPlace place = places_.of(*run);
        addresses.insert(addresses.end(), {static_cast<uint32_t>(place.region),
                                           static_cast<uint32_t>(place.offset)});
        uses.push_back({place, func_.buffer(run->buffer).bytes(), run->access, run->buffer});
      } else {
        numbers.push_back(
            static_cast<uint32_t>(std::get<tir::IntImm>(std::get<tir::Expr>(operand)->node).value));
      }
    }
    numbers.push_back(static_cast<uint32_t>(addresses.size() / 2));
    INTARSIA_CHECK(numbers.size() == kLaunchHeaderWords, "a launch has a kernel and three extents");
    std::vector<uint32_t>& words = launches_.words;
    words.insert(words.end(), numbers.begin(), numbers.end());
    words.insert(words.end(), addresses.begin(), addresses.end());
  }

  std::string source_;
  const tir::Module& module_;
  const tir::Func& func_;
  StreamPlaces places_;
  Launches launches_;
};

}  // namespace

Launches launches_of(const Dialect& dialect, const Target& device, const tir::Module& module,
                     const Plan& plan, const tir::Func& func, size_t constant_alignment) {
  return LaunchWriter(dialect, module, plan, func, constant_alignment).run(device);
}

Result<Artifacts> make_streams(
    const Target& device, const tir::Module& module, const Plan& plan, size_t most_regions,
    const std::function<Result<CommandStream>(const tir::Func&)>& stream_of) {
  if (plan.memory.pools.size() + 1 > most_regions)
    return Diagnostics(fmt::format("target '{}'", device.name),
                       fmt::format("the board has {} memories, a program addresses {}",
                                   plan.memory.pools.size(), most_regions - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != device.name || func.name == module.entry) continue;
    INTARSIA_TRY(CommandStream stream, stream_of(func));
    artifacts.streams.push_back(std::move(stream));
  }
  return artifacts;
}

void append_words(std::span<const uint32_t> words, std::vector<uint8_t>& bytes) {
  for (const uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(word >> shift));
}

std::optional<std::string> launches_text(const WordReader& in, size_t at, size_t count,
                                         size_t& broken) {
  std::string text;
  for (broken = 0; broken < count; ++broken) {
    if (!in.has(at + kLaunchHeaderWords - 1)) return std::nullopt;
    const size_t arguments = in.word(at + kLaunchHeaderWords - 1);
    // As many as the words of a stream can be, so that no sum overflows.
    if (arguments >= (size_t{1} << 30) || !in.has(at + kLaunchHeaderWords + 2 * arguments - 1))
      return std::nullopt;
    text += fmt::format("{:04x}: k{} over {} x {} x {}", 4 * at, in.word(at), in.word(at + 1),
                        in.word(at + 2), in.word(at + 3));
    at += kLaunchHeaderWords;
    for (size_t a = 0; a < arguments; ++a, at += 2)
      text += fmt::format(" {}+{:#x}", in.word(at), in.word(at + 1));
    text += "\n";
  }
  return text;
}

}  // namespace intarsia::gpu
