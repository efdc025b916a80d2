#include "legalise/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace intarsia::targets::ethos_u {
namespace {

// The operations of a node, which stay together: some of them may write over what others have read.
struct Group {
  std::vector<Operation> operations;
  std::set<int32_t> reads, writes;  // tensors that have their own memory
  bool keeps =
      false;  // what it leaves for the next run lies where others read what the last one left
};

class Order {
 public:
  explicit Order(Program& program) : program_(program) {
    for (Operation& op : program.operations) {
      if (groups_.empty() || groups_.back().operations.back().node != op.node)
        groups_.emplace_back();
      add(groups_.back(), std::move(op));
    }
  }

  void run() {
    const std::vector<Group> before = groups_;
    const int64_t peak = peak_bytes();
    for (size_t i = groups_.size(); i-- > 0;) {
      const size_t last = latest(i);
      if (last == i || waits_in_vain(i, last)) continue;
      const auto from = groups_.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(from, from + 1, groups_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }
    if (peak_bytes() >= peak) groups_ = before;
    program_.operations.clear();
    for (Group& group : groups_)
      for (Operation& op : group.operations) program_.operations.push_back(std::move(op));
  }

 private:
  const NpuTensor& tensor(int32_t id) const { return program_.tensors[static_cast<size_t>(id)]; }
  int32_t root(const Operand& operand) const {
    const int32_t alias_of = tensor(operand.tensor).alias_of;
    return alias_of < 0 ? operand.tensor : alias_of;
  }

  void add(Group& group, Operation op) {
    group.reads.insert(root(op.ifm));
    if (op.ifm2) group.reads.insert(root(*op.ifm2));
    group.writes.insert(root(op.ofm));
    group.keeps |= tensor(op.ofm.tensor).is_kept || tensor(root(op.ofm)).is_kept;
    group.operations.push_back(std::move(op));
  }

  static bool share(const std::set<int32_t>& one, const std::set<int32_t>& other) {
    return std::any_of(one.begin(), one.end(), [&](int32_t id) { return other.contains(id); });
  }

  // The place of the group that it can come right before and stay behind nobody who needs it, counted without itself.
  size_t latest(size_t index) const {
    const Group& group = groups_[index];
    if (group.keeps) return index;
    size_t last = index;
    while (last + 1 < groups_.size()) {
      const Group& next = groups_[last + 1];
      if (next.keeps || share(group.writes, next.reads) || share(group.writes, next.writes) ||
          share(group.reads, next.writes))
        break;
      ++last;
    }
    return last;
  }

  // What inner tensors take at once.
  int64_t peak_bytes() const {
    std::map<int32_t, std::pair<size_t, size_t>> lives;  // first and last group that touches it
    for (size_t i = 0; i < groups_.size(); ++i)
      for (const std::set<int32_t>* ids : {&groups_[i].reads, &groups_[i].writes})
        for (const int32_t id : *ids)
          if (is_inner(id)) lives.try_emplace(id, i, i).first->second.second = i;
    std::vector<int64_t> change(groups_.size() + 1, 0);
    for (const auto& [id, life] : lives) {
      change[life.first] += bytes(id);
      change[life.second + 1] -= bytes(id);
    }
    int64_t now = 0, most = 0;
    for (const int64_t step : change) most = std::max(most, now += step);
    return most;
  }

  // What it makes is no larger than what would have to stay for it.
  bool waits_in_vain(size_t index, size_t last) const {
    const auto is_used = [&](int32_t id, size_t from, size_t end) {
      return std::any_of(groups_.begin() + static_cast<std::ptrdiff_t>(from),
                         groups_.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const Group& group) {
                           return group.reads.contains(id) || group.writes.contains(id);
                         });
    };
    const Group& group = groups_[index];
    int64_t made = 0, waiting = 0;
    for (const int32_t id : group.writes)
      if (is_inner(id) && !is_used(id, 0, index)) made += bytes(id);
    for (const int32_t id : group.reads)
      if (is_inner(id) && !group.writes.contains(id) && !is_used(id, last + 1, groups_.size()))
        waiting += bytes(id);
    return made <= waiting;
  }

  bool is_inner(int32_t id) const { return tensor(id).kind == NpuTensor::Kind::Inner; }
  int64_t bytes(int32_t id) const {
    return tensor(id).extent.elements() * (bits(tensor(id).type) / 8);
  }

  Program& program_;
  std::vector<Group> groups_;
};

}  // namespace

void make_late(Program& program) {
  Order(program).run();
}

}  // namespace intarsia::targets::ethos_u
