#include "schedule/layout_choice.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "schedule/layouts.h"

namespace intarsia::targets::ethos_u {
namespace {

// No fact of the hardware: what saves less than a thousandth of the time is below what an estimate of cycles tells apart,
// and a layout chosen for it bars the way to better ones of other tensors.
constexpr double kLayoutGain = 0.001;

class LayoutChooser {
 public:
  explicit LayoutChooser(ScheduleDraft& draft) : draft_(draft) {}

  // All tensors that can in bricks, and then each otherwise.
  void run() {
    const std::vector<std::vector<int32_t>> sets =
        brick_candidates(draft_.program, [&](int32_t id) {
          while (draft_.in_place_of[static_cast<size_t>(id)] >= 0)
            id = draft_.in_place_of[static_cast<size_t>(id)];
          return id;
        });
    if (sets.empty()) return;
    users_.resize(draft_.program.tensors.size());
    for (size_t i = 0; i < draft_.units.size(); ++i) {
      const Operation& op = draft_.program.operations[i];
      for (const Operand* operand : {&op.ifm, &op.ofm, op.ifm2 ? &*op.ifm2 : nullptr})
        if (operand != nullptr) users_[static_cast<size_t>(operand->tensor)].push_back(i);
      cycles_.push_back(cycles_of(i));
    }
    double cycles = chain_cycles();
    std::vector<const std::vector<int32_t>*> all;
    for (const std::vector<int32_t>& set : sets) all.push_back(&set);
    try_layout(all, Layout::Nhcwb16, cycles);
    for (const std::vector<int32_t>& set : sets) {
      const Layout now = draft_.places.at(static_cast<size_t>(set[0])).layout;
      try_layout({&set}, now == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc, cycles);
    }
  }

 private:
  void set_layout(const std::vector<int32_t>& tensors, Layout layout) {
    for (const int32_t id : tensors) draft_.places.at(static_cast<size_t>(id)).layout = layout;
  }

  // Cycles of a unit with what it waits for.
  double cycles_of(size_t i) {
    const OperationCost& cost = draft_.units[i].fetched;
    const bool waits = i == 0 || draft_.waits_for_last(draft_.units[i - 1], draft_.units[i]);
    return waits ? cost.alone() + cost.first_fetch : cost.behind(draft_.units[i - 1].fetched.drain);
  }

  double chain_cycles() const { return std::accumulate(cycles_.begin(), cycles_.end(), 0.0); }

  struct Before {
    size_t index = 0;
    Unit unit;
  };

  // Tries the layout for some tensors; keeps it when all operations together take less time.
  bool try_layout(const std::vector<const std::vector<int32_t>*>& sets, Layout layout,
                  double& cycles) {
    const Layout other = layout == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc;
    std::set<size_t> users;
    for (const std::vector<int32_t>* set : sets) {
      set_layout(*set, layout);
      for (const int32_t id : *set)
        users.insert(users_[static_cast<size_t>(id)].begin(),
                     users_[static_cast<size_t>(id)].end());
    }
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
    const double now = chain_cycles();
    if (now < cycles * (1 - kLayoutGain)) {
      cycles = now;
      return true;
    }
    for (Before& each : before) draft_.units[each.index] = std::move(each.unit);
    cycles_ = cycles_before;
    for (const std::vector<int32_t>* set : sets) set_layout(*set, other);
    return false;
  }

  ScheduleDraft& draft_;
  std::vector<std::vector<size_t>> users_;  // operations, by tensor
  std::vector<double> cycles_;              // by unit
};

}  // namespace

void choose_layouts(ScheduleDraft& draft) {
  LayoutChooser(draft).run();
}

}  // namespace intarsia::targets::ethos_u
