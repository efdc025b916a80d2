#include "legalise/wide.h"

#include <algorithm>
#include <cstdint>

#include "hardware/limits.h"

namespace intarsia::targets::ethos_u {

Extent packed(const Extent& extent) {
  // Blocks are of two rows and two columns at most; bricks have 16 channels.
  constexpr int64_t kPixels = 2, kChannels = 16;
  const auto up = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  const auto work_of = [&](int64_t height, int64_t width, int64_t depth) {
    return up(height, kPixels) * up(width, kPixels) * up(depth, kChannels);
  };
  const int64_t count = extent.elements(), own = work_of(extent.height, extent.width, extent.depth);
  Extent best = extent;
  int64_t least = own;
  for (int64_t depth = std::min(count, kMostExtent); depth > 0; --depth) {
    if (count % depth != 0) continue;
    const int64_t width = count / depth % kPixels == 0 ? kPixels : 1,
                  height = count / depth / width;
    const int64_t work = work_of(height, width, depth);
    if (height > kMostExtent || work >= own || work > least) continue;
    least = work;
    best = {static_cast<int32_t>(height), static_cast<int32_t>(width), static_cast<int32_t>(depth)};
  }
  return best;
}

Operand wide_constant(Builder& builder, int32_t value) {
  return builder.filled(DataType::Int32, {1, 1, 1}, value);
}

Operation wide_operation(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
                         const Operand& out, int shift) {
  Operation op = builder.start(kind, a, out);
  op.ifm2 = b;
  op.ifm2_type = DataType::Int32;
  if (kind == OperationKind::Mul || kind == OperationKind::Add || kind == OperationKind::Sub) {
    op.global_scale = ChannelScale{.multiplier = 1, .shift = shift};
    op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
  }
  return op;
}

Operand wide(Builder& builder, OperationKind kind, const Operand& a, const Operand& b, int shift) {
  const Operand out = builder.inner("wide", DataType::Int32, a.extent);
  builder.emit(wide_operation(builder, kind, a, b, out, shift));
  return out;
}

Operand wide_shifted(Builder& builder, const Operand& x, int32_t right, Rounding rounding) {
  const Operand out = builder.inner("shifted", DataType::Int32, x.extent);
  Operation op = wide_operation(builder, OperationKind::ShiftRight, packed(builder, x),
                                wide_constant(builder, right), packed(builder, out));
  op.rounding = rounding;
  builder.emit(std::move(op));
  return out;
}

Operand wide_difference(Builder& builder, int32_t value, const Operand& b) {
  const Operand out = builder.inner("wide", DataType::Int32, b.extent);
  Operation op = wide_operation(builder, OperationKind::Sub, b, wide_constant(builder, value), out);
  op.reverse_operands = true;
  builder.emit(std::move(op));
  return out;
}

Operand wide_product(Builder& builder, const Operand& a, const FixedFactor& factor) {
  return wide(builder, OperationKind::Mul, a, wide_constant(builder, factor.value),
              31 - factor.exponent);
}

Operand widened(Builder& builder, const Operand& x, int shift) {
  const Operand out = builder.inner("wide", DataType::Int32, x.extent);
  Operation op = builder.start(OperationKind::Mul, x, out);
  op.ifm2_scalar = 1;
  op.ifm2_type = builder.program().tensors.at(static_cast<size_t>(x.tensor)).type;
  op.global_scale = ChannelScale{.multiplier = uint32_t{1} << shift};
  builder.emit(std::move(op));
  return out;
}

Operand near_constant(Builder& builder, const Operand& x) {
  const NpuTensor& tensor = builder.program().tensors.at(static_cast<size_t>(x.tensor));
  if (tensor.kind != NpuTensor::Kind::Constant || x.extent.elements() == 1) return x;
  const DataType type = tensor.type;
  const Operand near = builder.inner(tensor.name, type, x.extent, x.zero_point);
  builder.copy(x, near);
  return near;
}

LookUpTable wide_words(std::string name, const std::vector<int32_t>& values) {
  LookUpTable table{std::move(name), {}};
  for (const int32_t value : values)
    for (int byte = 0; byte < 4; ++byte)
      table.bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(value) >> (8 * byte)));
  return table;
}

int32_t wide_table(Builder& builder, std::string name, const std::vector<int32_t>& values) {
  return builder.table(wide_words(std::move(name), values));
}

Operand wide_looked_up(Builder& builder, const Operand& x, int32_t table) {
  const Operand out = builder.inner("wide", DataType::Int32, x.extent);
  Operation op = builder.start(OperationKind::Mul, x, out);
  op.ifm.zero_point = 0;
  op.ifm2_scalar = 1;
  op.ifm2_type = builder.type_of(x);
  op.global_scale = ChannelScale{.multiplier = 1};
  look_up_wide(op, table);
  builder.emit(std::move(op));
  return out;
}

void look_up_wide(Operation& op, int32_t table) {
  op.activation = Activation::Lut;
  op.lut = table;
  op.force_int8_lut_range = true;
  op.clamp_low = -128;
  op.clamp_high = 127;
}

}  // namespace intarsia::targets::ethos_u
