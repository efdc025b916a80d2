// Slices and scattered elements at places that only the running model knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "onnx_model.h"
#include "onnx_values.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::ElementsAre;
using testing::HasSubstr;

// A region whose corners are no numbers, of an image that there is not.
TEST(OnnxPlaces, RegionsThatAreNowhere) {
  for (const char* mode : {"avg", "max"}) {
    Model model;
    model.input("x", {2, 1, 3, 3}).input("corners", {1, 4}).input("image", {1}, kInt64).output("y");
    format::Node& node = model.node("RoiAlign", {"x", "corners", "image"}, {"y"});
    Model::attribute(node, "mode").set_text(mode);
    Model::attribute(node, "sampling_ratio").set_integer(2);
    const int64_t image = std::string(mode) == "max" ? 7 : 1;
    EXPECT_THAT(floats_of(model, {raw_values(counted(18)), raw_values(std::vector<float>(4, NAN)),
                                  raw_values(std::vector<int64_t>{image})}),
                ElementsAre(0.0f));
  }
}

// x[3,5] from places [r, c] on: two columns from c + 1 on, of all rows but the first; the ends are sums behind casts and reshapes.
TEST(OnnxPlaces, EndsThatAreTheirBeginningsAndANumber) {
  Model model;
  model.input("x", {3, 5}).input("c", {}, kInt64).output("y");
  model.integers("flat", {1}), model.integers("one", {1}), model.integers("three", {3}),
      model.integers("axis", {0}), model.integers("axes", {0, 1});
  model.node("Unsqueeze", {"c", "axis"}, {"c1"});
  model.node("Add", {"c1", "one"}, {"begin"});
  model.node("Reshape", {"c", "flat"}, {"c2"});
  model.node("Add", {"three", "c2"}, {"end"});
  model.node("Concat", {"one", "begin"}, {"begins"});
  model.node("Concat", {"three", "end"}, {"ends"});
  for (format::Node& node : *model.graph().mutable_node())
    if (node.type() == "Concat") Model::attribute(node, "axis").set_integer(0);
  model.node("Slice", {"x", "begins", "ends", "axes"}, {"y"});
  const auto at = [&](int64_t c) {
    return floats_of(model, {raw_values(counted(15)), raw_values(std::vector{c})});
  };
  EXPECT_THAT(at(0), ElementsAre(6, 7, 11, 12));
  EXPECT_THAT(at(2), ElementsAre(8, 9, 13, 14));
  EXPECT_THAT(at(-4), ElementsAre(7, 8, 12, 13));
}

TEST(OnnxPlaces, ExtentsThatTheFileSays) {
  for (const bool says : {true, false}) {
    Model model;
    model.input("x", {6}).input("begin", {1}, kInt64).input("end", {1}, kInt64).output("y");
    model.node("Slice", {"x", "begin", "end"}, {"part"});
    model.node("Neg", {"part"}, {"y"});
    if (says) {
      format::Named& named = *model.graph().add_value();
      named.set_name("part");
      named.mutable_kind()->mutable_tensor()->mutable_extents()->add_dimension()->set_extent(2);
      EXPECT_THAT(floats_of(model, {raw_values(counted(6)), raw_values(std::vector<int64_t>{3}),
                                    raw_values(std::vector<int64_t>{5})}),
                  ElementsAre(-3, -4));
    } else {
      EXPECT_THAT(model.refusal(), HasSubstr("takes its beginnings from 'begin', which is known "
                                             "only when the model runs"));
    }
  }
}

// No place is outside of the tensor, whatever it is given.
TEST(OnnxPlaces, BeginningsOutside) {
  Model model;
  model.input("x", {4}).input("begin", {1}, kInt64).output("y");
  model.integers("two", {2});
  model.node("Add", {"begin", "two"}, {"end"});
  model.node("Slice", {"x", "begin", "end"}, {"y"});
  for (const int64_t begin : {-100, 3, 4, 100, 1 << 30})
    EXPECT_EQ(floats_of(model, {raw_values(counted(4)), raw_values(std::vector{begin})}).size(),
              2u);
}

