// The package's layout as numbers: header words, and slots of the tables of schema/package.fbs. A
// test compares them with what flatc makes of the schema.
#pragma once

#include <cstdint>

namespace intarsia::rt {

inline constexpr uint32_t kHeaderBytes = 16;
inline constexpr uint32_t kMagicAt = 0, kVersionAt = 4, kPayloadBytesAt = 8, kChecksumAt = 12;
inline constexpr uint32_t kMagic = 0x41544E49;  // "INTA", also the flatbuffer's identifier

inline constexpr uint32_t kPackageModel = 0, kPackageFunctions = 1, kPackageModelId = 2,
                          kPackagePoolBytes = 3, kPackageAlignment = 4;

inline constexpr uint32_t kFunctionName = 0, kFunctionDevice = 1, kFunctionTarget = 2,
                          kFunctionCommands = 3, kFunctionConstants = 4, kFunctionRegions = 5,
                          kFunctionOperators = 6, kFunctionRegionOffsets = 7,
                          kFunctionRegionBytes = 8, kFunctionRegionMemories = 9,
                          kFunctionAccessed = 10, kFunctionResults = 11;

// struct Region
inline constexpr uint32_t kRegionShift = 2, kRegionBytes = 1 << kRegionShift, kRegionKindAt = 0,
                          kRegionPoolAt = 2;
inline constexpr uint8_t kRegionConstants = 0, kRegionPool = 1;

// struct Range: three words, so that its elements are counted by 4 bytes.
inline constexpr uint32_t kRangeBytes = 12, kRangeOffsetAt = 0, kRangeBytesAt = 4, kRangePoolAt = 8;

// commands and constants
inline constexpr uint32_t kBlobAlignment = 16;

}  // namespace intarsia::rt
