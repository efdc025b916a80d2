// Single operations of the Ethos-U85 in streams written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u85/arithmetic.h"
#include "intarsia/targets/ethos_u85/weights.h"
#include "u85_row.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim85 = simulators::ethos_u85;
namespace value = sim85::value;
using sim85::Command;
using sim85::Rounding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- Arithmetic, against plain definitions ----

TEST(U85Rounding, IsAsItsName) {
  for (int64_t v = -40; v <= 40; ++v) {
    // Half up, and down, of v / 8.
    EXPECT_EQ(sim85::shift_round<int64_t>(v, 3, Rounding::Natural), (v + 4 + 800) / 8 - 100);
    EXPECT_EQ(sim85::shift_round<int64_t>(v, 3, Rounding::Down), (v + 800) / 8 - 100);
    // One rounding up to the bit of the first, two beyond it: half up at bit 1, half away from zero at bit 2.
    EXPECT_EQ(sim85::shift_round<int64_t>(v, 3, Rounding::DoubleSymmetric),
              (v + 4 + 800) / 8 - 100);
    const int64_t once = (v + 1 + 800) / 2 - 400;
    const int64_t away = once < 0 ? -((-once + 2) / 4) : (once + 2) / 4;
    EXPECT_EQ(sim85::shift_round<int64_t>(v, 3, Rounding::DoubleSymmetric, 1), away) << v;
  }
}

// ---- Weights of the fast decoder ----

// A header and what follows, in units of 32 bytes.
std::vector<uint8_t> fast_stream(uint8_t flags, uint8_t zero, const std::vector<uint8_t>& data) {
  std::vector<uint8_t> stream(32 + (data.size() + 31) / 32 * 32);
  stream[0] = flags;
  stream[13] = zero;
  std::copy(data.begin(), data.end(), stream.begin() + 32);
  return stream;
}

TEST(U85FastWeights, AreRawBytesMinusTheirZero) {
  std::vector<int16_t> weights;
  EXPECT_EQ(sim85::decode_fast_weights(fast_stream(1, 3, {0, 255, 128, 127}), 4, weights),
            std::nullopt);
  EXPECT_THAT(weights, ElementsAre(-3, -4, -131, 124));
}

TEST(U85FastWeights, AreIndicesOfAPalette) {
  // Entries of nine bits from bit 112 on: 0 is 5, 1 is -5, 2 is 0, 3 is 255.
  std::vector<uint8_t> stream = fast_stream(2, 0, {0b11100100});
  const uint64_t entries = 10ull | 11ull << 9 | 0ull << 18 | 510ull << 27;
  for (size_t i = 0; i < 5; ++i) stream[14 + i] = static_cast<uint8_t>(entries >> (8 * i));
  std::vector<int16_t> weights;
  EXPECT_EQ(sim85::decode_fast_weights(stream, 4, weights), std::nullopt);
  EXPECT_THAT(weights, ElementsAre(5, -5, 0, 255));
  stream[0] = 0;  // indices of four bits
  stream[32] = 0x31;
  EXPECT_EQ(sim85::decode_fast_weights(stream, 2, weights), std::nullopt);
  EXPECT_THAT(weights, ElementsAre(-5, 255));
}

TEST(U85FastWeights, ThatDoNotFitAreRefused) {
  std::vector<int16_t> weights;
  const auto refusal = [&](const std::vector<uint8_t>& stream, size_t count) {
    return sim85::decode_fast_weights(stream, count, weights).value_or("taken");
  };
  EXPECT_EQ(refusal(fast_stream(1, 0, std::vector<uint8_t>(32, 1)), 32), "taken");
  EXPECT_THAT(refusal(fast_stream(1, 0, std::vector<uint8_t>(32, 1)), 33), HasSubstr("take 96"));
  EXPECT_THAT(refusal(fast_stream(1, 0, {1, 2}), 1), HasSubstr("not zero"));
  EXPECT_THAT(refusal(fast_stream(5, 0, {1}), 1), HasSubstr("bits without a meaning"));
  EXPECT_THAT(refusal(std::vector<uint8_t>(16), 1), HasSubstr("shorter than its header"));
}

// ---- The order of weights ----