TEST(OnnxPlaces, ScatteredElements) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    Model model(18);
    model.input("x", {2, 3}).input("places", {2, 2}, kInt64).input("z", {2, 2}).output("y");
    format::Node& node = model.node("ScatterElements", {"x", "places", "z"}, {"y"});
    Model::attribute(node, "axis").set_integer(1);
    Model::attribute(node, "reduction").set_text(reduction);
    const auto found = floats_of(
        model, {raw_values(std::vector<float>{1, 2, 3, 4, 5, 6}),
                raw_values(std::vector<int64_t>{2, 0, -1, 2}),  // the last two are one element
                raw_values(std::vector<float>{10, -1, 7, 2})});
    const std::map<std::string, std::vector<float>> expected = {{"none", {-1, 2, 10, 4, 5, 2}},
                                                                {"add", {0, 2, 13, 4, 5, 15}},
                                                                {"mul", {-1, 2, 30, 4, 5, 84}},
                                                                {"max", {1, 2, 10, 4, 5, 7}},
                                                                {"min", {-1, 2, 3, 4, 5, 2}}};
    EXPECT_EQ(found, expected.at(reduction)) << reduction;
  }
}

TEST(OnnxPlaces, ScatteredRowsThatAddUp) {
  Model model(18);
  model.input("x", {3, 2}).input("places", {2, 1}, kInt64).input("z", {2, 2}).output("y");
  Model::attribute(model.node("ScatterND", {"x", "places", "z"}, {"y"}), "reduction")
      .set_text("add");
  EXPECT_THAT(floats_of(model, {raw_values(counted(6)), raw_values(std::vector<int64_t>{1, -2}),
                                raw_values(std::vector<float>{10, 20, 30, 40})}),
              ElementsAre(0, 1, 42, 63, 4, 5));
}

TEST(OnnxPlaces, ManyScatteredElements) {
  Model model(18);
  model.input("x", {400}).input("places", {300}, kInt64).input("z", {300}).output("y");
  model.node("ScatterElements", {"x", "places", "z"}, {"y"});
  std::vector<int64_t> places;
  for (int64_t i = 0; i < 300; ++i) places.push_back(2 * i % 400 - 400);
  const std::vector<float> y =
      floats_of(model, {raw_values(counted(400)), raw_values(places), raw_values(counted(300))});
  ASSERT_EQ(y.size(), 400u);
  EXPECT_THAT(std::vector<float>(y.begin() + 196, y.begin() + 202),
              ElementsAre(298, 197, 299, 199, 100, 201));
}

void set_integers(format::Node& node, const char* name, const std::vector<int64_t>& values) {
  format::Attribute& attribute = Model::attribute(node, name);
  for (const int64_t value : values) attribute.add_integers(value);
}

// The first of the largest, counted through all of the tensor; with padding, which is none of them.
TEST(OnnxPlaces, OfMaxima) {
  Model model(12);
  model.input("x", {2, 1, 2, 3}).output("y");
  format::Node& pool = model.node("MaxPool", {"x"}, {"most", "places"});
  set_integers(pool, "kernel_shape", {2, 2});
  set_integers(pool, "pads", {0, 1, 0, 0});
  Model::attribute(model.node("Cast", {"places"}, {"y"}), "to").set_integer(1);
  EXPECT_THAT(floats_of(model, {raw_values(std::vector<float>{1, 5, 5, 2, -4, 9,  //
                                                              -1, -1, -3, -1, -7, -2})}),
              ElementsAre(3, 1, 5, 6, 6, 7));
}

