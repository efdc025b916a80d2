// Running: the device gets the function's stream and the bases of its regions.
#include <gtest/gtest.h>

#include "intarsia/contract/package.h"
#include "intarsia/core/register_bus.h"
#include "rt_core/sample_package.h"

namespace intarsia::test {
namespace {

// Notes what it is asked to run.
struct NotingDevice {
  intarsia_device device = {run};
  intarsia_stream stream = {};
  std::vector<void*> bases;
  int runs = 0;
  intarsia_status answer = INTARSIA_OK;

  static intarsia_status run(intarsia_device* device, const intarsia_stream* stream,
                             void* const* bases, uint32_t base_count) {
    auto* self = reinterpret_cast<NotingDevice*>(device);
    self->stream = *stream;
    self->bases.assign(bases, bases + base_count);
    ++self->runs;
    return self->answer;
  }
};

class PackageRun : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(intarsia_package_open(&package_, memory_.data(), memory_.size()), INTARSIA_OK);
  }
  intarsia_status run(uint32_t function, const std::vector<void*>& pools) {
    return intarsia_package_run(&package_, function, pools.data(),
                                static_cast<uint32_t>(pools.size()), &noting_.device);
  }

  AlignedBytes memory_{write_package("kws", sample_streams())};
  intarsia_package package_ = {};
  NotingDevice noting_;
  uint8_t pool_[3] = {};
};

TEST_F(PackageRun, BindsConstantsAndPools) {
  ASSERT_EQ(run(0, {&pool_[0], nullptr, &pool_[2]}), INTARSIA_OK);
  EXPECT_EQ(noting_.runs, 1);
  const std::vector<void*> expected = {const_cast<uint8_t*>(noting_.stream.constants), &pool_[2],
                                       &pool_[0]};
  EXPECT_EQ(noting_.bases, expected);
  EXPECT_EQ(noting_.stream.command_bytes, 75u);
  EXPECT_EQ(noting_.stream.commands[2], 14);
  EXPECT_EQ(noting_.stream.constants[1], 254);
}

TEST_F(PackageRun, ARegionMayBeginInsideOfItsPool) {
  uint8_t pool[64];
  ASSERT_EQ(run(1, {nullptr, pool}), INTARSIA_OK);
  EXPECT_EQ(noting_.bases, (std::vector<void*>{pool, pool + 48}));
}

TEST_F(PackageRun, FunctionWithoutRegionsAndConstants) {
  ASSERT_EQ(run(2, {}), INTARSIA_OK);
  EXPECT_TRUE(noting_.bases.empty());
  EXPECT_EQ(noting_.stream.constants, nullptr);
  EXPECT_EQ(noting_.stream.command_bytes, 0u);
}

TEST_F(PackageRun, PassesTheDevicesAnswerOn) {
  noting_.answer = INTARSIA_ERROR_DEVICE_FAULT;
  EXPECT_EQ(run(2, {}), INTARSIA_ERROR_DEVICE_FAULT);
}

