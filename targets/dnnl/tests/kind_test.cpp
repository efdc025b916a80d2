// Who takes what and why not; streams that are not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/partition.h"
#include "kinds.h"
#include "needs.h"

namespace intarsia::test::dnnl {
namespace {

using ::testing::HasSubstr;

std::string refused(const std::string& text) {
  const TargetRegistry registry = make_registry();
  const auto result = partition(parsed_graph(text), registry, parsed_target(registry, "c + dnnl"));
  if (!result.ok()) return result.error().to_string();
  return result->explanation.operators.at(0).offers.at(1).reason.value_or("");
}

TEST(Explanation, SaysWhatNoLayerCanSay) {
  EXPECT_THAT(refused(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 a: f32[1,16]
  %1 b: f32[1,16]
  softmax s(%0) -> (%1) {beta=2}
}
entry @main
)"),
              HasSubstr("beta is 2, not 1"));
  EXPECT_THAT(refused(R"(intarsia.graph m
func @main(%0, %1) -> (%2) {
  %0 a: f32[1,16]
  %1 b: f32[4,16]
  %2 c: f32[4,16]
  sub s(%0, %1) -> (%2)
}
entry @main
)"),
              HasSubstr("the first operand needs broadcasting"));
  EXPECT_THAT(refused(R"(intarsia.graph m
func @main(%0, %1) -> (%2) {
  %0 a: f32[1,16]
  %1 w: f32[4,16]
  %2 c: f32[1,4]
  fully_connected f(%0, %1) -> (%2)
}
entry @main
)"),
              HasSubstr("the weights are not constant"));
  EXPECT_THAT(refused(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 a: f32[2,3,4,5]
  %1 b: f32[2,3,5]
  mean m(%0) -> (%1) {axes=[2]}
}
entry @main
)"),
              HasSubstr("only a mean over height and width is a pool"));
}

// One operator of these tensors, `refused` for it.
std::string refused_tensors(const std::string& tensors, const std::string& node,
                            const std::string& options = "") {
  const std::string text = "intarsia.graph m\nconst @0 w = x\"" + std::string(64, '1') +
                           "\"\nfunc @main(%0) -> (%2) {\n" + tensors + node + "}\nentry @main\n";
  const TargetRegistry registry = make_registry();
  const auto result =
      partition(parsed_graph(text), registry, parsed_target(registry, "c + dnnl" + options));
  if (!result.ok()) return result.error().to_string();
  return result->explanation.operators.at(0).offers.at(1).reason.value_or("");
}

TEST(Explanation, SaysWhatInt8LayersCannotSay) {
  const std::string product = "  fully_connected f(%0, %1) -> (%2)\n";
  EXPECT_THAT(refused_tensors("  %0 a: i16[1,16] q(0.1:0)\n  %1 w: i8[2,16] q(0.1:0) = @0\n"
                              "  %2 c: i16[1,2] q(0.1:0)\n",
                              product),
              HasSubstr("'a' is i16; layers of float32 and of int8 are taken"));
  EXPECT_THAT(refused_tensors("  %0 a: i8[1,16] q(0.1:5)\n  %1 w: i8[2,16] q(0.1:0) = @0\n"
                              "  %2 c: i8[1,2] q(0.1:5)\n",
                              product, " -int8=false"),
              HasSubstr("'a' is i8; layers of float32 are taken, with -int8=false"));
  EXPECT_THAT(refused_tensors("  %0 a: i8[1,16] q(0.1:5)\n  %1 w: i4[4,16] q(0.1:0) = @0\n"
                              "  %2 c: i8[1,4] q(0.1:5)\n",
                              product),
              HasSubstr("'w' is i4; a layer of int8 has i8 there"));
  EXPECT_THAT(
      refused_tensors("  %0 a: i8[1,16] q(0.1:5)\n  %1 d: i8[1,16] q(0.2:5)\n"
                      "  %2 c: i8[1,16] q(0.1:5)\n",
                      "  maximum m(%0, %0) -> (%1)\n  relu r(%1) -> (%2) {activation=relu}\n"),
      HasSubstr("'a' and 'd' differ in quantisation"));
}

