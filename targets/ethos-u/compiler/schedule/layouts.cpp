#include "schedule/layouts.h"

#include <map>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {

std::vector<BrickCandidate> brick_candidates(const Program& program,
                                             const std::function<int32_t(int32_t)>& root) {
  const size_t count = program.tensors.size();
  std::vector<bool> fits(count, true);
  const auto refuse = [&](int32_t id) { fits[static_cast<size_t>(root(id))] = false; };
  for (size_t i = 0; i < count; ++i) {
    const NpuTensor& tensor = program.tensors[i];
    const auto id = static_cast<int32_t>(i);
    // Single pixels gain nothing.
    if (tensor.kind != NpuTensor::Kind::Inner || tensor.extent.depth == kBrickDepth ||
        tensor.extent.width == 1 || element_bytes(tensor.type) > 2)
      refuse(id);
    if (tensor.alias_of >= 0) refuse(id), refuse(tensor.alias_of);
  }
  for (const Operation& op : program.operations) {
    const auto check = [&](const Operand& operand) {
      if (operand.walk || operand.step != Extent{} || operand.origin.depth % kBrickDepth != 0)
        refuse(operand.tensor);
    };
    check(op.ifm), check(op.ofm);
    if (op.ifm2) check(*op.ifm2);
  }
  std::map<int32_t, BrickCandidate> candidates;
  for (size_t i = 0; i < count; ++i) {
    const int32_t at = root(static_cast<int32_t>(i));
    if (!fits[static_cast<size_t>(at)]) continue;
    BrickCandidate& candidate = candidates[at];
    candidate.tensors.push_back(static_cast<int32_t>(i));
    candidate.is_padded |= program.tensors[i].extent.depth % kBrickDepth != 0;
  }
  std::vector<BrickCandidate> result;
  for (auto& [at, candidate] : candidates) result.push_back(std::move(candidate));
  return result;
}

namespace {

// Of 8 bits, whose pixels are shorter than the bursts of all memories: pixels that each begin where a brick does and are no
// longer, such as the first channels of a concatenation to 16.
bool lies_in_single_bricks(const FeatureMap& map) {
  const auto is_aligned = [](int64_t bytes) { return bytes % kBrickDepth == 0; };
  return map.layout == Layout::Nhwc && map.extent.depth <= kBrickDepth && map.extent.width > 1 &&
         element_bytes(map.type) == 1 && map.stride_x == kBrickDepth && is_aligned(map.stride_y) &&
         is_aligned(map.base) && is_aligned(map.wrap_base.value_or(0));
}

// The channels of one pixel are the same bytes as bricks one behind the other. Of 16 and 32 bits a brick is no shorter than a burst
// of SRAM, and commands need not say how far it is from channel to channel of each type.
bool is_pixel_of_bricks(const FeatureMap& map) {
  return map.layout == Layout::Nhwc && map.extent.width == 1 && map.extent.height == 1 &&
         map.extent.depth % kBrickDepth == 0 && element_bytes(map.type) > 1 &&
         map.base % kBrickDepth == 0 && !map.wrap_base;
}

// Where there is one row nothing steps to the next one; its step is to be that of whole bricks all the same.
void name_brick(FeatureMap& map) {
  map.layout = Layout::Nhcwb16;
  if (map.extent.height == 1) map.stride_y = round_up(map.stride_y, kBrickDepth);
  map.stride_c = kBrickDepth * element_bytes(map.type);
}

}  // namespace

void name_single_bricks(Schedule& schedule) {
  for (Step& step : schedule.steps) {
    if (step.operation < 0) continue;
    const OperationKind kind = schedule.operations[static_cast<size_t>(step.operation)].kind;
    const auto name = [&](FeatureMap& map, int32_t least_depth) {
      const Storage& storage = schedule.storages[static_cast<size_t>(map.span.storage)];
      if (storage.kind != Storage::Kind::Inner || map.extent.depth < least_depth) return;
      if (lies_in_single_bricks(map) || is_pixel_of_bricks(map)) name_brick(map);
    };
    // Element-wise operations work on whole bricks, and REDUCE_SUM wants NHWC. What is written is all of a brick.
    const int32_t least_read = is_elementwise(kind) ? kBrickDepth : 1;
    if (kind != OperationKind::ReduceSum) name(step.ifm, least_read);
    if (step.ifm2) name(*step.ifm2, least_read);
    if (step.block.ofm.depth >= kBrickDepth) name(step.ofm, kBrickDepth);
  }
}

}  // namespace intarsia::targets::ethos_u
