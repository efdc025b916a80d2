// Resizing along one axis after the other. Output elements whose neighbours progress evenly are one line: they are read, and
// written, by one operation with strides. Of the nearest neighbour both axes are copies. Blended, columns are gathered beside
// each other and multiplied by a constant with a weight for each column, rows then by a constant with a weight for each row:
// sums of 30 bits, a band of rows at a time, since they take many times the memory of the result.
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/resize.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kMostCopies = 64, kMostBlends = 512;
constexpr int64_t kMostStep = 64;  // of outputs along a line
// Values of 16 and 32 bits that a row of the input has at a time, in bytes for each of its columns in the output.
constexpr int64_t kBytesOfRow = 16;

// Elements first, first + step, ... are made from low, low + low_step, ...
struct Line {
  int64_t first, low, low_step = 1, count = 1;
  bool blends = false;
};
struct Lines {
  int64_t step = 1;
  std::vector<Line> lines;
};

// Elements first .. end - 1 of the output, with `source` of each.
Lines lines_with(int64_t first, int64_t end, int64_t step,
                 const std::function<int64_t(int64_t)>& source,
                 const std::function<bool(int64_t)>& blends) {
  Lines result{step, {}};
  for (int64_t start = first; start < std::min(first + step, end); ++start)
    for (int64_t at = start; at < end; at += step) {
      const int64_t low = source(at);
      if (at != start) {
        Line& line = result.lines.back();
        const int64_t by = low - (line.low + (line.count - 1) * line.low_step);
        if (line.blends == blends(at) && by >= 1 && (line.count == 1 || by == line.low_step)) {
          line.low_step = by;
          ++line.count;
          continue;
        }
      }
      result.lines.push_back({at, low, 1, 1, blends(at)});
    }
  return result;
}

// With the step that takes the fewest lines.
Lines fewest_lines(
    int64_t first, int64_t end, const std::function<int64_t(int64_t)>& source,
    const std::function<bool(int64_t)>& blends = [](int64_t) { return false; }) {
  Lines best = lines_with(first, end, 1, source, blends);
  for (int64_t step = 2; step <= std::min(kMostStep, end - first); ++step) {
    Lines lines = lines_with(first, end, step, source, blends);
    if (lines.lines.size() < best.lines.size()) best = std::move(lines);
  }
  return best;
}

Lines low_lines(const std::vector<Neighbours>& axis) {
  return fewest_lines(0, static_cast<int64_t>(axis.size()),
                      [&](int64_t at) { return axis[static_cast<size_t>(at)].low; });
}

// What a line reads and writes along `axis` (Extent's height or width).
struct Strip {
  Operand from, to;
};
Strip strip(const Operand& from, const Operand& to, int32_t Extent::*axis, const Lines& lines,
            const Line& line) {
  const auto part = [&](const Operand& of, int64_t first, int64_t step) {
    Extent origin{0, 0, 0}, extent = of.extent;
    origin.*axis = static_cast<int32_t>(first);
    extent.*axis = static_cast<int32_t>(line.count);
    Operand result = box(of, origin, extent);
    result.step.*axis *= static_cast<int32_t>(step);
    return result;
  };
  return {part(from, line.low, line.low_step), part(to, line.first, lines.step)};
}

void gather(Builder& builder, const Operand& from, const Operand& to, int32_t Extent::*axis,
            const Lines& lines) {
  for (const Line& line : lines.lines) {
    const Strip one = strip(from, to, axis, lines, line);
    builder.copy(one.from, one.to);
  }
}

// ---- Blended --------------------------------------------------------------------------------------

struct Band {
  int64_t first, end;  // rows of the output
  int64_t low, high;   // and of the input
  Lines rows;          // from `first` on and from `low` on
};

// So many bits are common to all weights of an axis: none of them has a one there.
int64_t common_bits(const std::vector<Neighbours>& axis) {
  int64_t all = kResizeOne;
  for (const Neighbours& n : axis) all |= n.weight;
  return std::countr_zero(static_cast<uint64_t>(all));
}

// Weights of int16 are no finer than they have to be, so that sums have room in 32 bits.
void make_coarse(std::vector<Neighbours>& axis, int64_t bits) {
  for (Neighbours& n : axis) n.weight >>= bits;
}

constexpr int64_t kResizeBits = 10, kMostBitsOfInt16 = 15;

