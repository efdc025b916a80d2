// Small networks of one or two layers, each with what one path of the compiler is for: every byte is that of the
// documented arithmetic, on all variants.
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end.h"
#include "integer_model.h"
#include "kinds.h"
#include "made_chains.h"

namespace intarsia::test::ethos_n {
namespace {

using intarsia::testing::Random;

void expect_exact(const graph::Module& module) {
  Random random(4);
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  const std::vector<graph::TensorValue> expected = integer_model(module, inputs);
  for (const std::string tag : kTags) {
    const Result<CompiledModel> compiled = compile_for(module, tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    std::vector<graph::TensorValue> outputs;
    ASSERT_EQ(run_on(tag, *compiled, inputs, outputs), "") << tag;
    EXPECT_EQ(outputs, expected) << tag;
  }
}

std::string disassembled(const graph::Module& module, const std::string& tag) {
  const Result<CompiledModel> compiled = compile_for(module, tag);
  EXPECT_TRUE(compiled.ok());
  const auto text = make_registry().kind("ethosn").disassemble(network_of(*compiled));
  EXPECT_TRUE(text && text->ok());
  return **text;
}

// Each with a kernel of its own, which takes a row and a column more where sides are odd.
TEST(SmallLayers, PoolsOf3x3OfEvenAndOddSides) {
  Random random(31);
  const graph::Module even = Chain(random, 14, 18, 20).wide_max_pool().finish(),
                      odd = Chain(random, 15, 17, 20).wide_max_pool().finish();
  expect_exact(even);
  expect_exact(odd);
  for (const char* tag : kTags) {
    EXPECT_THAT(disassembled(even, tag), ::testing::HasSubstr("_MAXPOOL_3X3_2_2_EVEN_"));
    EXPECT_THAT(disassembled(odd, tag), ::testing::HasSubstr("_MAXPOOL_3X3_2_2_ODD_"));
  }
}

// The limits of an activation are beyond all steps of a scale that is almost nothing.
TEST(SmallLayers, ActivationsOnScalesOfAlmostNothing) {
  Random random(36);
  for (const char* activation : {"relu6", "relu_n1_to_1"}) {
    const Result<graph::Module> module = graph::parse(fmt::format(R"(intarsia.graph m
      func @main(%0) -> (%1) {{
        %0 x: i8[1,8,8,16] q(1e-10:3)
        %1 y: i8[1,4,4,16] q(1e-10:3)
        max_pool2d p(%0) -> (%1) {{filter_h=2, filter_w=2, stride_h=2, stride_w=2, activation={}}}
      }}
      entry @main)",
                                                                  activation));
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto inputs = intarsia::testing::random_inputs(random, *module);
    const auto expected = graph::Evaluator(*module).run(inputs);
    ASSERT_TRUE(expected.ok());
    const Result<CompiledModel> compiled = compile_for(*module, kTags[0]);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    std::vector<graph::TensorValue> outputs;
    ASSERT_EQ(run_on(kTags[0], *compiled, inputs, outputs), "");
    EXPECT_EQ(outputs, *expected) << activation;
  }
}

// Factors that the PLE's registers or its sixteen bits do not hold: of what is nothing nothing is left, and the others are the CPU's.
TEST(SmallLayers, ScalesThatAreFarApart) {
  Random random(37);
  const std::pair<const char*, const char*> scales[] = {
      {"1e-30", "1e-12"}, {"1e-9", "0.01"}, {"0.01", "1e-8"}, {"0.7", "0.01"}};
  for (const auto& [from, to] : scales)
    for (const std::string& text :
         {fmt::format("{}:3) leaky_relu", to), fmt::format("{}:3) relu", to),
          std::string("0.00390625:-128) logistic"), std::string("0.0078125:0) tanh")}) {
      const size_t end = text.find(')');
      const Result<graph::Module> module =
          graph::parse(fmt::format(R"(intarsia.graph m
            func @main(%0) -> (%1) {{
              %0 x: i8[1,8,8,16] q({}:-5)
              %1 y: i8[1,8,8,16] q({})
              {} f(%0) -> (%1) {}
            }}
            entry @main)",
                                   from, text.substr(0, end), text.substr(end + 2),
                                   text.ends_with("leaky_relu") ? "{alpha=0.25}" : ""));
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      const Comparison result =
          run_one(*module, kTags[0], intarsia::testing::random_inputs(random, *module));
      EXPECT_EQ(result.problem, "") << from << " to " << text;
      EXPECT_LE(result.most, 1) << from << " to " << text;
    }
}

// In pieces of three rows and columns.
TEST(SmallLayers, WideFilters) {
  Random random(32);
  expect_exact(Chain(random, 13, 15, 5).conv(18, 9).finish());
  expect_exact(Chain(random, 13, 15, 5).conv(18, 9, 1, false).finish());
}

// The first way has layers before the one that does not fit into SRAM: of them nothing is left in the way that is taken.
TEST(SmallLayers, OfTheSecondWayToWriteThem) {
  Random random(35);
  const graph::Module module =
      windowed(random, graph::OpKind::DepthwiseConv2d, {26, 300, 40, 0, 5, 2, true, 2});
  const std::string target = std::string(kTags[0]) + kRewriting;
  const Comparison result =
      run_one(module, target, intarsia::testing::random_inputs(random, module));
  EXPECT_TRUE(result.taken) << result.refusal;
  EXPECT_EQ(result.problem, "");
  EXPECT_LE(result.most, 1);
  const std::string text = disassembled(module, target), reads = "  IFM_STREAMER buffer=1 ";
  ASSERT_NE(text.find(reads), std::string::npos);
  EXPECT_EQ(text.find(reads), text.rfind(reads)) << "the input is read by two layers";
}

// Its agents by name, numbers as numbers, registers by their fields, and arrays whose words differ in full.
TEST(SmallLayers, AreDisassembled) {
  Random random(34);
  const graph::Module module = Chain(random, 8, 8, 16).conv(16, 1).finish();
  std::istringstream in(disassembled(module, "ethos-n78-4tops-4ple"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 29u);
  EXPECT_EQ(lines[0], "Ethos-N network for ethos-n78-4tops-4ple, 512 bytes of weights");
  EXPECT_EQ(lines[2], "buffer   1  input             1024 bytes at        0  in");
  EXPECT_EQ(lines[6], "agent   1  WGT_STREAMER buffer=3");
  EXPECT_EQ(lines[7], "agent   2  PLE_LOADER kernel=V8222_PASSTHROUGH_bw8_bh8_bm1");
  EXPECT_EQ(lines[8],
            "agent   3  PLE_SCHEDULER input_mode=0 kernel=V8222_PASSTHROUGH_bw8_bh8_bm1 "
            "kernel_address=0");
  EXPECT_EQ(lines[11], "queue DmaRd, 3 commands");
  EXPECT_EQ(lines[12],
            "    348  LoadPleCodeIntoSram agent=2 dram_offset=0 SRAM_ADDR={} "
            "DMA_SRAM_STRIDE={group=1 row=1} DMA_STRIDE0={stride=1} DMA_STRIDE2={stride=1} "
            "DMA_STRIDE3={stride=1} DMA_CHANNELS={channels=1} DMA_EMCS={mask=255} "
            "DMA_TOTAL_BYTES={bytes=1} DMA_CMD={format=5}");
  EXPECT_THAT(lines[19],
              ::testing::HasSubstr(
                  " IFM_PAD=16x{} WIDE_KERNEL_OFFSET={} IFM_TOP_SLOTS={centre_residual=1 "));
  EXPECT_THAT(lines[19],
              ::testing::HasSubstr(" WEIGHT_BASE_ADDR=[{address=4160},{address=4160},{},{}] "));
  EXPECT_THAT(lines[19], ::testing::EndsWith(" blocks=2"));
  EXPECT_EQ(lines[21], "    948  WaitForCounter DmaRd 3");
  EXPECT_EQ(lines[22], "    960  StartMceStripe agent=4 CE_ENABLES=0x8");
  EXPECT_EQ(lines[28],
            "   1016  StartPleStripe agent=3 "
            "SCRATCH=[0xf,0x50000,0x0,0x0,0x0,0x50109,0x80008,0x10]");
}

}  // namespace
}  // namespace intarsia::test::ethos_n
