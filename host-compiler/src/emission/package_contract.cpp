#include "emission/package_contract.h"

#include <limits>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/lifetimes.h"
#include "support/fingerprint.h"
#include "tir/function_index.h"

namespace intarsia::emission {
namespace {

void add_tensors(Fingerprint& print, const std::vector<TensorInfo>& tensors) {
  print.add(fmt::format("{} tensors", tensors.size()));
  for (const TensorInfo& tensor : tensors) {
    print.add(fmt::format("{} [{}] {} {} {}", to_string(tensor.type), fmt::join(tensor.shape, ","),
                          fmt::join(tensor.quantization.scale, ","),
                          fmt::join(tensor.quantization.zero_point, ","),
                          tensor.quantization.axis));
  }
}

}  // namespace

PackageNeeds package_needs(const tir::Module& module, const Plan& plan, const EmittedModel& model) {
  Fingerprint print;
  print.add(model.name);
  add_tensors(print, model.inputs);
  add_tensors(print, model.outputs);
  for (const MemoryPool& pool : plan.memory.pools) print.add(pool.name);

  const tir::Func& schedule = module.entry_func();
  std::set<std::string> streams;
  for (const CommandStream& stream : model.streams) {
    streams.insert(stream.func);
    print.add(fmt::format("{} on {}", stream.func, stream.device));
  }
  std::set<int32_t> seen_by_c;  // buffers of the schedule
  for (size_t i = 0; i < model.inputs.size() + model.outputs.size(); ++i)
    seen_by_c.insert(static_cast<int32_t>(i));
  for (size_t i = 0; i < schedule.buffers.size(); ++i)
    if (schedule.buffers[i].initial) seen_by_c.insert(static_cast<int32_t>(i));
  const tir::FunctionIndex index(module);
  std::set<std::string> functions;
  for (const tir::Call& call : plan::schedule_calls(schedule)) {
    print.add(call.function);
    if (streams.contains(call.function)) continue;
    if (functions.insert(call.function).second) print.add(tir::print(index.at(call.function)));
    for (const tir::BufferId argument : call.arguments) seen_by_c.insert(argument.index);
  }
  for (const int32_t buffer : seen_by_c)
    if (const Placement* place = plan.find(tir::BufferId{buffer}))
      print.add(fmt::format("{}: {} bytes at {} of {}", buffer, place->bytes, place->offset,
                            place->pool));
  for (const tir::Constant& constant : module.constants)
    if (constant.use != tir::ConstantUse::Stream) {
      print.add(constant.name);
      print.add({constant.bytes.data(), constant.bytes.size()});
    }

  PackageNeeds needs;
  needs.model_id = print.word();
  needs.alignment = static_cast<uint32_t>(plan.alignment);  // <MODEL>_ALIGNMENT
  // Memories of constants are no blocks of the caller's.
  needs.pool_bytes.resize(plan.use.size());
  for (const Placement& place : plan.placements) {
    const int64_t peak = plan.use[static_cast<size_t>(place.pool)].peak;
    INTARSIA_CHECK(peak >= 0 && peak <= std::numeric_limits<uint32_t>::max(),
                   "the regions of streams are checked to lie in 32 bits");
    needs.pool_bytes[static_cast<size_t>(place.pool)] = static_cast<uint32_t>(peak);
  }
  return needs;
}

}  // namespace intarsia::emission
