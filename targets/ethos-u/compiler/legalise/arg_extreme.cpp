// Where the largest or the least element lies: each element and its place in one value of 16 bits, the element above and the
// place, counted from the end, below, so that the largest of these has the first of equal elements. A table takes the place
// out again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int32_t kPlaces = 128;  // seven bits below eight of the element and its sign

struct Search {
  int64_t outer = 1, places = 1, inner = 1;

  explicit Search(const Site& site) {
    const Shape& shape = site.in().shape;
    const int64_t axis = site.node.attrs<graph::AxisAttrs>().axis;
    places = shape.at(static_cast<size_t>(axis));
    for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
      if (i != axis) (i < axis ? outer : inner) *= shape[static_cast<size_t>(i)];
  }
};

// From `first` on, each less by one.
std::vector<uint8_t> falling(int32_t first, int64_t count) {
  std::vector<uint8_t> bytes;
  for (int32_t value = first; value > first - count; --value)
    for (int byte = 0; byte < 2; ++byte) bytes.push_back(static_cast<uint8_t>(value >> (8 * byte)));
  return bytes;
}

// 127 less the seven low bits: every line of a table of 16 bits has 128 values, and falls by one with each.
std::vector<uint8_t> table_of_places() {
  constexpr int32_t kLines = 512;
  std::vector<uint8_t> table;
  for (int32_t line = 0; line < kLines; ++line)
    for (const int32_t half : {kPlaces - 1, -kPlaces})
      for (int byte = 0; byte < 2; ++byte)
        table.push_back(static_cast<uint8_t>(half >> (8 * byte)));
  return table;
}

// 128 * x + 127 - place, or 128 * (-1 - x) + 127 - place, since the least of x is the largest of -1 - x. Places are channels:
// they are the biases of one operation.
Operand places_of_channels(Builder& builder, const Operand& x, bool largest) {
  const Operand both = builder.inner("places", DataType::Int16, x.extent);
  Operation op = builder.start(OperationKind::Depthwise, x, both);
  op.ifm.zero_point = 0;
  op.weights = Weights(static_cast<size_t>(x.extent.depth),
                       static_cast<int16_t>(largest ? kPlaces : -kPlaces));
  for (int32_t place = 0; place < x.extent.depth; ++place) {
    constexpr int kShift = 30;
    op.scales.push_back({.bias = (largest ? kPlaces - 1 : -1) - place,
                         .multiplier = uint32_t{1} << kShift,
                         .shift = kShift});
  }
  builder.emit(std::move(op));
  return both;
}

// The same where places are columns.
Operand places_of_columns(Builder& builder, const Operand& x, bool largest) {
  const Operand above = builder.inner("above", DataType::Int16, x.extent);
  Operation shift = builder.start(OperationKind::Mul, x, above);
  shift.ifm.zero_point = 0;
  shift.ifm2_scalar = 1;
  shift.ifm2_type = DataType::Int8;
  shift.global_scale = ChannelScale{.multiplier = kPlaces};
  builder.emit(std::move(shift));

  const int32_t columns = x.extent.width;
  const Operand both = builder.inner("places", DataType::Int16, x.extent);
  Operation add = builder.start(largest ? OperationKind::Add : OperationKind::Sub, above, both);
  add.reverse_operands = !largest;
  add.ifm2 = near_constant(builder, builder.constant("places", DataType::Int16, {1, columns, 1},
                                                     falling(largest ? kPlaces - 1 : -1, columns)));
  add.ifm2_type = DataType::Int16;
  add.ifm_scale = add.ifm2_scale = ChannelScale{.multiplier = 1};
  add.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(add));
  return both;
}

}  // namespace

Reason refuses_arg_extreme(const Site& site) {
  if (site.in().type != DataType::Int8 || site.out().type != DataType::Int32)
    return fmt::format("the places of an {} as {} do not fit 16 bits beside the elements",
                       to_string(site.in().type), to_string(site.out().type));
  const Search s(site);
  if (s.places > kPlaces)
    return fmt::format("the largest or the least of {} elements is searched, above {}", s.places,
                       kPlaces);
  if (s.outer > kMostExtent || s.inner > kMostExtent)
    return fmt::format("{} x {} searches are above {} x {}", s.outer, s.inner, kMostExtent,
                       kMostExtent);
  return std::nullopt;
}

void legalise_arg_extreme(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Search s(site);
  const auto places = static_cast<int32_t>(s.places);
  const Extent all = {static_cast<int32_t>(s.outer), places, static_cast<int32_t>(s.inner)};
  const Extent one = {all.height, 1, all.depth};
  const bool largest = node.kind == graph::OpKind::ArgMax;

  const Operand both =
      s.inner == 1
          ? places_of_channels(builder, builder.read_as(node.inputs.at(0), {all.height, 1, places}),
                               largest)
          : places_of_columns(builder, builder.read_as(node.inputs.at(0), all), largest);
  const Operand most = builder.inner("most", DataType::Int16, one);
  Operation pool = builder.start(OperationKind::MaxPool, builder.reshaped(both, all), most);
  pool.kernel.width = places;
  builder.emit(std::move(pool));

  const Operand place = builder.inner("place", DataType::Int16, one);
  builder.look_up(most, place, "places", table_of_places());
  Operation widen =
      builder.start(OperationKind::Mul, place, builder.write_as(node.outputs.at(0), one));
  widen.ofm.zero_point = 0;
  widen.ifm2_scalar = 1;
  widen.ifm2_type = DataType::Int16;
  widen.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(widen));
}

}  // namespace intarsia::targets::ethos_u
