#include "schedule/layout_choice.h"

#include <algorithm>
#include <set>

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

  // Cycles of all units, each with what it waits for.
  double chain_cycles() {
    double total = 0;
    for (size_t i = 0; i < draft_.units.size(); ++i) {
      const OperationCost& cost = draft_.units[i].fetched;
      const bool waits = i == 0 || draft_.dependency(draft_.units[i - 1], draft_.units[i]) == 0;
      total +=
          waits ? cost.alone() + cost.first_fetch : cost.behind(draft_.units[i - 1].fetched.drain);
    }
    return total;
  }

  // Tries the layout for some tensors; keeps it when all operations together take less time.
  bool try_layout(const std::vector<const std::vector<int32_t>*>& sets, Layout layout,
                  double& cycles) {
    const std::vector<Unit> before = draft_.units;
    const Layout other = layout == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc;
    std::set<int32_t> changed;
    for (const std::vector<int32_t>* set : sets) {
      set_layout(*set, layout);
      changed.insert(set->begin(), set->end());
    }
    for (size_t i = 0; i < draft_.units.size(); ++i) {
      const Operation& op = draft_.program.operations[i];
      if (changed.contains(op.ifm.tensor) || changed.contains(op.ofm.tensor) ||
          (op.ifm2 && changed.contains(op.ifm2->tensor)))
        draft_.make_whole(i);
    }
    const double now = chain_cycles();
    if (now < cycles * (1 - kLayoutGain)) {
      cycles = now;
      return true;
    }
    draft_.units = before;
    for (const std::vector<int32_t>* set : sets) set_layout(*set, other);
    return false;
  }

  ScheduleDraft& draft_;
};

}  // namespace

void choose_layouts(ScheduleDraft& draft) {
  LayoutChooser(draft).run();
}

}  // namespace intarsia::targets::ethos_u
