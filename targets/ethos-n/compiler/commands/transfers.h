// Commands that move feature maps, weights and kernels between DRAM and SRAM.
#pragma once

#include <cstdint>
#include <vector>

#include "commands/stream_builder.h"
#include "program/program.h"

namespace intarsia::targets::ethos_n {

// Where a storage is: the buffer of the network that holds it and where it begins there, and its bytes for the order of
// commands.
struct StoragePlace {
  uint32_t id = 0;
  int64_t base = 0;
  int32_t memory = 0;
  int64_t offset = 0, bytes = 0;
};

class Transfers {
 public:
  Transfers(const Variant& variant, StreamBuilder& stream, const std::vector<StoragePlace>& places)
      : variant_(variant), stream_(stream), places_(places) {}

  // An agent that streams the map, for the following two.
  uint32_t add_loader(const FeatureMap& map);
  uint32_t add_storer(const FeatureMap& map);
  // Rows first .. first + rows - 1 of the box, and in a store channels c .. c + depth - 1 of it.
  void load(uint32_t agent, const FeatureMap& map, int64_t first, int64_t rows, int64_t sram,
            int64_t sram_bytes);
  void store(uint32_t agent, const FeatureMap& map, int64_t first, int64_t rows, int64_t c,
             int64_t depth, int64_t sram, int64_t sram_bytes);
  // All of a vector, as bricks.
  void load_vector(uint32_t agent, const FeatureMap& map, int64_t sram, int64_t sram_bytes);

  void load_weights(uint32_t agent, int64_t offset, int64_t bytes, int64_t sram,
                    int64_t sram_bytes);
  void load_kernel(uint32_t agent, int64_t sram);

 private:
  void move(Queue queue, uint32_t agent, const FeatureMap& map, int64_t first, int64_t rows,
            int64_t c, int64_t depth, const Access& sram);
  CommandWords command(Queue queue, CommandType type, uint32_t agent, int64_t dram, int64_t sram,
                       int64_t format, int64_t bytes);
  Access whole(const FeatureMap& map, bool is_write) const;

  const Variant& variant_;
  StreamBuilder& stream_;
  const std::vector<StoragePlace>& places_;
};

}  // namespace intarsia::targets::ethos_n
