// MediaPipe's operators of networks that look again at parts of what they found (its face mesh with attention): where landmarks say
// that a part lies and how it is turned, a picture of that part, and landmarks of the part among those of the whole. All are floats.
// Places are columns and rows; a matrix [1,4,4] takes (column, row, 0, 1) of the part to that of the whole.
#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "import/tflite/custom_options.h"
#include "import/tflite/subgraph_reader.h"
#include "import/tflite/transform_writer.h"

namespace intarsia::tflite {

using graph::OpKind;

namespace {

constexpr int64_t kMatrixExtent = 4;

// Floats, and the operators on them; shapes of operands have as many axes each.
class PlaneWriter {
 public:
  struct Reals {
    int32_t id;
    Shape shape;
  };

  PlaneWriter(TransformWriter::Put put, TransformWriter::Make make)
      : put_(std::move(put)), make_(std::move(make)) {}

  Reals one(OpKind kind, const Reals& x) {
    return {put_(kind, graph::NoAttrs{}, {x.id}, reals(x.shape)), x.shape};
  }
  Reals two(OpKind kind, const Reals& a, const Reals& b) {
    const bool is_sum =
        kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul || kind == OpKind::Div;
    const graph::Attributes attributes =
        is_sum ? graph::Attributes(graph::BinaryAttrs{}) : graph::Attributes(graph::NoAttrs{});
    return {put_(kind, attributes, {a.id, b.id}, reals(together(a, b))), together(a, b)};
  }
  Reals add(const Reals& a, const Reals& b) { return two(OpKind::Add, a, b); }
  Reals subtract(const Reals& a, const Reals& b) { return two(OpKind::Sub, a, b); }
  Reals multiply(const Reals& a, const Reals& b) { return two(OpKind::Mul, a, b); }
  // a * x + b * y
  Reals sum_of_products(const Reals& a, const Reals& x, const Reals& b, const Reals& y) {
    return add(multiply(a, x), multiply(b, y));
  }

  Reals constant(Shape shape, const std::vector<float>& values) {
    return {make_(real_constant("factors", shape, values)), shape};
  }
  Reals number(float value) { return constant({1, 1, 1}, {value}); }

  Reals part(const Reals& x, Shape begin, Shape size) {
    const graph::SliceAttrs cut{std::move(begin), size, Shape(size.size(), 1), {}};
    return {put_(OpKind::Slice, cut, {x.id}, reals(size)), size};
  }
  Reals element(const Reals& matrix, int64_t row, int64_t column) {
    return part(matrix, {0, row, column}, {1, 1, 1});
  }
  Reals reshaped(const Reals& x, Shape shape) {
    return {put_(OpKind::Reshape, graph::ReshapeAttrs{shape}, {x.id}, reals(shape)), shape};
  }
  Reals extreme(OpKind kind, const Reals& x) {
    return {put_(kind, graph::ReduceAttrs{{1}, true}, {x.id}, reals({1, 1, 1})), {1, 1, 1}};
  }
  Reals joined(const std::vector<Reals>& parts) {
    Shape shape = parts[0].shape;
    shape.back() = 0;
    std::vector<int32_t> ids;
    for (const Reals& x : parts) {
      ids.push_back(x.id);
      shape.back() += x.shape.back();
    }
    const auto last = static_cast<int64_t>(shape.size()) - 1;
    return {put_(OpKind::Concat, graph::AxisAttrs{last}, ids, reals(shape)), shape};
  }
  // Rows of [1, count, depth]; `places` is a tensor of `rows` numbers.
  Reals rows_at(const Reals& x, int32_t places, int64_t rows) {
    const Shape shape = {1, rows, x.shape[2]};
    return {put_(OpKind::Gather, graph::GatherAttrs{1, 0}, {x.id, places}, reals(shape)), shape};
  }
  int32_t as_numbers(const Reals& x, int64_t count) {
    return put_(OpKind::Cast, graph::NoAttrs{}, {reshaped(x, {count}).id},
                {.type = DataType::Int32, .shape = {count}});
  }
  // 1 where `x` is between 0 and `most`, and 0 elsewhere.
  Reals is_within(const Reals& x, float most) {
    const auto holds = [&](OpKind kind, float limit) {
      return put_(kind, graph::NoAttrs{}, {x.id, number(limit).id},
                  {.type = DataType::Bool, .shape = x.shape});
    };
    const int32_t both = put_(OpKind::LogicalAnd, graph::NoAttrs{},
                              {holds(OpKind::GreaterEqual, 0), holds(OpKind::LessEqual, most)},
                              {.type = DataType::Bool, .shape = x.shape});
    return {
        put_(OpKind::Select, graph::NoAttrs{}, {both, number(1).id, number(0).id}, reals(x.shape)),
        x.shape};
  }

