// Operators that only move elements: quantised values keep their scale through them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/onnx/elements.h"
#include "import/onnx/many_axes.h"
#include "import/onnx/moving.h"
#include "import/onnx/placed_slice.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/whole_numbers.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

// Quantised operands come to one scale: that of the result when it is quantised, else the first one's.
void read_concat(Reader& in) {
  std::vector<size_t> parts;
  for (size_t i = 0; i < in.node().inputs.size(); ++i)
    if (in.has(i)) parts.push_back(i);
  if (parts.empty()) {  // nothing behind nothing
    Shape shape = in.shape_of(0);
    const auto axis = static_cast<size_t>(in.axis(in.integer("axis", 1), shape.size()));
    for (size_t i = 1; i < in.node().inputs.size() && in.ok(); ++i)
      if (in.require(in.shape_of(i).size() == shape.size(), "joins tensors of several ranks"))
        shape[axis] += in.shape_of(i)[axis];
    return in.result_empty(0, shape);
  }
  const size_t first = parts[0];
  const graph::AxisAttrs attrs{in.axis(in.integer("axis", 1), in.shape_of(first).size())};
  if (!in.ok()) return;
  bool all_real = true, alike = true;
  for (const size_t i : parts) {
    all_real &= in.is_real(i) && !in.tensor(in.value(i).tensor).quantization.per_channel();
    alike &= in.value(i).form == in.value(first).form &&
             in.tensor(in.value(i).tensor).quantization ==
                 in.tensor(in.value(first).tensor).quantization;
  }
  const Tail tail = in.tail(false);
  std::vector<TensorId> operands;
  if (all_real && (tail.as || alike)) {
    const TensorId made = in.attempt([&] {
      operands.clear();
      for (const size_t i : parts)
        operands.push_back(tail.as ? in.requantize(in.value(i).tensor, *tail.as)
                                   : in.value(i).tensor);
      return in.emit_alike(OpKind::Concat, attrs, operands);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const Form form = alike && in.value(first).form == Form::Shifted ? Form::Shifted : Form::Plain;
  operands.clear();
  for (const size_t i : parts)
    operands.push_back(form == Form::Shifted ? in.value(i).tensor : in.operand(i));
  in.result(0, {in.emit_alike(OpKind::Concat, attrs, operands), form, {}});
}

void read_split(Reader& in) {
  const Shape shape = in.shape_of(0);
  const int64_t axis = in.axis(in.integer("axis", 0), shape.size());
  const auto given = in.integers_from(1, "split", "its sizes");
  if (!in.ok()) return;
  const auto count = static_cast<int64_t>(in.node().outputs.size());
  const int64_t extent = shape[static_cast<size_t>(axis)], piece = ceil_div(extent, count);
  graph::SplitAttrs attrs{axis, given.value_or(std::vector<int64_t>{})};
  for (int64_t at = 0; !given && at < count; ++at)
    attrs.sizes.push_back(std::min(piece, extent - at * piece));
  if (!in.require(attrs.sizes.size() == in.node().outputs.size(),
                  fmt::format("has {} sizes for {} outputs", attrs.sizes.size(), count)))
    return;
  std::vector<size_t> made;  // outputs that have elements
  for (size_t i = 0; i < attrs.sizes.size(); ++i) {
    Shape part = shape;
    part[static_cast<size_t>(axis)] = attrs.sizes[i];
    if (element_count(part) != 0)
      made.push_back(i);
    else
      in.result_empty(i, part);
  }
  if (made.empty()) return;
  std::erase(attrs.sizes, 0);
  TensorId id = in.carry();
  // Of more axes than an image has, those before and behind are one each where there are several before.
  constexpr size_t kImageRank = 4;
  const auto at = shape.begin() + axis;
  const bool merges = shape.size() > kImageRank && !in.tensor(id).quantization.per_channel() &&
                      std::count_if(shape.begin(), at, [](int64_t n) { return n > 1; }) > 1;
  if (merges) {
    id = in.reshape(id, {element_count(Shape(shape.begin(), at)), extent,
                         element_count(Shape(at + 1, shape.end()))});
    attrs.axis = 1;
  }
  const graph::Tensor source = in.tensor(id);
  const Form form = source.quantization.present() ? in.value(0).form : Form::Plain;
  const std::vector<TensorId> pieces =
      in.emit_many(OpKind::Split, attrs, {id}, made.size(), source.type, source.quantization);
  for (size_t i = 0; i < pieces.size() && in.ok(); ++i) {
    Shape part = shape;
    part[static_cast<size_t>(axis)] = attrs.sizes[i];
    in.result(made[i], {merges ? in.reshape(pieces[i], part) : pieces[i], form, {}});
  }
}

// Starts, ends and steps count from the end when negative, and are cut to what is there.
void read_slice(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto is_open = [&](size_t operand) {
    return in.has(operand) && !in.is_constant(in.operand(operand));
  };
  if (is_open(1) || is_open(2)) {
    if (slice_at_places(in) || !in.ok()) return;
  }
  const auto starts = in.integers_from(1, "starts", "its beginnings"),
             ends = in.integers_from(2, "ends", "its ends"),
             given_axes = in.integers_from(3, "axes", "its axes");
  const auto steps = in.has(4) ? in.known_integers(4, "its steps") : std::nullopt;
  if (!in.ok() || !in.require(starts && ends && starts->size() == ends->size(),
                              "needs as many ends as beginnings"))
    return;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < starts->size(); ++i)
    axes.push_back(given_axes && i < given_axes->size() ? (*given_axes)[i]
                                                        : static_cast<int64_t>(i));
  if (!in.require((!given_axes || given_axes->size() == axes.size()) &&
                      (!steps || steps->size() == axes.size()),
                  "needs as many axes and steps as beginnings"))
    return;
  graph::SliceAttrs attrs;
  attrs.begin.assign(shape.size(), 0), attrs.size = shape, attrs.stride.assign(shape.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(in.axis(axes[i], shape.size()));
    if (!in.ok()) return;
    const int64_t extent = shape[at], step = steps ? (*steps)[i] : 1;
    if (extent == 0) continue;
    if (!in.require(step != 0 && step > -(int64_t{1} << 31) && step < (int64_t{1} << 31),
                    fmt::format("has the step {}", step)))
      return;
    const auto place = [&](int64_t given, int64_t least, int64_t most) {
      return std::clamp(given < 0 ? std::max(given, -2 * extent - 2) + extent : given, least, most);
    };
    const int64_t begin =
        step > 0 ? place((*starts)[i], 0, extent) : place((*starts)[i], 0, extent - 1);
    const int64_t end = step > 0 ? place((*ends)[i], 0, extent) : place((*ends)[i], -1, extent - 1);
    const int64_t size = step > 0 ? ceil_div(end - begin, step) : (begin - end - step - 1) / -step;
    attrs.begin[at] = begin, attrs.size[at] = std::max<int64_t>(size, 0);
    attrs.stride[at] = size <= 1 ? 1 : step;
  }
  // As a roll by nothing has it: all, and the rest behind it.
  if (element_count(attrs.size) == 0) return in.result_empty(0, attrs.size);
  move(in, [&](TensorId id) { return in.emit_alike(OpKind::Slice, attrs, {id}); });
}

namespace {

// What lies beyond the operand along each axis, picked from it: for ways of padding that the IR does not have.
void pad_by_places(Reader& in, const std::vector<int64_t>& before,
                   const std::vector<int64_t>& after, const std::string& mode) {
  const Shape shape = in.shape_of(0);
  move(in, [&](TensorId id) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (before[axis] == 0 && after[axis] == 0) continue;
      const int64_t extent = shape[axis], end = extent + after[axis];
      if (!in.require(end > -before[axis], "leaves no element") ||
          !table_fits(in, end + before[axis]))
        return TensorId{};
      std::vector<int64_t> places;
      for (int64_t at = -before[axis]; at < end; ++at) {
        const int64_t period = mode == "wrap" ? extent : std::max<int64_t>(2 * extent - 2, 1);
        const int64_t turned = ((at % period) + period) % period;
        places.push_back(mode == "edge"    ? std::clamp<int64_t>(at, 0, extent - 1)
                         : turned < extent ? turned
                                           : period - turned);
      }
      const TensorId indices =
          in.make_constant(integer_values(DataType::Int32, {std::ssize(places)}, places));
      id = in.emit_alike(OpKind::Gather, graph::GatherAttrs{static_cast<int64_t>(axis), 0},
                         {id, indices});
    }
    return id;
  });
}

TensorId filler_of(Reader& in, TensorId x, const Number& constant, int64_t shift = 0) {
  const graph::Tensor padded = in.tensor(x);
  if (padded.type == kFloat) return in.number(constant.real);
  return in.make_constant(integer_values(padded.type, {}, {constant.whole - shift}),
                          padded.quantization);
}

// Whole numbers of 64 bits with 32, as others.
void result_of_padding(Reader& in, const graph::PadAttrs& attrs, TensorId x, TensorId filler) {
  if (in.tensor(x).type != DataType::Int64 || in.is_constant(x))
    return in.result(in.emit_alike(OpKind::PadV2, attrs, {x, filler}));
  in.result(in.cast(in.emit_alike(OpKind::PadV2, attrs, {narrowed(in, x), narrowed(in, filler)}),
                    DataType::Int64));
}

// Negative amounts are elements that go.
void cut_and_pad(Reader& in, std::vector<int64_t> before, std::vector<int64_t> after,
                 const Number& constant) {
  graph::SliceAttrs cut;
  cut.size = in.shape_of(0), cut.stride.assign(before.size(), 1);
  for (size_t i = 0; i < before.size(); ++i) {
    cut.begin.push_back(std::max<int64_t>(0, -before[i]));
    cut.size[i] += std::min<int64_t>(0, before[i]) + std::min<int64_t>(0, after[i]);
    if (!in.require(cut.size[i] >= 1, "leaves no element")) return;
    before[i] = std::max<int64_t>(0, before[i]), after[i] = std::max<int64_t>(0, after[i]);
  }
  const TensorId x = in.emit_alike(OpKind::Slice, cut, {in.operand(0)}, "cut");
  if (in.ok()) result_of_padding(in, {before, after}, x, filler_of(in, x, constant));
}

}  // namespace

