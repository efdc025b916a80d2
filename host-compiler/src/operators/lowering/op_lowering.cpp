#include "intarsia/plugin/op_lowering.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"

namespace intarsia::operators {

// ---- constants ----------------------------------------------------------------------------------

ConstantId ConstantPool::add(tir::Constant constant) {
  constant.name = names_.take(constant.name);
  module_.constants.push_back(std::move(constant));
  return ConstantId{static_cast<int32_t>(module_.constants.size()) - 1};
}

ConstantId ConstantPool::weights(ConstantId source, DataType type, const Shape& shape,
                                 const std::string& name) {
  const Known known{source, type, shape};
  if (const auto found = known_.find(known); found != known_.end()) return found->second;
  const SharedBytes& bytes = graph_.constant(source).bytes;
  const bool packed = type == DataType::Int4;
  const ConstantId id =
      add({name, packed ? DataType::Int8 : type, shape,
           packed ? SharedBytes(unpacked_int4(bytes, element_count(shape))) : bytes,
           tir::ConstantUse::Weights});
  known_.emplace(known, id);
  return id;
}

ConstantId ConstantPool::table(DataType type, const std::vector<int64_t>& values,
                               const std::string& name, tir::ConstantUse use) {
  std::vector<uint8_t> bytes;
  const int size = bits(type) / 8;
  for (const int64_t value : values) {
    for (int byte = 0; byte < size; ++byte) {
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
    }
  }
  return add({name, type, {static_cast<int64_t>(values.size())}, std::move(bytes), use});
}

Expr Table::at(const FuncBuilder& b, const Expr& index, DataType type) const {
  if (!buffer_.valid()) return tir::int_imm(value_, type);
  const Expr value = b.load(buffer_, {index});
  return value->type == type ? value : tir::cast(type, value);
}

// ---- operands -----------------------------------------------------------------------------------

void OpLowering::declare(const std::vector<std::optional<Shape>>& inputs,
                         const std::vector<Shape>& outputs) {
  static const char* const kInputNames[] = {"input", "input_b", "input_c"};
  const bool two_inputs = inputs.size() > 1 && inputs[1] && !view.is_constant(1);
  inputs_.resize(inputs.size());
  const auto is_written = [&](graph::TensorId id) {
    return std::find(view.node.outputs.begin(), view.node.outputs.end(), id) !=
           view.node.outputs.end();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !view.has(i) || view.is_constant(i)) continue;
    const graph::TensorId id = view.node.inputs[i];
    const auto seen = std::find(parameters_.begin(), parameters_.end(), id);
    const graph::Tensor& tensor = view.in(i);
    INTARSIA_CHECK(element_count(*inputs[i]) == element_count(tensor.shape),
                   "an operand's buffer has its elements");
    if (seen != parameters_.end()) {  // read twice: one parameter
      inputs_[i] = BufferId{static_cast<int32_t>(seen - parameters_.begin())};
      continue;
    }
    const bool is_state = is_written(id);
    std::string name = i < std::size(kInputNames) ? kInputNames[i] : fmt::format("input{}", i);
    if (i == 0 && two_inputs) name = "input_a";
    if (is_state) name = fmt::format("state{}", i);
    inputs_[i] = b.parameter(name, tensor.type, *inputs[i],
                             is_state ? tir::Access::ReadWrite : tir::Access::Read);
    parameters_.push_back(id);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const graph::TensorId id = view.node.outputs[i];
    INTARSIA_CHECK(element_count(outputs[i]) == element_count(view.out(i).shape),
                   "an operand's buffer has its elements");
    const std::string name = i == 0 ? "output" : fmt::format("output{}", i);
    outputs_.push_back(b.parameter(name, view.out(i).type, outputs[i], tir::Access::Write));
    parameters_.push_back(id);
  }
  static const char* const kConstantNames[] = {"a", "weights", "bias"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !view.is_constant(i)) continue;
    const graph::Tensor& tensor = view.in(i);
    const std::string role =
        i < std::size(kConstantNames) ? kConstantNames[i] : fmt::format("constant{}", i);
    const ConstantId id =
        pool_.weights(tensor.constant, tensor.type, *inputs[i], name_ + "_" + role);
    inputs_[i] = b.constant(role, view.stored_type(i), *inputs[i], id);
  }
}

