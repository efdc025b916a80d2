#include "partitioning/placement_search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "partitioning/decision_order.h"

namespace intarsia::partitioning {
namespace {

using Word = uint64_t;

// What is remembered of the decisions so far, a word each. Two partial assignments that agree in these
// differ in nothing that later decisions can cost, so that the cheaper one stands for both.
//   device of a node        while a tensor that it writes has readers that are not decided, or the
//                           writer of a tensor that it alone reads is not
//   readers of a tensor     their devices, while its writer or other readers are not decided;
//                           of a tensor with one reader it is that reader's device
//   promise about a node    1 + the device of the piece that holds it, chosen at another of its nodes
class Slots {
 public:
  explicit Slots(const CostModel& model)
      : nodes_(model.nodes()), tensors_(model.carried().size()) {}
  size_t count() const { return 2 * nodes_ + tensors_; }
  size_t device_of(int node) const { return static_cast<size_t>(node); }
  size_t readers_of(int tensor) const { return nodes_ + static_cast<size_t>(tensor); }
  size_t promise_of(int node) const { return nodes_ + tensors_ + static_cast<size_t>(node); }

 private:
  size_t nodes_, tensors_;
};

// Partial assignments after one decision: `width` words of memory each.
struct Layer {
  size_t width = 0;
  std::vector<Word> words;
  std::vector<Picoseconds> costs;

  size_t size() const { return costs.size(); }
  const Word* at(size_t state) const { return words.data() + state * width; }
};

struct Origin {  // how a partial assignment was reached
  uint32_t before;
  uint8_t device;
};

// Finds the state of a layer that remembers the same.
class StateIndex {
 public:
  explicit StateIndex(size_t most) : table_(std::bit_ceil(2 * most + 2), kFree) {}

  // The state that equals the one behind the last of `layer`, or that one itself when there is none.
  // The layer's last words have no cost yet: they are of the state that is to be found.
  size_t find_or_add(const Layer& layer) {
    const size_t added = layer.size();
    const Word* words = layer.at(added);
    size_t place = hash(words, layer.width) & (table_.size() - 1);
    for (; table_[place] != kFree; place = (place + 1) & (table_.size() - 1))
      if (std::equal(words, words + layer.width, layer.at(table_[place]))) return table_[place];
    table_[place] = static_cast<uint32_t>(added);
    return added;
  }

 private:
  static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
  static size_t hash(const Word* words, size_t count) {
    uint64_t value = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < count; ++i) {
      value = (value ^ words[i]) * 0xFF51AFD7ED558CCDu;
      value ^= value >> 32;
    }
    return static_cast<size_t>(value);
  }
  std::vector<uint32_t> table_;
};

class Search {
 public:
  Search(const PlacementProblem& problem, const SearchLimits& limits)
      : problem_(problem),
        model_(problem.model),
        slots_(model_),
        order_(decision_order(model_)),
        position_(model_.nodes()),
        values_(slots_.count(), 0) {
    for (size_t k = 0; k < order_.size(); ++k) position_[at(order_[k])] = static_cast<int>(k);
    for (size_t c = 0; c < model_.carried().size(); ++c)
      values_[slots_.readers_of(static_cast<int>(c))] = model_.fixed_readers(static_cast<int>(c));
    initial_ = values_;
    plan_memory();
    plan_limit(limits);
  }

  PlacementResult run() {
    PlacementResult result;
    Layer layer{0, {}, {0}};
    std::vector<size_t> slots;
    std::vector<std::vector<Origin>> origins;
    for (size_t k = 0; k < order_.size() && layer.size() > 0; ++k) {
      std::vector<Origin> reached;
      std::vector<size_t> after = slots_after(k, slots);
      layer = step(layer, k, slots, after, reached, result.effort);
      slots = std::move(after);
      if (layer.size() > kept_) {
        cut(layer, reached);
        result.effort.is_exact = false;
      }
      result.effort.most_kept =
          std::max(result.effort.most_kept, static_cast<int64_t>(layer.size()));
      origins.push_back(std::move(reached));
    }
    if (layer.size() > 0) result.assignment = walk_back(origins);
    return result;
  }

 private:
  static size_t at(int index) { return static_cast<size_t>(index); }
  bool is_before(int node, size_t k) const { return position_[at(node)] < static_cast<int>(k); }

  static bool has_one_reader(const Carried& tensor) { return tensor.readers.size() == 1; }

