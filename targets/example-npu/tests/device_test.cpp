// The simulated device against streams that are wrong in every way: it names the fault, and touches
// nothing outside of the memory it was given.
#include "intarsia/targets/example_npu/device.h"

#include <random>

#include <gtest/gtest.h>

#include "intarsia/targets/example_npu/execute.h"
#include "stream.h"

namespace intarsia::test::example_npu {
namespace {

using simulators::example_npu::Fault;
using simulators::example_npu::Memory;
using simulators::example_npu::Outcome;
using simulators::example_npu::Program;
using simulators::example_npu::Window;

class SimulatedDevice : public testing::Test {
 protected:
  uint64_t address(const Block& block) const { return reinterpret_cast<uintptr_t>(block.bytes); }

  Outcome outcome(const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), code_.bytes);
    const Window windows[] = {{address(code_), bytes.size(), false},
                              {address(data_), sizeof data_.bytes, true}};
    Program program{address(code_), static_cast<uint32_t>(bytes.size()), {}};
    program.bases.fill(address(data_));
    return execute(Memory(std::span(windows)), program);
  }
  Fault fault(const std::vector<uint8_t>& bytes) { return outcome(bytes).fault; }
  Fault fault_of(const std::string& name, Fields fields, const std::string& changed,
                 int64_t value) {
    fields[changed] = value;
    return fault(stream({4096}, {command(name, fields)}));
  }

  Block code_, data_;
};

Fields small_pool() {
  return {{"offset_out", 1024}, {"in_height", 4},       {"in_width", 4},      {"out_height", 2},
          {"out_width", 2},     {"channel_vectors", 1}, {"low", -128},        {"high", 127},
          {"filter_height", 2}, {"filter_width", 2},    {"stride_height", 2}, {"stride_width", 2}};
}

TEST_F(SimulatedDevice, RunsWhatIsRight) {
  EXPECT_EQ(fault(stream({}, {})), Fault::None);
  EXPECT_EQ(fault(stream({4096}, {command("mul", small_mul()), command("max_pool", small_pool())})),
            Fault::None);
  EXPECT_GT(outcome(stream({4096}, {command("max_pool", small_pool())})).cycles, 0u);
}

TEST_F(SimulatedDevice, StreamsBeginAndEnd) {
  EXPECT_EQ(fault({}), Fault::StreamFormat);
  EXPECT_EQ(fault(command("begin")), Fault::StreamFormat);
  std::vector<uint8_t> bytes = stream({4096}, {command("mul", small_mul())});
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(fault(bytes), Fault::StreamFormat);
  bytes.resize(bytes.size() - 47);
  EXPECT_EQ(fault(bytes), Fault::StreamFormat) << "the count in begin is another one";
  EXPECT_EQ(fault(stream({}, {command("end")})), Fault::StreamFormat);
  EXPECT_EQ(fault(stream({}, {command("begin")})), Fault::StreamFormat);
}

TEST_F(SimulatedDevice, UnknownCommandsAndStrayBits) {
  std::vector<uint8_t> unknown = command("mul", small_mul());
  unknown[0] = 200;
  EXPECT_EQ(fault(stream({4096}, {unknown})), Fault::UnknownCommand);
  std::vector<uint8_t> stray = command("mul", small_mul());
  stray.back() = 0x80;
  const Outcome result = outcome(stream({4096}, {command("mul", small_mul()), stray}));
  EXPECT_EQ(result.fault, Fault::UnknownCommand);
  EXPECT_EQ(result.command, 2u);
}

TEST_F(SimulatedDevice, OperandsStayInTheirRegions) {
  EXPECT_EQ(fault_of("mul", small_mul(), "region_b", 1), Fault::OutOfRegion);
  EXPECT_EQ(fault_of("mul", small_mul(), "offset_a", 4096), Fault::OutOfRegion);
  EXPECT_EQ(fault_of("mul", small_mul(), "offset_a", 0xFFFFFFF0), Fault::OutOfRegion);
  EXPECT_EQ(fault_of("mul", small_mul(), "vectors", 0xFFFFFFFF), Fault::OutOfRegion);
  EXPECT_EQ(fault_of("mul", small_mul(), "offset_out", 4080), Fault::None) << "the last vector";
  EXPECT_EQ(fault_of("max_pool", small_pool(), "channel_vectors", 17), Fault::OutOfRegion);
  EXPECT_EQ(fault_of("mul", small_mul(), "offset_b", 8), Fault::Misaligned);
  EXPECT_EQ(fault(stream({1 << 20},
                         {command("mul", {{"offset_out", 1 << 16}, {"vectors", 1}, {"high", 1}})})),
            Fault::BusError)
      << "the stream may, but there is no memory";
}

TEST_F(SimulatedDevice, OperandsAreChecked) {
  EXPECT_EQ(fault_of("mul", small_mul(), "vectors", 0), Fault::BadOperand);
  Fields empty_clamp = small_mul();
  empty_clamp["high"] = 5;
  EXPECT_EQ(fault_of("mul", empty_clamp, "low", 6), Fault::BadOperand);
  for (const char* field : {"in_height", "in_width", "out_height", "out_width", "channel_vectors",
                            "filter_height", "filter_width", "stride_height", "stride_width"})
    EXPECT_EQ(fault_of("max_pool", small_pool(), field, 0), Fault::BadOperand) << field;
  EXPECT_EQ(fault_of("max_pool", small_pool(), "pad_top", 2), Fault::BadOperand)
      << "a window all padding";
  EXPECT_EQ(fault_of("max_pool", small_pool(), "out_height", 3), Fault::BadOperand)
      << "a window behind the image";
}

TEST_F(SimulatedDevice, PoolsWithPaddingAndClamp) {
  for (int i = 0; i < 16; ++i)
    for (int channel = 0; channel < 16; ++channel)
      data_.bytes[16 * i + channel] = static_cast<uint8_t>(i - 8);
  Fields pool = small_pool();
  pool["filter_height"] = pool["filter_width"] = 3;
  pool["pad_top"] = pool["pad_left"] = 1;
  pool["high"] = 6;
  ASSERT_EQ(fault(stream({4096}, {command("max_pool", pool)})), Fault::None);
  const auto at = [&](int pixel) {
    return static_cast<int8_t>(data_.bytes[1024 + 16 * pixel + 5]);
  };
  EXPECT_EQ(at(0), 5 - 8);
  EXPECT_EQ(at(1), 7 - 8);
  EXPECT_EQ(at(2), 13 - 8);
  EXPECT_EQ(at(3), 6) << "7, clamped";
}

TEST_F(SimulatedDevice, GarbageIsHarmless) {
  std::mt19937 random(1);
  const auto byte = [&] { return static_cast<uint8_t>(random()); };
  int faults[8] = {};
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes =
        stream({4096, 256}, {command("mul", small_mul()), command("max_pool", small_pool()),
                             command("add", {{"offset_out", 64}, {"vectors", 2}, {"high", 9}})});
    if (round % 3 == 0) {
      for (uint8_t& b : bytes) b = byte();
    } else {
      for (unsigned n = random() % 8 + 1; n > 0; --n) bytes[random() % bytes.size()] = byte();
    }
    ++faults[static_cast<int>(fault(bytes))];
  }
  for (int cause = 0; cause < 7; ++cause)
    EXPECT_GT(faults[cause], 0) << "cause " << cause << " was never reached";
}

}  // namespace
}  // namespace intarsia::test::example_npu
