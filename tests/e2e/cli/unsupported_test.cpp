// `explain --unsupported`: what is refused, how often, where first, why, and what to do.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli.h"
#include "tflite_builder.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

class Unsupported : public Cli {
 protected:
  Json json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "explain");
    arguments.insert(arguments.end(), {"--unsupported", "--json"});
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    Json parsed = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << outcome.out;
    return parsed;
  }
  // Five operators: two UNIQUE and one custom in place of others, and a softmax with a type that it does not have.
  void write_refused_model() const {
    ModelSpec model = chain_model();
    for (const size_t at : {0, 3}) model.operators[at].code = kUnique;
    model.operators[4].code = kCustom;
    model.operators[4].custom_code = "FlexErf";
    write("net.tflite", build(model));
  }
};

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(Unsupported, TypesThatThereAreNotAreCounted) {
  write_refused_model();
  const Json found = json({"net.tflite"});
  EXPECT_EQ(found["operators"], 5);
  EXPECT_EQ(found["imports"], false);
  ASSERT_EQ(found["refused"].size(), 2u) << found.dump(2);
  const Json& unique = found["refused"][0];
  EXPECT_EQ(unique["type"], "UNIQUE");
  EXPECT_EQ(unique["count"], 2);
  EXPECT_EQ(unique["first"]["operator"], 0);
  EXPECT_EQ(unique["why"], "is an operator Intarsia does not have");
  EXPECT_TRUE(says(unique["what_to_do"], "end the model before it"));
  EXPECT_EQ(found["refused"][1]["type"], "FlexErf");
  EXPECT_TRUE(says(found["refused"][1]["what_to_do"], "TFLITE_BUILTINS"));
  EXPECT_TRUE(found["problems"].empty()) << found.dump(2);
  EXPECT_TRUE(found["off_npu"].empty());
}

TEST_F(Unsupported, TheTextHasTheSame) {
  write_refused_model();
  const ProcessOutcome outcome = intarsia({"explain", "net.tflite", "--unsupported"});
  EXPECT_TRUE(done(outcome));
  EXPECT_TRUE(says(outcome.out, "net.tflite: 3 of 5 operators cannot be imported")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "UNIQUE")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "what to do: the converter was allowed operators of TensorFlow"))
      << outcome.out;
}

// A known operator whose operands are not what it can do: one reason for all that have it, whatever their tensors are called.
TEST_F(Unsupported, RefusalsOfKnownOperatorsAreGroupedByReason) {
  ModelSpec model;
  for (const char* name : {"a", "b", "c"})
    model.add({.name = name, .shape = {1, 4}, .type = kUInt8, .scale = {}, .zero_point = {}});
  model.operators = {{kRelu, {0}, {1}}, {kRelu, {1}, {2}}};
  model.inputs = {0};
  model.outputs = {2};
  write("bytes.tflite", build(model));
  const Json found = json({"bytes.tflite"});
  EXPECT_EQ(found["imports"], false);
  ASSERT_EQ(found["refused"].size(), 1u) << found.dump(2);
  EXPECT_EQ(found["refused"][0]["type"], "RELU");
  EXPECT_EQ(found["refused"][0]["count"], 2);
  EXPECT_EQ(found["refused"][0]["first"]["operator"], 0);
}

constexpr const char* kMixed = R"(intarsia.graph mixed
func @main(%0) -> (%4) {
  %0 x: f32[1,8,8,16]
  %1 a: f32[1,8,8,16]
  %2 b: f32[1,8,8,16]
  %3 q: i8[1,8,8,16] q(0.05:3)
  %4 y: i8[1,8,8,16] q(0.05:3)
  softmax s(%0) -> (%1)
  softmax t(%1) -> (%2)
  quantize q(%2) -> (%3)
  relu r(%3) -> (%4)
}
entry @main
)";

TEST_F(Unsupported, WhatStaysOffAnNpuIsGroupedByReason) {
  write("m.graph", std::string(kMixed));
  const Json found = json({"m.graph", "--target", "cortex-m55+ethos-u55-128"});
  EXPECT_EQ(found["imports"], true);
  EXPECT_EQ(found["operators"], 4);
  ASSERT_FALSE(found["off_npu"].empty()) << found.dump(2);
  const Json& first = found["off_npu"][0];
  EXPECT_EQ(first["type"], "softmax");
  EXPECT_EQ(first["count"], 2);
  EXPECT_EQ(first["first"]["name"], "s");
  EXPECT_EQ(first["member"], "ethos-u");
  EXPECT_FALSE(first["why"].get<std::string>().empty());
  EXPECT_TRUE(says(first["what_to_do"], "integers"));
  for (const Json& row : found["off_npu"]) EXPECT_NE(row["type"], "relu");
}

