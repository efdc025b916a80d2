#include "packaging/page/graph_layout.h"

#include <algorithm>
#include <numeric>

namespace intarsia::packaging::page {
namespace {

constexpr int64_t kBendWidth = 14;  // where an edge passes a layer
constexpr int64_t kLongEdge =
    24;  // layers: longer edges are drawn beside the layers that they pass
constexpr int kSweeps = 6, kMoves = 12;

// A node of a layer: an operator, or a place where an edge passes.
struct Slot {
  int64_t width = 0, x = 0;  // x: of the middle
  std::vector<size_t> above, below;
};

class Layers {
 public:
  Layers(size_t nodes, const std::vector<std::pair<size_t, size_t>>& edges) : edges_(edges) {
    find_layers(nodes);
    for (size_t i = 0; i < nodes; ++i) add_slot(layer_[i], GraphLayout::kNodeWidth);
    for (const auto& edge : edges) add_edge(edge);
  }

  GraphLayout result(size_t nodes) {
    order();
    place();
    GraphLayout layout;
    int64_t least = 0, most = 0;
    for (const Slot& slot : slots_) {
      least = std::min(least, slot.x - slot.width / 2);
      most = std::max(most, slot.x + slot.width / 2);
    }
    for (size_t i = 0; i < nodes; ++i) {
      layout.nodes.push_back(
          {slots_[i].x - GraphLayout::kNodeWidth / 2 - least + GraphLayout::kGapX, top(layer_[i])});
      layout.layers.push_back(static_cast<int64_t>(layer_[i]));
    }
    for (size_t e = 0; e < edges_.size(); ++e) layout.lines.push_back(line(e, least));
    layout.width = most - least + 2 * GraphLayout::kGapX;
    layout.height = layers_.empty() ? 0 : top(layers_.size()) - GraphLayout::kGapY + 8;
    return layout;
  }

 private:
  static int64_t top(size_t layer) {
    return 8 + static_cast<int64_t>(layer) * (GraphLayout::kNodeHeight + GraphLayout::kGapY);
  }

  void find_layers(size_t nodes) {
    layer_.assign(nodes, 0);
    std::vector<std::vector<size_t>> from(nodes);
    for (const auto& [a, b] : edges_) from[b].push_back(a);
    for (size_t i = 0; i < nodes; ++i)
      for (const size_t a : from[i]) layer_[i] = std::max(layer_[i], layer_[a] + 1);
  }

  size_t add_slot(size_t layer, int64_t width) {
    if (layers_.size() <= layer) layers_.resize(layer + 1);
    layers_[layer].push_back(slots_.size());
    slots_.push_back({width, 0, {}, {}});
    return slots_.size() - 1;
  }

  void add_edge(const std::pair<size_t, size_t>& edge) {
    std::vector<size_t>& bends = bends_.emplace_back();
    const auto [a, b] = edge;
    const size_t length = layer_[b] - layer_[a];
    if (static_cast<int64_t>(length) > kLongEdge) return;
    size_t last = a;
    for (size_t layer = layer_[a] + 1; layer <= layer_[b]; ++layer) {
      const size_t next = layer == layer_[b] ? b : add_slot(layer, kBendWidth);
      if (next != b) bends.push_back(next);
      slots_[last].below.push_back(next);
      slots_[next].above.push_back(last);
      last = next;
    }
  }

