// Functions of plain whole numbers, without scales: bits, powers, and the places of numbers among others.
#include <algorithm>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

constexpr int64_t kBitsOfWhole = 32;
constexpr int64_t kMostShifted =
    kBitsOfWhole - 2;  // by one division: the largest power of two that is a number

graph::Tensor whole_tensor(Shape shape) {
  return {.type = DataType::Int32, .shape = std::move(shape)};
}

MadeConstant whole_constant(std::string name, Shape shape, const std::vector<int32_t>& numbers) {
  MadeConstant made{whole_tensor(std::move(shape)), little_endian(numbers)};
  made.tensor.name = std::move(name);
  return made;
}

bool has_at_most_32_bits(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16 ||
         type == DataType::Int32;
}

}  // namespace

// What two operands of plain numbers make; nothing, and a problem, where they are none.
std::optional<Shape> SubgraphReader::shape_of_pair(OperatorReader& in) {
  const DataType type = in.input(0).type;
  if (in.input(1).type != type || in.output().type != type || !has_at_most_32_bits(type)) {
    in.problem(fmt::format("makes {} of {} and {}", to_string(in.output().type), to_string(type),
                           to_string(in.input(1).type)),
               "i8, u8, i16 and i32 are possible, the same for all three");
    return std::nullopt;
  }
  Draft sum;
  sum.node.kind = OpKind::Add;
  sum.node.attributes = graph::BinaryAttrs{};
  std::vector<int32_t> operands;
  for (const size_t i : {0, 1}) operands.push_back(make({whole_tensor(in.input(i).shape), {}}));
  const std::optional<Shape> shape = shape_of_result(sum, operands, whole_tensor({}));
  if (!shape)
    in.problem(fmt::format("cannot broadcast [{}] and [{}]", fmt::join(in.input(0).shape, ","),
                           fmt::join(in.input(1).shape, ",")));
  else
    in.decide_shape(*shape);
  return in.clean() ? shape : std::nullopt;
}

// The last node of an operator on 32 bits whose output may have fewer.
void SubgraphReader::put_narrowed(const OperatorInfo& op, OpKind kind, std::vector<int32_t> inputs,
                                  const Shape& shape) {
  graph::Attributes attributes = graph::NoAttrs{};
  if (kind == OpKind::Sub) attributes = graph::BinaryAttrs{};
  if (tensor(op.outputs[0]).type == DataType::Int32)
    return put_last(op, kind, std::move(attributes), std::move(inputs));
  const int32_t made = put(op, kind, std::move(attributes), std::move(inputs), whole_tensor(shape));
  put_last(op, OpKind::Cast, graph::NoAttrs{}, {made});
}

// Bits that one of them has, less those that both have.
void SubgraphReader::compose_xor(const OperatorInfo& op, OperatorReader& in) {
  const std::optional<Shape> shape = shape_of_pair(in);
  if (!shape) return;
  const int32_t a = with_32_bits(op, 0), b = with_32_bits(op, 1);
  const int32_t any = put(op, OpKind::LogicalOr, graph::NoAttrs{}, {a, b}, whole_tensor(*shape));
  const int32_t both = put(op, OpKind::LogicalAnd, graph::NoAttrs{}, {a, b}, whole_tensor(*shape));
  put_narrowed(op, OpKind::Sub, {any, both}, *shape);
}

// A quotient by a power of two, rounded down. As in LiteRT, distances below 0 are 0, and those that leave nothing of the number
// are the largest that leave its sign. 2^31 is no number of 32 bits: two quotients then.
void SubgraphReader::compose_right_shift(const OperatorInfo& op, OperatorReader& in) {
  const std::optional<Shape> shape = shape_of_pair(in);
  if (!shape) return;
  const auto most = static_cast<int32_t>(bits(in.input(0).type)) - 1;
  std::vector<int32_t> first, second;
  for (int32_t distance = 0; distance < kBitsOfWhole; ++distance) {
    const auto by = static_cast<int32_t>(std::min<int64_t>(distance, kMostShifted));
    first.push_back(int32_t{1} << by), second.push_back(int32_t{1} << (distance - by));
  }
  bool is_long = most > kMostShifted;
  std::vector<int32_t> divisors;
  const Shape& distances = in.input(1).shape;
  if (in.is_constant(1)) {
    std::vector<int32_t> by[2];
    is_long = false;
    for (const int64_t distance : in.constant_values(1)) {
      const auto at = static_cast<size_t>(std::clamp<int64_t>(distance, 0, most));
      by[0].push_back(first[at]), by[1].push_back(second[at]);
      is_long |= second[at] != 1;
    }
    for (const auto& numbers : by)
      divisors.push_back(make(whole_constant("divisors", distances, numbers)));
  } else {
    int32_t at = with_32_bits(op, 1);
    at = put(op, OpKind::Maximum, graph::NoAttrs{}, {at, make(whole_constant("none", {}, {0}))},
             whole_tensor(distances));
    at = put(op, OpKind::Minimum, graph::NoAttrs{}, {at, make(whole_constant("all", {}, {most}))},
             whole_tensor(distances));
    for (const auto& numbers : {first, second})
      divisors.push_back(put(op, OpKind::Gather, graph::GatherAttrs{0, 0},
                             {make(whole_constant("powers", {kBitsOfWhole}, numbers)), at},
                             whole_tensor(distances)));
  }
  int32_t x = with_32_bits(op, 0);
  if (is_long)
    x = put(op, OpKind::FloorDiv, graph::NoAttrs{}, {x, divisors[1]}, whole_tensor(*shape));
  put_narrowed(op, OpKind::FloorDiv, {x, divisors[0]}, *shape);
}

