#include "schedule/layouts.h"

#include <map>

#include "hardware/hardware.h"

namespace intarsia::targets::ethos_u {

std::vector<std::vector<int32_t>> brick_candidates(const Program& program,
                                                   const std::function<int32_t(int32_t)>& root) {
  const size_t count = program.tensors.size();
  std::vector<bool> fits(count, true);
  const auto refuse = [&](int32_t id) { fits[static_cast<size_t>(root(id))] = false; };
  for (size_t i = 0; i < count; ++i) {
    const NpuTensor& tensor = program.tensors[i];
    const auto id = static_cast<int32_t>(i);
    // Padding of the last brick would take memory and cycles; single pixels gain nothing.
    if (tensor.kind != NpuTensor::Kind::Inner || tensor.extent.depth % kBrickDepth != 0 ||
        tensor.extent.depth == kBrickDepth || tensor.extent.width == 1 ||
        element_bytes(tensor.type) > 2)
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
  std::map<int32_t, std::vector<int32_t>> sets;
  for (size_t i = 0; i < count; ++i)
    if (const int32_t at = root(static_cast<int32_t>(i)); fits[static_cast<size_t>(at)])
      sets[at].push_back(static_cast<int32_t>(i));
  std::vector<std::vector<int32_t>> result;
  for (auto& [at, tensors] : sets) result.push_back(std::move(tensors));
  return result;
}

}  // namespace intarsia::targets::ethos_u
