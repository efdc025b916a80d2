// Convolutions of every form against plain loops. That the weights' order and bit format are the
// hardware's is what streams_test.cpp proves; here weights are written uncompressed.
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/run.h"
#include "operations.h"
#include "stream_writer.h"

namespace intarsia::test::ethos_u {
namespace {

class BitWriter {
 public:
  void put(uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++count_) {
      if (count_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() |= static_cast<uint8_t>((value >> i & 1) << (count_ % 8));
    }
  }
  // Ones up to a multiple of `bits`.
  void fill(size_t bits) {
    while (count_ % bits != 0) put(1, 1);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  size_t count_ = 0;
};

// Slices without a palette and without zero runs, nine bits a weight.
std::vector<uint8_t> uncompressed(const std::vector<int16_t>& weights) {
  BitWriter out;
  for (size_t first = 0; first < weights.size(); first += 32768) {
    const size_t count = std::min<size_t>(32768, weights.size() - first);
    out.put(6, 3);
    out.put(static_cast<uint32_t>(count - 1), 15);
    out.put(7, 3);
    out.put(0, 1);
    out.put(1, 1);
    out.put(0, 5);
    out.put(0, 5);
    out.put(7, 3);
    for (size_t i = first; i < first + count; ++i) {
      const int w = weights[i];
      out.put(static_cast<uint32_t>(w < 0 ? -w * 2 + 1 : w * 2), 9);
    }
  }
  out.put(7, 3);
  out.fill(128);
  return out.bytes();
}

struct Weights {
  std::vector<int16_t> dense;  // [ofm][y][x][ifm]
  std::vector<int64_t> bias;
  std::vector<sim::Scale> scale;
};

// Random weights and scales, written where the operation says.
Weights give_weights(Bench& bench, sim::Operation& op) {
  Weights all;
  const bool depthwise = op.kind == sim::OperationKind::Depthwise;
  const int32_t ifm_depth = depthwise ? 1 : op.ifm.depth;
  const int32_t count = op.ofm.depth * op.kernel.height * op.kernel.width * ifm_depth;
  for (int32_t i = 0; i < count; ++i)
    all.dense.push_back(static_cast<int16_t>(bench.in(-255, 255)));
  for (int32_t c = 0; c < op.ofm.depth; ++c) {
    all.bias.push_back(bench.in(-100000, 100000));
    all.scale.push_back(
        {static_cast<uint32_t>(bench.in(1 << 29, (1 << 30) - 1)), bench.in(38, 44)});
  }
  for (int32_t core = 0; core < op.cores; ++core) {
    std::vector<int16_t> order;
    sim::traverse(
        sim::traversal_of(op, bench.configuration, core),
        [&](int32_t ofm, int32_t y, int32_t x, int32_t ifm) {
          const int32_t channel = ofm * op.cores + core;
          order.push_back(all.dense[static_cast<size_t>(
              ((channel * op.kernel.height + y) * op.kernel.width + x) * ifm_depth + ifm)]);
        },
        [&] { order.push_back(0); });
    const std::vector<uint8_t> stream = uncompressed(order);
    sim::Range& range = op.weights[static_cast<size_t>(core)];
    range = {bench.take(stream.size()), stream.size()};
    std::copy(stream.begin(), stream.end(), bench.bytes() + range.base);

    std::vector<uint8_t> records;
    for (int32_t c = core; c < op.ofm.depth; c += op.cores) {
      const auto i = static_cast<size_t>(c);
      for (int byte = 0; byte < 5; ++byte)
        records.push_back(static_cast<uint8_t>(all.bias[i] >> (8 * byte)));
      for (int byte = 0; byte < 4; ++byte)
        records.push_back(static_cast<uint8_t>(all.scale[i].multiplier >> (8 * byte)));
      records.push_back(static_cast<uint8_t>(all.scale[i].shift));
    }
    records.resize((records.size() + 15) / 16 * 16);
    op.scales[static_cast<size_t>(core)] = {bench.take(records.size()), records.size()};
    std::copy(records.begin(), records.end(),
              bench.bytes() + op.scales[static_cast<size_t>(core)].base);
  }
  return all;
}

// The element of the upscaled IFM minus the zero point; zero outside and between.
int64_t ifm_at(const sim::Operation& op, const Numbers& ifm, int32_t y, int32_t x, int32_t c) {
  y -= op.padding.top;
  x -= op.padding.left;
  if (y < 0 || x < 0 || y >= op.upscaled_height || x >= op.upscaled_width) return 0;
  if (op.upscale == sim::Upscale::Zeros && (y % 2 != 0 || x % 2 != 0)) return 0;
  const int32_t factor = op.upscale == sim::Upscale::None ? 1 : 2;
  return ifm.at(y / factor, x / factor, c) - op.ifm.zero_point;
}

Numbers expected(const sim::Operation& op, const Numbers& ifm, const Weights& weights) {
  Numbers ofm = numbers(op.ofm.height, op.ofm.width, op.ofm.depth);
  const bool depthwise = op.kind == sim::OperationKind::Depthwise;
  const int32_t ifm_depth = depthwise ? 1 : op.ifm.depth;
  const Numbers& in = ifm;
  for (int32_t y = 0; y < ofm.height; ++y)
    for (int32_t x = 0; x < ofm.width; ++x)
      for (int32_t c = 0; c < ofm.depth; ++c) {
        int64_t sum = weights.bias[static_cast<size_t>(c)];
        for (int32_t ky = 0; ky < op.kernel.height; ++ky)
          for (int32_t kx = 0; kx < op.kernel.width; ++kx)
            for (int32_t i = 0; i < ifm_depth; ++i)
              sum += ifm_at(op, in, y * op.kernel.stride_y + ky * op.kernel.dilation_y,
                            x * op.kernel.stride_x + kx * op.kernel.dilation_x, depthwise ? c : i) *
                     weights.dense[static_cast<size_t>(
                         ((c * op.kernel.height + ky) * op.kernel.width + kx) * ifm_depth + i)];
        ofm.at(y, x, c) =
            plain_output(op, plain_scale(sum, weights.scale[static_cast<size_t>(c)], op.rounding));
      }
  return ofm;
}

// A random convolution that fits.
sim::Operation random_convolution(Bench& bench, bool depthwise) {
  sim::Operation op;
  op.kind = depthwise ? sim::OperationKind::Depthwise : sim::OperationKind::Conv;
  sim::Kernel& kernel = op.kernel;
  kernel = {bench.in(1, 10),
            bench.in(1, 10),
            bench.in(1, 4),
            bench.in(1, 4),
            bench.in(1, 2),
            bench.in(1, 2),
            !depthwise && bench.in(0, 1) == 1};
  op.upscale = static_cast<sim::Upscale>(bench.in(0, 2));
  op.padding = {bench.in(0, kernel.extent_y() - 1), bench.in(0, kernel.extent_x() - 1),
                bench.in(0, 2), bench.in(0, 2)};
  int32_t height = bench.in(1, 4), width = bench.in(1, 4);
  const auto upscaled = [](int32_t out, int32_t stride, int32_t extent, int32_t pads) {
    return (out - 1) * stride + extent - pads;
  };
  while ((op.upscaled_height = upscaled(height, kernel.stride_y, kernel.extent_y(),
                                        op.padding.top + op.padding.bottom)) < 1)
    ++height;
  while ((op.upscaled_width = upscaled(width, kernel.stride_x, kernel.extent_x(),
                                       op.padding.left + op.padding.right)) < 1)
    ++width;
  const int32_t factor = op.upscale == sim::Upscale::None ? 1 : 2;
  constexpr sim::ElementType kIfms[] = {sim::ElementType::U8, sim::ElementType::S8,
                                        sim::ElementType::S16};
  constexpr sim::ElementType kOfms[] = {sim::ElementType::U8, sim::ElementType::S8,
                                        sim::ElementType::S16, sim::ElementType::S32};
  const sim::ElementType ifm_type = kIfms[bench.in(0, 2)], ofm_type = kOfms[bench.in(0, 3)];
  const int32_t ifm_depth = bench.in(1, 40), ofm_depth = depthwise ? ifm_depth : bench.in(1, 40);
  const auto zero = [&](sim::ElementType type) {
    return sim::element_bytes(type) > 1 ? 0
                                        : bench.in(static_cast<int32_t>(sim::lowest(type)),
                                                   static_cast<int32_t>(sim::highest(type)));
  };
  op.ifm = bench.place((op.upscaled_height + factor - 1) / factor,
                       (op.upscaled_width + factor - 1) / factor, ifm_depth, ifm_type,
                       bench.in(0, 1) == 1, zero(ifm_type));
  op.ofm = bench.place(height, width, ofm_depth, ofm_type, bench.in(0, 1) == 1, zero(ofm_type));
  bench.clamp_to_type(op);
  op.ofm_block = {16, 16, 8 * bench.in(1, 4)};
  op.rounding = static_cast<sim::Rounding>(bench.in(0, 2));
  if (ifm_type == sim::ElementType::S16) op.accumulators = sim::AccumulatorFormat::I40;
  if (bench.configuration.cores == 2) op.cores = bench.in(1, 2);
  return op;
}

class Convolution : public testing::TestWithParam<const char*> {};

TEST_P(Convolution, IsWhatPlainLoopsMake) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Bench bench(GetParam(), seed);
    sim::Operation op = random_convolution(bench, seed % 3 == 0);
    const Numbers ifm = bench.fill(op.ifm);
    const Weights weights = give_weights(bench, op);
    ASSERT_EQ(bench.run(op), "") << seed;
    ASSERT_EQ(bench.get(op.ofm).values, expected(op, ifm, weights).values) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, Convolution,
                         testing::Values("ethos-u55-32", "ethos-u55-256", "ethos-u65-512"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The device's accumulators have 32 bits, or 40 of which all are kept.
TEST(ConvolutionAccumulators, WrapAtTheirWidth) {
  for (const bool wide : {false, true}) {
    Bench bench;
    sim::Operation op;
    op.ifm = bench.place(1, 1, 300, sim::ElementType::S16, false, 0);
    op.ofm = bench.place(1, 1, 1, sim::ElementType::S32, false, 0);
    op.upscaled_height = op.upscaled_width = 1;
    bench.clamp_to_type(op);
    op.accumulators = wide ? sim::AccumulatorFormat::I40 : sim::AccumulatorFormat::I32;
    Numbers ifm = numbers(1, 1, 300);
    for (int64_t& value : ifm.values) value = -32768;
    bench.put(op.ifm, ifm);
    Weights weights = give_weights(bench, op);
    int64_t sum = 0;
    for (const int16_t weight : weights.dense) sum += int64_t{weight} * -32768;
    // A bias far beyond 32 bits.
    sum += weights.bias[0];
    const int64_t big = int64_t{3} << 34;
    const int64_t bias = weights.bias[0] + big;
    for (int byte = 0; byte < 5; ++byte)
      bench.bytes()[op.scales[0].base + static_cast<uint64_t>(byte)] =
          static_cast<uint8_t>(bias >> (8 * byte));
    ASSERT_EQ(bench.run(op), "");
    const int64_t total = wide ? sum + big : static_cast<int32_t>(static_cast<uint32_t>(sum));
    EXPECT_EQ(bench.get(op.ofm).values[0],
              static_cast<int32_t>(plain_scale(total, weights.scale[0], op.rounding)));
  }
}

TEST(WeightStream, PalettesAreIndexed) {
  BitWriter out;
  out.put(6, 3);   // no zero runs
  out.put(4, 15);  // five weights
  out.put(7, 3);   // uncompressed
  out.put(0, 1);
  out.put(1, 1);
  out.put(0, 5);
  out.put(2, 5);  // three entries
  out.put(2, 3);  // of four bits
  out.put(3, 4);  // -1
  out.put(8, 4);  // 4
  out.put(0, 4);  // 0
  for (const uint32_t index : {1u, 0u, 2u, 1u, 0u}) out.put(index, 2);
  out.put(7, 3);
  out.fill(128);
  std::vector<int16_t> weights;
  EXPECT_EQ(sim::decode_weights(out.bytes(), 5, weights), std::nullopt);
  EXPECT_EQ(weights, (std::vector<int16_t>{4, -1, 0, 4, -1}));
  EXPECT_NE(sim::decode_weights(out.bytes(), 4, weights), std::nullopt) << "one too many";
  EXPECT_NE(sim::decode_weights(out.bytes(), 6, weights), std::nullopt) << "one too few";
}

TEST(WeightStream, GarbageIsRefusedAndNeverCrashes) {
  std::mt19937 random(3);
  std::vector<int16_t> weights;
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bytes(random() % 80);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    refused += sim::decode_weights(bytes, 1000, weights).has_value();
  }
  EXPECT_EQ(refused, 3000u);
}

// One output channel is the first core's; of the second one newer compilers set a length of 0 and no more.
TEST(SecondCore, NeedsNoBaseForNothing) {
  const sim::Configuration& device = *sim::find_configuration(std::string_view("ethos-u65-512"));
  const auto fault_with = [&](uint64_t length) -> std::string {
    StreamWriter stream;
    for (const char* map : {"IFM", "OFM"}) {
      const std::string name = std::string("SET_") + map;
      for (const char* extent :
           {"_HEIGHT0_M1", "_HEIGHT1_M1", "_WIDTH0_M1", "_DEPTH_M1", "_REGION", "_ZERO_POINT"})
        stream.set(name + extent, 0);
      for (const char* address :
           {"_BASE0", "_BASE1", "_BASE2", "_BASE3", "_STRIDE_X", "_STRIDE_Y", "_STRIDE_C"})
        stream.address(name + address, 0);
    }
    for (const char* command :
         {"SET_IFM_UPSCALE", "SET_IFM_PAD_TOP", "SET_IFM_PAD_LEFT", "SET_IFM_PAD_BOTTOM",
          "SET_IFM_PAD_RIGHT", "SET_OFM_HEIGHT_M1", "SET_OFM_WIDTH_M1", "SET_KERNEL_HEIGHT_M1",
          "SET_KERNEL_WIDTH_M1", "SET_KERNEL_STRIDE", "SET_WEIGHT_REGION", "SET_SCALE_REGION",
          "SET_ACTIVATION", "SET_ACTIVATION_MIN", "SET_ACTIVATION_MAX", "SET_ACC_FORMAT",
          "SET_OFM_BLK_HEIGHT_M1", "SET_OFM_BLK_WIDTH_M1", "SET_BLOCKDEP"})
      stream.set(command, 0);
    stream.set("SET_IFM_PRECISION", 1).set("SET_OFM_PRECISION", 1).set("SET_OFM_BLK_DEPTH_M1", 7);
    stream.set("SET_IFM_IB_END", 6).set("SET_AB_START", 14).set("SET_PARALLEL_MODE", 1);
    stream.address("SET_WEIGHT_BASE", 0).address("SET_WEIGHT_LENGTH", 16);
    stream.address("SET_SCALE_BASE", 0).address("SET_SCALE_LENGTH", 16);
    stream.address("SET_WEIGHT1_LENGTH", length).address("SET_SCALE1_LENGTH", length);
    stream.set("OP_CONV", 0).set("OP_STOP", 0xFFFF);
    sim::Memory memory(device);
    sim::RunOptions decode_only;
    decode_only.execute = false;
    const sim::Outcome outcome = sim::run(stream.bytes(), device, memory, nullptr, decode_only);
    return outcome.fault ? outcome.fault->what : "";
  };
  EXPECT_EQ(fault_with(0), "");
  EXPECT_EQ(fault_with(16), "needs register WEIGHT1_BASE, which nobody set");
}

}  // namespace
}  // namespace intarsia::test::ethos_u
