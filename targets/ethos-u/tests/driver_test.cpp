// The driver over the simulated device: what it refuses, what it reports, counters and waiting.
#include "intarsia/targets/ethos_u/driver.h"

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/device.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

// A driver payload around words of a stream.
std::vector<uint32_t> payload(const std::vector<uint32_t>& stream, uint32_t config = 0x1807,
                              uint32_t architecture = 0x10060000) {
  std::vector<uint32_t> words = {
      0x31504F43, 0x00100001, config, architecture,
      5,          5,          5,      static_cast<uint32_t>(stream.size()) << 16 | 2};
  words.insert(words.end(), stream.begin(), stream.end());
  return words;
}

constexpr uint32_t kStop = 0xFFFF0000;

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    const intarsia_register_bus bus = device_.bus();
    ASSERT_EQ(intarsia_ethos_u_open_bus(&npu_, &bus), INTARSIA_OK);
  }
  intarsia_status run(const std::vector<uint32_t>& words, const std::vector<void*>& bases = {}) {
    std::copy(words.begin(), words.end(), code_);
    const intarsia_stream stream = {reinterpret_cast<const uint8_t*>(code_),
                                    static_cast<uint32_t>(4 * words.size()), nullptr, 0,
                                    regions_.empty() ? nullptr : regions_.data()};
    return npu_.device.run(&npu_.device, &stream, bases.data(),
                           static_cast<uint32_t>(bases.size()));
  }
  // Moves 32 bytes within region 1.
  static std::vector<uint32_t> transfer() {
    return {0x00010130, 0x4030, 0,          0x00010131, 0x4031, 64,
            0x4032,     32,     0x00000010, 0x00000011, kStop};
  }

  alignas(16) uint32_t code_[256] = {};
  alignas(16) uint8_t data_[128] = {};
  std::vector<intarsia_region> regions_;  // empty: nothing is said of them
  sim::Device device_{*sim::find_configuration(std::string_view("ethos-u55-128"))};
  intarsia_ethos_u npu_ = {};
};

TEST_F(Driver, RunsAStream) {
  for (uint8_t i = 0; i < 32; ++i) data_[i] = i;
  ASSERT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(data_[64 + i], i);
  EXPECT_EQ(data_[96], 0);
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK) << "again";
}

TEST_F(Driver, RefusesStreamsForOtherDevices) {
  EXPECT_EQ(run({}), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(run({kStop}), INTARSIA_ERROR_DEVICE_MISMATCH) << "no payload";
  EXPECT_EQ(run(payload({kStop}, 0x3008)), INTARSIA_ERROR_DEVICE_MISMATCH) << "256 MACs";
  EXPECT_EQ(run(payload({kStop}, 0x10001807)), INTARSIA_ERROR_DEVICE_MISMATCH) << "a U65";
  EXPECT_EQ(run(payload({kStop}, 0x1807, 0x20060000)), INTARSIA_ERROR_DEVICE_MISMATCH)
      << "architecture 2";
  EXPECT_EQ(run(payload({kStop}, 0x1807, 0x10260000)), INTARSIA_ERROR_DEVICE_MISMATCH)
      << "architecture 1.2";
  std::vector<uint32_t> cut = payload(transfer());
  cut.pop_back();
  EXPECT_EQ(run(cut), INTARSIA_ERROR_DEVICE_MISMATCH);
  cut.resize(3);
  EXPECT_EQ(run(cut), INTARSIA_ERROR_DEVICE_MISMATCH);
  std::vector<void*> nine(9, data_);
  EXPECT_EQ(run(payload({kStop}), nine), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
}

TEST_F(Driver, RefusesBasesTheDeviceCannotReach) {
  EXPECT_EQ(run(payload({kStop}), {data_ + 8}), INTARSIA_ERROR_DEVICE_MISALIGNED);
  EXPECT_EQ(npu_.fault_region, 0u);
}

// What a package says of its regions.
TEST_F(Driver, RefusesRegionsBeforeItStarts) {
  regions_ = {{}, {128, 96, INTARSIA_MEMORY_MAIN, {}}};
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  regions_[1].bytes = 95;
  data_[0] = 1;
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_ERROR_DEVICE_REGION);
  EXPECT_EQ(npu_.fault_region, 1u);
  EXPECT_EQ(data_[64], 0) << "it was not started";
  regions_[1].bytes = 128;
  EXPECT_EQ(run(payload(transfer()), {nullptr, nullptr}), INTARSIA_ERROR_DEVICE_MEMORY)
      << "no memory for what it uses";
  regions_[1] = {0xFFFFFFFF, 0xFFFFFFFF, INTARSIA_MEMORY_MAIN, {}};
  auto* last = reinterpret_cast<void*>(UINTPTR_MAX - 0xFFF);
  EXPECT_EQ(run(payload(transfer()), {nullptr, last}), INTARSIA_ERROR_DEVICE_MEMORY)
      << "beyond the end of all memory";
}

TEST_F(Driver, ReportsFaultsAndGoesOn) {
  EXPECT_EQ(run(payload({0x000003FF, kStop})), INTARSIA_ERROR_DEVICE_COMMAND) << "no such command";
  EXPECT_NE(npu_.fault_status & 1u << 4, 0u);
  EXPECT_EQ(run(payload(transfer()), {nullptr, nullptr}), INTARSIA_ERROR_DEVICE_BUS)
      << "nobody answers there";
  EXPECT_NE(npu_.fault_status & 1u << 2, 0u);
  EXPECT_GT(npu_.fault_offset, 0u);
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK) << "a reset brings it back";
}