 private:
  static Shape together(const Reals& a, const Reals& b) {
    Shape shape = a.shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      shape[axis] = std::max(shape[axis], b.shape[axis]);
    return shape;
  }

  TransformWriter::Put put_;
  TransformWriter::Make make_;
};

using Reals = PlaneWriter::Reals;

// The pixels around places along one axis, and how near the place is to the second of them.
struct Neighbours {
  Reals first, second, share;
};

Neighbours neighbours(PlaneWriter& writer, const Reals& place, int64_t extent) {
  const Reals floor = writer.one(OpKind::Floor, place);
  const auto kept = [&](const Reals& pixel) {
    const Reals above = writer.two(OpKind::Maximum, pixel, writer.number(0));
    return writer.two(OpKind::Minimum, above, writer.number(static_cast<float>(extent - 1)));
  };
  return {kept(floor), kept(writer.add(floor, writer.number(1))), writer.subtract(place, floor)};
}

bool is_matrix(const graph::Tensor& tensor) {
  return tensor.type == DataType::Float32 && tensor.shape == Shape{1, kMatrixExtent, kMatrixExtent};
}

}  // namespace

// Operand: landmarks [1, count, 3]. Turned back by as much as the line between two of them is turned from where it is to be, some of
// them lie in a rectangle; a picture of the part shows that, made larger by two factors.
void SubgraphReader::compose_landmark_matrix(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  CustomOptions options(in);
  const int64_t left = options.integer("left_rotation_idx"),
                right = options.integer("right_rotation_idx"),
                width = options.integer("output_width"), height = options.integer("output_height");
  const float wanted = options.real("target_rotation_radians");
  const std::array<float, 2> factors = {options.real("scale_x"), options.real("scale_y")};
  const std::vector<int64_t> subset = options.integers("subset_idxs");
  if (!in.clean()) return;
  if (input.type != DataType::Float32 || input.shape.size() != 3 || input.shape[0] != 1 ||
      input.shape[2] != 3)
    return in.problem(
        fmt::format("takes landmarks {}[{}]", to_string(input.type), fmt::join(input.shape, ",")),
        "floats [1,count,3] are possible, as version 2 of the operator has them");
  const auto is_landmark = [&](int64_t at) { return at >= 0 && at < input.shape[1]; };
  if (subset.empty() || !std::all_of(subset.begin(), subset.end(), is_landmark) ||
      !is_landmark(left) || !is_landmark(right))
    return in.problem(fmt::format("chooses landmarks that are not among its {}", input.shape[1]));
  constexpr int64_t kMostExtent = 65535;
  if (width < 1 || height < 1 || width > kMostExtent || height > kMostExtent)
    return in.problem(fmt::format("is for pictures of {} x {} pixels", height, width));
  in.decide_shape({1, kMatrixExtent, kMatrixExtent});
  if (!in.clean()) return;

  PlaneWriter writer = writer_for<PlaneWriter>(op);
  const Reals landmarks = {current(op.inputs[0]), input.shape};
  const Reals line = writer.subtract(writer.part(landmarks, {0, right, 0}, {1, 1, 2}),
                                     writer.part(landmarks, {0, left, 0}, {1, 1, 2}));
  const Reals angle = writer.subtract(
      writer.number(wanted),
      writer.two(OpKind::Atan2, writer.element(line, 0, 1), writer.element(line, 0, 0)));
  const Reals cosine = writer.one(OpKind::Cos, angle), sine = writer.one(OpKind::Sin, angle);

  const auto count = static_cast<int64_t>(subset.size());
  std::vector<int32_t> places(subset.begin(), subset.end());
  const int32_t chosen = make({{.name = "landmarks", .type = DataType::Int32, .shape = {count}},
                               import::little_endian(places)});
  const Reals points = writer.rows_at(landmarks, chosen, count);
  const Reals x = writer.part(points, {0, 0, 0}, {1, count, 1}),
              y = writer.part(points, {0, 0, 1}, {1, count, 1});
  const Reals across = writer.subtract(writer.multiply(cosine, x), writer.multiply(sine, y)),
              down = writer.sum_of_products(sine, x, cosine, y);
  struct Side {
    Reals extent, middle;
  };
  const auto side_of = [&](const Reals& turned) -> Side {
    const Reals most = writer.extreme(OpKind::ReduceMax, turned),
                least = writer.extreme(OpKind::ReduceMin, turned);
    return {writer.subtract(most, least),
            writer.multiply(writer.add(least, most), writer.number(0.5f))};
  };
  const Side columns = side_of(across), rows = side_of(down);

  // Pixels of the part, turned the other way and moved to where its middle is.
  const auto step_of = [&](const Side& side, float factor, int64_t pixels) {
    return writer.multiply(side.extent, writer.number(factor / static_cast<float>(pixels)));
  };
  const Reals column_step = step_of(columns, factors[0], width),
              row_step = step_of(rows, factors[1], height);
  const Reals half_width = writer.number(static_cast<float>(width) / 2),
              half_height = writer.number(static_cast<float>(height) / 2);
  const auto row_of = [&](const Reals& by_column, const Reals& by_row) -> std::array<Reals, 3> {
    const Reals a = writer.multiply(by_column, column_step), b = writer.multiply(by_row, row_step);
    const Reals middle = writer.sum_of_products(by_column, columns.middle, by_row, rows.middle);
    return {a, b, writer.subtract(middle, writer.sum_of_products(a, half_width, b, half_height))};
  };
  const Reals back = writer.one(OpKind::Neg, sine);
  const std::array<Reals, 3> first = row_of(cosine, sine), second = row_of(back, cosine);
  const Reals none = writer.number(0);
  const Reals rest = writer.constant({1, 1, 8}, {0, 0, 1, 0, 0, 0, 0, 1});
  const Reals all = writer.joined(
      {first[0], first[1], none, first[2], second[0], second[1], none, second[2], rest});
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{{1, kMatrixExtent, kMatrixExtent}}, {all.id});
}

