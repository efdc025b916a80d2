#include "legalise/interleave.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "hardware/hardware.h"
#include "intarsia/plugin/rounding.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

// How far an operation moves at most: what is further away keeps more alive for longer.
constexpr size_t kFarthest = 32;
// Each round takes what the one before it has opened.
constexpr int kMostRounds = 4;

class Chains {
 public:
  explicit Chains(Program& program) : program_(program), lives_(program.tensors.size()) {
    writers_.assign(program.tensors.size(), 0);
    aliased_.assign(program.tensors.size(), false);
    for (size_t id = 0; id < program.tensors.size(); ++id)
      if (const int32_t of = program.tensors[id].alias_of; of >= 0)
        aliased_[id] = aliased_[static_cast<size_t>(of)] = true;
    replaced_by_.resize(program.tensors.size());
    for (size_t id = 0; id < program.tensors.size(); ++id)
      for (const int32_t other : program.tensors[id].may_replace)
        replaced_by_[static_cast<size_t>(other)].push_back(static_cast<int32_t>(id));
    for (const Operation& op : program.operations) ++writers_[static_cast<size_t>(op.ofm.tensor)];
    steps_.reserve(program.operations.size());
    size_t groups = 0;
    for (Operation& op : program.operations) {
      Step step;
      add(step, op.ifm);
      if (op.ifm2) add(step, *op.ifm2);
      add(step, op.ofm);
      step.is_short = op.ofm.extent.elements() <= kLeastBandElements &&
                      op.ifm.extent.elements() <= kLeastBandElements;
      step.keeps = tensor(op.ofm.tensor).is_kept || tensor(root(op.ofm)).is_kept;
      // Its rows may take the place of those that it reads while it goes on.
      step.in_pieces = writers_[static_cast<size_t>(op.ofm.tensor)] > 1 &&
                       !tensor(op.ofm.tensor).may_replace.empty();
      if (steps_.empty() || steps_.back().operation.node != op.node) ++groups;
      step.group = groups;
      step.operation = std::move(op);
      steps_.push_back(std::move(step));
    }
    std::vector<bool> in_pieces(groups + 1, false);
    for (const Step& step : steps_)
      if (step.in_pieces) in_pieces[step.group] = true;
    for (Step& step : steps_) step.in_pieces = in_pieces[step.group];
    order_.resize(steps_.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    find_live_bytes();
  }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (size_t i = 0; i + 1 < order_.size(); ++i)
        if (waits(i, i + 1) && may_part(i)) changed |= fill(i);
      if (!changed) break;
    }
  }

  void finish() {
    std::vector<Operation> ordered;
    ordered.reserve(order_.size());
    for (const size_t step : order_) ordered.push_back(std::move(steps_[step].operation));
    program_.operations = std::move(ordered);
  }

 private:
  struct Step {
    Operation operation;
    std::vector<int32_t> touched;  // roots of its operands, once each
    size_t group = 0;              // operations of one node that stood together
    bool is_short = false, keeps = false, in_pieces = false;
  };
  // What is taken at once, without inputs, which may lie elsewhere, and with them.
  struct Bytes {
    int64_t inner = 0, all = 0;
    Bytes& operator+=(const Bytes& other) {
      inner += other.inner, all += other.all;
      return *this;
    }
    Bytes& operator-=(const Bytes& other) {
      inner -= other.inner, all -= other.all;
      return *this;
    }
  };
  // The places of the operations that touch a tensor.
  struct Life {
    size_t first = std::numeric_limits<size_t>::max(), last = 0;
  };

  const NpuTensor& tensor(int32_t id) const { return program_.tensors[static_cast<size_t>(id)]; }
  int32_t root(const Operand& operand) const {
    const int32_t alias_of = tensor(operand.tensor).alias_of;
    return alias_of < 0 ? operand.tensor : alias_of;
  }
  Bytes bytes(int32_t id) const {
    const int64_t own =
        round_up(tensor(id).extent.elements() * (bits(tensor(id).type) / 8), kStreamAlignment);
    return {tensor(id).kind == NpuTensor::Kind::Input ? 0 : own, own};
  }
  void add(Step& step, const Operand& operand) {
    const int32_t id = root(operand);
    if (std::find(step.touched.begin(), step.touched.end(), id) == step.touched.end())
      step.touched.push_back(id);
  }
  static void make_set(std::vector<int32_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  const Step& at(size_t place) const { return steps_[order_[place]]; }

  static bool apart(int32_t a, int32_t a_extent, int32_t a_step, int32_t b, int32_t b_extent,
                    int32_t b_step) {
    return a + (a_extent - 1) * a_step < b || b + (b_extent - 1) * b_step < a;
  }
  // Whether both may touch the same element.
  bool meet(const Operand& a, const Operand& b) const {
    if (root(a) != root(b)) return false;
    if (a.tensor != b.tensor || a.walk || b.walk) return true;
    return !apart(a.origin.height, a.extent.height, a.step.height, b.origin.height, b.extent.height,
                  b.step.height) &&
           !apart(a.origin.width, a.extent.width, a.step.width, b.origin.width, b.extent.width,
                  b.step.width) &&
           !apart(a.origin.depth, a.extent.depth, a.step.depth, b.origin.depth, b.extent.depth,
                  b.step.depth);
  }
  bool reads(const Operation& op, const Operand& written) const {
    return meet(op.ifm, written) || (op.ifm2 && meet(*op.ifm2, written));
  }
  bool may_change_places(const Step& one, const Step& other) const {
    const Operation &a = one.operation, &b = other.operation;
    return !one.keeps && !other.keeps && !reads(a, b.ofm) && !reads(b, a.ofm) &&
           !meet(a.ofm, b.ofm);
  }

  // The one behind waits for all that the one in front makes.
  bool waits(size_t place, size_t next) const {
    if (next >= order_.size()) return false;
    const Step &front = at(place), &behind = at(next);
    return front.is_short && reads(behind.operation, front.operation.ofm);
  }
  bool may_part(size_t place) const {
    return !at(place).in_pieces || at(place).group != at(place + 1).group;
  }

  // Brings an operation between that place and the next one.
  bool fill(size_t place) {
    for (size_t distance = 2; distance <= kFarthest; ++distance) {
      if (from_behind(place, place + distance)) return true;
      if (distance - 1 <= place && from_before(place, place - (distance - 1))) return true;
    }
    return false;
  }

  // Weights come from slow memory as a rule, whose latency the operation in front hides as far as it is long.
  static bool may_move(const Step& step) {
    return step.is_short && !step.keeps && !step.in_pieces && !has_weights(step.operation.kind);
  }

  bool from_behind(size_t place, size_t from) {
    if (from >= order_.size() || !may_move(at(from))) return false;
    const Step& moved = at(from);
    for (size_t i = place + 1; i < from; ++i)
      if (!may_change_places(moved, at(i))) return false;
    if (reads(moved.operation, at(place).operation.ofm)) return false;
    const int more = (from + 1 < order_.size() && waits(from - 1, from + 1)) ? 1 : 0;
    const int less = 1 + waits(from - 1, from) + waits(from, from + 1);
    return more < less && move(from, place + 1);
  }

  bool from_before(size_t place, size_t from) {
    if (!may_move(at(from))) return false;
    const Step& moved = at(from);
    for (size_t i = from + 1; i <= place; ++i)
      if (!may_change_places(moved, at(i))) return false;
    const int more = (from > 0 && waits(from - 1, from + 1) ? 1 : 0) + waits(from, place + 1);
    const int less = 1 + (from > 0 && waits(from - 1, from) ? 1 : 0) +
                     (from + 1 <= place && waits(from, from + 1) ? 1 : 0);
    return more < less && move(from, place);
  }

  // Where no more is taken at once than before all of this, and no large table comes more often.
  bool move(size_t from, size_t to) {
    const size_t first = std::min(from, to), end = std::max(from, to) + 1;
    std::vector<int32_t> touched;
    for (size_t i = first; i < end; ++i)
      touched.insert(touched.end(), at(i).touched.begin(), at(i).touched.end());
    make_set(touched);
    // Those that take a place which is given up here are there from then on.
    std::vector<int32_t> counted = touched;
    for (const int32_t id : touched)
      counted.insert(counted.end(), replaced_by_[static_cast<size_t>(id)].begin(),
                     replaced_by_[static_cast<size_t>(id)].end());
    make_set(counted);
    const bool brings_table = large_table(from) >= 0;
    const int loads = brings_table ? table_loads(first, end) : 0;
    Bytes others = live_[first];
    std::vector<Life> before;
    for (const int32_t id : touched) before.push_back(life(id));
    for (const int32_t id : counted)
      if (const Life of = held(id); of.first <= first && first <= of.last) others -= bytes(id);
    rotate(from, to);
    live_again(touched, first, end);
    std::vector<Bytes> live(end - first + 1);
    live[0] = others;
    for (const int32_t id : counted) {
      const Life of = held(id);
      const size_t begin = std::max(of.first, first), last = std::min(of.last, end - 1);
      if (begin > last) continue;
      live[begin - first] += bytes(id);
      live[last + 1 - first] -= bytes(id);
    }
    live.pop_back();
    for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
    const bool grows = std::any_of(live.begin(), live.end(), [&](const Bytes& each) {
      return each.inner > most_.inner || each.all > most_.all;
    });
    if (grows || (brings_table && table_loads(first, end) > loads)) {
      rotate(to, from);
      for (size_t i = 0; i < touched.size(); ++i) life(touched[i]) = before[i];
      return false;
    }
    std::copy(live.begin(), live.end(), live_.begin() + static_cast<std::ptrdiff_t>(first));
    return true;
  }

  Life& life(int32_t id) { return lives_[static_cast<size_t>(id)]; }
  const Life& life(int32_t id) const { return lives_[static_cast<size_t>(id)]; }

  // The lives of what is touched between two places, of which each operation has changed its own at most.
  void live_again(const std::vector<int32_t>& touched, size_t first, size_t end) {
    for (const int32_t id : touched) {
      Life& of = life(id);
      if (of.first >= first) of.first = std::numeric_limits<size_t>::max();
      if (of.last < end) of.last = 0;
    }
    for (size_t i = first; i < end; ++i)
      for (const int32_t id : at(i).touched) {
        life(id).first = std::min(life(id).first, i);
        life(id).last = std::max(life(id).last, i);
      }
  }

  // The places while whose operations run it takes memory of its own; none where `first` is behind `last`.
  Life held(int32_t id) const {
    switch (tensor(id).kind) {
      case NpuTensor::Kind::Input:
        return {0, life(id).last};
      case NpuTensor::Kind::Output:
        return {life(id).first, order_.size() - 1};
      case NpuTensor::Kind::Inner:
        return {own_from(id), life(id).last};
      default:
        return {1, 0};
    }
  }
  // As `ScheduleDraft::find_in_place` has it: an element-wise result takes the place of an operand that ends there, and rows that
  // are made a few at a time that of an operand that ends with them.
  size_t own_from(int32_t id) const {
    const size_t made = life(id).first;
    const Operation& op = at(made).operation;
    const auto could_be = [&](int32_t other) {
      return tensor(other).kind == NpuTensor::Kind::Inner &&
             !aliased_[static_cast<size_t>(other)] && writers_[static_cast<size_t>(other)] == 1 &&
             tensor(other).extent == tensor(id).extent && tensor(other).type == tensor(id).type;
    };
    const auto ends_here = [&](const Operand& operand) {
      return could_be(operand.tensor) && is_whole(operand) && life(operand.tensor).last == made;
    };
    if (aliased_[static_cast<size_t>(id)]) return made;
    if (is_pointwise(op) && writers_[static_cast<size_t>(id)] == 1 && is_whole(op.ofm) &&
        (ends_here(op.ifm) || (op.ifm2 && ends_here(*op.ifm2))))
      return made + 1;
    for (const int32_t other : tensor(id).may_replace)
      if (could_be(other) && at(life(other).last).operation.node == op.node)
        return life(other).last + 1;
    return made;
  }
  bool is_whole(const Operand& operand) const {
    return operand.extent == tensor(operand.tensor).extent && operand.step == Extent{} &&
           !operand.walk;
  }

  // One that fills more than one of the places for tables.
  int32_t large_table(size_t place) const {
    const Operation& op = at(place).operation;
    if (op.activation != Activation::Lut || op.lut < 0) return -1;
    const std::vector<uint8_t>& bytes = program_.tables[static_cast<size_t>(op.lut)].bytes;
    return std::ssize(bytes) > kLutSlotBytes ? op.lut : -1;
  }
  // Of those.
  int table_loads(size_t first, size_t end) const {
    int32_t there = -1;
    for (size_t i = first; i-- > 0 && there < 0;) there = large_table(i);
    int loads = 0;
    for (size_t i = first; i < order_.size(); ++i) {
      const int32_t table = large_table(i);
      if (table < 0) continue;
      if (table != there) ++loads;
      there = table;
      if (i >= end) break;  // what comes behind may be there already
    }
    return loads;
  }

  void rotate(size_t from, size_t to) {
    const auto begin = order_.begin();
    const auto a = static_cast<std::ptrdiff_t>(from), b = static_cast<std::ptrdiff_t>(to);
    if (from > to)
      std::rotate(begin + b, begin + a, begin + a + 1);
    else
      std::rotate(begin + a, begin + a + 1, begin + b + 1);
  }

  void find_live_bytes() {
    for (size_t i = 0; i < order_.size(); ++i)
      for (const int32_t id : at(i).touched) {
        life(id).first = std::min(life(id).first, i);
        life(id).last = std::max(life(id).last, i);
      }
    std::vector<Bytes> change(order_.size() + 1);
    for (size_t i = 0; i < lives_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      if (lives_[i].first > lives_[i].last) continue;
      const auto [first, last] = held(id);
      if (first > last) continue;
      change[first] += bytes(id);
      change[last + 1] -= bytes(id);
    }
    Bytes now;
    live_.clear();
    for (size_t i = 0; i < order_.size(); ++i) {
      live_.push_back(now += change[i]);
      most_ = {std::max(most_.inner, now.inner), std::max(most_.all, now.all)};
    }
  }

  Program& program_;
  std::vector<Step> steps_;
  std::vector<size_t> order_;
  // By tensor.
  std::vector<Life> lives_;
  std::vector<int> writers_;
  std::vector<bool> aliased_;
  std::vector<std::vector<int32_t>> replaced_by_;
  std::vector<Bytes> live_;  // by place
  Bytes most_;               // of these, before anything has moved
};

}  // namespace

void interleave_chains(Program& program) {
  if (program.operations.size() < 3) return;
  Chains chains(program);
  chains.run();
  chains.finish();
}

}  // namespace intarsia::targets::ethos_u
