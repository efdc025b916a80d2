// Streams that are damaged: whatever is in them, the simulator ends with a fault or a result and never
// leaves its memory.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/run.h"
#include "recorded_data.h"
#include "stream_writer.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
using testing::HasSubstr;

const sim::Configuration& configuration(const char* tag = "ethos-u55-128") {
  return *sim::find_configuration(std::string_view(tag));
}

std::string fault_of(const StreamWriter& stream, const char* tag = "ethos-u55-128") {
  sim::Memory memory(configuration(tag));
  const sim::Outcome outcome = sim::run(stream.bytes(), configuration(tag), memory);
  return outcome.fault ? outcome.fault->to_string() : "";
}

TEST(BadStreams, AreNamedByCommandAndPlace) {
  EXPECT_THAT(fault_of(StreamWriter()), HasSubstr("ends here without OP_STOP"));
  EXPECT_THAT(fault_of(StreamWriter().set("SET_BLOCKDEP", 1).word(0x0000018E)),
              HasSubstr("at 0x4: the word 0x18e is no command"));
  EXPECT_THAT(fault_of(StreamWriter().set("SET_BLOCKDEP", 4)),
              HasSubstr("SET_BLOCKDEP at 0x0: the parameter 0x4 sets bits without a meaning"));
  EXPECT_THAT(fault_of(StreamWriter().word(0x4000)), HasSubstr("ends before the payload"));
  EXPECT_THAT(fault_of(StreamWriter().set("SET_PARALLEL_MODE", 1)),
              HasSubstr("an Ethos-U55 does not have this command"));
  EXPECT_THAT(fault_of(StreamWriter().address("SET_IFM_BASE0", uint64_t{1} << 32)),
              HasSubstr("SET_IFM_BASE0 at 0x0: the parameter 0x1 sets bits"));
  EXPECT_EQ(fault_of(StreamWriter()
                         .set("SET_PARALLEL_MODE", 1)
                         .address("SET_IFM_BASE0", uint64_t{1} << 32)
                         .set("OP_STOP", 0),
                     "ethos-u65-512"),
            "");
  EXPECT_THAT(fault_of(StreamWriter().set("OP_CONV", 0)), HasSubstr("needs register "));
  EXPECT_THAT(fault_of(StreamWriter().set("OP_DMA_START", 0)),
              HasSubstr("OP_DMA_START at 0x0: needs register DMA0_SRC_REGION, which nobody set"));
}

TEST(BadStreams, TransfersStayWithinTheirRegions) {
  const auto transfer = [](uint64_t source, uint64_t target, uint64_t length) {
    return StreamWriter()
        .set("SET_DMA0_SRC_REGION", 0)
        .set("SET_DMA0_DST_REGION", 0x100)
        .address("SET_DMA0_SRC", source)
        .address("SET_DMA0_DST", target)
        .address("SET_DMA0_LEN", length)
        .set("OP_DMA_START", 0)
        .set("OP_STOP", 0);
  };
  sim::Memory memory(configuration("ethos-u65-256"));
  std::vector<uint8_t> bytes(64, 5);
  memory.regions[0] = {bytes.data(), bytes.size(), true};
  const auto fault = [&](uint64_t source, uint64_t target, uint64_t length) {
    const auto outcome =
        sim::run(transfer(source, target, length).bytes(), configuration("ethos-u65-256"), memory);
    return outcome.fault ? outcome.fault->to_string() : "";
  };
  EXPECT_EQ(fault(0, 48 * 1024 - 64, 64), "");
  EXPECT_EQ(memory.shram().back(), 5);
  EXPECT_THAT(fault(0, 48 * 1024 - 63, 64), HasSubstr("lie outside of SHRAM"));
  EXPECT_THAT(fault(1, 0, 64), HasSubstr("lie outside of region 0"));
  EXPECT_THAT(fault(0xFFFFFFFFFF, 0, 0xFFFFFFFFFF), HasSubstr("lie outside of region 0"));
}

TEST(BadPayloads, AreRefusedWithTheReason) {
  const auto failure = [](const StreamWriter& payload) {
    sim::Payload read;
    return sim::read_payload(payload.bytes(), read).value_or("");
  };
  const uint32_t magic = 0x31504F43;
  const auto config = [&](uint32_t word, uint32_t id = 0x10060000) {
    return StreamWriter().word(magic).word(0x00100001).word(word).word(id);
  };
  EXPECT_THAT(failure(StreamWriter().word(1)), HasSubstr("does not begin with COP1"));
  EXPECT_THAT(failure(config(0x20010008)), HasSubstr("Ethos-U85"));
  EXPECT_THAT(failure(config(0x00001907)), HasSubstr("has 24 KiB of SHRAM, not 25"));
  EXPECT_THAT(failure(config(0x00001807, 0x20000000)), HasSubstr("architecture 2"));
  EXPECT_THAT(failure(config(0x00001807)), HasSubstr("holds no command stream"));
  EXPECT_THAT(failure(StreamWriter().word(magic).word(0x00050002)),
              HasSubstr("needs 5 more words, there are 0"));
  EXPECT_THAT(failure(StreamWriter().word(magic).word(0x77)),
              HasSubstr("no action has the number"));
  EXPECT_THAT(failure(config(0x00001807).word(5).word(5).word(0x00010002).word(0)),
              HasSubstr("multiple of 16"));
  EXPECT_EQ(failure(config(0x00001807).word(5).word(5).word(5).word(0x00010002).word(0)), "");
}

TEST(DamagedStreams, OfArmsCompilerNeverLeaveTheirMemory) {
  std::mt19937 random(11);
  size_t faults = 0, runs = 0;
  for (const char* name : {"separable_s8/ethos-u55-128-Shared_Sram-Size.tflite",
                           "separable_s8/ethos-u65-512-Dedicated_Sram-Performance.tflite",
                           "leaky_relu_s16/ethos-u55-128-Shared_Sram-Performance.tflite"}) {
    const VelaFile file = read_vela_file(golden_folder() / "npu-streams/ethos-u" / name);
    const VelaOperator& op = file.operators.at(0);
    sim::Payload payload;
    ASSERT_EQ(sim::read_payload(op.payload, payload), std::nullopt);
    for (int i = 0; i < 150; ++i, ++runs) {
      std::vector<uint8_t> stream(payload.stream.begin(), payload.stream.end());
      for (uint32_t damage = 0; damage < 1 + random() % 4; ++damage)
        stream[random() % stream.size()] ^= static_cast<uint8_t>(1u << (random() % 8));
      std::vector<uint8_t> constants = op.constants, arena(op.arena_bytes), cache(op.cache_bytes);
      if (!constants.empty()) constants[random() % constants.size()] ^= 0x10;
      sim::Memory memory(*payload.made_for);
      memory.regions[0] = {constants.data(), constants.size(), false};
      memory.regions[1] = {arena.data(), arena.size()};
      memory.regions[2] = {cache.data(), cache.size()};
      sim::RunOptions options;
      options.max_macs = 1 << 22;
      const sim::Outcome outcome = sim::run(stream, *payload.made_for, memory, nullptr, options);
      faults += outcome.fault.has_value();
      EXPECT_TRUE(outcome.fault.has_value() || outcome.stopped);
    }
  }
  EXPECT_GT(faults, runs / 4);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
