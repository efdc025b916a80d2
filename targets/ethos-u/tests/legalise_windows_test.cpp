// Windows that the hardware has not: long strides, dilations and paddings.
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

struct Along {
  int64_t extent, kernel, stride, dilation = 1, before = 0, after = 0;
};

struct Windows {
  Along y, x;
  int64_t images, channels;
  int64_t groups = 1, multiplier = 0;  // a multiplier: depthwise
};

graph::Module convolution_of(Random& random, const Windows& w, DataType type) {
  Graph g;
  const int64_t zero = type == DataType::Int8 ? random.range(-128, 127) : 0;
  TensorId x = g.input(type, {w.images, w.y.extent, w.x.extent, w.channels}, 0.05f, zero);
  const bool is_depthwise = w.multiplier > 0;
  const int64_t filters = is_depthwise ? w.channels * w.multiplier : 2 * w.groups;
  const Shape shape = is_depthwise ? Shape{1, w.y.kernel, w.x.kernel, filters}
                                   : Shape{filters, w.y.kernel, w.x.kernel, w.channels / w.groups};
  const TensorId weights = g.constant(random, DataType::Int8, shape, {{0.01f}, {0}, 0});
  const TensorId bias =
      g.constant(random, type == DataType::Int8 ? DataType::Int32 : DataType::Int64, {filters},
                 {{0.05f * 0.01f}, {0}, 0});
  const graph::Padding2d padding = {w.y.before, w.x.before, w.y.after, w.x.after};
  const float scale = type == DataType::Int8 ? 0.3f : 0.004f;
  const auto node = [&](auto attributes) {
    attributes.stride_h = w.y.stride, attributes.stride_w = w.x.stride;
    attributes.dilation_h = w.y.dilation, attributes.dilation_w = w.x.dilation;
    attributes.padding = padding;
    attributes.activation = random.chance(30) ? graph::Activation::Relu : graph::Activation::None;
    return attributes;
  };
  const int64_t out_zero = type == DataType::Int8 ? random.range(-128, 127) : 0;
  if (is_depthwise) {
    graph::DepthwiseConv2dAttrs attributes = node(graph::DepthwiseConv2dAttrs{});
    attributes.multiplier = w.multiplier;
    return g.finish(
        g.node(OpKind::DepthwiseConv2d, attributes, {x, weights, bias}, 1, type, scale, out_zero));
  }
  return g.finish(g.node(OpKind::Conv2d, node(graph::Conv2dAttrs{}), {x, weights, bias}, 1, type,
                         scale, out_zero));
}

// Each window in every kind of convolution: of all channels, of groups, depthwise, and with a multiplier.
TEST(Windows, BeyondTheHardwares) {
  const std::vector<std::pair<Along, Along>> cases = {
      {{17, 3, 4}, {19, 3, 5}},                     // strides
      {{9, 3, 2}, {31, 5, 7, 1, 2, 3}},             // along a row alone
      {{33, 7, 4, 1, 3, 2}, {6, 2, 1}},             // along a column
      {{1, 1, 1}, {120, 10, 5, 1, 3, 0}},           // one row
      {{83, 3, 1, 40}, {4, 1, 1}},                  // a dilated kernel 81 high
      {{70, 2, 4, 65, 5, 1}, {11, 2, 4, 7, 0, 2}},  // all of them
      {{8, 2, 1, 1, 3, 4}, {6, 3, 2, 1, 1, 4}},     // outputs that see padding alone
      {{2, 1, 1}, {9, 3, 4, 50, 130, 260}},         // padding that no field holds
  };
  Random random(51);
  for (const auto& [y, x] : cases)
    for (const DataType type : kTypes)
      for (const int64_t images : {1, 2})
        for (const Windows& kind : {Windows{y, x, images, 4}, Windows{y, x, images, 6, 3},
                                    Windows{y, x, images, 5, 1, 1}, Windows{y, x, images, 9, 1, 2}})
          expect_taken_and_same(random, convolution_of(random, kind, type));
}

// Columns whose windows are too high or too far apart are rows in memory, and one operation there as a rule: as networks that listen
// to raw sound begin, and with padding, strides that do not divide the column, dilations and channels that stay apart.
TEST(Windows, ColumnsAsRows) {
  Random random(79);
  const Along one = {1, 1, 1};
  struct Case {
    Along column;
    int64_t channels;
    size_t
        operations;  // of a convolution of all channels; where nothing can be folded, its windows are copied first
  };
  for (const Case& c :
       {Case{{400, 80, 4}, 1, 1}, Case{{403, 80, 4}, 1, 2}, Case{{400, 80, 4, 1, 38, 38}, 1, 1},
        Case{{200, 70, 1}, 3, 1}, Case{{300, 100, 3, 1, 50, 49}, 4, 1}, Case{{240, 40, 16}, 2, 1},
        Case{{300, 36, 1, 2, 35, 35}, 4, 1}})
    for (const DataType type : kTypes)
      for (const int64_t images : {1, 2}) {
        const Windows whole = {c.column, one, images, c.channels};
        const graph::Module module = convolution_of(random, whole, type);
        expect_taken_and_same(random, module);
        if (images == 1) {
          EXPECT_EQ(operation_count(module), c.operations);
        }
        // Channels that stay apart are neither folded nor overlap, and only so many elements are copied.
        if (c.column.stride > 3 && c.column.kernel > 64) continue;
        for (const Windows& apart :
             {Windows{c.column, one, images, 4, 1, 1}, Windows{c.column, one, images, 6, 3, 0},
              Windows{c.column, one, images, 3, 1, 2}})
          expect_taken_and_same(random, convolution_of(random, apart, type));
      }
}

