#include "schedule/views.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hardware/hardware.h"
#include "hardware/limits.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kDotChannels = 8;  // what the MAC array sums in a step of a part of the kernel

Walk walk_of(const Program& program, const Operand& operand) {
  const int64_t depth = program.tensors.at(static_cast<size_t>(operand.tensor)).extent.depth;
  const int64_t width = program.tensors.at(static_cast<size_t>(operand.tensor)).extent.width;
  return operand.walk.value_or(Walk{depth * width, depth});
}

// Micro-blocks of a plane. Two rows of them serve one row of twice the width.
int64_t micro_blocks(const Hardware& hardware, const Operation& op) {
  const Extent& unit = hardware.ofm_ublock;
  const Extent& out = op.ofm.extent;
  if (unit.height == 2 && has_weights(op.kind) && out.height == 1 && out.width % 2 == 0 &&
      op.kernel.height == 1)
    return ceil_div(out.width, 4);
  return int64_t{ceil_div(out.height, unit.height)} * ceil_div(out.width, unit.width);
}

void transpose(const Program& program, Operand& operand) {
  const Walk walk = walk_of(program, operand);
  operand.walk = Walk{walk.x, walk.y};
  std::swap(operand.origin.height, operand.origin.width);
  std::swap(operand.step.height, operand.step.width);
  std::swap(operand.extent.height, operand.extent.width);
}

// Rows of weights become columns: [outer][height][width][inner].
Weights transposed(const Weights& weights, int64_t height, int64_t width, int64_t inner) {
  Weights result(weights.size());
  const int64_t each = height * width * inner;
  const auto outer = static_cast<int64_t>(weights.size()) / each;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        std::copy_n(weights.begin() + o * each + (y * width + x) * inner, inner,
                    result.begin() + o * each + (x * height + y) * inner);
  return result;
}

bool fits_transposed(const Operation& op) {
  const Kernel& k = op.kernel;
  const int64_t covered = int64_t{k.width - 1} * k.dilation_x + 1;
  const int64_t most = has_weights(op.kind) ? kMostKernelHeight : kMostPoolHeight;
  return covered <= most && std::max(op.pads.top, op.pads.left) <= kMostPadBefore &&
         std::max(op.pads.bottom, op.pads.right) <= kMostPadAfter;
}

Operation transposed(const Program& program, const Operation& op) {
  Operation view = op;
  transpose(program, view.ifm);
  transpose(program, view.ofm);
  std::swap(view.kernel.height, view.kernel.width);
  std::swap(view.kernel.stride_y, view.kernel.stride_x);
  std::swap(view.kernel.dilation_y, view.kernel.dilation_x);
  std::swap(view.pads.top, view.pads.left);
  std::swap(view.pads.bottom, view.pads.right);
  if (has_weights(op.kind))
    view.weights = transposed(op.weights, op.kernel.height, op.kernel.width,
                              op.kind == OperationKind::Depthwise ? 1 : op.ifm.extent.depth);
  return view;
}

// Steps of the MAC array for a micro-block of a convolution: a tap of 32 channels each, or four taps of 8.
int64_t mac_steps(const Operation& op) {
  constexpr int32_t kSubKernel = 8;
  const Kernel& k = op.kernel;
  int64_t by_parts = 0;
  for (int32_t y = 0; y < k.height; y += kSubKernel)
    for (int32_t x = 0; x < k.width; x += kSubKernel)
      by_parts +=
          ceil_div(int64_t{std::min(kSubKernel, k.height - y)} * std::min(kSubKernel, k.width - x),
                   4) *
          ceil_div(op.ifm.extent.depth, kDotChannels);
  return std::min(by_parts, int64_t{k.height} * k.width * ceil_div(op.ifm.extent.depth, 32));
}

bool can_split(const Program& program, const Operation& op) {
  const NpuTensor& in = program.tensors.at(static_cast<size_t>(op.ifm.tensor));
  return op.kind == OperationKind::Conv && op.upscale == Upscale::None &&
         in.type != DataType::Int16 && op.kernel.dilation_x == 1 && op.ifm.step.width == 1 &&
         op.ifm.origin.depth == 0 && walk_of(program, op.ifm).x == op.ifm.extent.depth;
}

// Weights lie in the same order: [height][width][depth] is [height][width * parts][depth / parts].
Operation split(const Program& program, const Operation& op, int32_t parts) {
  Operation view = op;
  const Walk walk = walk_of(program, op.ifm);
  view.ifm.walk = Walk{walk.y, walk.x / parts};
  view.ifm.origin.width *= parts;
  view.ifm.extent.width *= parts;
  view.ifm.extent.depth /= parts;
  view.kernel.width *= parts;
  if (op.ofm.extent.width > 1) view.kernel.stride_x *= parts;
  view.pads.left *= parts;
  view.pads.right *= parts;
  return view;
}

