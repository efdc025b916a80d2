// Transpositions. One step exchanges rows and columns: one copy for each matrix, which walks over the input's columns as rows.
// Kept to what is confirmed, a copy for each line. Other permutations are several steps.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

// Of what lies as [outer, rows, columns, inner], rows and columns exchanged.
struct Exchange {
  int64_t outer = 1, rows = 1, columns = 1, inner = 1;
  int64_t copies(bool by_lines) const { return by_lines ? outer * std::min(rows, columns) : outer; }
  int64_t pieces() const { return outer * rows * columns; }
  bool fits() const { return std::max({outer * rows, outer * columns, inner}) <= kMostExtent; }
};

constexpr int64_t kMostCopies = 64;

// Adjacent axes that stay beside each other are one group; axes of one element are in none.
struct Groups {
  std::vector<int64_t> extents;  // in the input's order
  std::vector<size_t> order;     // the output's
};

Groups groups_of(const Shape& shape, const std::vector<int64_t>& permutation) {
  std::vector<std::vector<int64_t>> axes;  // of the groups, in the output's order
  int64_t before = -1;                     // the axis before, where it may go on
  for (const int64_t axis : permutation) {
    if (shape.at(static_cast<size_t>(axis)) == 1) continue;
    bool follows = before >= 0 && before < axis;
    for (int64_t i = before + 1; follows && i < axis; ++i)
      follows = shape[static_cast<size_t>(i)] == 1;
    if (!follows) axes.emplace_back();
    axes.back().push_back(axis);
    before = axis;
  }
  Groups groups;
  std::vector<size_t> of_input(axes.size());
  std::iota(of_input.begin(), of_input.end(), size_t{0});
  std::sort(of_input.begin(), of_input.end(),
            [&](size_t a, size_t b) { return axes[a][0] < axes[b][0]; });
  groups.order.resize(axes.size());
  for (size_t i = 0; i < of_input.size(); ++i) {
    int64_t extent = 1;
    for (const int64_t axis : axes[of_input[i]]) extent *= shape[static_cast<size_t>(axis)];
    groups.extents.push_back(extent);
    groups.order[of_input[i]] = i;
  }
  return groups;
}

// The fewest steps, of those the fewest copies, and of those the fewest pieces of memory, from one order of groups to another;
// none where a step would take too many copies.
class Route {
 public:
  Route(const Groups& groups, bool by_lines) : groups_(groups), by_lines_(by_lines) {}

  std::optional<std::vector<Exchange>> find() const {
    using Order = std::vector<size_t>;
    struct Reached {
      std::vector<Exchange> steps;
      int64_t copies = 0, pieces = 0;
      bool is_less(const Reached& other) const {
        return std::tuple(copies, pieces) < std::tuple(other.copies, other.pieces);
      }
    };
    Order start(groups_.order.size());
    std::iota(start.begin(), start.end(), size_t{0});
    std::map<Order, Reached> all = {{start, {}}}, last = all;
    while (!all.contains(groups_.order) && !last.empty()) {
      std::map<Order, Reached> next;
      for (const auto& [order, reached] : last)
        for (size_t a = 0; a < order.size(); ++a)
          for (size_t b = a + 1; b < order.size(); ++b)
            for (size_t c = b + 1; c <= order.size(); ++c) {
              const Exchange e = {elements(order, 0, a), elements(order, a, b),
                                  elements(order, b, c), elements(order, c, order.size())};
              const int64_t copies = e.copies(by_lines_);
              if (copies > kMostCopies || !e.fits()) continue;
              Order to = order;
              std::rotate(to.begin() + static_cast<ptrdiff_t>(a),
                          to.begin() + static_cast<ptrdiff_t>(b),
                          to.begin() + static_cast<ptrdiff_t>(c));
              if (all.contains(to)) continue;
              Reached with = reached;
              with.steps.push_back(e);
              with.copies += copies;
              with.pieces += e.pieces();
              const auto [place, is_new] = next.try_emplace(to, with);
              if (!is_new && with.is_less(place->second)) place->second = with;
            }
      all.insert(next.begin(), next.end());
      last = std::move(next);
    }
    const auto found = all.find(groups_.order);
    return found == all.end() ? std::nullopt : std::optional(found->second.steps);
  }

