// Slices that begin where the model finds out as it runs, of extents that are known before: x[:, i] within a loop.
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

bool is_marked(int32_t mask, size_t axis) {
  return axis < 32 && ((static_cast<uint32_t>(mask) >> axis) & 1) != 0;
}

bool is_of_places(const graph::Tensor& tensor) {
  return tensor.type == DataType::Int32 || tensor.type == DataType::Int64;
}

}  // namespace

const OperatorInfo* SubgraphReader::maker(int32_t id, const OperatorInfo* before) const {
  for (const OperatorInfo& op : *model_.subgraph(signature_.subgraph).operators) {
    if (before != nullptr && op.index >= before->index) return nullptr;
    if (std::ranges::find(op.outputs, id) != op.outputs.end()) return &op;
  }
  return nullptr;
}

// One number: what it is more than, whatever shapes of one element that has been given.
SubgraphReader::Place SubgraphReader::place_of(int32_t id) {
  Place place{id, 0};
  const auto known = [&](int32_t of) -> std::optional<int64_t> {
    if (!tensors_.is_good(of) || !is_of_places(tensor(of)) ||
        element_count(tensor(of).shape) != 1 || bytes(of).empty())
      return std::nullopt;
    return number_at(bytes(of), static_cast<size_t>(bits(tensor(of).type) / 8), 0);
  };
  const OperatorInfo* op = nullptr;
  for (;;) {
    if (const auto value = known(place.base)) return {-1, place.offset + *value};
    op = maker(place.base, op);
    if (op == nullptr || op->inputs.empty()) return place;
    Place next{op->inputs[0], place.offset};
    if (op->code == kADD || op->code == kSUB) {
      if (op->inputs.size() != 2) return place;
      const auto left = known(op->inputs[0]), right = known(op->inputs[1]);
      if (right)
        next.offset += op->code == kADD ? *right : -*right;
      else if (left && op->code == kADD)
        next = {op->inputs[1], place.offset + *left};
      else
        return place;
    } else if (op->code != kRESHAPE && op->code != kEXPAND_DIMS && op->code != kSQUEEZE) {
      return place;
    }
    if (!tensors_.is_good(next.base)) return place;
    place = next;
  }
}

// A list of numbers, each of them known or a place; empty when it is not put together here.
std::vector<SubgraphReader::Place> SubgraphReader::places_of(int32_t id) {
  std::vector<Place> result;
  const auto add_known = [&](int32_t list) {
    const auto size = static_cast<size_t>(bits(tensor(list).type) / 8);
    for (size_t i = 0; i < bytes(list).size() / size; ++i)
      result.push_back({-1, number_at(bytes(list), size, i)});
  };
  if (!is_of_places(tensor(id))) return {};
  if (!bytes(id).empty()) return add_known(id), result;
  if (element_count(tensor(id).shape) == 1) return {place_of(id)};
  const OperatorInfo* op = maker(id, nullptr);
  if (op == nullptr || (op->code != kPACK && op->code != kCONCATENATION)) return {};
  for (const int32_t part : op->inputs) {
    if (!tensors_.is_good(part) || !is_of_places(tensor(part))) return {};
    if (!bytes(part).empty())
      add_known(part);
    else if (element_count(tensor(part).shape) == 1)
      result.push_back(place_of(part));
    else
      return {};
  }
  return result;
}

