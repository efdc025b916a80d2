// Files that are no models, or no longer: each ends in one clear line, none in a crash.
#include <random>

#include "import/listed_operators.h"
#include "import_support.h"

namespace intarsia::test {
namespace {

std::string refusal(const std::string& content) {
  const auto result =
      import_model({reinterpret_cast<const uint8_t*>(content.data()), content.size()}, {"x.bin"});
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().to_string();
}

TEST(NotAModel, IsSaidInOneLine) {
  EXPECT_EQ(refusal(""), "x.bin: is empty; give a .tflite model or an .onnx one\n");
  EXPECT_EQ(refusal("hello"),
            "x.bin: is neither a .tflite model (no \"TFL3\" at byte 4), nor ONNX, nor graph text; "
            "give a .tflite model or an .onnx one\n");
  EXPECT_EQ(refusal("intarsia.graphics 1"), refusal("hello"));
  EXPECT_EQ(refusal("// only a comment"), refusal("hello"));
  EXPECT_EQ(refusal("\x08\x07\x12\x04onnx"),
            "x.bin: is a protocol buffer, but no ONNX model: it has no graph; give a .tflite "
            "model or an .onnx one\n");
  EXPECT_EQ(refusal("\x89PNG\r\n"),
            "x.bin: is a PNG picture; give the network; pictures go to --input\n");
  EXPECT_EQ(refusal("version https://git-lfs.github.com/spec/v1\n"),
            "x.bin: is a Git LFS pointer; fetch the file with git lfs pull\n");
}

TEST(NotAModel, FormatsOfOtherToolsAreNamed) {
  const std::string exported =
      "; give the network that it was made of, exported from PyTorch to .onnx or converted to "
      ".tflite\n";
  EXPECT_EQ(refusal(std::string("\x10\0\0\0TOSA\0\0", 10)),
            "x.bin: is a TOSA graph, which has no scales of its tensors" + exported);
  EXPECT_EQ(refusal(std::string("\x10\0\0\0ET12eh00", 12)),
            "x.bin: is a program of ExecuTorch, lowered for its runtime already" + exported);
  EXPECT_EQ(
      refusal(std::string("\x1c\0\0\0ORTM", 8)),
      "x.bin: is a model in the format of ONNX Runtime; give the .onnx model that it was made "
      "of\n");
  EXPECT_EQ(refusal("ML\xefR\x0d"),
            "x.bin: is MLIR bytecode (StableHLO, TOSA); convert the network to .tflite first\n");
  EXPECT_EQ(
      refusal("<?xml version=\"1.0\"?>\n<net name=\"x\">"),
      "x.bin: is XML (OpenVINO keeps networks in it); give the .onnx or .tflite model that it "
      "was made of\n");
  EXPECT_EQ(refusal("7767517\n5 5\n"),
            "x.bin: is a network of ncnn; give the .onnx model that it was made of\n");
  EXPECT_EQ(refusal(std::string("\x80\x02\x8a\x0a", 4)),
            "x.bin: is a Python pickle (PyTorch); export the network to .onnx first\n");
}

TEST(NotAModel, RightIdentifierAndNothingElse) {
  EXPECT_EQ(
      refusal(std::string("\x08\0\0\0TFL3", 8)),
      "x.bin: is damaged: an offset inside the file does not lead to what it should; the file "
      "may be truncated; copy or convert it again\n");
}

TEST(NotAModel, NoSubgraph) {
  flatbuffers::FlatBufferBuilder builder;
  format::FinishModelBuffer(builder, format::CreateModel(builder, 3));
  const std::string content(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                            builder.GetSize());
  EXPECT_EQ(refusal(content), "x.bin: holds no subgraph, so no model; convert the model again\n");
}

// Imports something broken; it may still be a model, but then one that verifies.
void import_survives(std::span<const uint8_t> bytes) {
  const auto result = import_model(bytes, {"x.tflite"});
  if (result.ok()) {
    EXPECT_TRUE(graph::verify(*result).ok());
  } else {
    EXPECT_FALSE(result.error().items().empty());
  }
  // What is listed is listed of a model that imports at least.
  const auto listed = import::listed_operators(bytes, {"x.tflite"});
  EXPECT_TRUE(listed.ok() || !result.ok());
}

TEST(Damaged, EveryTruncation) {
  const std::vector<uint8_t> bytes = build(chain_model());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto result = import_model(std::span(bytes).first(size), {"x.tflite"});
    EXPECT_FALSE(result.ok()) << size;
    if (size >= 8 && !result.ok()) {
      EXPECT_THAT(result.error().to_string(), testing::HasSubstr("x.tflite: ")) << size;
    }
  }
}

TEST(Damaged, EveryByteSetToExtremes) {
  const std::vector<uint8_t> original = build(chain_model());
  for (size_t at = 0; at < original.size(); ++at) {
    for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> bytes = original;
      bytes[at] = value;
      import_survives(bytes);
    }
  }
}

TEST(Damaged, RandomBitFlips) {
  std::mt19937 random(1);
  for (const ModelSpec& model : {chain_model(), mean_model(), pad_model()}) {
    const std::vector<uint8_t> original = build(model);
    for (int round = 0; round < 300; ++round) {
      std::vector<uint8_t> bytes = original;
      for (int flips = 1 + round % 8; flips > 0; --flips) {
        const uint32_t bit = random() % (8 * bytes.size());
        bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      }
      import_survives(bytes);
    }
  }
}

}  // namespace
}  // namespace intarsia::test
