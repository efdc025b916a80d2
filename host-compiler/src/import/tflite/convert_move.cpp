// Kinds that only move elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

// One pair of amounts per axis, from a constant of shape [axes,2].
bool read_pairs(OperatorReader& in, size_t operand, size_t axes, std::vector<int64_t>& before,
                std::vector<int64_t>& after) {
  const auto amounts = in.integers(operand, "its padding");
  if (!amounts) return false;
  if (in.input(operand).shape != Shape{static_cast<int64_t>(axes), 2}) {
    in.problem(fmt::format("needs one pair of amounts per axis, [{},2], but {} has shape [{}]",
                           axes, in.input_label(operand), fmt::join(in.input(operand).shape, ",")));
    return false;
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    before.push_back((*amounts)[2 * axis]);
    after.push_back((*amounts)[2 * axis + 1]);
  }
  const bool possible = std::ranges::all_of(
      *amounts, [](int64_t amount) { return amount >= 0 && amount <= kLargestTensor; });
  if (!possible) {
    in.problem(fmt::format("pads by [{}]; amounts must be 0 or more and fit memory",
                           fmt::join(*amounts, ",")));
  }
  return possible;
}

}  // namespace

Converted convert_mirror_pad(OperatorReader& in) {
  graph::MirrorPadAttrs attrs;
  const auto* options = in.required_options<format::MirrorPadOptions>();
  if (options == nullptr) return {attrs, 1};
  attrs.symmetric = options->mode() == 1;
  read_pairs(in, 1, in.input(0).shape.size(), attrs.before, attrs.after);
  return {attrs, 1};
}

Converted convert_concat(OperatorReader& in) {
  const auto* options = in.required_options<format::ConcatenationOptions>();
  if (options == nullptr) return {graph::AxisAttrs{}};
  if (options->activation() != format::Activation::None) {
    in.problem("has a fused activation, which a concatenation cannot compute",
               "make the activation an operator of its own");
  }
  return {graph::AxisAttrs{in.axis(options->axis(), in.input(0).shape.size())}};
}

Converted convert_pack(OperatorReader& in) {
  const auto* options = in.required_options<format::PackOptions>();
  if (options == nullptr) return {graph::AxisAttrs{}};
  return {graph::AxisAttrs{in.axis(options->axis(), in.input(0).shape.size() + 1)}};
}

Converted convert_unpack(OperatorReader& in) {
  const auto* options = in.required_options<format::UnpackOptions>();
  if (options == nullptr) return {graph::AxisAttrs{}};
  return {graph::AxisAttrs{in.axis(options->axis(), in.input(0).shape.size())}};
}

// SPLIT: axis, input. SPLIT_V: input, sizes, axis. The outputs' shapes have the sizes.
Converted convert_split(OperatorReader& in) {
  const bool sized = in.op().type.starts_with("SPLIT_V");
  Converted result{graph::SplitAttrs{}};
  result.operands = {sized ? size_t{0} : size_t{1}};
  const graph::Tensor& input = in.input(result.operands[0]);
  const auto axis = in.integers(sized ? 2 : 0, "its axis");
  if (!axis) return result;
  if (axis->size() != 1) {
    in.problem(fmt::format("has {} axes, but takes 1", axis->size()));
    return result;
  }
  graph::SplitAttrs attrs;
  attrs.axis = in.axis(axis->front(), input.shape.size());
  if (!in.clean()) return result;
  for (size_t i = 0; i < in.output_count(); ++i) {
    const Shape& shape = in.output(i).shape;
    if (shape.size() != input.shape.size()) {
      in.problem(fmt::format("has an output of rank {} for an input of rank {}", shape.size(),
                             input.shape.size()));
      return result;
    }
    attrs.sizes.push_back(shape[static_cast<size_t>(attrs.axis)]);
  }
  result.attributes = attrs;
  return result;
}