TEST(OnnxPlaces, ValuesPutBackToThem) {
  const auto unpooled = [](const std::vector<int64_t>& shape) {
    Model model(12);
    model.input("x", {1, 1, 1, 2}).input("places", {1, 1, 1, 2}, kInt64).output("y");
    model.integers("shape", shape);
    format::Node& node = model.node("MaxUnpool", {"x", "places", "shape"}, {"y"});
    set_integers(node, "kernel_shape", {2, 2});
    set_integers(node, "strides", {2, 2});
    return model;
  };
  Model model = unpooled({1, 1, 2, 4});
  EXPECT_THAT(floats_of(model, {raw_values(std::vector<float>{3, 4}),
                                raw_values(std::vector<int64_t>{5, 2})}),
              ElementsAre(0, 0, 4, 0, 0, 3, 0, 0));
  EXPECT_THAT(unpooled({1, 1, 3, 4}).refusal(),
              HasSubstr("makes [1,1,3,4] of windows that cover [1,1,2,4]"));
}

TEST(OnnxPlaces, PaddedWholeNumbers) {
  Model model(13);
  model.input("x", {3}, kInt64).output("y");
  model.integers("pads", {1, 0});
  model.integers("six", {6});
  model.node("Pad", {"x", "pads", "six"}, {"padded"});
  Model::attribute(model.node("Cast", {"padded"}, {"y"}), "to").set_integer(1);
  EXPECT_THAT(floats_of(model, {raw_values(std::vector<int64_t>{7, 8, -9})}),
              ElementsAre(6, 7, 8, -9));
}

// Blocks of 2 x 2 of one channel, a column each.
TEST(OnnxPlaces, ColumnsOfBlocks) {
  const auto image = [](int64_t stride, int64_t pad, int64_t columns) {
    Model model(18);
    model.input("x", {1, 4, columns}).output("y");
    model.integers("image", {3, 3}), model.integers("block", {2, 2});
    format::Node& node = model.node("Col2Im", {"x", "image", "block"}, {"y"});
    format::Attribute& strides = Model::attribute(node, "strides");
    strides.add_integers(stride), strides.add_integers(stride);
    format::Attribute& pads = Model::attribute(node, "pads");
    for (const int64_t amount : {pad, pad, int64_t{0}, int64_t{0}}) pads.add_integers(amount);
    return model;
  };
  // Four blocks, of which the element in the middle has one number each, and those at the sides two.
  EXPECT_THAT(floats_of(image(1, 0, 4), {raw_values(counted(16))}),
              ElementsAre(0, 5, 5, 10, 30, 20, 10, 25, 15));
  // Beside each other, the first row and column beyond the image.
  EXPECT_THAT(floats_of(image(2, 1, 4), {raw_values(counted(16))}),
              ElementsAre(12, 9, 13, 6, 3, 7, 14, 11, 15));
  EXPECT_THAT(image(1, 0, 5).refusal(), HasSubstr("has [2,2] blocks for columns [1,4,5]"));
}

// Masks that exporters compute from shapes: the columns of a matrix that a known one marks.
TEST(OnnxPlaces, PlacesOfWhatIsNotZero) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("marks", {0, 5, 0, -1, 0, 2}), model.integers("shape", {2, 3});
  model.node("Reshape", {"marks", "shape"}, {"of_places"});
  model.node("NonZero", {"of_places"}, {"places"});
  model.node("Transpose", {"places"}, {"rows"});
  model.node("GatherND", {"x", "rows"}, {"y"});
  EXPECT_THAT(floats_of(model, {raw_values(counted(6))}), ElementsAre(1, 3, 5));
}

// Exporters ask for parts of shapes that have no axis, too.
TEST(OnnxPlaces, PlacesInNothing) {
  Model model;
  model.input("x", {3}).output("y");
  model.integers("zeros", {0, 0}), model.integers("three", {3});
  model.node("NonZero", {"zeros"}, {"none"});
  model.node("NonZero", {"none"}, {"none_again"});
  model.node("Reshape", {"x", "three"}, {"y"});
  EXPECT_THAT(floats_of(model, {raw_values(counted(3))}), ElementsAre(0, 1, 2));
}

TEST(OnnxPlaces, PlacesOfWhatIsNotZeroInARunningValue) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.node("NonZero", {"x"}, {"y"});
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("operator 0 'the_NonZero' (NonZero, operator set 17): has a result whose extent "
                "only the running model knows; the size of its result depends on values"));
}

}  // namespace
}  // namespace intarsia