// The operand's elements follow each other without a gap.
bool is_dense(const Program& program, const Operand& operand) {
  const Extent& all = program.tensors.at(static_cast<size_t>(operand.tensor)).extent;
  return !operand.walk && operand.step == Extent{} && operand.extent.depth == all.depth &&
         (operand.extent.width == all.width || operand.extent.height == 1);
}

// The same bytes as pixels of `depth` channels, `width` of them in a row.
void flatten(const Program& program, Operand& operand, int32_t width, int32_t depth) {
  const Extent& all = program.tensors.at(static_cast<size_t>(operand.tensor)).extent;
  const int64_t before =
      (int64_t{operand.origin.height} * all.width + operand.origin.width) * all.depth;
  operand.origin = {0, static_cast<int32_t>(before / depth), static_cast<int32_t>(before % depth)};
  operand.extent = {static_cast<int32_t>(operand.extent.elements() / depth / width), width, depth};
  operand.walk = Walk{int64_t{width} * depth, depth};
}

// Where no element has anything to do with its neighbours: all elements in pixels of one brick's channels, which the output
// unit writes without a break, while it begins anew for each sixteen channels of a deeper pixel.
std::optional<Operation> flat(const Program& program, const Operation& op) {
  const Extent& extent = op.ofm.extent;
  const int64_t pixels = extent.elements() / kBrickDepth;
  const bool repeats = op.ifm2 && op.ifm2->extent != extent;
  if (!is_pointwise(op) || (extent.depth == kBrickDepth && extent.height > 1) ||
      extent.elements() % kBrickDepth != 0 || op.ifm.extent != extent ||
      (repeats && op.ifm2->extent.elements() != 1))
    return std::nullopt;
  const bool pairs = op.ifm2 && !repeats;
  if (!is_dense(program, op.ifm) || !is_dense(program, op.ofm) ||
      (pairs && !is_dense(program, *op.ifm2)))
    return std::nullopt;
  // Rows of the length of a block at most, and none of a few pixels; two where micro-blocks have as many.
  const int64_t rows = pixels % 2 == 0 ? 2 : 1, most = pixels / rows;
  int64_t width = std::min<int64_t>(kOfmBlockMaxWidth, most);
  while (width > 1 && most % width != 0) --width;
  if (width < kOfmBlockMaxWidth / 8) width = most;
  if (width > kMostExtent || pixels / width > kMostExtent) return std::nullopt;
  Operation view = op;
  const auto row = static_cast<int32_t>(width);
  flatten(program, view.ifm, row, kBrickDepth);
  flatten(program, view.ofm, row, kBrickDepth);
  if (pairs) flatten(program, *view.ifm2, row, kBrickDepth);
  return view;
}

}  // namespace

bool is_window(const Operation& op) {
  return has_weights(op.kind) || op.kind == OperationKind::MaxPool ||
         op.kind == OperationKind::AveragePool;
}

std::vector<Operation> other_views(const Hardware& hardware, const Program& program,
                                   const Operation& op) {
  std::vector<Operation> result;
  if (program.confirmed_only || op.upscale != Upscale::None) return result;
  if (std::optional<Operation> view = flat(program, op)) result.push_back(std::move(*view));
  if (!is_window(op)) return result;
  if (fits_transposed(op)) {
    Operation view = transposed(program, op);
    if (micro_blocks(hardware, view) < micro_blocks(hardware, op))
      result.push_back(std::move(view));
  }
  if (can_split(program, op)) {
    // The one with the fewest steps, of as few parts as that takes.
    int64_t least = mac_steps(op);
    int32_t best = 1;
    for (int32_t parts = 2; op.ifm.extent.depth / parts >= kDotChannels; ++parts) {
      if (op.ifm.extent.depth % (parts * kDotChannels) != 0) continue;
      const Operation view = split(program, op, parts);
      if (view.kernel.stride_x > kMostStride || view.pads.left > kMostPadBefore ||
          view.pads.right > kMostPadAfter || view.ifm.extent.width > kMostExtent ||
          int64_t{view.kernel.height} * view.kernel.width > kMostKernelElements)
        break;
      if (mac_steps(view) >= least) continue;
      least = mac_steps(view);
      best = parts;
    }
    if (best > 1) result.push_back(split(program, op, best));
  }
  return result;
}

bool exchanges_axes(const Operation& operation, const Operation& view) {
  return operation.ofm.walk != view.ofm.walk && operation.ofm.extent.depth == view.ofm.extent.depth;
}

bool keeps_rows(const Operation& operation, const Operation& view) {
  return operation.ofm.walk == view.ofm.walk;
}

}  // namespace intarsia::targets::ethos_u
