#include "commands/transfers.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kIdsOfQueue = 4, kFirstWriteId = 4;

uint32_t mask_of(int64_t count) {
  return static_cast<uint32_t>((uint64_t{1} << count) - 1);
}

uint32_t config_of(const FeatureMap& map) {
  return reg::DMA_COMP_CONFIG0_is_signed.put(map.is_signed ? 1 : 0) |
         reg::DMA_COMP_CONFIG0_zero_point.put(map.zero_byte());
}

uint32_t stride_of(const FeatureMap& map) {
  return reg::DMA_STRIDE1_stride.put(map.layout == Layout::Nhwc ? map.columns * map.channels : 1);
}

}  // namespace

uint32_t Transfers::add_loader(const FeatureMap& map) {
  return stream_.add_agent(
      AgentRecord(AgentType::IFM_STREAMER)
          .set(agent_field::IFM_STREAMER_buffer, places_[static_cast<size_t>(map.storage)].id)
          .set(agent_field::IFM_STREAMER_DMA_COMP_CONFIG0, config_of(map))
          .set(agent_field::IFM_STREAMER_DMA_STRIDE1, stride_of(map)));
}

uint32_t Transfers::add_storer(const FeatureMap& map) {
  return stream_.add_agent(
      AgentRecord(AgentType::OFM_STREAMER)
          .set(agent_field::OFM_STREAMER_buffer, places_[static_cast<size_t>(map.storage)].id)
          .set(agent_field::OFM_STREAMER_DMA_COMP_CONFIG0, config_of(map))
          .set(agent_field::OFM_STREAMER_DMA_STRIDE1, stride_of(map)));
}

Access Transfers::whole(const FeatureMap& map, bool is_write) const {
  const StoragePlace& place = places_[static_cast<size_t>(map.storage)];
  return {place.memory, place.offset, place.offset + place.bytes, is_write};
}

CommandWords Transfers::command(Queue queue, CommandType type, uint32_t agent, int64_t dram,
                                int64_t sram, int64_t format, int64_t bytes) {
  const bool reads = queue == Queue::DmaRd;
  const int64_t number = stream_.count(reads ? Counter::DmaRd : Counter::DmaWr);
  CommandWords words(type);
  words.set(word::Dma_agent, agent)
      .set(word::Dma_dram_offset, static_cast<uint32_t>(dram))
      .set(word::Dma_SRAM_ADDR, reg::SRAM_ADDR_address.put(sram))
      .set(word::Dma_DMA_TOTAL_BYTES, reg::DMA_TOTAL_BYTES_bytes.put(bytes))
      .set(word::Dma_DMA_EMCS, mask_of(variant_.srams()))
      .set(word::Dma_DMA_CMD,
           reg::DMA_CMD_id.put(number % kIdsOfQueue + (reads ? 0 : kFirstWriteId)) |
               reg::DMA_CMD_format.put(format));
  return words;
}

