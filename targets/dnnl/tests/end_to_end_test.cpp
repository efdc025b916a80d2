// Random operators and networks through lowering, plan, stream, driver and oneDNN give what the reference evaluator gives,
// within what docs/dnnl.md says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds.h"
#include "needs.h"
#include "support/device_end_to_end.h"
#include "support/random_operator.h"

namespace intarsia::test::dnnl {
namespace {

using graph::OpKind;
using ::testing::ElementsAre;

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

bool all_on_device(const CompiledModel& model) {
  for (const Explanation::Operator& row : model.partitioned.explanation.operators)
    if (row.device != "dnnl") return false;
  return true;
}

// The results of oneDNN, twice: with primitives that are made, and with those that were.
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
      ASSERT_EQ(float_difference(expected->at(o), results[o], tolerance), "")
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

std::string block_text(intarsia::testing::Random& random) {
  std::string text = kBlock;
  const auto fill = [&](const std::string& name, size_t count) {
    text.replace(text.find(name), name.size(), floats_text(count, random));
  };
  fill("{FIRST}", 144);
  fill("{SECOND}", 36);
  fill("{BIAS}", 4);
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
