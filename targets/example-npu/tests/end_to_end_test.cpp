// Graphs through the hooks, the package, the runtime, the driver and the simulator give what the
// reference evaluator gives, bit for bit.
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emission/device_glue.h"
#include "end_to_end.h"
#include "intarsia/targets/example_npu/driver.h"
#include "intarsia/targets/example_npu/simulator.h"

namespace intarsia::test::example_npu {
namespace {

using testing::HasSubstr;

std::vector<graph::TensorValue> random_inputs(const graph::Module& module, std::mt19937& random) {
  std::vector<graph::TensorValue> inputs;
  const graph::Function& main = module.entry_function();
  for (const graph::TensorId id : main.inputs) {
    graph::TensorValue value(static_cast<size_t>(main.tensor(id).bytes()));
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(random());
    inputs.push_back(std::move(value));
  }
  return inputs;
}

CompiledModel compiled(const graph::Module& module, const TargetRegistry& registry,
                       const TargetSpec& target) {
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  Result<CompiledModel> result = compile_module(module, registry, target, options);
  INTARSIA_CHECK(result.ok(), result.ok() ? "" : result.error().to_string());
  return std::move(result).value();
}

// Everything on the device, compared with the evaluator for a few random inputs.
void expect_exact(const std::string& text) {
  const graph::Module module = parsed_graph(text);
  const TargetRegistry registry = make_registry();
  const CompiledModel model = compiled(module, registry, parsed_target(registry, "example-npu-16"));
  for (const auto& row : model.partitioned.explanation.operators)
    ASSERT_EQ(row.device, "example-npu") << row.name;

  intarsia_example_npu npu;
  const intarsia_register_bus bus = intarsia_example_npu_simulator();
  ASSERT_EQ(intarsia_example_npu_open_bus(&npu, &bus), INTARSIA_OK);
  graph::Evaluator evaluator(module);
  std::mt19937 random(7);
  for (int round = 0; round < 4; ++round) {
    const std::vector<graph::TensorValue> inputs = random_inputs(module, random);
    const auto expected = evaluator.run(inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    EXPECT_EQ(run_compiled(model, {{"example-npu", &npu.device}}, inputs), *expected) << text;
  }
}

TEST(EndToEnd, ElementwiseWithOddScales) {
  std::mt19937 random(3);
  const auto scale = [&] { return std::exp(std::uniform_real_distribution<float>(-4, 1)(random)); };
  const auto zero = [&] { return static_cast<int>(random() % 256) - 128; };
  const char* activations[] = {"none", "relu", "relu6"};
  for (int i = 0; i < 30; ++i) {
    const float a = scale(), b = scale();
    const bool add = i % 2 == 0;
    const float out = add ? std::max(a, b) * (0.3f + scale()) : a * b * (0.01f + scale());
    expect_exact(
        fmt::format("intarsia.graph m\nfunc @main(%0, %1) -> (%2) {{\n"
                    "  %0 a: i8[1,4,4,16] q({}:{})\n  %1 b: i8[1,4,4,16] q({}:{})\n"
                    "  %2 c: i8[1,4,4,16] q({}:{})\n  {} n(%0, %1) -> (%2) "
                    "{{activation={}}}\n}}\nentry @main\n",
                    a, zero(), b, zero(), out, zero(), add ? "add" : "mul", activations[i % 3]));
  }
}

TEST(EndToEnd, PoolsOfEveryShape) {
  std::mt19937 random(5);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int i = 0; i < 30; ++i) {
    const int filter_h = between(1, 4), filter_w = between(1, 4), stride_h = between(1, 3),
              stride_w = between(1, 3);
    const int top = between(0, filter_h - 1), left = between(0, filter_w - 1);
    const int bottom = between(0, filter_h - 1), right = between(0, filter_w - 1);
    const int h = between(4, 9), w = between(4, 9), batch = between(1, 3),
              channels = 16 * between(1, 2);
    const int out_h = (h + top + bottom - filter_h) / stride_h + 1,
              out_w = (w + left + right - filter_w) / stride_w + 1;
    expect_exact(fmt::format(
        "intarsia.graph m\nfunc @main(%0) -> (%1) {{\n  %0 a: i8[{},{},{},{}] q(0.05:-20)\n"
        "  %1 b: i8[{},{},{},{}] q(0.05:-20)\n  max_pool2d n(%0) -> (%1) {{filter_h={}, "
        "filter_w={}, stride_h={}, "
        "stride_w={}, padding={{top={}, left={}, bottom={}, right={}}}, activation={}}}\n}}\nentry "
        "@main\n",
        batch, h, w, channels, batch, out_h, out_w, channels, filter_h, filter_w, stride_h,
        stride_w, top, left, bottom, right, i % 2 == 0 ? "none" : "relu6"));
  }
}

// A constant operand, an inner tensor, a result that is both output and operand, one operand twice.
constexpr const char* kNetwork = R"(intarsia.graph network
const @0 weights = x"00010203040506070809fafbfcfdfeff101112131415161718191a1b1c1d1e1f"
func @main(%0, %1) -> (%4, %5) {
  %0 a: i8[1,2,1,16] q(0.1:5)
  %1 b: i8[1,2,1,16] q(0.2:-7)
  %2 weights: i8[1,2,1,16] q(0.03:1) = @0
  %3 sum: i8[1,2,1,16] q(0.25:2)
  %4 product: i8[1,2,1,16] q(0.15:-3)
  %5 pooled: i8[1,1,1,16] q(0.3:9)
  %6 doubled: i8[1,2,1,16] q(0.3:9)
  add first(%0, %1) -> (%3)
  mul "second one"(%3, %2) -> (%4)
  add third(%4, %4) -> (%6)
  max_pool2d fourth(%6) -> (%5) {filter_h=2, filter_w=1, stride_h=1, stride_w=1}
}
entry @main
)";

TEST(EndToEnd, ANetworkOfAllOperators) {
  expect_exact(kNetwork);
}

TEST(EndToEnd, OneFunctionOneStreamItsConstantsInThePackage) {
  const graph::Module module = parsed_graph(kNetwork);
  const TargetRegistry registry = make_registry();
  const CompiledModel model = compiled(module, registry, parsed_target(registry, "example-npu-16"));
  ASSERT_EQ(model.program().emitted.streams.size(), 1u);
  const CommandStream& stream = model.program().emitted.streams[0];
  EXPECT_EQ(stream.target, "example-npu");
  EXPECT_EQ(stream.constants.size(), 32u);
  EXPECT_EQ(stream.constants[31], 0x1f);
  EXPECT_EQ(stream.operators, (std::vector<std::string>{"first", "second one", "third", "fourth"}));
  EXPECT_EQ(stream.commands.size(), 6u * 48);
  EXPECT_EQ(model.program().emitted.devices, std::vector<std::string>{"example-npu"});
}

TEST(EndToEnd, GlueOpensSimulatorsOrRegisters) {
  const graph::Module module = parsed_graph(kNetwork);
  const TargetRegistry registry = make_registry();
  const TargetSpec target =
      parsed_target(registry, "c; first: example-npu; npu: example-npu -clock-mhz=50");
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  options.partition.pins = {
      {"first", "first"}, {"second one", "npu"}, {"third", "npu"}, {"fourth", "npu"}};
  const Result<CompiledModel> model = compile_module(module, registry, target, options);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  using emission::DevicePlace;
  const std::string simulated = emission::device_glue_text(model->program().emitted, registry,
                                                           target, DevicePlace::InProgram);
  EXPECT_THAT(simulated, HasSubstr("#include \"intarsia/targets/example_npu/simulator.h\"\n"));
  EXPECT_THAT(simulated,
              HasSubstr("if (bus.read == NULL) bus = intarsia_example_npu_simulator();"));
  EXPECT_THAT(simulated, HasSubstr("intarsia_example_npu_open_bus(&driver, &bus)"));
  EXPECT_THAT(simulated, HasSubstr("case 1: return open_device1();"));
  const std::string firmware =
      emission::device_glue_text(model->program().emitted, registry, target, DevicePlace::Board);
  EXPECT_THAT(firmware, HasSubstr("/* npu: example-npu -clock-mhz=50 */"));
  EXPECT_THAT(firmware, HasSubstr("intarsia_board_registers(\"example-npu\", 1)"));
  EXPECT_THAT(firmware, HasSubstr("intarsia_example_npu_open(&driver, registers)"));
  EXPECT_THAT(firmware, testing::Not(HasSubstr("simulator")));
  const std::string beside =
      emission::device_glue_text(model->program().emitted, registry, target, DevicePlace::Remote);
  EXPECT_THAT(beside, HasSubstr("bus = intarsia_remote_bus(1);"));
  EXPECT_THAT(beside, HasSubstr("void *registers = intarsia_board_registers(\"example-npu\", 1);"));
  EXPECT_THAT(beside, HasSubstr("intarsia_remote_registers(1, registers) == 0"));
  EXPECT_THAT(beside, HasSubstr("intarsia_example_npu_open_bus(&driver, &bus)"));
  EXPECT_THAT(beside, testing::Not(HasSubstr("simulator")));
  const std::string server =
      emission::device_server_text(model->program().emitted, registry, target);
  EXPECT_THAT(server, HasSubstr("devices[1] = intarsia_example_npu_simulator();"));
  EXPECT_THAT(server, HasSubstr("intarsia_serve_devices(argc, argv, devices, 2)"));
}

}  // namespace
}  // namespace intarsia::test::example_npu
