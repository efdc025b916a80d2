// What operators meant until operator set 6.
#include <fmt/format.h>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// The axes of a second operand were those of the first from the attribute `axis` on (its last ones where there is none, as they still
// are), and the slopes of a PRelu were one per channel. Newer operators have axes of extent 1 for the rest.
void Reader::align_second_operand(Node& present) {
  const bool are_slopes = present.type == "PRelu";
  const bool are_placed = integer("broadcast", 0) != 0 && present.attributes.contains("axis");
  if (present.inputs.size() != 2 || !(are_slopes || are_placed)) return;
  for (const std::string& input : present.inputs)
    if (!values_.contains(input)) return;
  const size_t rank = shape_of(0).size();
  Shape shape = shape_of(1);
  if (are_slopes && (shape.size() != 1 || shape[0] == 1 || rank < 2)) return;
  const int64_t first = are_slopes ? 1 : axis(integer("axis", 0), rank);
  const size_t behind = static_cast<size_t>(first) + shape.size();
  if (failed_ || behind >= rank) return;
  shape.resize(rank - static_cast<size_t>(first), 1);
  const TensorId aligned = reshape(operand(1), shape);
  if (!aligned.valid()) return;
  // The file has no value of this name, which is that of one operand of one operator.
  std::string& name = present.inputs[1];
  name = fmt::format("{} of {} along axis {}", name, present.index, first);
  values_[name] = {aligned, Form::Plain, {}};
}

}  // namespace intarsia::onnx
