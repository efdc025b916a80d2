// The device behind the mailbox: takes a table of buffers, runs the command stream that is buffer 0.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "intarsia/contract/register_bus.h"
#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/run.h"

namespace intarsia::simulators::ethos_n {

class Device {
 public:
  explicit Device(const Variant* variant);  // null: nothing answers

  uint32_t read(uint32_t offset) const;
  void write(uint32_t offset, uint32_t value);
  // The two above as functions; the device must outlive them.
  intarsia_register_bus bus();

  void set_fault_handler(std::function<void(const Fault&)> handler) {
    fault_handler_ = std::move(handler);
  }

 private:
  void start();

  const Variant* variant_;
  std::map<uint32_t, uint32_t> registers_;
  std::function<void(const Fault&)> fault_handler_;
};

}  // namespace intarsia::simulators::ethos_n
