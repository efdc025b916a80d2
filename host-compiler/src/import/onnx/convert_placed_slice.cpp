// Slices that begin where the model finds out as it runs, of extents that are known before: a window around a place, a row of a table of
// positions. How many elements an axis gives is known where its end is its beginning and a number, or where the file says it.
#include <algorithm>
#include <array>
#include <numeric>

#include "import/onnx/moving.h"
#include "import/onnx/placed_slice.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// A number: an element of a value of the file, and how much more. Without a value it is known.
struct Place {
  std::string value;
  size_t element = 0;
  int64_t offset = 0;

  bool is_known() const { return value.empty(); }
  bool has_base_of(const Place& other) const {
    return value == other.value && element == other.element;
  }
};

bool keeps_elements(const Node& node) {
  constexpr std::array<std::string_view, 6> kKeeping = {"Cast",    "Flatten", "Identity",
                                                        "Reshape", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && std::ranges::find(kKeeping, node.type) != kKeeping.end();
}

// The numbers of a value, `count` of them; one number stands for all where a sum repeats it.
std::vector<Place> places_of(Reader& in, const std::string& value, size_t count, int depth = 0) {
  constexpr int kDeepest = 32;
  std::vector<Place> found;
  if (const std::optional<Values> known = in.known(value)) {
    for (const int64_t number : as_integers(*known)) found.push_back({{}, 0, number});
    if (found.size() == 1) found.resize(count, found.front());
    return found.size() == count ? found : std::vector<Place>{};
  }
  const Node* node = depth < kDeepest ? in.operator_of(value) : nullptr;
  const auto itself = [&] {
    for (size_t i = 0; i < count; ++i) found.push_back({value, i, 0});
    return found;
  };
  if (node == nullptr || !node->domain.empty()) return itself();
  if (keeps_elements(*node)) return places_of(in, node->inputs[0], count, depth + 1);
  if (node->type == "Concat") {
    for (const std::string& part : node->inputs) {
      const int64_t elements = in.elements_of(part);
      if (elements < 1) return itself();
      for (Place& place : places_of(in, part, static_cast<size_t>(elements), depth + 1))
        found.push_back(std::move(place));
    }
    if (found.size() == count) return found;
    found.clear();
    return itself();
  }
  if ((node->type != "Add" && node->type != "Sub") || node->inputs.size() != 2) return itself();
  const bool adds = node->type == "Add";
  for (const size_t i : {1, 0}) {
    if (i == 0 && !adds) break;
    const std::optional<Values> known = in.known(node->inputs[i]);
    if (!known || in.elements_of(node->inputs[1 - i]) != static_cast<int64_t>(count)) continue;
    const std::vector<Place> more = places_of(in, node->inputs[i], count, depth + 1);
    found = places_of(in, node->inputs[1 - i], count, depth + 1);
    if (more.size() != count || found.size() != count) break;
    for (size_t k = 0; k < count; ++k) found[k].offset += adds ? more[k].offset : -more[k].offset;
    return found;
  }
  found.clear();
  return itself();
}

}  // namespace

bool slice_at_places(Reader& in) {
  const Shape shape = in.shape_of(0);
  if (!in.has(1) || !in.has(2) || in.shape_of(1).size() > 1) return false;
  std::vector<int64_t> axes(static_cast<size_t>(element_count(in.shape_of(1)))), steps;
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (in.has(3)) {
    const auto given = in.known_integers(3, "its axes");
    if (!given) return false;
    axes = *given;
  }
  steps.assign(axes.size(), 1);
  if (in.has(4)) {
    const auto given = in.known_integers(4, "its steps");
    if (!given) return false;
    steps = *given;
  }
  for (int64_t& axis : axes) axis = in.axis(axis, shape.size());
  if (!in.ok() || steps.size() != axes.size() ||
      in.elements_of(in.node().inputs[1]) != std::ssize(axes))
    return false;
  const std::vector<Place> begin = places_of(in, in.node().inputs[1], axes.size()),
                           end = places_of(in, in.node().inputs[2], axes.size());
  if (begin.size() != axes.size() || end.size() != axes.size()) return false;
  const std::optional<Shape> declared = in.declared_shape(in.node().outputs.front());
  graph::SliceAttrs known{Shape(shape.size(), 0), shape, Shape(shape.size(), 1), {}};
  std::vector<std::pair<size_t, size_t>> placed;  // axes, and the numbers of their beginnings
  Shape taken = shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const int64_t extent = shape[axis];
    if (steps[i] != 1) return false;
    const auto from_front = [&](int64_t place) {
      return std::clamp<int64_t>(place < 0 ? place + extent : place, 0, extent);
    };
    int64_t count = 0;
    if (begin[i].is_known() && end[i].is_known())
      count = from_front(end[i].offset) - from_front(begin[i].offset);
    else if (begin[i].has_base_of(end[i]))
      count = end[i].offset - begin[i].offset;
    else if (declared && declared->size() == shape.size())
      count = (*declared)[axis];
    if (count < 1 || count > extent) return false;
    taken[axis] = count;
    if (!begin[i].is_known()) {
      placed.emplace_back(axis, i);
      continue;
    }
    known.begin[axis] = from_front(begin[i].offset), known.size[axis] = count;
    if (known.begin[axis] + count > extent) return false;
  }
  const TensorId starts = in.cast(in.operand(1), DataType::Int32);
  move(in, [&](TensorId id) {
    if (known.size != shape) id = in.emit_alike(OpKind::Slice, known, {id}, "part");
    for (const auto& [axis, number] : placed) {
      TensorId place = in.reshape(starts, {element_count(in.shape(starts))});
      if (axes.size() > 1)
        place = in.emit_alike(OpKind::Slice,
                              graph::SliceAttrs{{static_cast<int64_t>(number)}, {1}, {1}, {}},
                              {place}, "begin");
      std::vector<int64_t> offsets(static_cast<size_t>(taken[axis]));
      std::iota(offsets.begin(), offsets.end(), int64_t{0});
      if (offsets.size() > 1)
        place = in.emit(
            OpKind::Add, graph::BinaryAttrs{},
            {place, in.make_constant(integer_values(DataType::Int32, {taken[axis]}, offsets))},
            DataType::Int32, {}, "places");
      // Counted from the end where they are below 0, and never outside.
      place = from_beginning(in, place, {shape[axis]});
      id = in.emit_alike(OpKind::Gather, graph::GatherAttrs{static_cast<int64_t>(axis), 0},
                         {id, place});
    }
    return id;
  });
  return true;
}

}  // namespace intarsia::onnx