// Rows of the kernel go to and fro, and every other OFM block takes the IFM blocks backwards.
TEST(U85WeightOrder, GoesToAndFro) {
  sim85::Traversal t;
  t.ofm_depth = 2 * 16;
  t.ifm_depth = 16 + 8;
  t.kernel_height = t.kernel_width = 2;
  t.ofm_block_depth = t.micro_depth = 16;
  t.ifm_block_depth = t.ifm_step_block = 16;
  std::vector<std::pair<int32_t, int32_t>> kernel;  // of the first channels
  std::vector<int32_t> ifm_blocks;
  sim85::traverse(t, 0, [&](const sim85::WeightPlace& place) {
    if (place.ofm == sim85::kWeightPadding || place.ofm % 16 != 0 || place.ifm % 16 != 0) return;
    if (place.ofm == 0 && place.ifm == 0) kernel.push_back({place.y, place.x});
    if (place.y == 0 && place.x == 0) ifm_blocks.push_back(place.ifm);
  });
  EXPECT_THAT(kernel,
              ElementsAre(std::pair(0, 0), std::pair(0, 1), std::pair(1, 1), std::pair(1, 0)));
  EXPECT_THAT(ifm_blocks, ElementsAre(0, 16, 16, 0));
}

// ---- Streams ----

template <typename Element>
std::vector<Element> elementwise(int32_t mode, const std::vector<Element>& a,
                                 const std::vector<Element>& b, int32_t rounding = 0) {
  const auto bytes = static_cast<int32_t>(sizeof(Element));
  Row row(1, static_cast<int32_t>(a.size()), bytes, bytes);
  row.put(Row::kIfm, a).put(Row::kIfm2, b);
  row.stream().set(Command::SET_OFM_SCALE, rounding << 13, 1).set(Command::OP_ELEMENTWISE, mode);
  return row.ofm<Element>();
}

TEST(U85Elementwise, ComputesItsMode) {
  using Bytes = std::vector<int8_t>;
  using Words = std::vector<int32_t>;
  const Bytes a = {100, -100, 7, -128}, b = {100, 3, 2, 1};
  EXPECT_EQ(elementwise(value::elementwise_mode_ADD, a, b), Bytes({127, -97, 9, -127}));
  EXPECT_EQ(elementwise(value::elementwise_mode_SUB, a, b), Bytes({0, -103, 5, -128}));
  EXPECT_EQ(elementwise(value::elementwise_mode_MIN, a, b), Bytes({100, -100, 2, -128}));
  EXPECT_EQ(elementwise(value::elementwise_mode_CMP_GE, a, b), Bytes({-1, 0, -1, 0}));
  EXPECT_EQ(elementwise(value::elementwise_mode_CMP_EQ, a, b), Bytes({-1, 0, 0, 0}));
  EXPECT_EQ(elementwise(value::elementwise_mode_AND_NOT, a, b), Bytes({0, -100, 5, -128}));
  EXPECT_EQ(elementwise(value::elementwise_mode_NOT, a, b), Bytes({-101, 99, -8, 127}));
  // The shift of eight bits fills up with zeros, or with the sign.
  EXPECT_EQ(elementwise(value::elementwise_mode_LSR, Bytes{-1, -128, 7}, Bytes{1, 7, 0}),
            Bytes({127, 1, 7}));
  EXPECT_EQ(elementwise(value::elementwise_mode_SHR, Bytes{-3, 5, 6}, Bytes{1, 1, 2}, 5),
            Bytes({-2, 2, 1}));
  EXPECT_EQ(elementwise(value::elementwise_mode_SHR, Bytes{-3, 5, 6}, Bytes{1, 1, 2}, 1),
            Bytes({-1, 3, 2}));
  EXPECT_EQ(elementwise(value::elementwise_mode_SHL, Words{1, 3, -1}, Words{31, 31, 4}),
            Words({INT32_MIN, INT32_MIN, -16}));
  EXPECT_EQ(elementwise(value::elementwise_mode_DIV, Words{7, -7, 9}, Words{2, 2, -4}),
            Words({3, -3, -2}));
  EXPECT_EQ(elementwise(value::elementwise_mode_CLZ, Words{1, -1, 0}, Words{0, 0, 0}),
            Words({31, 0, 32}));
}

// Of 32 bits the multiplier takes no part.
TEST(U85Elementwise, ShiftsProductsOf32Bits) {
  Row row(1, 2, 4, 4);
  row.put(Row::kIfm, std::vector<int32_t>{1 << 20, -3})
      .put(Row::kIfm2, std::vector<int32_t>{1 << 20, 5});
  row.stream()
      .set(Command::SET_OFM_SCALE, 1 << 13 | 31, 1 << 30)
      .set(Command::OP_ELEMENTWISE, value::elementwise_mode_MUL);
  EXPECT_THAT(row.ofm<int32_t>(), ElementsAre(512, 0));
}