// A copy for each element of the window, and one operation; where a window's element lies in the padding, that is filled.
TEST(Windows, OperationsOfTheirCopies) {
  Random random(52);
  const auto count = [&](const Windows& windows) {
    return operation_count(convolution_of(random, windows, DataType::Int8));
  };
  EXPECT_EQ(count({{17, 3, 4}, {19, 3, 5}, 1, 5, 1, 1}), 10u);
  EXPECT_EQ(count({{17, 3, 4}, {19, 3, 5}, 2, 5, 1, 1}), 20u);
  EXPECT_EQ(count({{17, 3, 4}, {19, 3, 5, 1, 1, 0}, 1, 5, 1, 1}), 13u);
  EXPECT_EQ(count({{17, 3, 4}, {19, 3, 5}, 1, 6, 3}), 10u);   // groups together
  EXPECT_EQ(count({{17, 3, 4}, {19, 3, 5}, 1, 15, 3}), 12u);  // each group its own
}

// Zeros between weights cost more than copies where a window is wide; elements that lie in the padding of all windows are none.
// Groups of few channels are taken together, as many as a micro-block is deep; of one channel and one filter all by the depthwise
// unit.
TEST(Windows, Groups) {
  Random random(78);
  struct Case {
    int64_t channels, groups, filters;
    size_t operations;
    targets::ethos_u::OperationKind kind;
  };
  using enum targets::ethos_u::OperationKind;
  for (const auto& [channels, groups, filters, operations, kind] :
       {Case{12, 12, 12, 1, Depthwise}, Case{12, 12, 24, 2, Conv}, Case{32, 8, 32, 4, Conv},
        Case{18, 9, 27, 3, Conv}, Case{15, 5, 10, 3, Conv}, Case{32, 4, 32, 4, Conv},
        Case{9, 3, 9, 2, Conv}})
    for (const DataType type : kTypes)
      for (const int64_t images : {1, 2}) {
        Graph g;
        const bool narrow = type == DataType::Int8;
        const TensorId x = g.input(type, {images, 7, 9, channels}, 0.05f, narrow ? 5 : 0);
        graph::Quantization each{{}, {}, 0};
        for (int64_t i = 0; i < filters; ++i)
          each.scale.push_back(random.real(0.002f, 0.02f)), each.zero_point.push_back(0);
        const TensorId weights =
            g.constant(random, DataType::Int8, {filters, 3, 3, channels / groups}, each);
        graph::Conv2dAttrs attributes;
        attributes.stride_w = 2;
        attributes.padding = {1, 1, 1, 1};
        const graph::Module module = g.finish(g.node(OpKind::Conv2d, attributes, {x, weights}, 1,
                                                     type, narrow ? 0.3f : 0.01f, narrow ? -9 : 0));
        const targets::ethos_u::Program program =
            targets::ethos_u::legalise(module, module.entry_function());
        EXPECT_EQ(program.operations.size(), operations * static_cast<size_t>(images));
        EXPECT_EQ(program.operations.front().kind, kind);
        expect_taken_and_same(random, module);
      }
}

TEST(Windows, FarApart) {
  Random random(56);
  const auto count = [&](int64_t extent, int64_t dilation, int64_t multiplier) {
    const Along along = {extent, 3, 1, dilation, dilation, dilation};
    const graph::Module module =
        convolution_of(random, {along, along, 1, 16, 1, multiplier}, DataType::Int8);
    expect_taken_and_same(random, module);
    return operation_count(module);
  };
  for (const int64_t multiplier : {0, 1}) {
    EXPECT_EQ(count(24, 2, multiplier), 1u);
    EXPECT_EQ(count(24, 4, multiplier), 1u);
    EXPECT_EQ(count(20, 21, multiplier), 2u);
  }
  // Nine elements: those at the corners have two borders in the padding, those beside the middle one.
  EXPECT_EQ(count(24, 16, 1), 9u + 4 * 2 + 4 + 1);
}

