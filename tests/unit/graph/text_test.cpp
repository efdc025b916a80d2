// print and parse are inverses, and parse survives anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "graph_testing.h"

namespace intarsia::graph {
namespace {

constexpr std::string_view kSmall = R"(intarsia.graph kws
const @0 bias = i32[12, -7]
const @1 "conv/weights" = x"000102030405060708090a0b0c0d0e0f1011"
func @main(%0) -> (%3) {
  %0 input: i8[1,8,8,1] q(0.5:-3)
  %1 "conv/weights": i8[2,3,3,1] q(axis=0; 0.00999999978, 0.0199999996) = @1
  %2 b: i32[2] = @0
  %3 output: i8[1,4,4,2] q(0.25:4)
  %4 state: i16[1,3] q(0.5) variable
  conv2d conv_1(%0, %1, %2) -> (%3) {stride_h=2, stride_w=2, padding={bottom=1, right=1}, activation=relu} [pin=npu]
}
func @"other one"() -> () [target="cortex-m55", pin=npu] {
}
entry @main
)";

TEST(Text, PrintsWhatItParsed) {
  const Module module = parsed(kSmall);
  EXPECT_EQ(print(module), kSmall);
  const auto& attributes = module.functions[0].nodes[0].attrs<Conv2dAttrs>();
  EXPECT_EQ(attributes.stride_h, 2);
  EXPECT_EQ(attributes.dilation_h, 1);
  EXPECT_EQ(attributes.padding.bottom, 1);
  EXPECT_EQ(attributes.activation, Activation::Relu);
  EXPECT_EQ(module.functions[0].tensors[0].quantization.zero_point[0], -3);
  EXPECT_EQ(module.functions[1].target, "cortex-m55");
  EXPECT_EQ(module.constants[0].bytes, (std::vector<uint8_t>{12, 0, 0, 0, 0xf9, 0xff, 0xff, 0xff}));
}

TEST(Text, ConstantsInEveryType) {
  const Module module = parsed(R"(intarsia.graph m
const @0 a = i8[-128, 127]  // a comment
const @1 b = u8[255] const @2 c = i16[-2] const @3 d = u16[65535] const @4 e = u32[4294967295]
const @5 f = i64[-9223372036854775808] const @6 g = f32[1.5, -0, inf] const @7 h = bool[true, false]
const @8 i = x"0a 0B" const @9 j = i32[])");
  ASSERT_EQ(module.constants.size(), 10u);
  EXPECT_EQ(module.constants[0].bytes, (std::vector<uint8_t>{0x80, 0x7f}));
  EXPECT_EQ(module.constants[2].bytes, (std::vector<uint8_t>{0xfe, 0xff}));
  EXPECT_EQ(module.constants[4].bytes, (std::vector<uint8_t>{0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(module.constants[5].bytes, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(module.constants[6].bytes,
            (std::vector<uint8_t>{0, 0, 0xc0, 0x3f, 0, 0, 0, 0x80, 0, 0, 0x80, 0x7f}));
  EXPECT_EQ(module.constants[7].bytes, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(module.constants[8].bytes, (std::vector<uint8_t>{10, 11}));
}

std::string parse_error(std::string_view text) {
  const Result<Module> module = parse(text, "t");
  return module.ok() ? "" : module.error().to_string();
}

TEST(Text, ErrorsSayWhereAndWhat) {
  const std::string head = "intarsia.graph m\n";
  EXPECT_EQ(parse_error(""), "t:1:1: expected 'intarsia.graph', found the end of the text\n");
  EXPECT_EQ(parse_error(head + "const @1 a = x\"\""),
            "t:2:7: constants are numbered from 0 in order: expected @0\n");
  EXPECT_EQ(parse_error(head + "const @0 a = i8[300]"),
            "t:2:17: an element 300 is outside -128 .. 127\n");
  EXPECT_EQ(parse_error(head + "const @0 a = i9[3]"), "t:2:14: unknown element type 'i9'\n");
  EXPECT_EQ(parse_error(head + "func @f() -> () {\n  conv2f a(%0) -> (%1)\n}"),
            "t:3:3: unknown operator 'conv2f'; did you mean 'conv2d'?\n");
  EXPECT_EQ(parse_error(head + "func @f() -> () {\n  conv2d a(%0) -> (%1) {stride_g=1}\n}"),
            "t:3:25: unknown attribute 'stride_g'; did you mean 'stride_h'?\n");
  EXPECT_EQ(parse_error(head + "func @f() -> () {\n  relu a(%0) -> (%1) {activation=rely}\n}"),
            "t:3:34: unknown activation 'rely'; use none, relu, relu_n1_to_1 or relu6\n");
  EXPECT_EQ(parse_error(head + "func @f() -> () {\n"),
            "t:3:1: expected '}', found the end of the text\n");
  EXPECT_EQ(parse_error(head + "func @f() -> () { %1 a: i8[1] }"),
            "t:2:19: tensors of a function are numbered from 0 in order: expected %0\n");
  EXPECT_THAT(parse_error(head + "fun"), testing::HasSubstr("expected 'const', 'func' or 'entry'"));
}

// ---- random modules ----

class RandomModule {
 public:
  explicit RandomModule(uint32_t seed) : random_(seed) {}

  Module make() {
    Module module;
    module.name = name();
    module.entry = name();
    for (size_t i = 0; i < below(4); ++i) {
      std::string constant = name();
      std::vector<uint8_t> bytes(below(80));
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
      module.constants.push_back({std::move(constant), std::move(bytes)});
    }
    for (size_t i = 0; i < below(4); ++i) module.functions.push_back(function());
    return module;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  int64_t number() {
    const auto value = static_cast<int64_t>(random_());
    return below(4) == 0 ? -(value << 31) - value : value % 100;
  }
  float real() {
    for (;;) {
      const uint32_t bits = random_();
      float value;
      std::memcpy(&value, &bits, sizeof value);
      if (!std::isnan(value)) return value;
    }
  }
  std::string name() {
    static const std::string kNames[] = {"",     "x",        "conv/1;2", "a b",      "\"\\\n\t\x7f",
                                         "_.a1", "\xc3\xa4", "q",        "variable", "1st"};
    return kNames[below(std::size(kNames))];
  }
  std::vector<TensorId> ids() {
    std::vector<TensorId> ids(below(4));
    for (TensorId& id : ids) id.index = static_cast<int32_t>(below(8)) - 1;
    return ids;
  }
  Quantization quantization() {
    Quantization q;
    const size_t channels = below(3) == 0 ? below(5) : below(2);
    for (size_t i = 0; i < channels; ++i) {
      q.scale.push_back(real());
      q.zero_point.push_back(below(2) == 0 ? 0 : number());
    }
    if (below(3) == 0) q.axis = static_cast<int32_t>(below(5));
    return q;
  }

  void fill(int64_t& value) { value = number(); }
  void fill(bool& value) { value = below(2) == 0; }
  void fill(float& value) { value = real(); }
  void fill(std::string& value) { value = name(); }
  void fill(std::vector<int64_t>& value) {
    value.resize(below(4));
    for (int64_t& element : value) element = number();
  }
  void fill(Activation& value) { value = static_cast<Activation>(below(4)); }
  template <typename Struct>
  void fill(Struct& value) {
    Struct::fields(value, [&](const char*, auto& field) {
      if (below(2) == 0) fill(field);
    });
  }

  Function function() {
    Function function{name(), name(), name()};
    function.inputs = ids();
    function.outputs = ids();
    for (size_t i = 0; i < below(6); ++i) {
      Tensor tensor;
      tensor.name = name();
      tensor.type = static_cast<DataType>(below(10));
      tensor.shape.resize(below(5));
      for (int64_t& extent : tensor.shape) extent = static_cast<int64_t>(random_());
      tensor.quantization = quantization();
      tensor.variable = below(4) == 0;
      if (below(2) == 0) tensor.constant.index = static_cast<int32_t>(below(4));
      function.tensors.push_back(tensor);
    }
    for (size_t i = 0; i < below(4); ++i) {
      Node node;
      node.kind = static_cast<OpKind>(below(static_cast<size_t>(OpKind::Call) + 1));
      node.name = name();
      node.attributes = default_attributes(node.kind);
      std::visit([&](auto& attributes) { fill(attributes); }, node.attributes);
      node.inputs = ids();
      node.outputs = ids();
      node.pin = name();
      function.nodes.push_back(node);
    }
    return function;
  }

  std::mt19937 random_;
};

TEST(Text, RoundTripsRandomModules) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const Module module = RandomModule(seed).make();
    const std::string text = print(module);
    const Result<Module> read = parse(text);
    ASSERT_TRUE(read.ok()) << read.error().to_string() << text;
    ASSERT_EQ(read.value(), module) << text;
    ASSERT_EQ(print(read.value()), text);
  }
}

TEST(Text, SurvivesMutations) {
  std::mt19937 random(3);
  int still_parse = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    std::string text = i % 2 == 0 ? std::string(kSmall) : print(RandomModule(i).make());
    for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = random() % text.size();
      const size_t length = std::min<size_t>(random() % 20, text.size() - at);
      switch (random() % 4) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text[at] = "{}()[]%@=:,;\"-9"[random() % 15];
          break;
      }
      if (text.empty()) text.push_back(' ');
    }
    const Result<Module> module = parse(text);
    if (!module.ok()) {
      EXPECT_EQ(module.error().items().size(), 1u);
      continue;
    }
    ++still_parse;
    (void)verify(module.value());  // whatever was parsed is safe to look at
    EXPECT_TRUE(parse(print(module.value())).ok());
  }
  EXPECT_GT(still_parse, 30);
}

TEST(Names, OperatorsAndActivationsRoundTrip) {
  for (int i = 0; i <= static_cast<int>(OpKind::Call); ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(op_kind_from_string(to_string(kind)), kind);
  }
  EXPECT_FALSE(op_kind_from_string("conv").has_value());
  EXPECT_EQ(activation_from_string("relu_n1_to_1"), Activation::ReluN1To1);
  EXPECT_FALSE(activation_from_string("tanh").has_value());
}

}  // namespace
}  // namespace intarsia::graph
