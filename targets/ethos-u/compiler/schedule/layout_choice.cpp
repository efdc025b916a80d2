#include "schedule/layout_choice.h"

#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "schedule/constant_planner.h"
#include "schedule/layouts.h"

namespace intarsia::targets::ethos_u {
namespace {

// No fact of the hardware: what saves less than a thousandth of the time is below what an estimate of cycles tells apart,
// and a layout chosen for it bars the way to better ones of other tensors.
constexpr double kLayoutGain = 0.001;

class LayoutChooser {
 public:
  explicit LayoutChooser(ScheduleDraft& draft) : draft_(draft) {}

  double run(bool pads_bricks) {
    const std::vector<BrickCandidate> candidates =
        brick_candidates(draft_.program, [&](int32_t id) {
          while (draft_.in_place_of[static_cast<size_t>(id)] >= 0)
            id = draft_.in_place_of[static_cast<size_t>(id)];
          return id;
        });
    std::vector<const BrickCandidate*> full, padded;
    for (const BrickCandidate& candidate : candidates)
      (candidate.is_padded ? padded : full).push_back(&candidate);
    if (candidates.empty()) return 0;
    find_users();
    if (!full.empty()) choose(full);
    const double least_wait = kLayoutGain * chain_cycles();
    std::erase_if(padded, [&](const BrickCandidate* candidate) {
      return waits_for_ports({candidate}) < least_wait;
    });
    if (padded.empty()) return 0;
    if (!pads_bricks) return waits_for_ports(padded) / chain_cycles();
    counts_memory_ = true;
    const double without = score_now();
    choose(padded);
    return 1 - score_now() / without;
  }

 private:
  void find_users() {
    users_.resize(draft_.program.tensors.size());
    for (size_t i = 0; i < draft_.units.size(); ++i) {
      const Operation& op = draft_.program.operations[i];
      for (const Operand* operand : {&op.ifm, &op.ofm, op.ifm2 ? &*op.ifm2 : nullptr})
        if (operand != nullptr) users_[static_cast<size_t>(operand->tensor)].push_back(i);
      cycles_.push_back(cycles_of(i));
    }
  }

  // All of them in bricks, and then each otherwise.
  void choose(const std::vector<const BrickCandidate*>& candidates) {
    double score = score_now();
    try_layout(candidates, Layout::Nhcwb16, score);
    for (const BrickCandidate* candidate : candidates) {
      const Layout now = draft_.places.at(static_cast<size_t>(candidate->tensors[0])).layout;
      try_layout({candidate}, now == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc, score);
    }
  }

  std::set<size_t> users_of(const std::vector<const BrickCandidate*>& candidates) const {
    std::set<size_t> users;
    for (const BrickCandidate* candidate : candidates)
      for (const int32_t id : candidate->tensors)
        users.insert(users_[static_cast<size_t>(id)].begin(),
                     users_[static_cast<size_t>(id)].end());
    return users;
  }

  // Cycles by which the maps' users are slower than if their bytes took no time.
  double waits_for_ports(const std::vector<const BrickCandidate*>& candidates) const {
    double cycles = 0;
    for (const size_t i : users_of(candidates)) {
      const OperationCost& cost = draft_.units[i].fetched;
      cycles += cost.alone() - cost.start - cost.pipeline;
    }
    return cycles;
  }

  void set_layout(const std::vector<const BrickCandidate*>& candidates, Layout layout) {
    for (const BrickCandidate* candidate : candidates)
      for (const int32_t id : candidate->tensors) draft_.set_layout(id, layout);
  }

  // Cycles of a unit with what it waits for.
  double cycles_of(size_t i) {
    const OperationCost& cost = draft_.units[i].fetched;
    const bool waits = i == 0 || draft_.waits_for_last(draft_.units[i - 1], draft_.units[i]);
    return waits ? cost.alone() + cost.first_fetch : cost.behind(draft_.units[i - 1].fetched.drain);
  }

  double chain_cycles() const { return std::accumulate(cycles_.begin(), cycles_.end(), 0.0); }

  double score_now() const {
    if (!counts_memory_) return chain_cycles();
    return ConstantPlanner::value(draft_.options, {chain_cycles(), draft_.peak_bytes()});
  }

  struct Before {
    size_t index = 0;
    Unit unit;
  };

  // Tries the layout for some maps; keeps it where the score of all operations together is less.
  bool try_layout(const std::vector<const BrickCandidate*>& candidates, Layout layout,
                  double& score) {
    const Layout other = layout == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc;
    set_layout(candidates, layout);
    const std::set<size_t> users = users_of(candidates);
    std::vector<Before> before;
    for (const size_t i : users) {
      before.push_back({i, draft_.units[i]});
      draft_.make_whole(i);
    }
    const std::vector<double> cycles_before = cycles_;
    for (const size_t i : users) {
      cycles_[i] = cycles_of(i);
      if (i + 1 < cycles_.size()) cycles_[i + 1] = cycles_of(i + 1);
    }
    const double now = score_now();
    if (now < score * (1 - kLayoutGain)) {
      score = now;
      return true;
    }
    for (Before& each : before) draft_.units[each.index] = std::move(each.unit);
    cycles_ = cycles_before;
    set_layout(candidates, other);
    return false;
  }

  ScheduleDraft& draft_;
  std::vector<std::vector<size_t>> users_;  // operations, by tensor
  std::vector<double> cycles_;              // by unit
  bool counts_memory_ = false;              // padding takes some
};

}  // namespace

double choose_layouts(ScheduleDraft& draft, bool pads_bricks) {
  return LayoutChooser(draft).run(pads_bricks);
}

}  // namespace intarsia::targets::ethos_u
