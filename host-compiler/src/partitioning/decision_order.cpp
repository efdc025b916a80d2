#include "partitioning/decision_order.h"

#include <set>
#include <utility>

namespace intarsia::partitioning {
namespace {

// Greedy: of the nodes beside decided ones, the one that leaves the fewest to remember. Scores change with the
// first two and the last two decisions about a tensor only, so that all of them together take
// time in proportion to the operands, times a logarithm.
class Ordering {
 public:
  explicit Ordering(const CostModel& model)
      : around_(model.nodes()),
        open_(model.nodes(), 0),
        closes_(model.nodes(), 0),
        state_(model.nodes(), State::Far) {
    for (const Carried& carried : model.carried()) {
      Tensor tensor{carried.readers};
      if (carried.writer != kCaller) tensor.nodes.push_back(carried.writer);
      tensor.undecided = tensor.nodes.size();
      if (tensor.nodes.size() < 2) continue;  // between the caller and a single node
      for (const int node : tensor.nodes) {
        around_[at(node)].push_back(tensors_.size());
        ++open_[at(node)];
      }
      tensors_.push_back(std::move(tensor));
    }
  }

  std::vector<int> run() {
    std::vector<int> order;
    for (int next_far = 0; order.size() < around_.size();) {
      int chosen;
      if (near_.empty()) {
        while (state_[at(next_far)] != State::Far) ++next_far;
        chosen = next_far;
      } else {
        chosen = near_.begin()->second;
        near_.erase(near_.begin());
      }
      decide(chosen);
      order.push_back(chosen);
    }
    return order;
  }

 private:
  enum class State { Far, Near, Decided };
  struct Tensor {
    std::vector<int> nodes;  // writer and readers
    size_t decided = 0, undecided = 0;

    // A node decided now would have to be remembered for it; the third and further ones change only
    // which devices are among its readers.
    bool needs_memory() const { return decided < 2 && undecided >= 2; }
    bool has_one_left() const { return undecided == 1; }
  };

  static size_t at(int node) { return static_cast<size_t>(node); }
  std::pair<int, int> key(int node) const {
    return {(open_[at(node)] > 0 ? 1 : 0) - closes_[at(node)], node};
  }

  void decide(int chosen) {
    state_[at(chosen)] = State::Decided;
    for (const size_t t : around_[at(chosen)]) {
      Tensor& tensor = tensors_[t];
      const bool was_far = tensor.decided == 0, needed = tensor.needs_memory();
      ++tensor.decided, --tensor.undecided;
      const bool closing = tensor.has_one_left(), eases = needed && !tensor.needs_memory();
      if (!was_far && !closing && !eases) continue;
      for (const int node : tensor.nodes) {
        if (state_[at(node)] == State::Decided) continue;
        if (state_[at(node)] == State::Near) near_.erase(key(node));
        if (eases) --open_[at(node)];
        if (closing) ++closes_[at(node)];
        state_[at(node)] = State::Near;
        near_.insert(key(node));
      }
    }
  }

  std::vector<Tensor> tensors_;
  std::vector<std::vector<size_t>> around_;  // [node]: tensors
  std::vector<int> open_, closes_;           // [node]: how many tensors need memory, have one left
  std::vector<State> state_;
  std::set<std::pair<int, int>> near_;
};

}  // namespace

std::vector<int> decision_order(const CostModel& model) {
  return Ordering(model).run();
}

}  // namespace intarsia::partitioning
