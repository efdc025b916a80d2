#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/input_shapes.h"
#include "import/input_values.h"
#include "import/tflite/convert_compiled.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

// Model inputs and outputs: in range and convertible.
void SubgraphReader::check_model_operands() {
  const std::span<const int32_t> inputs = values(subgraph_.inputs());
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  std::vector<bool> is_input(tensors_.count());
  const char* owner = is_model_ ? "model" : "subgraph";
  const auto place = [&](std::string_view role, size_t i) {
    return is_model_ ? fmt::format("{}: model {} {}", file_.name(), role, i)
                     : fmt::format("{}: {} {} of subgraph {}", file_.name(), role, i,
                                   signature_.subgraph);
  };
  const auto check = [&](std::string_view role, size_t i, int32_t id) {
    const std::string where = place(role, i);
    if (!tensors_.in_range(id)) {
      problems_.add(where, fmt::format("is tensor {}, but there are {}", id, tensors_.count()));
      return false;
    }
    if (tensors_.is_resource(id) && !is_model_) return false;
    if (tensors_.is_unsigned_long(id)) {
      problems_.add(where, fmt::format("is {}, which is of type UINT64", tensors_.label(id)));
      return false;
    }
    if (tensors_.has_data(id) && role == "input") {
      problems_.add(where, fmt::format("is {}, which is a constant", tensors_.label(id)));
      return false;
    }
    const std::string used_by = fmt::format("{} {} {}", owner, role, i);
    return (role == "input" ? tensors_.get_values(id, used_by) : tensors_.get(id, used_by)) !=
           nullptr;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!check("input", i, inputs[i])) continue;
    const std::string where = place("input", i);
    if (is_input[static_cast<size_t>(inputs[i])]) {
      problems_.add(where,
                    fmt::format("is {}, which is an input already", tensors_.label(inputs[i])));
    }
    if (tensors_.is_variable(inputs[i])) {
      problems_.add(where, fmt::format("is {}, which is a variable", tensors_.label(inputs[i])));
    }
    is_input[static_cast<size_t>(inputs[i])] = true;
  }
  for (size_t i = 0; i < outputs.size(); ++i) check("output", i, outputs[i]);
  if (outputs.empty() && is_model_)
    problems_.add(file_.name(), "has a model without outputs",
                  "convert the model again, with what it computes as outputs");
}

// An open batch is one, as everybody expects; an image of one row, which a converter writes where it knew no more, is a surprise.
void SubgraphReader::note_open_extents(int32_t id) {
  const graph::Tensor* input = tensors_.get(id, "the model");
  if (!is_model_ || model_.options().notes == nullptr || input == nullptr) return;
  const Shape open = tensors_.open_shape(id);
  if (open.empty() || std::find(open.begin() + 1, open.end(), -1) == open.end()) return;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < open.size(); ++axis)
    if (open[axis] == -1) axes.push_back(axis);
  model_.options().notes->add(
      fmt::format("{}: {}", file_.name(), tensors_.label(id)),
      fmt::format("leaves extents open (axes {}), which become those of the file, {}",
                  fmt::join(axes, ", "), fmt::join(input->shape, "x")),
      fmt::format("give numbers for the marks in --shape {}={}", printable(tensors_.name(id)),
                  shape_to_fill_in(open)));
}

// Of what the running model computes: constants of 16 bits lose nothing.
void SubgraphReader::note_other_floats() {
  if (model_.options().notes == nullptr) return;
  for (int32_t id = 0; id < static_cast<int32_t>(tensors_.count()); ++id) {
    if (!tensors_.is_good(id) || !tensors_.is_other_float(id) || !tensors_.data(id).empty())
      continue;
    return model_.options().notes->add(
        fmt::format("{}: {}", file_.name(), tensors_.label(id)),
        "is computed as floats of 32 bits, as all floats of 16 and 64 bits are");
  }
}

