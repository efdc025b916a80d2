// Random operators and networks through lowering, plan, stream, driver and oneDNN give what the reference evaluator gives,
// within what docs/dnnl.md says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/graph/tensor_values.h"
#include "kinds.h"
#include "needs.h"
#include "support/device_end_to_end.h"
#include "support/random_operator.h"

namespace intarsia::test::dnnl {
namespace {

using graph::OpKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As docs/dnnl.md states it, by operator.
float tolerance_of(OpKind kind) {
  switch (kind) {
    case OpKind::MaxPool2d:
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::Relu:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
      return 0;
    default:
      return 1e-5f;
  }
}

constexpr std::pair<OpKind, float> kInt8Steps[] = {{OpKind::Conv2d, 1},
                                                   {OpKind::DepthwiseConv2d, 1},
                                                   {OpKind::FullyConnected, 1},
                                                   {OpKind::Add, 1},
                                                   {OpKind::Sub, 1},
                                                   {OpKind::AveragePool2d, 1},
                                                   {OpKind::Minimum, 0},
                                                   {OpKind::Maximum, 0},
                                                   {OpKind::MaxPool2d, 0},
                                                   {OpKind::Relu, 0}};

constexpr const char* kNoInt8 =
    "this was built without oneDNN, or the processor has no products of int8";

bool all_on_device(const CompiledModel& model) {
  for (const Explanation::Operator& row : model.partitioned.explanation.operators)
    if (row.device != "dnnl") return false;
  return true;
}

std::string difference(const graph::Tensor& tensor, const graph::TensorValue& expected,
                       const graph::TensorValue& actual, float tolerance) {
  if (tensor.type == DataType::Float32) return float_difference(expected, actual, tolerance);
  const auto found =
      graph::first_difference(tensor, expected, actual, static_cast<int32_t>(tolerance));
  return found ? found->text(tensor.shape) : "";
}

// The results of oneDNN, twice: with primitives that are made, and with those that were. Of int8 the tolerance is steps.
void compare(const graph::Module& module, const CompiledModel& model,
             intarsia::testing::Random& random, float tolerance) {
  OpenDevice fresh;
  graph::Evaluator evaluator(module);
  for (int i = 0; i < 2; ++i) {
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    const auto expected = evaluator.run(inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    const auto results = run_compiled(model, {{"dnnl", &fresh.dnnl.device}}, inputs);
    for (size_t o = 0; o < results.size(); ++o)
      ASSERT_EQ(difference(module.entry_function().tensor(module.entry_function().outputs[o]),
                           expected->at(o), results[o], tolerance),
                "")
          << graph::print(module);
  }
}

TEST(EndToEnd, RandomOperators) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + dnnl");
  intarsia::testing::Random random(7);
  for (const OpKind kind : {OpKind::Conv2d,
                            OpKind::DepthwiseConv2d,
                            OpKind::FullyConnected,
                            OpKind::MaxPool2d,
                            OpKind::AveragePool2d,

                            OpKind::Softmax,
                            OpKind::Add,
                            OpKind::Sub,
                            OpKind::Mul,
                            OpKind::Div,
                            OpKind::Minimum,
                            OpKind::Maximum,
                            OpKind::Relu,
                            OpKind::LeakyRelu,
                            OpKind::Logistic,
                            OpKind::Tanh,
                            OpKind::Elu,
                            OpKind::HardSwish,
                            OpKind::Gelu,
                            OpKind::Abs,
                            OpKind::Square,
                            OpKind::Sqrt,
                            OpKind::Exp,
                            OpKind::Log,
                            OpKind::Neg}) {
    int ran = 0;
    for (int i = 0; i < 40 && ran < 8; ++i) {
      const graph::Module module =
          intarsia::testing::random_operator(random, kind, DataType::Float32);
      const Result<CompiledModel> model = compile_module(module, registry, target, one_memory());
      if (!model.ok() || !all_on_device(*model)) continue;
      compare(module, *model, random, tolerance_of(kind));
      if (HasFatalFailure()) return;
      ++ran;
    }
    EXPECT_GT(ran, 0) << graph::to_string(kind);
  }
}

// As docs/dnnl.md states it: layers that compute are within a step, those that choose are exact.
TEST(EndToEnd, RandomInt8Operators) {
  OpenDevice device;
  if (!multiplies_int8(device)) GTEST_SKIP() << needs("dnnl") << kNoInt8;
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + dnnl");
  intarsia::testing::Random random(8);
  for (const auto& [kind, steps] : kInt8Steps) {
    int ran = 0;
    for (int i = 0; i < 80 && ran < 10; ++i) {
      graph::Module module = intarsia::testing::random_operator(random, kind, DataType::Int8);
      if (steps == 0)  // numbers are compared where they are of one quantisation
        for (graph::Tensor& tensor : module.functions[0].tensors)
          tensor.quantization = {{0.125f}, {-3}, 0};
      const Result<CompiledModel> model = compile_module(module, registry, target, one_memory());
      if (!model.ok() || !all_on_device(*model)) continue;
      compare(module, *model, random, steps);
      if (HasFatalFailure()) return;
      ++ran;
    }
    EXPECT_GT(ran, 5) << graph::to_string(kind);
  }
}

TEST(EndToEnd, AMeanOfImagesIsAPool) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const TargetRegistry registry = make_registry();
  intarsia::testing::Random random(5);
  for (const char* keeps : {"[2,1,1,6]", "[2,6]"}) {
    const graph::Module module = parsed_graph(fmt::format(
        "intarsia.graph m\nfunc @main(%0) -> (%1) {{\n  %0 a: f32[2,7,5,6]\n  %1 b: f32{}\n"
        "  mean m(%0) -> (%1) {{axes=[1,2],keep_dims={}}}\n}}\nentry @main\n",
        keeps, std::string(keeps).size() > 6));
    const Result<CompiledModel> model =
        compile_module(module, registry, parsed_target(registry, "c + dnnl"), one_memory());
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    ASSERT_TRUE(all_on_device(*model));
    compare(module, *model, random, 1e-5f);
  }
}

// A residual block: the sum with the other branch, and what is done to it, become part of the convolution.
constexpr const char* kBlock = R"(intarsia.graph block
const @0 first = {FIRST}
const @1 second = {SECOND}
const @2 bias = {BIAS}
func @main(%0) -> (%4, %5) {
  %0 in: f32[1,5,6,4]
  %1 first: f32[4,3,3,4] = @0
  %2 once: f32[1,5,6,4]
  %3 twice: f32[1,5,6,4]
  %4 out: f32[1,5,6,4]
  %5 soft: f32[1,5,6,4]
  %6 second: f32[1,3,3,4] = @1
  %7 bias: f32[4] = @2
  conv2d a(%0, %1, %7) -> (%2) {padding={top=1,left=1,bottom=1,right=1},activation=relu6}
  depthwise_conv2d b(%2, %6) -> (%3) {padding={top=1,left=1,bottom=1,right=1}}
  add c(%0, %3) -> (%4) {activation=relu}
  logistic d(%2) -> (%5)
}
entry @main
)";

