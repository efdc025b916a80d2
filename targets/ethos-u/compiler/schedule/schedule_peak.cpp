#include "schedule/schedule_peak.h"

#include <algorithm>

#include "hardware/hardware.h"
#include "intarsia/npu/scratch_placement.h"
#include "intarsia/plan.h"

namespace intarsia::targets::ethos_u {
namespace {

struct Life {
  int64_t first = -1, last = -1;  // steps
};

std::vector<Life> lives_of(const Schedule& schedule) {
  std::vector<Life> lives(schedule.storages.size());
  for (size_t k = 0; k < schedule.steps.size(); ++k) {
    const auto touch = [&](int32_t storage) {
      if (storage < 0) return;
      Life& life = lives[static_cast<size_t>(storage)];
      if (life.first < 0) life.first = static_cast<int64_t>(k);
      life.last = static_cast<int64_t>(k);
    };
    const Step& step = schedule.steps[k];
    for (const int32_t storage : {step.from.storage, step.to.storage, step.ifm.span.storage,
                                  step.ofm.span.storage, step.ifm2 ? step.ifm2->span.storage : -1})
      touch(storage);
    for (const Span& span : step.weights) touch(span.storage);
    for (const Span& span : step.scales) touch(span.storage);
    for (const int32_t storage : step.reserved) touch(storage);
  }
  return lives;
}

std::vector<npu::ScratchRequest> requests_of(const Schedule& schedule,
                                             const std::vector<bool>& is_placed) {
  const std::vector<Life> lives = lives_of(schedule);
  std::vector<npu::ScratchRequest> requests;
  for (size_t i = 0; i < lives.size(); ++i) {
    Life life = lives[i];
    if (!is_placed.at(i) || life.first < 0) continue;
    const Storage& storage = schedule.storages[i];
    if (is_there_before(storage.kind)) life.first = 0;
    if (is_there_after(storage.kind)) life.last = static_cast<int64_t>(schedule.steps.size()) - 1;
    requests.push_back({storage.bytes, life.first, life.last, 0});
  }
  return requests;
}

}  // namespace

int64_t placed_peak(const Schedule& schedule, const std::vector<bool>& is_placed) {
  std::vector<npu::ScratchRequest> requests = requests_of(schedule, is_placed);
  // With as many steps as the planner takes.
  return npu::place_scratch_low(requests, kStreamAlignment, PlanOptions{}.search_budget);
}

std::vector<int64_t> placed_ends(const Schedule& schedule, const std::vector<bool>& is_placed) {
  std::vector<npu::ScratchRequest> requests = requests_of(schedule, is_placed);
  npu::place_scratch_low(requests, kStreamAlignment, 0);
  std::vector<int64_t> ends(schedule.steps.size(), 0);
  for (const npu::ScratchRequest& request : requests)
    for (int64_t step = request.begin; step <= request.end; ++step) {
      int64_t& end = ends[static_cast<size_t>(step)];
      end = std::max(end, request.address + request.bytes);
    }
  return ends;
}

}  // namespace intarsia::targets::ethos_u
