// Non-maximum suppression as a loop: the best box of a class is taken, and what overlaps it too much is taken out, until there is
// none left or as many as are wanted; then the next class. The rows of the result are as many as there can be.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "import/box_overlaps.h"
#include "import/loop_function.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;
using import::known;
using import::LoopFunction;
using import::real_of;
using import::truth_of;
using import::whole_of;

namespace {

// Sets are the classes of each image, one after another.
struct SetsOfBoxes {
  int64_t images, classes, boxes, rows;
  int64_t sets() const { return images * classes; }
};

// What the loop carries, in this order.
struct CarriedBoxes {
  CarriedBoxes(LoopFunction& f, const SetsOfBoxes& s)
      : step(f.input("step", whole_of({}))),
        set(f.input("set", whole_of({1}))),
        taken(f.input("taken", whole_of({}))),
        rest(f.input("rest", real_of({s.boxes}))),
        scores(f.input("scores", real_of({s.sets(), s.boxes}))),
        low(f.input("low", real_of({s.images * s.boxes, 2}))),
        high(f.input("high", real_of({s.images * s.boxes, 2}))),
        areas(f.input("areas", real_of({s.images * s.boxes, 1}))),
        overlap(f.input("most_overlap", real_of({}))),
        least(f.input("least_score", real_of({}))),
        most(f.input("most", whole_of({}))),
        rows(f.input("rows", whole_of({s.rows, 3}))),
        count(f.input("count", whole_of({}))) {}
  TensorId step, set, taken, rest, scores, low, high, areas, overlap, least, most, rows, count;
};

TensorId whole_number(LoopFunction& f, const char* name, int64_t value) {
  return f.constant(known<int32_t>(name, DataType::Int32, {}, {static_cast<int32_t>(value)}));
}

TensorId as_scalar(LoopFunction& f, TensorId id, graph::Tensor like) {
  return f.put(OpKind::Reshape, graph::ReshapeAttrs{{}}, {id}, std::move(like));
}

// A step takes a box or goes to the next set.
graph::Function more_boxes(graph::Module& module, std::string name, const SetsOfBoxes& s) {
  LoopFunction f(module, std::move(name));
  const CarriedBoxes c(f, s);
  const TensorId below =
      f.plain(OpKind::Less, {c.step, whole_number(f, "steps", s.rows + s.sets())}, truth_of({}));
  const TensorId set = as_scalar(f, c.set, whole_of({}));
  const TensorId left =
      f.plain(OpKind::Less, {set, whole_number(f, "sets", s.sets())}, truth_of({}));
  return f.finish({f.plain(OpKind::LogicalAnd, {below, left}, truth_of({}))});
}

// The boxes of the set's image.
import::Boxes boxes_of_set(LoopFunction& f, const CarriedBoxes& c, const SetsOfBoxes& s,
                           TensorId image){
    if (s.images == 1) return {c.low, c.high, c.areas, s.boxes};
const auto of_image = [&](TensorId all, int64_t width) {
  const Shape apart{s.images, s.boxes, width};
  const TensorId images = f.put(OpKind::Reshape, graph::ReshapeAttrs{apart}, {all}, real_of(apart));
  const TensorId one = f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {images, image},
                             real_of({1, s.boxes, width}));
  return f.put(OpKind::Reshape, graph::ReshapeAttrs{{s.boxes, width}}, {one},
               real_of({s.boxes, width}));
};
return {of_image(c.low, 2), of_image(c.high, 2), of_image(c.areas, 1), s.boxes};
}  // namespace

