// What a model takes and gives: inputs that nobody reads, results that nobody computes, shapes that the user gives.
#include "import_support.h"

namespace intarsia::test {
namespace {

Result<graph::Module> with_shapes(const ModelSpec& model, std::map<std::string, Shape> shapes) {
  return import_model(build(model), {.file = "some/m.tflite", .shapes = std::move(shapes)});
}

TEST(ImportEdges, AResultMayBeAnInput) {
  ModelSpec m = softmax_model();
  m.outputs = {1, 0};
  const graph::Function main = imported(m);
  EXPECT_EQ(main.outputs[1], main.inputs[0]);
}

TEST(ImportEdges, AResultMayBeAConstant) {
  ModelSpec m = fully_connected_model();
  m.outputs = {3, 1};
  const graph::Function main = imported(m);
  EXPECT_TRUE(main.tensor(main.outputs[1]).constant.valid());
}

TEST(ImportEdges, AnInputMayBeUnread) {
  ModelSpec m = softmax_model();
  m.add({"unread", {3}, kFloat32, {}, {}});
  m.inputs = {2, 0};
  const graph::Function main = imported(m);
  ASSERT_EQ(main.inputs.size(), 2u);
  EXPECT_EQ(main.tensor(main.inputs[0]).name, "unread");
}

// A file states an extent in a few bytes; what is made for it takes no more memory than a model might need.
TEST(ImportEdges, NoConstantIsMadeForAnExtentThatIsOnlyStated) {
  ModelSpec m;
  m.inputs = {m.add({"x", {1 << 20}})};
  m.outputs = {m.add({"y", {1 << 10, 1 << 10}})};
  m.operators = {{kMatrixDiag, m.inputs, m.outputs}};
  EXPECT_THAT(errors(m), testing::HasSubstr("needs a constant of 1048576 x 1048576 elements; at "
                                            "most 4194304 are possible"));
}

// x[-1,?] -> quantize -> softmax, whose extents follow.
ModelSpec open_model() {
  ModelSpec m = softmax_model();
  m.tensors[0].signature = m.tensors[1].signature = {-1, 10};
  return m;
}

TEST(ImportEdges, OpenExtentsCanBeGiven) {
  const auto module = with_shapes(open_model(), {{"logits", {7, 10}}});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  EXPECT_EQ(main.tensor(main.inputs[0]).shape, (Shape{7, 10}));
  EXPECT_EQ(main.tensor(main.outputs[0]).shape, (Shape{7, 10}));
}

TEST(ImportEdges, OthersCannot) {
  EXPECT_EQ(
      with_shapes(open_model(), {{"logits", {7, 11}}}).error().to_string(),
      "some/m.tflite: tensor 0 'logits': has the extent 10 along axis 1, but --shape gives it "
      "7x11; only extents that the file leaves open can be given\n");
  EXPECT_EQ(with_shapes(open_model(), {{"logits", {7}}}).error().to_string(),
            "some/m.tflite: tensor 0 'logits': has rank 2, but --shape gives it 7\n");
  EXPECT_EQ(with_shapes(softmax_model(), {{"logits", {2, 10}}}).error().to_string(),
            "some/m.tflite: tensor 0 'logits': has the extent 1 along axis 0, but --shape gives it "
            "2x10; only extents that the file leaves open can be given\n");
  EXPECT_EQ(with_shapes(open_model(), {{"pixels", {7, 10}}}).error().to_string(),
            "some/m.tflite: has no input 'pixels' to give a shape to; its inputs are logits\n");
}

}  // namespace
}  // namespace intarsia::test
