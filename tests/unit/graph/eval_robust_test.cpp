// Whatever verifies can be evaluated: extreme scales and attributes give some result, and nothing
// undefined happens on the way (run under UBSan this is the test of that promise).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "eval_testing.h"

namespace intarsia::graph {
namespace {

class Extremes {
 public:
  explicit Extremes(uint32_t seed) : random_(seed) {}

  size_t below(size_t n) { return random_() % n; }
  // Any magnitude that a float has.
  std::string scale() {
    const double exponent = static_cast<double>(below(2000)) / 1000 - 1;
    return fmt::format("{:.9g}",
                       static_cast<float>(std::pow(10.0, exponent * (below(2) ? 37 : 3))));
  }
  std::string q(DataType type) {
    const int width = bits(type);
    const int64_t half = INT64_C(1) << (width - 1);
    const int64_t zero = below(3) == 0 ? 0 : static_cast<int64_t>(below(2)) * (2 * half - 1) - half;
    return fmt::format(" q({}:{})", scale(), is_signed(type) ? zero : zero + half);
  }
  TensorValue noise(int64_t size) {
    TensorValue value(static_cast<size_t>(size));
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(below(3) == 0 ? 0x80 : random_());
    return value;
  }

 private:
  std::mt19937 random_;
};

// Operators on 1x3x3x2 images: how each is written, with its weights' shape where it has some.
struct Form {
  const char* text;
  const char* output;
  const char* weights;
};
constexpr Form kForms[] = {
    {"conv2d n(%0, %1, _) -> (%2) {{padding={{top=1,left=1}}, activation={}}}", "1,3,3,2",
     "2,2,2,2"},
    {"depthwise_conv2d n(%0, %1, _) -> (%2) {{activation={}}}", "1,2,2,2", "1,2,2,2"},
    {"fully_connected n(%0, %1, _) -> (%2) {{activation={}}}", "9,2", "2,2"},
    {"add n(%0, %1) -> (%2) {{activation={}}}", "1,3,3,2", nullptr},
    {"mul n(%0, %1) -> (%2) {{activation={}}}", "1,3,3,2", nullptr},
    {"relu n(%0) -> (%2) {{activation={}}}", "1,3,3,2", nullptr},
    {"average_pool2d n(%0) -> (%2) {{filter_w=2, activation={}}}", "1,3,2,2", nullptr},
    {"mean n(%0) -> (%2) {{axes=[1,2]}} // {}", "1,2", nullptr},
    {"softmax n(%0) -> (%2) {{beta=0.7}} // {}", "1,3,3,2", nullptr},
    {"quantize n(%0) -> (%2) // {}", "1,3,3,2", nullptr},
    {"dequantize n(%0) -> (%2) // {}", "1,3,3,2", nullptr},
};

TEST(Evaluator, TakesEveryVerifiedScale) {
  using enum DataType;
  constexpr DataType kTypes[] = {Int8, Int16, Float32, UInt8, Int32};
  constexpr const char* kActivations[] = {"none", "relu", "relu_n1_to_1", "relu6"};
  int evaluated_forms[std::size(kForms)] = {};
  for (uint32_t seed = 0; seed < 3300; ++seed) {
    Extremes extremes(seed);
    const size_t which = seed % std::size(kForms);
    const Form& form = kForms[which];
    const DataType type = kTypes[extremes.below(extremes.below(2) == 0 ? 3 : 5)];
    const bool converts = std::string_view(form.text).find("quantize") != std::string_view::npos;
    const DataType out = converts ? kTypes[extremes.below(5)] : type;
    const DataType second = form.weights != nullptr && type != Float32 ? Int8 : type;
    const auto tensor = [&](DataType t, const char* shape, bool is_weights) {
      const std::string q =
          t == Float32 ? ""
          : is_weights ? " q(" + extremes.scale() + ")"
          : std::string_view(form.text).starts_with("softmax") && shape == form.output
              ? " q(0.00390625:-128)"
              : extremes.q(t);
      return fmt::format("{}[{}]{}", to_string(t), shape, q);
    };
    const std::string input = tensor(type, "1,3,3,2", false);
    const bool same = std::string_view(form.text).starts_with("average");
    std::string output = tensor(out, form.output, false);
    if (same && type != Float32)  // pools keep the quantisation
      output = fmt::format("{}[{}]{}", to_string(out), form.output, input.substr(input.find(" q")));
    const Module module = with_main(fmt::format(
        "(%0, %1) -> (%2) {{ %0 x: {} %1 w: {} %2 y: {} {}\n }}", input,
        tensor(second, form.weights != nullptr ? form.weights : "1,3,3,2", form.weights != nullptr),
        output, fmt::format(fmt::runtime(form.text), kActivations[extremes.below(4)])));
    if (!verify(module).ok()) continue;
    ++evaluated_forms[which];
    const Function& main = module.entry_function();
    Evaluator evaluator(module);
    const Result<std::vector<TensorValue>> outputs = evaluator.run(
        {extremes.noise(main.tensors[0].bytes()), extremes.noise(main.tensors[1].bytes())});
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string() << print(module);
    EXPECT_EQ(static_cast<int64_t>(outputs.value()[0].size()), main.tensors[2].bytes());
  }
  for (size_t i = 0; i < std::size(kForms); ++i)
    EXPECT_GT(evaluated_forms[i], 10) << kForms[i].text;
}

// Geometry: numbers of a sound convolution are replaced; what still verifies is evaluated.
TEST(Evaluator, TakesEveryVerifiedGeometry) {
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = R"(intarsia.graph m
func @main(%0, %1) -> (%3) {
  %0 x: i8[1,6,5,4] q(0.5:3)
  %1 w: i8[4,3,2,2] q(0.25)
  %2 m: i8[1,4,4,4] q(2:-1)
  %3 y: i8[1,3,3,4] q(2:-1)
  conv2d c(%0, %1, _) -> (%2) {padding={top=0, left=0, bottom=0, right=0}, stride_h=1, dilation_w=1}
  max_pool2d p(%2) -> (%3) {filter_h=2, filter_w=2, padding={top=0, left=0}}
}
entry @main)";
    // The output shapes are inferred afterwards, so that changed sizes stay consistent.
    for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = text.find_first_of("123456", random() % text.size());
      if (at != std::string::npos && text[at - 1] != '%') text[at] = "0123456789"[random() % 10];
    }
    Result<Module> module = parse(text);
    if (!module.ok()) continue;
    Function& main = module.value().functions[0];
    for (const Node& node : main.nodes) {
      const Result<std::vector<Shape>> shapes = infer_shapes(module.value(), main, node);
      if (shapes.ok()) main.tensors[node.outputs[0].at()].shape = shapes.value()[0];
    }
    if (!verify(module.value()).ok()) continue;
    ++accepted;
    std::vector<TensorValue> inputs;
    for (const TensorId id : main.inputs)
      inputs.emplace_back(static_cast<size_t>(main.tensor(id).bytes()), uint8_t{0x7f});
    EXPECT_TRUE(Evaluator(module.value()).run(inputs).ok()) << text;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace intarsia::graph