graph::Function next_box(graph::Module& module, std::string name, const SetsOfBoxes& s) {
  LoopFunction f(module, std::move(name));
  const CarriedBoxes c(f, s);
  const auto table = [&](const char* what, auto&& of) {
    std::vector<int32_t> numbers;
    for (int64_t set = 0; set < s.sets(); ++set) numbers.push_back(static_cast<int32_t>(of(set)));
    const TensorId all = f.constant(known(what, DataType::Int32, {s.sets()}, numbers));
    return f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {all, c.set}, whole_of({1}));
  };
  const TensorId image = table("images", [&](int64_t set) { return set / s.classes; });
  const TensorId class_ = table("classes", [&](int64_t set) { return set % s.classes; });

  const TensorId best =
      f.put(OpKind::ReduceMax, graph::ReduceAttrs{{0}, true}, {c.rest}, real_of({1}));
  const TensorId first = f.put(OpKind::ArgMax, graph::AxisAttrs{0}, {c.rest}, whole_of({}));
  const TensorId place = f.put(OpKind::Reshape, graph::ReshapeAttrs{{1}}, {first}, whole_of({1}));
  const TensorId is_good = f.plain(OpKind::Greater, {best, c.least}, truth_of({1}));
  const TensorId is_wanted = f.plain(OpKind::Less, {c.taken, c.most}, truth_of({}));
  const TensorId found = f.plain(OpKind::LogicalAnd, {is_good, is_wanted}, truth_of({1}));
  const TensorId found_one = as_scalar(f, found, truth_of({}));

  // Without this box and those that it covers; or the scores of the next set.
  const auto numbered = [&](const char* what, int64_t count, Shape shape) {
    std::vector<int32_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return f.constant(known(what, DataType::Int32, std::move(shape), numbers));
  };
  const TensorId overlap = import::overlaps(f, boxes_of_set(f, c, s, image), place);
  const TensorId too_near = f.plain(OpKind::Greater, {overlap, c.overlap}, truth_of({s.boxes}));
  const TensorId itself =
      f.plain(OpKind::Equal, {numbered("places", s.boxes, {s.boxes}), place}, truth_of({s.boxes}));
  const TensorId gone = f.plain(OpKind::LogicalOr, {too_near, itself}, truth_of({s.boxes}));
  const TensorId none =
      f.constant(import::known_real("none", -std::numeric_limits<float>::infinity()));
  const TensorId left = f.plain(OpKind::Select, {gone, none, c.rest}, real_of({s.boxes}));
  const TensorId one = whole_number(f, "one", 1), zero = whole_number(f, "zero", 0);
  const TensorId next = f.arithmetic(OpKind::Add, c.set, one, whole_of({1}));
  const TensorId there =
      f.plain(OpKind::Minimum, {next, whole_number(f, "last", s.sets() - 1)}, whole_of({1}));
  const TensorId row =
      f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {c.scores, there}, real_of({1, s.boxes}));
  const TensorId all =
      f.put(OpKind::Reshape, graph::ReshapeAttrs{{s.boxes}}, {row}, real_of({s.boxes}));
  const TensorId rest = f.plain(OpKind::Select, {found, left, all}, real_of({s.boxes}));

  const TensorId named =
      f.put(OpKind::Concat, graph::AxisAttrs{0}, {image, class_, place}, whole_of({3}));
  const TensorId named_row =
      f.put(OpKind::Reshape, graph::ReshapeAttrs{{1, 3}}, {named}, whole_of({1, 3}));
  const Shape column{s.rows, 1};
  const TensorId at =
      f.plain(OpKind::Equal, {numbered("rows", s.rows, column), c.count}, truth_of(column));
  const TensorId here = f.plain(OpKind::LogicalAnd, {at, found}, truth_of(column));
  const TensorId rows = f.plain(OpKind::Select, {here, named_row, c.rows}, whole_of({s.rows, 3}));

  const auto counted = [&](TensorId number, TensorId otherwise) {
    const TensorId more = f.arithmetic(OpKind::Add, number, one, whole_of({}));
    return f.plain(OpKind::Select, {found_one, more, otherwise}, whole_of({}));
  };
  return f.finish({f.arithmetic(OpKind::Add, c.step, one, whole_of({})),
                   f.plain(OpKind::Select, {found, c.set, next}, whole_of({1})),
                   counted(c.taken, zero), rest, c.scores, c.low, c.high, c.areas, c.overlap,
                   c.least, c.most, rows, counted(c.count, c.count)});
}

// Lower and higher corners, from two corners in any order or from centre and size.
std::pair<TensorId, TensorId> corners_of(Reader& in, int64_t count) {
  const TensorId flat = in.reshape(in.operand(0), {count, 4});
  const auto half = [&](int64_t begin) {
    return in.emit_alike(OpKind::Slice, graph::SliceAttrs{{0, begin}, {count, 2}, {1, 1}, {}},
                         {flat}, "corner");
  };
  const TensorId a = half(0), b = half(2);
  if (in.integer("center_point_box", 0) == 0)
    return {in.emit(OpKind::Minimum, NoAttrs{}, {a, b}, kFloat, {}, "low"),
            in.emit(OpKind::Maximum, NoAttrs{}, {a, b}, kFloat, {}, "high")};
  const TensorId reach =
      in.emit(OpKind::Mul, graph::BinaryAttrs{}, {b, in.number(0.5f)}, kFloat, {}, "reach");
  return {in.emit(OpKind::Sub, graph::BinaryAttrs{}, {a, reach}, kFloat, {}, "low"),
          in.emit(OpKind::Add, graph::BinaryAttrs{}, {a, reach}, kFloat, {}, "high")};
}

}  // namespace intarsia::onnx