// Each run of `lanes` rows becomes columns of as many elements. Large networks have hundreds of megabytes of them: whole elements are
// moved.
template <size_t kBytes>
static void interleave(std::span<const uint8_t> from, size_t lanes, size_t columns,
                       std::span<uint8_t> to) {
  const size_t row = columns * kBytes;
  for (size_t block = 0; block + lanes * row <= from.size(); block += lanes * row)
    for (size_t lane = 0; lane < lanes; ++lane)
      for (size_t column = 0; column < columns; ++column)
        std::memcpy(&to[block + (column * lanes + lane) * kBytes],
                    &from[block + lane * row + column * kBytes], kBytes);
}

BufferId OpLowering::interleaved_weights(size_t input, int64_t lanes, const Shape& extents) {
  const DataType type = view.stored_type(input);
  const std::vector<uint8_t> from = view.stored_bytes(input);
  const auto element = static_cast<size_t>(bits(type)) / 8;
  const auto width = static_cast<size_t>(lanes);
  const size_t columns = from.size() / static_cast<size_t>(extents[0]) / width / element;
  std::vector<uint8_t> bytes(from.size());
  switch (element) {
    case 1:
      interleave<1>(from, width, columns, bytes);
      break;
    case 2:
      interleave<2>(from, width, columns, bytes);
      break;
    case 4:
      interleave<4>(from, width, columns, bytes);
      break;
    default:
      INTARSIA_CHECK(false, "weights have elements of one, two or four bytes");
  }
  const ConstantId id =
      pool_.add({name_ + "_weights", type, extents, std::move(bytes), tir::ConstantUse::Weights});
  return b.constant("weights", type, extents, id);
}

BufferId OpLowering::raw_table(const std::string& role, DataType type, const Shape& extents,
                               std::vector<uint8_t> bytes) {
  const ConstantId id =
      pool_.add({name_ + "_" + role, type, extents, std::move(bytes), tir::ConstantUse::Table});
  return b.constant(role, type, extents, id);
}

BufferId OpLowering::constant(const std::string& role, DataType type, const Shape& extents,
                              std::vector<uint8_t> bytes, tir::ConstantUse use) {
  const ConstantId id = pool_.add({name_ + "_" + role, type, extents, std::move(bytes), use});
  return b.constant(role, type, extents, id);
}

Table OpLowering::table(const std::string& role, DataType type, const std::vector<int64_t>& values,
                        tir::ConstantUse use) {
  INTARSIA_CHECK(!values.empty(), "a table has values");
  if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; })) {
    return Table(values[0]);
  }
  const ConstantId id = pool_.table(type, values, name_ + "_" + role, use);
  return Table(b.constant(role, type, {static_cast<int64_t>(values.size())}, id));
}

Requantizer OpLowering::requantizer(const std::vector<Multiplier>& multipliers, int64_t zero_point,
                                    Range range, DataType type, bool wide) {
  if (wide) {
    std::vector<int64_t> values, shifts;
    for (const Multiplier m : multipliers) {
      values.push_back(wide_multiplier(m).value);
      shifts.push_back(wide_multiplier(m).shift);
    }
    return {table("multiplier", DataType::Int16, values),
            table("shift", DataType::Int8, shifts),
            true,
            false,
            true,
            zero_point,
            range,
            type};
  }
  const bool right_only = std::all_of(multipliers.begin(), multipliers.end(),
                                      [](Multiplier m) { return m.shift <= 0; });
  const bool identity = std::all_of(multipliers.begin(), multipliers.end(), is_identity);
  std::vector<int64_t> values, shifts;
  for (const Multiplier m : multipliers) {
    values.push_back(m.value);
    shifts.push_back(right_only ? -m.shift : m.shift);
  }
  return {identity ? Table(int64_t{0}) : table("multiplier", DataType::Int32, values),
          identity ? Table(int64_t{0}) : table("shift", DataType::Int8, shifts),
          right_only,
          identity,
          false,
          zero_point,
          range,
          type};
}

