// What the driver stack, release 25.03, runs: cases on both sides of each of its limits.
#include <functional>

#include <gtest/gtest.h>

#include "support/support_queries.h"

namespace intarsia::test::ethos_n {
namespace {

using namespace targets::ethos_n;

QueryTensor image(int64_t height, int64_t width, int64_t channels, float scale = 0.5f) {
  QueryTensor tensor;
  tensor.shape = {1, height, width, channels};
  tensor.scales = {scale};
  return tensor;
}

Query window(QueryKind kind, const QueryTensor& input, int64_t kernel_h, int64_t kernel_w,
             int64_t stride) {
  Query query;
  query.kind = kind;
  query.inputs = {input};
  query.kernel_h = kernel_h, query.kernel_w = kernel_w;
  query.stride_y = query.stride_x = stride;
  query.output_shape = {1, 8, 8, 16};
  const bool depthwise = kind == QueryKind::Depthwise;
  query.weights.shape = {kernel_h, kernel_w, input.shape[3], depthwise ? 1 : 16};
  query.weights.scales = {0.25f};
  query.bias.type = DataType::Int32;
  query.bias.shape = {1, 1, 1, depthwise ? input.shape[3] : 16};
  query.bias.scales = {input.scales[0] * 0.25f};
  return query;
}

Query of(QueryKind kind, const QueryTensor& input) {
  Query query;
  query.kind = kind;
  query.inputs = {input};
  query.output_shape = input.shape;
  return query;
}

struct Case {
  std::string name;  // of the reason; empty: supported
  Support support;
  Query query;
};
const Support kYes = Support::Supported, kEstimate = Support::EstimateOnly,
              kNo = Support::Unsupported;

template <typename Change>
Query changed(Query query, Change change) {
  change(query);
  return query;
}

void expect(const std::vector<Case>& cases) {
  for (const Variant& variant : variants())
    for (size_t i = 0; i < cases.size(); ++i) {
      const Answer answer = ask(variant, cases[i].query);
      EXPECT_EQ(answer.support, cases[i].support)
          << "case " << i << " on " << variant.tag << ": " << answer.words;
      EXPECT_EQ(answer.name, cases[i].name) << "case " << i << " on " << variant.tag;
    }
}

TEST(Support, Convolution) {
  const auto conv = [](int64_t h, int64_t w, int64_t stride) {
    return window(QueryKind::Convolution, image(16, 16, 8), h, w, stride);
  };
  std::vector<Case> cases;
  for (const int64_t h : {1, 2, 3, 5, 7, 9})
    for (const int64_t w : {1, 2, 3, 5, 7, 9}) {
      cases.push_back({"", kYes, conv(h, w, 1)});
      const bool small = h <= 7 && w <= 7;
      cases.push_back({small ? "" : "stride", small ? kYes : kEstimate, conv(h, w, 2)});
    }
  cases.push_back({"kernel-size", kEstimate, conv(10, 4, 2)});
  cases.push_back({"stride", kEstimate, conv(3, 3, 3)});
  cases.push_back({"stride", kEstimate, changed(conv(3, 3, 1), [](Query& q) { q.stride_x = 2; })});
  cases.push_back({"", kYes, changed(conv(3, 3, 1), [](Query& q) {
                     q.top = q.left = q.bottom = q.right = 7;
                   })});
  cases.push_back({"padding", kEstimate, changed(conv(3, 3, 1), [](Query& q) { q.top = 8; })});
  cases.push_back(
      {"batch", kNo, changed(conv(3, 3, 1), [](Query& q) { q.inputs[0].shape[0] = 2; })});
  cases.push_back({"input-type", kNo,
                   changed(conv(3, 3, 1), [](Query& q) { q.inputs[0].type = DataType::Int32; })});
  cases.push_back(
      {"bias-type", kNo, changed(conv(3, 3, 1), [](Query& q) { q.bias.type = DataType::Int8; })});
  cases.push_back({"bias-scale", kEstimate,
                   changed(conv(3, 3, 1), [](Query& q) { q.bias.scales[0] *= 1.0000002f; })});
  cases.push_back({"bias-zero-point", kEstimate,
                   changed(conv(3, 3, 1), [](Query& q) { q.bias.zero_point = 1; })});
  cases.push_back({"weights-axis", kNo, changed(conv(3, 3, 1), [](Query& q) {
                     q.weights.axis = 2, q.weights.scales.assign(8, 0.25f);
                   })});
  cases.push_back({"rescale-range", kEstimate,
                   changed(conv(3, 3, 1), [](Query& q) { q.output_scale = 0.125f / 65536; })});
  cases.push_back(
      {"", kYes, changed(conv(3, 3, 1), [](Query& q) { q.output_scale = 0.125f / 65535; })});
  expect(cases);
}

TEST(Support, Depthwise) {
  const auto depthwise = [](int64_t h, int64_t w, int64_t stride) {
    return window(QueryKind::Depthwise, image(16, 16, 8), h, w, stride);
  };
  expect({{"", kYes, depthwise(3, 3, 1)},
          {"", kYes, depthwise(9, 9, 2)},
          {"kernel-size", kEstimate, depthwise(3, 5, 1)},
          {"kernel-size", kEstimate, depthwise(4, 4, 1)},
          {"stride", kEstimate, depthwise(1, 1, 2)},
          {"depth-multiplier", kEstimate, changed(depthwise(3, 3, 1), [](Query& q) {
             q.weights.shape[3] = 2, q.bias.shape[3] = 16;
           })}});
}

TEST(Support, Pooling) {
  const auto pool = [](QueryKind kind, const QueryTensor& input, int64_t size, int64_t stride,
                       int64_t before, int64_t behind) {
    Query query = window(kind, input, size, size, stride);
    query.top = query.left = before;
    query.bottom = query.right = behind;
    return query;
  };
  const QueryKind average = QueryKind::AveragePooling, maximum = QueryKind::MaxPooling;
  expect({{"", kYes, pool(average, image(7, 7, 16), 7, 1, 0, 0)},
          {"", kYes, pool(average, image(8, 8, 16), 8, 1, 0, 0)},
          {"pool-kind", kEstimate, pool(average, image(6, 6, 16), 6, 1, 0, 0)},
          {"pool-kind", kEstimate, pool(average, image(25, 5, 16), 5, 1, 0, 0)},
          {"", kYes, pool(average, image(16, 16, 16), 3, 1, 1, 1)},
          {"pool-kind", kEstimate, pool(average, image(16, 16, 16), 3, 1, 0, 0)},
          {"", kYes, pool(maximum, image(16, 16, 16), 2, 2, 0, 0)},
          {"pool-parity", kEstimate, pool(maximum, image(15, 16, 16), 2, 2, 0, 0)},
          {"", kYes, pool(maximum, image(15, 15, 16), 2, 2, 0, 1)},
          {"pool-parity", kEstimate, pool(maximum, image(16, 15, 16), 2, 2, 0, 1)},
          {"", kYes, pool(maximum, image(15, 15, 16), 3, 2, 0, 0)},
          {"pool-parity", kEstimate, pool(maximum, image(16, 16, 16), 3, 2, 0, 0)},
          {"", kYes, pool(maximum, image(16, 416, 16), 3, 2, 0, 1)},
          {"pool-width", kEstimate, pool(maximum, image(16, 418, 16), 3, 2, 0, 1)},
          {"pool-kind", kEstimate, pool(maximum, image(16, 16, 16), 5, 2, 0, 0)},
          {"", kYes, pool(maximum, image(32, 32, 16), 9, 1, 0, 0)},
          {"", kYes, pool(maximum, image(32, 32, 16), 17, 1, 8, 8)},
          {"pool-kind", kEstimate, pool(maximum, image(32, 32, 16), 12, 1, 0, 0)},
          {"stride", kEstimate, pool(maximum, image(16, 16, 16), 3, 3, 0, 0)}});
}

TEST(Support, TheRest) {
  const auto with = [](QueryKind kind, const QueryTensor& input,
                       const std::function<void(Query&)>& change) {
    Query query = of(kind, input);
    change(query);
    return query;
  };
  const auto two = [&](QueryKind kind, const QueryTensor& second) {
    return with(kind, image(4, 5, 6), [&](Query& q) { q.inputs.push_back(second); });
  };
  expect({{"", kYes, of(QueryKind::MeanXy, image(7, 7, 30))},
          {"mean-size", kNo, of(QueryKind::MeanXy, image(9, 9, 30))},
          {"", kYes, two(QueryKind::Addition, image(4, 5, 6, 0.3f))},
          {"broadcast", kEstimate, two(QueryKind::Addition, image(1, 1, 6))},
          {"broadcast", kNo, two(QueryKind::Addition, image(4, 3, 6))},
          {"broadcast", kEstimate, two(QueryKind::Multiplication, image(4, 5, 1))},
          {"", kYes, with(QueryKind::LeakyRelu, image(4, 4, 4), [](Query& q) { q.alpha = 0.99f; })},
          {"slope-range", kEstimate,
           with(QueryKind::LeakyRelu, image(4, 4, 4), [](Query& q) { q.alpha = 1; })},
          {"", kYes,
           with(QueryKind::Requantize, image(4, 4, 4, 1),
                [](Query& q) { q.output_scale = 1.0f / 127; })},
          {"rescale-range", kEstimate,
           with(QueryKind::Requantize, image(4, 4, 4, 1),
                [](Query& q) { q.output_scale = 1.0f / 128; })},
          {"", kYes,
           with(QueryKind::Resize, image(4, 6, 4),
                [](Query& q) {
                  q.output_shape = {1, 8, 11, 4};
                })},
          {"resize-factor", kNo,
           with(QueryKind::Resize, image(4, 6, 4),
                [](Query& q) {
                  q.output_shape = {1, 9, 12, 4};
                })},
          {"", kYes, with(QueryKind::DepthToSpace, image(4, 4, 8), [](Query&) {})},
          {"block-size", kEstimate,
           with(QueryKind::DepthToSpace, image(4, 4, 16), [](Query& q) { q.block = 4; })},
          {"padding", kNo,
           with(QueryKind::StandalonePadding, image(4, 4, 8), [](Query& q) { q.right = 8; })},
          {"axis", kEstimate,
           with(QueryKind::Concatenation, image(4, 4, 8), [](Query& q) { q.axis = 0; })},
          {"", kYes,
           with(QueryKind::Split, image(4, 4, 8),
                [](Query& q) {
                  q.sizes = {3, 5};
                })},
          {"split-sizes", kNo, with(QueryKind::Split, image(4, 4, 8), [](Query& q) {
             q.sizes = {3, 6};
           })}});
}

// Never run, but refused for another reason where not even an estimate is possible. The smallest widths of which a row of
// blocks does not fit are those of the stack's library.
TEST(Support, SpaceToDepth) {
  const auto of_block = [](const QueryTensor& input, int64_t block) {
    Query query = of(QueryKind::SpaceToDepth, input);
    query.block = block;
    return query;
  };
  expect({{"never-run", kEstimate, of_block(image(8, 8, 16), 2)},
          {"block-size", kNo, of_block(image(8, 8, 16), 1)},
          {"block-size", kNo, of_block(image(8, 9, 16), 2)}});
  struct Row {
    const char* tag;
    int64_t block, channels, least;
  };
  for (const Row& row :
       {Row{"ethos-n78-1tops-4ple", 2, 16, 1594}, Row{"ethos-n78-1tops-4ple", 4, 48, 292},
        Row{"ethos-n78-1tops-4ple", 5, 7, 1380}, Row{"ethos-n78-4tops-2ple", 2, 16, 3274},
        Row{"ethos-n78-4tops-4ple", 4, 48, 656}, Row{"ethos-n78-8tops-2ple", 5, 7, 3145}})
    for (const Variant& variant : variants()) {
      if (variant.tag != row.tag) continue;
      const auto of_width = [&](int64_t width) {
        return ask(variant, of_block(image(row.block, width, row.channels), row.block));
      };
      EXPECT_EQ(of_width(row.least - row.block).support, kEstimate) << row.tag;
      EXPECT_EQ(of_width(row.least).support, kNo) << row.tag;
      EXPECT_EQ(of_width(row.least).name, "rows-in-sram") << row.tag;
    }
  for (const Variant& variant : variants()) {
    const int64_t deep = variant.sram_bytes() / 64;
    EXPECT_EQ(ask(variant, of_block(image(2, 4, deep), 2)).words,
              "64 elements of each of the result's " + std::to_string(4 * deep) +
                  " channels take " + std::to_string(4 * 64 * deep) + " bytes, and the SRAM has " +
                  std::to_string(variant.sram_bytes()));
  }
}

// 64 bytes of every channel have to fit into SRAM, unless there is one column.
// Where several limits are not kept, a refusal is the answer, not an estimate.
TEST(Support, RefusalsComeBeforeEstimates) {
  Query query = window(QueryKind::Convolution, image(16, 16, 8), 4, 4, 3);
  query.weights.zero_point = 200;
  const Answer answer = ask(variants().front(), query);
  EXPECT_EQ(answer.support, kNo);
  EXPECT_EQ(answer.name, "weights-zero-point");
  EXPECT_EQ(answer.words, "the zero point of the weights is no value of their type");
}

TEST(Support, ReasonsSayTheValues) {
  const auto expect_words = [](const Query& query, const std::string& words) {
    EXPECT_EQ(ask(variants().front(), query).words, words);
  };
  expect_words(window(QueryKind::Convolution, image(16, 16, 8), 10, 4, 1),
               "the kernel is 10 x 4; the sides supported are 1, 2, 3, 5, 7 and 9");
  expect_words(changed(window(QueryKind::Convolution, image(16, 16, 8), 3, 3, 1),
                       [](Query& q) { q.top = 8, q.left = 1; }),
               "the padding (8, 0, 1, 0) is above 7 at one side and not that of SAME");
  expect_words(changed(of(QueryKind::Reshape, image(2, 3, 4)),
                       [](Query& q) {
                         q.output_shape = {1, 5, 1, 5};
                       }),
               "the new shape [1,5,1,5] has another number of elements");
  expect_words(
      window(QueryKind::MaxPooling, image(16, 418, 16), 3, 3, 2),
      "the image of 16 x 418 has an even side; a 3 x 3 maximum at stride 2 without padding "
      "needs odd ones");
}

TEST(Support, DepthIsBoundByTheVariant) {
  for (const Variant& variant : variants()) {
    const int64_t most = variant.sram_bytes() / 64;
    EXPECT_EQ(ask(variant, of(QueryKind::Relu, image(8, 8, most))).support, kYes) << variant.tag;
    const Answer answer = ask(variant, of(QueryKind::Relu, image(8, 8, most + 1)));
    EXPECT_EQ(answer.support, kNo) << variant.tag;
    EXPECT_EQ(answer.words, "64 elements of each of " + std::to_string(most + 1) +
                                " channels take " + std::to_string(64 * (most + 1)) +
                                " bytes, and the SRAM has " + std::to_string(variant.sram_bytes()));
    EXPECT_EQ(ask(variant, of(QueryKind::Relu, image(8, 1, most + 1))).support, kYes)
        << variant.tag;
  }
}

// Of eight rows as wide as that and sixteen channels, two have to fit into SRAM beside the kernel.
TEST(Support, MaximumOfStride1IsBoundByTheVariant) {
  struct Row {
    const char* tag;
    int64_t longest;
  };
  for (const Row& row : {Row{"ethos-n78-1tops-4ple", 1776}, Row{"ethos-n78-4tops-2ple", 4080},
                         Row{"ethos-n78-4tops-4ple", 4080}, Row{"ethos-n78-8tops-2ple", 8176}})
    for (const Variant& variant : variants()) {
      if (variant.tag != row.tag) continue;
      const auto of_size = [&](int64_t height, int64_t width) {
        return ask(variant, window(QueryKind::MaxPooling, image(height, width, 16), 3, 3, 1));
      };
      EXPECT_EQ(of_size(row.longest, row.longest).support, kYes) << row.tag;
      EXPECT_EQ(of_size(row.longest + 1, 8).name, "image-in-sram") << row.tag;
      EXPECT_EQ(of_size(8, row.longest + 1).name, "image-in-sram") << row.tag;
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
