// A model's device over Arm's core driver: what it hands over, and what becomes of what goes wrong. The stand-in checks
// each argument.
#include "intarsia/targets/ethos_u/core_driver/core_driver.h"

#include <ethosu_driver.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/device.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
using testing::HasSubstr;
using testing::StrEq;

constexpr uint32_t kStop = 0xFFFF0000, kU55_128 = 0x1807, kArchitecture = 0x10060000;

std::vector<uint32_t> payload(const std::vector<uint32_t>& stream, uint32_t config = kU55_128,
                              uint32_t architecture = kArchitecture) {
  std::vector<uint32_t> words = {
      0x31504F43, 0x00100001, config, architecture,
      5,          5,          5,      static_cast<uint32_t>(stream.size()) << 16 | 2};
  words.insert(words.end(), stream.begin(), stream.end());
  return words;
}

// Moves 32 bytes of a region, from its beginning to byte 64.
std::vector<uint32_t> transfer(uint32_t region = 1) {
  return {region << 16 | 0x130, 0x4030, 0,    region << 16 | 0x131, 0x4031, 64, 0x4032, 32,
          0x00000010,           0x11,   kStop};
}

class CoreDriver : public testing::Test {
 protected:
  void SetUp() override {
    intarsia_ethos_u_stand_in_close();
    const intarsia_register_bus bus = device_.bus();
    ASSERT_EQ(intarsia_ethos_u_stand_in_open(&driver_, &bus), 0);
    ASSERT_EQ(intarsia_ethos_u_core_driver_open(&npu_, nullptr), INTARSIA_OK);
    regions_ = {{16, 16, 1, {}}, {96, 96, 2, {}}, {96, 96, 3, {}}};
    for (uint8_t i = 0; i < 32; ++i) data_[i] = i;
  }
  void TearDown() override { EXPECT_EQ(driver_.reservations, driver_.releases); }

  intarsia_status run(const std::vector<uint32_t>& words, std::vector<void*> bases) {
    std::copy(words.begin(), words.end(), code_);
    regions_.resize(std::max(bases.size(), size_t{3}));
    const intarsia_stream stream = {reinterpret_cast<const uint8_t*>(code_),
                                    static_cast<uint32_t>(4 * words.size()), constants_, 16,
                                    regions_.data()};
    return npu_.device.run(&npu_.device, &stream, bases.data(),
                           static_cast<uint32_t>(bases.size()));
  }
  intarsia_status run(const std::vector<uint32_t>& words) {
    return run(words, {constants_, data_});
  }

  alignas(16) uint32_t code_[64] = {};
  alignas(16) uint8_t constants_[16] = {};
  alignas(16) uint8_t data_[128] = {};
  alignas(16) uint8_t fast_[128] = {};
  std::vector<intarsia_region> regions_;
  sim::Device device_{*sim::find_configuration(std::string_view("ethos-u55-128"))};
  ethosu_driver driver_ = {};
  intarsia_ethos_u_core_driver npu_ = {};
};

TEST_F(CoreDriver, RunsAStreamOnAReservedNpu) {
  ASSERT_EQ(run(payload(transfer())), INTARSIA_OK) << driver_.complaint;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(data_[64 + i], i);
  EXPECT_EQ(run(payload(transfer())), INTARSIA_OK);
  EXPECT_EQ(driver_.calls, 2u);
  EXPECT_EQ(driver_.reservations, 2u);
}

TEST_F(CoreDriver, RefusesPayloadsOfOtherNpus) {
  const auto refused = [&](const std::vector<uint32_t>& words) {
    EXPECT_EQ(run(words), INTARSIA_ERROR_DEVICE_MISMATCH);
  };
  refused(payload({kStop}, 0x3008));                // 256 MACs
  refused(payload({kStop}, 0x10001807));            // of an Ethos-U65
  refused(payload({kStop}, 0x1817));                // another version of streams
  refused(payload({kStop}, kU55_128, 0x20060000));  // architecture 2
  refused(payload({kStop}, kU55_128, 0x10260000));  // architecture 1.2
  refused({kStop});
  refused({0x31504F43, 5, 5, 5});
  refused({});
  EXPECT_EQ(driver_.calls, 0u) << "the driver was not asked";
  EXPECT_EQ(run(payload({kStop})), INTARSIA_OK);
}