// Operands: a picture [1, height, width, depth] and a matrix; result: the picture at the places where the matrix takes the middles of
// the part's pixels, of the four pixels around each; 0 outside.
void SubgraphReader::compose_transformed_picture(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor picture = in.input(0);
  CustomOptions options(in);
  const int64_t made_width = options.integer("output_width"),
                made_height = options.integer("output_height");
  if (!in.clean()) return;
  if (picture.type != DataType::Float32 || picture.shape.size() != 4 || picture.shape[0] != 1 ||
      !is_matrix(in.input(1)))
    return in.problem(
        fmt::format("takes the picture {}[{}] by the matrix [{}]", to_string(picture.type),
                    fmt::join(picture.shape, ","), fmt::join(in.input(1).shape, ",")),
        "floats [1,height,width,depth] and [1,4,4] are possible");
  const int64_t height = picture.shape[1], width = picture.shape[2], depth = picture.shape[3];
  // Numbers of pixels are computed in floats, which hold them exactly up to 2^24.
  constexpr int64_t kMostPixels = int64_t{1} << 24;
  if (made_width < 1 || made_height < 1 || made_width > kMostPixels ||
      made_height > kMostPixels / made_width || height * width > kMostPixels)
    return in.problem(
        fmt::format("makes {} x {} pixels of {} x {}", made_height, made_width, height, width),
        fmt::format("at most {} pixels are possible", kMostPixels));
  in.decide_shape({1, made_height, made_width, depth});
  const int64_t count = made_height * made_width;
  if (!in.clean() || !can_be_made(in, made_height, made_width)) return;

  PlaneWriter writer = writer_for<PlaneWriter>(op);
  std::vector<float> columns, rows;
  for (int64_t row = 0; row < made_height; ++row)
    for (int64_t column = 0; column < made_width; ++column) {
      columns.push_back(static_cast<float>(column) + 0.5f);
      rows.push_back(static_cast<float>(row) + 0.5f);
    }
  const Reals across = writer.constant({1, count, 1}, columns),
              down = writer.constant({1, count, 1}, rows);
  const Reals matrix = {current(op.inputs[1]), in.input(1).shape};
  const auto place = [&](int64_t row) {
    const Reals turned = writer.sum_of_products(writer.element(matrix, row, 0), across,
                                                writer.element(matrix, row, 1), down);
    const Reals moved = writer.subtract(writer.element(matrix, row, 3), writer.number(0.5f));
    return writer.add(turned, moved);
  };
  const Reals x = place(0), y = place(1);
  const Neighbours by_column = neighbours(writer, x, width), by_row = neighbours(writer, y, height);
  const Reals pixels =
      writer.reshaped({current(op.inputs[0]), picture.shape}, {1, height * width, depth});
  const auto mixed = [&](const Reals& a, const Reals& b, const Reals& share) {
    return writer.sum_of_products(writer.subtract(writer.number(1), share), a, share, b);
  };
  const auto of_row = [&](const Reals& row) {
    const Reals begin = writer.multiply(row, writer.number(static_cast<float>(width)));
    const auto pixel = [&](const Reals& column) {
      const int32_t at = writer.as_numbers(writer.add(begin, column), count);
      return writer.rows_at(pixels, at, count);
    };
    return mixed(pixel(by_column.first), pixel(by_column.second), by_column.share);
  };
  const Reals seen = mixed(of_row(by_row.first), of_row(by_row.second), by_row.share);
  const Reals is_inside = writer.multiply(writer.is_within(x, static_cast<float>(width - 1)),
                                          writer.is_within(y, static_cast<float>(height - 1)));
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{{1, made_height, made_width, depth}},
           {writer.multiply(seen, is_inside).id});
}

