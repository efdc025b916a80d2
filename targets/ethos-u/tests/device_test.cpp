// The device as its driver sees it: registers in, registers out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/simulator.h"
#include "stream_writer.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
using testing::HasSubstr;

// A device and the memory it works in. Region 0 holds sixteen bytes that are copied to region 1.
class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(3 * i);
    stream.set("SET_DMA0_SRC_REGION", 0)
        .set("SET_DMA0_DST_REGION", 1)
        .address("SET_DMA0_SRC", 0)
        .address("SET_DMA0_DST", 16)
        .address("SET_DMA0_LEN", 16)
        .set("OP_DMA_START", 0)
        .set("OP_DMA_WAIT", 0)
        .set("OP_STOP", 0x8001);
  }

  void write_pair(uint32_t low, const void* pointer) {
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
    device.write(low, static_cast<uint32_t>(address));
    device.write(low + 4, static_cast<uint32_t>(address >> 32));
  }
  void start() {
    words = stream.aligned_bytes();
    write_pair(sim::reg::QBASE_LO, words.data());
    device.write(sim::reg::QSIZE, static_cast<uint32_t>(stream.bytes().size()));
    write_pair(sim::reg::BASEP0_LO, source.data());
    write_pair(sim::reg::BASEP0_LO + 8, target.data());
    device.write(sim::reg::CMD, sim::bits::CMD_transition_to_running_state);
  }
  uint32_t status() {
    while (device.read(sim::reg::STATUS) & sim::bits::STATUS_state) {
    }
    return device.read(sim::reg::STATUS);
  }

  alignas(16) std::array<uint8_t, 16> source = {};
  alignas(16) std::array<uint8_t, 32> target = {};
  AlignedBytes words;
  StreamWriter stream;
  sim::Device device{*sim::find_configuration(std::string_view("ethos-u55-128"))};
};

TEST_F(DeviceTest, SaysWhoItIs) {
  for (const sim::Configuration& configuration : sim::configurations()) {
    sim::Device one(configuration);
    EXPECT_EQ(one.read(sim::reg::CONFIG), configuration.config_word()) << configuration.tag;
    EXPECT_EQ(sim::find_configuration(one.read(sim::reg::CONFIG)), &configuration);
    EXPECT_EQ(one.read(sim::reg::ID) >> 28, 1u) << "architecture 1";
  }
  // As Arm's compiler writes it for this configuration: 2^7 MACs, 24 KiB, U55.
  EXPECT_EQ(device.read(sim::reg::CONFIG), 0x1807u);
  device.write(sim::reg::CONFIG, 0);
  EXPECT_EQ(device.read(sim::reg::CONFIG), 0x1807u);
  EXPECT_EQ(device.read(0xF00), 0u);
}

TEST_F(DeviceTest, RunsAStreamAndRaisesTheInterrupt) {
  start();
  EXPECT_EQ(status(),
            sim::bits::STATUS_irq_raised | sim::bits::STATUS_cmd_end_reached | 0x80010000u);
  EXPECT_EQ(device.read(sim::reg::QREAD), stream.bytes().size());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin() + 16));
  EXPECT_EQ(target[15], 0);

  device.write(sim::reg::CMD, sim::bits::CMD_clear_irq | 0x80000000u);
  EXPECT_EQ(device.read(sim::reg::STATUS), sim::bits::STATUS_cmd_end_reached | 0x00010000u);
  EXPECT_EQ(device.read(sim::reg::CMD), 0u);
}

TEST_F(DeviceTest, IsBusyForAWhile) {
  device.set_busy_reads(2);
  start();
  EXPECT_EQ(device.read(sim::reg::STATUS), sim::bits::STATUS_state);
  EXPECT_EQ(device.read(sim::reg::STATUS), sim::bits::STATUS_state);
  EXPECT_NE(device.read(sim::reg::STATUS) & sim::bits::STATUS_irq_raised, 0u);
}

TEST_F(DeviceTest, ABadCommandIsAParseErrorUntilReset) {
  stream = StreamWriter();
  stream.word(0x3FF);
  start();
  EXPECT_EQ(status(), sim::bits::STATUS_irq_raised | sim::bits::STATUS_cmd_parse_error);
  ASSERT_TRUE(device.last_fault());
  EXPECT_THAT(device.last_fault()->to_string(), HasSubstr("0x3ff is no command"));

  stream = StreamWriter();
  stream.set("OP_STOP", 0);
  start();
  EXPECT_EQ(status() & sim::bits::STATUS_cmd_end_reached, 0u) << "it ran in spite of the error";
  device.write(sim::reg::RESET, sim::bits::RESET_pending_CPL);
  EXPECT_EQ(device.read(sim::reg::STATUS), sim::bits::STATUS_reset_status);
  EXPECT_EQ(device.read(sim::reg::STATUS), 0u);
  EXPECT_EQ(device.read(sim::reg::PROT), sim::bits::PROT_active_CPL);
  start();
  EXPECT_NE(status() & sim::bits::STATUS_cmd_end_reached, 0u);
}

