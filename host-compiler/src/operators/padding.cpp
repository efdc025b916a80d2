// Padding: with zero points, with a value, with what lies at the edge mirrored.
#include <fmt/format.h>

#include <cstring>

#include "operators/evaluation/moved_elements.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"
#include "operators/lowering/strided_copy.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_pad_extents(OpCheck& check) {
  const auto& a = check.node.attrs<PadAttrs>();
  const Shape& input = check.in(0).shape;
  if (!check.require(a.before.size() == input.size() && a.after.size() == input.size(),
                     fmt::format("has {} and {} amounts of padding for rank {}", a.before.size(),
                                 a.after.size(), input.size())))
    return {};
  Shape output = input;
  for (size_t i = 0; i < input.size(); ++i)
    if (check.in_range("padding before", a.before[i], 0) &&
        check.in_range("padding after", a.after[i], 0))
      output[i] += a.before[i] + a.after[i];
  return {output};
}

Shapes infer_pad(OpCheck& check) {
  if (check.out().quantization.present()) check.per_tensor(check.out(), "output");
  return infer_pad_extents(check);
}

Shapes infer_pad_v2(OpCheck& check) {
  moves(check);
  check.require(element_count(check.in(1).shape) == 1, "the value is no scalar");
  check.require(check.in(1).constant.valid(), "the value is no constant");
  check.require(check.in(1).type == check.in(0).type,
                fmt::format("the value is {}, what is padded {}", to_string(check.in(1).type),
                            to_string(check.in(0).type)));
  return infer_pad_extents(check);
}

Shapes infer_mirror_pad(OpCheck& check) {
  const auto& a = check.node.attrs<MirrorPadAttrs>();
  Shape result = check.in(0).shape;
  if (!moves(check) || !per_axis(check, "before", a.before, result.size()) ||
      !per_axis(check, "after", a.after, result.size()))
    return {};
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t most = result[i] - (a.symmetric ? 0 : 1);
    const bool fits =
        a.before[i] >= 0 && a.before[i] <= most && a.after[i] >= 0 && a.after[i] <= most;
    check.require(fits, fmt::format("mirrors {} and {} elements of axis {}, 0 to {} are there",
                                    a.before[i], a.after[i], i, most));
    if (fits) result[i] += a.before[i] + a.after[i];
  }
  return {result};
}

void pad(const Invocation& call, const uint8_t* fill) {
  const auto& a = call.node.attrs<PadAttrs>();
  const Shape& in = call.in().shape;
  const auto source = [&](Shape at) -> int64_t {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] -= a.before[axis];
      if (at[axis] < 0 || at[axis] >= in[axis]) return -1;
    }
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source, fill);
}

Result<void> eval_mirror_pad(const Invocation& call) {
  const auto& a = call.node.attrs<MirrorPadAttrs>();
  const Shape& in = call.in().shape;
  const int64_t edge = a.symmetric ? 0 : 1;
  const auto source = [&](Shape at) {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      int64_t& i = at[axis];
      i -= a.before[axis];
      if (i < 0) i = -i - 1 + edge;
      if (i >= in[axis]) i = 2 * in[axis] - 1 - i - edge;
    }
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source);
  return {};
}

Result<void> eval_pad(const Invocation& call) {
  if (bits(call.type()) % 8 != 0) return unsupported_types(call);
  const int64_t zero = call.out().quantization.present() ? call.out_zero_point() : 0;
  pad(call, reinterpret_cast<const uint8_t*>(&zero));  // little-endian: the low bytes
  return {};
}

Result<void> eval_pad_v2(const Invocation& call) {
  pad(call, call.inputs[1]);
  return {};
}

