// Puts a program into the target's memories.
#pragma once

#include <functional>
#include <vector>

#include "board/board_firmware.h"
#include "debug_probe/client.h"

namespace intarsia::debug_probe {

// Of a memory's blocks, from the first that the program touches to the last of a row of such blocks.
struct ErasedRange {
  uint64_t base = 0, size = 0;

  bool operator==(const ErasedRange&) const = default;
};
// In ascending order. What lies beside the program in its first and last block goes away with them.
std::vector<ErasedRange> ranges_to_erase(const std::vector<StubMemory>& memories,
                                         const std::vector<board::ElfSegment>& segments);

// Flash is not written where it holds the program already. What was written is read back.
Result<void> load(Client& client, const std::vector<board::ElfSegment>& segments);

}  // namespace intarsia::debug_probe
