// Pools, means, and what only moves.
#include <algorithm>

#include <fmt/format.h>

#include "legalise/layer_maker.h"
#include "support/support.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kBrickChannels = 16;

bool is_padded_at_the_end(const graph::Padding2d& pad) {
  return pad.bottom == 1 && pad.right == 1;
}

}  // namespace

Reason LayerMaker::max_pool() {
  const auto& attributes = node_.attrs<graph::Pool2dAttrs>();
  if (attributes.stride_h == 1) return max_pool_of_stride_1();
  const FeatureMap input = read(), output = write();
  PleStep ple;
  if (attributes.filter_h == 1) ple.operation = PleOperation::DOWNSAMPLE_2X2;
  if (attributes.filter_h == 2) ple.operation = PleOperation::MAXPOOL_2X2_2_2;
  if (attributes.filter_h == 3)
    ple.operation = is_padded_at_the_end(attributes.padding) ? PleOperation::MAXPOOL_3X3_2_2_EVEN
                                                             : PleOperation::MAXPOOL_3X3_2_2_ODD;
  const Quantum from = quantum_of(in()), to = quantum_of(out());
  return emit_identity(input, output, from, to, clamp_of(attributes.activation, out()), ple);
}

// Along the columns, then along the rows.
Reason LayerMaker::max_pool_of_stride_1() {
  const auto& attributes = node_.attrs<graph::Pool2dAttrs>();
  const bool clamps = attributes.activation != graph::Activation::None;
  const Quantum quantum = quantum_of(out());
  const FeatureMap output = write();
  FeatureMap at = read();
  const auto pass = [&](PleDirection direction, int64_t size, int64_t before,
                        const FeatureMap& to) {
    Layer made = layer(at, to);
    PleStep ple;
    ple.operation = PleOperation::MAXPOOL1D;
    ple.direction = direction;
    ple.pool_before = before, ple.pool_size = size;
    ple.operands[0].zero_point = ple.zero_point = quantum.zero_point;
    made.ple = ple;
    at = to;
    return emit(std::move(made));
  };
  const bool along_x = attributes.filter_w > 1, along_y = attributes.filter_h > 1;
  if (along_x) {
    const FeatureMap to =
        along_y || clamps ? between(at, at.height, output.width, at.depth) : output;
    if (Reason reason = pass(PleDirection::X, attributes.filter_w, attributes.padding.left, to))
      return reason;
  }
  if (along_y) {
    const FeatureMap to = clamps ? between(at, output.height, output.width, at.depth) : output;
    if (Reason reason = pass(PleDirection::Y, attributes.filter_h, attributes.padding.top, to))
      return reason;
  }
  if (!clamps && (along_x || along_y)) return std::nullopt;
  return emit_identity(at, output, quantum, quantum, clamp_of(attributes.activation, out()), {});
}

Reason LayerMaker::average(int64_t filter_h, int64_t, graph::Activation activation) {
  const Quantum from = quantum_of(in()), to = quantum_of(out());
  const bool changes = !(from == to) || activation != graph::Activation::None;
  // A finer output would show the rounding of the mean.
  if (from.scale > to.scale)
    return fmt::format("the result's scale {:.6g} is finer than the operand's {:.6g}", to.scale,
                       from.scale);
  const FeatureMap input = read(), output = write();
  const FeatureMap mean =
      changes ? with(between(input, output.height, output.width, output.depth), from) : output;
  PleStep ple;
  ple.operation = filter_h == 7   ? PleOperation::MEAN_XY_7X7
                  : filter_h == 8 ? PleOperation::MEAN_XY_8X8
                                  : PleOperation::AVGPOOL_3X3_1_1_UDMA;
  if (ple.operation == PleOperation::AVGPOOL_3X3_1_1_UDMA) {
    Layer made = layer(input, mean);
    ple.operands[0].zero_point = ple.zero_point = from.zero_point;
    made.ple = ple;
    if (Reason reason = emit(std::move(made))) return reason;
  } else if (Reason reason = emit_identity(input, mean, from, from,
                                           clamp_of(graph::Activation::None, in()), ple)) {
    return reason;
  }
  if (!changes) return std::nullopt;
  return emit_identity(mean, output, from, to, clamp_of(activation, out()), {});
}

