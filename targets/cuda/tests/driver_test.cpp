// What the driver refuses, and what it says where a library, a GPU or a kernel is not what it should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "kinds.h"
#include "support/operators_on_devices.h"

namespace intarsia::test::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr size_t kRegionCount = 2, kCopiesIn = 4, kLaunches = 6, kThreads = 9, kProgram = 10,
                 kProgramBytes = 11, kHeader = 12;

class Driver : public StandIn {
 protected:
  // A sum, as a stream without constants: one kernel, one memory.
  Driver() {
    const TargetRegistry registry = make_registry();
    const auto model =
        compile_module(parsed_graph(R"(intarsia.graph sum
func @main(%0) -> (%1) {
  %0 a: i8[1,16] q(0.1:5)
  %1 doubled: i8[1,16] q(0.3:9)
  add twice(%0, %0) -> (%1)
}
entry @main
)"),
                       registry, parsed_target(registry, "c + cuda"), options_with_ram());
    INTARSIA_CHECK(model.ok(), model.ok() ? "" : model.error().to_string());
    commands_ = model->program().emitted.streams.at(0).commands;
  }
  uint32_t word(size_t index) const {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value |= static_cast<uint32_t>(commands_[4 * index + i]) << 8 * i;
    return value;
  }
  intarsia_status run_with(OpenDevice& device, size_t index, uint32_t value) {
    std::vector<uint8_t> changed = commands_;
    for (size_t i = 0; i < 4; ++i) changed[4 * index + i] = static_cast<uint8_t>(value >> 8 * i);
    return device.run(changed, bases_, 1);
  }
  static std::string said(auto&& act) {
    CaptureStderr();
    act();
    return GetCapturedStderr();
  }

  std::vector<uint8_t> commands_;
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(4096);
  void* bases_[1] = {memory_.data()};
};

TEST_F(Driver, RunsAStreamAndReleasesAllThatItTook) {
  OpenDevice device;
  ASSERT_TRUE(device.answers);
  EXPECT_EQ(device.run(commands_, bases_, 1), INTARSIA_OK);
  const intarsia_stand_in_counts counts = seen();
  EXPECT_EQ(counts.modules, 1);
  EXPECT_EQ(counts.programs, 0) << "of the compiler, once there is PTX";
  EXPECT_EQ(device.run(commands_, bases_, 1), INTARSIA_OK);
  EXPECT_EQ(seen().modules, 1) << "a program is loaded once";
  EXPECT_EQ(seen().allocations, counts.allocations) << "memory is kept";
  device.close();
  expect_nothing_left();
}

TEST_F(Driver, RefusesStreamsThatAreNotItsOwnBeforeItsLibraryDoes) {
  OpenDevice device;
  ASSERT_TRUE(device.answers);
  EXPECT_EQ(device.run(std::vector<uint8_t>(8), bases_, 1), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(device.run(commands_, bases_, 0), INTARSIA_ERROR_DEVICE_MISMATCH);
  for (const auto& [index, value] :
       std::vector<std::pair<size_t, uint32_t>>{{0, 1},
                                                {1, 9},
                                                {kRegionCount, 9},
                                                {3, 7},
                                                {kCopiesIn, 0x40000000},
                                                {5, 0xFFFFFFFF},
                                                {kThreads, 0},
                                                {kThreads, 1025},
                                                {kProgram, 0xFFFFFFF0},
                                                {kProgramBytes, 0},
                                                {kProgramBytes, 0xFFFFFFFF},
                                                {kProgramBytes, word(kProgramBytes) - 1}})
    EXPECT_EQ(run_with(device, index, value), INTARSIA_ERROR_DEVICE_MISMATCH)
        << "word " << index << " = " << value;
  const size_t copy = kHeader + word(kRegionCount), launch = copy + 3 * (word(4) + word(5));
  for (const auto& [index, value] :
       std::vector<std::pair<size_t, uint32_t>>{{copy, 3},
                                                {copy + 1, 0xFFFFFFFF},
                                                {copy + 2, 0x10000000},
                                                {launch + 1, 0},
                                                {launch + 1, 0x80000000},
                                                {launch + 4, 1000000},
                                                {launch + 5, 8},
                                                {launch + 6, 0xFFFFFF}})
    EXPECT_EQ(run_with(device, index, value), INTARSIA_ERROR_DEVICE_MISMATCH)
        << "word " << index << " = " << value;
  EXPECT_EQ(run_with(device, kLaunches, 1000000), INTARSIA_ERROR_DEVICE_MISMATCH);
  device.close();
  expect_nothing_left();
}

TEST_F(Driver, SaysThatThereIsNoDriver) {
  setenv("INTARSIA_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_THAT(said([] { EXPECT_FALSE(OpenDevice().answers); }),
              HasSubstr("the CUDA driver is not there (libcuda.so.1)"));
}

TEST_F(Driver, SaysThatALibraryLacksAFunction) {
  setenv("INTARSIA_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_THAT(said([] { EXPECT_FALSE(OpenDevice().answers); }),
              HasSubstr("cuInit is missing in the library"));
}

TEST_F(Driver, SaysThatThereIsNoGpu) {
  setenv("INTARSIA_STAND_IN_WITHOUT_GPU", "1", 1);
  EXPECT_THAT(said([] { EXPECT_FALSE(OpenDevice().answers); }), HasSubstr("no GPU answers"));
  unsetenv("INTARSIA_STAND_IN_WITHOUT_GPU");
}

TEST_F(Driver, SaysThatThereIsNoCompiler) {
  OpenDevice device;
  setenv("INTARSIA_NVRTC", "/nowhere/libnvrtc.so", 1);
  EXPECT_THAT(
      said([&] { EXPECT_EQ(device.run(commands_, bases_, 1), INTARSIA_ERROR_DEVICE_FAULT); }),
      HasSubstr("the compiler of CUDA C is not there (libnvrtc.so)"));
}

TEST_F(Driver, ShowsWhatTheCompilerSays) {
  OpenDevice device;
  std::copy_n("unknown_type", 12, commands_.begin() + static_cast<ptrdiff_t>(word(kProgram)));
  EXPECT_THAT(
      said([&] { EXPECT_EQ(device.run(commands_, bases_, 1), INTARSIA_ERROR_DEVICE_FAULT); }),
      HasSubstr("unknown_type"));
  EXPECT_EQ(seen().programs, 0);
}

TEST_F(Driver, SaysThatAKernelIsNotInTheProgram) {
  OpenDevice device;
  const size_t launch = kHeader + word(kRegionCount) + 3 * (word(4) + word(5));
  EXPECT_THAT(said([&] { EXPECT_EQ(run_with(device, launch, 77), INTARSIA_ERROR_DEVICE_FAULT); }),
              HasSubstr("cuModuleGetFunction failed with error 500"));
}

}  // namespace
}  // namespace intarsia::test::cuda
