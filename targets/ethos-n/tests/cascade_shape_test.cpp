// What the layers of a cascade share: feature maps, stripes of as many rows, and the order of what is loaded.
#include <gtest/gtest.h>

#include "schedule/cascade_shape.h"
#include "schedule/cascade_steps.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kRows = 64;

FeatureMap image(int32_t storage, int64_t rows = kRows) {
  return FeatureMap::whole(storage, rows, 24, 16);
}

Layer step(std::vector<FeatureMap> inputs, FeatureMap output, PleOperation operation) {
  Layer layer;
  layer.inputs = std::move(inputs);
  layer.output = output;
  layer.ple = PleStep{};
  layer.ple->operation = operation;
  return layer;
}

Program program(size_t storages, std::vector<Layer> layers) {
  Program made;
  made.storages.resize(storages);
  made.storages.front().kind = Storage::Kind::Input;
  made.storages.back().kind = Storage::Kind::Output;
  made.layers = std::move(layers);
  return made;
}

TEST(CascadeShape, APartOfATensorIsNotWhole) {
  EXPECT_TRUE(is_whole(image(0)));
  FeatureMap rows = image(0), columns = image(0), channels = image(0);
  --rows.height, --columns.width, --channels.depth;
  EXPECT_FALSE(is_whole(rows));
  EXPECT_FALSE(is_whole(columns));
  EXPECT_FALSE(is_whole(channels));
  EXPECT_FALSE(is_same_whole(channels, channels));
}

// Read as another number, the same bytes are padded with others.
TEST(CascadeShape, WhatTwoLayersReadIsLoadedOnce) {
  Program twice =
      program(3, {step({image(0)}, image(1), PleOperation::LEAKY_RELU),
                  step({image(1), image(0)}, image(2), PleOperation::ADDITION_RESCALE)});
  std::optional<Cascade> shape = shape_of(twice, 0, 2);
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->maps.size(), 3u);
  EXPECT_EQ(shape->layers[1].inputs, (std::vector<size_t>{1, 0}));
  twice.layers[1].inputs[1].zero_point = 5;
  shape = shape_of(twice, 0, 2);
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->maps.size(), 4u);
  EXPECT_EQ(shape->layers[1].inputs, (std::vector<size_t>{1, 2}));
}

// A pool makes a row of two, so that stripes of as many rows of both results need others of what both read.
TEST(CascadeShape, ReadersOfAMapNeedStripesOfAsManyRows) {
  Layer pool =
      step({image(0)}, FeatureMap::whole(2, kRows / 2, 12, 16), PleOperation::MAXPOOL_2X2_2_2);
  pool.mce = MceStep{};
  pool.mce->height = kRows;
  const Program both = program(3, {step({image(0)}, image(1), PleOperation::LEAKY_RELU), pool});
  std::optional<Cascade> shape = shape_of(both, 0, 2);
  ASSERT_TRUE(shape);
  const Variant& variant = variants().front();
  EXPECT_FALSE(assign_rows(variant, both, *shape, 8));
  EXPECT_TRUE(assign_rows(variant, both, *shape, kRows));
}

TEST(CascadeShape, AStripeIsLoadedWhileTheOneBeforeIsTaken) {
  const Program one = program(2, {step({image(0)}, image(1), PleOperation::LEAKY_RELU)});
  const auto loads_of = [&](bool overlaps, int64_t& slots) {
    std::optional<Cascade> shape = shape_of(one, 0, 1);
    EXPECT_TRUE(shape && assign_rows(variants().front(), one, *shape, 8));
    EXPECT_TRUE(order_steps(one, *shape, nullptr, overlaps));
    std::vector<size_t> loads;
    for (const CascadeStep& made : shape->steps) loads.push_back(made.loads.size());
    slots = shape->maps[0].slots;
    return loads;
  };
  int64_t slots = 0;
  EXPECT_EQ(loads_of(false, slots), (std::vector<size_t>{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(slots, 1);
  EXPECT_EQ(loads_of(true, slots), (std::vector<size_t>{2, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(slots, 2);
}

}  // namespace
}  // namespace intarsia::targets::ethos_n
