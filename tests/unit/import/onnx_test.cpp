// ONNX files made here: what is refused, and in which words; what operators become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "intarsia/import.h"
#include "onnx_format/onnx_format.pb.h"

namespace intarsia {
namespace {

namespace format = onnx::format;
using testing::HasSubstr;

constexpr int kFloat = 1, kInt8 = 3, kInt64 = 7;

class Model {
 public:
  explicit Model(int64_t set = 17) {
    model_.set_format_version(8);
    model_.add_operator_set()->set_version(set);
  }

  format::Node& node(const std::string& type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    format::Node& node = *graph().add_node();
    node.set_type(type), node.set_name("the_" + type);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  Model& input(const std::string& name, const std::vector<int64_t>& shape, int element = kFloat) {
    format::Named& named = *graph().add_input();
    named.set_name(name);
    named.mutable_kind()->mutable_tensor()->set_element(element);
    format::Extents& extents = *named.mutable_kind()->mutable_tensor()->mutable_extents();
    for (const int64_t extent : shape)
      if (extent < 0)
        extents.add_dimension()->set_symbol("N");
      else
        extents.add_dimension()->set_extent(extent);
    return *this;
  }
  Model& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  format::Tensor& constant(const std::string& name, const std::vector<int64_t>& shape,
                           int element = kFloat) {
    format::Tensor& tensor = *graph().add_initialiser();
    tensor.set_name(name), tensor.set_element(element);
    int64_t count = element == kInt64 ? 8 : element == kInt8 ? 1 : 4;
    for (const int64_t extent : shape) tensor.add_extent(extent), count *= extent;
    tensor.set_raw(std::string(static_cast<size_t>(count), '\1'));
    return tensor;
  }
  void integers(const std::string& name, const std::vector<int64_t>& values) {
    std::string raw(values.size() * 8, '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    constant(name, {static_cast<int64_t>(values.size())}, kInt64).set_raw(raw);
  }
  format::Graph& graph() { return *model_.mutable_graph(); }
  format::Model& raw() { return model_; }

  Result<graph::Module> read(Diagnostics* notes = nullptr) const {
    const std::string text = model_.SerializeAsString();
    return import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                        {"some/m.onnx", notes});
  }
  std::string refusal() const {
    const Result<graph::Module> module = read();
    return module.ok() ? "is taken" : module.error().to_string();
  }

 private:
  format::Model model_;
};

Model relu() {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

TEST(OnnxFile, EveryPrefixIsRefusedOrTaken) {
  const std::string whole = relu().raw().SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto module =
        import_model({reinterpret_cast<const uint8_t*>(whole.data()), size}, {"m.onnx"});
    if (module.ok()) continue;
    EXPECT_THAT(module.error().to_string(), HasSubstr("m.onnx"));
  }
  EXPECT_EQ(relu().refusal(), "is taken");
}

TEST(OnnxFile, CutOff) {
  std::string text = relu().raw().SerializeAsString();
  text.resize(text.size() - 9);
  const auto module =
      import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {"m.onnx"});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().to_string(),
            "m.onnx: is not a whole ONNX model: its protocol buffer does not parse; the file is "
            "cut off or "
            "damaged; export or fetch it again\n");
}

TEST(OnnxFile, OperatorSetOfTheFuture) {
  Model model(99);
  model.input("x", {1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("is written in operator set 99"));
}

TEST(OnnxFile, UnknownOperatorsAreReportedTogether) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Frobnicate", {"x"}, {"a"});
  model.node("Scramble", {"a"}, {"y"}).set_domain("ai.example");
  const std::string refusal = model.refusal();
  EXPECT_THAT(refusal, HasSubstr("operator 0 'the_Frobnicate' (Frobnicate, operator set 17): is an "
                                 "operator Intarsia does not have"));
  EXPECT_THAT(refusal,
              HasSubstr("operator 1 'the_Scramble' (ai.example.Scramble, operator set 0)"));
  EXPECT_THAT(refusal, HasSubstr("docs/onnx.md"));
}

TEST(OnnxFile, Cycle) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Add", {"x", "b"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("operator 0 'the_Add' (Add, operator set 17): is part of a cycle"));
}

