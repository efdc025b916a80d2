// The part of the reader that looks at what follows an operator, and that takes attempts back.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

using graph::TensorId;
using tflite::printable;

namespace {

// Whether a value may be quantised before the operator as well as behind it, with the same result: the operator moves elements, or chooses
// some of them by their order, which rounding keeps.
bool keeps_order(const Node& node, const std::string& value) {
  constexpr std::array kFirstOperand = {"Clip",    "DepthToSpace",  "Expand",    "Flatten",
                                        "Gather",  "GlobalMaxPool", "Identity",  "MaxPool",
                                        "Relu",    "Reshape",       "Slice",     "SpaceToDepth",
                                        "Squeeze", "Tile",          "Transpose", "Unsqueeze"};
  constexpr int64_t kOnnxFloat = 1;
  const auto attribute = [&](const char* name) {
    const auto given = node.attributes.find(name);
    return given == node.attributes.end() ? nullptr : &given->second;
  };
  if (node.outputs.size() != 1) return false;  // places of maxima, which rounding makes equal
  if (node.type == "Concat") return true;
  if (node.inputs.empty() || node.inputs.front() != value) return false;
  // Of reals to floats, as functions of the format begin and end.
  if (node.type == "Cast")
    return attribute("to") != nullptr && attribute("to")->integer() == kOnnxFloat;
  if (node.type == "Resize")
    return attribute("mode") == nullptr || attribute("mode")->text() == "nearest";
  return std::ranges::find(kFirstOperand, node.type) != kFirstOperand.end();
}

// Sixteen bits around 0, as operators of int16 have them: of a range on one side of 0 in steps of twice the size. What is beyond the nearer end
// of the range is that end still.
void move_around_zero(QuantizedAs& as) {
  graph::Quantization& q = as.quantization;
  const auto below = static_cast<double>(q.zero_point[0] - INT16_MIN),
             above = static_cast<double>(INT16_MAX - q.zero_point[0]);
  const double finer = INT16_MAX / std::max(below, above);
  q.scale[0] = static_cast<float>(static_cast<double>(q.scale[0]) / finer);
  q.zero_point[0] = 0;
  if (below < above)
    as.least = -std::llround(below * finer);
  else
    as.most = std::llround(above * finer);
}

}  // namespace

// ---- what follows -------------------------------------------------------------------------------

const Node* Reader::only_reader(const std::string& value) const {
  const auto found = readers_.find(value);
  if (found == readers_.end() || found->second.size() != 1 || results_.contains(value))
    return nullptr;
  return found->second.front();
}

bool Reader::is_read_as_floats() const {
  const std::string& name = node_->outputs[0];
  const auto found = readers_.find(name);
  if (found == readers_.end() || results_.contains(name)) return false;
  constexpr int64_t kOnnxFloat = 1;
  return std::ranges::all_of(found->second, [](const Node* reader) {
    const auto to = reader->attributes.find("to");
    return reader->type == "Cast" && to != reader->attributes.end() &&
           to->second.integer() == kOnnxFloat;
  });
}

std::optional<Values> Reader::known(const std::string& value) const {
  const auto found = values_.find(value);
  if (found == values_.end() || found->second.form != Form::Plain ||
      !is_constant(found->second.tensor))
    return std::nullopt;
  return values_of(found->second.tensor);
}

std::optional<Shape> Reader::declared_shape(const std::string& value) const {
  const auto of = [&](const auto& list) -> std::optional<Shape> {
    for (const format::Named& named : list) {
      if (named.name() != value || !named.kind().tensor().has_extents()) continue;
      Shape shape;
      for (const format::Dimension& dimension : named.kind().tensor().extents().dimension()) {
        if (!dimension.has_extent() || dimension.extent() < 0) return std::nullopt;
        shape.push_back(dimension.extent());
      }
      return shape;
    }
    return std::nullopt;
  };
  const std::optional<Shape> inner = of(file_.graph().value());
  return inner ? inner : of(file_.graph().output());
}

std::vector<const Node*> Reader::readers_of(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? std::vector<const Node*>{} : found->second;
}

TensorId Reader::tensor_of(const std::string& value) const {
  const auto found = values_.find(value);
  return found == values_.end() ? TensorId{} : found->second.tensor;
}

int64_t Reader::elements_of(const std::string& value) const {
  const auto found = values_.find(value);
  return found == values_.end() ? -1 : element_count(tensor(found->second.tensor).shape);
}

const Node* Reader::operator_of(const std::string& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? nullptr : found->second;
}