struct Blend {
  std::vector<Neighbours> y, x;
  int64_t bits_y = kResizeBits, bits_x = kResizeBits;  // of the weights
  Lines low_columns, high_columns;
  std::vector<Band> bands;

  explicit Blend(const Site& site) : y(neighbours_along(site, 1)), x(neighbours_along(site, 2)) {
    if (site.in().type == DataType::Int16) {
      const int64_t common_y = common_bits(y), common_x = common_bits(x);
      make_coarse(y, common_y), make_coarse(x, common_x);
      bits_y -= common_y, bits_x -= common_x;
    }
    const Shape &in = site.in().shape, &out = site.out().shape;
    low_columns = low_lines(x);
    high_columns = fewest_lines(0, out.at(2), [&](int64_t at) {
      return std::min(x[static_cast<size_t>(at)].low + 1, in.at(2) - 1);
    });
    // So many rows of the input that what they become takes no more memory than the result.
    const int64_t row = out.at(2) * out.at(3);
    const int64_t most =
        std::max({int64_t{2}, out.at(1) / kBytesOfRow, (kLeastBandElements + row - 1) / row});
    for (int64_t first = 0; first < out.at(1);) {
      int64_t end = first + 1;
      const int64_t low = y[static_cast<size_t>(first)].low;
      while (end < out.at(1) && y[static_cast<size_t>(end)].high - low < most) ++end;
      const int64_t high = y[static_cast<size_t>(end - 1)].high;
      const auto at = [&](int64_t place) { return y[static_cast<size_t>(place)]; };
      bands.push_back({first, end, low, high,
                       fewest_lines(
                           first, end, [&](int64_t place) { return at(place).low - low; },
                           [&](int64_t place) { return at(place).weight != 0; })});
      first = end;
    }
  }

  int64_t operations() const {
    int64_t count = 0;
    for (const Band& band : bands) {
      count += static_cast<int64_t>(low_columns.lines.size() + high_columns.lines.size()) + 3;
      for (const Line& line : band.rows.lines) count += line.blends ? 4 : 2;
    }
    return count;
  }
};

// A constant with a weight for each element of an axis, near: it is read again for every other element.
Operand weights_along(Builder& builder, DataType type, const Extent& extent,
                      const std::vector<int64_t>& weights) {
  std::vector<uint8_t> bytes;
  for (const int64_t weight : weights)
    for (int byte = 0; byte < 2; ++byte)
      bytes.push_back(static_cast<uint8_t>(weight >> (8 * byte)));
  const Operand made = builder.constant("weights", DataType::Int16, extent, std::move(bytes));
  return type == DataType::Int32 ? widened(builder, made, 0) : near_constant(builder, made);
}

Operand weighted(Builder& builder, const Operand& values, const Operand& weights) {
  const Operand out = builder.inner("wide", DataType::Int32, values.extent);
  Operation op = builder.start(OperationKind::Mul, values, out);
  op.ifm2 = weights;
  op.ifm2_type = builder.type_of(weights);
  op.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(op));
  return out;
}

// Of the lower and of the higher neighbours of all columns.
struct ColumnWeights {
  Operand low, high;

  ColumnWeights(Builder& builder, const Blend& blend) {
    std::vector<int64_t> of_low, of_high;
    for (const Neighbours& n : blend.x) {
      of_low.push_back((int64_t{1} << blend.bits_x) - n.weight);
      of_high.push_back(n.weight);
    }
    const Extent extent = {1, static_cast<int32_t>(blend.x.size()), 1};
    low = weights_along(builder, DataType::Int16, extent, of_low);
    high = weights_along(builder, DataType::Int16, extent, of_high);
  }
};

// Rows of the input with the output's columns, times 2^bits_x.
Operand blended_columns(Builder& builder, const Operand& rows, const Blend& blend,
                        const ColumnWeights& weights) {
  const auto columns = static_cast<int32_t>(blend.x.size());
  const auto side = [&](const Lines& lines, const Operand& factors) {
    const Operand gathered =
        builder.inner("columns", DataType::Int16, {rows.extent.height, columns, rows.extent.depth});
    gather(builder, rows, gathered, &Extent::width, lines);
    return weighted(builder, gathered, factors);
  };
  const Operand low = side(blend.low_columns, weights.low);
  const Operand high = side(blend.high_columns, weights.high);
  return wide(builder, OperationKind::Add, low, high);
}