void Transfers::move(Queue queue, uint32_t agent, const FeatureMap& map, int64_t first,
                     int64_t rows, int64_t c, int64_t depth, const Access& sram) {
  const bool reads = queue == Queue::DmaRd;
  const CommandType type = reads ? CommandType::LoadIfmStripe : CommandType::StoreOfmStripe;
  const StoragePlace& place = places_[static_cast<size_t>(map.storage)];
  const uint32_t channels = reg::DMA_CHANNELS_channels.put(depth);
  const uint32_t banks = mask_of(std::min(depth, variant_.srams()));
  const int64_t y = map.y + first;
  if (map.layout == Layout::Nhwc) {
    INTARSIA_CHECK(depth == map.channels || map.columns == 1,
                   "NHWC is not cut in channels unless it has one column");
    const int64_t begin = (y * map.columns + map.x) * map.channels + map.c + c;
    const int64_t end = begin + ((rows - 1) * map.columns + map.width - 1) * map.channels + depth;
    CommandWords words = command(queue, type, agent, place.base + begin, sram.begin, kFormatNhwc,
                                 rows * map.width * depth);
    words.set(word::Dma_DMA_CHANNELS, channels).set(word::Dma_DMA_EMCS, banks);
    words.set(word::Dma_DMA_SRAM_STRIDE, reg::DMA_SRAM_STRIDE_group.put(4));
    words.set(word::Dma_DMA_STRIDE0, reg::DMA_STRIDE0_stride.put(map.width * depth));
    stream_.transfer(queue, words,
                     {{place.memory, place.offset + begin, place.offset + end, !reads}, sram});
    return;
  }
  const int64_t groups_c = ceil_div(map.channels, 16), groups_x = ceil_div(map.columns, 8);
  INTARSIA_CHECK(y % 8 == 0 && map.x == 0 && map.width == map.columns && (map.c + c) % 16 == 0,
                 "boxes of NHWCB are whole rows of brick groups");
  const int64_t group_rows = ceil_div(rows, 8);
  const auto transfer = [&](int64_t brick, int64_t at, int64_t groups) {
    const int64_t begin = brick * kBrickGroupBytes;
    CommandWords words = command(queue, type, agent, place.base + begin, at, kFormatNhwcb,
                                 groups * kGroupBytes * depth);
    words.set(word::Dma_DMA_CHANNELS, channels).set(word::Dma_DMA_EMCS, banks);
    stream_.transfer(
        queue, words,
        {{place.memory, place.offset + begin,
          place.offset + begin + groups * ceil_div(depth, 16) * kBrickGroupBytes, !reads},
         sram});
  };
  if (depth == map.channels)
    return transfer(y / 8 * groups_x * groups_c, sram.begin, group_rows * groups_x);
  // Not in one piece in DRAM: a command for each group of 8 x 8 elements.
  const int64_t group_bytes = ceil_div(depth, variant_.srams()) * kGroupBytes;
  for (int64_t gy = 0; gy < group_rows; ++gy)
    for (int64_t gx = 0; gx < groups_x; ++gx)
      transfer(((y / 8 + gy) * groups_x + gx) * groups_c + (map.c + c) / 16,
               sram.begin + (gy * groups_x + gx) * group_bytes, 1);
}

void Transfers::load(uint32_t agent, const FeatureMap& map, int64_t first, int64_t rows,
                     int64_t sram, int64_t sram_bytes) {
  move(Queue::DmaRd, agent, map, first, rows, 0, map.depth,
       {kSramMemory, sram, sram + sram_bytes, true});
}

void Transfers::store(uint32_t agent, const FeatureMap& map, int64_t first, int64_t rows, int64_t c,
                      int64_t depth, int64_t sram, int64_t sram_bytes) {
  move(Queue::DmaWr, agent, map, first, rows, c, depth,
       {kSramMemory, sram, sram + sram_bytes, false});
}

void Transfers::load_vector(uint32_t agent, const FeatureMap& map, int64_t sram,
                            int64_t sram_bytes) {
  const int64_t bytes = round_up(map.depth, kBrickGroupBytes);
  CommandWords words =
      command(Queue::DmaRd, CommandType::LoadIfmStripe, agent,
              places_[static_cast<size_t>(map.storage)].base, sram, kFormatNhwcb, bytes);
  words.set(word::Dma_DMA_CHANNELS, reg::DMA_CHANNELS_channels.put(bytes / kGroupBytes));
  stream_.transfer(Queue::DmaRd, words,
                   {whole(map, false), {kSramMemory, sram, sram + sram_bytes, true}});
}

void Transfers::load_weights(uint32_t agent, int64_t offset, int64_t bytes, int64_t sram,
                             int64_t sram_bytes) {
  stream_.transfer(
      Queue::DmaRd,
      command(Queue::DmaRd, CommandType::LoadWgtStripe, agent, offset, sram, kFormatWeights, bytes),
      {{kSramMemory, sram, sram + sram_bytes, true}});
}

void Transfers::load_kernel(uint32_t agent, int64_t sram) {
  CommandWords words =
      command(Queue::DmaRd, CommandType::LoadPleCodeIntoSram, agent, 0, sram, kFormatBroadcast, 1);
  words.set(word::Dma_DMA_EMCS, mask_of(variant_.ces));
  stream_.transfer(Queue::DmaRd, words, {{kSramMemory, sram, sram + kKernelBytes, true}});
}

}  // namespace intarsia::targets::ethos_n