void read_non_max_suppression(Reader& in) {
  constexpr int64_t kMostRows = 1 << 14;
  const Shape boxes = in.shape_of(0), scores = in.shape_of(1);
  if (!in.require(boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 &&
                      scores[0] == boxes[0] && scores[2] == boxes[1],
                  fmt::format("takes boxes [{}] and scores [{}]", fmt::join(boxes, ","),
                              fmt::join(scores, ",")),
                  "boxes [N,B,4] and scores [N,C,B] are possible"))
    return;
  const auto scalar = [&](size_t operand, float absent) {
    return in.has(operand) ? in.reshape(in.operand(operand), {}) : in.number(absent);
  };
  SetsOfBoxes sets{scores[0], scores[1], boxes[1], 0};
  TensorId most = in.has(2) ? in.reshape(in.operand(2), {}) : TensorId{};
  int64_t most_taken = sets.boxes;
  if (!most.valid() || in.is_constant(most)) {
    const int64_t given = most.valid() ? as_integers(in.values_of(most)).front() : 0;
    if (!in.require(given >= 1, "takes no box of a class: max_output_boxes_per_class is 0")) return;
    most_taken = std::min(most_taken, given);
    most = in.make_constant(integer_values(DataType::Int32, {}, {most_taken}));
  }
  sets.rows = sets.sets() * most_taken;
  if (!in.require(sets.rows <= kMostRows,
                  fmt::format("may give {} boxes: {} of {} classes in {} images", sets.rows,
                              most_taken, sets.classes, sets.images),
                  fmt::format("up to {} are possible: give it a smaller constant "
                              "max_output_boxes_per_class",
                              kMostRows)))
    return;
  in.remark(
      fmt::format("gives {} rows, as many as there can be; those behind the boxes that it "
                  "finds are -1",
                  sets.rows));

  const int64_t all = sets.images * sets.boxes;
  const auto [low, high] = corners_of(in, all);
  const TensorId sides =
      in.emit(OpKind::Sub, graph::BinaryAttrs{}, {high, low}, kFloat, {}, "sides");
  const TensorId areas =
      in.emit(OpKind::ReduceProd, graph::ReduceAttrs{{1}, true}, {sides}, kFloat, {}, "areas");
  const TensorId by_set = in.reshape(in.operand(1), {sets.sets(), sets.boxes});
  const TensorId first = in.reshape(
      sets.sets() == 1
          ? by_set
          : in.emit_alike(OpKind::Slice, graph::SliceAttrs{{0, 0}, {1, sets.boxes}, {1, 1}, {}},
                          {by_set}, "first"),
      {sets.boxes});
  const auto whole = [&](Shape shape, int64_t value) {
    const auto count = static_cast<size_t>(element_count(shape));
    return in.make_constant(
        integer_values(DataType::Int32, std::move(shape), std::vector<int64_t>(count, value)));
  };
  // The largest of scores that are all gone is the lowest number, which is no score.
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  const TensorId least = in.emit(OpKind::Maximum, NoAttrs{},
                                 {scalar(4, kLowest), in.number(kLowest)}, kFloat, {}, "least");
  std::vector<TensorId> carried{whole({}, 0),
                                whole({1}, 0),
                                whole({}, 0),
                                first,
                                by_set,
                                low,
                                high,
                                areas,
                                scalar(3, 0),
                                least,
                                in.cast(most, DataType::Int32),
                                whole({sets.rows, 3}, -1),
                                whole({}, 0)};
  if (!in.ok()) return;
  graph::Function condition = more_boxes(in.module(), in.function_name("goes_on"), sets);
  graph::Function body = next_box(in.module(), in.function_name("step"), sets);
  const std::vector<TensorId> after =
      in.emit_loop(std::move(condition), std::move(body), std::move(carried));
  if (in.ok()) in.result(in.cast(after[11], DataType::Int64));
}

}  // namespace intarsia::onnx
