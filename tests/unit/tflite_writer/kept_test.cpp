// What nobody runs and a file keeps: signatures with the numbers that tensors have now, fields that our schema of the format leaves out.
#include <gtest/gtest.h>

#include "tflite_builder.h"
#include "tflite_writer/model_draft.h"

namespace intarsia::tflite_writer {
namespace {

namespace format = tflite::format;
using flatbuffers::Offset;
using flatbuffers::voffset_t;

constexpr voffset_t field(int id) {
  return static_cast<voffset_t>(4 + 2 * id);
}

// Tensors "unused", "x", "y" and an operator from x to y with a debug number, which is field 13 of operators; signature "go".
std::vector<uint8_t> signed_model() {
  flatbuffers::FlatBufferBuilder b;
  std::vector<Offset<format::Tensor>> tensors;
  for (const char* name : {"unused", "x", "y"})
    tensors.push_back(format::CreateTensor(b, b.CreateVector(std::vector<int32_t>{1, 4}), 0, 0,
                                           b.CreateString(name)));
  const auto inputs = b.CreateVector(std::vector<int32_t>{1});
  const auto outputs = b.CreateVector(std::vector<int32_t>{2});
  auto start = b.StartTable();
  b.AddOffset(field(1), inputs);
  b.AddOffset(field(2), outputs);
  b.AddElement<int32_t>(field(13), 77);
  const std::vector<Offset<format::Operator>> operators = {
      Offset<format::Operator>(b.EndTable(start))};
  const auto tensor_list = b.CreateVector(tensors);
  const auto operator_list = b.CreateVector(operators);
  const std::vector<Offset<format::Subgraph>> subgraphs = {format::CreateSubgraph(
      b, tensor_list, inputs, outputs, operator_list, b.CreateString("main"))};
  const auto map = [&](const char* name, uint32_t tensor) {
    const auto text = b.CreateString(name);
    const auto begin = b.StartTable();
    b.AddOffset(field(0), text);
    b.AddElement<uint32_t>(field(1), tensor);
    return b.CreateVector(std::vector<Offset<void>>{Offset<void>(b.EndTable(begin))});
  };
  const auto from = map("picture", 1), to = map("answer", 2);
  const auto key = b.CreateString("go");
  start = b.StartTable();
  b.AddOffset(field(0), from);
  b.AddOffset(field(1), to);
  b.AddOffset(field(2), key);
  const auto signatures =
      b.CreateVector(std::vector<Offset<void>>{Offset<void>(b.EndTable(start))});
  const auto codes = b.CreateVector(std::vector<Offset<format::OperatorCode>>{
      format::CreateOperatorCode(b, test::kRelu, 0, 2, test::kRelu)});
  const auto subgraph_list = b.CreateVector(subgraphs);
  const auto buffers = b.CreateVector(std::vector<Offset<format::Buffer>>{format::CreateBuffer(b)});
  start = b.StartTable();
  b.AddElement<uint32_t>(field(0), 3);
  b.AddOffset(field(1), codes);
  b.AddOffset(field(2), subgraph_list);
  b.AddOffset(field(4), buffers);
  b.AddOffset(field(7), signatures);
  b.Finish(Offset<format::Model>(b.EndTable(start)), format::ModelIdentifier());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

using Tables = flatbuffers::Vector<Offset<flatbuffers::Table>>;

uint32_t tensor_of(const flatbuffers::Table& signature, int side, const std::string& name) {
  const auto& map = *signature.GetPointer<const Tables*>(field(side))->Get(0);
  EXPECT_EQ(map.GetPointer<const flatbuffers::String*>(field(0))->str(), name);
  return map.GetField<uint32_t>(field(1), 99);
}

TEST(Kept, SignaturesNameTensorsByTheirNewNumbers) {
  const auto original = Original::open(signed_model(), "m", {});
  ASSERT_TRUE(original.ok()) << original.error().to_string();
  ModelDraft draft;
  draft.tensors = {{.original = 2}, {.original = 1}};
  draft.operators = {{.original = 0, .inputs = {1}, .outputs = {0}}};
  draft.inputs = {1};
  draft.outputs = {0};
  const auto file = write_model(&*original, draft);
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto& model = *flatbuffers::GetRoot<flatbuffers::Table>(file->data());
  const auto& signature = *model.GetPointer<const Tables*>(field(7))->Get(0);
  EXPECT_EQ(signature.GetPointer<const flatbuffers::String*>(field(2))->str(), "go");
  EXPECT_EQ(tensor_of(signature, 0, "picture"), 1u);
  EXPECT_EQ(tensor_of(signature, 1, "answer"), 0u);
  // A field that the schema does not have.
  const auto& graph = *model.GetPointer<const Tables*>(field(2))->Get(0);
  const auto& op = *graph.GetPointer<const Tables*>(field(3))->Get(0);
  EXPECT_EQ(op.GetField<int32_t>(field(13), 0), 77);
}

TEST(Kept, APartHasNoSignatures) {
  const auto original = Original::open(signed_model(), "m", {});
  ASSERT_TRUE(original.ok());
  ModelDraft draft;
  draft.is_part = true;
  draft.tensors = {{.original = 1}, {.original = 2}};
  draft.operators = {{.original = 0, .inputs = {0}, .outputs = {1}}};
  draft.inputs = {0};
  draft.outputs = {1};
  const auto file = write_model(&*original, draft);
  ASSERT_TRUE(file.ok());
  const auto& model = *flatbuffers::GetRoot<flatbuffers::Table>(file->data());
  EXPECT_EQ(model.GetPointer<const Tables*>(field(7)), nullptr);
}

}  // namespace
}  // namespace intarsia::tflite_writer
