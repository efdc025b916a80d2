#include "import/onnx/stretches.h"

#include <vector>

namespace intarsia::onnx {

graph::TensorId stretch(Reader& in, graph::TensorId id, size_t axis, int64_t from, int64_t count) {
  if (!in.ok()) return {};
  const Shape shape = in.shape(id);
  if (from == 0 && count == shape[axis]) return id;
  graph::SliceAttrs attrs{Shape(shape.size(), 0), shape, Shape(shape.size(), 1), {}};
  attrs.begin[axis] = from, attrs.size[axis] = count;
  return in.emit_alike(graph::OpKind::Slice, attrs, {id}, "part");
}

graph::TensorId filled(Reader& in, const Shape& shape, DataType type, double number) {
  const auto count = static_cast<size_t>(element_count(shape));
  return in.make_constant(
      type == kFloat
          ? real_values(shape, std::vector<float>(count, static_cast<float>(number)))
          : integer_values(type, shape, std::vector<int64_t>(count, static_cast<int64_t>(number))));
}

}  // namespace intarsia::onnx