TEST(U85Elementwise, BroadcastsAndTakesAScalar) {
  Row row(2, 2, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{1, 2, 3, 4}).put(Row::kIfm2, std::vector<int8_t>{10, 20});
  row.stream()
      .set(Command::SET_IFM2_BROADCAST, 2)  // along the width
      .set(Command::OP_ELEMENTWISE, value::elementwise_mode_ADD);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(11, 22, 13, 24));
  row.stream()
      .set(Command::SET_IFM_BROADCAST, 8)
      .set(Command::SET_IFM2_BROADCAST, 0)
      .set(Command::SET_OP_SCALAR, 0, 0xFFFFFFFF)
      .set(Command::OP_ELEMENTWISE, value::elementwise_mode_SUB);
  row.put(Row::kIfm2, std::vector<int8_t>{1, 2, 3, 4});
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(-2, -3, -4, -5));
}

// (a + b) * c, of which the sum stays in a buffer of the NPU.
Row chained(int32_t buffer_read) {
  Row row(1, 3, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{1, 2, 3}).put(Row::kIfm2, std::vector<int8_t>{4, 5, 6});
  row.stream()
      .set(Command::SET_OFM_PRECISION,
           row.ofm_precision() | value::activation_storage_CHAINED << 14)
      .set(Command::SET_OFM_REGION, 2)
      .set(Command::OP_ELEMENTWISE, value::elementwise_mode_ADD)
      .set(Command::SET_OFM_PRECISION, row.ofm_precision())
      .set(Command::SET_OFM_REGION, 1)
      .set(Command::SET_IFM_PRECISION, 1 | value::activation_storage_CHAINED << 14)
      .set(Command::SET_IFM_REGION, buffer_read)
      .set(Command::OP_ELEMENTWISE, value::elementwise_mode_MUL);
  return row;
}

TEST(U85Chains, HandOnWhatNoMemoryHolds) {
  EXPECT_THAT(chained(2).ofm<int8_t>(), ElementsAre(20, 35, 54));
  EXPECT_THAT(chained(1).run(), HasSubstr("no operation of this chain wrote buffer 1"));
}

// A row of four elements, windows of two.
Row pooled(int32_t mode, int32_t pad_left) {
  Row row(pad_left > 0 ? 4 : 3, 1, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{5, -4, 8, 8});
  row.stream()
      .set(Command::SET_KERNEL_WIDTH_M1, 1)
      .set(Command::SET_IFM_PAD_LEFT, pad_left)
      .set(Command::OP_POOL, mode);
  return row;
}

TEST(U85Pools, JoinWhatIsNotPadding) {
  EXPECT_THAT(pooled(value::pooling_mode_MAX, 0).ofm<int8_t>(), ElementsAre(5, 8, 8));
  EXPECT_THAT(pooled(value::pooling_mode_MIN, 1).ofm<int8_t>(), ElementsAre(5, -4, -4, 8));
  EXPECT_THAT(pooled(value::pooling_mode_SUM, 1).ofm<int8_t>(), ElementsAre(5, 1, 4, 16));
  // Halves go away from zero; of one element, the padding is not counted.
  EXPECT_THAT(pooled(value::pooling_mode_AVERAGE, 1).ofm<int8_t>(), ElementsAre(5, 1, 2, 8));
}

TEST(U85Pools, FindTheFirstOfTheLargest) {
  Row row(1, 2, 1, 4);
  // Three columns of two channels.
  row.put(Row::kIfm, std::vector<int8_t>{1, 7, 9, 7, 9, -1});
  row.stream()
      .set(Command::SET_KERNEL_WIDTH_M1, 2)
      .set(Command::SET_OFM_SCALE, 5 << 13 | 16, 1)
      .set(Command::OP_POOL, value::pooling_mode_ARGMAX_X);
  EXPECT_THAT(row.ofm<int32_t>(), ElementsAre(1, 0));
}

// Sums stay in the accumulators for the next operation.
Row kept(bool keeps) {
  Row row(2, 1, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{5, -4});
  const int32_t block = value::microblock_U1X2 << 8;
  if (keeps)
    row.stream()
        .set(Command::SET_ACC_FORMAT, block | value::acc_output_KEPT << 6)
        .set(Command::SET_OFM_PRECISION,
             row.ofm_precision() | value::activation_storage_NOT_STORED << 14)
        .set(Command::OP_POOL, value::pooling_mode_SUM);
  row.stream()
      .set(Command::SET_OFM_PRECISION, row.ofm_precision())
      .set(Command::SET_ACC_FORMAT, block | value::acc_input_FROM_KEPT << 4)
      .set(Command::OP_POOL, value::pooling_mode_SUM);
  return row;
}

