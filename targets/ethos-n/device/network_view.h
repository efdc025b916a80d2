// The payload of a package and the compiled network inside, read in place.
#pragma once

#include <cstdint>

#include "intarsia/targets/ethos_n/driver.h"

namespace intarsia::targets::ethos_n {

namespace payload {
#define PAYLOAD(name, value) inline constexpr uint32_t k##name = value;
#define MAILBOX(name, offset, access)
#define BUFFER_TYPE(name, number)
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE
}  // namespace payload
static_assert(payload::kMostBuffers == INTARSIA_ETHOS_N_MAX_BUFFERS);

enum Mailbox : uint32_t {
#define PAYLOAD(name, value)
#define MAILBOX(name, offset, access) k##name = offset,
#define BUFFER_TYPE(name, number)
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE
};

namespace buffer_type {
#define PAYLOAD(name, value)
#define MAILBOX(name, offset, access)
#define BUFFER_TYPE(name, number) inline constexpr uint32_t name = number;
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE
}  // namespace buffer_type

#define CONSTANT(name, value) inline constexpr uint32_t k##name = value;
#include "intarsia/targets/ethos_n/constants.def"
#undef CONSTANT

// Bytes that end: reading beyond them gives zeros, and is_cut() from then on.
class Bytes {
 public:
  Bytes(const uint8_t* begin, uint32_t size) : begin_(begin), size_(size) {}

  uint32_t word() {
    if (!take(4)) return 0;
    const uint8_t* at = begin_ + at_ - 4;
    return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
           static_cast<uint32_t>(at[3]) << 24;
  }
  // Null when there are fewer.
  const uint8_t* array(uint32_t& count) {
    count = word();
    return take(count) ? begin_ + at_ - count : nullptr;
  }
  void seek(uint32_t at) {
    cut_ = cut_ || at > size_;
    at_ = cut_ ? size_ : at;
  }
  bool is_cut() const { return cut_; }

 private:
  bool take(uint32_t count) {
    if (cut_ || count > size_ - at_) return cut_ = true, false;
    at_ += count;
    return true;
  }

  const uint8_t* begin_;
  uint32_t size_, at_ = 0;
  bool cut_ = false;
};

// Fills the table of buffers. Not OK: the payload is damaged, was made for another variant or for
// another number of regions, or a buffer lies outside of the memory of its kind.
class TableMaker {
 public:
  TableMaker(intarsia_ethos_n& npu, const intarsia_stream& stream, void* const* bases,
             uint32_t base_count)
      : npu_(npu), stream_(stream), bases_(bases), base_count_(base_count) {}

  intarsia_status run(uint32_t& count) {
    Bytes head(stream_.commands, stream_.command_bytes);
    if (stream_.commands == nullptr || head.word() != payload::kMagic ||
        head.word() != npu_.variant)
      return INTARSIA_ERROR_DEVICE_MISMATCH;
    places_ = head.word();
    Bytes bytes(stream_.commands, stream_.command_bytes);
    bytes.seek(head.word());
    if (bytes.word() != kContainerMagic || bytes.word() != kContainerMajor)
      return INTARSIA_ERROR_DEVICE_MISMATCH;
    bytes.word(), bytes.word();  // minor, patch
    uint32_t dma_bytes = 0, control_bytes = 0;
    const uint8_t* dma = bytes.array(dma_bytes);
    const uint8_t* control = bytes.array(control_bytes);
    if (bytes.is_cut()) return INTARSIA_ERROR_DEVICE_MISMATCH;
    for (intarsia_ethos_n_buffer& buffer : npu_.buffers) {
      buffer.address = 0;
      buffer.bytes = 0;
      buffer.type = buffer_type::None;
    }
    add_placed(bytes, buffer_type::Input);
    add_placed(bytes, buffer_type::Output);
    add_parts(bytes, buffer_type::ControlUnitConstant, control, control_bytes);
    add_parts(bytes, buffer_type::Constant, dma, dma_bytes);
    const uint8_t* intermediates = good_ && place_ < places_ ? place() : nullptr;
    add_parts(bytes, buffer_type::Intermediate, intermediates, UINT32_MAX);
    if (!good_ || bytes.is_cut() || place_ != places_) return INTARSIA_ERROR_DEVICE_MISMATCH;
    count = count_;
    return INTARSIA_OK;
  }

 private:
  // Where the next input, output, or the intermediate buffers are.
  const uint8_t* place() {
    Bytes words(stream_.commands, stream_.command_bytes);
    words.seek(4 * (payload::kFirstPlaceWord + 2 * place_));
    const uint32_t region = words.word(), offset = words.word();
    ++place_;
    if (words.is_cut() || region >= base_count_ || bases_[region] == nullptr)
      return good_ = false, nullptr;
    return static_cast<const uint8_t*>(bases_[region]) + offset;
  }
  void add(uint32_t id, const uint8_t* at, uint32_t bytes, uint32_t type) {
    if (id >= INTARSIA_ETHOS_N_MAX_BUFFERS || at == nullptr) {
      good_ = false;
      return;
    }
    npu_.buffers[id].address = reinterpret_cast<uintptr_t>(at);
    npu_.buffers[id].bytes = bytes;
    npu_.buffers[id].type = type;
    count_ = id + 1 > count_ ? id + 1 : count_;
  }
  static void skip_name(Bytes& bytes) {
    uint32_t length = 0;
    bytes.array(length);
  }
  void add_placed(Bytes& bytes, uint32_t type) {
    const uint32_t count = bytes.word();
    for (uint32_t i = 0; i < count && good_ && !bytes.is_cut(); ++i) {
      const uint32_t id = bytes.word();
      bytes.word();  // its offset in a memory that there is not
      const uint32_t size = bytes.word();
      skip_name(bytes);
      add(id, place_ < places_ ? place() : nullptr, size, type);
    }
  }
  void add_parts(Bytes& bytes, uint32_t type, const uint8_t* memory, uint32_t memory_bytes) {
    const uint32_t count = bytes.word();
    for (uint32_t i = 0; i < count && good_ && !bytes.is_cut(); ++i) {
      const uint32_t id = bytes.word(), offset = bytes.word(), size = bytes.word();
      skip_name(bytes);
      const bool inside =
          memory != nullptr && offset <= memory_bytes && size <= memory_bytes - offset;
      add(id, inside ? memory + offset : nullptr, size, type);
    }
  }

  intarsia_ethos_n& npu_;
  const intarsia_stream& stream_;
  void* const* bases_;
  uint32_t base_count_, places_ = 0, place_ = 0, count_ = 0;
  bool good_ = true;
};

}  // namespace intarsia::targets::ethos_n