std::string floats_text(size_t count, intarsia::testing::Random& random) {
  std::string text = "x\"";
  for (size_t i = 0; i < count; ++i) {
    const float value = random.real(-0.5f, 0.5f);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) text += fmt::format("{:02x}", bits >> shift & 255);
  }
  return text + "\"";
}

std::string bytes_text(size_t count, intarsia::testing::Random& random) {
  std::string text = "x\"";
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", random.range(0, 255));
  return text + "\"";
}

void fill(std::string& text, const std::string& name, const std::string& with) {
  text.replace(text.find(name), name.size(), with);
}

std::string block_text(intarsia::testing::Random& random) {
  std::string text = kBlock;
  fill(text, "{FIRST}", floats_text(144, random));
  fill(text, "{SECOND}", floats_text(36, random));
  fill(text, "{BIAS}", floats_text(4, random));
  return text;
}

TEST(EndToEnd, ASumBecomesPartOfTheConvolutionBeforeIt) {
  const TargetRegistry registry = make_registry();
  intarsia::testing::Random random(3);
  const graph::Module module = parsed_graph(block_text(random));
  const Result<CompiledModel> model =
      compile_module(module, registry, parsed_target(registry, "c + dnnl"), one_memory());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  ASSERT_TRUE(all_on_device(*model));
  ASSERT_EQ(model->program().emitted.streams.size(), 1u);
  EXPECT_THAT(model->program().emitted.streams[0].operators, ElementsAre("a", "b, c", "d"));
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  compare(module, *model, random, 1e-5f);
}

