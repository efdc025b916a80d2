// Operators that move elements and keep rows of them together: device/copy_rows.h.
#include <algorithm>
#include <functional>
#include <optional>

#include "copied_rows.h"
#include "intarsia/plugin/quantization.h"
#include "intarsia/plugin/resizing.h"
#include "kernel_costs.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

const char* copy_of(DataType type) {
  switch (type) {
    case DataType::Int8:
      return "intarsia_copy_rows_s8";
    case DataType::Int16:
      return "intarsia_copy_rows_s16";
    case DataType::Int32:
      return "intarsia_copy_rows_s32";
    case DataType::Float32:
      return "intarsia_copy_rows_f32";
    default:
      return nullptr;
  }
}

int64_t elements_between(const Shape& shape, size_t first, size_t last) {
  int64_t count = 1;
  for (size_t axis = first; axis < last; ++axis) count *= shape[axis];
  return count;
}

// Neighbouring axes that are one in both places are one.
void simplify_axes(CopiedRows& copy) {
  std::vector<CopiedAxis> axes;
  for (const CopiedAxis& axis : copy.axes) {
    if (axis.extent == 1) continue;
    if (!axes.empty() && axes.back().from_step == axis.extent * axis.from_step &&
        axes.back().to_step == axis.extent * axis.to_step)
      axes.back() = {axes.back().extent * axis.extent, axis.from_step, axis.to_step};
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  copy.axes = std::move(axes);
}

bool lies_together(const CopiedRows& copy) {
  const CopiedAxis& row = copy.axes.back();
  return row.from_step == 1 && row.to_step == 1 &&
         std::ranges::all_of(copy.axes, [](const CopiedAxis& axis) {
           return axis.from_step >= 0 && axis.to_step >= 0;
         });
}

std::vector<CopiedRows> joined(const OpView& v, bool apart) {
  const size_t parts = apart ? v.node.outputs.size() : v.node.inputs.size();
  const Shape& whole = apart ? v.in(0).shape : v.out().shape;
  const auto axis = static_cast<size_t>(v.node.kind == graph::OpKind::Split
                                            ? v.node.attrs<graph::SplitAttrs>().axis
                                            : v.node.attrs<graph::AxisAttrs>().axis);
  const int64_t outer = elements_between(whole, 0, axis), row = element_count(whole) / outer;
  std::vector<CopiedRows> copies;
  int64_t first = 0;
  for (size_t i = 0; i < parts; ++i) {
    const int64_t run = element_count(apart ? v.out(i).shape : v.in(i).shape) / outer;
    if (apart)
      copies.push_back({0, i, first, 0, {{outer, row, run}, {run, 1, 1}}});
    else
      copies.push_back({i, 0, 0, first, {{outer, run, row}, {run, 1, 1}}});
    first += run;
  }
  return copies;
}

CopiedRows moved(const OpView& v) {
  const bool cut = v.node.kind == graph::OpKind::Slice;
  const Shape &in = v.in(0).shape,
              &out = cut ? v.node.attrs<graph::SliceAttrs>().size : v.out().shape;
  CopiedRows copy;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    size_t of_input = axis;
    int64_t stride = 1;
    if (cut) {
      const auto& a = v.node.attrs<graph::SliceAttrs>();
      stride = a.stride[axis];
      copy.from += a.begin[axis] * elements_between(in, axis + 1, in.size());
    } else {
      of_input = static_cast<size_t>(v.node.attrs<graph::TransposeAttrs>().permutation[axis]);
    }
    copy.axes.push_back({out[axis], stride * elements_between(in, of_input + 1, in.size()),
                         elements_between(out, axis + 1, out.size())});
  }
  return copy;
}

// Which copy of an operand an element of the result is part of, and where in it.
CopiedRows repeated(const OpView& v) {
  const Shape& in = v.in(0).shape;
  CopiedRows copy;
  if (v.node.kind == graph::OpKind::Tile) {
    const std::vector<int64_t>& times = v.node.attrs<graph::TileAttrs>().multiples;
    for (size_t axis = 0; axis < in.size(); ++axis) {
      const int64_t below = elements_between(in, axis + 1, in.size());
      copy.axes.push_back({times[axis], 0, 0}), copy.axes.push_back({in[axis], below, 0});
    }
  } else {
    const Shape& out = v.out().shape;
    const size_t missing = out.size() - in.size();
    for (size_t axis = 0; axis < out.size(); ++axis) {
      const bool repeats = axis < missing || in[axis - missing] != out[axis];
      copy.axes.push_back(
          {out[axis], repeats ? 0 : elements_between(in, axis - missing + 1, in.size()), 0});
    }
  }
  int64_t below = 1;
  for (auto axis = copy.axes.rbegin(); axis != copy.axes.rend(); ++axis)
    axis->to_step = below, below *= axis->extent;
  return copy;
}

