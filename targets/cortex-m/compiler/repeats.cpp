#include "repeats.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

class Rows {
 public:
  Rows(OpLowering& op, const RowKernel& kernel, size_t part, const std::vector<RepeatedAxis>& axes)
      : op_(op), kernel_(kernel), part_(part), axes_(axes) {
    if (const int64_t elements = scratch_elements(); elements > 0)
      scratch_ = op.b.local("repeated", op.view.in(part).type, {elements});
  }

  // From one axis on; where both operands are.
  Stmt from(size_t axis, const Expr& whole_at, const Expr& part_at) {
    const int64_t extent = axes_[axis].extent;
    if (axis + 1 == axes_.size()) {
      if (!axes_[axis].repeats) return call(whole_at, op_.in(part_), part_at, extent);
      return tir::seq({lay_out(part_at, 1, std::min(extent, kLongRow)),
                       calls(whole_at, extent, std::min(extent, kLongRow))});
    }
    const int64_t row = elements_from(axis + 1, true);
    if (const int64_t times = times_at(axis); times > 1)
      return tir::seq({lay_out(part_at, row, times), calls(whole_at, extent * row, times * row)});
    const int64_t step = axes_[axis].repeats ? 0 : elements_from(axis + 1, false);
    return op_.b.loop("i", extent, [&](const Expr& i) {
      return from(axis + 1, whole_at + i * row, part_at + i * step);
    });
  }

 private:
  int64_t elements_from(size_t axis, bool with_repeats) const {
    int64_t count = 1;
    for (; axis < axes_.size(); ++axis)
      if (with_repeats || !axes_[axis].repeats) count *= axes_[axis].extent;
    return count;
  }
  // How often a short row that repeats along the axis is laid out.
  int64_t times_at(size_t axis) const {
    if (axis + 2 != axes_.size() || !axes_[axis].repeats) return 0;
    return std::min(axes_[axis].extent, kLongRow / axes_[axis + 1].extent);
  }
  int64_t scratch_elements() const {
    if (axes_.back().repeats) return std::min(axes_.back().extent, kLongRow);
    if (axes_.size() < 2) return 0;
    const int64_t times = times_at(axes_.size() - 2);
    return times > 1 ? times * axes_.back().extent : 0;
  }

  Stmt lay_out(const Expr& part_at, int64_t row, int64_t times) {
    return op_.b.loop("j", row, [&](const Expr& j) {
      return op_.b.let("value", op_.b.load(op_.in(part_), {part_at + j}), [&](const Expr& value) {
        return op_.b.loop(
            "k", times, [&](const Expr& k) { return op_.b.store(scratch_, {k * row + j}, value); });
      });
    });
  }
  // `elements` of the whole operand by what is in scratch, `each` at a time.
  Stmt calls(const Expr& whole_at, int64_t elements, int64_t each) {
    const int64_t full = elements / each, rest = elements % each;
    const Stmt most = op_.b.loop("block", full, [&](const Expr& block) {
      return call(whole_at + block * each, scratch_, tir::int_imm(0), each);
    });
    return tir::seq({most, rest == 0
                               ? nullptr
                               : call(whole_at + full * each, scratch_, tir::int_imm(0), rest)});
  }
  Stmt call(const Expr& whole_at, BufferId part, const Expr& part_at, int64_t count) {
    const tir::BufferRun whole_run{op_.in(1 - part_), {whole_at}, count, tir::Access::Read};
    const tir::BufferRun part_run{part, {part_at}, count, tir::Access::Read};
    std::vector<std::variant<tir::BufferRun, Expr>> operands = {
        part_ == 0 ? part_run : whole_run, part_ == 0 ? whole_run : part_run,
        tir::BufferRun{op_.out(), {whole_at}, count, tir::Access::Write}};
    for (const int64_t number : kernel_.numbers(count)) operands.push_back(tir::int_imm(number));
    return tir::intrinsic(kernel_.name, std::move(operands));
  }

  OpLowering& op_;
  const RowKernel& kernel_;
  size_t part_;
  const std::vector<RepeatedAxis>& axes_;
  BufferId scratch_;
};

}  // namespace

std::optional<std::vector<RepeatedAxis>> repeated_axes(const Shape& part, const Shape& whole) {
  if (part.size() > whole.size()) return std::nullopt;
  const size_t missing = whole.size() - part.size();
  std::vector<RepeatedAxis> axes;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const int64_t extent = axis < missing ? 1 : part[axis - missing];
    if (whole[axis] == 1) continue;
    if (extent != 1 && extent != whole[axis]) return std::nullopt;
    const bool repeats = extent == 1;
    if (!axes.empty() && axes.back().repeats == repeats)
      axes.back().extent *= whole[axis];
    else
      axes.push_back({repeats, whole[axis]});
  }
  if (axes.empty()) axes.push_back({false, 1});
  return axes;
}

tir::Stmt call_by_rows(OpLowering& op, const RowKernel& kernel, size_t part,
                       const std::vector<RepeatedAxis>& axes) {
  int64_t whole = 1, elements = 1;
  for (const RepeatedAxis& axis : axes) {
    whole *= axis.extent;
    if (!axis.repeats) elements *= axis.extent;
  }
  std::vector<std::optional<Shape>> inputs(2, Shape{whole});
  inputs[part] = Shape{elements};
  op.declare(inputs, Shape{whole});
  op.allow_in_place();
  return Rows(op, kernel, part, axes).from(0, tir::int_imm(0), tir::int_imm(0));
}

}  // namespace intarsia::targets::cortex_m
