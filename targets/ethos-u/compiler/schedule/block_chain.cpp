#include "schedule/block_chain.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "intarsia/npu/cheapest_chain.h"

namespace intarsia::targets::ethos_u {
namespace {

// Ways to cut a unit that are looked at: more take longer to look at, and are worse alone.
constexpr size_t kMostOptions = 6;

struct Candidate {
  Unit unit;
  double score = 0;  // alone
  const OperationCost* cost = nullptr;
};

// What a unit shows at its ends when nothing hides it.
double ends(const OperationCost& cost) {
  return cost.first_fetch + cost.drain;
}

// The best alone, and those behind it whose ends are shorter. What one can make up for: the fetch that the best shows
// first, and what hides behind the unit before (`before`, the longest drain of its candidates); its own drain, and the
// fetch of the unit after it, `after`, which may hide behind that.
std::vector<BlockOption> worth_looking_at(std::vector<BlockOption> options, double before,
                                          double after) {
  const auto is_better = [](const BlockOption& a, const BlockOption& b) {
    return a.score() < b.score();
  };
  const BlockOption& best = *std::min_element(options.begin(), options.end(), is_better);
  const double most = best.score() + best.cost.first_fetch + before + ends(best.cost) + after;
  std::erase_if(options, [&](const BlockOption& option) { return option.score() > most; });
  std::stable_sort(options.begin(), options.end(), is_better);
  std::vector<BlockOption> kept;
  for (const BlockOption& option : options) {
    if (kept.size() == kMostOptions) break;
    if (kept.empty() || ends(option.cost) < ends(kept.back().cost)) kept.push_back(option);
  }
  return kept;
}

// Whether another operation, of another image, has the same weights, which are stored once as long as their
// order is the same.
class RepeatedWeights {
 public:
  explicit RepeatedWeights(const Program& program) : program_(program) {
    for (size_t i = 0; i < program.operations.size(); ++i)
      if (has_weights(program.operations[i].kind))
        of_node_[program.operations[i].node].push_back(i);
  }
  bool are_of(const Operation& op) const {
    const auto found = has_weights(op.kind) ? of_node_.find(op.node) : of_node_.end();
    return found != of_node_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](size_t i) {
             const Operation& other = program_.operations[i];
             return &other != &op && other.weights == op.weights;
           });
  }

 private:
  const Program& program_;
  std::unordered_map<std::string_view, std::vector<size_t>> of_node_;  // those that have weights
};

bool is_stripe(const ScheduleDraft& draft, const Unit& unit) {
  return is_stripe(draft.schedule.operations.at(static_cast<size_t>(unit.view)), unit);
}

}  // namespace

std::vector<Unit> with_chained_blocks(ScheduleDraft& draft, const std::vector<bool>& fetched) {
  std::vector<std::vector<Candidate>> chain(draft.units.size());
  const RepeatedWeights repeated(draft.program);
  for (size_t i = 0; i < chain.size(); ++i) {
    const Unit& unit = draft.units[i];
    const auto add = [&](Unit made, double score) {
      Candidate& candidate = chain[i].emplace_back();
      candidate.unit = std::move(made);
      candidate.score = score;
    };
    if (is_stripe(draft, unit)) {
      add(unit, (fetched[i] ? unit.fetched : unit.direct).alone());
    } else {
      const Memory constants = fetched[i] ? Memory::Cache : Memory::Constants;
      std::vector<BlockOption> options = draft.maker.block_options(unit, constants);
      if (unit.repeated >= 0 || repeated.are_of(draft.operation(unit))) {
        const BlockConfig& now = fetched[i] ? unit.fetched_block : unit.direct_block;
        std::erase_if(options, [&](const BlockOption& option) {
          return !is_ordered_alike(option.block, now);
        });
      }
      double before = 0, after = 0;
      if (i > 0)
        for (const Candidate& candidate : chain[i - 1])
          before = std::max(before, candidate.cost->drain);
      if (i + 1 < chain.size()) {
        const Unit& next = draft.units[i + 1];
        after = (fetched[i + 1] ? next.fetched : next.direct).first_fetch;
      }
      for (const BlockOption& option : worth_looking_at(std::move(options), before, after)) {
        Unit made = unit;
        draft.maker.set_block(made, option.block);
        add(std::move(made), option.score());
      }
    }
    for (Candidate& candidate : chain[i])
      candidate.cost = fetched[i] ? &candidate.unit.fetched : &candidate.unit.direct;
  }
  std::vector<std::vector<double>> scores(chain.size());
  for (size_t i = 0; i < chain.size(); ++i)
    for (const Candidate& candidate : chain[i]) scores[i].push_back(candidate.score);
  const std::vector<size_t> chosen = npu::cheapest_chain(
      scores, [&](size_t option) { return chain[0][option].cost->first_fetch; },
      [&](size_t i, size_t one, size_t other) {
        const Candidate &before = chain[i - 1][one], &candidate = chain[i][other];
        return draft.waits_for_last_once(before.unit, candidate.unit)
                   ? candidate.cost->first_fetch
                   : candidate.cost->behind(before.cost->drain) - candidate.cost->alone();
      });
  std::vector<Unit> result;
  for (size_t i = 0; i < chain.size(); ++i) result.push_back(std::move(chain[i][chosen[i]].unit));
  return result;
}

}  // namespace intarsia::targets::ethos_u
