// What the lowering of one operator is written with: its operands as buffers of a kernel function,
// tables for it, and the pieces of arithmetic that families share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "intarsia/plugin/op_view.h"
#include "intarsia/plugin/quantization.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/unique_names.h"

namespace intarsia::operators {

using tir::BufferId;
using tir::Expr;
using tir::FuncBuilder;
using tir::Stmt;

// The constants of the module under construction. A constant of the graph enters once per shape it
// is read in.
class ConstantPool {
 public:
  ConstantPool(const graph::Module& graph, tir::Module& module) : graph_(graph), module_(module) {}

  // A constant of the graph, of the given type and shape; `name` is made unique.
  ConstantId weights(ConstantId source, DataType type, const Shape& shape, const std::string& name);
  // Values that were computed, as elements of the type.
  ConstantId table(DataType type, const std::vector<int64_t>& values, const std::string& name,
                   tir::ConstantUse use);
  ConstantId add(tir::Constant constant);  // its name is made unique

 private:
  using Known = std::tuple<ConstantId, DataType, Shape>;

  const graph::Module& graph_;
  tir::Module& module_;
  UniqueNames names_;  // of the module's constants, which are all made here
  std::map<Known, ConstantId> known_;
};

// Integer values by index (a channel): one immediate when all are equal, else a table.
class Table {
 public:
  explicit Table(int64_t value) : value_(value) {}
  explicit Table(BufferId buffer) : buffer_(buffer) {}
  // The value at an index, of `type`.
  Expr at(const FuncBuilder& b, const Expr& index, DataType type = DataType::Int32) const;

 private:
  int64_t value_ = 0;
  BufferId buffer_;
};

// How accumulators become results: multiplier and shift by channel, zero point, limits.
struct Requantizer {
  Table multiplier, shift;
  bool right_only;  // `shift` holds right shifts
  bool identity;
  bool wide;  // of 64-bit values: multipliers have 15 bits, and one rounding right shift follows
  int64_t zero_point;
  Range range;
  DataType type;

  // value: i32 (wide: i64). The result is of `type`.
  Expr operator()(const FuncBuilder& b, Expr value, const Expr& channel) const;
};

// The function under construction and the operands of its operator.
class OpLowering {
 public:
  OpLowering(const OpView& view, const std::string& name, ConstantPool& pool)
      : view(view), b(name), name_(name), pool_(pool) {}

  // Declares operands as buffers of the given extents (of as many elements as the tensor has): a
  // parameter for each activation, in order, then the output, then constants. Absent: not declared.
  // Once, before anything else.
  // A variable that the operator writes as well is one parameter, in its place among the inputs.
  void declare(const std::vector<std::optional<Shape>>& inputs, const std::vector<Shape>& outputs);
  void declare(const std::vector<std::optional<Shape>>& inputs, const Shape& output) {
    declare(inputs, std::vector<Shape>{output});
  }
  // The buffer of an operand that was declared.
  BufferId in(size_t input) const { return inputs_.at(input); }
  BufferId out(size_t output = 0) const { return outputs_.at(output); }
  // The tensors of the parameters, in order.
  const std::vector<graph::TensorId>& parameters() const { return parameters_; }

  // A constant operand [channels, rest] as [channels / lanes, rest, lanes], of the given extents.
  BufferId interleaved_weights(size_t input, int64_t lanes, const Shape& extents);
  // A constant in a layout of its own, of the operator's data.
  BufferId constant(const std::string& role, DataType type, const Shape& extents,
                    std::vector<uint8_t> bytes, tir::ConstantUse use);
  // One number for each channel. `role` names it within the operator.
  Table table(const std::string& role, DataType type, const std::vector<int64_t>& values,
              tir::ConstantUse use = tir::ConstantUse::Table);
  // Bytes of a table of any type and extents.
  BufferId raw_table(const std::string& role, DataType type, const Shape& extents,
                     std::vector<uint8_t> bytes);
  // One multiplier for all channels, or one for each.
  Requantizer requantizer(const std::vector<Multiplier>& multipliers, int64_t zero_point,
                          Range range, DataType type, bool wide = false);
  // The output may take the place of every activation of its size: the body reads and writes
  // elements of equal index together.
  void allow_in_place();

  const OpView& view;
  FuncBuilder b;

 private:
  std::string name_;
  ConstantPool& pool_;
  std::vector<BufferId> inputs_;
  std::vector<BufferId> outputs_;
  std::vector<graph::TensorId> parameters_;
};

// ---- expressions that families share ------------------------------------------------------------

// Of tensors with one scale.
inline float scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}
inline int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}

// A value of the tensor's type: its zero point, or 0.
Expr zero_of(const graph::Tensor& tensor);

Expr to_i32(Expr value);
Expr centred(Expr value, const graph::Tensor& tensor);  // i32: less the zero point
// Limits of a fused activation on the output.
Range activation_limits(const OpView& v, graph::Activation activation);
// A value of the input's quantisation times `factor` (the input's scale over the output's) in the output's, limited.
Expr rescaled(const OpView& v, Expr value, double factor, Range range);
// The output's zero point added, within the output's type.
Expr finished(const OpView& v, Expr value);
Expr clamp(Expr value, Range range, DataType narrowed_to);  // i32 in, `narrowed_to` out
Expr clamp(Expr value, const FloatRange& range);
Expr requantize(Expr value, Multiplier multiplier);       // i32
Expr requantize_wide(Expr value, Multiplier multiplier);  // i64 in, i32 out

// acc = acc + value
Stmt accumulate(const FuncBuilder& b, BufferId acc, Expr value);
// A loop over lo <= i < hi; none when the bounds are known to hold one iteration.
template <typename Body>
Stmt loop_between(FuncBuilder& b, const std::string& name, const Expr& lo, const Expr& hi,
                  Body&& body) {
  const auto* first = std::get_if<tir::IntImm>(&lo->node);
  const auto* last = std::get_if<tir::IntImm>(&hi->node);
  if (first != nullptr && last != nullptr && last->value == first->value + 1) return body(lo);
  return b.loop(name, lo, hi, std::forward<Body>(body));
}

}  // namespace intarsia::operators
