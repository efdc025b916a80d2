#include <fmt/format.h>

#include "commands.h"
#include "intarsia/plugin/stream_places.h"
#include "intrinsics.h"
#include "npu_kind.h"

namespace intarsia::targets::example_npu {
namespace {

class StreamWriter {
 public:
  StreamWriter(const tir::Module& module, const Plan& plan, const tir::Func& func)
      : func_(func), places_(module, plan, func, kLanes) {}

  CommandStream run(const std::string& device) {
    std::vector<uint8_t> operations;
    const std::vector<tir::Stmt> statements = statements_of(func_.body);
    for (const tir::Stmt& statement : statements) {
      append(from_statement(statement), operations);
      if (stream_.operators.empty() || stream_.operators.back() != statement->comment)
        stream_.operators.push_back(statement->comment);
    }
    stream_.func = func_.name;
    stream_.device = device;
    stream_.regions = places_.regions();
    stream_.constants = places_.constants();
    Command begin("begin");
    begin.set("stream_version", kStreamVersion).set("lanes", kLanes);
    begin.set("region_count", static_cast<int64_t>(stream_.regions.size()));
    begin.set("command_count", static_cast<int64_t>(statements.size()) + 2);
    for (size_t i = 0; i < stream_.regions.size(); ++i)
      begin.set(fmt::format("region{}_bytes", i), places_.extents()[i]);
    begin.append_to(stream_.commands);
    stream_.commands.insert(stream_.commands.end(), operations.begin(), operations.end());
    Command("end").append_to(stream_.commands);
    return std::move(stream_);
  }

 private:
  void append(const Intrinsic& intrinsic, std::vector<uint8_t>& bytes) {
    Command command(intrinsic.command);
    const std::vector<std::string_view> names = addresses_of(intrinsic.command);
    for (size_t i = 0; i < names.size(); ++i) {
      const StreamPlace place = places_.of(intrinsic.runs[i]);
      INTARSIA_CHECK(place.offset % kLanes == 0, "the planner keeps the alignment buffers ask for");
      command.set(fmt::format("region_{}", names[i]), place.region);
      command.set(fmt::format("offset_{}", names[i]), place.offset);
    }
    for (const auto& [name, value] : intrinsic.fields) command.set(name, value);
    command.append_to(bytes);
  }

  const tir::Func& func_;
  StreamPlaces places_;
  CommandStream stream_;
};

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  if (plan.memory.pools.size() + 1 > static_cast<size_t>(kRegions))
    return Diagnostics(fmt::format("target '{}'", device.name),
                       fmt::format("the board has {} memories, the device addresses {}",
                                   plan.memory.pools.size(), kRegions - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == device.name && func.name != module.entry)
      artifacts.streams.push_back(StreamWriter(module, plan, func).run(device.name));
  return artifacts;
}

}  // namespace intarsia::targets::example_npu