// Twice the sums, so that the product's first rounding, by 31 bits, has nothing to round, and its second one sends ties
// away from zero.
void blend_rows(Builder& builder, const Operand& rows, const Operand& out, const Blend& blend,
                const Band& band) {
  for (const Line& line : band.rows.lines) {
    Lines from_first = band.rows;
    Line relative = line;
    relative.first -= band.first;
    const Strip one = strip(rows, out, &Extent::height, from_first, relative);
    const auto side = [&](const Operand& values, bool high) {
      std::vector<int64_t> weights;
      for (int64_t i = 0; i < line.count; ++i) {
        const int64_t weight = blend.y[static_cast<size_t>(line.first + i * band.rows.step)].weight;
        weights.push_back(2 * (high ? weight : (int64_t{1} << blend.bits_y) - weight));
      }
      return weighted(builder, values,
                      weights_along(builder, DataType::Int32,
                                    {static_cast<int32_t>(line.count), 1, 1}, weights));
    };
    Operand sums = side(one.from, false);
    if (line.blends) {
      Operand next = one.from;
      next.origin.height += 1;
      sums = wide(builder, OperationKind::Add, sums, side(next, true));
    }
    builder.emit(wide_operation(builder, OperationKind::Mul, sums, wide_constant(builder, 1 << 30),
                                one.to, 31 + static_cast<int>(blend.bits_y + blend.bits_x)));
  }
}

}  // namespace

Reason refuses_resize_by_lines(const Site& site) {
  if (site.node.kind == graph::OpKind::ResizeNearest) {
    const size_t rows = low_lines(neighbours_along(site, 1)).lines.size();
    const size_t columns = low_lines(neighbours_along(site, 2)).lines.size();
    if (rows + columns > kMostCopies)
      return fmt::format("its rows and columns take {} + {} copies, more than {}", rows, columns,
                         kMostCopies);
    return std::nullopt;
  }
  const Blend blend(site);
  if (site.in().type == DataType::Int16 && blend.bits_y + blend.bits_x > kMostBitsOfInt16)
    return fmt::format("its weights have {} + {} bits, which i16 leaves {} of in sums of 32 bits",
                       blend.bits_y, blend.bits_x, kMostBitsOfInt16);
  const int64_t operations = blend.operations();
  if (operations > kMostBlends)
    return fmt::format("its neighbourhoods take {} operations, more than {}", operations,
                       kMostBlends);
  return std::nullopt;
}

void resize_by_lines(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const int64_t images = site.out().shape.at(0);
  std::optional<Blend> blend;
  std::optional<ColumnWeights> weights;
  if (node.kind == graph::OpKind::ResizeBilinear) weights.emplace(builder, blend.emplace(site));
  for (int64_t n = 0; n < images; ++n) {
    Operand from = image(builder.read(node.inputs.at(0)), n, images);
    Operand to = image(builder.write(node.outputs.at(0)), n, images);
    from.zero_point = to.zero_point = 0;
    if (node.kind == graph::OpKind::ResizeNearest) {
      // The axis that shrinks goes first, or grows less.
      const Lines rows = low_lines(neighbours_along(site, 1)),
                  columns = low_lines(neighbours_along(site, 2));
      const bool rows_first = int64_t{to.extent.height} * from.extent.width <=
                              int64_t{from.extent.height} * to.extent.width;
      Extent half = from.extent;
      (rows_first ? half.height : half.width) = rows_first ? to.extent.height : to.extent.width;
      const Operand between = builder.inner("resized", site.out().type, half);
      gather(builder, from, between, rows_first ? &Extent::height : &Extent::width,
             rows_first ? rows : columns);
      gather(builder, between, to, rows_first ? &Extent::width : &Extent::height,
             rows_first ? columns : rows);
      continue;
    }
    for (const Band& band : blend->bands) {
      const auto low = static_cast<int32_t>(band.low);
      const Operand rows =
          box(from, {low, 0, 0},
              {static_cast<int32_t>(band.high) - low + 1, from.extent.width, from.extent.depth});
      const Operand out =
          box(to, {static_cast<int32_t>(band.first), 0, 0},
              {static_cast<int32_t>(band.end - band.first), to.extent.width, to.extent.depth});
      blend_rows(builder, blended_columns(builder, rows, *blend, *weights), out, *blend, band);
    }
  }
}

}  // namespace intarsia::targets::ethos_u
