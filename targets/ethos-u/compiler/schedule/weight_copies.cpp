#include "schedule/weight_copies.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace intarsia::targets::ethos_u {
namespace {

DataType type_of(const Program& program, const Operand& operand) {
  return program.tensors.at(static_cast<size_t>(operand.tensor)).type;
}

// Which blocks they may be cut into, and the order that these take the weights in, are the same.
bool are_alike(const Program& program, const Operation& one, const Operation& other) {
  const auto kernel = [](const Kernel& k) {
    return std::tuple(k.height, k.width, k.stride_y, k.stride_x, k.dilation_y, k.dilation_x);
  };
  return one.kind == other.kind && one.ifm.extent == other.ifm.extent &&
         one.ofm.extent == other.ofm.extent && kernel(one.kernel) == kernel(other.kernel) &&
         one.upscale == other.upscale && one.activation == other.activation &&
         type_of(program, one.ifm) == type_of(program, other.ifm) &&
         type_of(program, one.ofm) == type_of(program, other.ofm) && one.weights == other.weights;
}

}  // namespace

WeightCopies weight_copies(const Program& program,
                           const std::function<bool(const WeightCopies::Group&)>& pays) {
  WeightCopies copies;
  std::map<size_t, std::vector<size_t>> by_size;  // groups, by the number of weights
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    if (!has_weights(op.kind)) continue;
    bool is_known = false;
    for (const size_t group : by_size[op.weights.size()]) {
      std::vector<int32_t>& members = copies.groups[group].operations;
      if (!are_alike(program, program.operations[static_cast<size_t>(members.front())], op))
        continue;
      members.push_back(static_cast<int32_t>(i));
      is_known = true;
      break;
    }
    if (is_known) continue;
    by_size[op.weights.size()].push_back(copies.groups.size());
    copies.groups.push_back({{static_cast<int32_t>(i)}, false});
  }
  std::erase_if(copies.groups, [&](const WeightCopies::Group& group) {
    return group.operations.size() < 2 || !pays(group);
  });
  if (copies.groups.empty()) return copies;
  copies.groups_of.assign(program.operations.size(), -1);
  for (size_t group = 0; group < copies.groups.size(); ++group)
    for (const int32_t operation : copies.groups[group].operations)
      copies.groups_of[static_cast<size_t>(operation)] = static_cast<int32_t>(group);
  return copies;
}

std::vector<bool> constants_in_common(const Program& program) {
  const std::vector<Operation>& operations = program.operations;
  std::vector<bool> common(operations.size(), false);
  // The first operations with weights, and with scales, of their own.
  std::map<size_t, std::vector<size_t>> by_weights, by_scales;
  const auto compare = [&](size_t i, std::vector<size_t>& known, const auto& is_same) {
    const auto same = std::find_if(known.begin(), known.end(), [&](size_t other) {
      return is_same(operations[i], operations[other]);
    });
    if (same == known.end())
      known.push_back(i);
    else
      common[i] = common[*same] = true;
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (op.weights.empty()) continue;
    compare(i, by_weights[op.weights.size()],
            [](const Operation& a, const Operation& b) { return a.weights == b.weights; });
    compare(i, by_scales[op.scales.size()],
            [](const Operation& a, const Operation& b) { return a.scales == b.scales; });
  }
  return common;
}

}  // namespace intarsia::targets::ethos_u