// ABS, SQUARED_DIFFERENCE, and POW with an exponent that is known: products.
bool SubgraphReader::compose_whole_function(const OperatorInfo& op, OperatorReader& in) {
  if (in.input(0).type != DataType::Int32 || in.output().type != DataType::Int32) return false;
  const Shape shape = in.input(0).shape;
  const int32_t x = current(op.inputs[0]);
  if (op.code == kABS) {
    in.decide_shape(shape);
    if (!in.clean()) return true;
    const int32_t negative = put(op, OpKind::Neg, graph::NoAttrs{}, {x}, whole_tensor(shape));
    return put_last(op, OpKind::Maximum, graph::NoAttrs{}, {x, negative}), true;
  }
  if (op.code == kSQUARED_DIFFERENCE) {
    const std::optional<Shape> all = shape_of_pair(in);
    if (!all) return true;
    const int32_t by =
        put(op, OpKind::Sub, graph::BinaryAttrs{}, {x, current(op.inputs[1])}, whole_tensor(*all));
    return put_last(op, OpKind::Mul, graph::BinaryAttrs{}, {by, by}), true;
  }
  const std::vector<int64_t> exponent =
      in.is_constant(1) ? in.constant_values(1) : std::vector<int64_t>{};
  if (exponent.size() != 1 || exponent[0] < 1 || exponent[0] >= kBitsOfWhole)
    return in.problem(
               "takes a power of whole numbers by an exponent that is not one known number of 1 to "
               "31",
               "cast the operands to floats before it"),
           true;
  in.decide_shape(shape);
  if (!in.clean()) return true;
  // The exponent's binary digits behind the first: a square each, and another factor where the digit is 1.
  std::vector<bool> multiplies;
  for (int64_t left = exponent[0]; left > 1; left /= 2) {
    if (left % 2 != 0) multiplies.push_back(true);
    multiplies.push_back(false);
  }
  int32_t power = x;
  while (multiplies.size() > 1) {
    power = put(op, OpKind::Mul, graph::BinaryAttrs{}, {power, multiplies.back() ? x : power},
                whole_tensor(shape));
    multiplies.pop_back();
  }
  if (multiplies.empty()) return hand_on(op, x), true;
  return put_last(op, OpKind::Mul, graph::BinaryAttrs{}, {power, multiplies.back() ? x : power}),
         true;
}

// How many of the boundaries a number has reached: all less those that lie above it. What is no number lies behind all.
void SubgraphReader::compose_buckets(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::BucketizeOptions>();
  const graph::Tensor x = in.input(0);
  if (options == nullptr) return;
  std::vector<float> limits;
  if (options->boundaries() != nullptr)
    limits.assign(options->boundaries()->begin(), options->boundaries()->end());
  if ((x.type != DataType::Float32 && x.type != DataType::Int32) ||
      in.output().type != DataType::Int32)
    return in.problem(fmt::format("makes {} of {}", to_string(in.output().type), to_string(x.type)),
                      "i32 of f32 and i32 is possible");
  if (limits.empty() || !std::ranges::is_sorted(limits) || x.shape.size() + 1 > kHighestRank)
    return in.problem("needs boundaries in ascending order, and a rank less than the highest");
  if (!can_be_made(in, element_count(x.shape), std::ssize(limits))) return;
  in.decide_shape(x.shape);
  if (!in.clean()) return;
  int32_t from = current(op.inputs[0]);
  if (x.type == DataType::Int32)
    from = put(op, OpKind::Cast, graph::NoAttrs{}, {from},
               {.type = DataType::Float32, .shape = x.shape});
  const auto axis = static_cast<int64_t>(x.shape.size());
  const auto count = static_cast<int32_t>(limits.size());
  Shape one = x.shape, all = x.shape;
  one.push_back(1), all.push_back(count);
  from = put(op, OpKind::Reshape, graph::ReshapeAttrs{one}, {from},
             {.type = DataType::Float32, .shape = one});
  MadeConstant boundaries{{.name = "boundaries", .type = DataType::Float32, .shape = {count}},
                          little_endian(limits)};
  const int32_t below = put(op, OpKind::Less, graph::NoAttrs{}, {from, make(std::move(boundaries))},
                            {.type = DataType::Bool, .shape = all});
  const int32_t counted = put(op, OpKind::Cast, graph::NoAttrs{}, {below}, whole_tensor(all));
  const int32_t above =
      put(op, OpKind::Sum, graph::ReduceAttrs{{axis}, false}, {counted}, whole_tensor(x.shape));
  put_last(op, OpKind::Sub, graph::BinaryAttrs{},
           {make(whole_constant("count", {}, {count})), above});
}

}  // namespace intarsia::tflite
