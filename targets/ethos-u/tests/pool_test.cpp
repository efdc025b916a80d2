// Pooling against plain loops.
#include <gtest/gtest.h>

#include "operations.h"

namespace intarsia::test::ethos_u {
namespace {

// All elements of a window that are not padding, minus the zero point.
std::vector<int64_t> window(const sim::Operation& op, const Numbers& ifm, int32_t y, int32_t x,
                            int32_t c) {
  std::vector<int64_t> found;
  for (int32_t ky = 0; ky < op.kernel.height; ++ky)
    for (int32_t kx = 0; kx < op.kernel.width; ++kx) {
      const int32_t in_y = y * op.kernel.stride_y + ky - op.padding.top;
      const int32_t in_x = x * op.kernel.stride_x + kx - op.padding.left;
      if (in_y < 0 || in_x < 0 || in_y >= op.upscaled_height || in_x >= op.upscaled_width) continue;
      const int32_t factor = op.upscale == sim::Upscale::None ? 1 : 2;
      found.push_back(ifm.at(in_y / factor, in_x / factor, c) - op.ifm.zero_point);
    }
  return found;
}

int64_t expected(const sim::Operation& op, const std::vector<int64_t>& elements) {
  int64_t result = 0;
  if (op.pooling == sim::PoolingMode::Max) {
    result = *std::max_element(elements.begin(), elements.end());
  } else {
    for (const int64_t element : elements) result += element;
    const bool divides = op.pooling == sim::PoolingMode::Average && op.padding.any();
    if (op.global_scale && !divides)
      return plain_output(op, plain_scale(result, op.ofm_scale, op.rounding));
    if (op.pooling == sim::PoolingMode::Average)
      result = std::llround(static_cast<double>(result) / static_cast<double>(elements.size()));
  }
  return plain_output(op, result);
}

sim::Operation random_pool(Bench& bench, sim::PoolingMode mode) {
  sim::Operation op;
  op.kind = sim::OperationKind::Pool;
  op.pooling = mode;
  op.kernel.width = bench.in(1, 4);
  op.kernel.height = bench.in(1, 4);
  op.kernel.stride_x = bench.in(1, 3);
  op.kernel.stride_y = bench.in(1, 3);
  op.padding = {bench.in(0, op.kernel.height - 1), bench.in(0, op.kernel.width - 1), 0, 0};
  op.upscale = bench.in(0, 3) == 0 ? sim::Upscale::Nearest : sim::Upscale::None;
  const int32_t height = bench.in(2, 5), width = bench.in(2, 5), depth = bench.in(1, 40);
  op.upscaled_height = (height - 1) * op.kernel.stride_y + op.kernel.height - op.padding.top;
  op.upscaled_width = (width - 1) * op.kernel.stride_x + op.kernel.width - op.padding.left;
  const int32_t factor = op.upscale == sim::Upscale::None ? 1 : 2;
  constexpr sim::ElementType kTypes[] = {sim::ElementType::U8, sim::ElementType::S8,
                                         sim::ElementType::S16};
  const sim::ElementType type = kTypes[bench.in(0, 2)];
  op.ifm = bench.place((op.upscaled_height + factor - 1) / factor,
                       (op.upscaled_width + factor - 1) / factor, depth, type, bench.in(0, 1) == 1,
                       bench.in(0, 100));
  op.ofm = bench.place(height, width, mode == sim::PoolingMode::ReduceSum ? 1 : depth, type,
                       bench.in(0, 1) == 1, bench.in(0, 100));
  bench.clamp_to_type(op);
  return op;
}

class Pool : public testing::TestWithParam<sim::PoolingMode> {};

TEST_P(Pool, IsWhatPlainLoopsMake) {
  for (uint32_t seed = 0; seed < 80; ++seed) {
    Bench bench("ethos-u55-128", seed);
    sim::Operation op = random_pool(bench, GetParam());
    // Arm's compilers let the device divide only where there is padding; newer ones set the scale 1 then.
    op.global_scale = GetParam() != sim::PoolingMode::Max && seed % 2 == 0;
    op.ofm_scale = {static_cast<uint32_t>(bench.in(1 << 29, (1 << 30) - 1)), bench.in(28, 40)};
    if (GetParam() == sim::PoolingMode::Average && op.padding.any()) op.ofm_scale = {1, 0};
    op.rounding = static_cast<sim::Rounding>(bench.in(0, 2));
    const Numbers ifm = bench.fill(op.ifm);
    ASSERT_EQ(bench.run(op), "") << seed;
    const Numbers got = bench.get(op.ofm);
    for (int32_t y = 0; y < op.ofm.height; ++y)
      for (int32_t x = 0; x < op.ofm.width; ++x)
        for (int32_t c = 0; c < op.ofm.depth; ++c) {
          std::vector<int64_t> elements;
          const bool all = GetParam() == sim::PoolingMode::ReduceSum;
          for (int32_t i = all ? 0 : c; i < (all ? op.ifm.depth : c + 1); ++i)
            for (const int64_t element : window(op, ifm, y, x, i)) elements.push_back(element);
          ASSERT_EQ(got.at(y, x, c), expected(op, elements)) << "seed " << seed;
        }
  }
}

TEST(PaddedAverage, OfAScaleIsNotKnown) {
  Bench bench("ethos-u55-128", 1);
  sim::Operation op = random_pool(bench, sim::PoolingMode::Average);
  op.padding.left = 1, op.kernel.width = 2;
  op.upscaled_width = (op.ofm.width - 1) * op.kernel.stride_x + 1;
  op.global_scale = true;
  op.ofm_scale = {3, 2};
  EXPECT_NE(bench.run(op).find("an average with padding and a scale of its own"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Modes, Pool,
                         testing::Values(sim::PoolingMode::Max, sim::PoolingMode::Average,
                                         sim::PoolingMode::ReduceSum),
                         [](const auto& info) {
                           return std::string(info.param == sim::PoolingMode::Max ? "Max"
                                              : info.param == sim::PoolingMode::Average
                                                  ? "Average"
                                                  : "ReduceSum");
                         });

}  // namespace
}  // namespace intarsia::test::ethos_u