TEST_F(CoreDriver, SaysWhenTheDriverRefuses) {
  std::vector<uint32_t> words = payload(transfer());
  words.pop_back();
  EXPECT_EQ(run(words), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_THAT(driver_.complaint, StrEq("the payload ends within its stream"));
  EXPECT_EQ(npu_.result, -1);
  words = payload({kStop});
  words[0] = 1;
  EXPECT_EQ(run(words), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_THAT(driver_.complaint, HasSubstr("COP1"));
  words = payload({kStop});
  words[4] = 3;
  EXPECT_EQ(run(words), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_THAT(driver_.complaint, HasSubstr("does not know"));
  EXPECT_EQ(run(payload({kStop}, 0x1007)), INTARSIA_ERROR_DEVICE_FAULT) << "SHRAM of another size";
  words = payload({kStop});
  words.erase(words.begin() + 4);  // one NOP less
  EXPECT_EQ(run(words), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_THAT(driver_.complaint, HasSubstr("multiple of 16"));
}

TEST_F(CoreDriver, SaysWhenTheNpuFails) {
  driver_.calls_until_fault = 1;
  EXPECT_EQ(run(payload(transfer())), INTARSIA_OK);
  EXPECT_EQ(run(payload(transfer())), INTARSIA_ERROR_DEVICE_FAULT);
  driver_.calls_until_fault = -1;
  EXPECT_EQ(run(payload({0x3FF})), INTARSIA_ERROR_DEVICE_FAULT) << "no command";
  EXPECT_EQ(run(payload(transfer())), INTARSIA_OK) << "it was reset";
}

// What the simulated NPU reaches ends where the sizes say.
TEST_F(CoreDriver, SizesAreWhatTheStreamReaches) {
  regions_[1].needed = 95;
  EXPECT_EQ(run(payload(transfer())), INTARSIA_ERROR_DEVICE_FAULT);
  regions_[1].needed = 96;
  EXPECT_EQ(run(payload(transfer())), INTARSIA_OK);
  EXPECT_EQ(run(payload(transfer(2)), {constants_, data_, constants_}), INTARSIA_ERROR_DEVICE_FAULT)
      << "a base for the second time has no bytes";
}

TEST_F(CoreDriver, RefusesWhatTheNpuCannotReach) {
  EXPECT_EQ(run(payload({kStop}), {constants_, data_ + 8}), INTARSIA_ERROR_DEVICE_MEMORY);
  EXPECT_EQ(run(payload({kStop}), std::vector<void*>(9, data_)), INTARSIA_ERROR_DEVICE_MISMATCH);
  const std::vector<uint32_t> words = payload({kStop});
  std::copy(words.begin(), words.end(), code_ + 1);
  intarsia_stream stream = {reinterpret_cast<const uint8_t*>(code_ + 1),
                            static_cast<uint32_t>(4 * words.size()), constants_, 16,
                            regions_.data()};
  void* bases[] = {constants_, data_};
  EXPECT_EQ(npu_.device.run(&npu_.device, &stream, bases, 2), INTARSIA_ERROR_DEVICE_MEMORY);
  stream.regions = nullptr;
  stream.commands -= 4;
  EXPECT_EQ(npu_.device.run(&npu_.device, &stream, bases, 2), INTARSIA_ERROR_NULL_ARGUMENT);
}

// Arm's driver puts region 2 where it was told to, for all of its users.
TEST_F(CoreDriver, FastMemoryIsTheModelsOrNone) {
  const std::vector<void*> bases = {constants_, data_, fast_};
  EXPECT_EQ(run(payload(transfer(2)), bases), INTARSIA_OK);
  driver_.fast_memory = reinterpret_cast<uintptr_t>(data_);
  driver_.fast_memory_size = 128;
  EXPECT_EQ(run(payload(transfer(2)), bases), INTARSIA_ERROR_DEVICE_MEMORY);
  driver_.fast_memory = reinterpret_cast<uintptr_t>(fast_);
  EXPECT_EQ(run(payload(transfer(2)), bases), INTARSIA_OK);
  driver_.fast_memory_size = 64;
  EXPECT_EQ(run(payload(transfer(2)), bases), INTARSIA_ERROR_DEVICE_FAULT);
  // The constants keep the place of a region that is not used.
  EXPECT_EQ(run(payload(transfer()), {constants_, data_, constants_}), INTARSIA_OK);
}

TEST_F(CoreDriver, TakesTheNpuThatIsNamed) {
  sim::Device larger{*sim::find_configuration(std::string_view("ethos-u55-256"))};
  const intarsia_register_bus bus = larger.bus();
  ethosu_driver second = {};
  ASSERT_EQ(intarsia_ethos_u_stand_in_open(&second, &bus), 0);
  second.reserved = 1;
  npu_.driver = &second;
  EXPECT_EQ(run(payload(transfer(), 0x3008)), INTARSIA_OK) << second.complaint;
  EXPECT_EQ(run(payload(transfer())), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(second.calls, 1u);
  EXPECT_EQ(second.reservations + second.releases + driver_.calls, 0u);
  second.reserved = 0;
  EXPECT_EQ(run(payload(transfer(), 0x3008)), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_THAT(second.complaint, StrEq("the NPU is not reserved"));
}

TEST_F(CoreDriver, IsAbsentWhereNoneIsSetUp) {
  intarsia_ethos_u_stand_in_close();
  EXPECT_EQ(run(payload(transfer())), INTARSIA_ERROR_DEVICE_ABSENT);
  EXPECT_EQ(intarsia_ethos_u_core_driver_open(nullptr, nullptr), INTARSIA_ERROR_NULL_ARGUMENT);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