  // begins_[k], ends_[k]: the slots that decision k makes worth remembering, and superfluous.
  void plan_memory() {
    const int count = static_cast<int>(order_.size());
    begins_.resize(order_.size()), ends_.resize(order_.size());
    const auto remember = [&](size_t slot, int from, int until) {  // decisions
      if (from >= until) return;
      begins_[at(from)].push_back(slot);
      ends_[at(until)].push_back(slot);
    };
    std::vector<int> needed_until(order_.size(), -1);
    const auto need = [&](int node, int until) {
      needed_until[at(node)] = std::max(needed_until[at(node)], until);
    };
    for (size_t c = 0; c < model_.carried().size(); ++c) {
      const Carried& tensor = model_.carried()[c];
      int first_reader = count, last_reader = -1, last = -1;
      for (const int reader : tensor.readers) {
        first_reader = std::min(first_reader, position_[at(reader)]);
        last_reader = std::max(last_reader, position_[at(reader)]);
      }
      last = last_reader;
      if (tensor.writer != kCaller) {
        need(tensor.writer, last_reader);
        last = std::max(last, position_[at(tensor.writer)]);
      }
      if (has_one_reader(tensor))
        need(tensor.readers.front(), last);
      else
        remember(slots_.readers_of(static_cast<int>(c)), first_reader, last);
    }
    for (size_t n = 0; n < order_.size(); ++n)
      remember(slots_.device_of(static_cast<int>(n)), position_[n], needed_until[n]);
    std::vector<int> promised_from(position_);
    for (const DevicePiece& piece : problem_.pieces) {
      int first = count;
      for (const int node : piece.nodes) first = std::min(first, position_[at(node)]);
      for (const int node : piece.nodes)
        promised_from[at(node)] = std::min(promised_from[at(node)], first);
    }
    for (size_t n = 0; n < order_.size(); ++n)
      remember(slots_.promise_of(static_cast<int>(n)), promised_from[n], position_[n]);
    for (std::vector<size_t>& slots : ends_) std::sort(slots.begin(), slots.end());
  }

  // What is remembered after decision k, from what is remembered before it.
  std::vector<size_t> slots_after(size_t k, std::vector<size_t> slots) const {
    const std::vector<size_t>& ends = ends_[k];
    std::erase_if(slots,
                  [&](size_t slot) { return std::binary_search(ends.begin(), ends.end(), slot); });
    slots.insert(slots.end(), begins_[k].begin(), begins_[k].end());
    return slots;
  }

  void plan_limit(const SearchLimits& limits) {
    size_t work = 1, width = 0;
    for (size_t k = 0; k < order_.size(); ++k) {
      width += begins_[k].size();
      width -= ends_[k].size();
      work += problem_.pieces_of[at(order_[k])].size() * (1 + width);
    }
    kept_ = static_cast<size_t>(std::clamp(limits.most_work / static_cast<int64_t>(work),
                                           limits.least_kept, limits.most_kept));
    // Of what is not decided, the least that it can cost.
    least_left_.assign(order_.size() + 1, 0);
    for (size_t k = order_.size(); k-- > 0;) {
      const int node = order_[k];
      Picoseconds least = std::numeric_limits<Picoseconds>::max();
      for (const int piece : problem_.pieces_of[at(node)])
        least = std::min(least, model_.running(at(node), problem_.pieces[at(piece)].device));
      least_left_[k] = least_left_[k + 1] + (problem_.pieces_of[at(node)].empty() ? 0 : least);
    }
  }

  void set(size_t slot, Word value) {
    undo_.push_back({slot, values_[slot]});
    values_[slot] = value;
  }

  int device_of(int node) const {
    return node == kCaller ? kHost : static_cast<int>(values_[slots_.device_of(node)]);
  }

  // Decides on a node, beside what is in values_; returns what that costs.
  Picoseconds place(int node, int device, size_t k) {
    Picoseconds cost = model_.running(at(node), device);
    for (const int c : model_.read_by(at(node))) {
      const Carried& tensor = model_.carried()[at(c)];
      const bool has_writer = tensor.writer == kCaller || is_before(tensor.writer, k);
      const Word before = values_[slots_.readers_of(c)], after = before | only(device);
      const int writer = has_writer ? device_of(tensor.writer) : 0;
      if (has_writer) cost += model_.moving(c, writer, after) - model_.moving(c, writer, before);
      if (!has_one_reader(tensor))
        set(slots_.readers_of(c), has_writer ? after & ~only(writer) : after);
    }
    for (const int c : model_.written_by(at(node))) {
      const Carried& tensor = model_.carried()[at(c)];
      Word readers = values_[slots_.readers_of(c)];
      if (has_one_reader(tensor)) {
        if (is_before(tensor.readers.front(), k))
          readers |= only(device_of(tensor.readers.front()));
      } else {
        set(slots_.readers_of(c), readers & ~only(device));
      }
      cost += model_.moving(c, device, readers);
    }
    set(slots_.device_of(node), static_cast<Word>(device));
    return cost;
  }

