// Models that are damaged, or that ask for what there is not: a message, exit code 1, nothing written.
#include <filesystem>
#include <limits>
#include <random>

#include "cli.h"
#include "tflite_builder.h"

namespace intarsia::test {
namespace {

class BadModel : public Cli {
 protected:
  // Compiles into a fresh folder, which must not appear when the model is refused.
  ProcessOutcome compile(const std::vector<uint8_t>& bytes) const {
    write("bad.tflite", bytes);
    const ProcessOutcome outcome = intarsia({"compile", "bad.tflite", "-o", "out"});
    EXPECT_EQ(exists("out"), outcome.exit_code == kDone);
    std::filesystem::remove_all(path("out"));
    return outcome;
  }
};

TEST_F(BadModel, Missing) {
  EXPECT_TRUE(refused(intarsia({"compile", "absent.tflite", "-o", "out"}),
                      {"absent.tflite: cannot be read: No such file or directory"}));
}

TEST_F(BadModel, AFolder) {
  EXPECT_TRUE(refused(intarsia({"compile", ".", "-o", "out"}), {"is a folder, not a file"}));
}

TEST_F(BadModel, Empty) {
  EXPECT_TRUE(refused(compile({}), {"bad.tflite: is empty"}));
}

TEST_F(BadModel, Random) {
  std::mt19937 random(1);
  for (const size_t size : {1u, 7u, 8u, 100u, 5000u}) {
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    EXPECT_TRUE(refused(compile(bytes), {"bad.tflite", "give a .tflite model"})) << size;
  }
}

TEST_F(BadModel, RandomBehindTheRightBeginning) {
  std::mt19937 random(2);
  std::vector<uint8_t> bytes = digits_bytes();
  for (size_t i = 8; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(random());
  EXPECT_TRUE(refused(compile(bytes), {"bad.tflite: is damaged"}));
}

TEST_F(BadModel, Truncated) {
  const std::vector<uint8_t> whole = digits_bytes();
  for (const size_t size : {size_t{4}, size_t{8}, size_t{12}, size_t{24}, size_t{400},
                            whole.size() / 2, whole.size() - 100, whole.size() - 1}) {
    const std::vector<uint8_t> bytes(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(refused(compile(bytes), {"bad.tflite"})) << size << " bytes";
  }
}

// Some flips change nothing but a weight; the others have to be messages.
TEST_F(BadModel, FlippedBits) {
  std::mt19937 random(3);
  int accepted = 0, rejected = 0;
  for (int i = 0; i < 120; ++i) {
    std::vector<uint8_t> bytes = digits_bytes();
    // Half of them in the front, where the tables are.
    const size_t reach = i % 2 == 0 ? bytes.size() : 2000;
    const size_t at = random() % reach;
    bytes[at] ^= static_cast<uint8_t>(1u << (random() % 8));
    const ProcessOutcome outcome = compile(bytes);
    if (outcome.exit_code == kDone) {
      ++accepted;
      continue;
    }
    EXPECT_TRUE(refused(outcome, {"bad.tflite"})) << "byte " << at;
    ++rejected;
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(rejected, 10);
}

TEST_F(BadModel, UnknownOperatorsAreReportedTogether) {
  ModelSpec model = add_model();
  const int32_t between = model.outputs[0];
  const int32_t last = model.add({.name = "last", .shape = {1, 2, 2, 3}});
  model.operators.push_back(
      {.code = kCustom, .inputs = {between}, .outputs = {last}, .custom_code = "Frobnicate"});
  const int32_t end = model.add({.name = "end", .shape = {1, 2, 2, 3}});
  model.operators.push_back({.code = kUnique, .inputs = {last}, .outputs = {end}, .version = 2});
  model.outputs = {end};
  const ProcessOutcome outcome = compile(build(model));
  EXPECT_TRUE(refused(outcome, {"operator 1", "Frobnicate", "operator 2", "v2",
                                "end the model before it", "docs/operators.md"}));
}

TEST_F(BadModel, ScaleThatIsNoNumber) {
  ModelSpec model = add_model();
  model.tensors[0].scale = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(refused(compile(build(model)), {"scale is not a number"}));
  model.tensors[0].scale = {};
  model.tensors[0].zero_point = {};
  EXPECT_TRUE(refused(compile(build(model)), {"quantised", "no scale"}));
}

TEST_F(BadModel, BufferThatIsNotThere) {
  ModelSpec model = conv2d_model();
  model.tensors[1].buffer = 4000;
  EXPECT_TRUE(refused(compile(build(model)), {"names buffer 4000, but the file has"}));
}

TEST_F(BadModel, NothingInATensor) {
  ModelSpec model = add_model();
  for (TensorSpec& tensor : model.tensors) tensor.shape = {1, 0, 2, 3};
  EXPECT_TRUE(refused(compile(build(model)), {"has shape [1,0,2,3]"}));
}

TEST_F(BadModel, GraphTextWithAnOperatorThereIsNot) {
  write("bad.graph",
        std::string("intarsia.graph bad\nfunc @main(%0) -> (%1) {\n  %0 x: i8[4] q(0.5)\n"
                    "  %1 y: i8[4] q(0.5)\n  frobnicate f(%0) -> (%1)\n}\nentry @main\n"));
  EXPECT_TRUE(
      refused(intarsia({"compile", "bad.graph", "-o", "out"}), {"bad.graph", "frobnicate"}));
}

}  // namespace
}  // namespace intarsia::test
