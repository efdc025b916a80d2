// Conversions at the edges of a model dropped, and the results the same bit for bit when the application converts.
#include "passes/quantised_edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include <fmt/format.h>

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::TensorValue;
using testing::HasSubstr;

Module parsed(const std::string& text) {
  Result<Module> module = graph::parse(text);
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  const Result<void> verified = graph::verify(*module);
  INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
  return *std::move(module);
}

// The pass; what it gives is a verified module.
QuantisedEdges dropped(const Module& module) {
  QuantisedEdges result = quantised_edges(module);
  const Result<void> verified = graph::verify(result.module);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string();
  return result;
}

std::vector<TensorValue> evaluated(const Module& module, const std::vector<TensorValue>& inputs) {
  Result<std::vector<TensorValue>> results = graph::Evaluator(module).run(inputs);
  INTARSIA_CHECK(results.ok(), results.ok() ? "" : results.error().to_string());
  return *std::move(results);
}

// What the application does in the model's place: one conversion, as the reference evaluator computes it.
TensorValue converted(const char* kind, const std::string& from, const std::string& to,
                      const TensorValue& value) {
  const Module alone = parsed(fmt::format(R"(intarsia.graph alone
func @main(%0) -> (%1) {{
  %0 x: {}
  %1 y: {}
  {} c(%0) -> (%1)
}}
entry @main
)",
                                          from, to, kind));
  return evaluated(alone, {value}).front();
}

TensorValue random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>(static_cast<int32_t>(random() % 4001) - 2000) / 16.0f;
  TensorValue bytes(count * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TensorValue random_bytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  TensorValue bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TensorValue less_128(TensorValue bytes) {
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte - 128);
  return bytes;
}

constexpr const char* kFloatEdges = R"(intarsia.graph m
const @0 w = i8[3, 5, -3, 1]
func @main(%0) -> (%4) {
  %0 audio: f32[1,2,2,2]
  %1 q_in: i8[1,2,2,2] q(0.5:-7)
  %2 w: i8[2,1,1,2] q(0.25) = @0
  %3 q_out: i8[1,2,2,2] q(0.75:11)
  %4 scores: f32[1,2,2,2]
  quantize enter(%0) -> (%1)
  conv2d c(%1, %2) -> (%3)
  dequantize leave(%3) -> (%4)
}
entry @main
)";

TEST(QuantisedEdges, FloatsBecomeBytes) {
  const Module before = parsed(kFloatEdges);
  const QuantisedEdges after = dropped(before);
  EXPECT_TRUE(after.kept.empty()) << after.kept.to_string();
  const Function& entry = after.module.entry_function();
  ASSERT_EQ(entry.nodes.size(), 1u);
  EXPECT_EQ(entry.nodes[0].name, "c");
  const graph::Tensor &in = entry.tensor(entry.inputs[0]), &out = entry.tensor(entry.outputs[0]);
  EXPECT_EQ(in.name, "audio");
  EXPECT_EQ(in.type, DataType::Int8);
  EXPECT_EQ(in.quantization.scale, std::vector<float>{0.5f});
  EXPECT_EQ(in.quantization.zero_point, std::vector<int64_t>{-7});
  EXPECT_EQ(out.name, "scores");
  EXPECT_EQ(out.quantization.scale, std::vector<float>{0.75f});
  EXPECT_EQ(out.quantization.zero_point, std::vector<int64_t>{11});
  EXPECT_EQ(entry.tensors.size(), 3u);  // and the weights

  for (uint32_t seed = 0; seed < 50; ++seed) {
    const TensorValue real = random_floats(8, seed);
    const TensorValue bytes = converted("quantize", "f32[1,2,2,2]", "i8[1,2,2,2] q(0.5:-7)", real);
    EXPECT_EQ(evaluated(before, {real}).front(),
              converted("dequantize", "i8[1,2,2,2] q(0.75:11)", "f32[1,2,2,2]",
                        evaluated(after.module, {bytes}).front()))
        << seed;
  }
}

// A program of another compiler may have something else where the value would have to lie longer.
TEST(QuantisedEdges, StayWhereProgramsRunOutsideOfThem) {
  graph::Node program;
  program.kind = graph::OpKind::Compiled;
  program.attributes = graph::CompiledAttrs{};
  Module between = parsed(kFloatEdges);
  between.functions[0].nodes.insert(between.functions[0].nodes.begin() + 1, program);
  EXPECT_TRUE(quantised_edges(between).kept.empty());
  Module before = parsed(kFloatEdges), after = before;
  before.functions[0].nodes.insert(before.functions[0].nodes.begin(), program);
  EXPECT_THAT(quantised_edges(before).kept.to_string(),
              HasSubstr("a program of another compiler runs before"));
  after.functions[0].nodes.push_back(program);
  EXPECT_THAT(quantised_edges(after).kept.to_string(),
              HasSubstr("a program of another compiler runs after"));
}

TEST(QuantisedEdges, IsItsOwnResult) {
  const QuantisedEdges once = dropped(parsed(kFloatEdges));
  const QuantisedEdges twice = dropped(once.module);
  EXPECT_EQ(once.module, twice.module);
  EXPECT_TRUE(twice.kept.empty());
}

