// The weights in the streams that Arm's compiler made of known models: read by the simulator's decoder they are the
// models', and our encoder makes no more bytes of them.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "import_format/tflite_generated.h"
#include "recorded_data.h"
#include "stream_weights.h"
#include "weights/weight_encoder.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
namespace format = tflite::format;

using Weights = std::vector<int16_t>;

// One output channel of a convolution: where each is applied, and what it is multiplied with.
struct Channel {
  bool depthwise = false;
  std::array<int32_t, 3> shape = {};  // height, width, input channels
  Weights weights;
  bool operator==(const Channel&) const = default;
};

struct ModelChannel {
  Channel channel;
  bool found = false;
};

constexpr int32_t kConv2d = 3, kDepthwise = 4, kFullyConnected = 9, kMean = 40, kLstm = 44,
                  kTransposeConv = 67;  // of the public schema

// The operands of an operator that are weights: of a recurrent layer those of four gates, for input and state.
std::vector<uint32_t> weight_operands(int32_t kind) {
  if (kind == kLstm) return {1, 2, 3, 4, 5, 6, 7, 8};
  if (kind == kConv2d || kind == kDepthwise || kind == kFullyConnected) return {1};
  return {};
}

// Of an average over an image, which may be made a depthwise convolution with ones, or no convolution at all.
std::vector<ModelChannel> channels_of_mean(const format::Subgraph& graph,
                                           const format::Operator& op) {
  const auto& shape = *graph.tensors()->Get(static_cast<uint32_t>(op.inputs()->Get(0)))->shape();
  if (shape.size() != 4) return {};
  const int32_t height = shape.Get(1), width = shape.Get(2);
  const Channel ones = {true, {height, width, 1}, Weights(static_cast<size_t>(height * width), 1)};
  return std::vector<ModelChannel>(static_cast<size_t>(shape.Get(3)), {ones, true});
}

// The channels of a model by its operators; nothing where one of them is not taken as it is.
std::vector<std::vector<ModelChannel>> channels_of_model(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  const format::Model& model = *format::GetModel(bytes.data());
  const auto& graph = *model.subgraphs()->Get(0);
  std::vector<std::vector<ModelChannel>> result;
  for (const format::Operator* op : *graph.operators()) {
    const auto* code = model.operator_codes()->Get(op->opcode_index());
    const int32_t kind = std::max<int32_t>(code->code(), code->old_code());
    if (kind == kTransposeConv) return {};
    if (kind == kMean) result.push_back(channels_of_mean(graph, *op));
    for (const uint32_t operand : weight_operands(kind)) {
      const auto& tensor = *graph.tensors()->Get(static_cast<uint32_t>(op->inputs()->Get(operand)));
      const auto* data = model.buffers()->Get(tensor.buffer())->data();
      constexpr uint8_t kInt8 = 9;
      if (data == nullptr || static_cast<uint8_t>(tensor.type()) != kInt8) return {};
      const std::vector<int32_t> shape(tensor.shape()->begin(), tensor.shape()->end());
      const bool depthwise = kind == kDepthwise, flat = shape.size() == 2;
      const int32_t height = flat ? 1 : shape[1], width = flat ? 1 : shape[2];
      const int32_t ofm = depthwise ? shape[3] : shape[0], ifm = depthwise ? 1 : shape.back();
      std::vector<ModelChannel> channels;
      for (int32_t o = 0; o < ofm; ++o) {
        Channel channel = {depthwise, {height, width, ifm}, {}};
        for (int32_t i = 0; i < height * width * ifm; ++i)
          channel.weights.push_back(static_cast<int8_t>(data->Get(
              static_cast<uint32_t>(depthwise ? i * ofm + o : o * height * width * ifm + i))));
        channels.push_back({std::move(channel)});
      }
      result.push_back(std::move(channels));
    }
  }
  return result;
}

