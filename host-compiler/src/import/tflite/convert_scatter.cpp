// Elements that are put, or added up, where indices say; and the sign, which is chosen like them.
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

// One number of floats or of plain integers.
MadeConstant one_value(DataType type, float real, int32_t integer) {
  MadeConstant made{{.name = "value", .type = type, .shape = {}}, {}};
  uint32_t word = static_cast<uint32_t>(integer);
  if (type == DataType::Float32) std::memcpy(&word, &real, sizeof word);
  for (int byte = 0; byte < bits(type) / 8; ++byte)
    made.bytes.push_back(byte < 4 ? static_cast<uint8_t>(word >> (8 * byte)) : uint8_t{0});
  return made;
}

// Whether all rows of indices are known and no two are the same.
bool are_different(OperatorReader& in, size_t operand) {
  if (!in.is_constant(operand)) return false;
  const std::vector<int64_t> values = in.constant_values(operand);
  const auto depth = static_cast<ptrdiff_t>(in.input(operand).shape.back());
  std::set<std::vector<int64_t>> rows;
  for (auto at = values.begin(); at != values.end(); at += depth)
    if (!rows.insert({at, at + depth}).second) return false;
  return true;
}

struct Segments {
  std::string_view reduction;
  float real;  // what an empty one holds
  int32_t integer;
};
Segments segments_of(int32_t code) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr int32_t kHigh = std::numeric_limits<int32_t>::max();
  switch (code) {
    case kUNSORTED_SEGMENT_PROD:
      return {"mul", 1, 1};
    case kUNSORTED_SEGMENT_MAX:
      return {"max", -kMost, -kHigh - 1};
    case kUNSORTED_SEGMENT_MIN:
      return {"min", kMost, kHigh};
    default:
      return {"add", 0, 0};
  }
}

}  // namespace

int32_t SubgraphReader::with_32_bits(const OperatorInfo& op, size_t operand) {
  const int32_t id = current(op.inputs[operand]);
  if (tensor(id).type == DataType::Int32) return id;
  return put(op, OpKind::Cast, graph::NoAttrs{}, {id},
             {.type = DataType::Int32, .shape = tensor(id).shape});
}

// -1, 0 or 1.
void SubgraphReader::compose_sign(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor x = in.input(0);
  if (x.type != DataType::Float32 && x.type != DataType::Int32)
    return in.problem(fmt::format("computes on {}; f32 and i32 are possible", to_string(x.type)));
  const auto number = [&](int32_t value) {
    return make(one_value(x.type, static_cast<float>(value), value));
  };
  const graph::Tensor decided{.type = DataType::Bool, .shape = x.shape};
  const int32_t zero = number(0), from = current(op.inputs[0]);
  const int32_t below = put(op, OpKind::Less, graph::NoAttrs{}, {from, zero}, decided);
  const int32_t above = put(op, OpKind::Greater, graph::NoAttrs{}, {from, zero}, decided);
  graph::Tensor chosen = x;
  chosen.constant = {};
  const int32_t others =
      put(op, OpKind::Select, graph::NoAttrs{}, {below, number(-1), zero}, chosen);
  put_last(op, OpKind::Select, graph::NoAttrs{}, {above, number(1), others});
}

// Operands: indices, updates, the output's shape. Updates of one place are added up, beginning with the number 0.
void SubgraphReader::compose_scatter_nd(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor indices = in.input(0), updates = in.input(1);
  const auto shape = in.integers(2, "its shape");
  if (!shape) return;
  if (indices.type != DataType::Int32 && indices.type != DataType::Int64)
    return in.problem(
        fmt::format("has indices of {}; i32 and i64 are possible", to_string(indices.type)));
  if (indices.shape.empty() || indices.shape.back() < 1 ||
      indices.shape.back() > std::ssize(*shape) ||
      std::ranges::any_of(*shape, [](int64_t extent) { return extent < 1; }))
    return in.problem(fmt::format("names places by [{}] in [{}]", fmt::join(indices.shape, ","),
                                  fmt::join(*shape, ",")));
  graph::ScatterAttrs attrs{*shape, "add"};
  const bool is_narrow = updates.type == DataType::Int8 || updates.type == DataType::Int16 ||
                         updates.type == DataType::UInt8;
  const bool adds = updates.type == DataType::Float32 || updates.type == DataType::Int32 ||
                    (is_narrow && !are_different(in, 0));
  if (!adds) {
    if (!is_narrow && !are_different(in, 0))
      return in.problem(
          fmt::format("adds up {} where places may be named twice", to_string(updates.type)),
          "i8, u8, i16, i32 and f32 are possible, and others where the places are known and "
          "different");
    attrs.reduction = "none";
  }
  in.decide_shape(*shape);
  if (!in.clean()) return;
  if (adds && is_narrow) {
    // Sums wrap around, as the bytes of wider ones do.
    const int32_t wide = put(op, OpKind::Cast, graph::NoAttrs{}, {current(op.inputs[1])},
                             {.type = DataType::Int32, .shape = updates.shape});
    const int32_t sums = put(op, OpKind::ScatterNd, attrs,
                             {make(one_value(DataType::Int32, 0, 0)), with_32_bits(op, 0), wide},
                             {.type = DataType::Int32, .shape = *shape});
    return put_last(op, OpKind::Cast, graph::NoAttrs{}, {sums});
  }
  MadeConstant zero = one_value(updates.type, 0, 0);
  zero.tensor.quantization = updates.quantization;
  put_last(op, OpKind::ScatterNd, attrs,
           {make(std::move(zero)), with_32_bits(op, 0), current(op.inputs[1])});
}