  // Fewer crossings: each layer in the order of the middles of what it is joined with, from above and from below.
  void order() {
    std::vector<int64_t> at(slots_.size(), 0);
    const auto number = [&](const std::vector<size_t>& layer) {
      for (size_t i = 0; i < layer.size(); ++i) at[layer[i]] = static_cast<int64_t>(i) * 1024;
    };
    for (const auto& layer : layers_) number(layer);
    const auto sort = [&](std::vector<size_t>& layer, bool from_above) {
      std::vector<int64_t> middle(layer.size());
      std::vector<size_t> indices(layer.size());
      std::iota(indices.begin(), indices.end(), size_t{0});
      for (size_t i = 0; i < layer.size(); ++i) {
        const auto& joined = from_above ? slots_[layer[i]].above : slots_[layer[i]].below;
        middle[i] = at[layer[i]];
        if (joined.empty()) continue;
        int64_t sum = 0;
        for (const size_t j : joined) sum += at[j];
        middle[i] = sum / static_cast<int64_t>(joined.size());
      }
      std::stable_sort(indices.begin(), indices.end(),
                       [&](size_t a, size_t b) { return middle[a] < middle[b]; });
      std::vector<size_t> sorted;
      for (const size_t i : indices) sorted.push_back(layer[i]);
      layer = std::move(sorted);
      number(layer);
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      if (sweep % 2 == 0)
        for (auto& layer : layers_) sort(layer, true);
      else
        for (size_t l = layers_.size(); l-- > 0;) sort(layers_[l], false);
  }

  static int64_t distance(const Slot& a, const Slot& b) {
    return (a.width + b.width) / 2 + GraphLayout::kGapX;
  }

  // Each layer as near to what it is joined with as the widths allow.
  void place() {
    for (const auto& layer : layers_) {
      int64_t x = 0;
      for (size_t i = 0; i < layer.size(); ++i) {
        if (i > 0) x += distance(slots_[layer[i - 1]], slots_[layer[i]]);
        slots_[layer[i]].x = x;
      }
      for (const size_t i : layer) slots_[i].x -= x / 2;
    }
    for (int move = 0; move < kMoves; ++move)
      if (move % 2 == 0)
        for (const auto& layer : layers_) move_layer(layer, true);
      else
        for (size_t l = layers_.size(); l-- > 0;) move_layer(layers_[l], false);
  }

  void move_layer(const std::vector<size_t>& layer, bool from_above) {
    std::vector<int64_t> wanted;
    for (const size_t i : layer) {
      const auto& joined = from_above ? slots_[i].above : slots_[i].below;
      int64_t sum = slots_[i].x * (joined.empty() ? 1 : 0);
      for (const size_t j : joined) sum += slots_[j].x;
      wanted.push_back(joined.empty() ? sum : sum / static_cast<int64_t>(joined.size()));
    }
    // Between what they would be when pushed to the right and when pushed to the left.
    std::vector<int64_t> right = wanted, left = wanted;
    for (size_t i = 1; i < layer.size(); ++i)
      right[i] =
          std::max(right[i], right[i - 1] + distance(slots_[layer[i - 1]], slots_[layer[i]]));
    for (size_t i = layer.size() - 1; i-- > 0;)
      left[i] = std::min(left[i], left[i + 1] - distance(slots_[layer[i]], slots_[layer[i + 1]]));
    for (size_t i = 0; i < layer.size(); ++i) slots_[layer[i]].x = (left[i] + right[i]) / 2;
  }

  std::vector<GraphLayout::Point> line(size_t edge, int64_t least) const {
    const auto [a, b] = edges_[edge];
    const int64_t shift = GraphLayout::kGapX - least;
    std::vector<GraphLayout::Point> points = {
        {slots_[a].x + shift, top(layer_[a]) + GraphLayout::kNodeHeight}};
    for (const size_t bend : bends_[edge]) {
      const size_t layer = layer_[a] + points.size();
      points.push_back({slots_[bend].x + shift, top(layer) + GraphLayout::kNodeHeight / 2});
    }
    points.push_back({slots_[b].x + shift, top(layer_[b])});
    return points;
  }

  const std::vector<std::pair<size_t, size_t>>& edges_;
  std::vector<size_t> layer_;  // of nodes
  std::vector<Slot> slots_;    // nodes first
  std::vector<std::vector<size_t>> layers_, bends_;
};

}  // namespace

GraphLayout lay_out(size_t nodes, const std::vector<std::pair<size_t, size_t>>& edges) {
  return Layers(nodes, edges).result(nodes);
}

}  // namespace intarsia::packaging::page
