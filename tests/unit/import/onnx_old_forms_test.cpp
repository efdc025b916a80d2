// Files of operator sets that exporters wrote years ago.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"
#include "onnx_values.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::ElementsAre;
using testing::HasSubstr;

// x[1,2,2] + b[2], whose axis is that of the rows, or the last one where none is named.
TEST(OnnxOldForms, AnAxisSaysWhereASecondOperandBegins) {
  for (const bool names_axis : {false, true}) {
    Model model(6);
    model.input("x", {1, 2, 2}).input("b", {2}).output("y");
    format::Node& node = model.node("Add", {"x", "b"}, {"y"});
    Model::attribute(node, "broadcast").set_integer(1);
    if (names_axis) Model::attribute(node, "axis").set_integer(1);
    const auto found = floats_of(model, {raw_values(counted(4)), raw_values<float>({10, 20})});
    if (names_axis)
      EXPECT_THAT(found, ElementsAre(10, 11, 22, 23));
    else
      EXPECT_THAT(found, ElementsAre(10, 21, 12, 23));
  }
}

// One operand along two axes of two operators.
TEST(OnnxOldForms, AnOperandMayBeginAtSeveralPlaces) {
  Model model(6);
  model.input("x", {2, 2}).input("b", {2}).output("z");
  for (const int axis : {0, 1}) {
    format::Node& node =
        axis == 0 ? model.node("Add", {"x", "b"}, {"y"}) : model.node("Mul", {"y", "b"}, {"z"});
    Model::attribute(node, "broadcast").set_integer(1);
    Model::attribute(node, "axis").set_integer(axis);
  }
  EXPECT_THAT(floats_of(model, {raw_values(counted(4)), raw_values<float>({10, 20})}),
              ElementsAre(100, 220, 220, 460));
}

TEST(OnnxOldForms, AnAxisThatIsNotThere) {
  Model model(6);
  model.input("x", {2, 2}).input("b", {2}).output("y");
  format::Node& node = model.node("Add", {"x", "b"}, {"y"});
  Model::attribute(node, "broadcast").set_integer(1);
  Model::attribute(node, "axis").set_integer(2);
  EXPECT_THAT(model.refusal(), HasSubstr("names axis 2 of a tensor of rank 2"));
}

TEST(OnnxOldForms, SlopesArePerChannel) {
  const auto input = raw_values<float>({-1, -1, -1, -1});
  for (const int set : {6, 7}) {
    Model model(set);
    model.input("x", {1, 2, 2}).input("slopes", {2}).output("y");
    model.node("PRelu", {"x", "slopes"}, {"y"});
    const auto found = floats_of(model, {input, raw_values<float>({2, 3})});
    if (set == 6)
      EXPECT_THAT(found, ElementsAre(-2, -2, -3, -3));
    else
      EXPECT_THAT(found, ElementsAre(-2, -3, -2, -3));
  }
}

TEST(OnnxOldForms, DropoutOfATrainedNetwork) {
  for (const float ratio : {0.0f, 0.5f}) {
    Model model(13);
    model.input("x", {2}).output("y");
    model.constant("ratio", {}).set_raw({reinterpret_cast<const char*>(&ratio), sizeof ratio});
    model.constant("trains", {}, kBool).set_raw("\1");
    model.node("Dropout", {"x", "ratio", "trains"}, {"y"});
    if (ratio == 0)
      EXPECT_THAT(floats_of(model, {raw_values<float>({3, 5})}), ElementsAre(3, 5));
    else
      EXPECT_THAT(model.refusal(), HasSubstr("model.eval()"));
  }
}

// What is no training needs no word about it.
TEST(OnnxOldForms, ModesOfNormalisation) {
  Model model(6);
  model.input("x", {1, 1, 2}).output("y");
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.input(name, {1});
  format::Node& node =
      model.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
  Model::attribute(node, "is_test").set_integer(1);
  Model::attribute(node, "epsilon").set_real(0);
  EXPECT_THAT(
      floats_of(model, {raw_values<float>({3, 5}), raw_values<float>({2}), raw_values<float>({1}),
                        raw_values<float>({1}), raw_values<float>({4})}),
      ElementsAre(3, 5));
  Model::attribute(node, "spatial").set_integer(0);
  EXPECT_THAT(model.refusal(), HasSubstr("statistics of each element"));
}

// [a, b] with c at place -1 is [a, c, b], as a Python list is.
TEST(OnnxOldForms, ANegativePlaceOfAListCountsFromItsEnd) {
  for (const auto& [place, second] : {std::pair{-2, 1}, {-1, 3}, {1, 3}, {2, 2}}) {
    Model model;
    for (const char* name : {"a", "b", "c"}) model.input(name, {1});
    model.output("y");
    model.integers("place", {place});
    model.integers("second", {1});
    model.node("SequenceConstruct", {"a", "b"}, {"list"});
    model.node("SequenceInsert", {"list", "c", "place"}, {"longer"});
    model.node("SequenceAt", {"longer", "second"}, {"y"});
    EXPECT_THAT(
        floats_of(model, {raw_values<float>({1}), raw_values<float>({2}), raw_values<float>({3})}),
        ElementsAre(second))
        << place;
  }
}

}  // namespace
}  // namespace intarsia