Converted convert_slice(OperatorReader& in) {
  graph::SliceAttrs attrs;
  const Shape& shape = in.input(0).shape;
  const auto begin = in.integers(1, "its beginning"), size = in.integers(2, "its size");
  if (!begin || !size) return {attrs, 1};
  if (begin->size() != shape.size() || size->size() != shape.size()) {
    in.problem(fmt::format("has {} beginnings and {} sizes for rank {}", begin->size(),
                           size->size(), shape.size()));
    return {attrs, 1};
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t first = (*begin)[axis];
    const int64_t count = (*size)[axis] == -1 ? shape[axis] - first : (*size)[axis];
    if (first < 0 || count < 1 || first + count > shape[axis]) {
      in.problem(fmt::format("takes {} elements from {} on of axis {}, which has {}", count, first,
                             axis, shape[axis]));
    }
    attrs.begin.push_back(first), attrs.size.push_back(count), attrs.stride.push_back(1);
  }
  return {attrs, 1};
}

bool bit(int32_t mask, size_t axis) {
  return axis < 32 && ((static_cast<uint32_t>(mask) >> axis) & 1) != 0;
}

Converted convert_strided_slice(OperatorReader& in) {
  graph::SliceAttrs attrs;
  const auto* options = in.required_options<format::StridedSliceOptions>();
  if (options == nullptr) return {attrs, 1};
  if (options->ellipsis_mask() != 0 || options->new_axis_mask() != 0) {
    in.problem("has an ellipsis or makes new axes, which TFLite Micro does not run either",
               "write out all axes of the slice");
    return {attrs, 1};
  }
  const Shape& shape = in.input(0).shape;
  const auto begin = in.integers(1, "its beginning"), end = in.integers(2, "its end"),
             stride = in.integers(3, "its strides");
  if (!begin || !end || !stride) return {attrs, 1};
  if (begin->size() > shape.size() || end->size() != begin->size() ||
      stride->size() != begin->size()) {
    in.problem(fmt::format("has {} beginnings, {} ends and {} strides for rank {}", begin->size(),
                           end->size(), stride->size(), shape.size()));
    return {attrs, 1};
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = shape[axis];
    if (axis >= begin->size()) {  // the rest is taken whole
      attrs.begin.push_back(0), attrs.size.push_back(extent), attrs.stride.push_back(1);
      continue;
    }
    const int64_t step = (*stride)[axis];
    if (step == 0) {
      in.problem(fmt::format("has a stride of 0 along axis {}", axis));
      return {attrs, 1};
    }
    // Ascending: 0 .. extent; descending: extent - 1 .. -1.
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    const auto limited = [&](int64_t value) {
      return std::clamp(value < 0 ? value + extent : value, low, high);
    };
    const bool dropped = bit(options->shrink_axis_mask(), axis);
    const int64_t first =
        bit(options->begin_mask(), axis) ? (step > 0 ? 0 : extent - 1) : limited((*begin)[axis]);
    const int64_t stated = options->offset() ? first + (*end)[axis] : (*end)[axis];
    int64_t last = bit(options->end_mask(), axis) ? (step > 0 ? high : low)
                   : options->offset()            ? std::clamp(stated, low, high)
                                                  : limited(stated);
    if (dropped) last = first + (step > 0 ? 1 : -1);
    const int64_t span = step > 0 ? last - first : first - last;
    const int64_t count = (span + std::abs(step) - 1) / std::abs(step);
    if (span <= 0 || first < 0 || first >= extent) {
      in.problem(fmt::format("takes no elements of axis {}", axis));
      return {attrs, 1};
    }
    attrs.begin.push_back(first), attrs.size.push_back(count), attrs.stride.push_back(step);
    if (dropped) attrs.drop.push_back(static_cast<int64_t>(axis));
  }
  return {attrs, 1};
}

Converted convert_transpose(OperatorReader& in) {
  graph::TransposeAttrs attrs;
  const size_t rank = in.input(0).shape.size();
  const auto axes = in.integers(1, "its permutation");
  if (!axes) return {attrs, 1};
  for (const int64_t axis : *axes) attrs.permutation.push_back(in.axis(axis, rank));
  return {attrs, 1};
}

Converted convert_batch_space(OperatorReader& in) {
  graph::BatchSpaceAttrs attrs;
  const auto block = in.integers(1, "its block");
  if (!block) return {attrs, 1};
  attrs.block = *block;
  read_pairs(in, 2, block->size(), attrs.before, attrs.after);
  return {attrs, 1};
}

