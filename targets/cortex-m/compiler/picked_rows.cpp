// Rows of elements that are picked by a table of places: device/pick_rows.h.
#include <algorithm>
#include <optional>

#include "copied_rows.h"
#include "intarsia/plugin/rounding.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

// Rows that all pick the same places; axes around them are loops.
struct PickedRows {
  CopiedRows copy;  // its axes around the rows, and with them the rows
  int64_t count = 1, span = 1;
  std::vector<int64_t> places;
};

// The places that axes from one on have, the first of which is 0.
std::vector<int64_t> places_of(const std::vector<CopiedAxis>& axes) {
  std::vector<int64_t> places{0};
  for (const CopiedAxis& axis : axes) {
    std::vector<int64_t> next;
    for (const int64_t place : places)
      for (int64_t i = 0; i < axis.extent; ++i) next.push_back(place + i * axis.from_step);
    places = std::move(next);
  }
  return places;
}

bool is_filled_in_order(const CopiedRows& copy) {
  int64_t step = 1;
  for (auto axis = copy.axes.rbegin(); axis != copy.axes.rend(); step *= axis++->extent)
    if (axis->to_step != step || axis->from_step < 0) return false;
  return true;
}

// How many rows one table takes: as few as fill vectors, or words, best.
int64_t rows_together(CoreClass core, DataType type, const CopiedAxis& rows, int64_t count,
                      int64_t span, int64_t most_span) {
  constexpr int64_t kMostPlaces = 128;
  const int64_t lanes = core != CoreClass::Mve ? 4 : type == DataType::Int8 ? 16 : 8;
  const auto lanes_by_row = [&](int64_t together) {
    return static_cast<double>(ceil_div(together * count, lanes) * lanes) /
           static_cast<double>(together);
  };
  int64_t best = 1;
  for (int64_t together = 2; together * count <= kMostPlaces && together <= rows.extent; ++together)
    if (rows.extent % together == 0 && (together - 1) * rows.from_step + span <= most_span &&
        lanes_by_row(together) < lanes_by_row(best))
      best = together;
  return best;
}

std::optional<PickedRows> picked_rows(CoreClass core, DataType type, CopiedRows copy) {
  constexpr int64_t kMostCount = 256;
  const int64_t most_span = type == DataType::Int8 ? 256 : 4096;
  if (!is_filled_in_order(copy)) return std::nullopt;
  PickedRows picked;
  std::vector<CopiedAxis> inner;
  while (!copy.axes.empty()) {
    const CopiedAxis axis = copy.axes.back();
    const int64_t span = picked.span + (axis.extent - 1) * axis.from_step;
    if (span > most_span || picked.count * axis.extent > kMostCount) break;
    picked.count *= axis.extent, picked.span = span;
    inner.insert(inner.begin(), axis), copy.axes.pop_back();
  }
  if (copy.axes.empty() || inner.empty()) return std::nullopt;  // as long as its table
  CopiedAxis& rows = copy.axes.back();
  if (const int64_t together =
          rows_together(core, type, rows, picked.count, picked.span, most_span);
      together > 1) {
    inner.insert(inner.begin(), {together, rows.from_step, picked.count});
    picked.count *= together, picked.span += (together - 1) * rows.from_step;
    rows = {rows.extent / together, together * rows.from_step, picked.count};
  }
  picked.places = places_of(inner), picked.copy = std::move(copy);
  return picked;
}

// What a table's bytes and a call are worth.
bool pays(const PickedRows& picked) {
  constexpr int64_t kFewestRows = 4, kFewestElements = 32;
  const int64_t rows = picked.copy.axes.back().extent;
  return rows >= kFewestRows && rows * picked.count >= kFewestElements;
}

Stmt call_pick(OpLowering& op, const PickedRows& picked, BufferId places, size_t axis,
               const Expr& from, const Expr& to) {
  const CopiedAxis& at = picked.copy.axes[axis];
  if (axis + 1 < picked.copy.axes.size())
    return op.b.loop("i", at.extent, [&](const Expr& i) {
      return call_pick(op, picked, places, axis + 1, from + i * at.from_step, to + i * at.to_step);
    });
  const bool bytes = op.view.out().type == DataType::Int8;
  return tir::intrinsic(
      bytes ? "intarsia_pick_rows_s8" : "intarsia_pick_rows_s16",
      {tir::BufferRun{op.in(picked.copy.input),
                      {from},
                      (at.extent - 1) * at.from_step + picked.span,
                      tir::Access::Read},
       tir::BufferRun{
           op.out(picked.copy.output), {to}, at.extent * picked.count, tir::Access::Write},
       tir::BufferRun{places, {tir::int_imm(0)}, picked.count, tir::Access::Read},
       tir::int_imm(at.extent), tir::int_imm(picked.count), tir::int_imm(at.from_step)});
}

BufferId table_of_places(OpLowering& op, const std::vector<int64_t>& places) {
  const DataType type = op.view.out().type;
  std::vector<uint8_t> bytes;
  for (const int64_t place : places) {
    bytes.push_back(static_cast<uint8_t>(place));
    if (type == DataType::Int16) bytes.push_back(static_cast<uint8_t>(place >> 8));
  }
  return op.raw_table("places", type, {std::ssize(places)}, std::move(bytes));
}

}  // namespace

LowerKernel picked_rows_kernel(CoreClass core, const OpView& view,
                               const std::vector<CopiedRows>& copies) {
  const DataType type = view.out().type;
  if (type != DataType::Int8 && type != DataType::Int16) return nullptr;
  std::vector<PickedRows> all;
  for (const CopiedRows& copy : copies) {
    std::optional<PickedRows> picked = picked_rows(core, type, copy);
    if (!picked || !pays(*picked) || (!all.empty() && all.front().places != picked->places))
      return nullptr;
    all.push_back(std::move(*picked));
  }
  return [all = std::move(all)](OpLowering& op) {
    declare_lines(op);
    const BufferId places = table_of_places(op, all.front().places);
    std::vector<Stmt> calls;
    for (const PickedRows& picked : all)
      calls.push_back(call_pick(op, picked, places, 0, tir::int_imm(picked.copy.from),
                                tir::int_imm(picked.copy.to)));
    return tir::seq(std::move(calls));
  };
}

}  // namespace intarsia::targets::cortex_m