TEST_F(PackageRun, RefusesWhatCannotBeBound) {
  EXPECT_EQ(run(3, {}), INTARSIA_ERROR_BAD_INDEX) << "three functions there are";
  EXPECT_EQ(run(0, {&pool_[0], &pool_[1]}), INTARSIA_ERROR_BAD_INDEX) << "pool 2 is not handed in";
  EXPECT_EQ(run(0, {&pool_[0], &pool_[1], nullptr}), INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_package_run(&package_, 1, nullptr, 3, &noting_.device),
            INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_package_run(&package_, 2, nullptr, 0, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_package_run(nullptr, 2, nullptr, 0, &noting_.device),
            INTARSIA_ERROR_NULL_ARGUMENT);
  const intarsia_package closed = {nullptr, 0, 0};
  EXPECT_EQ(intarsia_package_run(&closed, 0, nullptr, 0, &noting_.device),
            INTARSIA_ERROR_NOT_INITIALISED);
  EXPECT_EQ(noting_.runs, 0);
}

// sample_streams() has regions in pools 0 to 2, one of them 48 bytes into pool 1.
intarsia_status check(const PackageContract& written, const std::vector<uint32_t>& blocks,
                      uint32_t model_id = 7, uint32_t alignment = 16) {
  const AlignedBytes memory(write_package("kws", sample_streams(), written));
  intarsia_package package;
  EXPECT_EQ(intarsia_package_open(&package, memory.data(), memory.size()), INTARSIA_OK);
  const intarsia_package_contract contract = {model_id, static_cast<uint32_t>(blocks.size()),
                                              blocks.data(), alignment};
  return intarsia_package_check(&package, &contract);
}

TEST(PackageCheck, BlocksAreLargeEnough) {
  const PackageContract written = {7, {100, 64, 8}, 16};
  EXPECT_EQ(check(written, {100, 64, 8}), INTARSIA_OK);
  EXPECT_EQ(check(written, {200, 65, 8, 12}), INTARSIA_OK) << "it needs less than there is";
  EXPECT_EQ(check(written, {99, 64, 8}), INTARSIA_ERROR_PACKAGE_MEMORY);
  EXPECT_EQ(check(written, {100, 64, 7}), INTARSIA_ERROR_PACKAGE_MEMORY);
  EXPECT_EQ(check(written, {100, 64}), INTARSIA_ERROR_PACKAGE_MEMORY) << "no block for pool 2";
  EXPECT_EQ(check(written, {100, 64, 8}, 7, 8), INTARSIA_ERROR_PACKAGE_MEMORY);
  EXPECT_EQ(check(written, {100, 64, 8}, 8), INTARSIA_ERROR_PACKAGE_MODEL);
  EXPECT_EQ(check({}, {100, 64, 8}), INTARSIA_ERROR_PACKAGE_MODEL) << "bound to nothing";
}

TEST(PackageCheck, RegionsBeginWithinTheirPools) {
  EXPECT_EQ(check({7, {100, 48, 8}, 16}, {100, 64, 8}), INTARSIA_OK);
  EXPECT_EQ(check({7, {100, 47, 8}, 16}, {100, 64, 8}), INTARSIA_ERROR_PACKAGE_FORMAT);
  EXPECT_EQ(check({7, {100, 64}, 16}, {100, 64, 8}), INTARSIA_ERROR_PACKAGE_FORMAT)
      << "a region in a pool the package does not speak of";
}

TEST_F(PackageRun, ChecksArguments) {
  const intarsia_package_contract contract = {0, 1, nullptr, 16};
  EXPECT_EQ(intarsia_package_check(&package_, &contract), INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_package_check(&package_, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);
  const intarsia_package closed = {nullptr, 0, 0};
  const intarsia_package_contract none = {0, 0, nullptr, 16};
  EXPECT_EQ(intarsia_package_check(&closed, &none), INTARSIA_ERROR_NOT_INITIALISED);
}

TEST(MmioBus, ReadsAndWritesWordsAtByteOffsets) {
  uint32_t registers[4] = {10, 11, 12, 13};
  const rt::MmioBus bus(registers);
  EXPECT_EQ(bus.read(8), 12u);
  bus.write(4, 99);
  EXPECT_EQ(registers[1], 99u);
  EXPECT_EQ(registers[0], 10u);
}

TEST(CallbackBus, HandsTheContextOn) {
  std::vector<uint32_t> seen;
  const intarsia_register_bus functions = {
      [](void* context, uint32_t offset) {
        static_cast<std::vector<uint32_t>*>(context)->push_back(offset);
        return offset + 1;
      },
      [](void* context, uint32_t offset, uint32_t value) {
        static_cast<std::vector<uint32_t>*>(context)->insert(
            static_cast<std::vector<uint32_t>*>(context)->end(), {offset, value});
      },
      &seen};
  const rt::CallbackBus bus(functions);
  EXPECT_EQ(bus.read(12), 13u);
  bus.write(16, 5);
  EXPECT_EQ(seen, (std::vector<uint32_t>{12, 16, 5}));
}

}  // namespace
}  // namespace intarsia::test