// As above, of int8: sums with what one convolution before them and what none makes, in each order.
constexpr const char* kInt8Block = R"(intarsia.graph block
const @0 first = {FIRST}
const @1 second = {SECOND}
const @2 bias = {BIAS}
func @main(%0) -> (%6, %8) {
  %0 in: i8[1,5,6,4] q(0.05:-3)
  %1 first: i8[4,3,3,4] q(axis=0; 0.01, 0.02, 0.015, 0.005) = @0
  %2 once: i8[1,5,6,4] q(0.04:-128)
  %3 second: i8[1,3,3,4] q(axis=3; 0.01, 0.02, 0.015, 0.005) = @1
  %4 bias: i32[4] = @2
  %5 twice: i8[1,5,6,4] q(0.03:11)
  %6 out: i8[1,5,6,4] q(0.06:-128)
  %7 thrice: i8[1,5,6,4] q(0.02:1)
  %8 end: i8[1,5,6,4] q(0.07:9)
  conv2d a(%0, %1, %4) -> (%2) {padding={top=1,left=1,bottom=1,right=1},activation=relu6}
  depthwise_conv2d b(%2, %3) -> (%5) {padding={top=1,left=1,bottom=1,right=1}}
  add c(%5, %0) -> (%6) {activation=relu}
  conv2d d(%6, %1) -> (%7) {padding={top=1,left=1,bottom=1,right=1}}
  add e(%2, %7) -> (%8)
}
entry @main
)";

// Of one algorithm oneDNN computes every use in a primitive with the numbers of one of them.
TEST(EndToEnd, AFunctionOfOtherNumbersIsALayerOfItsOwn) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const TargetRegistry registry = make_registry();
  intarsia::testing::Random random(6);
  std::string text = block_text(random);
  fill(text,
       "conv2d a(%0, %1, %7) -> (%2) {padding={top=1,left=1,bottom=1,right=1},activation=relu6}",
       "conv2d a(%0, %1, %7) -> (%2) {padding={top=1,left=1,bottom=1,right=1}}");
  fill(text, "{padding={top=1,left=1,bottom=1,right=1}}\n  add c(%0, %3) -> (%4) {activation=relu}",
       "{padding={top=1,left=1,bottom=1,right=1},activation=relu6}\n"
       "  add c(%0, %3) -> (%4) {activation=relu_n1_to_1}");
  const graph::Module module = parsed_graph(text);
  const Result<CompiledModel> model =
      compile_module(module, registry, parsed_target(registry, "c + dnnl"), one_memory());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_THAT(model->program().emitted.streams[0].operators, ElementsAre("a", "b", "c", "d"));
  compare(module, *model, random, 1e-5f);
}