// Rows and columns of blocks that become channels, or the other way round.
CopiedRows space_and_depth(const OpView& v) {
  const bool to_depth = v.node.kind == graph::OpKind::SpaceToDepth;
  const int64_t block = v.node.attrs<graph::BlockAttrs>().block;
  const Shape& space = to_depth ? v.in(0).shape : v.out().shape;
  const int64_t h = space[1], w = space[2], c = space[3];
  const Shape extents{space[0], h / block, w / block, block, block, c},
      in_space{h * w * c, block * w * c, block * c, w * c, c, 1};
  CopiedRows copy;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const int64_t in_depth = elements_between(extents, axis + 1, extents.size());
    copy.axes.push_back({extents[axis], to_depth ? in_space[axis] : in_depth,
                         to_depth ? in_depth : in_space[axis]});
  }
  return copy;
}

// Pixels that are the nearest of a whole number of neighbours each.
std::optional<CopiedRows> nearest_pixels(const OpView& v) {
  const auto& attrs = v.node.attrs<graph::ResizeAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const int64_t times_h = out[1] / in[1], times_w = out[2] / in[2], channels = in[3];
  const auto are_repeated = [&](size_t axis, int64_t times) {
    const std::vector<int64_t> places = nearest_places(in[axis], out[axis], attrs);
    for (int64_t i = 0; i < out[axis]; ++i)
      if (times == 0 || places[static_cast<size_t>(i)] != i / times) return false;
    return in[axis] * times == out[axis];
  };
  if (!are_repeated(1, times_h) || !are_repeated(2, times_w)) return std::nullopt;
  const int64_t row = out[2] * channels;
  return CopiedRows{0,
                    0,
                    0,
                    0,
                    {{in[0], in[1] * in[2] * channels, out[1] * row},
                     {in[1], in[2] * channels, times_h * row},
                     {times_h, 0, row},
                     {times_w, 0, channels},
                     {in[2], channels, times_w * channels},
                     {channels, 1, 1}}};
}

// What is not padding, as part of the result.
CopiedRows inside_of_padding(const OpView& v) {
  const auto& attrs = v.node.attrs<graph::PadAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  CopiedRows copy;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const int64_t below = elements_between(out, axis + 1, out.size());
    copy.to += attrs.before[axis] * below;
    copy.axes.push_back({in[axis], elements_between(in, axis + 1, in.size()), below});
  }
  return copy;
}

// The rows of a call, which are the last axes of what is copied.
CopiedAxis rows_of_call(const CopiedRows& copy) {
  const CopiedAxis& row = copy.axes.back();
  return copy.axes.size() > 1 ? copy.axes.end()[-2] : CopiedAxis{1, row.extent, row.extent};
}

// A call takes rows of one axis; the others are loops around it. The longest is the best one for it.
void put_longest_axis_last(CopiedRows& copy) {
  if (copy.axes.size() < 3) return;
  const auto row = copy.axes.end() - 1;
  auto longest = row - 1;
  for (auto axis = copy.axes.begin(); axis != row; ++axis)
    if (axis->extent > longest->extent) longest = axis;
  std::rotate(longest, longest + 1, row);
}

std::vector<uint8_t> padding_value(const OpView& view) {
  if (view.node.kind == graph::OpKind::PadV2) return view.stored_bytes(1);
  const graph::Tensor& out = view.out();
  const int64_t zero = out.quantization.present() ? zero_point(out) : 0;
  std::vector<uint8_t> value;
  for (int64_t bit = 0; bit < bits(out.type); bit += 8)
    value.push_back(static_cast<uint8_t>(static_cast<uint64_t>(zero) >> bit));
  return value;
}