Reason LayerMaker::average_pool() {
  const auto& attributes = node_.attrs<graph::Pool2dAttrs>();
  return average(attributes.filter_h, attributes.filter_w, attributes.activation);
}

Reason LayerMaker::mean() {
  return average(in().shape.at(1), in().shape.at(2), graph::Activation::None);
}

namespace {

// The same bytes with every pixel a row: then channels may begin anywhere.
FeatureMap in_one_column(FeatureMap map) {
  map.rows = map.height = map.rows * map.columns;
  map.columns = map.width = 1;
  return map;
}

}  // namespace

// Each operand to its box of the result. The bytes are taken as they are, whatever they stand for, as TFLite does it.
Reason LayerMaker::concat() {
  const int64_t along = node_.attrs<graph::AxisAttrs>().axis, axis = image_axis(out().shape, along);
  const FeatureMap output = write();
  std::vector<int64_t> begins = {0};
  for (size_t i = 0; i < node_.inputs.size(); ++i)
    begins.push_back(begins.back() + in(i).shape.at(static_cast<size_t>(along)));
  const bool has_one_column = axis == 3 && cuts_bricks(begins, output);
  const bool has_bricks = axis == 3 && !has_one_column;
  const FeatureMap gathered =
      has_bricks       ? between(output, output.height, output.width, output.depth, Layout::Nhwcb)
      : has_one_column ? in_one_column(output)
                       : output;
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    const FeatureMap input = has_one_column ? in_one_column(read(i)) : read(i);
    FeatureMap box = gathered;
    box.height = input.height, box.width = input.width, box.depth = input.depth;
    (axis == 1 ? box.y : axis == 2 ? box.x : box.c) = begins[i];
    if (Reason reason = emit_copy(input, box)) return reason;
  }
  return has_bricks ? emit_copy(gathered, output) : std::nullopt;
}

Reason LayerMaker::split() {
  const auto& attributes = node_.attrs<graph::SplitAttrs>();
  const int64_t axis = image_axis(in().shape, attributes.axis);
  const FeatureMap input = read();
  std::vector<int64_t> begins = {0};
  for (const int64_t size : attributes.sizes) begins.push_back(begins.back() + size);
  const bool has_one_column = axis == 3 && cuts_bricks(begins, input);
  FeatureMap whole = has_one_column ? in_one_column(input) : input;
  if (axis == 3 && !has_one_column) {
    whole = between(input, input.height, input.width, input.depth, Layout::Nhwcb);
    if (Reason reason = emit_copy(input, whole)) return reason;
  }
  for (size_t i = 0; i < attributes.sizes.size(); ++i) {
    FeatureMap box = whole;
    (axis == 1 ? box.height : axis == 2 ? box.width : box.depth) = attributes.sizes[i];
    (axis == 1 ? box.y : axis == 2 ? box.x : box.c) = begins[i];
    if (!is_read(node_.outputs[i])) continue;
    if (Reason reason = emit_copy(box, has_one_column ? in_one_column(write(i)) : write(i)))
      return reason;
  }
  return std::nullopt;
}

// Bricks hold sixteen channels; of one column there is no need of them.
bool LayerMaker::cuts_bricks(const std::vector<int64_t>& begins, const FeatureMap& map) {
  return map.columns == 1 || std::any_of(begins.begin(), begins.end() - 1,
                                         [](int64_t at) { return at % kBrickChannels != 0; });
}

bool LayerMaker::is_read(graph::TensorId id) const {
  if (all_.output_parameters_.contains(id.index)) return true;
  const std::vector<graph::TensorId>& outputs = all_.function_.outputs;
  const std::vector<graph::Node>& nodes = all_.function_.nodes;
  if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) return true;
  return std::any_of(nodes.begin(), nodes.end(), [&](const graph::Node& node) {
    return std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
  });
}

}  // namespace intarsia::targets::ethos_n