TensorId Reader::known_tensor(const std::string& value) {
  const auto found = values_.find(value);
  if (found == values_.end() || !is_constant(found->second.tensor)) return {};
  return plain(found->second);
}

TensorId Reader::integers_of(const std::string& value) const {
  const auto found = values_.find(value);
  if (found == values_.end() || found->second.form != Form::Real ||
      is_constant(found->second.tensor))
    return {};
  return found->second.tensor;
}

graph::Activation Reader::activation_of(const Node& node) const {
  if (node.type == "Relu") return graph::Activation::Relu;
  if (node.type != "Clip") return graph::Activation::None;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto limit = [&](size_t operand, const char* attribute, float absent) {
    if (operand < node.inputs.size() && !node.inputs[operand].empty()) {
      const std::optional<Values> values = known(node.inputs[operand]);
      return values && values->bytes.size() == sizeof(float) ? as_reals(*values).front()
                                                             : std::nanf("");
    }
    const auto given = node.attributes.find(attribute);
    return given == node.attributes.end() ? absent : given->second.real();
  };
  const float least = limit(1, "min", -kInfinity), most = limit(2, "max", kInfinity);
  if (least == 0 && most >= std::numeric_limits<float>::max()) return graph::Activation::Relu;
  if (least == 0 && most == 6) return graph::Activation::Relu6;
  if (least == -1 && most == 1) return graph::Activation::ReluN1To1;
  return graph::Activation::None;
}

std::optional<QuantizedAs> Reader::quantized_behind(const std::string& value, int depth) const {
  std::optional<QuantizedAs> found;
  if (results_.contains(value) || depth == 0) return found;
  for (const Node* reader : readers_of(value)) {
    std::optional<QuantizedAs> as;
    if (reader->type == "QuantizeLinear")
      as = quantized_as(*reader);
    else if (keeps_order(*reader, value))
      as = quantized_behind(reader->outputs.front(), depth - 1);
    if (!as || as->quantization.per_channel() || (found && *found != *as)) return std::nullopt;
    found = std::move(as);
  }
  return found;
}

Tail Reader::tail(bool with_activation, const Node* together) {
  Tail result;
  if (together != nullptr) result.absorbed.push_back(together);
  result.name = (together != nullptr ? together : node_)->outputs.front();
  const Node* reader = only_reader(result.name);
  if (reader != nullptr && with_activation) {
    result.activation = activation_of(*reader);
    if (result.activation != graph::Activation::None) {
      result.absorbed.push_back(reader);
      result.name = reader->outputs.front();
    }
  }
  result.as = quantized_behind(result.name);
  return result;
}

void Reader::finish(const Tail& tail, Value value) {
  if (failed_ || !value.tensor.valid()) return;
  absorbed_.insert(tail.absorbed.begin(), tail.absorbed.end());
  function_.tensors[value.tensor.at()].name = printable(tail.name);
  values_[tail.name] = value;
  if (!whole_.empty()) many_axes_[tail.name] = whole_;
}

std::optional<QuantizedAs> Reader::quantized_as(const Node& node) const {
  const std::optional<Values> scale = known(node.inputs[1]);
  const bool has_zero = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::optional<Values> zero = has_zero ? known(node.inputs[2]) : std::nullopt;
  if (!scale || scale->type != kFloat || (has_zero && !zero)) return std::nullopt;
  QuantizedAs as;
  DataType type = has_zero ? zero->type : DataType::UInt8;
  if (node.type == "DequantizeLinear" && !has_zero)
    type = tensor(values_.at(node.inputs[0]).tensor).type;
  if (const auto requested = node.attributes.find("output_dtype");
      requested != node.attributes.end() && !has_zero)
    type = data_type(static_cast<int32_t>(requested->second.integer())).value_or(DataType::Float32);
  if (node.attributes.contains("block_size") && node.attributes.at("block_size").integer() != 0)
    return std::nullopt;
  constexpr std::array kTypes = {DataType::Int4,  DataType::Int8,   DataType::UInt8,
                                 DataType::Int16, DataType::UInt16, DataType::Int32};
  if (std::ranges::find(kTypes, type) == kTypes.end()) return std::nullopt;
  as.shifted = type == DataType::UInt8 || type == DataType::UInt16;
  as.type = type == DataType::UInt8    ? DataType::Int8
            : type == DataType::UInt16 ? DataType::Int16
                                       : type;
  as.quantization.scale = as_reals(*scale);
  const size_t count = as.quantization.scale.size();
  as.quantization.zero_point = has_zero ? as_integers(*zero) : std::vector<int64_t>(count, 0);
  const bool usable =
      count >= 1 && as.quantization.zero_point.size() == count && scale->shape.size() <= 1 &&
      std::ranges::all_of(as.quantization.scale, [](float s) { return std::isnormal(s) && s > 0; });
  if (!usable) return std::nullopt;
  if (as.shifted)
    for (int64_t& zero_point : as.quantization.zero_point) zero_point -= shift_of(as.type);
  if (count > 1) {
    const auto given = node.attributes.find("axis");
    int64_t axis = given == node.attributes.end() ? 1 : given->second.integer();
    const auto source = values_.find(node.inputs[0]);
    if (source == values_.end()) return std::nullopt;
    const Shape& shape = tensor(source->second.tensor).shape;
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    const bool fits = axis >= 0 && axis < static_cast<int64_t>(shape.size()) &&
                      shape[static_cast<size_t>(axis)] == static_cast<int64_t>(count);
    if (!fits) return std::nullopt;
    as.quantization.axis = static_cast<int32_t>(axis);
  }
  const bool around_zero = as.type != DataType::Int16 || as.quantization.zero_point[0] == 0;
  if (count == 1 && !around_zero && !options_.widen_weights && is_between_reals(node))
    move_around_zero(as);
  return as;
}