// `count` elements from `first` on.
Stmt fill_run(OpLowering& op, BufferId filling, int64_t first, int64_t count) {
  const DataType type = op.view.out().type;
  const char* kernel = type == DataType::Int8    ? "intarsia_spread_s8"
                       : type == DataType::Int16 ? "intarsia_spread_s16"
                                                 : "intarsia_spread_f32";
  return tir::intrinsic(kernel,
                        {tir::BufferRun{filling, {tir::int_imm(0)}, 1, tir::Access::Read},
                         tir::BufferRun{op.out(), {tir::int_imm(first)}, count, tir::Access::Write},
                         tir::int_imm(1), tir::int_imm(count)});
}

// From the place `from` of a buffer to the place `to` of another.
Stmt call_copy(OpLowering& op, const std::string& kernel, const CopiedRows& copy, BufferId read,
               BufferId written, size_t axis, const Expr& from, const Expr& to) {
  const size_t left = copy.axes.size() - axis;
  if (left > 2) {
    const CopiedAxis& outer = copy.axes[axis];
    return op.b.loop("i", outer.extent, [&](const Expr& i) {
      return call_copy(op, kernel, copy, read, written, axis + 1, from + i * outer.from_step,
                       to + i * outer.to_step);
    });
  }
  const CopiedAxis row = copy.axes.back(), rows = rows_of_call(copy);
  const auto run = [&](int64_t step) { return (rows.extent - 1) * step + row.extent; };
  return tir::intrinsic(
      kernel, {tir::BufferRun{read, {from}, run(rows.from_step), tir::Access::Read},
               tir::BufferRun{written, {to}, run(rows.to_step), tir::Access::Write},
               tir::int_imm(rows.extent), tir::int_imm(row.extent), tir::int_imm(rows.from_step),
               tir::int_imm(rows.to_step)});
}

Stmt call_copy(OpLowering& op, const CopiedRows& copy, BufferId read, BufferId written) {
  return call_copy(op, copy_of(op.view.out().type), copy, read, written, 0, tir::int_imm(copy.from),
                   tir::int_imm(copy.to));
}

double cycles_of_copy(CoreClass core, DataType type, const CopiedRows& copy) {
  const CopiedAxis row = copy.axes.back(), rows = rows_of_call(copy);
  double calls = 1;
  for (size_t axis = 0; axis + 2 < copy.axes.size(); ++axis)
    calls *= static_cast<double>(copy.axes[axis].extent);
  return calls *
         cycles_of_work(core == CoreClass::Mve ? CostCore::M55 : CostCore::M4,
                        work_of_call(core, copy_of(type),
                                     {rows.extent, row.extent, rows.from_step, rows.to_step}, {}))
             .value_or(0);
}

// A run of elements that all are padding.
struct PaddedRun {
  int64_t first, count;
};
// Where padding lies: before and behind all that is copied, and between neighbours along each of its axes, as copies of `filling`
// elements that are one after the other.
struct Padding {
  std::vector<PaddedRun> runs;
  std::vector<CopiedRows> gaps;
  int64_t filling = 1;
};

Padding padding_around(const CopiedRows& copy, int64_t count) {
  constexpr int64_t kLongestFilling = 64;
  const std::vector<CopiedAxis>& axes = copy.axes;
  Padding padding;
  int64_t end = 1;  // of what is copied of one element of an axis
  for (size_t inner = axes.size(); inner-- > 0;) {
    const CopiedAxis& axis = axes[inner];
    const int64_t gap = axis.to_step - end;
    padding.filling = std::max(padding.filling, std::min(gap, kLongestFilling));
    for (int64_t done = 0; axis.extent > 1 && done < gap; done += kLongestFilling) {
      CopiedRows some{0, 0, 0, copy.to + end + done, {}};
      for (size_t outer = 0; outer < inner; ++outer)
        some.axes.push_back({axes[outer].extent, 0, axes[outer].to_step});
      some.axes.push_back({axis.extent - 1, 0, axis.to_step});
      some.axes.push_back({std::min(gap - done, kLongestFilling), 1, 1});
      padding.gaps.push_back(std::move(some));
    }
    end += (axis.extent - 1) * axis.to_step;
  }
  if (copy.to > 0) padding.runs.push_back({0, copy.to});
  if (copy.to + end < count) padding.runs.push_back({copy.to + end, count - copy.to - end});
  return padding;
}

