// The checker on what Vela made: it finds nothing, and it finds what is then broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/checker.h"
#include "intarsia/targets/ethos_u/payload.h"
#include "recorded_data.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace simulators::ethos_u;

// A stream of the operator, perhaps changed, with the operator's memory.
FindingList check(const VelaOperator& npu, const Configuration& configuration,
                  std::span<const uint8_t> stream, bool execute) {
  std::vector<uint8_t> constants = npu.constants, arena(npu.arena_bytes), cache(npu.cache_bytes);
  Memory memory(configuration);
  memory.regions[0] = {constants.data(), constants.size(), false};
  memory.regions[1] = {arena.data(), arena.size(), true};
  memory.regions[2] =
      npu.cache_is_arena ? memory.regions[1] : Region{cache.data(), cache.size(), true};
  Checker checker(configuration, stream);
  checker.forget(1, arena.size());
  if (!npu.cache_is_arena) checker.forget(2, cache.size());
  for (const VelaTensor& input : npu.inputs) checker.set(1, input.offset, input.bytes);
  RunOptions options;
  options.execute = execute;
  checker.finish(run(stream, configuration, memory, &checker, options));
  return checker.findings();
}

std::string text(const FindingList& findings) {
  std::string all;
  for (const Finding& finding : findings.all()) all += "  " + finding.to_string() + "\n";
  return all;
}

std::vector<uint8_t> stream_of(const VelaOperator& npu) {
  Payload payload;
  EXPECT_EQ(read_payload(npu.payload, payload), std::nullopt);
  return {payload.stream.begin(), payload.stream.end()};
}

TEST(CheckerOnVelaStreams, FindsNothing) {
  int operators = 0;
  for (const VelaFile& file : read_vela_files())
    for (const VelaOperator& npu : file.operators) {
      const FindingList findings = check(npu, *find_configuration(file.tag), stream_of(npu), true);
      EXPECT_TRUE(findings.all().empty()) << file.name << "\n" << text(findings);
      ++operators;
    }
  EXPECT_GE(operators, 23);
}

// Vela waits only where it must: each wait that is left out is a finding, at the operation behind it.
TEST(CheckerOnVelaStreams, EveryWaitIsNeeded) {
  int waits = 0, dependencies = 0, needed_dependencies = 0;
  for (const VelaFile& file : read_vela_files({"separable_s8", "residual_s8", "kws_ref_model",
                                               "vww_96_int8", "pretrainedResnet_quant"})) {
    const Configuration& configuration = *find_configuration(file.tag);
    const VelaOperator& npu = file.operators.at(0);
    const std::vector<uint8_t> stream = stream_of(npu);
    for (uint32_t at = 0; at < stream.size();) {
      DecodedCommand command;
      ASSERT_FALSE(decode(stream, at, configuration.product, command));
      std::vector<uint8_t> changed = stream;
      const bool is_dma = command.command == Command::OP_DMA_WAIT;
      if (is_dma || command.command == Command::OP_KERNEL_WAIT) {
        changed[at] = static_cast<uint8_t>(row_of(Command::OP_PMU_MASK).code);  // waits for nothing
        changed[at + 2] = 0;
        const FindingList findings = check(npu, configuration, changed, false);
        ASSERT_FALSE(findings.all().empty()) << file.name << " " << at;
        EXPECT_EQ(findings.all()[0].kind,
                  is_dma ? FindingKind::MissingDmaWait : FindingKind::MissingKernelWait);
        EXPECT_EQ(findings.all()[0].offset, at + 4) << file.name;
        ++waits;
      }
      // One more than Vela allows: it is not always exact, but never wrong.
      if (command.command == Command::SET_BLOCKDEP && command.parameter < 3) {
        changed[at + 2] = static_cast<uint8_t>(command.parameter + 1);
        const FindingList findings = check(npu, configuration, changed, false);
        for (const Finding& finding : findings.all())
          EXPECT_EQ(finding.kind, FindingKind::BlockDependency);
        ++dependencies;
        needed_dependencies += !findings.all().empty();
      }
      at += 4 * command.words;
    }
  }
  EXPECT_GE(waits, 185);
  EXPECT_GT(needed_dependencies * 4, dependencies * 3);
}

// A file whose first operation, OP_CONV at 0x148, has sixteen channels; its WEIGHT_LENGTH is set at 0x100.
void expect_broken_weights_named(const std::filesystem::path& path, size_t weights) {
  SCOPED_TRACE(path);
  const VelaFile file = read_vela_file(path);
  const Configuration& configuration = *find_configuration(file.tag);
  const VelaOperator& npu = file.operators.at(0);
  std::vector<uint8_t> stream = stream_of(npu);
  stream[0x104] = 0x50, stream[0x105] = 0;  // 80
  const FindingList cut = check(npu, configuration, stream, true);
  ASSERT_EQ(cut.all().size(), 1u) << text(cut);
  EXPECT_EQ(cut.all()[0].kind, FindingKind::WeightStream);
  EXPECT_EQ(cut.all()[0].offset, 0x148u);

  // The operation has fewer weights than its stream: a depth of 8 instead of 16 channels.
  stream = stream_of(npu);
  stream[0xC6] = 7;
  const FindingList rest = check(npu, configuration, stream, true);
  ASSERT_FALSE(rest.all().empty());
  EXPECT_EQ(rest.all()[0].kind, FindingKind::WeightStream) << text(rest);

  // Damaged bytes in the constants.
  VelaOperator damaged = npu;
  for (size_t i = 0; i < 64; ++i) damaged.constants.at(weights + i) ^= 0xA5;
  const FindingList broken = check(damaged, configuration, stream_of(npu), true);
  ASSERT_FALSE(broken.all().empty());
  EXPECT_EQ(broken.all()[0].kind, FindingKind::WeightStream) << text(broken);
}

TEST(CheckerOnVelaStreams, BrokenWeightsAreNamed) {
  constexpr char kName[] = "ethos-u55-128-Shared_Sram-Performance";
  expect_broken_weights_named(vela_stream(golden_folder(), std::string("separable_s8/") + kName),
                              0x12f0 + 160);
  const auto kws = vela_stream(shared_folder(), std::string("kws_ref_model/") + kName);
  if (std::filesystem::exists(kws)) expect_broken_weights_named(kws, 0x1ba0 + 160);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
