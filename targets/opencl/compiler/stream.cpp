#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

std::vector<tir::Stmt> statements_of(const tir::Stmt& body) {
  if (const auto* sequence = std::get_if<tir::Seq>(&body->node)) return sequence->statements;
  return {body};
}

struct Address {
  int64_t region = 0, offset = 0;
};

class StreamWriter {
 public:
  StreamWriter(const tir::Module& module, const Plan& plan, const tir::Func& func)
      : module_(module), plan_(plan), func_(func), arguments_(arguments()) {}

  CommandStream run(const std::string& member) {
    stream_.func = func_.name;
    stream_.member = member;
    std::vector<uint32_t> launches;
    int64_t launch_count = 0;
    std::vector<uint8_t> source;
    for (const tir::Stmt& statement : statements_of(func_.body)) {
      const auto& intrinsic = std::get<tir::Intrinsic>(statement->node);
      if (intrinsic.name == kSource) {
        source = module_.constant(func_.buffer(std::get<tir::BufferRun>(intrinsic.operands.at(0)).buffer).constant).bytes;
        continue;
      }
      append(intrinsic, launches);
      ++launch_count;
      if (stream_.operators.empty() || stream_.operators.back() != statement->comment)
        stream_.operators.push_back(statement->comment);
    }
    std::vector<uint32_t> header(kHeaderWords);
    header[kMagicWord] = static_cast<uint32_t>(kMagic);
    header[kVersionWord] = static_cast<uint32_t>(kVersion);
    header[kRegionCountWord] = static_cast<uint32_t>(region_bytes_.size());
    header[kLaunchCountWord] = static_cast<uint32_t>(launch_count);
    header[kSourceWord] = static_cast<uint32_t>(4 * (header.size() + region_bytes_.size() + launches.size()));
    header[kSourceBytesWord] = static_cast<uint32_t>(source.size());
    for (const int64_t bytes : region_bytes_) header.push_back(static_cast<uint32_t>(bytes));
    header.insert(header.end(), launches.begin(), launches.end());
    for (const uint32_t word : header)
      for (int shift = 0; shift < 32; shift += 8) stream_.commands.push_back(static_cast<uint8_t>(word >> shift));
    stream_.commands.insert(stream_.commands.end(), source.begin(), source.end());
    return std::move(stream_);
  }

 private:
  // What the schedule hands over: the buffers behind the parameters.
  std::vector<tir::BufferId> arguments() const {
    for (const tir::Stmt& statement : statements_of(module_.entry_func().body))
      if (const auto* call = std::get_if<tir::Call>(&statement->node); call && call->function == func_.name)
        return call->arguments;
    INTARSIA_CHECK(false, "a device's function is called by the schedule");
  }

  void append(const tir::Intrinsic& intrinsic, std::vector<uint32_t>& words) {
    std::vector<uint32_t> numbers, addresses;
    for (const auto& operand : intrinsic.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
        const Address address = place(*run);
        addresses.insert(addresses.end(), {static_cast<uint32_t>(address.region), static_cast<uint32_t>(address.offset)});
      } else {
        numbers.push_back(static_cast<uint32_t>(std::get<tir::IntImm>(std::get<tir::Expr>(operand)->node).value));
      }
    }
    INTARSIA_CHECK(numbers.size() == kArgumentCountWord, "a launch has a kernel and three extents");
    numbers.push_back(static_cast<uint32_t>(addresses.size() / 2));
    words.insert(words.end(), numbers.begin(), numbers.end());
    words.insert(words.end(), addresses.begin(), addresses.end());
  }

  Address place(const tir::BufferRun& run) {
    const Address address = place(run.buffer);
    int64_t& bytes = region_bytes_.at(static_cast<size_t>(address.region));
    bytes = std::max(bytes, address.offset + func_.buffer(run.buffer).bytes());
    return address;
  }

  Address place(tir::BufferId id) {
    const tir::Buffer& buffer = func_.buffer(id);
    if (buffer.scope == tir::Scope::Constant) return place_constant(buffer.constant);
    INTARSIA_CHECK(id.at() < arguments_.size(), "lowering makes parameters of all buffers that need memory");
    const tir::Buffer& argument = module_.entry_func().buffer(arguments_[id.at()]);
    if (argument.scope == tir::Scope::Constant) return place_constant(argument.constant);
    const Placement* placement = plan_.find(arguments_[id.at()]);
    INTARSIA_CHECK(placement != nullptr, "every buffer of the schedule is planned");
    return {region({StreamRegion::Kind::Pool, placement->pool}), placement->offset};
  }

  Address place_constant(ConstantId id) {
    constexpr size_t kAlignment = 16;
    const auto [known, fresh] = constants_.try_emplace(id.index, static_cast<int64_t>(stream_.constants.size()));
    if (fresh) {
      const std::vector<uint8_t>& bytes = module_.constant(id).bytes;
      stream_.constants.insert(stream_.constants.end(), bytes.begin(), bytes.end());
      stream_.constants.resize((stream_.constants.size() + kAlignment - 1) / kAlignment * kAlignment);
    }
    return {region({StreamRegion::Kind::Constants, 0}), known->second};
  }

  int64_t region(const StreamRegion& wanted) {
    auto& regions = stream_.regions;
    const auto found = std::find(regions.begin(), regions.end(), wanted);
    const int64_t index = found - regions.begin();
    if (found == regions.end()) {
      regions.push_back(wanted);
      region_bytes_.push_back(0);
    }
    return index;
  }

  const tir::Module& module_;
  const Plan& plan_;
  const tir::Func& func_;
  std::vector<tir::BufferId> arguments_;
  CommandStream stream_;
  std::vector<int64_t> region_bytes_;
  std::map<int32_t, int64_t> constants_;
};

}  // namespace

Result<Artifacts> make_streams(const Target& member, const tir::Module& module, const Plan& plan) {
  if (plan.memory.pools.size() + 1 > static_cast<size_t>(kMaxRegions))
    return Diagnostics(fmt::format("target '{}'", member.name),
                       fmt::format("the board has {} memories, a program addresses {}", plan.memory.pools.size(), kMaxRegions - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == member.name && func.name != module.entry)
      artifacts.streams.push_back(StreamWriter(module, plan, func).run(member.name));
  return artifacts;
}

}  // namespace intarsia::targets::opencl
