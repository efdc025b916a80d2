#include <algorithm>
#include <map>
#include <set>

#include "cuda_kind.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::cuda {
namespace {

// Bytes of one region: beginnings and ends of stretches that neither overlap nor touch.
class Bytes {
 public:
  void add(int64_t begin, int64_t end) {
    auto at = stretches_.upper_bound(begin);
    if (at != stretches_.begin() && std::prev(at)->second >= begin) --at;
    while (at != stretches_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = stretches_.erase(at);
    }
    stretches_[begin] = end;
  }
  // Adds to `to` what of [begin, end) is here, or is not.
  void split(int64_t begin, int64_t end, bool here, Bytes& to) const {
    int64_t at = begin;
    for (const auto& [first, last] : stretches_) {
      if (last <= at || first >= end) continue;
      if (!here && first > at) to.add(at, first);
      if (here) to.add(std::max(first, at), std::min(last, end));
      at = std::min(last, end);
    }
    if (!here && at < end) to.add(at, end);
  }
  const std::map<int64_t, int64_t>& stretches() const { return stretches_; }

 private:
  std::map<int64_t, int64_t> stretches_;
};

using ByRegion = std::map<int32_t, Bytes>;

std::vector<Copy> copies(const ByRegion& regions) {
  std::vector<Copy> list;
  for (const auto& [region, bytes] : regions)
    for (const auto& [begin, end] : bytes.stretches()) list.push_back({region, begin, end - begin});
  return list;
}

// Buffers of the schedule whose bytes somebody but `func` knows: other functions, or who calls the model.
std::set<int32_t> known_elsewhere(const tir::Module& module, const tir::Func& func) {
  const tir::Func& schedule = module.entry_func();
  std::set<int32_t> known;
  const auto add = [&](tir::BufferId id) {
    known.insert(tir::alias_root(schedule, id).buffer.index);
  };
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const tir::BufferId id{static_cast<int32_t>(i)};
    if (schedule.buffer(id).scope == tir::Scope::Parameter || i < schedule.parameters.size())
      add(id);
  }
  tir::for_each_statement(schedule.body, [&](const tir::Stmt& stmt) {
    const auto* call = std::get_if<tir::Call>(&stmt->node);
    if (call == nullptr || call->function == func.name) return;
    for (const tir::BufferId id : call->arguments) add(id);
  });
  return known;
}

}  // namespace

Transfers transfers_of(const tir::Module& module, const tir::Func& func,
                       const gpu::Launches& launches) {
  const std::set<int32_t> known = known_elsewhere(module, func);
  const std::vector<tir::BufferId> arguments = arguments_of(module, func);
  const auto is_known = [&](tir::BufferId id) {
    return known.contains(tir::alias_root(module.entry_func(), arguments.at(id.at())).buffer.index);
  };
  const auto is_constant = [&](const gpu::Use& use) {
    return launches.stream.regions.at(static_cast<size_t>(use.place.region)).kind ==
           StreamRegion::Kind::Constants;
  };
  ByRegion written, in, out;
  for (const std::vector<gpu::Use>& uses : launches.uses) {
    for (const gpu::Use& use : uses)
      if (use.access != tir::Access::Write && !is_constant(use) && is_known(use.buffer))
        written[use.place.region].split(use.place.offset, use.place.offset + use.bytes, false,
                                        in[use.place.region]);
    for (const gpu::Use& use : uses)
      if (use.access != tir::Access::Read)
        written[use.place.region].add(use.place.offset, use.place.offset + use.bytes);
  }
  for (const std::vector<gpu::Use>& uses : launches.uses)
    for (const gpu::Use& use : uses)
      if (use.access != tir::Access::Read && is_known(use.buffer))
        out[use.place.region].add(use.place.offset, use.place.offset + use.bytes);
  return {copies(in), copies(out)};
}

}  // namespace intarsia::targets::cuda
