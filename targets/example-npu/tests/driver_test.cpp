// The driver over the simulated device: what it refuses, what it reports, and that results arrive.
#include "intarsia/targets/example_npu/driver.h"

#include <array>

#include <gtest/gtest.h>

#include "intarsia/targets/example_npu/device.h"
#include "intarsia/targets/example_npu/simulator.h"
#include "stream.h"

namespace intarsia::test::example_npu {
namespace {

using simulators::example_npu::Device;
using simulators::example_npu::Window;

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    const intarsia_register_bus bus = device_.bus();
    ASSERT_EQ(intarsia_example_npu_open_bus(&npu_, &bus), INTARSIA_OK);
  }
  // The stream is copied to where the device can read it.
  intarsia_status run(const std::vector<uint8_t>& bytes, const std::vector<void*>& bases) {
    std::copy(bytes.begin(), bytes.end(), code_.bytes);
    const intarsia_stream stream = {code_.bytes, static_cast<uint32_t>(bytes.size()), nullptr, 0};
    return npu_.device.run(&npu_.device, &stream, bases.data(),
                           static_cast<uint32_t>(bases.size()));
  }
  std::vector<uint8_t> good() const { return stream({48}, {command("mul", small_mul())}); }

  Block data_, code_;
  Device device_;
  intarsia_example_npu npu_ = {};
};

TEST_F(Driver, RunsAStream) {
  for (uint8_t i = 0; i < 16; ++i) {
    data_.bytes[i] = i;
    data_.bytes[16 + i] = 10;
  }
  ASSERT_EQ(run(good(), {data_.bytes}), INTARSIA_OK);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(data_.bytes[32 + i], (10 * i + 2) / 4) << i;
  EXPECT_EQ(data_.bytes[48], 0) << "nothing behind the output is touched";
}

TEST_F(Driver, RefusesStreamsForOtherDevices) {
  EXPECT_EQ(run({}, {}), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(run(command("begin"), {}), INTARSIA_ERROR_DEVICE_MISMATCH) << "cut short";
  EXPECT_EQ(run(good(), {data_.bytes, data_.bytes}), INTARSIA_ERROR_DEVICE_MISMATCH)
      << "two bases for one region";
  std::vector<uint8_t> bytes = good();
  bytes[0] = 77;
  EXPECT_EQ(run(bytes, {data_.bytes}), INTARSIA_ERROR_DEVICE_MISMATCH) << "no begin";
  bytes = good();
  bytes[1] = 9;
  EXPECT_EQ(run(bytes, {data_.bytes}), INTARSIA_ERROR_DEVICE_MISMATCH)
      << "another version of streams";
  bytes = good();
  bytes[2] = 32;
  EXPECT_EQ(run(bytes, {data_.bytes}), INTARSIA_ERROR_DEVICE_MISMATCH) << "a device of 32 lanes";
}

TEST_F(Driver, RefusesBasesTheDeviceCannotReach) {
  EXPECT_EQ(run(good(), {nullptr}), INTARSIA_ERROR_DEVICE_MEMORY);
  EXPECT_EQ(run(good(), {data_.bytes + 8}), INTARSIA_ERROR_DEVICE_MEMORY);
}

TEST_F(Driver, ReportsWhatTheDeviceFoundAndWhere) {
  Fields beyond = small_mul();
  beyond["vectors"] = 2;  // the region has 48 bytes
  EXPECT_EQ(run(stream({48}, {command("mul", small_mul()), command("mul", beyond)}), {data_.bytes}),
            INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_EQ(npu_.fault_cause, 5u) << "OutOfRegion";
  EXPECT_EQ(npu_.fault_command, 2u);
  EXPECT_EQ(run(good(), {data_.bytes}), INTARSIA_OK) << "a fault does not stay";
}

TEST_F(Driver, GivesUpOnADeviceThatStaysBusy) {
  device_.set_busy_reads(1000);
  npu_.poll_limit = 100;
  EXPECT_EQ(run(good(), {data_.bytes}), INTARSIA_ERROR_DEVICE_TIMEOUT);
  device_.set_busy_reads(3);
  EXPECT_EQ(run(good(), {data_.bytes}), INTARSIA_OK) << "it was reset";
}

TEST(DriverOpen, NeedsTheIdentityInTheRegisters) {
  alignas(4) std::array<uint32_t, 64> registers = {};
  intarsia_example_npu npu = {};
  EXPECT_EQ(intarsia_example_npu_open(&npu, registers.data()), INTARSIA_ERROR_DEVICE_ABSENT);
  EXPECT_EQ(intarsia_example_npu_open(nullptr, registers.data()), INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_example_npu_open(&npu, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_example_npu_open_bus(&npu, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);

  intarsia_register_bus bus = intarsia_example_npu_simulator();
  registers[0] = bus.read(bus.context, 0);
  registers[1] = bus.read(bus.context, 4) + 0x10000;
  EXPECT_EQ(intarsia_example_npu_open(&npu, registers.data()), INTARSIA_ERROR_DEVICE_ABSENT)
      << "another revision";
  registers[1] = bus.read(bus.context, 4);
  EXPECT_EQ(intarsia_example_npu_open(&npu, registers.data()), INTARSIA_OK);
}

TEST(DriverMmio, WritesTheAddressesAndStartsLast) {
  alignas(4) std::array<uint32_t, 64> registers = {};
  intarsia_register_bus bus = intarsia_example_npu_simulator();
  registers[0] = bus.read(bus.context, 0);
  registers[1] = bus.read(bus.context, 4);
  intarsia_example_npu npu = {};
  ASSERT_EQ(intarsia_example_npu_open(&npu, registers.data()), INTARSIA_OK);
  Block code, data;
  const std::vector<uint8_t> bytes = stream({48}, {command("mul", small_mul())});
  std::copy(bytes.begin(), bytes.end(), code.bytes);
  const intarsia_stream stream = {code.bytes, static_cast<uint32_t>(bytes.size()), nullptr, 0};
  void* const bases[] = {data.bytes};
  registers[3] = 2;  // done
  EXPECT_EQ(npu.device.run(&npu.device, &stream, bases, 1), INTARSIA_OK);
  const auto address = [&](size_t low) {
    return registers[low] | uint64_t{registers[low + 1]} << 32;
  };
  EXPECT_EQ(address(0x20 / 4), reinterpret_cast<uintptr_t>(code.bytes));
  EXPECT_EQ(address(0x40 / 4), reinterpret_cast<uintptr_t>(data.bytes));
  EXPECT_EQ(registers[0x1C / 4], bytes.size());
  EXPECT_EQ(registers[2], 1u) << "the last write to the control register is start";
}

}  // namespace
}  // namespace intarsia::test::example_npu
