#include "schedule/constant_groups.h"

#include <array>
#include <optional>
#include <utility>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// A group is in memory from its first use to its last: few bytes, or few operations.
constexpr int64_t kMostGroupBytes = 1024;
constexpr size_t kMostGroupOperations = 64;

using ReadTensors = std::array<int32_t, 2>;  // tensors, -1 where there is none

ReadTensors tensors_read(const Operation& operation) {
  return {operation.ifm.tensor, operation.ifm2 ? operation.ifm2->tensor : -1};
}

// What may be in a group: constants that only element-wise operations read, and without aliases.
std::vector<bool> groupable(const Program& program) {
  std::vector<bool> result;
  for (const NpuTensor& tensor : program.tensors)
    result.push_back(tensor.kind == NpuTensor::Kind::Constant && tensor.alias_of < 0);
  for (const NpuTensor& tensor : program.tensors)
    if (tensor.alias_of >= 0) result[static_cast<size_t>(tensor.alias_of)] = false;
  for (const Operation& op : program.operations)
    if (!is_elementwise(op.kind)) result[static_cast<size_t>(op.ifm.tensor)] = false;
  return result;
}

// A single element lies where its type may, between others; each is read by itself.
size_t alignment_of(const NpuTensor& tensor) {
  return static_cast<size_t>(tensor.extent.elements() == 1 ? element_bytes(tensor.type)
                                                           : kStreamAlignment);
}

int64_t aligned_bytes(const NpuTensor& tensor) {
  return round_up(std::ssize(tensor.bytes), static_cast<int64_t>(alignment_of(tensor)));
}

class Grouping {
 public:
  Grouping(const Program& program, const std::vector<bool>& grouped)
      : program_(program), grouped_(grouped), group_of_(program.tensors.size(), -1) {
    for (size_t i = 0; i < program.operations.size(); ++i)
      add(tensors_read(program.operations[i]), i);
  }

  // An operand that lies in another group than the one beside it.
  std::optional<int32_t> apart() const {
    for (const Operation& op : program_.operations) {
      const auto [first, second] = tensors_read(op);
      if (second >= 0 && group_of(first) >= 0 && group_of(second) >= 0 &&
          group_of(first) != group_of(second))
        return second;
    }
    return std::nullopt;
  }

  // Each ends where a transfer does.
  std::vector<ConstantGroup> take() {
    for (ConstantGroup& group : groups_)
      group.bytes.resize(round_up(group.bytes.size(), static_cast<size_t>(kStreamAlignment)));
    return std::move(groups_);
  }

 private:
  int32_t group_of(int32_t tensor) const { return group_of_[static_cast<size_t>(tensor)]; }
  const NpuTensor& tensor(int32_t id) const { return program_.tensors[static_cast<size_t>(id)]; }

  // ReadTensors of one operation go into one group where neither is in one yet.
  void add(const ReadTensors& operands, size_t moment) {
    std::vector<int32_t> fresh;
    int64_t bytes = 0;
    for (const int32_t id : operands) {
      if (id < 0 || !grouped_[static_cast<size_t>(id)] || group_of(id) >= 0) continue;
      if (!fresh.empty() && fresh.front() == id) continue;
      fresh.push_back(id);
      bytes += aligned_bytes(tensor(id));
    }
    if (fresh.empty()) return;
    if (groups_.empty() || std::ssize(groups_.back().bytes) + bytes > kMostGroupBytes ||
        moment - first_use_ > kMostGroupOperations) {
      groups_.emplace_back();
      first_use_ = moment;
    }
    ConstantGroup& group = groups_.back();
    for (const int32_t id : fresh) {
      const NpuTensor& from = tensor(id);
      group.bytes.resize(round_up(group.bytes.size(), alignment_of(from)));
      group.members.push_back({id, std::ssize(group.bytes)});
      group.bytes.insert(group.bytes.end(), from.bytes.begin(), from.bytes.end());
      group_of_[static_cast<size_t>(id)] = static_cast<int32_t>(groups_.size()) - 1;
    }
  }

  const Program& program_;
  const std::vector<bool>& grouped_;
  std::vector<int32_t> group_of_;  // by tensor
  std::vector<ConstantGroup> groups_;
  size_t first_use_ = 0;  // of the last group
};

}  // namespace

// One group is fetched for an operation. What would be in a second one stays where constants are.
std::vector<ConstantGroup> constant_groups(const Program& program) {
  std::vector<bool> grouped = groupable(program);
  for (;;) {
    Grouping grouping(program, grouped);
    const std::optional<int32_t> apart = grouping.apart();
    if (!apart) return grouping.take();
    grouped[static_cast<size_t>(*apart)] = false;
  }
}

}  // namespace intarsia::targets::ethos_u
