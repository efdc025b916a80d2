#include "import/onnx/coupled_chances.h"

#include "import/loop_function.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;
using import::known;
using import::known_real;
using import::LoopFunction;
using import::real_of;
using import::truth_of;
using import::whole_of;

namespace {

constexpr int32_t kMostRounds = 100;

struct Coupling {
  int64_t rows, classes;
  Shape chances() const { return {rows, classes}; }
  Shape column() const { return {rows, 1}; }
  Shape matrix() const { return {rows, classes * classes}; }
};

// What the loop carries, in this order. `active`: 1 for rows that have not ended.
struct Coupled {
  Coupled(LoopFunction& f, const Coupling& c)
      : step(f.input("step", whole_of({}))),
        active(f.input("active", real_of(c.column()))),
        chances(f.input("chances", real_of(c.chances()))),
        matrix(f.input("matrix", real_of(c.matrix()))) {}
  TensorId step, active, chances, matrix;
};

graph::Function goes_on(graph::Module& module, std::string name, const Coupling& c) {
  LoopFunction f(module, std::move(name));
  const Coupled now(f, c);
  const TensorId below =
      f.plain(OpKind::Less,
              {now.step, f.constant(known<int32_t>("most", DataType::Int32, {}, {kMostRounds}))},
              truth_of({}));
  const TensorId any =
      f.put(OpKind::ReduceMax, graph::ReduceAttrs{{0, 1}, false}, {now.active}, real_of({}));
  const TensorId is_any =
      f.plain(OpKind::Greater, {any, f.constant(known_real("none", 0))}, truth_of({}));
  return f.finish({f.plain(OpKind::LogicalAnd, {below, is_any}, truth_of({}))});
}

// Arithmetic of columns and rows of chances.
class CouplingStep {
 public:
  CouplingStep(LoopFunction& f, const Coupling& c) : f_(f), c_(c) {}

  TensorId two(OpKind kind, TensorId a, TensorId b, const Shape& shape) {
    return f_.arithmetic(kind, a, b, real_of(shape));
  }
  TensorId columns(TensorId id, int64_t first, int64_t count) {
    return f_.put(OpKind::Slice, graph::SliceAttrs{{0, first}, {c_.rows, count}, {1, 1}, {}}, {id},
                  real_of({c_.rows, count}));
  }
  TensorId over_row(OpKind kind, TensorId id) {
    return f_.put(kind, graph::ReduceAttrs{{1}, true}, {id}, real_of(c_.column()));
  }

  // The matrix times the chances.
  TensorId product(TensorId matrix, TensorId chances) {
    const Shape cube{c_.rows, c_.classes, c_.classes}, row{c_.rows, 1, c_.classes};
    const TensorId apart =
        f_.put(OpKind::Reshape, graph::ReshapeAttrs{cube}, {matrix}, real_of(cube));
    const TensorId beside =
        f_.put(OpKind::Reshape, graph::ReshapeAttrs{row}, {chances}, real_of(row));
    return f_.put(OpKind::Sum, graph::ReduceAttrs{{2}, false},
                  {two(OpKind::Mul, apart, beside, cube)}, real_of(c_.chances()));
  }

