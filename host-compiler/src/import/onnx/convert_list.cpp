// Lists of tensors. Which tensor is where is known when the model is read, so nothing is left of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

const TensorList* list_operand(Reader& in) {
  const TensorList* list = in.list(0);
  in.require(list != nullptr, "takes a tensor where it needs a list of them");
  return list;
}

// Where an element is, or may be put: 0 .. most. What is negative counts from the end of the list as it is given, so that a new
// element at -1 comes before the last one.
std::optional<size_t> list_place(Reader& in, size_t operand, const TensorList& list, size_t most,
                                 size_t absent) {
  if (!in.has(operand)) return absent;
  const auto given = in.known_integers(operand, "the place in a list");
  if (!given || !in.require(given->size() == 1, "has one place")) return std::nullopt;
  const int64_t place = given->front() + (given->front() < 0 ? std::ssize(list) : 0);
  if (!in.require(place >= 0 && place <= static_cast<int64_t>(most),
                  fmt::format("takes place {} of a list of {}", given->front(), list.size())))
    return std::nullopt;
  return static_cast<size_t>(place);
}

}  // namespace

void read_list(Reader& in) {
  TensorList list;
  for (size_t i = 0; i < in.node().inputs.size(); ++i) list.push_back(in.value(i));
  in.result_list(std::move(list));
}

void read_list_insert(Reader& in) {
  const TensorList* given = list_operand(in);
  if (given == nullptr) return;
  TensorList list = *given;
  const auto place = list_place(in, 2, list, list.size(), list.size());
  if (!place) return;
  list.insert(list.begin() + static_cast<ptrdiff_t>(*place), in.value(1));
  in.result_list(std::move(list));
}

void read_list_erase(Reader& in) {
  const TensorList* given = list_operand(in);
  if (given == nullptr || !in.require(!given->empty(), "takes from an empty list")) return;
  TensorList list = *given;
  const auto place = list_place(in, 1, list, list.size() - 1, list.size() - 1);
  if (!place) return;
  list.erase(list.begin() + static_cast<ptrdiff_t>(*place));
  in.result_list(std::move(list));
}

void read_list_at(Reader& in) {
  const TensorList* list = list_operand(in);
  if (list == nullptr || !in.require(!list->empty(), "takes from an empty list")) return;
  if (const auto place = list_place(in, 1, *list, list->size() - 1, 0))
    in.result(0, (*list)[*place]);
}

void read_list_length(Reader& in) {
  if (const TensorList* list = list_operand(in))
    in.result(in.make_constant(integer_values(DataType::Int64, {}, {std::ssize(*list)})));
}

// In pieces of these sizes, or of one size, the last of which may be smaller; of one element each by default.
void read_list_split(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", 0), shape.size()));
  if (!in.ok()) return;
  std::vector<int64_t> sizes;
  const auto given =
      in.has(1) ? in.known_integers(1, "its sizes") : std::optional(std::vector<int64_t>{1});
  if (!given) return;
  const bool is_one_size = !in.has(1) || in.shape_of(1).empty();
  if (!in.require(!given->empty() && given->front() >= 1, "has pieces of no size")) return;
  if (is_one_size)
    for (int64_t at = 0; at < shape[axis]; at += given->front())
      sizes.push_back(std::min(given->front(), shape[axis] - at));
  else
    sizes = *given;
  const TensorId id = in.carry();
  const graph::Tensor source = in.tensor(id);
  const Form form = source.quantization.present() ? in.value(0).form : Form::Plain;
  const auto pieces =
      in.emit_many(OpKind::Split, graph::SplitAttrs{static_cast<int64_t>(axis), sizes}, {id},
                   sizes.size(), source.type, source.quantization);
  if (!in.ok()) return;
  TensorList list;
  for (const TensorId piece : pieces) {
    Shape rest = in.shape(piece);
    const bool drops = !in.has(1) && in.integer("keepdims", 1) == 0;
    if (drops) rest.erase(rest.begin() + static_cast<ptrdiff_t>(axis));
    list.push_back({drops ? in.reshape(piece, rest) : piece, form, {}});
  }
  in.result_list(std::move(list));
}

void read_list_join(Reader& in) {
  const TensorList* given = list_operand(in);
  if (given == nullptr || !in.require(!given->empty(), "joins an empty list")) return;
  TensorList list = *given;
  const bool is_new = in.integer("new_axis", 0) != 0;
  std::vector<TensorId> parts;
  for (Value& value : list) parts.push_back(in.plain(value));
  const size_t rank = in.shape(parts.front()).size() + (is_new ? 1 : 0);
  const int64_t axis = in.axis(in.integer("axis", 0), rank);
  if (!in.ok()) return;
  for (TensorId& part : parts) {
    Shape shape = in.shape(part);
    if (is_new) shape.insert(shape.begin() + axis, 1);
    part = in.reshape(part, shape);
  }
  in.result(parts.size() == 1
                ? parts.front()
                : in.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, std::move(parts)));
}

}  // namespace intarsia::onnx