void read_pad(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto given = in.integers_from(1, "pads", "its amounts");
  const auto given_axes = in.has(3) ? in.known_integers(3, "its axes") : std::nullopt;
  if (!in.ok() || !in.require(given.has_value(), "has no amounts")) return;
  const size_t axes = given_axes ? given_axes->size() : shape.size();
  if (!in.require(given->size() == 2 * axes,
                  fmt::format("has {} amounts for {} axes", given->size(), axes)))
    return;
  std::vector<int64_t> before(shape.size(), 0), after(shape.size(), 0);
  bool cuts = false;
  for (size_t i = 0; i < axes; ++i) {
    const auto at = static_cast<size_t>(given_axes ? in.axis((*given_axes)[i], shape.size())
                                                   : static_cast<int64_t>(i));
    if (!in.ok()) return;
    before[at] = (*given)[i], after[at] = (*given)[axes + i];
    constexpr int64_t kMost = graph::kMaxTensorBytes;
    const auto is_near = [](int64_t size) { return -kMost <= size && size <= kMost; };
    if (!in.require(is_near(before[at]) && is_near(after[at]),
                    fmt::format("adds {} and {} elements", before[at], after[at])))
      return;
    cuts |= before[at] < 0 || after[at] < 0;
  }
  const std::string mode = in.text("mode", "constant");
  const Number constant = in.has(2) ? known_number(in, 2, "its value").value_or(Number{})
                                    : Number{in.real("value", 0), 0};
  if (!in.require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
                  fmt::format("has the mode '{}'; constant, edge, reflect and wrap are possible",
                              tflite::printable(mode))) ||
      !in.ok())
    return;
  if (cuts && mode != "constant") return pad_by_places(in, before, after, mode);
  if (cuts) return cut_and_pad(in, before, after, constant);
  if (mode != "constant") {
    const bool by_one = std::ranges::all_of(before, [](int64_t n) { return n <= 1; }) &&
                        std::ranges::all_of(after, [](int64_t n) { return n <= 1; });
    if (mode == "wrap" || (mode == "edge" && !by_one))
      return pad_by_places(in, before, after, mode);
    return move(in, [&](TensorId id) {
      return in.emit_alike(OpKind::MirrorPad, graph::MirrorPadAttrs{before, after, mode == "edge"},
                           {id});
    });
  }
  const graph::PadAttrs attrs{before, after};
  const graph::Tensor source = in.tensor(in.value(0).tensor);
  const bool pads_zero =
      constant.real == 0 &&
      (in.is_real(0) || (!source.quantization.present() && in.value(0).form == Form::Plain));
  if (pads_zero) {
    const TensorId made =
        in.attempt([&] { return in.emit_alike(OpKind::Pad, attrs, {in.carry()}); });
    if (made.valid())
      return in.result(0,
                       {made, in.tensor(made).type == kFloat ? Form::Plain : in.value(0).form, {}});
  }
  // Unsigned bytes as the signed ones that they are known as: mostly with their zero point.
  const bool is_shifted = in.value(0).form == Form::Shifted && source.type == DataType::Int8 &&
                          !source.quantization.per_channel();
  const TensorId x = is_shifted ? in.value(0).tensor : in.operand(0);
  const int64_t shift = is_shifted ? shift_of(source.type) : 0;
  const bool is_zero = is_shifted && source.quantization.present() &&
                       source.quantization.zero_point[0] == constant.whole - shift;
  if (is_zero) return in.carried(in.emit_alike(OpKind::Pad, attrs, {x}));
  const TensorId filler = filler_of(in, x, constant, shift);
  if (is_shifted) return in.carried(in.emit_alike(OpKind::PadV2, attrs, {x, filler}));
  result_of_padding(in, attrs, x, filler);
}