void OpLowering::allow_in_place() {
  const auto output = static_cast<int32_t>(parameters_.size()) - 1;
  const tir::Buffer& to = b.func().buffer(outputs_.at(0));
  for (int32_t i = 0; i < output; ++i) {
    const tir::Buffer& from = b.func().buffer(BufferId{i});
    if (bits(from.type) == bits(to.type) && from.extents == to.extents)
      b.func().in_place.push_back({i, output});
  }
}

// ---- expressions --------------------------------------------------------------------------------

Expr to_i32(Expr value) {
  return value->type == DataType::Int32 ? value : tir::cast(DataType::Int32, std::move(value));
}

Expr clamp(Expr value, Range range, DataType narrowed_to) {
  const Range whole = type_range(DataType::Int32);
  const bool low = range.low > whole.low, high = range.high < whole.high;
  if (low && high) {
    value = tir::call(DataType::Int32, "intarsia_clamp_i32",
                      {std::move(value), tir::int_imm(range.low), tir::int_imm(range.high)});
  } else if (high) {
    value = tir::min(std::move(value), tir::int_imm(range.high));
  } else if (low) {
    value = tir::max(std::move(value), tir::int_imm(range.low));
  }
  return narrowed_to == DataType::Int32 ? value : tir::cast(narrowed_to, std::move(value));
}

// What is not a number stays that: min and max give their second operand then.
Expr clamp(Expr value, const FloatRange& range) {
  if (range.high) value = tir::min(tir::float_imm(*range.high), std::move(value));
  if (range.low) value = tir::max(tir::float_imm(*range.low), std::move(value));
  return value;
}

namespace {

Expr requantize_call(Expr value, Expr multiplier, Expr shift, bool right_only) {
  return tir::call(DataType::Int32,
                   right_only ? "intarsia_requantize_right" : "intarsia_requantize",
                   {std::move(value), std::move(multiplier), std::move(shift)});
}

}  // namespace

Expr requantize(Expr value, Multiplier m) {
  if (is_identity(m)) return value;
  if (m.shift > 0) {
    return requantize_call(std::move(value), tir::int_imm(m.value), tir::int_imm(m.shift), false);
  }
  return requantize_call(std::move(value), tir::int_imm(m.value), tir::int_imm(-m.shift), true);
}

Expr requantize_wide(Expr value, Multiplier m) {
  const WideMultiplier wide = wide_multiplier(m);
  return tir::call(DataType::Int32, "intarsia_requantize_wide",
                   {std::move(value), tir::int_imm(wide.value), tir::int_imm(wide.shift)});
}

Expr Requantizer::operator()(const FuncBuilder& b, Expr value, const Expr& channel) const {
  if (wide) {
    value = tir::call(DataType::Int32, "intarsia_requantize_wide",
                      {std::move(value), multiplier.at(b, channel), shift.at(b, channel)});
  } else if (!identity) {
    value = requantize_call(std::move(value), multiplier.at(b, channel), shift.at(b, channel),
                            right_only);
  }
  return clamp(std::move(value) + zero_point, range, type);
}

Stmt accumulate(const FuncBuilder& b, BufferId acc, Expr value) {
  return b.store(acc, {}, b.load(acc) + std::move(value));
}

Expr centred(Expr value, const graph::Tensor& tensor) {
  return to_i32(std::move(value)) - zero_point(tensor);
}

Expr finished(const OpView& v, Expr value) {
  return clamp(std::move(value) + zero_point(v.out()), type_range(v.out().type), v.out().type);
}

Expr zero_of(const graph::Tensor& tensor) {
  if (tensor.type == DataType::Float32) return tir::float_imm(0.0f);
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  return tir::int_imm(zero, tensor.type);
}

Range activation_limits(const OpView& v, graph::Activation activation) {
  const graph::Quantization& q = v.out().quantization;
  return activation_range(activation, v.out().type, q.scale[0], q.zero_point[0]);
}

Expr rescaled(const OpView& v, Expr value, double factor, Range range) {
  value = requantize(centred(std::move(value), v.in(0)), quantize_multiplier(factor));
  return clamp(std::move(value) + zero_point(v.out()), range, v.out().type);
}

}  // namespace intarsia::operators
