// Runs one command stream of the Ethos-U85.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "intarsia/targets/ethos_u/run.h"
#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::Memory;
using ethos_u::Outcome;
using ethos_u::Wait;
using ethos_u::WaitKind;

// Sees everything in the order of the stream, as ethos_u::Observer does.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Operation&, const Memory&) {}
  virtual void after(const Operation&, const Memory&) {}
  virtual void before(const DmaTransfer&, const Memory&) {}
  virtual void after(const DmaTransfer&, const Memory&) {}
  virtual void wait(const Wait&) {}
  virtual void stop(const DecodedCommand&) {}
};

Outcome run(std::span<const uint8_t> stream, const Configuration& configuration, Memory& memory,
            Observer* observer = nullptr, uint64_t max_macs = uint64_t{1} << 34);

}  // namespace intarsia::simulators::ethos_u85