TEST_F(Driver, WaitsAsLongAsItIsTold) {
  device_.set_busy_reads(100);
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
  int looks = 0;
  npu_.wait = [](intarsia_ethos_u*, void* context) { ++*static_cast<int*>(context); };
  npu_.wait_context = &looks;
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
  EXPECT_EQ(looks, 100);
  npu_.poll_limit = 10;
  EXPECT_EQ(run(payload({kStop})), INTARSIA_ERROR_DEVICE_TIMEOUT);
}

TEST_F(Driver, AcknowledgesInterrupts) {
  npu_.wait = [](intarsia_ethos_u* npu, void*) { intarsia_ethos_u_interrupt(npu); };
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
  EXPECT_EQ(npu_.interrupts, 1u);
  EXPECT_EQ(device_.read(4) & 2u, 0u) << "STATUS.irq_raised";
}

// Between the write that starts it and its first cycle STATUS says what it said before: nothing, or that the run before
// has ended.
TEST_F(Driver, WaitsForTheStart) {
  device_.set_start_delay(50);
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  int looks = 0;
  npu_.wait = [](intarsia_ethos_u*, void* context) { ++*static_cast<int*>(context); };
  npu_.wait_context = &looks;
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  EXPECT_GE(looks, 50) << "the end of the first run is not that of the second";
  npu_.start_limit = 20;
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_ERROR_DEVICE_START);
  device_.set_start_delay(0);
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
}

TEST_F(Driver, ADeviceWithoutAClockDoesNotStart) {
  npu_.start_limit = npu_.reset_limit = 20;
  device_.set_clock_stopped(true);
  EXPECT_EQ(run(payload({kStop})), INTARSIA_ERROR_DEVICE_START);
  device_.write(0xC, 0);  // RESET
  EXPECT_EQ(run(payload({kStop})), INTARSIA_ERROR_DEVICE_RESET);
  const intarsia_register_bus bus = device_.bus();
  intarsia_ethos_u other;
  EXPECT_EQ(intarsia_ethos_u_open_bus(&other, &bus), INTARSIA_ERROR_DEVICE_RESET);
  device_.set_clock_stopped(false);
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
}

TEST_F(Driver, PowerLostInTheMiddleHasAStatusAndTheNextRunWorks) {
  struct Plug {
    sim::Device* device;
    bool pulled = false;
  } plug{&device_};
  device_.set_busy_reads(10);
  npu_.wait_context = &plug;
  npu_.wait = [](intarsia_ethos_u*, void* context) {
    auto* it = static_cast<Plug*>(context);
    if (!it->pulled) it->device->lose_power();
    it->pulled = true;
  };
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_ERROR_DEVICE_POWER);
  EXPECT_EQ(npu_.power_losses, 1u);
  EXPECT_EQ(device_.read(0x24), npu_.protection) << "PROT";
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  EXPECT_EQ(npu_.power_losses, 1u);
}

TEST_F(Driver, PowerLostBetweenRunsIsMadeGood) {
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  device_.lose_power();
  EXPECT_EQ(run(payload(transfer()), {nullptr, data_}), INTARSIA_OK);
  EXPECT_EQ(npu_.power_losses, 1u);
}

TEST_F(Driver, APrivilegeThatIsNotGivenIsRefused) {
  device_.set_non_secure(true);
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK) << "still in the state that open left it in";
  device_.lose_power();
  EXPECT_EQ(run(payload({kStop})), INTARSIA_ERROR_DEVICE_PRIVILEGE);
  // A caller that is not secure opens it as what it gets.
  const intarsia_register_bus bus = device_.bus();
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu_, &bus), INTARSIA_OK);
  EXPECT_EQ(npu_.protection, 3u) << "privileged, not secure";
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
}

class FortyTwo final : public sim::CycleModel {
 public:
  uint64_t cycles() const override { return 42; }
  uint64_t events(uint32_t number) const override { return number == 0x30 ? 7 : 0; }
};

TEST_F(Driver, Counts) {
  device_.set_cycle_model([](const sim::Configuration&, std::span<const uint8_t>) {
    return std::make_unique<FortyTwo>();
  });
  npu_.counting = 1;
  npu_.events[2] = 0x30;  // MAC_ACTIVE
  ASSERT_EQ(run(payload({kStop})), INTARSIA_OK);
  ASSERT_EQ(run(payload({kStop})), INTARSIA_OK);
  EXPECT_EQ(npu_.cycles, 42u) << "of one run";
  EXPECT_EQ(npu_.event_counts[2], 7u);
  EXPECT_EQ(npu_.event_counts[0], 0u);
}

TEST(DriverOpen, KnowsItsDevices) {
  uint32_t registers[1024] = {};
  intarsia_ethos_u npu;
  EXPECT_EQ(intarsia_ethos_u_open(&npu, registers), INTARSIA_ERROR_DEVICE_ABSENT)
      << "nothing answers";
  EXPECT_EQ(intarsia_ethos_u_open(&npu, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);
  registers[0] = 0x10104201;
  registers[0x28 / 4] = 0x1807;
  EXPECT_EQ(intarsia_ethos_u_open(&npu, registers), INTARSIA_OK)
      << "memory-mapped registers of a U55-128";
  EXPECT_EQ(npu.axi_limits[0], 0x0F1F0000u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
