#include "import/onnx/decision_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace intarsia::onnx {

namespace {

using TreeAndNode = std::pair<int64_t, int64_t>;

constexpr int64_t kMostPlaces = 1 << 22;

// The largest number below t. Below 0 that is the least one which every core keeps: some take smaller ones for 0.
float below(float t) {
  if (t == 0) return -std::numeric_limits<float>::min();
  return std::nextafter(t, -std::numeric_limits<float>::infinity());
}

// feature <= threshold, of the feature itself or negated.
struct Test {
  int64_t feature;
  float threshold;
  bool negated;
};

// The nodes of the file.
struct Listed {
  std::vector<int64_t> trees, nodes, features, yes, no, absent_is_yes;
  std::vector<float> values;
  std::vector<std::string> modes;
};

std::optional<Listed> listed_nodes(Reader& in) {
  const auto numbers = [&](const char* name) {
    return in.integers(name).value_or(std::vector<int64_t>{});
  };
  Listed all{numbers("nodes_treeids"),      numbers("nodes_nodeids"),
             numbers("nodes_featureids"),   numbers("nodes_truenodeids"),
             numbers("nodes_falsenodeids"), numbers("nodes_missing_value_tracks_true"),
             in.reals("nodes_values"),      in.texts("nodes_modes")};
  const size_t count = all.nodes.size();
  if (all.absent_is_yes.empty()) all.absent_is_yes.assign(count, 0);
  if (!in.require(!in.node().attributes.contains("nodes_values_as_tensor"),
                  "has thresholds of 64 bits",
                  "export the model for inputs of float32 (FloatTensorType of skl2onnx)"))
    return std::nullopt;
  const bool alike = all.trees.size() == count && all.features.size() == count &&
                     all.yes.size() == count && all.no.size() == count &&
                     all.absent_is_yes.size() == count && all.values.size() == count &&
                     all.modes.size() == count;
  if (!in.require(count > 0 && alike, "has attributes nodes_* of different lengths"))
    return std::nullopt;
  return all;
}

class Builder {
 public:
  Builder(Reader& in, const Listed& all, int64_t width) : in_(in), all_(all), width_(width) {}

  std::optional<DecisionTrees> build() {
    for (size_t i = 0; i < all_.nodes.size(); ++i)
      if (!in_.require(at_.try_emplace({all_.trees[i], all_.nodes[i]}, i).second,
                       fmt::format("has two nodes {} in tree {}", all_.nodes[i], all_.trees[i])))
        return std::nullopt;
    std::vector<int> parents(all_.nodes.size(), 0);
    for (size_t i = 0; i < all_.nodes.size(); ++i) {
      if (all_.modes[i] == "LEAF") continue;
      for (const int64_t child : {all_.yes[i], all_.no[i]}) {
        const auto found = at_.find({all_.trees[i], child});
        if (!in_.require(found != at_.end(),
                         fmt::format("has no node {} in tree {}, to which node {} "
                                     "leads",
                                     child, all_.trees[i], all_.nodes[i])))
          return std::nullopt;
        ++parents[found->second];
      }
    }
    for (size_t i = 0; i < parents.size(); ++i) {
      if (!in_.require(parents[i] <= 1, fmt::format("reaches node {} of tree {} on two ways",
                                                    all_.nodes[i], all_.trees[i])))
        return std::nullopt;
      if (parents[i] > 0) continue;
      if (!in_.require(std::ranges::find(made_.of_tree, all_.trees[i]) == made_.of_tree.end(),
                       fmt::format("has two roots in tree {}", all_.trees[i])))
        return std::nullopt;
      made_.of_tree.push_back(all_.trees[i]);
      made_.roots.push_back(new_places(1, 0));
      waiting_.push_back({made_.roots.back(), i});
    }
    size_t reached = 0;
    for (; !waiting_.empty() && in_.ok(); waiting_.pop_front(), ++reached)
      place(waiting_.front().first, waiting_.front().second);
    if (!in_.ok() || !in_.require(reached == all_.nodes.size(), "has nodes that lead in a circle"))
      return std::nullopt;
    return std::move(made_);
  }