Stmt pad_with(OpLowering& op, const Expr& value) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<PadAttrs>();
  const Shape& in = v.in(0).shape;
  // An axis without padding is part of the one before it.
  Shape inner;
  std::vector<int64_t> before;
  Shape padded;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const int64_t low = attrs.before[axis], extent = v.out().shape[axis];
    if (inner.empty() || low != 0 || extent != in[axis]) {
      inner.push_back(in[axis]), before.push_back(low), padded.push_back(extent);
    } else {
      inner.back() *= in[axis], before.back() *= in[axis], padded.back() *= in[axis];
    }
  }
  if (inner.empty()) inner = {1}, before = {0}, padded = {1};
  op.declare({inner}, Shape{element_count(padded)});
  const Stmt fill = b.loop("i", element_count(padded),
                           [&](const Expr& i) { return b.store(op.out(), {i}, value); });
  const Stmt copy = nested_loops(b, inner, [&](const std::vector<Expr>& indices) {
    Expr place = tir::int_imm(0);
    for (size_t axis = 0; axis < padded.size(); ++axis) {
      place = place * padded[axis] + (indices[axis] + before[axis]);
    }
    return b.store(op.out(), {place}, b.load(op.in(0), indices));
  });
  return tir::seq({tir::with_comment("everything, then the part that is not padding", fill), copy});
}

Stmt lower_pad(OpLowering& op) {
  return pad_with(op, zero_of(op.view.out()));
}

Stmt lower_pad_v2(OpLowering& op) {
  const OpView& v = op.view;
  const DataType type = v.out().type;
  if (type == Bool) return pad_with(op, tir::int_imm(v.stored_bytes(1)[0] != 0 ? 1 : 0, type));
  if (is_integer(type)) return pad_with(op, tir::int_imm(v.values(1)[0], type));
  float value = 0;
  std::memcpy(&value, v.stored_bytes(1).data(), sizeof value);
  return pad_with(op, tir::float_imm(value));
}

Refusal refuses_pad_v2(const OpView& view) {
  if (!view.is_constant(1)) return "the value is no constant";
  if (bits(view.out().type) > 32) return unsupported_types_text(view);
  return std::nullopt;
}

// Each axis has up to three parts: mirrored before, itself, mirrored after.
Stmt lower_mirror_pad(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<MirrorPadAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const std::vector<int64_t> from = dense_strides(in), to = dense_strides(out);
  const int64_t edge = attrs.symmetric ? 0 : 1;
  std::vector<StridedCopy> parts{{{}, 0, {}, 0, {}}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<StridedCopy> next;
    const auto add = [&](int64_t count, int64_t first_from, int64_t step, int64_t first_to) {
      if (count == 0) return;
      for (StridedCopy part : parts) {
        part.extents.push_back(count);
        part.from_offset += first_from * from[axis];
        part.from_strides.push_back(step * from[axis]);
        part.to_offset += first_to * to[axis];
        part.to_strides.push_back(to[axis]);
        next.push_back(std::move(part));
      }
    };
    const int64_t before = attrs.before[axis], after = attrs.after[axis], extent = in[axis];
    add(before, before - 1 + edge, -1, 0);
    add(extent, 0, 1, before);
    add(after, extent - 1 - edge, -1, before + extent);
    parts = std::move(next);
  }
  declare_flat(op);
  std::vector<Stmt> copies;
  for (const StridedCopy& part : parts)
    copies.push_back(strided_copy(op.b, op.in(0), op.out(), part));
  return tir::seq(std::move(copies));
}

constexpr TypeRule kPadTypes[] = {
    {Int8, Int8}, {UInt8, UInt8}, {Int16, Int16}, {Int32, Int32}, {Float32, Float32}};

ChannelRule padded_channels(const Function& function, const Node& node) {
  const Tensor& input = function.tensor(node.inputs[0]);
  if (is_constant(function, node, 0) || !is_constant(function, node, 1) || input.shape.empty())
    return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  const int64_t before = node.attrs<PadAttrs>().before.back();
  for (int64_t k = 0; k < channel_count(input); ++k) rule.ties.push_back({0, k, before + k});
  return rule;
}

constexpr Operator kPaddingOperators[] = {
    {.kind = OpKind::Pad,
     .types = kPadTypes,
     .infer = infer_pad,
     .evaluate = eval_pad,
     .lower = lower_pad,
     .channels = padded_channels},
    {.kind = OpKind::PadV2,
     .infer = infer_pad_v2,
     .evaluate = eval_pad_v2,
     .lower = lower_pad_v2,
     .refuses = refuses_pad_v2,
     .channels = padded_channels},
    {.kind = OpKind::MirrorPad,
     .infer = infer_mirror_pad,
     .evaluate = eval_mirror_pad,
     .lower = lower_mirror_pad},
};

}  // namespace

std::span<const Operator> padding_operators() {
  return kPaddingOperators;
}

}  // namespace intarsia::operators
