#include "legalise/order.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace intarsia::targets::ethos_u {
namespace {

// The operations of a node, which stay together: some of them may write over what others have read.
struct Group {
  std::vector<Operation> operations;
  std::vector<int32_t> reads, writes;  // tensors that have their own memory, rising
  std::vector<int32_t> counted;        // of these the inner ones and the outputs
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
    for (Group& group : groups_) {
      make_set(group.reads), make_set(group.writes);
      for (const std::vector<int32_t>* ids : {&group.reads, &group.writes})
        std::copy_if(ids->begin(), ids->end(), std::back_inserter(group.counted), [&](int32_t id) {
          return is_inner(id) || tensor(id).kind == NpuTensor::Kind::Output;
        });
      make_set(group.counted);
      counted_.insert(counted_.end(), group.counted.begin(), group.counted.end());
    }
    make_set(counted_);
    readers_.assign(program.tensors.size(), 0);
    writers_.assign(program.tensors.size(), 0);
    for (const Group& group : groups_) {
      for (const int32_t id : group.reads) ++readers_[static_cast<size_t>(id)];
      for (const int32_t id : group.writes) ++writers_[static_cast<size_t>(id)];
    }
    order_.resize(groups_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  void make_late() {
    const std::vector<size_t> before = order_;
    const int64_t peak = peak_bytes();
    const bool shares = make_each_late(false);
    const int64_t alone = peak_bytes();
    if (alone >= peak) order_ = before;
    if (!shares) return;
    const std::vector<size_t> best = std::exchange(order_, before);
    make_each_late(true);
    if (peak_bytes() >= std::min(alone, peak)) order_ = best;
  }

  // All of one tensor's parts at a time, since the first of them brings the whole tensor.
  bool make_parts_early() {
    std::vector<int32_t> joined = counted_;
    joined.erase(std::remove_if(joined.begin(), joined.end(),
                                [&](int32_t id) { return writers_[static_cast<size_t>(id)] < 2; }),
                 joined.end());
    return lower_peak([&] {
      return std::any_of(joined.begin(), joined.end(),
                         [&](int32_t id) { return parts_made_early(id); });
    });
  }

  // One at a time.
  bool make_branches_early() {
    return lower_peak([&] { return make_one_branch_early(); });
  }

  // One at a time, as often as that lowers the peak: several places may share it.
  void make_early() {
    lower_peak([&] { return make_one_early(); });
  }

  void finish() {
    program_.operations.clear();
    for (const size_t index : order_)
      for (Operation& op : groups_[index].operations) program_.operations.push_back(std::move(op));
  }

 private:
  // The places of the groups that touch it.
  struct Life {
    size_t first = std::numeric_limits<size_t>::max(), last = 0;
  };
  using Lives = std::vector<Life>;  // by tensor, of inner ones and of outputs

  // What is taken at once, and how often.
  struct Height {
    int64_t peak = 0;
    int64_t groups = 0;
    auto operator<=>(const Height&) const = default;
  };

  static void make_set(std::vector<int32_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  const Group& group(size_t place) const { return groups_[order_[place]]; }
  const NpuTensor& tensor(int32_t id) const { return program_.tensors[static_cast<size_t>(id)]; }
  int32_t root(const Operand& operand) const { return program_.root_of(operand.tensor); }

  void add(Group& group, Operation op) {
    group.reads.push_back(root(op.ifm));
    if (op.ifm2) group.reads.push_back(root(*op.ifm2));
    group.writes.push_back(root(op.ofm));
    group.keeps |= tensor(op.ofm.tensor).is_kept || tensor(root(op.ofm)).is_kept;
    group.operations.push_back(std::move(op));
  }

  static bool is_among(const std::vector<int32_t>& ids, int32_t id) {
    return std::binary_search(ids.begin(), ids.end(), id);
  }
  static bool share(const std::vector<int32_t>& one, const std::vector<int32_t>& other) {
    return std::any_of(one.begin(), one.end(), [&](int32_t id) { return is_among(other, id); });
  }

  // As many steps as there are, if in the end they lower the peak.
  template <class Step>
  bool lower_peak(const Step& step) {
    const std::vector<size_t> before = order_;
    const int64_t peak = height_of(live_bytes(true)).peak;
    while (step()) {
    }
    if (height_of(live_bytes(true)).peak < peak) return true;
    order_ = before;
    return false;
  }

  // From the last one on. What has to stay for one is counted as its own, or for each of those that read it a part, which may
  // be worth it for all of them where it is for none. Returns whether that would have made a difference.
  bool make_each_late(bool shares_waiting) {
    Lives all = lives();
    bool differs = false;
    for (size_t i = order_.size(); i-- > 0;) {
      const size_t last = latest(i);
      if (last == i) continue;
      if (waits_in_vain(i, last, all, shares_waiting)) {
        differs = differs || (!shares_waiting && !waits_in_vain(i, last, all, true));
        continue;
      }
      move_back(i, last);
      all = lives();
    }
    return differs;
  }

  // Whether there is one that lowers the peak, or leaves it to fewer groups.
  bool make_one_early() {
    const std::vector<int64_t> live = live_bytes(true);
    const Height height = height_of(live);
    const Lives all = lives();
    for (size_t i = 1; i < order_.size(); ++i) {
      const size_t first = earliest(i);
      if (first == i || !is_in(live, height.peak, first, i) || !frees_more(i, all)) continue;
      Height least = height;
      size_t best = i;
      for (size_t to = first; to < i; ++to) {
        move_forward(i, to);
        const Height other = height_of(live_bytes(true));
        move_back(to, i);
        if (other >= least) continue;
        least = other;
        best = to;
      }
      if (best == i) continue;
      move_forward(i, best);
      return true;
    }
    return false;
  }

  // What writes parts of `joined` comes right behind the last one else that touches what it reads, which then does not have to
  // stay for it: whether that lowers the peak, or leaves it to fewer groups.
  bool parts_made_early(int32_t joined) {
    const std::vector<int64_t> live = live_bytes(true);
    const Height height = height_of(live);
    const std::vector<size_t> before = order_;
    bool is_at_peak = false;
    for (size_t i = 1; i < order_.size(); ++i) {
      if (!is_among(group(i).writes, joined)) continue;
      const size_t to = std::max(earliest(i, true), behind_others(i));
      if (to >= i) continue;
      is_at_peak |= is_in(live, height.peak, to, i);
      move_forward(i, to);
    }
    if (is_at_peak && height_of(live_bytes(true)) < height) return true;
    order_ = before;
    return false;
  }
  // The place behind the last group in front of it that touches what it reads.
  size_t behind_others(size_t place) const {
    const std::vector<int32_t>& reads = group(place).reads;
    size_t to = place;
    while (to > 0 && !share(group(to - 1).reads, reads) && !share(group(to - 1).writes, reads))
      --to;
    return to;
  }

  // Groups behind each other of which each makes what only the next one reads, such as a pool and the convolution behind it: they come
  // earlier together. Whether there are some that lower the peak, or leave it to fewer groups.
  bool make_one_branch_early() {
    const std::vector<int64_t> live = live_bytes(true);
    const Height height = height_of(live);
    for (size_t i = 1; i < order_.size(); ++i) {
      if (live[i] != height.peak) continue;
      size_t first = i, end = i + 1;
      while (first > 0 && feeds_alone(first - 1)) --first;
      while (end < order_.size() && feeds_alone(end - 1)) ++end;
      Height least = height;
      size_t best = first;
      for (size_t to = first; to > 0 && may_pass(first, end, to - 1);) {
        rotate(--to, first, end);
        const Height other = height_of(live_bytes(true));
        rotate(to, to + (end - first), end);
        if (other >= least) continue;
        least = other;
        best = to;
      }
      if (best == first) continue;
      rotate(best, first, end);
      return true;
    }
    return false;
  }
  // Whether what the group makes is all its own, and for the next one alone.
  bool feeds_alone(size_t place) const {
    const std::vector<int32_t>& made = group(place).writes;
    return std::all_of(made.begin(), made.end(), [&](int32_t id) {
      return is_inner(id) && writers_[static_cast<size_t>(id)] == 1 &&
             readers_[static_cast<size_t>(id)] == 1 && is_among(group(place + 1).reads, id);
    });
  }
  bool may_pass(size_t first, size_t end, size_t place) const {
    for (size_t i = first; i < end; ++i)
      if (!may_change_places(group(i), group(place), true)) return false;
    return true;
  }
  void rotate(size_t first, size_t middle, size_t end) {
    const auto begin = order_.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(first),
                begin + static_cast<std::ptrdiff_t>(middle),
                begin + static_cast<std::ptrdiff_t>(end));
  }

  void move_forward(size_t from, size_t to) { rotate(to, from, from + 1); }
  void move_back(size_t from, size_t to) { rotate(from, from + 1, to + 1); }

  // Neither needs what the other makes, nor writes over what it reads or makes. `apart`: parts of one tensor may come in any order.
  bool may_change_places(const Group& one, const Group& other, bool apart = false) const {
    return !one.keeps && !other.keeps && !share(one.writes, other.reads) &&
           !share(one.reads, other.writes) &&
           (!share(one.writes, other.writes) || (apart && write_apart(one, other)));
  }
  bool write_apart(const Group& one, const Group& other) const {
    return std::all_of(one.operations.begin(), one.operations.end(), [&](const Operation& a) {
      return std::all_of(other.operations.begin(), other.operations.end(), [&](const Operation& b) {
        return root(a.ofm) != root(b.ofm) || are_apart(a.ofm, b.ofm);
      });
    });
  }
  // Boxes of one tensor without a common element, as far as is easily seen.
  static bool are_apart(const Operand& a, const Operand& b) {
    const auto is_box = [](const Operand& x) { return !x.walk && x.step == Extent{}; };
    if (a.tensor != b.tensor || !is_box(a) || !is_box(b)) return false;
    const auto along = [&](int32_t Extent::*axis) {
      return a.origin.*axis + a.extent.*axis <= b.origin.*axis ||
             b.origin.*axis + b.extent.*axis <= a.origin.*axis;
    };
    return along(&Extent::height) || along(&Extent::width) || along(&Extent::depth);
  }

  // The place of the group that it can come right before and stay behind nobody who needs it, counted without itself.
  size_t latest(size_t index) const {
    size_t last = index;
    while (last + 1 < order_.size() && may_change_places(group(index), group(last + 1))) ++last;
    return last;
  }
  // The same forward.
  size_t earliest(size_t index, bool apart = false) const {
    size_t first = index;
    while (first > 0 && may_change_places(group(index), group(first - 1), apart)) --first;
    return first;
  }

  Lives lives() const {
    Lives lives(program_.tensors.size());
    for (size_t i = 0; i < order_.size(); ++i)
      for (const int32_t id : group(i).counted) {
        Life& life = lives[static_cast<size_t>(id)];
        life.first = std::min(life.first, i);
        life.last = i;
      }
    return lives;
  }

  // What inner tensors take while each group runs. `closely`: what may take the place of an operand begins where that ends, and
  // outputs count too, which stay. (Inputs may lie elsewhere, and nothing is gained by reading them early.)
  std::vector<int64_t> live_bytes(bool closely) const {
    const Lives all = lives();
    std::vector<int64_t> change(order_.size() + 1, 0);
    for (const int32_t id : counted_) {
      const Life& life = all[static_cast<size_t>(id)];
      const bool stays = !is_inner(id);
      if (stays && !closely) continue;
      const bool replaces = closely && !stays && replaces_operand(id, life, all);
      change[life.first + (replaces ? 1 : 0)] += bytes(id);
      change[stays ? order_.size() : life.last + 1] -= bytes(id);
    }
    int64_t now = 0;
    for (int64_t& step : change) step = now += step;
    change.pop_back();
    return change;
  }
  int64_t peak_bytes() const { return height_of(live_bytes(false)).peak; }

  static Height height_of(const std::vector<int64_t>& live) {
    Height height;
    for (const int64_t bytes : live) {
      if (bytes > height.peak) height = {bytes, 0};
      if (bytes == height.peak) ++height.groups;
    }
    return height;
  }
  static bool is_in(const std::vector<int64_t>& live, int64_t peak, size_t first, size_t last) {
    const auto begin = live.begin();
    return std::find(begin + static_cast<std::ptrdiff_t>(first),
                     begin + static_cast<std::ptrdiff_t>(last) + 1,
                     peak) != begin + static_cast<std::ptrdiff_t>(last) + 1;
  }

  // Whether an element-wise operation, or rows that are made a few at a time, write it over an operand that nobody else reads then.
  bool replaces_operand(int32_t id, const Life& life, const Lives& all) const {
    const auto ends_here = [&](int32_t other) {
      const Life& of = all[static_cast<size_t>(other)];
      return of.first < life.first && of.last == life.first &&
             tensor(other).extent == tensor(id).extent && tensor(other).type == tensor(id).type;
    };
    const std::vector<int32_t>& listed = tensor(id).may_replace;
    if (std::any_of(listed.begin(), listed.end(), ends_here)) return true;
    const Group& maker = group(life.first);
    const Operation& op = maker.operations.back();
    if (maker.operations.size() > 1 || !is_pointwise(op)) return false;
    return ends_here(op.ifm.tensor) || (op.ifm2 && ends_here(op.ifm2->tensor));
  }

  // What it makes is smaller than what it is the last one to read.
  bool frees_more(size_t place, const Lives& all) const {
    int64_t freed = 0, made = 0;
    for (const int32_t id : group(place).counted) {
      const auto [first, last] = all[static_cast<size_t>(id)];
      if (first < place && last == place && is_inner(id)) freed += bytes(id);
      if (first == place && (last > place || !is_inner(id))) made += bytes(id);
    }
    return made < freed;
  }

  // What it makes is no larger than what would have to stay for it.
  bool waits_in_vain(size_t place, size_t last, const Lives& all, bool shares_waiting) const {
    const Group& moved = group(place);
    int64_t made = 0, waiting = 0;
    for (const int32_t id : moved.writes)
      if (is_inner(id) && all[static_cast<size_t>(id)].first >= place) made += bytes(id);
    for (const int32_t id : moved.reads)
      if (is_inner(id) && !is_among(moved.writes, id) && all[static_cast<size_t>(id)].last <= last)
        waiting += shares_waiting ? bytes(id) / readers_[static_cast<size_t>(id)] : bytes(id);
    return made <= waiting;
  }

  bool is_inner(int32_t id) const { return tensor(id).kind == NpuTensor::Kind::Inner; }
  int64_t bytes(int32_t id) const {
    return tensor(id).extent.elements() * (bits(tensor(id).type) / 8);
  }

  Program& program_;
  std::vector<Group> groups_;
  std::vector<size_t> order_;               // of the groups
  std::vector<int32_t> counted_;            // by any group
  std::vector<int32_t> readers_, writers_;  // by tensor: how many groups read and write it
};

}  // namespace

void choose_order(Program& program, bool may_make_parts_early) {
  Order order(program);
  order.make_late();
  order.make_early();
  if (may_make_parts_early) {
    const bool parts = order.make_parts_early(), branches = order.make_branches_early();
    program.parts_are_early = parts || branches;
  }
  order.finish();
}

}  // namespace intarsia::targets::ethos_u