TEST(U85Accumulators, AreKept) {
  EXPECT_THAT(kept(true).ofm<int8_t>(), ElementsAre(10, -8));
  EXPECT_THAT(kept(false).run(), HasSubstr("no operation left sums in the accumulators"));
}

// What memory holds of 32 bits goes into the accumulators first.
TEST(U85Accumulators, ArePreloaded) {
  Row row(2, 1, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{5, -4}).put(Row::kIfm2, std::vector<int32_t>{100, -20});
  const int32_t block = value::microblock_U1X2 << 8;
  row.stream()
      .set(Command::SET_IFM2_PRECISION, 1 | value::activation_precision_B32 << 2)
      .address(Command::SET_IFM2_STRIDE_X, 4)
      .address(Command::SET_IFM2_STRIDE_Y, 8)
      .set(Command::SET_ACC_FORMAT,
           block | value::acc_input_FROM_IFM2 << 4 | value::acc_output_KEPT << 6)
      .set(Command::SET_OFM_PRECISION,
           row.ofm_precision() | value::activation_storage_NOT_STORED << 14)
      .set(Command::OP_POOL, value::pooling_mode_NONE)
      .set(Command::SET_OFM_PRECISION, row.ofm_precision())
      .set(Command::SET_ACC_FORMAT, block | value::acc_input_FROM_KEPT << 4)
      .set(Command::OP_POOL, value::pooling_mode_SUM);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(105, -24));
}

TEST(U85Ofm, IsReversedAndTransposed) {
  Row row(3, 2, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{1, 2, 3, 4, 5, 6});
  row.stream()
      .set(Command::SET_OFM_PRECISION,
           row.ofm_precision() | value::activation_reverse_REVERSE_W << 9)
      .set(Command::OP_POOL, value::pooling_mode_SUM);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(5, 6, 3, 4, 1, 2));
  row.stream()
      .set(Command::SET_OFM_PRECISION, row.ofm_precision() | value::activation_transpose_HCW << 11)
      .address(Command::SET_OFM_STRIDE_X, 3)
      .set(Command::OP_POOL, value::pooling_mode_SUM);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(1, 3, 5, 2, 4, 6));
}

// Twice as wide, the nearest element and the line between two.
TEST(U85Resize, TakesPositionsBetweenElements) {
  Row row(4, 1, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{0, 8});
  row.stream()
      .set(Command::SET_KERNEL_WIDTH_M1, 1)
      .set(Command::SET_RESIZE_X_SCALE_N_M1, 1)
      .set(Command::SET_RESIZE_Y_SCALE_N_M1, 0)
      .set(Command::SET_RESIZE_X_OFFSET, 0)
      .set(Command::SET_RESIZE_Y_OFFSET, 0)
      .set(Command::SET_RESIZE_X, 0, 1)
      .set(Command::SET_RESIZE_Y, 1, 0)
      .set(Command::SET_OFM_SCALE, 16, 1)
      .set(Command::OP_RESIZE, value::resize_mode_NEAREST);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(0, 8, 8, 8));
  row.stream()
      .set(Command::SET_OFM_SCALE, 17, 1)
      .set(Command::OP_RESIZE, value::resize_mode_BILINEAR);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(0, 4, 8, 8));
  row.stream().set(Command::OP_RESIZE, value::resize_mode_REPLICATE);
  EXPECT_THAT(row.run(), HasSubstr("REPLICATE is not simulated"));
}

// Halves go away from zero, as TFLite's do: between -5 and 0, and between 0 and 5.
TEST(U85Resize, RoundsSymmetrically) {
  Row row(4, 1, 1, 1);
  row.put(Row::kIfm, std::vector<int8_t>{-5, 0});
  row.stream()
      .set(Command::SET_KERNEL_WIDTH_M1, 1)
      .set(Command::SET_RESIZE_X_SCALE_N_M1, 1)
      .set(Command::SET_RESIZE_Y_SCALE_N_M1, 0)
      .set(Command::SET_RESIZE_X_OFFSET, 0)
      .set(Command::SET_RESIZE_Y_OFFSET, 0)
      .set(Command::SET_RESIZE_X, 0, 1)
      .set(Command::SET_RESIZE_Y, 1, 0)
      .set(Command::SET_OFM_SCALE, 17 | value::round_mode_SYMMETRIC << 13, 1)
      .set(Command::OP_RESIZE, value::resize_mode_BILINEAR);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(-5, -3, 0, 0));
  row.put(Row::kIfm, std::vector<int8_t>{0, 5});
  row.stream().set(Command::OP_RESIZE, value::resize_mode_BILINEAR);
  EXPECT_THAT(row.ofm<int8_t>(), ElementsAre(0, 3, 5, 5));
}