// False, and nothing said, when the slice is another one.
bool SubgraphReader::compose_placed_slice(const OperatorInfo& op, OperatorReader& in) {
  if (in.is_constant(1)) return false;
  const graph::Tensor input = in.input(0);
  const Shape& shape = input.shape;
  const std::vector<Place> begin = places_of(op.inputs[1]), end = places_of(op.inputs[2]);
  const auto* strided =
      op.code == kSTRIDED_SLICE ? in.options<format::StridedSliceOptions>() : nullptr;
  if (begin.empty() || begin.size() > shape.size()) return false;
  if (op.code == kSTRIDED_SLICE) {
    if (strided == nullptr || strided->ellipsis_mask() != 0 || strided->new_axis_mask() != 0 ||
        strided->offset() || !in.is_constant(3))
      return false;
    const std::vector<int64_t> strides = in.constant_values(3);
    if (std::ranges::any_of(strides, [](int64_t stride) { return stride != 1; })) return false;
  } else if (begin.size() != shape.size() || end.size() != shape.size()) {
    return false;
  }

  graph::SliceAttrs known;      // along axes that begin at a known place
  Shape taken = shape, result;  // taken: with the axes that are dropped
  std::vector<Place> first(shape.size(), Place{-1, 0});
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = shape[axis];
    int64_t count = extent;
    bool is_dropped = false;
    if (axis < begin.size()) {
      is_dropped = strided != nullptr && is_marked(strided->shrink_axis_mask(), axis);
      if (strided == nullptr || !is_marked(strided->begin_mask(), axis)) first[axis] = begin[axis];
      const bool is_known = first[axis].base < 0;
      if (is_known && first[axis].offset < 0) first[axis].offset += extent;
      const bool to_the_end = strided != nullptr && is_marked(strided->end_mask(), axis);
      if (is_dropped) {
        count = 1;
      } else if (strided == nullptr) {
        if (end[axis].base >= 0) return false;
        count = end[axis].offset;
        if (count == -1 && is_known) count = extent - first[axis].offset;
      } else if (to_the_end) {
        if (!is_known) return false;
        count = extent - first[axis].offset;
      } else {
        if (axis >= end.size() || end[axis].base != first[axis].base) return false;
        int64_t last = end[axis].offset;
        if (is_known) last = std::min(last < 0 ? last + extent : last, extent);
        count = last - first[axis].offset;
      }
      if (is_known && (first[axis].offset < 0 || first[axis].offset + count > extent)) return false;
    }
    if (count < 1 || count > extent) return false;
    const bool is_placed = first[axis].base >= 0;
    known.begin.push_back(is_placed ? 0 : first[axis].offset);
    known.size.push_back(is_placed ? extent : count);
    known.stride.push_back(1);
    taken[axis] = count;
    if (!is_dropped) result.push_back(count);
  }
  in.decide_shape(result);
  if (!in.clean()) return true;

  graph::Tensor part = input;
  part.constant = {};
  int32_t x = current(op.inputs[0]);
  part.shape = known.size;
  if (known.size != shape) x = put(op, OpKind::Slice, known, {x}, part);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (first[axis].base < 0) continue;
    int32_t place = current(first[axis].base);
    const Shape one{1}, line{taken[axis]};
    if (tensor(place).type != DataType::Int32)
      place = put(op, OpKind::Cast, graph::NoAttrs{}, {place},
                  {.type = DataType::Int32, .shape = tensor(place).shape});
    place = put(op, OpKind::Reshape, graph::ReshapeAttrs{one}, {place},
                {.type = DataType::Int32, .shape = one});
    std::vector<int32_t> steps(static_cast<size_t>(taken[axis]));
    for (size_t i = 0; i < steps.size(); ++i)
      steps[i] = static_cast<int32_t>(first[axis].offset + static_cast<int64_t>(i));
    if (steps != std::vector<int32_t>{0}) {
      const int32_t offsets =
          make({{.name = "steps", .type = DataType::Int32, .shape = line}, little_endian(steps)});
      place = put(op, OpKind::Add, graph::BinaryAttrs{}, {place, offsets},
                  {.type = DataType::Int32, .shape = line});
    }
    // A place below 0 is counted from the end.
    if (strided != nullptr) {
      const int32_t extent = make({{.name = "extent", .type = DataType::Int32, .shape = one},
                                   little_endian(std::vector{static_cast<int32_t>(shape[axis])})});
      place = put(op, OpKind::FloorMod, graph::NoAttrs{}, {place, extent},
                  {.type = DataType::Int32, .shape = line});
    }
    part.shape[axis] = taken[axis];
    x = put(op, OpKind::Gather, graph::GatherAttrs{static_cast<int64_t>(axis), 0}, {x, place},
            part);
  }
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{result}, {x});
  return true;
}

// What the converter did not know of a subgraph's operands is what the one who runs it hands over. A loop hands it on.
void SubgraphReader::hand_shapes(const OperatorInfo& op, size_t first, size_t callee) {
  TensorTable& tensors = *model_.subgraph(callee).tensors;
  const std::span<const int32_t> taken = values(model_.subgraph(callee).raw->inputs());
  for (size_t i = 0; i < taken.size() && i + first < op.inputs.size(); ++i) {
    const int32_t given = op.inputs[i + first];
    if (!tensors.in_range(taken[i]) || !tensors.is_dynamic(taken[i]) || handles_.contains(given) ||
        tensors_.is_resource(given))
      continue;
    if (tensors.get(taken[i], "read by " + op.label()) != nullptr)
      tensors.set_shape(taken[i], tensor(current(given)).shape);
  }
}

}  // namespace intarsia::tflite
