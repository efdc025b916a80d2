// Ensembles of decision trees (random forests, boosted trees): a loop that takes one step down all trees at once, and sums of what the leaves
// weigh. Its code does not grow with the trees: they are tables of 16 bytes a node.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/loop_function.h"
#include "import/onnx/decision_trees.h"
#include "import/onnx/learned.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;
using import::known;
using import::LoopFunction;
using import::real_of;
using import::truth_of;
using import::whole_of;

namespace {

// Rows of features, and places within all trees for each row.
struct Walk {
  int64_t rows, width, trees;
  Shape places() const { return {rows, trees}; }
};

// What the loop carries, in this order.
struct Walked {
  Walked(LoopFunction& f, const Walk& walk)
      : step(f.input("step", whole_of({}))),
        places(f.input("places", whole_of(walk.places()))),
        features(f.input("features", real_of({walk.rows * walk.width}))) {}
  TensorId step, places, features;
};

std::vector<int32_t> narrow(const std::vector<int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

graph::Function has_steps(graph::Module& module, std::string name, const Walk& walk,
                          int64_t steps) {
  LoopFunction f(module, std::move(name));
  const Walked c(f, walk);
  const TensorId all =
      f.constant(known<int32_t>("steps", DataType::Int32, {}, {static_cast<int32_t>(steps)}));
  return f.finish({f.plain(OpKind::Less, {c.step, all}, truth_of({}))});
}

graph::Function one_step(graph::Module& module, std::string name, const Walk& walk,
                         const DecisionTrees& trees) {
  LoopFunction f(module, std::move(name));
  const Walked c(f, walk);
  const int64_t count = std::ssize(trees.next);
  const graph::Tensor whole = whole_of(walk.places()), real = real_of(walk.places());
  const auto at_places = [&](TensorId table, TensorId places, const graph::Tensor& result) {
    return f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {table, places}, result);
  };
  TensorId feature =
      at_places(f.constant(known("feature", DataType::Int32, {count}, narrow(trees.feature))),
                c.places, whole);
  if (walk.rows > 1) {
    std::vector<int32_t> first;
    for (int64_t row = 0; row < walk.rows; ++row)
      first.push_back(static_cast<int32_t>(row * walk.width));
    feature =
        f.arithmetic(OpKind::Add, feature,
                     f.constant(known("rows", DataType::Int32, {walk.rows, 1}, first)), whole);
  }
  const TensorId value = at_places(c.features, feature, real);
  const TensorId threshold = at_places(
      f.constant(known("threshold", DataType::Float32, {count}, trees.threshold)), c.places, real);
  const TensorId meets = f.plain(OpKind::LessEqual, {value, threshold}, truth_of(walk.places()));
  const TensorId next = at_places(
      f.constant(known("next", DataType::Int32, {count}, narrow(trees.next))), c.places, whole);
  const TensorId one = f.constant(known<int32_t>("one", DataType::Int32, {}, {1}));
  return f.finish({f.arithmetic(OpKind::Add, c.step, one, whole_of({})),
                   f.arithmetic(OpKind::Add, next, f.plain(OpKind::Cast, {meets}, whole), whole),
                   c.features});
}

// Where each row ends in each tree, as rows of the leaves' weights: [rows,trees].
TensorId leaves_reached(Reader& in, TensorId x, const DecisionTrees& trees, int64_t width) {
  const Walk walk{in.shape(x)[0], width, std::ssize(trees.roots)};
  std::vector<int64_t> roots;
  for (int64_t row = 0; row < walk.rows; ++row)
    roots.insert(roots.end(), trees.roots.begin(), trees.roots.end());
  TensorId places = in.make_constant(integer_values(DataType::Int32, walk.places(), roots));
  if (trees.steps > 0) {
    const std::vector<TensorId> carried{in.make_constant(integer_values(DataType::Int32, {}, {0})),
                                        places, in.reshape(x, {walk.rows * walk.width})};
    if (!in.ok()) return {};
    graph::Function condition =
        has_steps(in.module(), in.function_name("goes_on"), walk, trees.steps);
    graph::Function body = one_step(in.module(), in.function_name("step"), walk, trees);
    const auto after = in.emit_loop(std::move(condition), std::move(body), carried);
    if (!in.ok()) return {};
    places = after[1];
  }
  return in.emit(
      OpKind::Gather, graph::GatherAttrs{0, 0},
      {in.make_constant(integer_values(DataType::Int32, {std::ssize(trees.leaf)}, trees.leaf)),
       places},
      DataType::Int32, {}, "leaves");
}

// One number for each target: how all trees together weigh a row.
TensorId over_trees(Reader& in, OpKind kind, TensorId id, int64_t axis) {
  return in.emit(kind, graph::ReduceAttrs{{axis}, false}, {id}, kFloat, {}, "total");
}

// [rows,targets], of what the leaves weigh.
TensorId totals_of_leaves(Reader& in, TensorId leaves, const DecisionTrees& trees, OpKind kind) {
  // Trees of one result stand beside each other, as many for each: a number for each leaf.
  const bool of_one = !trees.only_target.empty();
  std::vector<float> table;
  for (const std::vector<float>& row : trees.weights)
    if (of_one)
      table.push_back(std::accumulate(row.begin(), row.end(), 0.0f));
    else
      table.insert(table.end(), row.begin(), row.end());
  const Shape shape = of_one ? Shape{trees.rows()} : Shape{trees.rows(), trees.targets};
  const TensorId weights =
      in.emit(OpKind::Gather, graph::GatherAttrs{0, 0},
              {in.make_constant(real_values(shape, table)), leaves}, kFloat, {}, "weights");
  if (!of_one) return over_trees(in, kind, weights, 1);
  if (!in.ok()) return {};
  const Shape of = in.shape(weights);
  return over_trees(in, kind, in.reshape(weights, {of[0], trees.targets, of[1] / trees.targets}),
                    2);
}

// Operand 0, and negated features behind it where trees test these.
TensorId totals(Reader& in, TensorId x, const DecisionTrees& trees, OpKind kind) {
  int64_t width = in.shape(x)[1];
  if (trees.has_negated) {
    const TensorId negated = in.emit(OpKind::Neg, NoAttrs{}, {x}, kFloat, {}, "negated");
    x = in.emit(OpKind::Concat, graph::AxisAttrs{1}, {x, negated}, kFloat, {}, "both");
    width *= 2;
  }
  const TensorId leaves = leaves_reached(in, x, trees, width);
  return in.ok() ? totals_of_leaves(in, leaves, trees, kind) : TensorId{};
}

// Of each result, or none.
TensorId with_base(Reader& in, TensorId sums, int64_t targets) {
  const std::vector<float> base = in.reals("base_values");
  if (base.empty() || !in.ok()) return sums;
  if (!in.require(std::ssize(base) == targets,
                  fmt::format("has {} base values for {} results", base.size(), targets)))
    return {};
  return with_row(in, OpKind::Add, sums, base, "base");
}

}  // namespace

