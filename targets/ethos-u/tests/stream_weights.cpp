#include "stream_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

constexpr uint32_t kConstants = 0;  // the region

// The union of all ranges of constants that are weights or scales.
class Collector final : public sim::Observer {
 public:
  using sim::Observer::before;
  void before(const sim::Operation& operation, const sim::Memory&) override {
    if (!operation.has_weights()) return;
    for (size_t core = 0; core < static_cast<size_t>(operation.cores); ++core) {
      add(operation.weight_region, operation.weights[core]);
      add(operation.scale_region, operation.scales[core]);
    }
  }
  void before(const sim::DmaTransfer& transfer, const sim::Memory&) override {
    if (!transfer.source_internal && !transfer.target_internal) transfers_.push_back(transfer);
  }

  int64_t bytes() const {
    uint64_t total = 0, end = 0;
    for (const auto& [first, behind] : ranges_) {
      if (behind <= end) continue;
      total += behind - std::max(first, end);
      end = behind;
    }
    return static_cast<int64_t>(total);
  }

 private:
  // A range that an operation reads; where it is a copy, what was copied last.
  void add(uint32_t region, const sim::Range& range) {
    if (range.length == 0) return;
    uint64_t first = range.base, length = range.length;
    if (region != kConstants) {
      const auto copy =
          std::find_if(transfers_.rbegin(), transfers_.rend(), [&](const auto& transfer) {
            return transfer.target_region == region && transfer.target <= first &&
                   first + length <= transfer.target + transfer.length;
          });
      if (copy == transfers_.rend() || copy->source_region != kConstants)
        throw std::runtime_error("weights are no copy of constants");
      first = copy->source + (first - copy->target);
    }
    uint64_t& behind = ranges_[first];
    behind = std::max(behind, first + length);
  }

  std::vector<sim::DmaTransfer> transfers_;
  std::map<uint64_t, uint64_t> ranges_;
};

// Carries out the transfers, and decodes what the operations find.
class Reader final : public sim::Observer {
 public:
  Reader(const sim::Configuration& configuration, sim::Memory& memory)
      : configuration_(configuration), memory_(memory) {}

  using sim::Observer::before;
  void before(const sim::DmaTransfer& transfer, const sim::Memory&) override {
    if (transfer.source_internal || transfer.target_internal) return;
    const uint8_t* from = memory_.read(transfer.source_region, transfer.source, transfer.length);
    uint8_t* to = memory_.write(transfer.target_region, transfer.target, transfer.length);
    if (from == nullptr || to == nullptr) throw std::runtime_error("a transfer leaves its region");
    std::memmove(to, from, transfer.length);
  }
  void before(const sim::Operation& operation, const sim::Memory&) override {
    if (!operation.has_weights()) return;
    for (int32_t core = 0; core < operation.cores; ++core) {
      const sim::Range& range = operation.weights[static_cast<size_t>(core)];
      if (range.length == 0) continue;
      const uint8_t* bytes = memory_.read(operation.weight_region, range.base, range.length);
      if (bytes == nullptr) throw std::runtime_error("weights leave their region");
      WeightStream stream;
      stream.traversal = sim::traversal_of(operation, configuration_, core);
      stream.core = core;
      stream.cores = operation.cores;
      stream.bytes.assign(bytes, bytes + range.length);
      const auto count = static_cast<size_t>(sim::traversal_length(stream.traversal));
      if (const auto failure = sim::decode_weights(stream.bytes, count, stream.weights))
        throw std::runtime_error(*failure);
      found.push_back(std::move(stream));
    }
  }

  std::vector<WeightStream> found;

 private:
  const sim::Configuration& configuration_;
  sim::Memory& memory_;
};

// Decodes the whole stream for an observer; nothing is computed.
void watch(const sim::Payload& payload, sim::Memory& memory, sim::Observer& observer) {
  sim::RunOptions options;
  options.execute = false;
  if (const auto fault =
          sim::run(payload.stream, *payload.made_for, memory, &observer, options).fault)
    throw std::runtime_error(fault->to_string());
}

sim::Payload read(std::span<const uint8_t> bytes) {
  sim::Payload payload;
  if (const auto failure = sim::read_payload(bytes, payload)) throw std::runtime_error(*failure);
  return payload;
}

}  // namespace

int64_t weight_bytes(std::span<const uint8_t> bytes) {
  const sim::Payload payload = read(bytes);
  sim::Memory memory(*payload.made_for);
  Collector collector;
  watch(payload, memory, collector);
  return collector.bytes();
}

std::vector<WeightStream> weight_streams(const VelaOperator& op) {
  const sim::Payload payload = read(op.payload);
  sim::Memory memory(*payload.made_for);
  std::vector<uint8_t> constants = op.constants, arena(op.arena_bytes),
                       cache(op.cache_is_arena ? 0 : op.cache_bytes);
  memory.regions[0] = {constants.data(), constants.size(), false};
  memory.regions[1] = {arena.data(), arena.size()};
  memory.regions[2] =
      op.cache_is_arena ? memory.regions[1] : sim::Region{cache.data(), cache.size()};
  Reader reader(*payload.made_for, memory);
  watch(payload, memory, reader);
  return std::move(reader.found);
}

}  // namespace intarsia::test::ethos_u