// A quantised model with floats outside is quantised already: the advice is to convert there.
TEST_F(Unsupported, ConversionsAtTheEdgesAreLeftToTheApplication) {
  write("edges.graph", std::string(R"(intarsia.graph edges
func @main(%0) -> (%3) {
  %0 x: f32[1,8,8,16]
  %1 q: i8[1,8,8,16] q(0.05:3)
  %2 r: i8[1,8,8,16] q(0.05:3)
  %3 y: f32[1,8,8,16]
  quantize q(%0) -> (%1)
  relu r(%1) -> (%2)
  dequantize d(%2) -> (%3)
}
entry @main
)"));
  const Json found = json({"edges.graph", "--target", "cortex-m55+ethos-u55-128"});
  ASSERT_EQ(found["off_npu"].size(), 2u) << found.dump(2);
  for (const Json& row : found["off_npu"]) {
    EXPECT_TRUE(says(row["what_to_do"], "--io int8")) << row;
    EXPECT_FALSE(says(row["what_to_do"], "representative")) << row;
  }
}

// A quantiser that looked at what layers take alone has left out what the NPU needs.
TEST_F(Unsupported, ResultsThatNobodyQuantises) {
  const Json found =
      json({INTARSIA_SOURCE_DIR "/tests/golden/onnx_layers/layers_of_bytes/model.onnx", "--target",
            "cortex-m55+ethos-u55-128"});
  const auto layer = std::ranges::find_if(
      found["off_npu"], [](const Json& row) { return row["type"] == "hybrid_depthwise_conv2d"; });
  ASSERT_NE(layer, found["off_npu"].end()) << found.dump(2);
  EXPECT_TRUE(says((*layer)["what_to_do"], "a QuantizeLinear behind each")) << *layer;
}

TEST_F(Unsupported, AModelWithoutRefusalsSaysSo) {
  const ProcessOutcome outcome = intarsia({"explain", digits_path(), "--unsupported"});
  EXPECT_TRUE(done(outcome));
  EXPECT_TRUE(says(outcome.out, "all of them supported")) << outcome.out;
  const Json found = json({digits_path(), "--target", "cortex-m4"});
  EXPECT_TRUE(found["refused"].empty() && found["off_npu"].empty() && found["problems"].empty());
}

TEST_F(Unsupported, OnnxNodesToo) {
  // Two Unique, written by hand: a graph (field 7) of nodes (field 1) with type (4), input (1) and output (2).
  const auto field = [](int number, const std::string& content) {
    return std::string(1, static_cast<char>(number << 3 | 2)) +
           std::string(1, static_cast<char>(content.size())) + content;
  };
  const auto node = [&](const std::string& from, const std::string& to) {
    return field(1, field(1, from) + field(2, to) + field(4, "Unique"));
  };
  const std::string graph = node("x", "y") + node("y", "z");
  const std::string set = field(8, std::string("\x10\x11"));
  write("n.onnx", std::string("\x08\x08") + field(7, graph) + set);
  const Json found = json({"n.onnx"});
  ASSERT_EQ(found["refused"].size(), 1u) << found.dump(2);
  EXPECT_EQ(found["refused"][0]["type"], "Unique");
  EXPECT_EQ(found["refused"][0]["count"], 2);
  EXPECT_EQ(found["refused"][0]["first"]["name"], "y");
  EXPECT_TRUE(says(found["refused"][0]["what_to_do"], "depends on values"));
}

TEST_F(Unsupported, WhatIsNoModelIsAnError) {
  write("no.tflite", std::string("no model"));
  EXPECT_TRUE(refused(intarsia({"explain", "no.tflite", "--unsupported"}), {"no.tflite"}));
  EXPECT_TRUE(refused(intarsia({"explain", "absent.tflite", "--unsupported", "--json"}),
                      {"cannot be read"}));
  // An option that is wrong is said before the model is looked at.
  EXPECT_TRUE(
      refused(intarsia({"explain", digits_path(), "--unsupported", "--target", "cortex-m99"}),
              {"cortex-m99"}));
}

}  // namespace
}  // namespace intarsia::test
