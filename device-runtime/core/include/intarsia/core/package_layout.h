// The package's layout as numbers: header words, and slots of the tables of schema/package.fbs. A
// test compares them with what flatc makes of the schema.
#pragma once

#include <cstdint>

namespace intarsia::rt {

inline constexpr uint32_t kHeaderBytes = 16;
inline constexpr uint32_t kMagicAt = 0, kVersionAt = 4, kPayloadBytesAt = 8, kChecksumAt = 12;
inline constexpr uint32_t kMagic = 0x41544E49;  // "INTA", also the flatbuffer's identifier

inline constexpr uint32_t kPackageModel = 0, kPackageFunctions = 1, kPackageModelId = 2,
                          kPackagePoolBytes = 3, kPackageAlignment = 4, kPackageProgram = 5;

inline constexpr uint32_t kFunctionName = 0, kFunctionDevice = 1, kFunctionTarget = 2,
                          kFunctionCommands = 3, kFunctionConstants = 4, kFunctionRegions = 5,
                          kFunctionOperators = 6, kFunctionRegionOffsets = 7,
                          kFunctionRegionBytes = 8, kFunctionRegionMemories = 9,
                          kFunctionAccessed = 10, kFunctionResults = 11;

// Of a package that the executor runs (intarsia/contract/program_format.h).
inline constexpr uint32_t kProgramKernelIds = 0, kProgramKernelNames = 1, kProgramCode = 2,
                          kProgramReset = 3, kProgramConstants = 4, kProgramMemories = 5,
                          kProgramDevices = 6, kProgramInputs = 7, kProgramOutputs = 8,
                          kProgramTarget = 9, kProgramInterfaceId = 10, kProgramRuntimeVersion = 11;
inline constexpr uint32_t kTensorName = 0, kTensorMemory = 1, kTensorOffset = 2, kTensorBytes = 3,
                          kTensorType = 4, kTensorShape = 5, kTensorScale = 6, kTensorZeroPoint = 7;

// struct Region
inline constexpr uint32_t kRegionShift = 2, kRegionBytes = 1 << kRegionShift, kRegionKindAt = 0,
                          kRegionPoolAt = 2;
inline constexpr uint8_t kRegionConstants = 0, kRegionPool = 1;

// struct Range: three words, so that its elements are counted by 4 bytes.
inline constexpr uint32_t kRangeBytes = 12, kRangeOffsetAt = 0, kRangeBytesAt = 4, kRangePoolAt = 8;

// commands and constants
inline constexpr uint32_t kBlobAlignment = 16;

}  // namespace intarsia::rt
