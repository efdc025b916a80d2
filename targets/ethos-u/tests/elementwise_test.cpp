// Elementwise operations of every mode, type and way of broadcasting against plain code; tables and
// the activation units; tiles.
#include <bit>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/output_stage.h"
#include "operations.h"

namespace intarsia::test::ethos_u {
namespace {

using Mode = sim::ElementwiseMode;
using Type = sim::ElementType;

// Result of one element, before zero point and clamp.
int64_t expected(const sim::Operation& op, int64_t ifm, int64_t ifm2) {
  const int64_t a = op.reversed ? ifm2 : ifm, b = op.reversed ? ifm : ifm2;
  const bool wide = op.ifm.type == Type::S32;
  const auto scaled = [&](int64_t value) {
    return op.global_scale ? plain_scale(value, op.ofm_scale, op.rounding) : value;
  };
  switch (op.elementwise) {
    case Mode::Add:
    case Mode::Sub: {
      int64_t x = 0, y = 0;
      const int64_t full = int64_t{1} << (sim::element_bytes(op.ifm.type) == 1 ? 19 : 14);
      switch (op.operand_scale) {
        case sim::OperandScale::Both16:
          x = a * op.opa_scale.multiplier;
          y = b * op.opb_scale.multiplier;
          break;
        case sim::OperandScale::A32:
          x = plain_scale(a, op.opa_scale, sim::Rounding::Tfl);
          y = b * full;
          break;
        case sim::OperandScale::B32:
          x = a * full;
          y = plain_scale(b, op.opa_scale, sim::Rounding::Tfl);
          break;
      }
      return scaled(op.elementwise == Mode::Add ? x + y : x - y);
    }
    case Mode::Mul:
      return wide ? plain_scale(a * b, {1, op.ofm_scale.shift}, op.rounding) : scaled(a * b);
    case Mode::Min:
      return a < b ? a : b;
    case Mode::Max:
      return a > b ? a : b;
    case Mode::LeakyRelu:
      return ifm < 0 ? scaled(ifm) : ifm;
    case Mode::Abs:
      return scaled(std::abs(ifm));
    case Mode::Clz: {
      int64_t zeros = 0;
      for (uint32_t bit = 1u << 31; bit != 0 && (static_cast<uint32_t>(ifm) & bit) == 0; bit >>= 1)
        ++zeros;
      return zeros;
    }
    case Mode::Shr:
      return plain_scale(a, {1, static_cast<int32_t>(b)}, op.rounding);
    case Mode::Shl:
      return static_cast<int32_t>(static_cast<uint32_t>(a) << b);
  }
  return 0;
}

bool is_shift(Mode mode) {
  return mode == Mode::Shr || mode == Mode::Shl;
}

sim::Operation random_elementwise(Bench& bench, Mode mode) {
  sim::Operation op;
  op.kind = sim::OperationKind::Elementwise;
  op.elementwise = mode;
  const bool wide_only = mode == Mode::Clz || is_shift(mode);
  constexpr Type kTypes[] = {Type::U8, Type::S8, Type::S16, Type::S32};
  const Type type = wide_only ? Type::S32 : kTypes[bench.in(0, 3)];
  const Type ofm_type = kTypes[bench.in(0, 3)];
  const int32_t height = bench.in(1, 6), width = bench.in(1, 6), depth = bench.in(1, 36);
  const auto zero = [&](Type of) { return of == Type::S32 ? 0 : bench.in(0, 100); };
  op.ifm = bench.place(height, width, depth, type, bench.in(0, 1) == 1, zero(type));
  op.ofm = bench.place(height, width, depth, ofm_type, bench.in(0, 1) == 1, zero(ofm_type));
  op.upscaled_height = height;
  op.upscaled_width = width;
  bench.clamp_to_type(op);
  if (!op.is_unary()) {
    op.reversed = !is_shift(mode) && bench.in(0, 1) == 1;
    op.has_scalar = bench.in(0, 3) == 0;
    op.has_ifm2 = !op.has_scalar;
    op.ifm2 = bench.place(bench.in(0, 1) == 0 ? 1 : height, bench.in(0, 1) == 0 ? 1 : width,
                          bench.in(0, 1) == 0 ? 1 : depth, type, bench.in(0, 1) == 1, zero(type));
    op.scalar = is_shift(mode) ? bench.in(0, 31) : bench.in(0, 120);
  }
  op.global_scale = mode == Mode::Add || mode == Mode::Sub || mode == Mode::Mul ||
                    mode == Mode::LeakyRelu || mode == Mode::Abs;
  op.ofm_scale = {static_cast<uint32_t>(bench.in(1 << 29, (1 << 30) - 1)), bench.in(20, 50)};
  op.opa_scale = {static_cast<uint32_t>(bench.in(1, 65535)), 0};
  op.opb_scale = {static_cast<uint32_t>(bench.in(1, 65535)), 0};
  if (type == Type::S32) {
    op.opa_scale = op.opb_scale = {1, 0};
  } else if (bench.in(0, 1) == 0) {
    op.operand_scale = static_cast<sim::OperandScale>(bench.in(1, 2));
    op.opa_scale = {static_cast<uint32_t>(bench.in(1 << 29, (1 << 30) - 1)), bench.in(10, 14)};
  }
  op.rounding = static_cast<sim::Rounding>(bench.in(0, 2));
  return op;
}

class Elementwise : public testing::TestWithParam<Mode> {};

TEST_P(Elementwise, IsWhatPlainCodeMakes) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Bench bench("ethos-u65-256", seed);
    const sim::Operation op = random_elementwise(bench, GetParam());
    const Numbers ifm = bench.fill(op.ifm);
    Numbers ifm2 = op.is_unary() ? numbers(1, 1, 1) : bench.fill(op.ifm2);
    if (is_shift(GetParam())) {
      for (int64_t& value : ifm2.values) value &= 31;
      bench.put(op.ifm2, ifm2);
    }
    ASSERT_EQ(bench.run(op), "") << seed;
    const Numbers got = bench.get(op.ofm);
    for (int32_t y = 0; y < op.ofm.height; ++y)
      for (int32_t x = 0; x < op.ofm.width; ++x)
        for (int32_t c = 0; c < op.ofm.depth; ++c) {
          int64_t other = op.scalar;
          if (op.has_ifm2)
            other = ifm2.at(op.ifm2.height == 1 ? 0 : y, op.ifm2.width == 1 ? 0 : x,
                            op.ifm2.depth == 1 ? 0 : c);
          const int64_t want =
              expected(op, ifm.at(y, x, c) - op.ifm.zero_point, other - op.ifm2.zero_point);
          ASSERT_EQ(got.at(y, x, c), plain_output(op, want))
              << "seed " << seed << " at " << y << "," << x << "," << c;
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Elementwise,
                         testing::Values(Mode::Mul, Mode::Add, Mode::Sub, Mode::Min, Mode::Max,
                                         Mode::LeakyRelu, Mode::Abs, Mode::Clz, Mode::Shr,
                                         Mode::Shl));

// An operation that hands its IFM to the activation: the smaller of each element and the largest
// scalar.
sim::Operation pass_through(Bench& bench, Type type, Type ofm_type, int32_t width) {
  sim::Operation op;
  op.kind = sim::OperationKind::Elementwise;
  op.elementwise = Mode::Min;
  op.ifm = bench.place(1, width, 1, type, false, 0);
  op.ofm = bench.place(1, width, 1, ofm_type, false, 0);
  op.has_scalar = true;
  op.ifm2.type = type;
  op.scalar = 32767;
  bench.clamp_to_type(op);
  return op;
}

void put_table(Bench& bench, size_t at, const std::vector<uint8_t>& table) {
  std::copy(table.begin(), table.end(),
            bench.memory.shram().begin() +
                static_cast<std::ptrdiff_t>(bench.configuration.lut_base()) +
                static_cast<std::ptrdiff_t>(at));
}

TEST(Tables, EightBitIndicesBeginAtTheLowestValue) {
  for (const Type type : {Type::S8, Type::U8}) {
    Bench bench;
    sim::Operation op = pass_through(bench, type, type, 256);
    op.activation.function = sim::ActivationFunction::Table;
    op.activation.table = 3;
    std::vector<uint8_t> table;
    for (int i = 0; i < 256; ++i) table.push_back(static_cast<uint8_t>(i * 7 + 1));
    put_table(bench, 3 * 256, table);
    Numbers ifm = numbers(1, 256, 1);
    for (size_t i = 0; i < 256; ++i) ifm.values[i] = sim::lowest(type) + static_cast<int64_t>(i);
    bench.put(op.ifm, ifm);
    ASSERT_EQ(bench.run(op), "");
    const Numbers got = bench.get(op.ofm);
    for (size_t i = 0; i < 256; ++i) EXPECT_EQ(static_cast<uint8_t>(got.values[i]), table[i]) << i;
  }
}

// The zero point is added and the clamp applied before the table is indexed, as in Arm's softmax,
// where the difference to the maximum plus 127 indexes 32-bit exponentials.
TEST(Tables, ThirtyTwoBitResults) {
  Bench bench;
  sim::Operation op = pass_through(bench, Type::S8, Type::S32, 4);
  op.ofm.zero_point = 127;
  op.activation = {sim::ActivationFunction::Table, 4, Type::S8, 10, 127};
  std::vector<uint8_t> table;
  for (uint32_t i = 0; i < 256; ++i)
    for (int byte = 0; byte < 4; ++byte)
      table.push_back(static_cast<uint8_t>((i * 0x01010101u) >> (8 * byte)));
  put_table(bench, 4 * 256, table);
  Numbers ifm = numbers(1, 4, 1);
  ifm.values = {0, -1, -128, 50};
  bench.put(op.ifm, ifm);
  ASSERT_EQ(bench.run(op), "");
  // 127, 126, -1 clamped to 10, 177 clamped to 127; entry 0 is that of -128.
  const auto entry = [](uint32_t i) { return int64_t{static_cast<int32_t>(i * 0x01010101u)}; };
  EXPECT_EQ(bench.get(op.ofm).values,
            (std::vector<int64_t>{entry(255), entry(254), entry(138), entry(255)}));
  op.activation.table = 5;
  EXPECT_NE(bench.run(op), "") << "beyond the end of SHRAM";
}

TEST(Tables, SixteenBitsAreInterpolated) {
  Bench bench;
  sim::Operation op = pass_through(bench, Type::S16, Type::S16, 4096);
  op.activation.function = sim::ActivationFunction::Table;
  std::vector<uint8_t> table;
  std::vector<int32_t> base, slope;
  for (int i = 0; i < 512; ++i) {
    base.push_back(bench.in(-30000, 30000));
    slope.push_back(bench.in(-2000, 2000));
    for (const int32_t half : {base.back(), slope.back()}) {
      table.push_back(static_cast<uint8_t>(half));
      table.push_back(static_cast<uint8_t>(half >> 8));
    }
  }
  put_table(bench, 0, table);
  const Numbers ifm = bench.fill(op.ifm);
  ASSERT_EQ(bench.run(op), "");
  const Numbers got = bench.get(op.ofm);
  for (size_t i = 0; i < ifm.values.size(); ++i) {
    const auto index = static_cast<size_t>((ifm.values[i] + 32768) / 128);
    const double step = static_cast<double>((ifm.values[i] + 32768) % 128) / 128;
    const double want = base[index] + std::floor(slope[index] * step + 0.5);
    ASSERT_EQ(static_cast<double>(got.values[i]), std::clamp(want, -32768.0, 32767.0)) << i;
  }
}

TEST(Activations, UnitsWriteSixteenBits) {
  Bench bench;
  sim::Operation op = pass_through(bench, Type::S16, Type::S16, 2000);
  const Numbers ifm = bench.fill(op.ifm);
  for (const bool tanh : {false, true}) {
    op.activation.function =
        tanh ? sim::ActivationFunction::Tanh : sim::ActivationFunction::Sigmoid;
    ASSERT_EQ(bench.run(op), "");
    const Numbers got = bench.get(op.ofm);
    for (size_t i = 0; i < ifm.values.size(); ++i) {
      const auto x = static_cast<int32_t>(ifm.values[i]);
      ASSERT_EQ(got.values[i], tanh ? sim::tanh_unit(x) : sim::sigmoid_unit(x));
    }
  }
  op.ofm.type = Type::S8;
  EXPECT_NE(bench.run(op), "");
}

// A map in four pieces of memory reads and writes as one.
TEST(Tiles, AreOneFeatureMap) {
  for (const bool brick : {false, true}) {
    Bench bench;
    sim::Operation op = pass_through(bench, Type::S8, Type::S8, 9);
    op.ifm = bench.place(7, 9, 20, Type::S8, brick, 0);
    op.ofm = bench.place(7, 9, 20, Type::S8, !brick, 0);
    const auto split = [&](sim::FeatureMap& map, int32_t height0, int32_t height1, int32_t width0) {
      map.height0 = height0;
      map.height1 = height1;
      map.width0 = width0;
      for (uint64_t& base : map.base) base = bench.take(static_cast<uint64_t>(7 * map.stride_y));
    };
    split(op.ifm, 4, 6, 5);
    split(op.ofm, 2, 7, 8);
    const Numbers ifm = bench.fill(op.ifm);
    ASSERT_EQ(bench.run(op), "");
    EXPECT_EQ(bench.get(op.ofm).values, ifm.values);
    op.ifm.base[2] = (1 << 20) - 10;
    EXPECT_NE(bench.run(op), "") << "one tile lies outside of the region";
  }
}

// Rows, pixels or bricks may follow one another towards lower addresses.
TEST(Strides, MayBeNegative) {
  for (const bool brick : {false, true})
    for (const bool of_ifm : {false, true}) {
      Bench bench;
      sim::Operation op = pass_through(bench, Type::S16, Type::S16, 9);
      op.ifm = bench.place(7, 9, 40, Type::S16, brick, 0);
      op.ofm = bench.place(7, 9, 40, Type::S16, brick, 0);
      sim::FeatureMap& map = of_ifm ? op.ifm : op.ofm;
      const sim::FeatureMap upright = map;
      const auto reverse = [&](int64_t& stride, int32_t steps) {
        map.base[0] += static_cast<uint64_t>(steps * stride);
        stride = -stride;
      };
      reverse(map.stride_y, 6);
      if (brick)
        reverse(map.stride_c, 2);
      else
        reverse(map.stride_x, 8);
      const Numbers ifm = bench.fill(op.ifm);
      ASSERT_EQ(bench.run(op), "");
      EXPECT_EQ(bench.get(op.ofm).values, ifm.values);
      // The first row in memory is the last of the map.
      const Numbers found = bench.get(upright), values = bench.get(op.ofm);
      for (int32_t c = 0; c < 8; ++c)
        EXPECT_EQ(found.at(0, 0, c), brick ? values.at(6, 0, 32 + c) : values.at(6, 8, c));
      map.base[0] = 0;
      EXPECT_NE(bench.run(op), "") << "the last row lies in front of the region";
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