// Operands: landmarks [1, count, 2 or 3] and a matrix; result: the places where it takes them. A third number stays.
void SubgraphReader::compose_transformed_landmarks(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  if (input.type != DataType::Float32 || input.shape.size() != 3 || input.shape[0] != 1 ||
      input.shape[2] < 2 || input.shape[2] > 3 || !is_matrix(in.input(1)))
    return in.problem(
        fmt::format("takes the landmarks {}[{}] by the matrix [{}]", to_string(input.type),
                    fmt::join(input.shape, ","), fmt::join(in.input(1).shape, ",")),
        "floats [1,count,2] or [1,count,3] and [1,4,4] are possible, as version 2 of the operator "
        "has them");
  in.decide_shape(input.shape);
  if (!in.clean()) return;
  PlaneWriter writer = writer_for<PlaneWriter>(op);
  const int64_t count = input.shape[1];
  const Reals landmarks = {current(op.inputs[0]), input.shape},
              matrix = {current(op.inputs[1]), in.input(1).shape};
  const auto number = [&](int64_t at) { return writer.part(landmarks, {0, 0, at}, {1, count, 1}); };
  const Reals x = number(0), y = number(1);
  std::vector<int32_t> parts;
  for (const int64_t row : {0, 1}) {
    const Reals turned = writer.sum_of_products(writer.element(matrix, row, 0), x,
                                                writer.element(matrix, row, 1), y);
    parts.push_back(writer.add(turned, writer.element(matrix, row, 3)).id);
  }
  if (input.shape[2] == 3) parts.push_back(number(2).id);
  put_last(op, OpKind::Concat, graph::AxisAttrs{2}, parts);
}

}  // namespace intarsia::tflite
