// Who takes what and why not; streams that are not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "kinds.h"
#include "needs.h"

namespace intarsia::test::opencl {
namespace {

using testing::HasSubstr;

constexpr const char* kMixed = R"(intarsia.graph mixed
func @main(%0, %1) -> (%2, %3) {
  %0 a: i8[1,16] q(0.1:5)
  %1 b: f32[1,16]
  %2 p: i8[1,16] q(0.00390625:-128)
  %3 r: f32[1,16]
  softmax likely(%0) -> (%2) {beta=1}
  relu rectify(%1) -> (%3)
}
entry @main
)";

TEST(Explanation, SaysWhatTheDeviceLacks) {
  const TargetRegistry registry = make_registry();
  const auto result =
      partition(parsed_graph(kMixed), registry, parsed_target(registry, "c + opencl"));
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  const auto reason = [&](size_t row) {
    return result->explanation.operators.at(row).offers.at(1).reason.value_or("");
  };
  EXPECT_THAT(reason(0), HasSubstr("a helper of the C runtime"));
  EXPECT_THAT(reason(1), HasSubstr("floats"));
}

// One base is of the constants; the rest are of memories.
TEST(Streams, AddressNoMoreMemoriesThanTheProgramHasBasesFor) {
  const TargetRegistry registry = make_registry();
  const graph::Module module = parsed_graph(R"(intarsia.graph sum
func @main(%0) -> (%1) {
  %0 a: i8[1,16] q(0.1:5)
  %1 doubled: i8[1,16] q(0.3:9)
  add twice(%0, %0) -> (%1)
}
entry @main
)");
  for (const int memories : {7, 8}) {
    CompileOptions options;
    options.memory.pools.clear();
    for (int i = 0; i < memories; ++i)
      options.memory.pools.push_back({"ram" + std::to_string(i), 4096});
    const auto model =
        compile_module(module, registry, parsed_target(registry, "c + opencl"), options);
    EXPECT_EQ(model.ok(), memories == 7);
    if (memories == 8) {
      EXPECT_THAT(model.error().to_string(), HasSubstr("the board has 8 memories"));
    }
  }
}

TEST(Target, TakesWhatDevicesMayHave) {
  const TargetRegistry registry = make_registry();
  EXPECT_TRUE(parse_target(registry.catalogue(), "c + opencl -macs-per-cycle=65536").ok());
  const auto refused = parse_target(registry.catalogue(), "c + opencl -macs-per-cycle=65537");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("65536"));
}

TEST(Disassembly, OfGarbageIsAnErrorOrNotOurs) {
  const TargetRegistry registry = make_registry();
  const TargetKind& kind = registry.kind("opencl");
  std::vector<uint8_t> bytes = {'O', 'C', 'L', '1', 1, 0, 0, 0, 2, 0, 0, 0, 255,
                                255, 255, 255, 24,  0, 0, 0, 1, 0, 0, 0, 0};
  EXPECT_FALSE(kind.disassemble(std::vector<uint8_t>{1, 2, 3}).has_value());
  for (size_t length = 24; length <= bytes.size(); ++length) {
    const auto text = kind.disassemble(std::span(bytes).first(length));
    ASSERT_TRUE(text.has_value());
    EXPECT_FALSE(text->ok());
  }
}

TEST(Driver, RefusesStreamsThatAreNotItsOwn) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  alignas(16) uint8_t bytes[32] = {'O', 'C', 'L', '1', 2};
  void* bases[] = {bytes};
  intarsia_stream stream = {bytes, sizeof bytes, nullptr, 0};
  EXPECT_EQ(device.opencl.device.run(&device.opencl.device, &stream, bases, 1),
            INTARSIA_ERROR_DEVICE_MISMATCH);
  stream.command_bytes = 8;
  EXPECT_EQ(device.opencl.device.run(&device.opencl.device, &stream, bases, 1),
            INTARSIA_ERROR_DEVICE_MISMATCH);
}

}  // namespace
}  // namespace intarsia::test::opencl
