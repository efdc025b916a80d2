// The driver's hooks for an operating system, with a stand-in that records what it is asked.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/contract/npu_hooks.h"
#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/driver.h"

namespace {

// Nobody: the hooks behave as the runtime's own.
struct Rtos {
  std::vector<std::string> events;
  intarsia_ethos_u* npu = nullptr;
  bool is_taken = false;      // by another task
  bool has_interrupt = true;  // whether the wire of the NPU's interrupt is connected
  uint32_t signals = 0;       // that nobody has waited for yet
};
Rtos* rtos = nullptr;

}  // namespace

int32_t intarsia_npu_lock(intarsia_device*) {
  if (rtos == nullptr) return 0;
  rtos->events.emplace_back("lock");
  return rtos->is_taken ? 1 : 0;
}

void intarsia_npu_unlock(intarsia_device*) {
  if (rtos != nullptr) rtos->events.emplace_back("unlock");
}

// A semaphore on which the task blocks until the handler gives it, or the time is over.
int32_t intarsia_npu_wait(intarsia_device*, uint32_t patience_ms) {
  if (rtos == nullptr) return 0;
  if (rtos->has_interrupt) intarsia_ethos_u_interrupt(rtos->npu);
  const bool given = rtos->signals > 0;
  rtos->signals = 0;
  rtos->events.push_back("wait " + std::to_string(patience_ms) + (given ? ": given" : ": late"));
  return given ? 0 : 1;
}

void intarsia_npu_signal(intarsia_device* device) {
  if (rtos == nullptr) return;
  EXPECT_EQ(device, &rtos->npu->device);
  ++rtos->signals;
}

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

class DriverRtos : public ::testing::Test {
 protected:
  void SetUp() override {
    const intarsia_register_bus bus = device_.bus();
    ASSERT_EQ(intarsia_ethos_u_open_bus(&npu_, &bus), INTARSIA_OK);
    npu_.patience_ms = 20;
    rtos_.npu = &npu_;
    rtos = &rtos_;
  }
  void TearDown() override { rtos = nullptr; }
  // A payload for U55-128 of one command, OP_STOP.
  intarsia_status run() {
    alignas(16) static const uint32_t words[] = {0x31504F43, 0x00100001, 0x1807,      0x10060000, 5,
                                                 5,          5,          1 << 16 | 2, 0xFFFF0000};
    const intarsia_stream stream = {reinterpret_cast<const uint8_t*>(words), sizeof words, nullptr,
                                    0, nullptr};
    return npu_.device.run(&npu_.device, &stream, nullptr, 0);
  }

  sim::Device device_{*sim::find_configuration(std::string_view("ethos-u55-128"))};
  intarsia_ethos_u npu_ = {};
  Rtos rtos_;
};

TEST_F(DriverRtos, BlocksUntilTheInterrupt) {
  EXPECT_EQ(run(), INTARSIA_OK);
  EXPECT_EQ(rtos_.events, (std::vector<std::string>{"lock", "wait 20: given", "unlock"}));
  EXPECT_EQ(npu_.interrupts, 1u);
}

// A wire that is not connected, or an interrupt that was lost: the NPU is looked at once more.
TEST_F(DriverRtos, AWaitInVainIsNoErrorWhenTheRunHasEnded) {
  rtos_.has_interrupt = false;
  EXPECT_EQ(run(), INTARSIA_OK);
  EXPECT_EQ(rtos_.events, (std::vector<std::string>{"lock", "wait 20: late", "unlock"}));
}

TEST_F(DriverRtos, AWaitInVainEndsARunThatGoesOn) {
  rtos_.has_interrupt = false;
  device_.set_busy_reads(100);
  EXPECT_EQ(run(), INTARSIA_ERROR_DEVICE_TIMEOUT);
  EXPECT_EQ(rtos_.events.back(), "unlock") << "others get it";
  device_.set_busy_reads(1);
  EXPECT_EQ(run(), INTARSIA_OK);
}

TEST_F(DriverRtos, ADeviceOfAnotherTaskIsBusy) {
  rtos_.is_taken = true;
  EXPECT_EQ(run(), INTARSIA_ERROR_DEVICE_BUSY);
  EXPECT_EQ(rtos_.events, std::vector<std::string>{"lock"}) << "what is not had is not given back";
}

TEST_F(DriverRtos, TheDriversOwnWaitIsPreferred) {
  npu_.wait = [](intarsia_ethos_u*, void*) {};
  EXPECT_EQ(run(), INTARSIA_OK);
  EXPECT_EQ(rtos_.events, (std::vector<std::string>{"lock", "unlock"}));
}

// An interrupt that comes late says nothing of the run that is under way.
TEST_F(DriverRtos, AnInterruptOfBeforeIsNotCounted) {
  EXPECT_EQ(run(), INTARSIA_OK);
  const uint32_t before = npu_.interrupts;
  intarsia_ethos_u_interrupt(&npu_);
  EXPECT_EQ(npu_.interrupts, before);
  EXPECT_EQ(rtos_.signals, 0u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
