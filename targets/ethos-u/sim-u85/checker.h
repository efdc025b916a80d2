// The stream checker of the Ethos-U85: finds what a device would not forgive, or what leaves its result to chance. It is on
// wherever streams are simulated.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_u/byte_ranges.h"
#include "intarsia/targets/ethos_u/finding.h"
#include "intarsia/targets/ethos_u85/run.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::ByteRange;
using ethos_u::FindingKind;

// What an operation or a transfer reads, or writes: a feature map, or a range.
struct Access {
  std::string what;  // "the IFM"
  uint32_t region = 0;
  std::optional<FeatureMap> map;
  std::vector<ethos_u::Box> parts;  // of the map, that are read
  ByteRange range;                  // without a map
  bool is_copied = false;  // of a transfer: what nothing wrote of it stays so at the other end

  bool meets(const Access& transferred) const;
};

// The memory of tables, as if it were one more region.
inline constexpr uint32_t kTableMemory = static_cast<uint32_t>(ethos_u::kRegions);

struct Accesses {
  uint32_t offset = 0;  // of the command
  std::vector<Access> reads, writes;
};
Accesses accesses_of(const Operation& operation);
Accesses accesses_of(const DmaTransfer& transfer, const Memory& memory);

class Checker final : public Observer {
 public:
  // The stream as it is handed to run(), which outlives the checker.
  // `configuration`: whose memories the blocks have to fit; null: any.
  explicit Checker(std::span<const uint8_t> stream, const Configuration* configuration = nullptr);

  // As of ethos_u::Checker: from `forget` on only what is set, and what the stream writes, is defined in a region.
  void forget(uint32_t region, uint64_t bytes);
  void set(uint32_t region, uint64_t offset, uint64_t bytes);
  void expect(uint32_t region, uint64_t offset, uint64_t bytes) {
    outputs_.push_back({region, {offset, offset + bytes}});
  }
  void set_written(uint32_t region, const std::vector<uint8_t>& written);
  std::vector<uint8_t> written(uint32_t region) const {
    return written_[region].value_or(std::vector<uint8_t>());
  }

  void before(const Operation& operation, const Memory& memory) override;
  void after(const Operation& operation, const Memory& memory) override;
  void before(const DmaTransfer& transfer, const Memory& memory) override;
  void after(const DmaTransfer& transfer, const Memory& memory) override;
  void wait(const Wait& wait) override;
  void stop(const DecodedCommand& command) override;

  const ethos_u::FindingList& findings() const { return findings_; }

 private:
  void report(FindingKind kind, std::string what);
  void begin(uint32_t offset, const char* command) {
    offset_ = offset;
    command_ = command;
  }
  // Null where every byte of the range has a value.
  const std::vector<uint8_t>* shadow_of(uint32_t region, const ByteRange& range) const;
  bool is_written(uint32_t region, const ByteRange& range) const;
  void check_reads(const Accesses& accesses);
  void check_conflict(const Accesses& operation, const Accesses& transfer, bool is_transfer);
  void note_writes(const Accesses& accesses);
  void note_copies(const Accesses& accesses);
  void check_records(const Operation& operation);
  void check_blocks(const Operation& operation);

  std::span<const uint8_t> stream_;
  // By region, and of the tables: which bytes have a value; nothing where all have.
  std::array<std::optional<std::vector<uint8_t>>, ethos_u::kRegions + 1> written_;
  std::vector<std::pair<uint32_t, ByteRange>> outputs_;
  std::deque<Accesses> operations_, transfers_;  // that may be under way, the oldest first
  Accesses now_;
  // The operations of a chain run as one: with the blocks and BLOCKDEP of its first, behind the last one of the chain before.
  const Configuration* configuration_;
  std::vector<Operation> chain_;
  std::optional<Operation> before_chain_, last_;
  ethos_u::FindingList findings_;
  uint32_t offset_ = 0;
  const char* command_ = "";
};

}  // namespace intarsia::simulators::ethos_u85
