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

// A converter that is asked for biases of 32 bits writes them to every operator of 16-bit activations.
TEST(ImportEdges, DepthwiseSumsOf64BitsTakeABiasOf32) {
  ModelSpec m = depthwise_conv2d_model();
  m.tensors[0].type = m.tensors[2].type = kInt16;
  m.tensors[0].zero_point = m.tensors[2].zero_point = {0};
  const std::vector<int32_t> bias = {1, -2, 3, INT32_MIN};
  m.operators[0].inputs[2] =
      m.add({"bias", {4}, kInt32, {0.05f, 0.1f, 0.15f, 0.2f}, {0, 0, 0, 0}, bytes_of(bias)});
  const auto module = import(m);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  const graph::Tensor& made = main.tensor(main.nodes[0].inputs[2]);
  EXPECT_EQ(made.type, DataType::Int64);
  const std::vector<uint8_t> bytes = module->constants[made.constant.at()].bytes;
  EXPECT_EQ(bytes, bytes_of(std::vector<int64_t>(bias.begin(), bias.end())));
}

// Rows of a table, taken by numbers of 64 bits: the running model's, and known ones.
TEST(ImportEdges, PlacesOf64Bits) {
  for (const bool known : {false, true}) {
    ModelSpec m;
    m.add({"table", {3, 2}, kFloat32, {}, {}, bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6})});
    const std::vector<uint8_t> places = bytes_of(std::vector<int64_t>{2, 0});
    m.add({"places", {2}, kInt64, {}, {}, known ? places : std::vector<uint8_t>{}});
    m.add({"rows", {2, 2}, kFloat32, {}, {}});
    m.operators = {{kGather, {0, 1}, {2}}};
    if (!known) m.inputs = {1};
    m.outputs = {2};
    const auto module = import(m);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    std::vector<graph::TensorValue> inputs;
    if (!known) inputs.push_back(places);
    const auto outputs = graph::Evaluator(*module).run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    EXPECT_EQ(outputs->at(0), bytes_of(std::vector<float>{5, 6, 1, 2}));
  }
}

// x - x, which tf.math.is_finite becomes, on a scale for which no interpreter has a factor.
TEST(ImportEdges, ADifferenceFromItselfIsZero) {
  ModelSpec m = add_model();
  m.operators[0].code = kSub, m.operators[0].options = {};
  m.operators[0].inputs[1] = m.operators[0].inputs[0];
  m.inputs = {0};
  TensorSpec& result = m.tensors[static_cast<size_t>(m.outputs[0])];
  result.scale = {1e-9f}, result.zero_point = {-7};
  const auto module = import(m);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const std::vector<uint8_t> input(12, 77);
  const auto outputs = graph::Evaluator(*module).run({input});
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(outputs->at(0), std::vector<uint8_t>(12, static_cast<uint8_t>(-7)));
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

// A batch is one without a word; a picture of one row is not what its user wants.
TEST(ImportEdges, OpenExtentsThatAreNotGivenAreSaid) {
  const auto noted = [](std::vector<int32_t> signature) {
    ModelSpec m = softmax_model();
    m.tensors[0].signature = m.tensors[1].signature = std::move(signature);
    Diagnostics notes;
    EXPECT_TRUE(import_model(build(m), {.file = "some/m.tflite", .notes = &notes}).ok());
    return notes.to_string();
  };
  EXPECT_EQ(noted({-1, 10}), "");
  EXPECT_EQ(noted({-1, -1}),
            "some/m.tflite: tensor 0 'logits': leaves extents open (axes 0, 1), which become those "
            "of the file, 1x10; give numbers for the marks in --shape logits=?x?\n");
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
  EXPECT_EQ(with_shapes(open_model(), {{"logits", {0, 10}}}).error().to_string(),
            "some/m.tflite: tensor 0 'logits': has no element with the extent 0 that --shape gives "
            "it; states that hold nothing yet are possible in ONNX models\n");
  EXPECT_EQ(with_shapes(open_model(), {{"pixels", {7, 10}}}).error().to_string(),
            "some/m.tflite: has no input 'pixels' to give a shape to; its inputs are logits\n");
}

Result<graph::Module> with_values(const ModelSpec& model,
                                  std::map<std::string, std::vector<double>> values) {
  return import_model(build(model), {.file = "some/m.tflite", .input_values = std::move(values)});
}

// logits + bias, of four elements each.
ModelSpec sum_model(int8_t type = kFloat32) {
  ModelSpec m;
  const auto add = [&](const char* name) {
    if (type != kFloat32) return m.add({name, {1, 4}, type});
    return m.add({name, {1, 4}, type, {}, {}});
  };
  const int32_t logits = add("logits"), bias = add("bias");
  m.inputs = {logits, bias};
  m.outputs = {add("sum")};
  m.operators = {{kAdd, m.inputs, m.outputs}};
  return m;
}

TEST(ImportEdges, AnInputBecomesAConstant) {
  for (const std::vector<double>& given : {std::vector<double>{2}, {1, -2, 0.5, 3}}) {
    const auto module = with_values(sum_model(), {{"bias", given}});
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& main = module->entry_function();
    ASSERT_EQ(main.inputs.size(), 1u);
    EXPECT_EQ(main.tensor(main.inputs[0]).name, "logits");
    const graph::Tensor& bias = main.tensor(main.nodes.at(0).inputs.at(1));
    ASSERT_TRUE(bias.constant.valid());
    std::vector<float> values(4);
    std::memcpy(values.data(), module->constant(bias.constant).bytes.data(), 16);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(values[i], static_cast<float>(given[given.size() == 1 ? 0 : i]));
  }
}

TEST(ImportEdges, AllInputsBecomeConstants) {
  const auto module = with_values(sum_model(), {{"logits", {1}}, {"bias", {2}}});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_TRUE(module->entry_function().inputs.empty());
  const auto results = graph::Evaluator(*module).run({});
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  std::vector<float> values(4);
  std::memcpy(values.data(), results->at(0).data(), 16);
  EXPECT_EQ(values, std::vector<float>(4, 3.0f));
}

// What cannot be read has one reason: its value was not given to an input that is not there.
TEST(ImportEdges, AnInputOfAWrongShapeIsStillAnInput) {
  const auto module = import_model(
      build(sum_model()),
      {.file = "some/m.tflite", .shapes = {{"bias", {7}}}, .input_values = {{"bias", {1}}}});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().to_string(),
            "some/m.tflite: tensor 1 'bias': has rank 2, but --shape gives it 7\n");
}

TEST(ImportEdges, ValuesThatInputsCannotHave) {
  EXPECT_EQ(
      with_values(sum_model(), {{"bias", {1, 2}}}).error().to_string(),
      "some/m.tflite: tensor 1 'bias': has 4 elements, but --input-value gives it 2; give one "
      "number for all of them, or one for each with commas between\n");
  EXPECT_EQ(with_values(sum_model(), {{"gain", {1}}}).error().to_string(),
            "some/m.tflite: has no input 'gain' to give a value to; its inputs are logits, bias\n");
  for (const double wrong : {128.0, -129.0, 0.5})
    EXPECT_THAT(with_values(sum_model(kInt8), {{"bias", {wrong}}}).error().to_string(),
                testing::HasSubstr("is of i8, which --input-value's"));
  EXPECT_TRUE(with_values(sum_model(kInt8), {{"bias", {-128}}}).ok());
}

}  // namespace
}  // namespace intarsia::test