constexpr const char* kUnsignedEdges = R"(intarsia.graph m
func @main(%0) -> (%3) {
  %0 pixels: u8[1,16] q(0.5:{})
  %1 a: i8[1,16] q({}:-28)
  %2 b: i8[1,16] q(0.5:-28)
  %3 mask: u8[1,16] q(0.5:100)
  quantize enter(%0) -> (%1)
  relu r(%1) -> (%2)
  quantize leave(%2) -> (%3)
}
entry @main
)";

std::string unsigned_edges(const std::string& zero_point, const std::string& scale) {
  std::string text = kUnsignedEdges;
  text.replace(text.find("{}"), 2, zero_point);
  text.replace(text.find("{}"), 2, scale);
  return text;
}

TEST(QuantisedEdges, UnsignedBytesBecomeSignedOnes) {
  const Module before = parsed(unsigned_edges("100", "0.5"));
  const QuantisedEdges after = dropped(before);
  EXPECT_TRUE(after.kept.empty()) << after.kept.to_string();
  ASSERT_EQ(after.module.entry_function().nodes.size(), 1u);
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const TensorValue bytes = random_bytes(16, seed);
    EXPECT_EQ(less_128(evaluated(before, {bytes}).front()),
              evaluated(after.module, {less_128(bytes)}).front())
        << seed;
  }
}

TEST(QuantisedEdges, ARequantisationStays) {
  for (const auto& [zero_point, scale] : {std::pair("101", "0.5"), std::pair("100", "0.25")}) {
    const QuantisedEdges after = dropped(parsed(unsigned_edges(zero_point, scale)));
    EXPECT_EQ(after.kept.to_string(),
              "m: input 'pixels': stays u8: 'enter' (quantize) does more than to subtract 128 from "
              "each byte\n");
    EXPECT_EQ(after.module.entry_function().nodes.size(), 2u);  // the output's is dropped
  }
}

// Floats to unsigned bytes to signed ones, as converters write it.
TEST(QuantisedEdges, ChainsOfConversions) {
  const Module before = parsed(R"(intarsia.graph m
func @main(%0) -> (%5) {
  %0 x: f32[1,16]
  %1 u: u8[1,16] q(0.5:100)
  %2 a: i8[1,16] q(0.5:-28)
  %3 b: i8[1,16] q(0.5:-28)
  %4 v: u8[1,16] q(0.5:100)
  %5 y: f32[1,16]
  quantize enter(%0) -> (%1)
  quantize shift(%1) -> (%2)
  relu r(%2) -> (%3)
  quantize back(%3) -> (%4)
  dequantize leave(%4) -> (%5)
}
entry @main
)");
  const QuantisedEdges after = dropped(before);
  EXPECT_TRUE(after.kept.empty()) << after.kept.to_string();
  ASSERT_EQ(after.module.entry_function().nodes.size(), 1u);
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const TensorValue real = random_floats(16, seed);
    const TensorValue bytes =
        less_128(converted("quantize", "f32[1,16]", "u8[1,16] q(0.5:100)", real));
    EXPECT_EQ(evaluated(before, {real}).front(),
              converted("dequantize", "i8[1,16] q(0.5:-28)", "f32[1,16]",
                        evaluated(after.module, {bytes}).front()))
        << seed;
  }
}

// Several readers that quantise alike are one input; an output that is read inside keeps its floats there.
TEST(QuantisedEdges, SeveralReaders) {
  const Module before = parsed(R"(intarsia.graph m
func @main(%0) -> (%3, %5) {
  %0 x: f32[1,16]
  %1 a: i8[1,16] q(0.5)
  %2 b: i8[1,16] q(0.5)
  %3 s: f32[1,16]
  %4 sum: i8[1,16] q(0.5)
  %5 e: f32[1,16]
  quantize first(%0) -> (%1)
  quantize second(%0) -> (%2)
  add plus(%1, %2) -> (%4)
  dequantize leave(%4) -> (%3)
  exp e(%3) -> (%5)
}
entry @main
)");
  const QuantisedEdges after = dropped(before);
  EXPECT_EQ(after.kept.to_string(),
            "m: output 'e': stays f32: 'e' (exp) computes it, which is no conversion from i8\n");
  const Function& entry = after.module.entry_function();
  EXPECT_EQ(entry.nodes.size(), 3u);  // plus, leave, e
  EXPECT_EQ(entry.tensor(entry.outputs[0]).name, "s");
  EXPECT_EQ(entry.tensor(entry.outputs[0]).type, DataType::Int8);
  const TensorValue real = random_floats(16, 5);
  const std::vector<TensorValue> expected = evaluated(before, {real});
  const std::vector<TensorValue> found =
      evaluated(after.module, {converted("quantize", "f32[1,16]", "i8[1,16] q(0.5)", real)});
  EXPECT_EQ(expected[0], converted("dequantize", "i8[1,16] q(0.5)", "f32[1,16]", found[0]));
  EXPECT_EQ(expected[1], found[1]);
}