void read_tree_regressor(Reader& in) {
  const TensorId x = feature_rows(in);
  const int64_t targets = in.integer("n_targets", 1);
  if (!in.ok() ||
      !in.require(targets >= 1 && targets <= 1 << 16, fmt::format("has {} results", targets)))
    return;
  const auto trees = read_trees(in, in.shape(x)[1], "target", targets);
  if (!trees) return;
  const std::string how = in.text("aggregate_function", "SUM");
  const bool adds = how == "SUM" || how == "AVERAGE";
  if (!in.require(adds || how == "MIN" || how == "MAX",
                  fmt::format("has the aggregate_function '{}'", tflite::printable(how))) ||
      !in.require(adds || targets == 1, "takes an extreme of each of several results"))
    return;
  TensorId y = totals(in, x, *trees,
                      adds           ? OpKind::Sum
                      : how == "MIN" ? OpKind::ReduceMin
                                     : OpKind::ReduceMax);
  if (how == "AVERAGE" && in.ok())
    y = in.emit(OpKind::Div, BinaryAttrs{}, {y, in.number(static_cast<float>(trees->roots.size()))},
                kFloat, {}, "average");
  y = with_base(in, y, targets);
  if (in.ok()) in.result(transformed_scores(in, y));
}

void read_tree_classifier(Reader& in) {
  const TensorId x = feature_rows(in);
  const auto classes = classes_of(in, "classlabels_int64s", "classlabels_strings");
  if (!in.ok() || !classes) return;
  const int64_t count = classes->count();
  const std::vector<int64_t> scored = in.integers("class_ids").value_or(std::vector<int64_t>{});
  const bool is_first_alone =
      count <= 2 && std::ranges::all_of(scored, [](int64_t id) { return id == 0; });
  const auto trees = read_trees(in, in.shape(x)[1], "class", is_first_alone ? 1 : count);
  if (!trees) return;
  TensorId sums = totals(in, x, *trees, OpKind::Sum);
  if (count == 2 && is_first_alone) {
    // One score for both: of the second class. Chances, which are never negative, are 1 together.
    const std::vector<float> weights = in.reals("class_weights");
    const bool are_chances = std::ranges::all_of(weights, [](float w) { return w >= 0; });
    sums = with_base(in, sums, 1);
    if (!in.ok()) return;
    in.result(1, {scores_of_two(in, sums, are_chances), Form::Plain, {}});
    return give_labels(in, *classes, places_above(in, sums, are_chances ? 0.5f : 0));
  }
  if (!in.require(count > 2 || in.reals("base_values").empty(),
                  "has base values beside the scores of two classes",
                  "export it with one score for both classes, or add them behind the trees"))
    return;
  sums = with_base(in, sums, count);
  if (!in.ok()) return;
  in.result(1, {transformed_scores(in, sums), Form::Plain, {}});
  if (count != 2) return give_best_labels(in, *classes, sums);
  // onnxruntime compares the second score with a bound, not with the first one.
  const std::vector<float> weights = in.reals("class_weights");
  const bool one_class = std::ranges::all_of(scored, [](int64_t id) { return id == 1; });
  const bool halves = one_class && std::ranges::all_of(weights, [](float w) { return w >= 0; });
  const TensorId second =
      in.emit_alike(OpKind::Slice, graph::SliceAttrs{{0, 1}, {in.shape(sums)[0], 1}, {1, 1}, {}},
                    {sums}, "second");
  give_labels(in, *classes, places_above(in, second, halves ? 0.5f : 0));
}

}  // namespace intarsia::onnx