// BROADCAST_TO: input, shape. FILL: shape, value. ZEROS_LIKE: a tensor of the shape.
Converted convert_broadcast_to(OperatorReader& in) {
  Converted result{graph::ShapeAttrs{in.output().shape}, 1};
  if (in.op().code == kZEROS_LIKE) {
    graph::Tensor zero = in.output();
    zero.name = in.op().name + "_zero";
    zero.shape = {};
    const auto size = static_cast<size_t>(zero.bytes());
    result.only = MadeConstant{std::move(zero), std::vector<uint8_t>(size, 0)};
    return result;
  }
  const bool is_fill = in.op().code == kFILL;
  if (is_fill) result.operands = {1};
  const auto shape = in.integers(is_fill ? 0 : 1, "its shape");
  if (!shape) return result;
  in.decide_shape(*shape);
  result.attributes = graph::ShapeAttrs{*shape};
  return result;
}

Converted convert_tile(OperatorReader& in) {
  const auto multiples = in.integers(1, "its multiples");
  return {graph::TileAttrs{multiples ? *multiples : std::vector<int64_t>{}}, 1};
}

// A slice that begins at the end.
Converted convert_reverse(OperatorReader& in) {
  graph::SliceAttrs attrs;
  const Shape& shape = in.input(0).shape;
  attrs.begin.assign(shape.size(), 0), attrs.stride.assign(shape.size(), 1);
  attrs.size = shape;
  const auto axes = in.integers(1, "its axes");
  if (!axes) return {attrs, 1};
  for (const int64_t named : *axes) {
    const auto axis = static_cast<size_t>(in.axis(named, shape.size()));
    if (!in.clean()) return {attrs, 1};
    attrs.begin[axis] = shape[axis] - 1, attrs.stride[axis] = -1;
  }
  return {attrs, 1};
}

Converted convert_gather(OperatorReader& in) {
  if (in.op().code == kEMBEDDING_LOOKUP) {  // indices, data
    Converted result{graph::GatherAttrs{}};
    result.operands = {1, 0};
    return result;
  }
  const auto* options = in.options<format::GatherOptions>();
  graph::GatherAttrs attrs;
  if (options != nullptr) {
    attrs.axis = in.axis(options->axis(), in.input(0).shape.size());
    attrs.batch_dims = options->batch_dims();
    if (attrs.batch_dims < 0) {
      attrs.batch_dims += static_cast<int64_t>(in.input(1).shape.size());
    }
  }
  return {attrs};
}

namespace {

template <typename Options>
Converted convert_resize(OperatorReader& in) {
  graph::ResizeAttrs attrs;
  const auto* options = in.options<Options>();
  if (options != nullptr) {
    attrs.align_corners = options->align_corners();
    attrs.half_pixel_centers = options->half_pixel_centers();
  }
  const auto size = in.integers(1, "its size");
  if (!size) return {attrs, 1};
  if (size->size() != 2) {
    in.problem(fmt::format("has a size of {} numbers, needs height and width", size->size()));
    return {attrs, 1};
  }
  attrs.height = (*size)[0], attrs.width = (*size)[1];
  return {attrs, 1};
}

template <typename Options>
Converted convert_block(OperatorReader& in) {
  const auto* options = in.required_options<Options>();
  return {graph::BlockAttrs{options ? in.positive(options->block(), "block size") : 1}, 1};
}

}  // namespace

Converted convert_resize_nearest(OperatorReader& in) {
  return convert_resize<format::ResizeNearestOptions>(in);
}
Converted convert_resize_bilinear(OperatorReader& in) {
  return convert_resize<format::ResizeBilinearOptions>(in);
}
Converted convert_space_to_depth(OperatorReader& in) {
  return convert_block<format::SpaceToDepthOptions>(in);
}
Converted convert_depth_to_space(OperatorReader& in) {
  return convert_block<format::DepthToSpaceOptions>(in);
}

Converted convert_pad(OperatorReader& in) {
  graph::PadAttrs attrs;
  read_pairs(in, 1, in.input(0).shape.size(), attrs.before, attrs.after);
  Converted result{attrs, 1};
  if (in.op().known->kind == OpKind::PadV2) result.operands = {0, 2};
  return result;
}

}  // namespace intarsia::tflite
