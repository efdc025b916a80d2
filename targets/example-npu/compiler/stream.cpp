#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "commands.h"
#include "intrinsics.h"
#include "npu_kind.h"

namespace intarsia::targets::example_npu {
namespace {

// Statements of a body, in order.
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
    std::vector<uint8_t> operations;
    const std::vector<tir::Stmt> statements = statements_of(func_.body);
    for (const tir::Stmt& statement : statements) {
      append(from_statement(statement), operations);
      if (stream_.operators.empty() || stream_.operators.back() != statement->comment)
        stream_.operators.push_back(statement->comment);
    }
    stream_.func = func_.name;
    stream_.member = member;
    Command begin("begin");
    begin.set("stream_version", kStreamVersion).set("lanes", kLanes);
    begin.set("region_count", static_cast<int64_t>(stream_.regions.size()));
    begin.set("command_count", static_cast<int64_t>(statements.size()) + 2);
    for (size_t i = 0; i < region_bytes_.size(); ++i)
      begin.set(fmt::format("region{}_bytes", i), region_bytes_[i]);
    begin.append_to(stream_.commands);
    stream_.commands.insert(stream_.commands.end(), operations.begin(), operations.end());
    Command("end").append_to(stream_.commands);
    return std::move(stream_);
  }

 private:
  // What the schedule hands over: the buffers behind the parameters.
  std::vector<tir::BufferId> arguments() const {
    for (const tir::Stmt& statement : statements_of(module_.entry_func().body))
      if (const auto* call = std::get_if<tir::Call>(&statement->node);
          call && call->function == func_.name)
        return call->arguments;
    INTARSIA_CHECK(false, "a device's function is called by the schedule");
  }

  void append(const Intrinsic& intrinsic, std::vector<uint8_t>& bytes) {
    Command command(intrinsic.command);
    const std::vector<std::string_view> names = addresses_of(intrinsic.command);
    for (size_t i = 0; i < names.size(); ++i) {
      const Address address = place(intrinsic.runs[i]);
      command.set(fmt::format("region_{}", names[i]), address.region);
      command.set(fmt::format("offset_{}", names[i]), address.offset);
    }
    for (const auto& [name, value] : intrinsic.fields) command.set(name, value);
    command.append_to(bytes);
  }

  Address place(const tir::BufferRun& run) {
    const tir::Buffer& buffer = func_.buffer(run.buffer);
    Address address = place(run.buffer);
    address.offset += first_element(buffer, run);
    INTARSIA_CHECK(address.offset % kLanes == 0, "the planner keeps the alignment buffers ask for");
    int64_t& bytes = region_bytes_.at(static_cast<size_t>(address.region));
    bytes = std::max(bytes, address.offset + run.count);
    return address;
  }

  Address place(tir::BufferId id) {
    const tir::Buffer& buffer = func_.buffer(id);
    if (buffer.scope == tir::Scope::Constant) return place_constant(buffer.constant);
    INTARSIA_CHECK(id.at() < arguments_.size(),
                   "lowering makes parameters of all buffers that need memory");
    const tir::Buffer& argument = module_.entry_func().buffer(arguments_[id.at()]);
    if (argument.scope == tir::Scope::Constant) return place_constant(argument.constant);
    const Placement* placement = plan_.find(arguments_[id.at()]);
    INTARSIA_CHECK(placement != nullptr, "every buffer of the schedule is planned");
    return {region({StreamRegion::Kind::Pool, placement->pool}), placement->offset};
  }

  Address place_constant(ConstantId id) {
    const auto [known, fresh] =
        constants_.try_emplace(id.index, static_cast<int64_t>(stream_.constants.size()));
    if (fresh) {
      const std::vector<uint8_t>& bytes = module_.constant(id).bytes;
      stream_.constants.insert(stream_.constants.end(), bytes.begin(), bytes.end());
      stream_.constants.resize((stream_.constants.size() + kLanes - 1) / kLanes * kLanes);
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

  static int64_t first_element(const tir::Buffer& buffer, const tir::BufferRun& run) {
    int64_t element = 0;
    for (size_t axis = 0; axis < run.start.size(); ++axis) {
      const auto* index = std::get_if<tir::IntImm>(&run.start[axis]->node);
      INTARSIA_CHECK(index != nullptr, "commands address constant places");
      element = element * buffer.extents[axis] + index->value;
    }
    return element;
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
  if (plan.memory.pools.size() + 1 > static_cast<size_t>(kRegions))
    return Diagnostics(fmt::format("target '{}'", member.name),
                       fmt::format("the board has {} memories, the device addresses {}",
                                   plan.memory.pools.size(), kRegions - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == member.name && func.name != module.entry)
      artifacts.streams.push_back(StreamWriter(module, plan, func).run(member.name));
  return artifacts;
}

}  // namespace intarsia::targets::example_npu
