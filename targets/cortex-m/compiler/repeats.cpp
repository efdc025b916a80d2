#include "repeats.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

// Elements of an operand, or of the result, from one axis on.
int64_t elements_from(const std::vector<RepeatedAxis>& axes, size_t axis,
                      std::optional<size_t> operand) {
  int64_t count = 1;
  for (; axis < axes.size(); ++axis)
    if (!operand || !axes[axis].repeats[*operand]) count *= axes[axis].extent;
  return count;
}

// The operand that repeats along the innermost axes where one does.
size_t repeating_part(const std::vector<RepeatedAxis>& axes) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    if (axis->repeats[0] != axis->repeats[1]) return axis->repeats[0] ? 0 : 1;
  return 1;
}

class Rows {
 public:
  Rows(CoreClass core, OpLowering& op, const RowKernel& kernel,
       const std::vector<RepeatedAxis>& axes)
      : core_(core), op_(op), kernel_(kernel), part_(repeating_part(axes)), axes_(axes) {
    if (const int64_t elements = scratch_elements(); elements > 0)
      scratch_ = op.b.local("repeated", op.view.in(part_).type, {elements});
    if (const int64_t rows = rows_together(); rows > 1 && other_repeats_rows())
      others_ = op.b.local("rows", op.view.in(1 - part_).type, {rows * axes_.back().extent});
    if (const auto bytes = std::ssize(kernel.table); bytes > 0) {
      table_elements_ = bytes * 8 / bits(kernel.table_type);
      table_ = op.raw_table("table", kernel.table_type, {table_elements_}, kernel.table);
    }
  }

  // Where the result, the operand that is read where it lies and the one that repeats are at an axis.
  struct Place {
    Expr result, other, part;
  };

  Stmt from(size_t axis, const Place& at) {
    const int64_t extent = axes_[axis].extent;
    if (axis + 1 == axes_.size()) {
      if (!repeats(axis, part_)) return call(at, op_.in(part_), extent);
      return tir::seq({spread(at.part, 1, std::min(extent, kLongRow)),
                       calls(at, extent, std::min(extent, kLongRow))});
    }
    if (axis + 2 == axes_.size() && rows_together() > 1) return rows(at, extent);
    const int64_t row = elements_from(axes_, axis + 1, std::nullopt);
    if (const int64_t times = times_at(axis); times > 1)
      return tir::seq({lay_out(at.part, row, times), calls(at, extent * row, times * row)});
    const int64_t other_step =
                      repeats(axis, 1 - part_) ? 0 : elements_from(axes_, axis + 1, 1 - part_),
                  part_step = repeats(axis, part_) ? 0 : elements_from(axes_, axis + 1, part_);
    return op_.b.loop("i", extent, [&](const Expr& i) {
      return from(axis + 1,
                  {at.result + i * row, at.other + i * other_step, at.part + i * part_step});
    });
  }

 private:
  bool repeats(size_t axis, size_t operand) const { return axes_[axis].repeats[operand]; }
  // How often a short row that repeats along the axis is laid out.
  int64_t times_at(size_t axis) const {
    if (axis + 2 != axes_.size() || !repeats(axis, part_) || repeats(axis, 1 - part_) ||
        repeats(axis + 1, 0) || repeats(axis + 1, 1))
      return 0;
    return std::min(axes_[axis].extent, kLongRow / axes_[axis + 1].extent);
  }
  // Rows, each with one element of the operand that repeats, that one call takes where they are short.
  int64_t rows_together() const {
    if (axes_.size() < 2 || !repeats(axes_.size() - 1, part_) || repeats(axes_.size() - 2, part_))
      return 0;
    return std::min(axes_[axes_.size() - 2].extent, kLongRow / axes_.back().extent);
  }
  bool other_repeats_rows() const { return repeats(axes_.size() - 2, 1 - part_); }
  int64_t scratch_elements() const {
    if (const int64_t rows = rows_together(); rows > 1) return rows * axes_.back().extent;
    if (repeats(axes_.size() - 1, part_)) return std::min(axes_.back().extent, kLongRow);
    if (axes_.size() < 2) return 0;
    const int64_t times = times_at(axes_.size() - 2);
    return times > 1 ? times * axes_.back().extent : 0;
  }

  // `count` rows, some together.
  Stmt rows(const Place& at, int64_t count) {
    const int64_t each = axes_.back().extent, together = rows_together(), full = count / together,
                  rest = count % together;
    const bool again = other_repeats_rows();
    const auto piece = [&](const Expr& first, int64_t rows) {
      const Place place{at.result + first * each, again ? tir::int_imm(0) : at.other + first * each,
                        tir::int_imm(0)};
      return tir::seq({spread(at.part + first, rows, each),
                       call(place, scratch_, rows * each, again ? others_ : op_.in(1 - part_))});
    };
    return tir::seq(
        {again ? lay_out(op_.in(1 - part_), at.other, each, together, others_) : nullptr,
         op_.b.loop("block", full, [&](const Expr& i) { return piece(i * together, together); }),
         rest == 0 ? nullptr : piece(tir::int_imm(full * together), rest)});
  }

  // Kernels that lay rows out, where so many elements are worth a call.
  bool has_copies(int64_t elements) const {
    constexpr int64_t kFewest = 32;
    return (core_ == CoreClass::Dsp || core_ == CoreClass::Mve) && elements >= kFewest;
  }
  std::string name_for(const char* what) const {
    return std::string("intarsia_") + what + (of_bytes() ? "_s8" : of_halves() ? "_s16" : "_f32");
  }
  DataType type() const { return op_.view.in(part_).type; }
  bool of_bytes() const { return type() == DataType::Int8; }
  bool of_halves() const { return type() == DataType::Int16; }