  // By tree and node: where its leaves are.
  std::optional<int64_t> place_of(const TreeAndNode& which) const {
    const auto found = leaf_at_.find(which);
    return found == leaf_at_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  int64_t new_places(int64_t count, int64_t level) {
    const int64_t first = std::ssize(made_.next);
    for (int64_t i = 0; i < count; ++i) {
      made_.next.push_back(first + i);
      made_.feature.push_back(0);
      made_.threshold.push_back(std::numeric_limits<float>::quiet_NaN());
      made_.leaf.push_back(0);
      level_.push_back(level);
    }
    made_.steps = std::max(made_.steps, level);
    in_.require(first + count <= kMostPlaces, "has millions of nodes");
    return first;
  }

  // Both places that a test at this one leads to; the first one is where it fails.
  int64_t test_at(int64_t place, const Test& test) {
    const int64_t children = new_places(2, level_[at(place)] + 1);
    made_.feature[at(place)] = test.feature + (test.negated ? width_ : 0);
    made_.threshold[at(place)] = test.negated ? -test.threshold : test.threshold;
    made_.next[at(place)] = children;
    made_.has_negated |= test.negated;
    return children;
  }

  void place(int64_t place, size_t node) {
    const std::string& mode = all_.modes[node];
    const int64_t feature = all_.features[node];
    if (mode == "LEAF") {
      leaf_at_[{all_.trees[node], all_.nodes[node]}] = place;
      return;
    }
    if (!in_.require(feature >= 0 && feature < width_,
                     fmt::format("compares feature {} of {}", feature, width_)))
      return;
    const float t = all_.values[node];
    const bool absent_is_yes = all_.absent_is_yes[node] != 0;
    const size_t yes = at_.at({all_.trees[node], all_.yes[node]}),
                 no = at_.at({all_.trees[node], all_.no[node]});
    const Test at_most{feature, t, false}, less{feature, below(t), false},
        at_least{feature, t, true}, more{feature, -below(-t), true};
    // Where an absent value (no number) is to take the branch, the opposite is tested, which fails for it.
    const auto branch = [&](const Test& test, const Test& opposite) {
      const int64_t first = test_at(place, absent_is_yes ? opposite : test);
      waiting_.push_back({first + (absent_is_yes ? 0 : 1), yes});
      waiting_.push_back({first + (absent_is_yes ? 1 : 0), no});
    };
    if (mode == "BRANCH_LEQ") return branch(at_most, more);
    if (mode == "BRANCH_LT") return branch(less, at_least);
    if (mode == "BRANCH_GTE") return branch(at_least, less);
    if (mode == "BRANCH_GT") return branch(more, at_most);
    if (!in_.require((mode == "BRANCH_EQ" || mode == "BRANCH_NEQ") && !absent_is_yes,
                     fmt::format("has a node of mode '{}'{}", tflite::printable(mode),
                                 absent_is_yes ? " whose absent values lead to the branch" : ""),
                     "BRANCH_LEQ, LT, GTE, GT, EQ and NEQ are possible"))
      return;
    // Two tests, of which the second one leads to where the first one does when it fails.
    const bool equal = mode == "BRANCH_EQ";
    const int64_t first = test_at(place, at_most), second = test_at(first + 1, at_least);
    made_.next[at(second)] = first;
    level_[at(first)] = level_[at(second)] + 1;
    made_.steps = std::max(made_.steps, level_[at(first)]);
    waiting_.push_back({second + 1, equal ? yes : no});
    waiting_.push_back({first, equal ? no : yes});
  }

  static size_t at(int64_t place) { return static_cast<size_t>(place); }

  Reader& in_;
  const Listed& all_;
  const int64_t width_;
  DecisionTrees made_;
  std::vector<int64_t> level_;  // by place: how many steps lead there
  std::map<TreeAndNode, size_t> at_;
  std::map<TreeAndNode, int64_t> leaf_at_;
  std::deque<std::pair<int64_t, size_t>> waiting_;
};

// The weights of leaves, equal ones once.
bool add_weights(Reader& in, const std::string& prefix, const Builder& builder,
                 DecisionTrees& trees) {
  const auto numbers = [&](const char* name) {
    return in.integers(prefix + name).value_or(std::vector<int64_t>{});
  };
  const std::vector<int64_t> of_tree = numbers("_treeids"), of_node = numbers("_nodeids"),
                             target = numbers("_ids");
  const std::vector<float> weight = in.reals(prefix + "_weights");
  if (!in.require(!weight.empty() && of_tree.size() == weight.size() &&
                      of_node.size() == weight.size() && target.size() == weight.size(),
                  fmt::format("has attributes {}_* of different lengths, or none", prefix)))
    return false;
  const std::vector<float> none(static_cast<size_t>(trees.targets), 0.0f);
  std::map<int64_t, std::vector<float>> by_place;
  for (size_t i = 0; i < weight.size(); ++i) {
    const auto place = builder.place_of({of_tree[i], of_node[i]});
    if (!in.require(place.has_value(),
                    fmt::format("has a weight for node {} of tree {}, which is no "
                                "leaf",
                                of_node[i], of_tree[i])) ||
        !in.require(target[i] >= 0 && target[i] < trees.targets,
                    fmt::format("has a weight for result {} of {}", target[i], trees.targets)))
      return false;
    by_place.try_emplace(*place, none).first->second[static_cast<size_t>(target[i])] += weight[i];
  }
  std::map<std::vector<float>, int64_t> rows{{none, 0}};
  trees.weights = {none};
  for (const auto& [place, row] : by_place) {
    const auto [found, is_new] = rows.try_emplace(row, trees.rows());
    if (is_new) trees.weights.push_back(row);
    trees.leaf[static_cast<size_t>(place)] = found->second;
  }
  return true;
}

// Roots in the order of the one result that each tree weighs, where all have one and each result as many.
void sort_by_target(Reader& in, const std::string& prefix, DecisionTrees& trees) {
  const auto of_tree = in.integers(prefix + "_treeids"), target = in.integers(prefix + "_ids");
  std::map<int64_t, int64_t> only;  // by the file's number of the tree
  for (size_t i = 0; i < target->size(); ++i)
    if (only.try_emplace((*of_tree)[i], (*target)[i]).first->second != (*target)[i]) return;
  std::vector<int64_t> per_target(static_cast<size_t>(trees.targets), 0);
  std::vector<std::pair<int64_t, size_t>> order;  // target and root
  for (size_t i = 0; i < trees.roots.size(); ++i) {
    const auto found = only.find(trees.of_tree[i]);
    if (found == only.end()) return;
    ++per_target[static_cast<size_t>(found->second)];
    order.push_back({found->second, i});
  }
  if (!std::ranges::all_of(per_target, [&](int64_t count) { return count == per_target[0]; }))
    return;
  std::ranges::stable_sort(order, {}, &std::pair<int64_t, size_t>::first);
  const DecisionTrees given = trees;
  for (size_t i = 0; i < order.size(); ++i) {
    trees.roots[i] = given.roots[order[i].second];
    trees.of_tree[i] = given.of_tree[order[i].second];
    trees.only_target.push_back(order[i].first);
  }
}

}  // namespace

std::optional<DecisionTrees> read_trees(Reader& in, int64_t width, const std::string& prefix,
                                        int64_t targets) {
  const auto listed = listed_nodes(in);
  if (!listed) return std::nullopt;
  Builder builder(in, *listed, width);
  auto trees = builder.build();
  if (!trees) return std::nullopt;
  trees->targets = targets;
  if (!add_weights(in, prefix, builder, *trees)) return std::nullopt;
  sort_by_target(in, prefix, *trees);
  return trees;
}

}  // namespace intarsia::onnx
