// What a program does once its package is open.
#include <gtest/gtest.h>

#include <memory>

#include "rt_executor/sample_program.h"

namespace intarsia::test {
namespace {

const std::vector<int8_t> kInput = {0, 1, 2, 3, -4, 5, 6, 7, -8, 9, 10, 11, 12, 13, 14, -15};

class ExecutorRun : public ::testing::Test {
 protected:
  intarsia_status open(const PackageProgram& program,
                       const std::vector<CommandStream>& streams = {}) {
    package_ =
        std::make_unique<AlignedBytes>(sample_package_of(program, {1, {64, 32}, 16}, streams));
    return intarsia_executor_open(&executor_, package_->data(), package_->size(), &image_.image,
                                  &refusal_);
  }
  std::vector<int8_t> run() {
    intarsia_executor_tensor in{}, out{};
    EXPECT_EQ(intarsia_executor_input(&executor_, 0, &in), INTARSIA_OK);
    EXPECT_EQ(in.bytes, kElements);
    std::memcpy(in.data, kInput.data(), in.bytes);
    status_ = intarsia_executor_run(&executor_);
    EXPECT_EQ(intarsia_executor_output(&executor_, 0, &out), INTARSIA_OK);
    const auto* bytes = static_cast<const int8_t*>(out.data);
    return {bytes, bytes + out.bytes};
  }

  SampleImage image_;
  std::unique_ptr<AlignedBytes> package_;
  intarsia_executor executor_{};
  intarsia_refusal refusal_{};
  intarsia_status status_ = INTARSIA_OK;
};

TEST_F(ExecutorRun, LoopsBranchesAndState) {
  ASSERT_EQ(open(sample_program()), INTARSIA_OK);
  EXPECT_EQ(run(), expected_output(kInput));
  EXPECT_EQ(status_, INTARSIA_OK);
  EXPECT_EQ(image_.ddr.data()[16], 1) << "copied when it was opened";
}

TEST_F(ExecutorRun, StateGoesOnAndIsReset) {
  ASSERT_EQ(open(sample_program()), INTARSIA_OK);
  const std::vector<int8_t> first = run();
  EXPECT_NE(run(), first);
  ASSERT_EQ(intarsia_executor_reset(&executor_), INTARSIA_OK);
  EXPECT_EQ(run(), first);
}

TEST_F(ExecutorRun, TensorsByIndex) {
  EXPECT_EQ(intarsia_executor_input_count(&executor_), 0u) << "nothing is open";
  EXPECT_EQ(intarsia_executor_run(&executor_), INTARSIA_ERROR_NOT_INITIALISED);
  ASSERT_EQ(open(sample_program()), INTARSIA_OK);
  EXPECT_EQ(intarsia_executor_input_count(&executor_), 1u);
  EXPECT_EQ(intarsia_executor_output_count(&executor_), 1u);
  intarsia_executor_tensor tensor{};
  EXPECT_EQ(intarsia_executor_input(&executor_, 1, &tensor), INTARSIA_ERROR_BAD_INDEX);
  ASSERT_EQ(intarsia_executor_output(&executor_, 0, &tensor), INTARSIA_OK);
  EXPECT_STREQ(tensor.name, "out");
  EXPECT_EQ(tensor.data, image_.sram.data() + 16);
}

// A device that adds one to the first byte of its region, or fails.
struct CountingDevice {
  intarsia_device device{run};
  intarsia_status answer = INTARSIA_OK;
  static intarsia_status run(intarsia_device* device, const intarsia_stream*, void* const* bases,
                             uint32_t) {
    ++*static_cast<uint8_t*>(bases[0]);
    return reinterpret_cast<CountingDevice*>(device)->answer;
  }
};

TEST_F(ExecutorRun, StreamsRunOnDevices) {
  CountingDevice device;
  const intarsia_executor_device devices[] = {{"npu -macs=64", nullptr},
                                              {"npu -macs=128", &device.device}};
  image_.image.devices = devices;
  image_.image.device_count = 2;
  PackageProgram program = sample_program();
  program.devices = {"npu -macs=128"};
  program.code = {INTARSIA_PROGRAM_STREAM | 2u << 8, 0, 0};
  CommandStream stream;
  stream.func = "f";
  stream.device = "npu";
  stream.target = "npu -macs=128";
  stream.commands = {1, 2, 3, 4};
  stream.regions = {{StreamRegion::Kind::Pool, 0, 16}};
  ASSERT_EQ(open(program, {stream}), INTARSIA_OK);
  image_.sram.data()[16] = 41;
  EXPECT_EQ(run()[0], 42);
  device.answer = INTARSIA_ERROR_DEVICE_FAULT;
  run();
  EXPECT_EQ(status_, INTARSIA_ERROR_DEVICE_FAULT);
}

}  // namespace
}  // namespace intarsia::test