TEST(OnnxFile, OrderOfTheFileDoesNotMatter) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Relu", {"a"}, {"y"});
  model.node("Neg", {"x"}, {"a"});
  EXPECT_EQ(model.refusal(), "is taken");
}

TEST(OnnxFile, ValueFromNowhere) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Add", {"x", "lost"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("reads 'lost', which nothing makes"));
}

TEST(OnnxFile, DataElsewhereThatIsMissing) {
  Model model = relu();
  format::Tensor& tensor = model.constant("w", {4});
  tensor.clear_raw(), tensor.set_location(1);
  format::Entry& entry = *tensor.add_elsewhere();
  entry.set_key("location"), entry.set_value("weights.bin");
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("initialiser 'w': lies in the file 'some/weights.bin', which cannot be read"));
  entry.set_value("../weights.bin");
  EXPECT_THAT(model.refusal(), HasSubstr("which is not beside the model"));
  entry.set_value("/etc/passwd");
  EXPECT_THAT(model.refusal(), HasSubstr("which is not beside the model"));
}

TEST(OnnxFile, InitialiserOfWrongSize) {
  Model model = relu();
  model.constant("w", {4}).set_raw("abc");
  EXPECT_THAT(model.refusal(),
              HasSubstr("initialiser 'w': needs 16 bytes for its shape, but holds 3"));
}

TEST(OnnxFile, TypesOfNoMicrocontroller) {
  Model model = relu();
  model.constant("w", {1}, 11).set_raw("12345678");
  EXPECT_THAT(model.refusal(), HasSubstr("initialiser 'w': is of double"));
}

TEST(OnnxFile, OpenBatchBecomesOne) {
  Model model;
  model.input("x", {-1, 2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  Diagnostics notes;
  const auto module = model.read(&notes);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->entry_function().tensors[0].shape, (Shape{1, 2}));
  EXPECT_EQ(notes.to_string(),
            "some/m.onnx: model input 'x': has an open batch (N), which becomes 1\n");
}

TEST(OnnxFile, OtherOpenExtents) {
  Model model;
  model.input("x", {1, -1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("model input 'x': has an open extent along axis 1 (N)"));
}

TEST(OnnxOperator, ShapesThatDoNotBroadcast) {
  Model model;
  model.input("x", {1, 2}).input("z", {1, 3}).output("y");
  model.node("Add", {"x", "z"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("operator 0 'the_Add' (Add, operator set 17): shapes "
                                         "[1,2] and [1,3] cannot be broadcast"));
}

TEST(OnnxOperator, AxisOutOfRange) {
  Model model;
  model.input("x", {1, 2}).output("y");
  format::Attribute& axis = *model.node("Softmax", {"x"}, {"y"}).add_attribute();
  axis.set_name("axis"), axis.set_integer(5);
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("operator 0 'the_Softmax' (Softmax, operator set 17): names axis 5 of a tensor of "
                "rank 2; -2 to 1 are possible"));
}

TEST(OnnxOperator, WeightsThatDoNotFit) {
  Model model;
  model.input("x", {1, 3, 8, 8}).output("y");
  model.constant("w", {4, 2, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("has weights [4,2,3,3] for 3 channels in 1 groups"));
}

TEST(OnnxOperator, ShapeOfTheRunningModel) {
  Model model;
  model.input("x", {4}).input("s", {2}, kInt64).output("y");
  model.node("Reshape", {"x", "s"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("takes its shape from 's', which is known only when the model runs"));
}

TEST(OnnxOperator, ShapesAreComputedAtImport) {
  Model model;
  model.input("x", {1, 6, 2}).output("y");
  model.integers("first", {0}), model.integers("rest", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "first"}, {"batch"});
  model.node("Concat", {"batch", "rest"}, {"wanted"}).add_attribute()->set_name("axis");
  model.node("Reshape", {"x", "wanted"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().tensor(module->entry_function().outputs[0]).shape,
            (Shape{1, 12}));
}

}  // namespace
}  // namespace intarsia
