// Which bytes somebody wrote: a shadow of every region and of SHRAM. Finds reads of bytes that nobody
// wrote, accesses that leave a region, output over input that is still needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_u/byte_ranges.h"
#include "intarsia/targets/ethos_u/checker_registers.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

class ShadowMemory {
 public:
  // Regions larger than this are not shadowed: who does not know their size gives all there is.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 28;
  // Nor are larger maps looked through byte by byte.
  static constexpr int64_t kMostElements = int64_t{1} << 24;

  explicit ShadowMemory(const Configuration& configuration);

  // Until told otherwise everything in a region is taken as written. After this only what is set is.
  void forget(uint32_t region, uint64_t bytes);
  void set(uint32_t region, const ByteRange& range);
  void set_written(uint32_t region, const std::vector<uint8_t>& written);
  // Per byte whether it is written; empty where everything is taken as written.
  std::vector<uint8_t> written(uint32_t region) const;

  // Before execution.
  void check_inputs(const Operation& operation, const Memory& memory, const Report& report);
  void check_inputs(const DmaTransfer& transfer, const Memory& memory, const Report& report);
  // After the last one: what the stream was to write.
  void check_output(uint32_t region, const ByteRange& range, const Report& report) const;
  // What the operation or transfer leaves behind.
  void apply_outputs(const Operation& operation);
  void apply_outputs(const DmaTransfer& transfer);

 private:
  // The first byte of the range that nobody wrote.
  std::optional<uint64_t> first_unwritten(uint32_t region, const ByteRange& range) const;
  void check_read(const char* what, uint32_t region, const ByteRange& range, const Memory& memory,
                  const Report& report) const;
  void check_source(const ByteRange& range, uint32_t region, const Memory& memory,
                    const Report& report) const;
  void check_map_read(const char* what, const Operation& operation, const FeatureMap& map,
                      const Memory& memory, const Report& report) const;
  void check_table(const Operation& operation, const Report& report) const;

  const Configuration& configuration_;
  std::array<std::optional<std::vector<uint8_t>>, kRegions> written_;
  std::vector<uint8_t> shram_;
};

// Bytes of SHRAM that the operation's table occupies.
ByteRange table_range(const Operation& operation, const Configuration& configuration);

// Whether a block writes what a later block reads, or two elements of the OFM share a byte.
void check_overwriting(const Operation& operation, const Report& report);

}  // namespace intarsia::simulators::ethos_u