// A dilated window on a line is one operation without zeros between its weights on rows of the line's phases, however far apart
// its elements are.
TEST(Windows, DilatedLines) {
  Random random(57);
  const Along one = {1, 1, 1};
  struct Case {
    Along line;
    int32_t taps;
  };
  for (const Case& c :
       {Case{{64, 3, 1, 4, 4, 4}, 3}, Case{{64, 3, 1, 8, 16, 0}, 3}, Case{{96, 2, 1, 6, 0, 0}, 2},
        Case{{60, 3, 1, 12, 6, 18}, 3}, Case{{128, 3, 1, 64, 64, 64}, 3},
        Case{{63, 4, 1, 9, 9, 0}, 4}, Case{{66, 3, 1, 8, 8, 8}, 5}, Case{{65, 3, 1, 4, 4, 4}, 5}})
    for (const DataType type : kTypes)
      for (const bool upright : {false, true})
        for (const int64_t images : {1, 2})
          for (const auto& [groups, multiplier] :
               {std::pair(1, 0), std::pair(3, 0), std::pair(1, 1), std::pair(1, 2)}) {
            const Along &y = upright ? c.line : one, &x = upright ? one : c.line;
            const graph::Module module =
                convolution_of(random, {y, x, images, 6, groups, multiplier}, type);
            expect_taken_and_same(random, module);
            for (const targets::ethos_u::Operation& op :
                 targets::ethos_u::legalise(module, module.entry_function()).operations) {
              EXPECT_EQ(op.kernel.height * op.kernel.width, c.taps) << c.line.dilation;
              EXPECT_TRUE(targets::ethos_u::has_weights(op.kind));
            }
          }
}

// A line in the middle of an image's rows, and one of a part of the channels.
TEST(Windows, DilatedLinesOfParts) {
  Random random(58);
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 3, 40, 8}, 0.05f, -7);
  const auto line = [&](std::vector<int64_t> begin) {
    return g.like(OpKind::Slice,
                  graph::SliceAttrs{std::move(begin), {1, 1, 32, 4}, {1, 1, 1, 1}, {}}, {x});
  };
  const TensorId weights = g.constant(random, DataType::Int8, {5, 1, 3, 4}, {{0.01f}, {0}, 0});
  graph::Conv2dAttrs attributes;
  attributes.dilation_w = 4;
  attributes.padding = {0, 8, 0, 0};
  std::vector<TensorId> made;
  for (const auto& begin : {std::vector<int64_t>{0, 1, 3, 0}, {0, 2, 8, 4}})
    made.push_back(g.node(OpKind::Conv2d, attributes, {line(begin)[0], weights}, 1, DataType::Int8,
                          0.05f, -7)[0]);
  expect_taken_and_same(random, g.finish(g.like(OpKind::Concat, graph::AxisAttrs{3}, made)));
}

// Where the result goes into a part of a concatenation, its places are no row of that.
TEST(Windows, IntoAPartOfATensor) {
  Random random(53);
  for (const int64_t axis : {1, 2, 3}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 21, 21, 5}, 0.05f, -7);
    const TensorId weights = g.constant(random, DataType::Int8, {1, 3, 3, 5}, {{0.01f}, {0}, 0});
    graph::DepthwiseConv2dAttrs attributes;
    attributes.stride_h = attributes.stride_w = 5;
    const auto y =
        g.node(OpKind::DepthwiseConv2d, attributes, {x, weights}, 1, DataType::Int8, 0.05f, -7);
    graph::Pool2dAttrs pool;
    pool.filter_h = pool.filter_w = 3;
    pool.stride_h = pool.stride_w = 5;
    const auto z = g.like(OpKind::MaxPool2d, pool, {x});
    expect_taken_and_same(
        random, g.finish(g.like(OpKind::Concat, graph::AxisAttrs{axis}, {y[0], z[0], y[0]})));
  }
}

std::string refusal_of(const Windows& windows) {
  Random random(54);
  const graph::Module module = convolution_of(random, windows, DataType::Int8);
  return refusal(module, module.entry_function(), module.entry_function().nodes[0]);
}

TEST(Windows, TooManyElementsToCopy) {
  EXPECT_EQ(refusal_of({{40, 8, 4}, {40, 8, 4}, 1, 3, 1, 1}), "");
  EXPECT_EQ(refusal_of({{40, 5, 4}, {40, 13, 4}, 1, 3, 1, 1}),
            "stride 4 x 4 is above 3 x 3; the window has 65 elements to copy, more than 64");
  EXPECT_EQ(refusal_of({{1030, 1, 4}, {1030, 1, 4}, 1, 3, 1, 1}), "");
  EXPECT_EQ(refusal_of({{1030, 1, 4}, {1030, 2, 4}, 1, 3, 1, 1}),
            "stride 4 x 4 is above 3 x 3; copying 2 elements of 66564 windows takes an extent "
            "above 65536");
}

}  // namespace
}  // namespace intarsia::test::ethos_u