// Cut or padded with 0 at both ends, to a size that is known.
void read_center_crop_pad(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto sizes = in.known_integers(1, "its sizes");
  if (!sizes) return;
  std::vector<int64_t> axes = in.integers("axes").value_or(std::vector<int64_t>{});
  if (axes.empty())
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (!in.require(axes.size() == sizes->size(), "has a size per axis")) return;
  graph::SliceAttrs cut{
      std::vector<int64_t>(shape.size(), 0), shape, std::vector<int64_t>(shape.size(), 1), {}};
  graph::PadAttrs pad{cut.begin, cut.begin};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(in.axis(axes[i], shape.size()));
    const int64_t size = (*sizes)[i], extent = in.ok() ? shape[at] : 1;
    if (!in.ok() || !in.require(size >= 1 && size <= 1 << 20, fmt::format("makes {}", size)))
      return;
    if (size < extent)
      cut.begin[at] = (extent - size) / 2, cut.size[at] = size;
    else
      pad.before[at] = (size - extent) / 2, pad.after[at] = size - extent - pad.before[at];
  }
  TensorId x = in.operand(0);
  if (cut.size != shape) x = in.emit_alike(OpKind::Slice, cut, {x}, "cut");
  if (pad !=
      graph::PadAttrs{std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 0)})
    x = in.emit_alike(OpKind::Pad, pad, {x});
  in.result(x);
}