// Shapes that the user gives. Those of later tensors follow from them, where the converter did not know them either.
void SubgraphReader::take_shapes() {
  if (!problems_.empty()) return;
  InputShapes shapes(model_.options().shapes);
  std::vector<std::string> names;
  for (const int32_t id : values(subgraph_.inputs())) {
    names.push_back(printable(tensors_.name(id)));
    if (shapes.find(tensors_.name(id)) == nullptr) {
      note_open_extents(id);
      continue;
    }
    const std::string where = fmt::format("{}: {}", file_.name(), tensors_.label(id));
    const Shape given = shapes.apply(tensors_.name(id), where, tensors_.open_shape(id), problems_);
    if (element_count(given) == 0)
      problems_.add(where, "has no element with the extent 0 that --shape gives it",
                    "states that hold nothing yet are possible in ONNX models");
    if (problems_.empty()) tensors_.set_shape(id, given);
  }
  shapes.report_unused(file_.name(), names, problems_);
  take_values(names);
}

// Inputs that the user knows become constants.
void SubgraphReader::take_values(const std::vector<std::string>& names) {
  InputValues given(model_.options().input_values);
  for (const int32_t id : values(subgraph_.inputs())) {
    if (!problems_.empty() || !given.has(tensors_.name(id))) continue;
    const bool loses_sign = tensors_.is_made_signed(id);
    std::optional<std::vector<uint8_t>> bytes =
        given.bytes(tensors_.name(id), fmt::format("{}: {}", file_.name(), tensors_.label(id)),
                    loses_sign ? DataType::UInt8 : tensor(id).type, tensor(id).shape, problems_);
    if (!bytes) continue;
    if (loses_sign)
      for (uint8_t& byte : *bytes) byte ^= kSignedByte;
    tensors_.set_data(id, std::move(*bytes));
    given_.insert(id);
  }
  given.report_unused(file_.name(), names, problems_);
}

// Every tensor is written once, before it is read; parts of one may be written by programs that share an arena.
void SubgraphReader::check_data_flow(const std::vector<OperatorInfo>& operators) {
  constexpr int32_t kNobody = -1, kInput = -2;
  std::vector<int32_t> writer(tensors_.count(), kNobody);
  for (const int32_t id : values(subgraph_.inputs())) {
    if (tensors_.in_range(id)) writer[static_cast<size_t>(id)] = kInput;
  }
  const auto is_known = [&](int32_t id) {
    return writer[static_cast<size_t>(id)] != kNobody || tensors_.has_data(id) ||
           tensors_.is_variable(id);
  };
  for (const OperatorInfo& op : operators) {
    const std::string where = fmt::format("{}: {}", file_.name(), op.label());
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int32_t id = op.inputs[i];
      if (id == -1 || op.is_scratch(i) || is_known(id)) continue;
      problems_.add(where, fmt::format("reads {}, which is no model input, has no data, and no "
                                       "earlier operator writes",
                                       tensors_.label(id)));
    }
    for (const int32_t id : op.outputs) {
      int32_t& by = writer[static_cast<size_t>(id)];
      if (by >= 0 && !share_arena(operators[static_cast<size_t>(by)], op)) {
        problems_.add(where,
                      fmt::format("writes {}, which {} has written already", tensors_.label(id),
                                  operators[static_cast<size_t>(by)].label()));
      } else if (by < 0 && (by == kInput || tensors_.has_data(id))) {
        problems_.add(where, fmt::format("writes {}, which is a {}", tensors_.label(id),
                                         by == kInput ? "model input" : "constant"));
      }
      by = op.index;
    }
  }
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (tensors_.in_range(outputs[i]) && !is_known(outputs[i])) {
      problems_.add(is_model_ ? fmt::format("{}: model output {}", file_.name(), i)
                              : fmt::format("{}: output {} of subgraph {}", file_.name(), i,
                                            signature_.subgraph),
                    fmt::format("is {}, which no operator writes", tensors_.label(outputs[i])));
    }
  }
}

}  // namespace intarsia::tflite