TEST_F(DeviceTest, AStreamWithoutStopIsAParseError) {
  stream = StreamWriter();
  stream.set("OP_DMA_WAIT", 0);
  start();
  EXPECT_NE(status() & sim::bits::STATUS_cmd_parse_error, 0u);
}

TEST(DeviceWindows, AccessesOutsideOfThemAreBusErrors) {
  alignas(16) std::array<uint8_t, 64> memory = {};
  StreamWriter stream;
  stream.set("SET_DMA0_SRC_REGION", 0)
      .set("SET_DMA0_DST_REGION", 0)
      .address("SET_DMA0_SRC", 0)
      .address("SET_DMA0_DST", 16)
      .address("SET_DMA0_LEN", 16)
      .set("OP_DMA_START", 0)
      .set("OP_STOP", 0);
  const AlignedBytes words = stream.aligned_bytes();
  const auto address = [](const void* pointer) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
  };
  const auto status_with = [&](uint64_t bytes, bool writable) {
    sim::Device device(*sim::find_configuration(std::string_view("ethos-u65-256")),
                       {{address(memory.data()), bytes, writable},
                        {address(words.data()), stream.bytes().size(), false}});
    const auto write_pair = [&](uint32_t low, uint64_t value) {
      device.write(low, static_cast<uint32_t>(value));
      device.write(low + 4, static_cast<uint32_t>(value >> 32));
    };
    write_pair(sim::reg::QBASE_LO, address(words.data()));
    write_pair(sim::reg::BASEP0_LO, address(memory.data()));
    device.write(sim::reg::QSIZE, static_cast<uint32_t>(stream.bytes().size()));
    device.write(sim::reg::CMD, sim::bits::CMD_transition_to_running_state);
    device.read(sim::reg::STATUS);
    return device.read(sim::reg::STATUS);
  };
  EXPECT_EQ(status_with(32, true) & sim::bits::STATUS_bus_status, 0u);
  EXPECT_NE(status_with(31, true) & sim::bits::STATUS_bus_status, 0u);
  EXPECT_NE(status_with(32, false) & sim::bits::STATUS_bus_status, 0u);
}

class FixedCycles final : public sim::CycleModel {
 public:
  uint64_t cycles() const override { return 0x1'0000'0005; }
  uint64_t events(uint32_t number) const override { return number == 0x30 ? 7 : 0; }
};

TEST_F(DeviceTest, CountersTakeTheModelsCyclesWhereTheyAreEnabled) {
  device.set_cycle_model([](const sim::Configuration&, std::span<const uint8_t>) {
    return std::make_unique<FixedCycles>();
  });
  start();
  EXPECT_EQ(device.read(sim::reg::PMCCNTR_LO), 0u) << "not enabled";
  device.write(sim::reg::PMCR, sim::bits::PMCR_cnt_en);
  device.write(sim::reg::PMCNTENSET, sim::bits::PMCNTENSET_cycle_cnt | 2);
  device.write(sim::reg::PMEVTYPER1, 0x30);
  start();
  start();
  EXPECT_EQ(device.read(sim::reg::PMCCNTR_LO), 10u);
  EXPECT_EQ(device.read(sim::reg::PMCCNTR_HI), 2u);
  EXPECT_EQ(device.read(sim::reg::PMEVCNTR0), 0u);
  EXPECT_EQ(device.read(sim::reg::PMEVCNTR1), 14u);
  device.write(sim::reg::PMCNTENCLR, sim::bits::PMCNTENCLR_cycle_cnt);
  device.write(sim::reg::PMCR, sim::bits::PMCR_cnt_en | sim::bits::PMCR_cycle_cnt_rst);
  start();
  EXPECT_EQ(device.read(sim::reg::PMCCNTR_LO), 0u);
  EXPECT_EQ(device.read(sim::reg::PMEVCNTR1), 21u);
}

TEST(Simulator, AttachesByTag) {
  const intarsia_register_bus bus = intarsia_ethos_u_simulator("ethos-u65-512");
  ASSERT_NE(bus.read, nullptr);
  EXPECT_EQ(bus.read(bus.context, sim::reg::CONFIG), 0x10006009u);
  EXPECT_EQ(intarsia_ethos_u_simulator("ethos-u85-256").read, nullptr);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