void read_transpose(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  std::vector<int64_t> order = in.integers("perm").value_or(std::vector<int64_t>{});
  if (order.empty())
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted.size() != rank || sorted[i] != static_cast<int64_t>(i))
      return in.problem(
          fmt::format("has [{}], which is no order of {} axes", fmt::join(order, ","), rank));
  if (rank <= graph::kMaxRank && !in.is_empty(0))
    return in.result(0, {in.transpose(in.value(0).tensor, order), in.value(0).form, {}});
  const Shape given = in.shape_of(0);
  Shape shape;
  for (const int64_t axis : order) shape.push_back(given[static_cast<size_t>(axis)]);
  if (in.is_empty(0)) return in.result_empty(0, shape);
  const TensorId id = in.carry();
  const Form form = in.tensor(id).type == kFloat ? Form::Plain : in.value(0).form;
  in.result_of_shape({transpose_many_axes(in, id, given, order), form, {}}, shape);
}

void read_expand(Reader& in) {
  auto wanted = in.known_integers(1, "its shape");
  if (!wanted) return;
  const Shape shape = in.shape_of(0);
  for (size_t i = 0; i < std::min(shape.size(), wanted->size());
       ++i) {  // both ways: 1 takes the other's extent
    int64_t& extent = (*wanted)[wanted->size() - 1 - i];
    if (extent == 1) extent = shape[shape.size() - 1 - i];
  }
  if (wanted->size() < shape.size())
    wanted->insert(wanted->begin(), shape.begin(),
                   shape.end() - static_cast<ptrdiff_t>(wanted->size()));
  if (element_count(*wanted) == 0) return in.result_empty(0, *wanted);
  if (wanted->size() > graph::kMaxRank) return expand_many_axes(in, shape, *wanted);
  move(in, [&](TensorId id) {
    return in.emit_alike(OpKind::BroadcastTo, graph::ShapeAttrs{*wanted}, {id});
  });
}