constexpr const char* kSum = R"(intarsia.graph sum
func @main(%0, %1) -> (%2) {
  %0 a: f32[1,16]
  %1 b: f32[1,16]
  %2 c: f32[1,16]
  add s(%0, %1) -> (%2) {activation=relu6}
}
entry @main
)";

Result<CompiledModel> compiled_sum(int memories = 1) {
  const TargetRegistry registry = make_registry();
  CompileOptions options;
  options.memory.pools.clear();
  for (int i = 0; i < memories; ++i)
    options.memory.pools.push_back({"ram" + std::to_string(i), 4096});
  return compile_module(parsed_graph(kSum), registry, parsed_target(registry, "c + dnnl"), options);
}

TEST(Streams, AddressNoMoreMemoriesThanTheProgramHasBasesFor) {
  EXPECT_TRUE(compiled_sum(7).ok());
  const auto refused = compiled_sum(8);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("the board has 8 memories"));
}

TEST(Disassembly, NamesLayersAndPlaces) {
  const auto model = compiled_sum();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const TargetRegistry registry = make_registry();
  const auto text =
      registry.kind("dnnl").disassemble(model->program().emitted.streams.at(0).commands);
  ASSERT_TRUE(text.has_value() && text->ok());
  EXPECT_THAT(**text, HasSubstr("add 1x1x1x16 -> 1x1x1x16, with 1x1x1x16, clip 0 6"));
  EXPECT_THAT(**text, HasSubstr("addend 0+0x"));
}

TEST(Disassembly, OfAPartIsAnErrorOrNotOurs) {
  const auto model = compiled_sum();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const TargetRegistry registry = make_registry();
  const std::vector<uint8_t>& whole = model->program().emitted.streams.at(0).commands;
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto text = registry.kind("dnnl").disassemble(std::span(whole).first(length));
    if (text.has_value()) {
      EXPECT_FALSE(text->ok()) << length;
    }
  }
}

// Runs the sum's stream with one byte changed.
intarsia_status status_with(OpenDevice& device, const CommandStream& stream, size_t at,
                            uint8_t value) {
  alignas(16) static uint8_t memory[4096], commands[1024];
  std::copy(stream.commands.begin(), stream.commands.end(), commands);
  commands[at] = value;
  const intarsia_stream handed = {commands, static_cast<uint32_t>(stream.commands.size()), nullptr,
                                  0, nullptr};
  void* bases[] = {memory};
  device.dnnl.program_count = 0;
  return device.dnnl.device.run(&device.dnnl.device, &handed, bases, 1);
}

TEST(Driver, RefusesStreamsThatAreNotItsOwn) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const auto model = compiled_sum();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const CommandStream& stream = model->program().emitted.streams.at(0);
  for (const size_t byte : {0, 4, 8})  // another format, version, library
    EXPECT_EQ(status_with(device, stream, byte, 99), INTARSIA_ERROR_DEVICE_MISMATCH) << byte;
  EXPECT_EQ(status_with(device, stream, 12, 2), INTARSIA_ERROR_DEVICE_MISMATCH);  // regions
  EXPECT_EQ(status_with(device, stream, 16, 2), INTARSIA_ERROR_DEVICE_MISMATCH);  // layers
  EXPECT_EQ(status_with(device, stream, 20, 1), INTARSIA_ERROR_DEVICE_MISMATCH);  // region's bytes
  EXPECT_EQ(status_with(device, stream, 24, 99), INTARSIA_ERROR_DEVICE_FAULT);    // kind
  EXPECT_EQ(status_with(device, stream, 4 * (6 + 39), 9), INTARSIA_ERROR_DEVICE_MISMATCH);
}

TEST(Target, IsPartOfACompositeOnly) {
  const TargetRegistry registry = make_registry();
  EXPECT_EQ(
      printed_target(registry, R"({"kind":"composite","target_host":"c","devices":["dnnl"]})"),
      "c + dnnl");
  EXPECT_THAT(printed_target(registry, "dnnl"), HasSubstr("dnnl"));
  EXPECT_FALSE(parse_target(registry.catalogue(), "dnnl").ok());
  EXPECT_EQ(printed_target(registry, "onednn"), "c + dnnl");
  EXPECT_FALSE(parse_target(registry.catalogue(), "c + dnnl -macs-per-cycle=0").ok());
}

}  // namespace
}  // namespace intarsia::test::dnnl
