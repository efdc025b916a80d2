#include "plan/fullest_step.h"

#include <algorithm>
#include <tuple>

namespace intarsia::plan {
namespace {

// Bytes that placements, sorted by pool and offset, cover together.
int64_t covered(const std::vector<const Placement*>& placements) {
  int64_t bytes = 0, end = 0;
  int32_t pool = -1;
  for (const Placement* p : placements) {
    if (p->pool != pool) pool = p->pool, end = 0;
    bytes += std::max<int64_t>(0, p->offset + p->bytes - std::max(p->offset, end));
    end = std::max(end, p->offset + p->bytes);
  }
  return bytes;
}

}  // namespace

FullestStep fullest_step(const Plan& plan, std::optional<int32_t> pool) {
  std::vector<const Placement*> waiting;
  for (const Placement& p : plan.placements)
    if (pool ? p.pool == *pool : !plan.memory.pools[static_cast<size_t>(p.pool)].read_only)
      waiting.push_back(&p);
  std::stable_sort(waiting.begin(), waiting.end(), [](const Placement* a, const Placement* b) {
    return a->first_step > b->first_step;
  });
  const auto by_place = [](const Placement* a, const Placement* b) {
    return std::tie(a->pool, a->offset, a->buffer.index) <
           std::tie(b->pool, b->offset, b->buffer.index);
  };
  FullestStep fullest;
  std::vector<const Placement*> alive;
  for (int32_t step = 0; step < plan.steps; ++step) {
    std::erase_if(alive, [&](const Placement* p) { return p->last_step < step; });
    for (; !waiting.empty() && waiting.back()->first_step <= step; waiting.pop_back())
      alive.insert(std::upper_bound(alive.begin(), alive.end(), waiting.back(), by_place),
                   waiting.back());
    const int64_t bytes = covered(alive);
    if (bytes > fullest.bytes) fullest = {step, bytes, alive};
  }
  return fullest;
}

}  // namespace intarsia::plan