// ---- Transfers ----

TEST(U85Transfers, GoByStridesAndIndices) {
  Row row(1, 1, 1, 1);
  row.put(0, std::vector<uint8_t>{1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 5, 6});
  transfer(row.stream(), 2, 2);
  EXPECT_EQ(row.run(), "");
  const auto at = [&](size_t i) { return row.arena()[Row::kOfm + i]; };
  EXPECT_THAT((std::vector<int>{at(0), at(1), at(2), at(16), at(17)}), ElementsAre(1, 2, 0, 3, 4));

  // The third of them, then the first.
  row.put(256, std::vector<int32_t>{2, 0});
  row.stream()
      .set(Command::SET_DMA0_SRC_REGION,
           1 | value::dma_stride_mode_D2 << 9 | value::dma_index_mode_INDEXED << 11)
      .set(Command::SET_DMA0_IDX_REGION, 1)
      .address(Command::SET_DMA0_IDX, 256)
      .set(Command::SET_DMA0_IDX_MAX, 0, 2)
      .set(Command::OP_DMA_START, 0);
  EXPECT_EQ(row.run(), "");
  EXPECT_THAT((std::vector<int>{at(0), at(1), at(16), at(17)}), ElementsAre(5, 6, 1, 2));
  row.put(256, std::vector<int32_t>{3});
  EXPECT_THAT(row.run(), HasSubstr("index 3 is not between 0 and 2"));
}

// Twice two bytes, four apart, and all of that eight further.
TEST(U85Transfers, HaveThreeDimensions) {
  Row row(1, 1, 1, 1);
  std::vector<uint8_t> bytes(16);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  row.put(0, bytes);
  row.stream()
      .set(Command::SET_DMA0_SRC_REGION, 1 | value::dma_stride_mode_D3 << 9)
      .set(Command::SET_DMA0_DST_REGION, 1)
      .set(Command::SET_DMA0_SIZE0, 2)
      .set(Command::SET_DMA0_SIZE1, 2)
      .address(Command::SET_DMA0_SRC, 1)
      .address(Command::SET_DMA0_DST, Row::kOfm)
      .address(Command::SET_DMA0_LEN, 2)
      .address(Command::SET_DMA0_SRC_STRIDE0, 4)
      .address(Command::SET_DMA0_SRC_STRIDE1, 8)
      .address(Command::SET_DMA0_DST_STRIDE0, 2)
      .address(Command::SET_DMA0_DST_STRIDE1, 4)
      .set(Command::OP_DMA_START, 0);
  EXPECT_EQ(row.run(), "");
  const auto first = row.arena().begin() + Row::kOfm;
  EXPECT_THAT(std::vector<uint8_t>(first, first + 9), ElementsAre(1, 2, 5, 6, 9, 10, 13, 14, 0));
}

// ---- What is refused ----

TEST(U85Streams, WithoutAMeaningAreRefused) {
  const auto fault = [](const auto& write) {
    Row row(1, 1, 1, 1);
    write(row.stream());
    return row.run();
  };
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.word(0x3FF); }), HasSubstr("is no command"));
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.set(Command::SET_BLOCKDEP, 8); }),
              HasSubstr("bits without a meaning"));
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.set(Command::OP_ELEMENTWISE, 12); }),
              HasSubstr("elementwise_mode without a meaning"));
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.set(Command::OP_BRANCH, 1, 0); }),
              HasSubstr("what sets the flag"));
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.set(Command::OP_BRANCH, 0, 0); }),
              HasSubstr("never ends"));
  EXPECT_THAT(
      fault([](U85StreamWriter& s) { s.set(Command::OP_POOL, value::pooling_mode_ARGMAX_Y); }),
      HasSubstr("ARGMAX_Y is not simulated"));
  EXPECT_THAT(fault([](U85StreamWriter& s) {
                s.address(Command::SET_OFM_BASE0, 1024).set(Command::OP_POOL, 3);
              }),
              HasSubstr("OFM of 1x1x1 elements covers bytes 1024 to 1025 of region 1"));
  EXPECT_THAT(fault([](U85StreamWriter& s) { s.set(Command::OP_CONV, 0); }),
              HasSubstr("needs register WEIGHT_FORMAT, which nobody set"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