// All of the result is filled, and what is no padding written again, where that is sooner done than filling each gap.
Padding padding_of(CoreClass core, DataType type, const CopiedRows& copy, int64_t count) {
  const CopiedRows whole{0, 0, 0, 0, {{1, count, count}, {count, 1, 1}}};
  Padding padding = padding_around(copy, count);
  double cycles = 0;
  for (const CopiedRows& gap : padding.gaps) cycles += cycles_of_copy(core, type, gap);
  for (const PaddedRun& run : padding.runs)
    cycles += cycles_of_copy(core, type, {0, 0, 0, 0, {{1, count, count}, {run.count, 1, 1}}});
  if (cycles <= cycles_of_copy(core, type, whole)) return padding;
  return {{{0, count}}, {}, 1};
}

std::vector<Stmt> fill_padding(OpLowering& op, const Padding& padding) {
  const std::vector<uint8_t> value = padding_value(op.view);
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < padding.filling; ++i)
    values.insert(values.end(), value.begin(), value.end());
  const BufferId filling =
      op.raw_table("filling", op.view.out().type, {padding.filling}, std::move(values));
  std::vector<Stmt> fills;
  for (const PaddedRun& run : padding.runs)
    fills.push_back(fill_run(op, filling, run.first, run.count));
  for (const CopiedRows& gap : padding.gaps) fills.push_back(call_copy(op, gap, filling, op.out()));
  return fills;
}

// The axis of the output whose elements lie together in the input, where the innermost one's do not.
std::optional<size_t> turned_axis(const CopiedRows& copy) {
  const auto axis =
      std::ranges::find_if(copy.axes, [](const CopiedAxis& axis) { return axis.from_step == 1; });
  if (axis == copy.axes.end() || axis + 1 == copy.axes.end() || copy.axes.back().to_step != 1)
    return std::nullopt;
  return static_cast<size_t>(axis - copy.axes.begin());
}

// Of a transposition that moves the innermost axis: it and the output's innermost one are one call.
LowerKernel turn_kernel(const OpView& view, const CopiedRows& copy) {
  // A call takes as long as some elements, and a line as some of floats, which loops move as fast; steps of vectors have sixteen bits, for eight elements.
  constexpr int64_t kFewest = 32, kMostStep = 65535 / 8;
  const int64_t longest = view.out().type == DataType::Float32 ? 32 : 8;
  const char* kernel = turn_of(view.out().type);
  const std::optional<size_t> axis = turned_axis(copy);
  if (kernel == nullptr || !axis) return nullptr;
  const CopiedAxis rows = copy.axes[*axis], columns = copy.axes.back();
  if (rows.extent * columns.extent < kFewest || std::max(rows.extent, columns.extent) < longest ||
      columns.from_step > kMostStep || rows.to_step > kMostStep)
    return nullptr;
  std::vector<CopiedAxis> others = copy.axes;
  others.pop_back();
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(*axis));
  return [=, name = std::string(kernel)](OpLowering& op) {
    op.declare({Shape{element_count(op.view.in(0).shape)}},
               Shape{element_count(op.view.out().shape)});
    const std::function<Stmt(size_t, Expr, Expr)> from = [&](size_t at, Expr read,
                                                             Expr written) -> Stmt {
      if (at < others.size())
        return op.b.loop("i", others[at].extent, [&](const Expr& i) {
          return from(at + 1, read + i * others[at].from_step, written + i * others[at].to_step);
        });
      return tir::intrinsic(name,
                            {tir::BufferRun{op.in(0),
                                            {read},
                                            (columns.extent - 1) * columns.from_step + rows.extent,
                                            tir::Access::Read},
                             tir::BufferRun{op.out(),
                                            {written},
                                            (rows.extent - 1) * rows.to_step + columns.extent,
                                            tir::Access::Write},
                             tir::int_imm(rows.extent), tir::int_imm(columns.extent),
                             tir::int_imm(columns.from_step), tir::int_imm(rows.to_step)});
    };
    return from(0, tir::int_imm(0), tir::int_imm(0));
  };
}

// The other one where there is only one.
LowerKernel sooner_done(CoreClass core, const OpView& view, LowerKernel one, LowerKernel other) {
  if (!one || !other) return one ? one : other;
  const std::optional<double> cycles = cycles_of_kernel(core, view, one),
                              others = cycles_of_kernel(core, view, other);
  return cycles && others && *others < *cycles ? other : one;
}

}  // namespace

