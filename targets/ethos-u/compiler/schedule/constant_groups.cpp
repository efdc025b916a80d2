#include "schedule/constant_groups.h"

#include <algorithm>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// A group is in memory from its first use to its last: few bytes, or few operations.
constexpr size_t kMostGroupBytes = 1024, kMostGroupOperations = 64;

}  // namespace

std::vector<ConstantGroup> constant_groups(const Program& program) {
  const size_t count = program.tensors.size();
  std::vector<bool> excluded(count, true);
  for (size_t i = 0; i < count; ++i)
    excluded[i] =
        program.tensors[i].kind != NpuTensor::Kind::Constant || program.tensors[i].alias_of >= 0;
  for (const NpuTensor& tensor : program.tensors)
    if (tensor.alias_of >= 0) excluded[static_cast<size_t>(tensor.alias_of)] = true;
  for (const Operation& op : program.operations)
    if (!is_elementwise(op.kind)) excluded[static_cast<size_t>(op.ifm.tensor)] = true;

  std::vector<ConstantGroup> groups;
  size_t first_use = 0;
  const auto add = [&](int32_t id, size_t moment) {
    const auto index = static_cast<size_t>(id);
    if (excluded[index]) return;
    excluded[index] = true;
    const std::vector<uint8_t>& bytes = program.tensors[index].bytes;
    if (groups.empty() || groups.back().bytes.size() + bytes.size() > kMostGroupBytes ||
        moment - first_use > kMostGroupOperations) {
      groups.emplace_back();
      first_use = moment;
    }
    ConstantGroup& group = groups.back();
    group.members.push_back({id, static_cast<int64_t>(group.bytes.size())});
    group.bytes.insert(group.bytes.end(), bytes.begin(), bytes.end());
    const auto unit = static_cast<size_t>(kStreamAlignment);
    group.bytes.resize(round_up(group.bytes.size(), unit));
  };
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    add(op.ifm.tensor, i);
    if (op.ifm2) add(op.ifm2->tensor, i);
  }
  return groups;
}

}  // namespace intarsia::targets::ethos_u
