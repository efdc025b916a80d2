// The stream checker: an observer of a run that finds what a device would not forgive. It is on wherever
// streams are simulated.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_u/checker_hazards.h"
#include "intarsia/targets/ethos_u/checker_memory.h"
#include "intarsia/targets/ethos_u/finding.h"
#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::simulators::ethos_u {

struct CheckerOptions {
  // Which operator of the model an OP command belongs to, by the command's offset; empty: not known.
  std::function<std::string(uint32_t offset)> node_of;
};

class Checker final : public Observer {
 public:
  // The stream as it is handed to run(). Both outlive the checker.
  Checker(const Configuration& configuration, std::span<const uint8_t> stream,
          CheckerOptions options = {});

  // In this region only what is set, and what the stream writes, is defined. Regions of which nothing is
  // said are taken as written throughout.
  void forget(uint32_t region, uint64_t bytes) { shadow_.forget(region, bytes); }
  void set(uint32_t region, uint64_t offset, uint64_t bytes) {
    shadow_.set(region, {offset, offset + bytes});
  }
  // When the stream has ended, this is to be defined.
  void expect(uint32_t region, uint64_t offset, uint64_t bytes) {
    outputs_.push_back({region, {offset, offset + bytes}});
  }
  // The same by byte, as written() has it of an earlier stream: not 0 where there is a value.
  void set_written(uint32_t region, const std::vector<uint8_t>& written) {
    shadow_.set_written(region, written);
  }
  std::vector<uint8_t> written(uint32_t region) const { return shadow_.written(region); }

  void command(const DecodedCommand& command) override { last_ = command; }
  void before(const Operation& operation, const Memory& memory) override;
  void after(const Operation& operation, const Memory& memory) override;
  void before(const DmaTransfer& transfer, const Memory& memory) override;
  void after(const DmaTransfer& transfer, const Memory& memory) override;
  void wait(const Wait& wait) override;
  void stop(const DecodedCommand& command) override;
  // What run() returned: a fault becomes a finding too.
  void finish(const Outcome& outcome);

  const FindingList& findings() const { return findings_; }

 private:
  Report reporter();

  const Configuration& configuration_;
  std::span<const uint8_t> stream_;
  CheckerOptions options_;
  ShadowMemory shadow_;
  std::vector<std::pair<uint32_t, ByteRange>> outputs_;  // regions, and what of them
  Hazards hazards_;
  FindingList findings_;
  DecodedCommand last_;
};

}  // namespace intarsia::simulators::ethos_u