void declare_lines(OpLowering& op, bool reads_first_alone) {
  std::vector<std::optional<Shape>> inputs;
  std::vector<Shape> outputs;
  for (size_t i = 0; i < op.view.node.inputs.size(); ++i)
    inputs.push_back(reads_first_alone && i > 0 ? std::optional<Shape>()
                                                : Shape{element_count(op.view.in(i).shape)});
  for (size_t i = 0; i < op.view.node.outputs.size(); ++i)
    outputs.push_back(Shape{element_count(op.view.out(i).shape)});
  op.declare(inputs, outputs);
}

tir::Stmt copy_of_bytes(tir::BufferId from, tir::BufferId to, int64_t count) {
  return tir::intrinsic(
      copy_of(DataType::Int8),
      {tir::BufferRun{from, {tir::int_imm(0)}, count, tir::Access::Read},
       tir::BufferRun{to, {tir::int_imm(0)}, count, tir::Access::Write}, tir::int_imm(1),
       tir::int_imm(count), tir::int_imm(count), tir::int_imm(count)});
}

const char* turn_of(DataType type) {
  switch (type) {
    case DataType::Int8:
      return "intarsia_turn_s8";
    case DataType::Int16:
      return "intarsia_turn_s16";
    case DataType::Float32:
      return "intarsia_turn_f32";
    default:
      return nullptr;
  }
}

LowerKernel copy_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kFewest = 16, kShortest = 3;  // elements of all; bytes of a row
  const DataType type = view.out().type;
  const char* kernel = copy_of(type);
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || kernel == nullptr ||
      view.in(0).type != type)
    return nullptr;
  std::vector<CopiedRows> copies;
  switch (view.node.kind) {
    case graph::OpKind::Concat:
    case graph::OpKind::Pack:
      copies = joined(view, /*apart=*/false);
      break;
    case graph::OpKind::Split:
    case graph::OpKind::Unpack:
      copies = joined(view, /*apart=*/true);
      break;
    case graph::OpKind::BroadcastTo:
    case graph::OpKind::Tile:
      copies.push_back(repeated(view));
      break;
    case graph::OpKind::SpaceToDepth:
    case graph::OpKind::DepthToSpace:
      copies.push_back(space_and_depth(view));
      break;
    case graph::OpKind::ResizeNearest:
      if (const std::optional<CopiedRows> pixels = nearest_pixels(view))
        copies.push_back(*pixels);
      else
        return nullptr;
      break;
    case graph::OpKind::Pad:
    case graph::OpKind::PadV2:
      if (type == DataType::Int32 || (view.node.inputs.size() > 1 && !view.is_constant(1)))
        return nullptr;
      copies.push_back(inside_of_padding(view));
      break;
    default:
      copies.push_back(moved(view));
  }
  const bool pads = view.node.kind == graph::OpKind::Pad || view.node.kind == graph::OpKind::PadV2;
  for (CopiedRows& copy : copies) simplify_axes(copy);
  if (view.node.kind == graph::OpKind::Transpose && !lies_together(copies[0]))
    return sooner_done(core, view, turn_kernel(view, copies[0]),
                       picked_rows_kernel(core, view, copies));
  const std::optional<Padding> padding =
      pads ? std::optional(padding_of(core, type, copies[0], element_count(view.out().shape)))
           : std::nullopt;
  const std::vector<CopiedRows> unsorted = copies;
  for (CopiedRows& copy : copies) put_longest_axis_last(copy);
  for (CopiedRows& copy : copies)
    if (!lies_together(copy) || bits(type) / 8 * copy.axes.back().extent < kShortest)
      return pads ? nullptr : picked_rows_kernel(core, view, unsorted);
  if (element_count(view.in(0).shape) < kFewest) return nullptr;
  return [copies, padding](OpLowering& op) {
    declare_lines(op, padding.has_value());
    std::vector<Stmt> calls;
    if (padding) calls = fill_padding(op, *padding);
    for (const CopiedRows& copy : copies)
      calls.push_back(call_copy(op, copy, op.in(copy.input), op.out(copy.output)));
    return tir::seq(std::move(calls));
  };
}

}  // namespace intarsia::targets::cortex_m
