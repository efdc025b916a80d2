// The device behind the registers: holds them, runs a stream when it is started, and reports
// faults. Knows the tables of isa/ and nothing of the compiler or the driver.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "intarsia/contract/register_bus.h"

namespace intarsia::simulators::example_npu {

// Memory that answers on the device's bus.
struct Window {
  uint64_t first = 0, bytes = 0;
  bool writable = true;
};

class Device {
 public:
  // Everything the program can reach.
  Device();
  // Only these windows: any access outside of them is a bus error.
  explicit Device(std::vector<Window> windows);

  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);
  // The two above as functions; the device must outlive them.
  intarsia_register_bus bus();

  // How many reads of the status see the device busy after it was started.
  void set_busy_reads(uint32_t reads) { busy_reads_ = reads; }

 private:
  void reset();
  void start();

  std::map<uint32_t, uint32_t> registers_;
  std::vector<Window> windows_;
  bool restricted_ = false;
  uint32_t busy_reads_ = 2, busy_left_ = 0;
};

}  // namespace intarsia::simulators::example_npu