 private:
  LoopFunction& f_;
  const Coupling& c_;
};

graph::Function next_chances(graph::Module& module, std::string name, const Coupling& c) {
  LoopFunction f(module, std::move(name));
  const Coupled now(f, c);
  CouplingStep s(f, c);
  const Shape all = c.chances(), column = c.column();
  TensorId chances = now.chances, product = s.product(now.matrix, chances);
  TensorId square = s.over_row(OpKind::Sum, s.two(OpKind::Mul, chances, product, all));
  const TensorId missed =
      s.over_row(OpKind::ReduceMax,
                 f.plain(OpKind::Abs, {s.two(OpKind::Sub, product, square, all)}, real_of(all)));
  const TensorId bound = f.constant(known_real("bound", 0.005f / static_cast<float>(c.classes)));
  const TensorId stays = f.plain(OpKind::GreaterEqual, {missed, bound}, truth_of(column));
  const TensorId one = f.constant(known_real("one", 1)), two = f.constant(known_real("two", 2));
  for (int64_t t = 0; t < c.classes; ++t) {
    const TensorId row = s.columns(now.matrix, t * c.classes, c.classes),
                   own = s.columns(now.matrix, t * c.classes + t, 1),
                   element = s.columns(product, t, 1);
    const TensorId change =
        s.two(OpKind::Div, s.two(OpKind::Sub, square, element, column), own, column);
    const TensorId whole = s.two(OpKind::Add, change, one, column);
    std::vector<float> here(static_cast<size_t>(c.classes), 0.0f);
    here[static_cast<size_t>(t)] = 1;
    const TensorId place = f.constant(known("here", DataType::Float32, {1, c.classes}, here));
    const auto grown = [&](TensorId id, TensorId by) {
      const TensorId more = s.two(OpKind::Mul, change, by, all);
      return s.two(OpKind::Div, s.two(OpKind::Add, id, more, all), whole, all);
    };
    chances = grown(chances, place);
    const TensorId slope = s.two(OpKind::Add, s.two(OpKind::Mul, change, own, column),
                                 s.two(OpKind::Mul, two, element, column), column);
    square = s.two(OpKind::Add, square, s.two(OpKind::Mul, change, slope, column), column);
    square = s.two(OpKind::Div, s.two(OpKind::Div, square, whole, column), whole, column);
    product = grown(product, row);
  }
  const TensorId step =
      f.arithmetic(OpKind::Add, now.step,
                   f.constant(known<int32_t>("step", DataType::Int32, {}, {1})), whole_of({}));
  return f.finish({step, f.plain(OpKind::Cast, {stays}, real_of(column)),
                   f.plain(OpKind::Select, {stays, chances, now.chances}, real_of(all)),
                   now.matrix});
}

// The matrix of the conditions, of each row: squares of the chances against a class on its diagonal, products of both chances of two classes,
// negated, elsewhere.
TensorId conditions(Reader& in, TensorId first, int64_t classes, Line line) {
  const int64_t pairs = in.shape(first)[1];
  const TensorId second =
      in.emit(OpKind::Sub, BinaryAttrs{}, {in.number(1), first}, kFloat, {}, "second");
  const auto product = [&](TensorId a, TensorId b) {
    return in.emit(OpKind::Mul, BinaryAttrs{}, {a, b}, kFloat, {}, "product");
  };
  const TensorId terms =
      in.emit(OpKind::Concat, graph::AxisAttrs{1},
              {product(first, first), product(second, second), product(first, second)}, kFloat, {},
              "terms");
  if (!in.ok()) return {};
  std::vector<float> counts(static_cast<size_t>(classes * classes * 3 * pairs), 0.0f);
  const auto count = [&](int64_t i, int64_t j, int64_t term) -> float& {
    return counts[static_cast<size_t>((i * classes + j) * 3 * pairs + term)];
  };
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      count(i, i, pairs + pair) = 1;
      count(j, j, pair) = 1;
      count(i, j, 2 * pairs + pair) = count(j, i, 2 * pairs + pair) = -1;
    }
  return line(in, terms, counts, {}, classes * classes);
}

}  // namespace

TensorId coupled_chances(Reader& in, TensorId first, int64_t classes, Line line) {
  const Coupling c{in.shape(first)[0], classes};
  const TensorId matrix = conditions(in, first, classes, line);
  const auto filled = [&](const Shape& shape, float value) {
    return in.make_constant(
        real_values(shape, std::vector<float>(static_cast<size_t>(element_count(shape)), value)));
  };
  const std::vector<TensorId> carried{in.make_constant(integer_values(DataType::Int32, {}, {0})),
                                      filled(c.column(), 1),
                                      filled(c.chances(), 1 / static_cast<float>(classes)), matrix};
  if (!in.ok()) return {};
  graph::Function condition = goes_on(in.module(), in.function_name("goes_on"), c);
  graph::Function body = next_chances(in.module(), in.function_name("step"), c);
  const auto after = in.emit_loop(std::move(condition), std::move(body), carried);
  return in.ok() ? after[2] : TensorId{};
}

}  // namespace intarsia::onnx