  // Each of `count` elements `times` times.
  Stmt spread(const Expr& part_at, int64_t count, int64_t times) {
    if (!has_copies(count * times))
      return op_.b.loop("j", count, [&](const Expr& j) {
        return op_.b.let("value", op_.b.load(op_.in(part_), {part_at + j}), [&](const Expr& value) {
          return op_.b.loop("k", times, [&](const Expr& k) {
            return op_.b.store(scratch_, {j * times + k}, value);
          });
        });
      });
    return tir::intrinsic(
        name_for("spread"),
        {tir::BufferRun{op_.in(part_), {part_at}, count, tir::Access::Read},
         tir::BufferRun{scratch_, {tir::int_imm(0)}, count * times, tir::Access::Write},
         tir::int_imm(count), tir::int_imm(times)});
  }
  Stmt lay_out(const Expr& part_at, int64_t row, int64_t times) {
    return lay_out(op_.in(part_), part_at, row, times, scratch_);
  }
  // A row `times` times.
  Stmt lay_out(BufferId from, const Expr& at, int64_t row, int64_t times, BufferId to) {
    if (has_copies(row * times))
      return tir::intrinsic(
          name_for("copy_rows"),
          {tir::BufferRun{from, {at}, row, tir::Access::Read},
           tir::BufferRun{to, {tir::int_imm(0)}, row * times, tir::Access::Write},
           tir::int_imm(times), tir::int_imm(row), tir::int_imm(0), tir::int_imm(row)});
    return op_.b.loop("j", row, [&](const Expr& j) {
      return op_.b.let("value", op_.b.load(from, {at + j}), [&](const Expr& value) {
        return op_.b.loop("k", times,
                          [&](const Expr& k) { return op_.b.store(to, {k * row + j}, value); });
      });
    });
  }
  // `elements` of the other operand by what is in scratch, `each` at a time.
  Stmt calls(const Place& at, int64_t elements, int64_t each) {
    const int64_t full = elements / each, rest = elements % each;
    const auto further = [&](const Expr& by) {
      return Place{at.result + by, at.other + by, tir::int_imm(0)};
    };
    const Stmt most = op_.b.loop("block", full, [&](const Expr& block) {
      return call(further(block * each), scratch_, each);
    });
    return tir::seq(
        {most, rest == 0 ? nullptr : call(further(tir::int_imm(full * each)), scratch_, rest)});
  }
  Stmt call(const Place& at, BufferId part, int64_t count) {
    return call(at, part, count, op_.in(1 - part_));
  }
  Stmt call(const Place& at, BufferId part, int64_t count, BufferId other) {
    const tir::BufferRun other_run{other, {at.other}, count, tir::Access::Read};
    const tir::BufferRun part_run{part, {at.part}, count, tir::Access::Read};
    std::vector<std::variant<tir::BufferRun, Expr>> operands = {
        part_ == 0 ? part_run : other_run, part_ == 0 ? other_run : part_run,
        tir::BufferRun{op_.out(), {at.result}, count, tir::Access::Write}};
    if (table_elements_ > 0)
      operands.push_back(
          tir::BufferRun{table_, {tir::int_imm(0)}, table_elements_, tir::Access::Read});
    for (const int64_t number : kernel_.numbers(count)) operands.push_back(tir::int_imm(number));
    return tir::intrinsic(kernel_.name, std::move(operands));
  }

  CoreClass core_;
  OpLowering& op_;
  const RowKernel& kernel_;
  size_t part_;
  const std::vector<RepeatedAxis>& axes_;
  BufferId scratch_, others_, table_;
  int64_t table_elements_ = 0;
};

}  // namespace

std::optional<std::vector<RepeatedAxis>> repeated_axes(const Shape& a, const Shape& b,
                                                       const Shape& whole) {
  if (std::max(a.size(), b.size()) > whole.size()) return std::nullopt;
  std::vector<RepeatedAxis> axes;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    if (whole[axis] == 1) continue;
    RepeatedAxis next{{}, whole[axis]};
    for (const size_t operand : {0, 1}) {
      const Shape& shape = operand == 0 ? a : b;
      const size_t missing = whole.size() - shape.size();
      const int64_t extent = axis < missing ? 1 : shape[axis - missing];
      if (extent != 1 && extent != whole[axis]) return std::nullopt;
      next.repeats[operand] = extent == 1;
    }
    if (!axes.empty() && axes.back().repeats == next.repeats)
      axes.back().extent *= whole[axis];
    else
      axes.push_back(next);
  }
  if (axes.empty()) axes.push_back({{false, false}, 1});
  if (axes.back().repeats[0] && axes.back().repeats[1]) return std::nullopt;
  return axes;
}

tir::Stmt call_by_rows(CoreClass core, OpLowering& op, const RowKernel& kernel,
                       const std::vector<RepeatedAxis>& axes) {
  op.declare({Shape{elements_from(axes, 0, 0)}, Shape{elements_from(axes, 0, 1)}},
             Shape{elements_from(axes, 0, std::nullopt)});
  op.allow_in_place();
  const Expr start = tir::int_imm(0);
  return Rows(core, op, kernel, axes).from(0, {start, start, start});
}

}  // namespace intarsia::targets::cortex_m
