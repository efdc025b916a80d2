// Updates of the slices that indices name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "intarsia/plugin/fixed_point.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

// The output as slices: how many there are along each of the axes that a row of indices names, and their elements.
struct Slices {
  Shape places;
  int64_t rows, run;
};

Slices slices_of(const Shape& shape, const Shape& indices) {
  const auto depth = static_cast<size_t>(indices.back());
  return {Shape(shape.begin(), shape.begin() + indices.back()),
          product(indices, 0, indices.size() - 1), product(shape, depth, shape.size())};
}

bool reduces(DataType type, std::string_view reduction) {
  if (reduction == "none") return true;
  if (reduction == "max" || reduction == "min")
    return type == Int8 || type == Int16 || type == Int32 || type == Float32;
  return (reduction == "add" || reduction == "mul") && (type == Int32 || type == Float32);
}

Shapes infer_scatter_nd(OpCheck& check) {
  const auto& a = check.node.attrs<ScatterAttrs>();
  const Tensor &data = check.in(0), &indices = check.in(1), &updates = check.in(2);
  if (!moves_one_type(check)) return {};
  check.require(updates.type == data.type, "the updates have another type than the operand");
  check.require(data.quantization == check.out().quantization &&
                    updates.quantization == check.out().quantization,
                "operand, updates and output have to have the same quantisation");
  check.require(indices.type == Int32,
                fmt::format("the indices have to be i32, but are {}", to_string(indices.type)));
  check.require(reduces(data.type, a.reduction),
                fmt::format("has no reduction '{}' of {}", a.reduction, to_string(data.type)),
                "none takes every type, max and min i8, i16, i32 and f32, add and mul i32 and f32");
  check.require(data.shape == a.shape || element_count(data.shape) == 1,
                fmt::format("the operand has the shape [{}], but has to have [{}] or one element",
                            fmt::join(data.shape, ","), fmt::join(a.shape, ",")));
  if (!check.require(!indices.shape.empty() && indices.shape.back() >= 1 &&
                         indices.shape.back() <= std::ssize(a.shape),
                     fmt::format("indices of [{}] do not name places of [{}]",
                                 fmt::join(indices.shape, ","), fmt::join(a.shape, ","))))
    return {};
  Shape wanted(indices.shape.begin(), indices.shape.end() - 1);
  wanted.insert(wanted.end(), a.shape.begin() + indices.shape.back(), a.shape.end());
  check.require(updates.shape == wanted,
                fmt::format("the updates have the shape [{}], but [{}] are needed",
                            fmt::join(updates.shape, ","), fmt::join(wanted, ",")));
  return {a.shape};
}

// Calls f with the slice of every row that names one.
template <typename F>
void for_each_slice(const Invocation& call, const Slices& slices, F&& f) {
  const size_t depth = slices.places.size();
  for (int64_t row = 0; row < slices.rows; ++row) {
    int64_t place = 0;
    bool inside = true;
    for (size_t axis = 0; axis < depth; ++axis) {
      const int32_t index = call.data<int32_t>(1)[static_cast<size_t>(row) * depth + axis];
      inside &= index >= 0 && index < slices.places[axis];
      place = place * slices.places[axis] + index;
    }
    if (inside) f(row, place);
  }
}

template <typename T>
void reduce_rows(const Invocation& call, const Slices& slices, T (*step)(T, T)) {
  for_each_slice(call, slices, [&](int64_t row, int64_t place) {
    for (int64_t i = 0; i < slices.run; ++i) {
      T& to = call.result<T>()[place * slices.run + i];
      to = step(to, call.data<T>(2)[row * slices.run + i]);
    }
  });
}

// The second operand where either of them is not a number, as of minimum and maximum.
template <typename T>
void reduce_extreme(const Invocation& call, const Slices& slices, bool largest) {
  if (largest)
    reduce_rows<T>(call, slices, [](T a, T b) { return a > b ? a : b; });
  else
    reduce_rows<T>(call, slices, [](T a, T b) { return a < b ? a : b; });
}

