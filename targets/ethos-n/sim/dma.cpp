#include "intarsia/targets/ethos_n/dma.h"

#include <string>

namespace intarsia::simulators::ethos_n {
namespace {

struct Registers {
  uint32_t buffer = 0;
  uint64_t dram = 0, sram = 0, channels = 0, bytes = 0;
  uint64_t stride0 = 0, stride1 = 0, stride2 = 0, stride3 = 0;
  uint32_t mask = 0;
};

// Moves the element at `dram` bytes into the buffer to or from the place in SRAM.
class Mover {
 public:
  Mover(bool load, uint32_t buffer, Sram& sram, Dram& dram)
      : load_(load), buffer_(buffer), sram_(sram), dram_(dram) {}

  void element(uint64_t dram, uint64_t bank, uint64_t address) {
    if (load_)
      sram_.write(bank, address, dram_.read(buffer_, dram));
    else
      dram_.write(buffer_, dram, sram_.read(bank, address));
  }
  bool failed() const { return sram_.failure || dram_.failure; }

 private:
  bool load_;
  uint32_t buffer_;
  Sram& sram_;
  Dram& dram_;
};

// NHWC and NCHW: a stripe of h x w x c, packed in SRAM.
struct Plain {
  uint64_t height, width, row_pitch, column_pitch, channel_pitch;
};

std::optional<Fault> move_plain(const Registers& r, const Plain& plain, Sram& sram, Mover& mover) {
  const SramTensor place = SramTensor::packed(sram, r.sram, plain.width, r.channels);
  for (uint64_t y = 0; y < plain.height; ++y)
    for (uint64_t x = 0; x < plain.width && !mover.failed(); ++x)
      for (uint64_t c = 0; c < r.channels; ++c)
        mover.element(
            r.dram + y * plain.row_pitch + x * plain.column_pitch + c * plain.channel_pitch,
            c % sram.banks(), place.address(y, x) + c / sram.banks() * kGroupBytes);
  return std::nullopt;
}

std::optional<Fault> move_nhwc(const Registers& r, Sram& sram, Mover& mover) {
  if (r.stride0 % r.channels != 0 || r.bytes % r.stride0 != 0)
    return bad_operand(
        "DMA_TOTAL_BYTES is no whole number of rows of DMA_STRIDE0 bytes and DMA_CHANNELS");
  return move_plain(r, {r.bytes / r.stride0, r.stride0 / r.channels, r.stride1, r.channels, 1},
                    sram, mover);
}

std::optional<Fault> move_nchw(const Registers& r, Sram& sram, Mover& mover) {
  if (r.stride2 % r.stride0 != 0 || r.bytes != r.stride2 * r.channels)
    return bad_operand("DMA_TOTAL_BYTES is not DMA_CHANNELS planes of DMA_STRIDE2 bytes");
  return move_plain(r, {r.stride2 / r.stride0, r.stride0, r.stride1, 1, r.stride3}, sram, mover);
}

// Whole groups of 8x8 elements, one after the other in both memories. In DRAM a brick group always
// has 16 channels, of which a transfer may move fewer.
std::optional<Fault> move_nhwcb(const Registers& r, uint64_t gap, Sram& sram, Mover& mover) {
  if (r.bytes % (r.channels * kGroupBytes) != 0)
    return bad_operand(
        "DMA_TOTAL_BYTES is no whole number of groups of 8x8 elements and DMA_CHANNELS");
  const uint64_t groups = r.bytes / (r.channels * kGroupBytes);
  const uint64_t bricks = (r.channels + 15) / 16;
  const uint64_t sram_stride = (r.channels + sram.banks() - 1) / sram.banks() * kGroupBytes;
  // An address beyond a bank selects the upper half of sixteen banks: how a chunk of eight channels
  // that begins inside a brick gets to the banks of channels 8 to 15.
  const uint64_t first_bank = r.sram / sram.bank_bytes() * 8;
  const uint64_t base = r.sram % sram.bank_bytes();
  for (uint64_t group = 0; group < groups && !mover.failed(); ++group)
    for (uint64_t c = 0; c < r.channels; ++c)
      for (uint64_t byte = 0; byte < kGroupBytes; ++byte) {
        const uint64_t brick = group * bricks + c / 16;
        mover.element(r.dram + brick * (kBrickGroupBytes + gap) +
                          byte / kPatchBytes * 16 * kPatchBytes + c % 16 * kPatchBytes +
                          byte % kPatchBytes,
                      first_bank + c % sram.banks(),
                      base + group * sram_stride + c / sram.banks() * kGroupBytes + byte);
      }
  return std::nullopt;
}

// Words of 16 bytes go round the banks.
void move_weights(const Registers& r, Sram& sram, Mover& mover) {
  for (uint64_t i = 0; i < r.bytes && !mover.failed(); ++i) {
    const uint64_t word = i / 16;
    mover.element(r.dram + i, word % sram.banks(), r.sram + word / sram.banks() * 16 + i % 16);
  }
}

void load_kernel(const Variant& variant, uint32_t kernel, const Registers& r, Sram& sram) {
  for (uint32_t ce = 0; ce < variant.ces; ++ce)
    for (uint32_t i = 0; i < kKernelBytes; ++i) sram.write(ce, r.sram + i, kernel_byte(kernel, i));
}

}  // namespace

uint8_t kernel_byte(uint32_t kernel, uint32_t at) {
  uint32_t mixed = (kernel + 1) * 2654435761u ^ at * 2246822519u;
  mixed ^= mixed >> 15;
  return static_cast<uint8_t>(mixed * 2654435761u >> 24);
}

std::optional<Fault> transfer(const Variant& variant, const AgentRecord& agent,
                              const CommandRecord& command, Sram& sram, Dram& dram) {
  const bool load = command.command != Command::StoreOfmStripe;
  Registers r;
  r.sram = static_cast<uint64_t>(field::SRAM_ADDR_address.get(command[word::Dma_SRAM_ADDR]));
  r.dram = command[word::Dma_dram_offset];
  r.mask = command[word::Dma_DMA_EMCS];
  const auto format = field::DMA_CMD_format.get(command[word::Dma_DMA_CMD]);
  if (command.command == Command::LoadPleCodeIntoSram) {
    const uint32_t kernel = agent.get(agent_field::PLE_LOADER_kernel);
    if (find_kernel(variant, kernel) == nullptr)
      return bad_operand("there is no PLE kernel " + std::to_string(kernel) + " for " +
                         std::string(variant.tag));
    if (format != kFormatBroadcast)
      return bad_operand("PLE code is loaded in another format than BROADCAST");
    load_kernel(variant, kernel, r, sram);
    return std::nullopt;
  }

  r.buffer = agent.get(agent_field::IFM_STREAMER_buffer);  // at the same place in all streamers
  if (!dram.has(r.buffer)) return bad_operand("there is no buffer " + std::to_string(r.buffer));
  if (!load && !dram.buffers[r.buffer].writable)
    return bad_operand("buffer " + std::to_string(r.buffer) + " cannot be written");
  r.bytes =
      static_cast<uint64_t>(field::DMA_TOTAL_BYTES_bytes.get(command[word::Dma_DMA_TOTAL_BYTES]));
  if (r.bytes > sram.bank_bytes() * sram.banks())
    return bad_operand("the transfer is larger than SRAM");
  Mover mover(load, r.buffer, sram, dram);
  if (command.command == Command::LoadWgtStripe) {
    if (format != kFormatWeights)
      return bad_operand("weights are loaded in another format than WEIGHTS");
    move_weights(r, sram, mover);
    return std::nullopt;
  }

  r.channels =
      static_cast<uint64_t>(field::DMA_CHANNELS_channels.get(command[word::Dma_DMA_CHANNELS]));
  r.stride0 = static_cast<uint64_t>(field::DMA_STRIDE0_stride.get(command[word::Dma_DMA_STRIDE0]));
  r.stride1 = static_cast<uint64_t>(
      field::DMA_STRIDE1_stride.get(agent.get(agent_field::IFM_STREAMER_DMA_STRIDE1)));
  r.stride2 = static_cast<uint64_t>(field::DMA_STRIDE2_stride.get(command[word::Dma_DMA_STRIDE2]));
  r.stride3 = static_cast<uint64_t>(field::DMA_STRIDE3_stride.get(command[word::Dma_DMA_STRIDE3]));
  if (format == kFormatNhwc) return move_nhwc(r, sram, mover);
  if (format == kFormatNchw) return move_nchw(r, sram, mover);
  if (format == kFormatNhwcb) return move_nhwcb(r, 0, sram, mover);
  if (format == kFormatNhwcbStrided && !load) return move_nhwcb(r, r.stride0, sram, mover);
  if (format == kFormatFcafDeep || format == kFormatFcafWide)
    return bad_operand("this model does not have FCAF, whose bits Arm never published");
  return bad_operand("DMA format " + std::to_string(format) + " does not exist in this direction");
}

}  // namespace intarsia::simulators::ethos_n