// The channels of one core's stream.
std::vector<Channel> channels_of(const WeightStream& stream) {
  const sim::Traversal& t = stream.traversal;
  std::vector<Channel> channels(
      static_cast<size_t>(t.ofm_depth),
      {t.depthwise,
       {t.kernel_height, t.kernel_width, t.ifm_depth},
       Weights(static_cast<size_t>(t.kernel_height * t.kernel_width * t.ifm_depth))});
  size_t at = 0;
  sim::traverse(
      t,
      [&](int32_t o, int32_t y, int32_t x, int32_t i) {
        channels[static_cast<size_t>(o)]
            .weights[static_cast<size_t>((y * t.kernel_width + x) * t.ifm_depth + i)] =
            stream.weights[at++];
      },
      [&] { EXPECT_EQ(stream.weights[at++], 0) << "padding"; });
  return channels;
}

// Whether it is the model's channel. With a stride of two and few input channels Arm's compiler makes two
// columns one of twice the channels, the order in memory stays; columns beside the kernel are zeros.
bool is_channel(const Channel& found, const Channel& model) {
  if (found == model) return true;
  const auto [height, width, depth] = model.shape;
  const int32_t columns = 2 * found.shape[1];
  if (found.depthwise || model.depthwise || found.shape[0] != height ||
      found.shape[2] != 2 * depth || columns < width)
    return false;
  for (int32_t left = 0; left <= columns - width; ++left) {
    Weights widened;
    for (int32_t y = 0; y < height; ++y)
      for (int32_t x = 0; x < columns; ++x)
        for (int32_t i = 0; i < depth; ++i)
          widened.push_back(
              x < left || x >= left + width
                  ? int16_t{0}
                  : model.weights[static_cast<size_t>((y * width + x - left) * depth + i)]);
    if (found.weights == widened) return true;
  }
  return false;
}

// Whether a core's channels are those of one operator, one after the other or every second one; they are
// then marked as found.
bool belong_together(const std::vector<Channel>& found, std::vector<ModelChannel>& op,
                     int32_t step) {
  const auto stride = static_cast<size_t>(step);
  for (size_t first = 0; first + (found.size() - 1) * stride < op.size(); ++first) {
    size_t k = 0;
    while (k < found.size() && is_channel(found[k], op[first + k * stride].channel)) ++k;
    if (k < found.size()) continue;
    while (k-- > 0) op[first + k * stride].found = true;
    return true;
  }
  return false;
}

TEST(VelasWeights, AreTheModels) {
  int models = 0;
  for (const VelaFile& file : read_vela_files()) {
    SCOPED_TRACE(file.path);
    auto ops = channels_of_model(recorded_folder(file.model) / "model.tflite");
    if (ops.empty() || !file.npu_alone) continue;
    ++models;
    for (const VelaOperator& op : file.operators)
      for (const WeightStream& stream : weight_streams(op)) {
        const std::vector<Channel> found = channels_of(stream);
        EXPECT_TRUE(std::any_of(
            ops.begin(), ops.end(),
            [&](auto& channels) { return belong_together(found, channels, stream.cores); }))
            << stream.traversal.kernel_height << "x" << stream.traversal.kernel_width << "x"
            << stream.traversal.ifm_depth << ", core " << stream.core;
      }
    for (const auto& channels : ops)
      EXPECT_TRUE(std::all_of(channels.begin(), channels.end(), [](const auto& c) {
        return c.found;
      })) << "channels are in no stream";
  }
  EXPECT_GE(models, 19);
}

TEST(VelasWeights, AreNoSmallerThanOurs) {
  std::set<std::string> seen;  // many files hold the same
  for (const VelaFile& file : read_vela_files()) {
    SCOPED_TRACE(file.path);
    for (const VelaOperator& op : file.operators)
      for (const WeightStream& stream : weight_streams(op))
        if (seen.emplace(stream.bytes.begin(), stream.bytes.end()).second) {
          EXPECT_LE(targets::ethos_u::encode_weights(stream.weights).size(), stream.bytes.size())
              << stream.weights.size() << " weights";
        }
  }
  EXPECT_GE(seen.size(), 80u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
