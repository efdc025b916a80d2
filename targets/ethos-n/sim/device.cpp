#include "intarsia/targets/ethos_n/device.h"

#include <cstring>
#include <deque>

namespace intarsia::simulators::ethos_n {
namespace {

enum Register : uint32_t {
#define PAYLOAD(name, value)
#define MAILBOX(name, offset, access) k##name = offset,
#define BUFFER_TYPE(name, number)
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE
};

enum class BufferType : uint32_t {
#define PAYLOAD(name, value)
#define MAILBOX(name, offset, access)
#define BUFFER_TYPE(name, number) name = number,
#include "intarsia/targets/ethos_n/payload.def"
#undef PAYLOAD
#undef MAILBOX
#undef BUFFER_TYPE
};

constexpr uint32_t kStart = 1, kDone = 2, kFaulty = 3;
constexpr uint32_t kEntryBytes = 16;

// One row of the table, as it lies in memory.
struct Entry {
  uint8_t* address = nullptr;
  uint32_t bytes = 0;
  BufferType type = BufferType::None;
};

Entry entry_at(const uint8_t* table, uint32_t index) {
  const uint8_t* at = table + size_t{index} * kEntryBytes;
  uint64_t address = 0;
  uint32_t words[2] = {};
  std::memcpy(&address, at, sizeof address);
  std::memcpy(words, at + sizeof address, sizeof words);
  return {reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)), words[0],
          static_cast<BufferType>(words[1])};
}

bool is_written(BufferType type) {
  return type == BufferType::Output || type == BufferType::Intermediate;
}

// Runs on copies of the buffers; what the stream may have written goes back at the end. Intermediate
// buffers overlap where their lives do not, so theirs is one copy.
class Inference {
 public:
  Inference(const Variant& variant, const uint8_t* table, uint32_t count) : variant_(variant) {
    for (uint32_t i = 0; i < count; ++i) entries_.push_back(entry_at(table, i));
  }

  std::optional<Fault> run() {
    if (entries_.empty() || entries_[0].type != BufferType::ControlUnitConstant ||
        entries_[0].address == nullptr)
      return Fault{Cause::Container, "", "buffer 0 is no command stream"};
    for (const Entry& entry : entries_)
      if (entry.type != BufferType::None && entry.address == nullptr && entry.bytes != 0)
        return Fault{Cause::Bus, "", "a buffer of the table has no address"};
    Stream stream;
    if (auto fault = read_stream({entries_[0].address, entries_[0].bytes}, stream)) return fault;
    fill();
    const Outcome outcome = ethos_n::run(variant_, stream, dram_);
    if (outcome.fault) return outcome.fault;
    for (size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].type == BufferType::Output && entries_[i].bytes != 0)
        std::memcpy(entries_[i].address, dram_.buffers[i].memory->data(), entries_[i].bytes);
    return std::nullopt;
  }

 private:
  void fill() {
    uint8_t *first = nullptr, *end = nullptr;
    for (const Entry& entry : entries_) {
      if (entry.type != BufferType::Intermediate) continue;
      if (first == nullptr || entry.address < first) first = entry.address;
      if (end == nullptr || entry.address + entry.bytes > end) end = entry.address + entry.bytes;
    }
    intermediates_.assign(static_cast<size_t>(end - first), 0);
    dram_.buffers.resize(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.type == BufferType::None || entry.type == BufferType::ControlUnitConstant) continue;
      DramBuffer& buffer = dram_.buffers[i];
      buffer = {true, is_written(entry.type), nullptr, 0, entry.bytes};
      if (entry.type == BufferType::Intermediate) {
        buffer.memory = &intermediates_;
        buffer.offset = static_cast<uint64_t>(entry.address - first);
      } else {
        buffer.memory = &copies_.emplace_back(entry.address, entry.address + entry.bytes);
      }
    }
  }

  const Variant& variant_;
  std::vector<Entry> entries_;
  Dram dram_;
  std::deque<std::vector<uint8_t>> copies_;
  std::vector<uint8_t> intermediates_;
};

}  // namespace

Device::Device(const Variant* variant) : variant_(variant) {
  if (variant == nullptr) return;
  registers_[kIdentity] = kMailboxIdentity;
  registers_[kVariant] = variant->number;
}

uint32_t Device::read(uint32_t offset) const {
  const auto found = registers_.find(offset);
  return found == registers_.end() ? 0 : found->second;
}

void Device::write(uint32_t offset, uint32_t value) {
  if (variant_ == nullptr) return;
  if (offset == kTableLow || offset == kTableHigh || offset == kTableCount)
    registers_[offset] = value;
  if (offset == kControl && value == kStart) start();
}

void Device::start() {
  const uint64_t address = uint64_t{registers_[kTableLow]} | uint64_t{registers_[kTableHigh]} << 32;
  const uint32_t count = registers_[kTableCount];
  std::optional<Fault> fault;
  if (address == 0 || count > kMaxBuffers)
    fault = Fault{Cause::Bus, "", "there is no table of buffers"};
  else
    fault = Inference(*variant_, reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(address)),
                      count)
                .run();
  registers_[kStatus] = fault ? kFaulty : kDone;
  registers_[kFaultCause] = fault ? static_cast<uint32_t>(fault->cause) + 1 : 0;
  if (fault && fault_handler_) fault_handler_(*fault);
}

intarsia_register_bus Device::bus() {
  return {
      [](void* context, uint32_t offset) { return static_cast<Device*>(context)->read(offset); },
      [](void* context, uint32_t offset, uint32_t value) {
        static_cast<Device*>(context)->write(offset, value);
      },
      this};
}

}  // namespace intarsia::simulators::ethos_n
