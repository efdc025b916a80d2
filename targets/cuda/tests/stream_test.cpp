// Who takes what and why not; attributes; streams that are not ours, as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "kinds.h"
#include "support/operators_on_devices.h"

namespace intarsia::test::cuda {
namespace {

using ::testing::HasSubstr;

TEST(Explanation, SaysWhatTheGpuLacks) {
  const TargetRegistry registry = make_registry();
  const auto result = partition(parsed_graph(R"(intarsia.graph mixed
func @main(%0, %1) -> (%2, %3) {
  %0 a: i8[1,16] q(0.1:5)
  %1 b: f32[1,16]
  %2 p: i8[1,16] q(0.00390625:-128)
  %3 r: f32[1,16]
  softmax likely(%0) -> (%2) {beta=1}
  relu rectify(%1) -> (%3)
}
entry @main
)"),
                                registry, parsed_target(registry, "c + cuda"));
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  const auto reason = [&](size_t row) {
    return result->explanation.operators.at(row).offers.at(1).reason.value_or("");
  };
  EXPECT_THAT(reason(0), HasSubstr("a helper of the C runtime"));
  EXPECT_EQ(reason(1), "") << "it rounds each product and sum as the host does";
  EXPECT_EQ(result->explanation.operators.at(1).device, "cuda");
}

TEST(Target, RefusesWhatNoGpuIs) {
  const TargetRegistry registry = make_registry();
  EXPECT_THAT(printed_target(registry, "c + cuda -arch=sm_86"), HasSubstr("-arch=sm_86"));
  EXPECT_THAT(printed_target(registry, "c + cuda -arch=sm_99"), HasSubstr("sm_99"));
  EXPECT_FALSE(parse_target(registry.catalogue(), "c + cuda -arch=sm_99").ok());
  EXPECT_FALSE(parse_target(registry.catalogue(), "c + cuda -threads-per-block=100").ok());
  EXPECT_FALSE(parse_target(registry.catalogue(), "cuda").ok()) << "it stands beside a host";
  EXPECT_TRUE(parse_target(registry.catalogue(), "jetson-orin").ok());
}

// One base is of the constants; the rest are of memories.
TEST(Streams, AddressNoMoreMemoriesThanTheProgramHasBasesFor) {
  const TargetRegistry registry = make_registry();
  CompileOptions options;
  options.memory.pools.clear();
  for (int i = 0; i < 8; ++i) options.memory.pools.push_back({"ram" + std::to_string(i), 4096});
  const auto model = compile_module(parsed_graph(kTwoKernelsAndABranch), registry,
                                    parsed_target(registry, "c + cuda"), options);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().to_string(), HasSubstr("the board has 8 memories"));
}

std::vector<uint8_t> stream() {
  const TargetRegistry registry = make_registry();
  return compile_module(parsed_graph(kTwoKernelsAndABranch), registry,
                        parsed_target(registry, "c + cuda -arch=sm_80"), options_with_ram())
      ->program()
      .emitted.streams.at(0)
      .commands;
}

TEST(Disassembly, ShowsCopiesLaunchesAndTheProgram) {
  const TargetRegistry registry = make_registry();
  const auto text = registry.kind("cuda").disassemble(stream());
  ASSERT_TRUE(text.has_value() && text->ok());
  for (const char* part :
       {"CUDA C for sm_80, blocks of 128 threads", ", constants", "copy in 64 bytes at 0+",
        "copy out 36 bytes at 0+", ": k0 over 32 x 1 x 1", "extern \"C\" __global__ void",
        "if (intarsia_item() >= "})
    EXPECT_THAT(**text, HasSubstr(part));
}

TEST(Disassembly, OfStreamsThatAreCutOffIsAnErrorOrNotOurs) {
  const TargetRegistry registry = make_registry();
  const TargetKind& kind = registry.kind("cuda");
  const std::vector<uint8_t> whole = stream();
  for (size_t length = 0; length < whole.size(); length += 3) {
    const auto text = kind.disassemble(std::span(whole).first(length));
    EXPECT_EQ(text.has_value(), length >= 48) << length;
    if (text) {
      EXPECT_FALSE(text->ok()) << length;
    }
  }
}

// Whatever the header says, nothing beyond the stream is read: the sanitizers watch.
TEST(Disassembly, OfAnyHeaderEnds) {
  const TargetRegistry registry = make_registry();
  const TargetKind& kind = registry.kind("cuda");
  for (size_t word = 1; word < 12; ++word)
    for (const uint8_t byte : {0x00, 0x7F, 0xFF}) {
      std::vector<uint8_t> bytes = stream();
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(4 * word), 4, byte);
      EXPECT_TRUE(kind.disassemble(bytes).has_value());
    }
}

}  // namespace
}  // namespace intarsia::test::cuda
