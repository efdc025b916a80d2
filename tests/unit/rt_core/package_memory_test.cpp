// What a package says of memory: devices are told of their regions, and data caches are maintained around each stream.
#include <string>

#include <gtest/gtest.h>

#include "intarsia/contract/cache.h"
#include "intarsia/contract/package.h"
#include "rt_core/sample_package.h"

namespace {

// In the order of events: "clean 16 bytes at 32", "run", "invalidate 8 bytes at 0"; offsets in `observed`.
std::vector<std::string>* events = nullptr;
const uint8_t* observed = nullptr;

void note(const char* what, const void* begin, uint32_t bytes) {
  if (events != nullptr)
    events->push_back(std::string(what) + " " + std::to_string(bytes) + " bytes at " +
                      std::to_string(static_cast<const uint8_t*>(begin) - observed));
}

}  // namespace

// Instead of the runtime's, which are weak.
void intarsia_cache_clean(const void* begin, uint32_t bytes) {
  note("clean", begin, bytes);
}
void intarsia_cache_invalidate(void* begin, uint32_t bytes) {
  note("invalidate", begin, bytes);
}

namespace intarsia::test {
namespace {

struct RegionNotingDevice {
  intarsia_device device = {run};
  std::vector<intarsia_region> regions;
  bool knows_regions = false;

  static intarsia_status run(intarsia_device* device, const intarsia_stream* stream, void* const*,
                             uint32_t base_count) {
    auto* self = reinterpret_cast<RegionNotingDevice*>(device);
    self->knows_regions = stream->regions != nullptr;
    if (self->knows_regions) self->regions.assign(stream->regions, stream->regions + base_count);
    if (events != nullptr) events->emplace_back("run");
    return INTARSIA_ERROR_DEVICE_FAULT;  // memory changes hands all the same
  }
};

// Function 0 has constants, pool 2 and pool 0; function 1 pool 1 twice, the second region 48 bytes into it.
const PackageContract kContract = {
    7,
    {100, 64, 8},
    16,
    {{{33, 8, 90},
      {INTARSIA_MEMORY_CONSTANTS, INTARSIA_MEMORY_FAST, INTARSIA_MEMORY_MAIN},
      {{0, 16, 32}, {2, 0, 8}},
      {{0, 64, 16}}},
     {{64, 16}, {INTARSIA_MEMORY_MAIN, INTARSIA_MEMORY_MAIN}, {{1, 0, 64}}, {}},
     {}}};

class PackageMemory : public testing::Test {
 protected:
  void open(const PackageContract& contract) {
    memory_.emplace(write_package("kws", sample_streams(), contract));
    events = nullptr;
    ASSERT_EQ(intarsia_package_open(&package_, memory_->data(), memory_->size()), INTARSIA_OK);
    events = &events_;
    observed = block_;
  }
  void TearDown() override { events = nullptr; }
  intarsia_status run(uint32_t function) {
    void* pools[] = {block_, block_ + 200, block_ + 300};
    return intarsia_package_run(&package_, function, pools, 3, &noting_.device);
  }

  std::optional<AlignedBytes> memory_;
  intarsia_package package_ = {};
  RegionNotingDevice noting_;
  std::vector<std::string> events_;
  uint8_t block_[400] = {};
};

TEST_F(PackageMemory, DevicesAreToldOfTheirRegions) {
  open(kContract);
  run(0);
  ASSERT_EQ(noting_.regions.size(), 3u);
  EXPECT_EQ(noting_.regions[0].bytes, 33u);
  EXPECT_EQ(noting_.regions[0].memory, INTARSIA_MEMORY_CONSTANTS);
  EXPECT_EQ(noting_.regions[1].bytes, 8u);
  EXPECT_EQ(noting_.regions[1].memory, INTARSIA_MEMORY_FAST);
  EXPECT_EQ(noting_.regions[2].bytes, 100u);
  EXPECT_EQ(noting_.regions[2].needed, 90u);
  run(1);
  EXPECT_EQ(noting_.regions[1].bytes, 16u) << "to the end of the pool's block";
}

TEST_F(PackageMemory, CachesAreMaintainedAroundAStream) {
  open(kContract);
  EXPECT_EQ(run(0), INTARSIA_ERROR_DEVICE_FAULT);
  EXPECT_EQ(events_, (std::vector<std::string>{"clean 32 bytes at 16", "clean 8 bytes at 300",
                                               "run", "invalidate 16 bytes at 64"}));
  events_.clear();
  run(1);
  EXPECT_EQ(events_, (std::vector<std::string>{"clean 64 bytes at 200", "run"}))
      << "a stream without results for others";
}

TEST_F(PackageMemory, OpeningCleansThePackage) {
  open(kContract);
  observed = memory_->data();
  ASSERT_EQ(intarsia_package_open(&package_, memory_->data(), memory_->size()), INTARSIA_OK);
  EXPECT_EQ(events_,
            (std::vector<std::string>{"clean " + std::to_string(memory_->size()) + " bytes at 0"}));
}

// As packages were before they said so.
TEST_F(PackageMemory, WhatIsNotSaidIsTheWholePool) {
  open({7, {100, 64, 8}, 16, {}});
  run(1);
  EXPECT_FALSE(noting_.knows_regions);
  EXPECT_EQ(events_,
            (std::vector<std::string>{"clean 64 bytes at 200", "clean 16 bytes at 248", "run",
                                      "invalidate 64 bytes at 200", "invalidate 16 bytes at 248"}));
}

TEST_F(PackageMemory, WhatLiesOutsideOfItsPoolIsRefused) {
  const auto check = [&](const auto& change) {
    PackageContract contract = kContract;
    change(contract.memory);
    open(contract);
    const uint32_t blocks[] = {100, 64, 8};
    const intarsia_package_contract expected = {7, 3, blocks, 16};
    return intarsia_package_check(&package_, &expected);
  };
  using Memories = std::vector<StreamMemory>&;
  EXPECT_EQ(check([](Memories) {}), INTARSIA_OK);
  EXPECT_EQ(check([](Memories m) { m[0].region_bytes[2] = 101; }), INTARSIA_ERROR_PACKAGE_FORMAT);
  EXPECT_EQ(check([](Memories m) { m[0].region_bytes[0] = 34; }), INTARSIA_ERROR_PACKAGE_FORMAT)
      << "more constants than there are";
  EXPECT_EQ(check([](Memories m) { m[1].region_bytes[1] = 17; }), INTARSIA_ERROR_PACKAGE_FORMAT);
  EXPECT_EQ(check([](Memories m) { m[0].accessed[0].bytes = 85; }), INTARSIA_ERROR_PACKAGE_FORMAT);
  EXPECT_EQ(check([](Memories m) { m[0].results[0].offset = 0xFFFFFFF0; }),
            INTARSIA_ERROR_PACKAGE_FORMAT);
  EXPECT_EQ(check([](Memories m) { m[0].results[0].pool = 3; }), INTARSIA_ERROR_PACKAGE_FORMAT);
}

}  // namespace
}  // namespace intarsia::test