void read_tile(Reader& in) {
  const auto multiples = in.known_integers(1, "its multiples");
  if (!multiples) return;
  move(in, [&](TensorId id) {
    return in.emit_alike(OpKind::Tile, graph::TileAttrs{*multiples}, {id});
  });
}

namespace {

// Places as the IR counts them: int32, from the beginning.
TensorId indices(Reader& in, size_t operand, int64_t extent) {
  TensorId id = in.operand(operand);
  if (!in.is_constant(id)) return from_beginning(in, in.cast(id, DataType::Int32), {extent});
  std::vector<int64_t> places = as_integers(in.values_of(id));
  for (int64_t& place : places) {
    if (!in.require(place >= -extent && place < extent,
                    fmt::format("takes element {} of {}", place, extent)))
      return {};
    if (place < 0) place += extent;
  }
  return in.make_constant(integer_values(DataType::Int32, in.shape(id), places));
}

}  // namespace

void read_gather(Reader& in) {
  const Shape shape = in.shape_of(0);
  const graph::GatherAttrs attrs{in.axis(in.integer("axis", 0), shape.size()), 0};
  if (!in.ok()) return;
  const TensorId places = indices(in, 1, shape[static_cast<size_t>(attrs.axis)]);
  move(in, [&](TensorId id) { return in.emit_alike(OpKind::Gather, attrs, {id, places}); });
}

// Each row of places behind the place of its batch.
static TensorId with_batches(Reader& in, TensorId places, int64_t batches) {
  Shape rows = in.shape(places);
  rows.back() = batches;
  std::vector<int64_t> numbers;
  const int64_t count = element_count(rows) / batches;
  for (int64_t row = 0; row < count; ++row) {
    std::vector<int64_t> at(rows.size() - 1);
    int64_t rest = row;
    for (size_t axis = at.size(); axis-- > 0; rest /= rows[axis]) at[axis] = rest % rows[axis];
    numbers.insert(numbers.end(), at.begin(), at.begin() + batches);
  }
  const TensorId batch = in.make_constant(integer_values(DataType::Int32, rows, numbers));
  return in.emit_alike(OpKind::Concat, graph::AxisAttrs{std::ssize(rows) - 1}, {batch, places},
                       "places");
}

void read_gather_nd(Reader& in) {
  const Shape shape = in.shape_of(0), wanted = in.shape_of(1);
  const int64_t batches = in.integer("batch_dims", 0);
  if (!in.require(batches >= 0 && batches < std::ssize(wanted) && batches < std::ssize(shape) &&
                      wanted.back() >= 1 && batches + wanted.back() <= std::ssize(shape),
                  fmt::format("takes the places [{}] of [{}] in batches of {} axes",
                              fmt::join(wanted, ","), fmt::join(shape, ","), batches)))
    return;
  TensorId places = in.operand(1);
  if (in.is_constant(places)) {  // from the beginning
    std::vector<int64_t> known = as_integers(in.values_of(places));
    for (size_t i = 0; i < known.size(); ++i) {
      const int64_t extent =
          shape[static_cast<size_t>(batches) + i % static_cast<size_t>(wanted.back())];
      if (known[i] < 0) known[i] += extent;
      if (!in.require(known[i] >= 0 && known[i] < extent,
                      fmt::format("takes element {} of {}", known[i], extent)))
        return;
    }
    places = in.make_constant(integer_values(DataType::Int32, wanted, known));
  } else {
    places = from_beginning(in, in.cast(places, DataType::Int32),
                            {shape.begin() + batches, shape.begin() + batches + wanted.back()});
  }
  if (batches > 0) places = with_batches(in, places, batches);
  move(in, [&](TensorId id) { return in.emit_alike(OpKind::GatherNd, NoAttrs{}, {id, places}); });
}

}  // namespace intarsia::onnx
