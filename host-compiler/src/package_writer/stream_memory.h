// What a package says of the memory that a stream works in, beside the regions themselves.
#pragma once

#include <cstdint>
#include <vector>

namespace intarsia {

// Bytes of a pool's block.
struct PoolRange {
  uint32_t pool = 0, offset = 0, bytes = 0;
  bool operator==(const PoolRange&) const = default;
};

struct StreamMemory {
  // One per region, or none where nothing is known: bytes from its base on that the stream uses, and enum intarsia_memory.
  std::vector<uint32_t> region_bytes;
  std::vector<uint8_t> region_memories;
  // What has to be in memory before the stream runs, and what it leaves there for others, for data caches.
  std::vector<PoolRange> accessed, results;
  bool operator==(const StreamMemory&) const = default;
};

}  // namespace intarsia