  // The nodes of a piece beside `node` that are still free; false when one is taken.
  bool promise(const DevicePiece& piece, int node, size_t k) {
    for (const int other : piece.nodes)
      if (other != node && (is_before(other, k) || values_[slots_.promise_of(other)] != 0))
        return false;
    for (const int other : piece.nodes)
      if (other != node) set(slots_.promise_of(other), static_cast<Word>(piece.device) + 1);
    return true;
  }

  Layer step(const Layer& layer, size_t k, const std::vector<size_t>& old_slots,
             const std::vector<size_t>& new_slots, std::vector<Origin>& reached,
             Explanation::Search& effort) {
    const int node = order_[k];
    const std::vector<int>& pieces = problem_.pieces_of[at(node)];
    Layer next{new_slots.size(), {}, {}};
    StateIndex index(layer.size() * std::max<size_t>(pieces.size(), 1));
    const auto reach = [&](size_t state, int device) {
      const Picoseconds cost = layer.costs[state] + place(node, device, k);
      ++effort.placements;
      if (problem_.known && cost + least_left_[k + 1] >= *problem_.known) return;
      for (const size_t slot : new_slots) next.words.push_back(values_[slot]);
      const size_t same = index.find_or_add(next);
      const Origin origin{static_cast<uint32_t>(state), static_cast<uint8_t>(device)};
      if (same == next.size()) {
        next.costs.push_back(cost);
        reached.push_back(origin);
        return;
      }
      next.words.resize(next.size() * next.width);
      if (cost < next.costs[same]) next.costs[same] = cost, reached[same] = origin;
    };
    const auto take_back = [&] {
      for (; !undo_.empty(); undo_.pop_back()) values_[undo_.back().slot] = undo_.back().value;
    };
    for (size_t state = 0; state < layer.size(); ++state) {
      for (size_t i = 0; i < old_slots.size(); ++i) values_[old_slots[i]] = layer.at(state)[i];
      if (const Word promised = values_[slots_.promise_of(node)]; promised != 0) {
        reach(state, static_cast<int>(promised) - 1);
        take_back();
        continue;
      }
      for (const int piece : pieces) {
        if (promise(problem_.pieces[at(piece)], node, k))
          reach(state, problem_.pieces[at(piece)].device);
        take_back();
      }
    }
    for (const size_t slot : old_slots) values_[slot] = initial_[slot];
    return next;
  }

  // Keeps the cheapest; of equal ones those that were reached first.
  void cut(Layer& layer, std::vector<Origin>& reached) const {
    std::vector<uint32_t> kept(layer.size());
    std::iota(kept.begin(), kept.end(), 0u);
    std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(kept_), kept.end(),
                     [&](uint32_t a, uint32_t b) {
                       return std::pair(layer.costs[a], a) < std::pair(layer.costs[b], b);
                     });
    kept.resize(kept_);
    std::sort(kept.begin(), kept.end());
    Layer smaller{layer.width, {}, {}};
    std::vector<Origin> origins;
    for (const uint32_t state : kept) {
      smaller.words.insert(smaller.words.end(), layer.at(state), layer.at(state) + layer.width);
      smaller.costs.push_back(layer.costs[state]);
      origins.push_back(reached[state]);
    }
    layer = std::move(smaller);
    reached = std::move(origins);
  }

  // After the last decision nothing has to be remembered: there is one state.
  Assignment walk_back(const std::vector<std::vector<Origin>>& origins) const {
    Assignment assignment(order_.size());
    uint32_t state = 0;
    for (size_t k = order_.size(); k-- > 0;) {
      const Origin& origin = origins[k][state];
      assignment[at(order_[k])] = origin.device;
      state = origin.before;
    }
    return assignment;
  }

  const PlacementProblem& problem_;
  const CostModel& model_;
  Slots slots_;
  std::vector<int> order_, position_;
  std::vector<std::vector<size_t>> begins_, ends_;  // [decision]: slots
  std::vector<Picoseconds> least_left_;
  size_t kept_ = 0;

  struct Change {
    size_t slot;
    Word value;
  };
  std::vector<Word> values_;  // by slot; what is not remembered has its initial value
  std::vector<Word> initial_;
  std::vector<Change> undo_;
};

}  // namespace

PlacementResult search_placements(const PlacementProblem& problem, const SearchLimits& limits) {
  return Search(problem, limits).run();
}

}  // namespace intarsia::partitioning