Result<void> eval_scatter_nd(const Invocation& call) {
  const auto& a = call.node.attrs<ScatterAttrs>();
  const Slices slices = slices_of(a.shape, call.in(1).shape);
  const auto size = static_cast<size_t>(bits(call.type()) / 8);
  const auto count = static_cast<size_t>(element_count(a.shape));
  const bool whole = call.in().shape == a.shape;
  for (size_t i = 0; i < count; ++i)
    std::memcpy(call.outputs[0] + i * size, call.inputs[0] + (whole ? i * size : 0), size);
  const size_t bytes = size * static_cast<size_t>(slices.run);
  if (a.reduction == "none") {
    for_each_slice(call, slices, [&](int64_t row, int64_t place) {
      std::memcpy(call.outputs[0] + static_cast<size_t>(place) * bytes,
                  call.inputs[2] + static_cast<size_t>(row) * bytes, bytes);
    });
  } else if (a.reduction == "add") {
    if (call.type() == Int32)
      reduce_rows<int32_t>(call, slices, wrapping_add);
    else
      reduce_rows<float>(call, slices, [](float x, float y) { return x + y; });
  } else if (a.reduction == "mul") {
    if (call.type() == Int32)
      reduce_rows<int32_t>(call, slices, wrapping_mul);
    else
      reduce_rows<float>(call, slices, [](float x, float y) { return x * y; });
  } else {
    const bool largest = a.reduction == "max";
    if (call.type() == Int8)
      reduce_extreme<int8_t>(call, slices, largest);
    else if (call.type() == Int16)
      reduce_extreme<int16_t>(call, slices, largest);
    else if (call.type() == Int32)
      reduce_extreme<int32_t>(call, slices, largest);
    else
      reduce_extreme<float>(call, slices, largest);
  }
  return {};
}

// What is there and an update, as one. Whole numbers wrap around.
Expr joined(std::string_view reduction, DataType type, Expr there, Expr update) {
  if (reduction == "none") return update;
  if (reduction == "max" || reduction == "min") {
    if (type == Float32 || type == Int32)
      return reduction == "max" ? tir::max(std::move(there), std::move(update))
                                : tir::min(std::move(there), std::move(update));
    const Expr a = to_i32(std::move(there)), b = to_i32(std::move(update));
    return tir::cast(type, reduction == "max" ? tir::max(a, b) : tir::min(a, b));
  }
  const tir::BinaryOp operation = reduction == "add" ? tir::BinaryOp::Add : tir::BinaryOp::Mul;
  if (type == Float32) return tir::binary(operation, std::move(there), std::move(update));
  return tir::cast(Int32, tir::binary(operation, tir::cast(UInt32, std::move(there)),
                                      tir::cast(UInt32, std::move(update))));
}

Stmt lower_scatter_nd(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<ScatterAttrs>();
  const Slices slices = slices_of(attrs.shape, v.in(1).shape);
  const size_t depth = slices.places.size();
  const bool whole = v.in(0).shape == attrs.shape;
  Shape folded = slices.places;
  folded.push_back(slices.run);
  op.declare({whole ? folded : Shape{1}, Shape{slices.rows, std::ssize(slices.places)},
              Shape{slices.rows, slices.run}},
             folded);
  const Stmt copy = nested_loops(b, folded, [&](const std::vector<Expr>& at) {
    return b.store(op.out(), at, b.load(op.in(0), whole ? at : std::vector<Expr>{tir::int_imm(0)}));
  });
  const Stmt rows = b.loop("row", slices.rows, [&](const Expr& row) {
    std::vector<Expr> place;
    const std::function<Stmt()> update = [&]() -> Stmt {
      const size_t axis = place.size();
      if (axis == depth) {
        return b.loop("i", slices.run, [&](const Expr& i) {
          std::vector<Expr> to = place;
          to.push_back(i);
          return b.store(op.out(), to,
                         joined(attrs.reduction, v.out().type, b.load(op.out(), to),
                                b.load(op.in(2), {row, i})));
        });
      }
      const int64_t most = slices.places[axis] - 1;
      const Expr index = b.load(op.in(1), {row, tir::int_imm(static_cast<int64_t>(axis))});
      return b.let("index", index, [&](const Expr& at) {
        const Expr inside = tir::max(tir::min(at, tir::int_imm(most)), tir::int_imm(0));
        place.push_back(inside);
        return tir::if_then(tir::binary(tir::BinaryOp::Eq, at, inside), update());
      });
    };
    return update();
  });
  return tir::seq({copy, tir::with_comment("rows that name a place outside change nothing", rows)});
}

constexpr Operator kScatterOperators[] = {
    {.kind = OpKind::ScatterNd,
     .infer = infer_scatter_nd,
     .evaluate = eval_scatter_nd,
     .lower = lower_scatter_nd},
};

}  // namespace

std::span<const Operator> scatter_operators() {
  return kScatterOperators;
}

}  // namespace intarsia::operators
