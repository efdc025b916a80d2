// The numbers the core knows by heart are those of schema/package.fbs.
#include "intarsia/core/package_layout.h"

#include <cstddef>

#include <gtest/gtest.h>

#include "package_format/package_generated.h"

namespace intarsia::rt {
namespace {

constexpr uint32_t slot(uint32_t vtable_offset) {
  return (vtable_offset - 4) / 2;
}

TEST(PackageLayout, SlotsAreThoseOfTheSchema) {
  EXPECT_EQ(kPackageModel, slot(contract::Package::VT_MODEL));
  EXPECT_EQ(kPackageFunctions, slot(contract::Package::VT_FUNCTIONS));
  EXPECT_EQ(kPackageModelId, slot(contract::Package::VT_MODEL_ID));
  EXPECT_EQ(kPackagePoolBytes, slot(contract::Package::VT_POOL_BYTES));
  EXPECT_EQ(kPackageAlignment, slot(contract::Package::VT_ALIGNMENT));
  EXPECT_EQ(kFunctionName, slot(contract::Function::VT_NAME));
  EXPECT_EQ(kFunctionDevice, slot(contract::Function::VT_DEVICE));
  EXPECT_EQ(kFunctionTarget, slot(contract::Function::VT_TARGET));
  EXPECT_EQ(kFunctionCommands, slot(contract::Function::VT_COMMANDS));
  EXPECT_EQ(kFunctionConstants, slot(contract::Function::VT_CONSTANTS));
  EXPECT_EQ(kFunctionRegions, slot(contract::Function::VT_REGIONS));
  EXPECT_EQ(kFunctionOperators, slot(contract::Function::VT_OPERATORS));
  EXPECT_EQ(kFunctionRegionOffsets, slot(contract::Function::VT_REGION_OFFSETS));
  EXPECT_EQ(kFunctionRegionBytes, slot(contract::Function::VT_REGION_BYTES));
  EXPECT_EQ(kFunctionRegionMemories, slot(contract::Function::VT_REGION_MEMORIES));
  EXPECT_EQ(kFunctionAccessed, slot(contract::Function::VT_ACCESSED));
  EXPECT_EQ(kFunctionResults, slot(contract::Function::VT_RESULTS));
}

TEST(PackageLayout, RegionAndIdentifierAreThoseOfTheSchema) {
  EXPECT_EQ(kRegionBytes, sizeof(contract::Region));
  const contract::Region region(contract::RegionKind::Pool, 0x1234);
  uint8_t bytes[sizeof region];
  std::memcpy(bytes, &region, sizeof region);
  EXPECT_EQ(bytes[kRegionKindAt], kRegionPool);
  EXPECT_EQ(bytes[kRegionPoolAt] | bytes[kRegionPoolAt + 1] << 8, 0x1234);
  EXPECT_EQ(static_cast<uint8_t>(contract::RegionKind::Constants), kRegionConstants);
  EXPECT_EQ(kRangeBytes, sizeof(contract::Range));
  const contract::Range range(1, 2, 3);
  uint32_t words[3];
  std::memcpy(words, &range, sizeof range);
  EXPECT_EQ(words[kRangeOffsetAt / 4], 1u);
  EXPECT_EQ(words[kRangeBytesAt / 4], 2u);
  EXPECT_EQ(words[kRangePoolAt / 4] & 0xFFFF, 3u);
  uint32_t identifier = 0;
  std::memcpy(&identifier, contract::PackageIdentifier(), 4);
  EXPECT_EQ(kMagic, identifier);
}

}  // namespace
}  // namespace intarsia::rt
