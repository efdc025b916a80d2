// Compressed weights read by the simulator's decoder: bit strings written by hand, whose meaning is worked
// out beside them, and the streams that Arm's compiler made of known models.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/weight_encoder.h"
#include "import_format/tflite_generated.h"
#include "shared_data.h"
#include "stream_weights.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
namespace format = tflite::format;

// A number of `bits` bits, and bits as they follow each other in the stream; blanks are ignored.
std::string number(uint32_t value, int bits) {
  std::string text;
  for (int i = 0; i < bits; ++i) text += (value >> i & 1) != 0 ? '1' : '0';
  return text;
}
std::string slice(uint32_t zero_divisor, uint32_t values, uint32_t divisor, bool truncated,
                  bool palette) {
  return number(zero_divisor, 3) + number(values - 1, 15) + number(divisor, 3) +
         (truncated ? "1" : "0") + (palette ? "1" : "0");
}
std::string palette(uint32_t direct_offset, uint32_t size_field, uint32_t bits,
                    std::initializer_list<uint32_t> symbols = {}) {
  std::string text = number(direct_offset, 5) + number(size_field, 5) + number(bits - 2, 3);
  for (const uint32_t symbol : symbols) text += number(symbol, static_cast<int>(bits));
  return text;
}
const std::string kNoPalette = palette(0, 0, 2), kEnd = "111";
constexpr uint32_t kNoRuns = 6, kRaw = 7;

// The decoded weights; empty where the decoder refused.
std::vector<int16_t> decoded(const std::string& text, size_t count) {
  std::vector<uint8_t> bytes;
  size_t at = 0;
  const auto put = [&](bool bit) {
    if (at % 8 == 0) bytes.push_back(0);
    bytes.back() = static_cast<uint8_t>(bytes.back() | (bit ? 1 : 0) << at % 8);
    ++at;
  };
  for (const char c : text)
    if (c != ' ') put(c == '1');
  while (at % 128 != 0) put(true);
  std::vector<int16_t> weights;
  if (const auto failure = sim::decode_weights(bytes, count, weights)) {
    ADD_FAILURE() << *failure;
    return {};
  }
  return weights;
}

using Weights = std::vector<int16_t>;

// A quotient takes positions of a unary field: one with "more" and "second" for every two of it, then one
// that is "more" when it is odd. First come the twelve "more" of a field, then "second" for each of those.
TEST(HandWrittenWeights, GolombRice) {
  // Symbols 2, 3, 4, 9 (twice the magnitude, one more where negative) over 2: quotients 1, 1, 2, 4 and
  // remainders 0, 1, 0, 1.
  EXPECT_EQ(decoded(slice(kNoRuns, 4, 1, false, true) + kNoPalette + "1 1 10 110 00000" +
                        "0 0 1 11" + "0 1 0 1" + kEnd,
                    4),
            (Weights{1, -1, 2, -4}));
}

TEST(HandWrittenWeights, TruncatedCodesHaveOnePositionEach) {
  // Symbols 0, 5, 10, 11 over 4: quotients 0, 1, 2, 2 and remainders 0, 1, 2, 3.
  EXPECT_EQ(decoded(slice(kNoRuns, 4, 2, true, true) + kNoPalette + "0 1 1 1 00000000" + "0 1 1" +
                        "00 10 01 11" + kEnd,
                    4),
            (Weights{0, -2, 5, -5}));
}

TEST(HandWrittenWeights, IndicesBeyondThePaletteAreDirect) {
  // The palette is 20, -3, 0; index 3 is symbol 12, the direct offset. Indices 0, 2, 5, 1, 3 over 1.
  EXPECT_EQ(decoded(slice(kNoRuns, 5, 0, false, true) + palette(12, 2, 6, {40, 7, 0}) +
                        "0 10 111 1 11 000" + "1 110 0 10" + kEnd,
                    5),
            (Weights{20, 0, 7, -3, 6}));
}

TEST(HandWrittenWeights, ZerosStandBeforeAndBehindValues) {
  // Runs 2, 1, 3 over 1 in a field of twelve; then the symbols 10 and 11 of four bits.
  EXPECT_EQ(decoded(slice(0, 2, kRaw, false, true) + palette(0, 0, 4) + "110 10 1110 000" +
                        "0101 1101" + kEnd,
                    8),
            (Weights{0, 0, 5, 0, -5, 0, 0, 0}));
}