// What is written, read and added in one call is what three calls give, bit for bit.
TEST(EndToEnd, ASumOfInt8BecomesPartOfTheConvolutionBeforeIt) {
  OpenDevice device;
  if (!multiplies_int8(device)) GTEST_SKIP() << needs("dnnl") << kNoInt8;
  const TargetRegistry registry = make_registry();
  intarsia::testing::Random random(9);
  std::string text = kInt8Block;
  fill(text, "{FIRST}", bytes_text(144, random));
  fill(text, "{SECOND}", bytes_text(36, random));
  fill(text, "{BIAS}", "x\"0001000000ffffff10000000f0ffffff\"");
  const graph::Module module = parsed_graph(text);
  graph::Module opened = module;  // nothing that is an output becomes part of something
  for (const int32_t inner : {5, 7}) opened.functions[0].outputs.push_back({inner});
  const TargetSpec target = parsed_target(registry, "c + dnnl");
  const Result<CompiledModel> fused = compile_module(module, registry, target, one_memory());
  const Result<CompiledModel> alone = compile_module(opened, registry, target, one_memory());
  ASSERT_TRUE(fused.ok() && alone.ok());
  EXPECT_THAT(fused->program().emitted.streams.at(0).operators, ElementsAre("a", "b, c", "d, e"));
  EXPECT_THAT(alone->program().emitted.streams.at(0).operators,
              ElementsAre("a", "b", "c", "d", "e"));
  const auto shown =
      registry.kind("dnnl").disassemble(fused->program().emitted.streams[0].commands);
  ASSERT_TRUE(shown.has_value() && shown->ok());
  EXPECT_THAT(**shown, HasSubstr("int8 depthwise 1x5x6x4 of steps 0.04:-128 -> 1x5x6x4 of steps "
                                 "0.06:-128, kernel 3x3, pads 1 1 1 1, of steps 0.03:11, with "
                                 "1x5x6x4 of steps 0.05:-3"));
  for (int i = 0; i < 20; ++i) {
    OpenDevice one, other;
    const auto inputs = intarsia::testing::random_inputs(random, module);
    auto expected = run_compiled(*alone, {{"dnnl", &other.dnnl.device}}, inputs);
    expected.resize(2);
    ASSERT_EQ(run_compiled(*fused, {{"dnnl", &one.dnnl.device}}, inputs), expected) << i;
  }
}

// The primitives are the stream's, the memory is whatever each run is given.
TEST(EndToEnd, ARunMayHaveOtherMemoryThanTheOneBefore) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const TargetRegistry registry = make_registry();
  intarsia::testing::Random random(4);
  const graph::Module module = parsed_graph(block_text(random));
  const Result<CompiledModel> model =
      compile_module(module, registry, parsed_target(registry, "c + dnnl"), one_memory());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const CommandStream& stream = model->program().emitted.streams.at(0);
  const AlignedBytes commands = aligned(stream.commands.size());
  const AlignedBytes constants = aligned(stream.constants.size());
  std::copy(stream.commands.begin(), stream.commands.end(), commands.get());
  std::copy(stream.constants.begin(), stream.constants.end(), constants.get());
  const intarsia_stream handed = {commands.get(), static_cast<uint32_t>(stream.commands.size()),
                                  constants.get(), static_cast<uint32_t>(stream.constants.size()),
                                  nullptr};
  const auto inputs = intarsia::testing::random_inputs(random, module);
  const size_t peak = static_cast<size_t>(model->program().plan.use.at(0).peak);
  std::vector<graph::TensorValue> results;
  for (int i = 0; i < 2; ++i) {
    const AlignedBytes memory = aligned(peak);
    const auto place = [&](int32_t parameter) {
      return memory.get() + model->program().plan.find(tir::BufferId{parameter})->offset;
    };
    std::copy(inputs[0].begin(), inputs[0].end(), place(0));
    std::vector<void*> bases;
    for (const StreamRegion& region : stream.regions)
      bases.push_back(region.kind == StreamRegion::Kind::Constants
                          ? static_cast<void*>(constants.get())
                          : memory.get() + region.offset);
    ASSERT_EQ(device.dnnl.device.run(&device.dnnl.device, &handed, bases.data(),
                                     static_cast<uint32_t>(bases.size())),
              INTARSIA_OK);
    results.emplace_back(place(1), place(1) + model->program().emitted.outputs[0].bytes);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(device.dnnl.program_count, 1u);
}

}  // namespace
}  // namespace intarsia::test::dnnl