bool Reader::is_between_reals(const Node& node) const {
  const bool quantises = node.type == "QuantizeLinear";
  const std::string& value = quantises ? node.outputs.front() : node.inputs.front();
  const Node* maker = operator_of(value);
  if (maker == nullptr || maker->type != "QuantizeLinear" || results_.contains(value)) return false;
  const auto same = [&](const Node& reader, size_t operand) {
    const auto name = [&](const Node& of) {
      return operand < of.inputs.size() ? of.inputs[operand] : std::string();
    };
    if (name(reader) == name(*maker)) return true;
    const std::optional<Values> a = known(name(reader)), b = known(name(*maker));
    return a && b && a->type == b->type && a->bytes == b->bytes;
  };
  return std::ranges::all_of(readers_of(value), [&](const Node* reader) {
    return reader->type == "DequantizeLinear" && same(*reader, 1) && same(*reader, 2);
  });
}

bool Reader::state_quantization(TensorId id, const graph::Quantization& quantization) {
  graph::Tensor& stated = function_.tensors[id.at()];
  if (stated.quantization.present()) return stated.quantization == quantization;
  stated.quantization = quantization;
  // What only moved elements had no other, as long as nobody computes with it.
  const graph::Node* maker = maker_of(id);
  constexpr std::array kMoving = {graph::OpKind::Transpose, graph::OpKind::Reshape,
                                  graph::OpKind::Gather, graph::OpKind::Slice};
  if (maker == nullptr || std::ranges::find(kMoving, maker->kind) == kMoving.end()) return true;
  const TensorId from = maker->inputs[0];
  const graph::Tensor& moved = tensor(from);
  if (moved.type == stated.type && !moved.quantization.present() && is_only_moved(from))
    state_quantization(from, quantization);
  return true;
}

bool Reader::is_only_moved(TensorId id) const {
  constexpr std::array kMoves = {"DequantizeLinear", "Flatten",  "Gather", "Identity",
                                 "Reshape",          "Slice",    "Split",  "Squeeze",
                                 "Transpose",        "Unsqueeze"};
  // The tensor's name is the file's in what is shown, which may be shorter.
  return std::ranges::all_of(values_, [&](const auto& named) {
    const auto& [name, value] = named;
    return value.tensor != id || std::ranges::all_of(readers_of(name), [&](const Node* reader) {
             return reader->inputs.front() == name &&
                    std::ranges::find(kMoves, reader->type) != kMoves.end();
           });
  });
}

// ---- attempts -----------------------------------------------------------------------------------

Reader::State Reader::begin_attempt() {
  attempting_ = true;
  return {function_.tensors.size(), function_.nodes.size(), module_.constants.size(), failed_};
}

TensorId Reader::end_attempt(const State& before, TensorId made) {
  attempting_ = false;
  if (!failed_ && made.valid()) {
    for (size_t i = before.nodes; i < function_.nodes.size(); ++i)
      function_.nodes[i].name = names_.take(function_.nodes[i].name);
    return made;
  }
  failed_ = before.failed;
  function_.tensors.resize(before.tensors);
  function_.nodes.resize(before.nodes);
  module_.constants.resize(before.constants);
  for (auto& [name, value] : values_)
    if (value.plain.valid() && value.plain.at() >= before.tensors) value.plain = {};
  for (auto& [key, id] : made_along_)
    if (id.valid() && id.at() >= before.tensors) id = {};
  return {};
}

}  // namespace intarsia::onnx