TEST(HandWrittenWeights, SlicesWithoutPaletteBeginWithAValue) {
  // Over 8 a field of zeros has eight positions. Runs 9 and 0 (remainders 1 and 0) around symbol 4; then,
  // under the same palette, symbol 3 and a run of 17.
  Weights expected(9, 0);
  expected.push_back(2);
  expected.push_back(-1);
  expected.insert(expected.end(), 17, 0);
  EXPECT_EQ(
      decoded(slice(3, 1, kRaw, false, true) + palette(0, 0, 4) + "10 0 00000" + "0010" +
                  "100 000" + slice(3, 1, kRaw, false, false) + "110 00000" + "1100" + "100" + kEnd,
              expected.size()),
      expected);
}

TEST(HandWrittenWeights, APaletteStartsAnew) {
  // Three bits a symbol, then a palette of two entries and one bit an index; the second knows no zero runs.
  EXPECT_EQ(decoded(slice(1, 1, kRaw, false, true) + palette(0, 0, 3) + "10 0 000000000" + "001" +
                        "1 0" + slice(kNoRuns, 3, kRaw, false, true) +
                        palette(0, 1, 7, {101, 100}) + "1 0 1" + kEnd,
                    7),
            (Weights{0, 0, 0, 2, 50, -50, 50}));
}

TEST(HandWrittenWeights, WeightsWaitForZerosEightAhead) {
  // Thirteen times symbol 2 behind runs of 11, 11 and then none. The first field of weights has twelve of
  // them, the first two of zeros one run each; weights pause until zeros have caught up.
  Weights expected(11, 0);
  expected.push_back(1);
  expected.insert(expected.end(), 11, 0);
  expected.insert(expected.end(), 12, 1);
  EXPECT_EQ(decoded(slice(0, 13, 0, false, true) + palette(2, 0, 2) + "000000000000" +
                        "111111111110" + "111111111110" + "000000000000" + "000000000000" + kEnd,
                    expected.size()),
            expected);
}

TEST(HandWrittenWeights, ZerosWaitForWeights) {
  // A quotient of 30 needs two fields of weights; no field of zeros stands beside those that follow, until
  // as many weights as runs are known.
  Weights expected(13, 1);
  expected[0] = 16;
  expected.push_back(0);
  EXPECT_EQ(decoded(slice(0, 13, 0, false, true) + palette(2, 0, 2) + "111111111111" +
                        "000000000000" + "111111111111" +  // weights, zeros, second
                        "1110 00000000" + "111" +          // weights and second
                        "0000 00000000" +                  // weights
                        "0 10 000000000" + kEnd,           // zeros
                    expected.size()),
            expected);
}

// ---- Arm's compiler ----

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

constexpr int32_t kConv2d = 3, kDepthwise = 4, kFullyConnected = 9,
                  kTransposeConv = 67;  // of the public schema

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
    if (kind != kConv2d && kind != kDepthwise && kind != kFullyConnected) continue;
    const auto& tensor = *graph.tensors()->Get(static_cast<uint32_t>(op->inputs()->Get(1)));
    const auto* data = model.buffers()->Get(tensor.buffer())->data();
    constexpr uint8_t kInt8 = 9;
    if (data == nullptr || static_cast<uint8_t>(tensor.type()) != kInt8) return {};
    const std::vector<int32_t> shape(tensor.shape()->begin(), tensor.shape()->end());
    const bool depthwise = kind == kDepthwise, flat = kind == kFullyConnected;
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
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-u");
  int models = 0;
  for (const VelaFile& file : read_vela_files(shared_folder() / "npu-streams/ethos-u")) {
    SCOPED_TRACE(file.name);
    const bool is_case = std::filesystem::exists(shared_folder() / "conformance" / file.model);
    auto ops = channels_of_model(shared_folder() / (is_case ? "conformance" : "models") /
                                 file.model / "model.tflite");
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
  EXPECT_GE(models, 40);
}

TEST(VelasWeights, AreNoSmallerThanOurs) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-u");
  std::set<std::string> seen;  // many files hold the same
  for (const VelaFile& file : read_vela_files(shared_folder() / "npu-streams/ethos-u")) {
    SCOPED_TRACE(file.name);
    for (const VelaOperator& op : file.operators)
      for (const WeightStream& stream : weight_streams(op))
        if (seen.emplace(stream.bytes.begin(), stream.bytes.end()).second) {
          EXPECT_LE(targets::ethos_u::encode_weights(stream.weights).size(), stream.bytes.size())
              << stream.weights.size() << " weights";
        }
  }
  EXPECT_GE(seen.size(), 100u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