// Callers find outputs by their names: each keeps its own, though one tensor is all of them.
TEST(QuantisedEdges, SeveralOutputsOfOneTensor) {
  const Module before = parsed(R"(intarsia.graph m
func @main(%0) -> (%2, %1, %3, %4) {
  %0 x: i8[1,16] q(0.5)
  %1 a: i8[1,16] q(0.5)
  %2 first: f32[1,16]
  %3 second: f32[1,16]
  %4 input: f32[1,16]
  relu r(%0) -> (%1)
  dequantize leave(%1) -> (%2)
  dequantize leave_too(%1) -> (%3)
  dequantize back(%0) -> (%4)
}
entry @main
)");
  const QuantisedEdges after = dropped(before);
  EXPECT_TRUE(after.kept.empty()) << after.kept.to_string();
  const Function& entry = after.module.entry_function();
  std::vector<std::string> names;
  for (const graph::TensorId id : entry.outputs) {
    names.push_back(entry.tensor(id).name);
    EXPECT_EQ(entry.tensor(id).type, DataType::Int8);
  }
  EXPECT_THAT(names, testing::ElementsAre("first", "a", "second", "input"));
  EXPECT_EQ(entry.tensor(entry.inputs[0]).name, "x");
  const TensorValue bytes = {0x80, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x7f};
  const std::vector<TensorValue> expected = evaluated(before, {bytes});
  const std::vector<TensorValue> found = evaluated(after.module, {bytes});
  EXPECT_EQ(expected[1], found[1]);
  for (const size_t i : {0, 2, 3})
    EXPECT_EQ(expected[i], converted("dequantize", "i8[1,16] q(0.5)", "f32[1,16]", found[i]));
}

struct Kept {
  const char* name;
  std::string body;
  std::string why;
};
void PrintTo(const Kept& kept, std::ostream* out) {
  *out << kept.name;
}
class QuantisedEdgesStay : public testing::TestWithParam<Kept> {};

TEST_P(QuantisedEdgesStay, AndSayWhy) {
  const Module before =
      parsed("intarsia.graph m\nfunc @main" + GetParam().body + "\nentry @main\n");
  const QuantisedEdges after = dropped(before);
  EXPECT_EQ(after.kept.to_string(), GetParam().why);
  EXPECT_EQ(after.module.entry_function().nodes, before.entry_function().nodes);
}

INSTANTIATE_TEST_SUITE_P(
    All, QuantisedEdgesStay,
    testing::Values(
        Kept{"other_reader", R"((%0) -> (%2) {
  %0 x: f32[1,4]
  %1 a: i8[1,4] q(0.5)
  %2 b: i8[1,4] q(0.5)
  %3 e: f32[1,4]
  %4 c: i8[1,4] q(0.5)
  quantize first(%0) -> (%1)
  exp e(%0) -> (%3)
  quantize second(%3) -> (%4)
  add plus(%1, %4) -> (%2)
})",
             "m: input 'x': stays f32: 'e' (exp) reads it, which is no conversion to i8\n"},
        Kept{"two_scales", R"((%0) -> (%3) {
  %0 x: f32[1,4]
  %1 a: i8[1,4] q(0.5)
  %2 b: i8[1,4] q(0.25)
  %3 s: i8[1,4] q(0.5)
  quantize first(%0) -> (%1)
  quantize second(%0) -> (%2)
  add plus(%1, %2) -> (%3)
})",
             "m: input 'x': stays f32: what reads it is quantised in more than one way\n"},
        Kept{"sixteen_bits", R"((%0) -> (%3) {
  %0 x: f32[1,4]
  %1 a: i16[1,4] q(0.5)
  %2 b: i16[1,4] q(0.5)
  %3 y: f32[1,4]
  quantize enter(%0) -> (%1)
  relu r(%1) -> (%2)
  dequantize leave(%2) -> (%3)
})",
             "m: input 'x': stays f32: 'enter' (quantize) makes i16 of it\n"
             "m: output 'y': stays f32: 'leave' (dequantize) makes it of i16\n"},
        Kept{"other_types", R"((%0) -> (%1) {
  %0 x: i32[1,4]
  %1 y: i32[4]
  reshape r(%0) -> (%1) {shape=[4]}
})",
             "m: input 'x': stays i32: neither floats nor unsigned bytes are converted there\n"
             "m: output 'y': stays i32: neither floats nor unsigned bytes are converted there\n"},
        Kept{"unread", R"((%0, %1) -> (%2) {
  %0 x: f32[1,4]
  %1 q: i8[1,4] q(0.5)
  %2 y: i8[1,4] q(0.5)
  relu r(%1) -> (%2)
})",
             "m: input 'x': stays f32: no operator reads it\n"},
        Kept{"quantised_result", R"((%0) -> (%1, %2) {
  %0 x: f32[1,4]
  %1 q: i8[1,4] q(0.5)
  %2 y: i8[1,4] q(0.5)
  quantize enter(%0) -> (%1)
  relu r(%1) -> (%2)
})",
             "m: input 'x': stays f32: the result of 'enter' (quantize) is state or an output of "
             "the model\n"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace intarsia::passes