// Operands: indices of one axis or of rows of places, the result's shape, values (one for all places or one each), and what lies elsewhere.
void SubgraphReader::compose_sparse_to_dense(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor indices = in.input(0), values = in.input(2), elsewhere = in.input(3);
  const auto shape = in.integers(1, "its shape");
  if (!shape) return;
  Shape places = indices.shape;
  if (places.size() < 2) places = {element_count(places), 1};
  if ((indices.type != DataType::Int32 && indices.type != DataType::Int64) || places.size() != 2 ||
      places[1] != std::ssize(*shape) || element_count(elsewhere.shape) != 1 ||
      (element_count(values.shape) != 1 && values.shape != Shape{places[0]}) ||
      std::ranges::any_of(*shape, [](int64_t extent) { return extent < 1; }))
    return in.problem(
        fmt::format("puts [{}] at {}[{}] in [{}]", fmt::join(values.shape, ","),
                    to_string(indices.type), fmt::join(indices.shape, ","), fmt::join(*shape, ",")),
        "one value for all places or one for each, and places of i32 or i64 with as "
        "many numbers as the result has axes, are possible");
  if (values.type != in.output().type || elsewhere.type != values.type)
    return in.problem("has values of another type than its output");
  in.decide_shape(*shape);
  if (!in.clean()) return;
  const int32_t at = put(op, OpKind::Reshape, graph::ReshapeAttrs{places}, {with_32_bits(op, 0)},
                         {.type = DataType::Int32, .shape = places});
  const auto alike = [&](Shape extents) {
    graph::Tensor made = in.output();
    made.constant = {}, made.shape = std::move(extents);
    return made;
  };
  int32_t given = current(op.inputs[2]), other = current(op.inputs[3]);
  if (values.shape != Shape{places[0]}) {
    if (!values.shape.empty())
      given = put(op, OpKind::Reshape, graph::ReshapeAttrs{{}}, {given}, alike({}));
    given =
        put(op, OpKind::BroadcastTo, graph::ShapeAttrs{{places[0]}}, {given}, alike({places[0]}));
  }
  if (!elsewhere.shape.empty())
    other = put(op, OpKind::Reshape, graph::ReshapeAttrs{{}}, {other}, alike({}));
  put_last(op, OpKind::ScatterNd, graph::ScatterAttrs{*shape, "none"}, {other, at, given});
}

// Rows are put together by numbers: those with a number below 0 are left out. Operands: rows, their numbers, how many results
// there are (of SEGMENT_SUM: one more than the last number).
void SubgraphReader::compose_segments(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor rows = in.input(0), numbers = in.input(1);
  if ((rows.type != DataType::Float32 && rows.type != DataType::Int32) ||
      (numbers.type != DataType::Int32 && numbers.type != DataType::Int64))
    return in.problem(
        fmt::format("puts {} together by {}; f32 and i32, by i32 or i64, are possible",
                    to_string(rows.type), to_string(numbers.type)));
  const size_t rank = numbers.shape.size();
  if (rank == 0 || rank > rows.shape.size() ||
      !std::equal(numbers.shape.begin(), numbers.shape.end(), rows.shape.begin()))
    return in.problem(fmt::format("has numbers [{}] for [{}]", fmt::join(numbers.shape, ","),
                                  fmt::join(rows.shape, ",")));
  int64_t count = in.output().shape.empty() ? 0 : in.output().shape.front();
  if (op.code != kSEGMENT_SUM) {
    const auto given = in.integers(2, "how many results there are");
    if (!given) return;
    count = given->size() == 1 ? (*given)[0] : 0;
  } else if (in.is_dynamic_output()) {
    if (!in.is_constant(1))
      return in.problem("makes as many results as its numbers say when the model runs",
                        "give it numbers that are known, or use UNSORTED_SEGMENT_SUM");
    const std::vector<int64_t> known = in.constant_values(1);
    count = known.empty() ? 0 : known.back() + 1;
  }
  if (count < 1 || count > kLargestTensor)
    return in.problem(fmt::format("makes {} results; 1 or more are possible", count));
  Shape shape{count}, places = numbers.shape;
  shape.insert(shape.end(), rows.shape.begin() + static_cast<ptrdiff_t>(rank), rows.shape.end());
  places.push_back(1);
  in.decide_shape(shape);
  if (!in.clean()) return;
  const Segments segments = segments_of(op.code);
  const int32_t start = make(one_value(rows.type, segments.real, segments.integer));
  const int32_t at = put(op, OpKind::Reshape, graph::ReshapeAttrs{places}, {with_32_bits(op, 1)},
                         {.type = DataType::Int32, .shape = places});
  put_last(op, OpKind::ScatterNd, graph::ScatterAttrs{shape, std::string(segments.reduction)},
           {start, at, current(op.inputs[0])});
}

}  // namespace intarsia::tflite
