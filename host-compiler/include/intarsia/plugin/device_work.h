// What a device does for a function, operation by operation: what it computes, and which bytes it moves. Of a kind that estimates more
// than cycles of the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace intarsia {

// Over the way to one memory.
struct MemoryTraffic {
  double maps_read = 0, maps_written = 0;  // bytes of feature maps
  // Bytes of weights, biases and tables; written where they are copied into a faster memory.
  double constants_read = 0, constants_written = 0;
  double cycles = 0;  // of the device, that all of them take by themselves

  double bytes() const { return maps_read + maps_written + constants_read + constants_written; }
  MemoryTraffic& operator+=(const MemoryTraffic& other) {
    maps_read += other.maps_read, maps_written += other.maps_written;
    constants_read += other.constants_read, constants_written += other.constants_written;
    cycles += other.cycles;
    return *this;
  }
};

// An operation of the device, with the copies that are made for it.
struct OperationWork {
  std::string node;                     // the operator of the function that it is for
  std::string kind;                     // in a word of the device's own
  double computing = 0;                 // cycles, were memories infinitely fast
  int64_t macs = 0;                     // multiply-accumulates
  int64_t fast_bytes = 0;               // of feature maps in the fastest memory while it runs
  std::vector<MemoryTraffic> memories;  // one for each of DeviceWork::memories

  // Of whatever takes longest, with nothing else under way.
  double cycles() const {
    double slowest = computing;
    for (const MemoryTraffic& memory : memories)
      if (memory.cycles > slowest) slowest = memory.cycles;
    return slowest;
  }
};

struct DeviceWork {
  struct Memory {
    std::string name;
    double bytes_per_cycle = 0;
  };
  std::vector<Memory> memories;
  std::vector<OperationWork> operations;  // in the order in which they run
  int64_t macs_per_cycle = 0;             // at most
};

}  // namespace intarsia