 private:
  int64_t elements(const std::vector<size_t>& order, size_t begin, size_t end) const {
    int64_t count = 1;
    for (size_t i = begin; i < end; ++i) count *= groups_.extents[order[i]];
    return count;
  }

  const Groups& groups_;
  bool by_lines_;
};

struct Steps {
  std::vector<Exchange> exchanges;
  bool by_lines = false;
};

std::optional<Steps> steps_of(const Shape& shape, const std::vector<int64_t>& permutation,
                              bool confirmed_only) {
  const Groups groups = groups_of(shape, permutation);
  if (confirmed_only)
    if (const auto lines = Route(groups, true).find()) return Steps{*lines, true};
  const auto matrices = Route(groups, false).find();
  return matrices ? std::optional(Steps{*matrices, false}) : std::nullopt;
}

// The side whose lines lie in one piece is seen as a single column.
Extent extent_of_result(const Exchange& e, bool by_lines) {
  const auto lines = static_cast<int32_t>(e.outer * e.columns), rows = static_cast<int32_t>(e.rows);
  const auto inner = static_cast<int32_t>(e.inner);
  return !by_lines || e.rows <= e.columns ? Extent{lines, rows, inner}
                                          : Extent{lines * rows, 1, inner};
}

// A row of the input becomes a column. `to` has the extent above.
void exchange_matrices(Builder& builder, const Operand& in, const Operand& to, const Exchange& e) {
  const auto rows = static_cast<int32_t>(e.rows), columns = static_cast<int32_t>(e.columns);
  const auto inner = static_cast<int32_t>(e.inner), outer = static_cast<int32_t>(e.outer);
  const Operand whole = builder.in_one_piece(in);
  for (int32_t o = 0; o < outer; ++o) {
    Operand from = whole;
    from.walk = Walk{e.inner, e.columns * e.inner};
    from.origin = {0, 0, o * rows * columns * inner};
    from.extent = {columns, rows, inner};
    builder.copy(from, box(to, {o * columns, 0, 0}, from.extent));
  }
}

// The same by rows or by columns, whichever are fewer.
void exchange_lines(Builder& builder, const Operand& in, const Operand& to, const Exchange& e) {
  const auto rows = static_cast<int32_t>(e.rows), columns = static_cast<int32_t>(e.columns);
  const auto inner = static_cast<int32_t>(e.inner), outer = static_cast<int32_t>(e.outer);
  const bool by_rows = rows <= columns;
  const Operand from = builder.reshaped(in, by_rows ? Extent{outer * rows * columns, 1, inner}
                                                    : Extent{outer * rows, columns, inner});
  for (int32_t o = 0; o < outer; ++o)
    for (int32_t i = 0; i < std::min(rows, columns); ++i) {
      const Extent line = {by_rows ? columns : rows, 1, inner};
      builder.copy(
          box(from, by_rows ? Extent{(o * rows + i) * columns, 0, 0} : Extent{o * rows, i, 0},
              line),
          box(to, by_rows ? Extent{o * columns, i, 0} : Extent{(o * columns + i) * rows, 0, 0},
              line));
    }
}

}  // namespace

Reason refuses_transpose(const Site& site) {
  const auto& permutation = site.node.attrs<graph::TransposeAttrs>().permutation;
  if (!steps_of(site.in().shape, permutation, false))
    return fmt::format(
        "transposing [{}] by ({}) has a step of more than {} copies, or an extent above {}",
        fmt::join(site.in().shape, ","), fmt::join(permutation, ", "), kMostCopies, kMostExtent);
  return std::nullopt;
}

void legalise_transpose(Builder& builder, const Node& node) {
  const graph::TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  const auto [steps, by_lines] =
      *steps_of(builder.tensor(in).shape, node.attrs<graph::TransposeAttrs>().permutation,
                builder.confirmed_only());
  if (steps.empty()) {
    const Operand to = builder.write(out);
    return builder.copy(builder.read_as(in, to.extent), to);
  }
  Operand from = builder.read(in);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Extent extent = extent_of_result(steps[i], by_lines);
    const Operand to = i + 1 == steps.size()
                           ? builder.write_as(out, extent)
                           : builder.inner("transposed", builder.tensor(in).type, extent);
    (by_lines ? exchange_lines : exchange_matrices)(builder, from, to, steps[i]);
    from = to;
  }
}

}  // namespace intarsia::targets::ethos_u
