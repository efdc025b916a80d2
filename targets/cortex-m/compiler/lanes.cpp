// Convolution, fully connected layers and depthwise convolution on 64-bit cores with vectors: device/lanes_conv.h.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kLanes = 16, kDotElements = 4, kMostTaps = 64, kMostRows = 32;
// As device/lanes_conv.h has them: pixels of a window of 1 x 1, what is read behind a row, constants of a line.
constexpr int64_t kPointwisePixels = 8, kBehindRow = 64, kLineBytes = 64 * 4 * (5 + kMostTaps / 4);
// These cores have megabytes of cache; rows that take more are none of a network's.
constexpr int64_t kMostLaneScratch = 1 << 20;

void put_word(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 4; ++byte)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

// Zero beyond the channels and beyond a row.
uint8_t weight_of(const WeightRows& rows, int64_t channel, int64_t element) {
  if (channel >= static_cast<int64_t>(rows.size())) return 0;
  return static_cast<uint8_t>(rows[static_cast<size_t>(channel)][static_cast<size_t>(element)]);
}

// For each sixteen channels, for each four elements of a window's rows, which have `run` each. A depthwise window is one row of taps.
std::vector<uint8_t> lane_weights(const WeightRows& rows, int64_t run) {
  std::vector<uint8_t> bytes;
  const auto elements = static_cast<int64_t>(rows.front().size());
  for (int64_t first = 0; first < static_cast<int64_t>(rows.size()); first += kLanes)
    for (int64_t row = 0; row < elements; row += run)
      for (int64_t k = 0; k < run; k += kDotElements)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          for (int64_t i = k; i < k + kDotElements; ++i)
            bytes.push_back(i < run ? weight_of(rows, first + lane, row + i) : 0);
  return bytes;
}

// As Channels::table() has them, by rows of sixteen, with the bias for inputs that are 128 larger.
std::vector<uint8_t> lane_table(const WeightRows& rows, const Channels& channels) {
  std::vector<uint8_t> bytes;
  const std::vector<uint8_t> entries = channels.table();
  constexpr size_t kEntryBytes = 16;
  const auto field = [&](size_t channel, size_t index) {
    uint32_t value = 0;
    for (size_t byte = 0; byte < 4; ++byte)
      value |= uint32_t{entries[channel * kEntryBytes + 4 * index + byte]} << (8 * byte);
    return int64_t{static_cast<int32_t>(value)};
  };
  for (size_t first = 0; first < rows.size(); first += kLanes) {
    const auto row_of_lanes = [&](const auto& value_of) {
      for (size_t channel = first; channel < first + kLanes; ++channel)
        put_word(bytes, channel < rows.size() ? value_of(channel) : 0);
    };
    row_of_lanes([&](size_t channel) { return field(channel, 0); });
    row_of_lanes([&](size_t channel) {
      int64_t sum = 0;
      for (const int8_t weight : rows[channel]) sum += weight;
      return field(channel, 0) - 128 * sum;
    });
    for (size_t index = 1; index < 4; ++index)
      row_of_lanes([&](size_t channel) { return field(channel, index); });
  }
  return bytes;
}

// Bytes of device/lanes_rows.h: as many rows as a window spans, and one outside of the image.
int64_t staged_rows(const Window& w, int64_t channels, int64_t parts) {
  const int64_t columns = (w.out_w - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
  const int64_t row = parts * ceil_div(columns, parts) * channels + kBehindRow;
  return ((w.kernel_h - 1) * w.dilation_h + 2) * row;
}

struct LaneCall {
  std::string family;
  int64_t scratch_bytes;
  int64_t run;  // elements of a row of the window
};

LowerKernel lanes_call(const Window& window, const WeightRows& rows, const Channels& channels,
                       const LaneCall& call) {
  if (call.scratch_bytes > kMostLaneScratch) return nullptr;
  return [window, rows, channels, call](OpLowering& op) {
    const Window& w = window;
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const int64_t blocks = ceil_div(w.out_c, kLanes);
    const BufferId scratch = op.b.local("scratch", DataType::Int8, {call.scratch_bytes}, 16);
    const std::vector<uint8_t> bytes = lane_weights(rows, call.run);
    const int64_t fours = static_cast<int64_t>(bytes.size()) / (blocks * kLanes * kDotElements);
    const BufferId weights =
        op.constant("weights", DataType::Int8, {blocks, fours, kLanes, kDotElements}, bytes,
                    tir::ConstantUse::Weights);
    const BufferId table = op.constant("channels", DataType::Int32, {blocks, 5, kLanes},
                                       lane_table(rows, channels), tir::ConstantUse::Weights);
    const std::string kernel = call.family + (channels.quick ? "_s8" : "_any_s8");
    return call_kernel(op.b.func(),
                       {kernel, w.values(), {op.in(0)}, op.out(), scratch, {weights, table}});
  };
}

}  // namespace

LowerKernel lane_conv_kernel(const Conv& conv, const Channels& channels) {
  const Window& w = conv.window;
  if (w.kernel_h > kMostRows) return nullptr;
  const bool pointwise = w.kernel_h * w.kernel_w * w.stride_h * w.stride_w == 1 &&
                         w.out_h == w.in_h && w.out_w == w.in_w && w.pad_top == 0 &&
                         w.pad_left == 0;
  const int64_t scratch =
      pointwise ? kPointwisePixels * w.in_c + kBehindRow : staged_rows(w, w.in_c, 1);
  return lanes_call(w, conv.rows, channels, {"intarsia_lanes_conv", scratch, w.kernel_w * w.in_c});
}

LowerKernel lane_depthwise_kernel(const Depthwise& d, const Channels& channels) {
  const Window& w = d.window;
  const int64_t taps = w.kernel_h * w.kernel_w;
  if (taps > kMostTaps) return nullptr;
  return lanes_call(
      w, d.rows, channels,
      {"intarsia_lanes_depthwise", kLineBytes + staged_rows(w, w.out_c, w.stride_w), taps});
}

// Portable loops are vectorised by the compilers of these cores; only these are worth more.
LowerKernel lane_kernel(const OpView& view) {
  if (view.in(0).type != DataType::Int8) return nullptr;
  switch (view.node.kind) {
    case graph::OpKind::Conv2d:
    case graph::OpKind::FullyConnected:
      return conv_kernel(CoreClass::Lanes, view, /*small=*/false, /*waits=*/0);
    case graph::OpKind::DepthwiseConv2d:
      return depthwise_kernel(CoreClass::Lanes, view, /*small=*/false, /*waits=*/0);
    case graph::OpKind::Add:
    case graph::OpKind::Sub:
      return sum_kernel(CoreClass::Lanes, view);
    case graph::OpKind::Mul:
      return mul_kernel(CoreClass::Lanes, view);
    case graph::OpKind::Mean:
    case graph::OpKind::Sum:
      return mean_kernel(CoreClass::Lanes, view);
    case graph::OpKind::AveragePool2d:
    case graph::OpKind::MaxPool2d:
      return pool_kernel(CoreClass::Lanes, view, /*small=*/false);
    default:
      return nullptr;
  }
}

}  // namespace intarsia::targets::cortex_m
