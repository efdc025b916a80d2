#include "network/network_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia::targets::ethos_n {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t word() {
    const std::span<const uint8_t> four = take(4);
    uint32_t value = 0;
    for (size_t i = 0; i < four.size(); ++i) value |= static_cast<uint32_t>(four[i]) << (8 * i);
    return value;
  }
  std::span<const uint8_t> array() { return take(word()); }
  std::vector<FileBuffer> buffers() {
    std::vector<FileBuffer> found;
    const uint32_t count = word();
    for (uint32_t i = 0; i < count && !cut_; ++i) {
      FileBuffer buffer;
      buffer.id = word(), buffer.offset = word(), buffer.bytes = word();
      const std::span<const uint8_t> name = array();
      buffer.name.assign(name.begin(), name.end());
      found.push_back(std::move(buffer));
    }
    return found;
  }
  void seek(size_t at) {
    cut_ = cut_ || at > bytes_.size();
    at_ = cut_ ? bytes_.size() : at;
  }
  size_t at() const { return at_; }
  bool is_cut() const { return cut_; }

 private:
  std::span<const uint8_t> take(size_t count) {
    if (cut_ || count > bytes_.size() - at_) return cut_ = true, std::span<const uint8_t>();
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool cut_ = false;
};

Diagnostics broken(std::string what) {
  return {"Ethos-N network", std::move(what), "compile the network again"};
}

}  // namespace

int64_t NetworkFile::buffers() const {
  int64_t count = 0;
  for (const std::vector<FileBuffer>* buffers :
       {&inputs, &outputs, &in_control_constants, &in_dma_constants, &intermediates})
    for (const FileBuffer& buffer : *buffers) count = std::max(count, int64_t{buffer.id} + 1);
  return count;
}

int64_t NetworkFile::intermediate_bytes() const {
  int64_t bytes = 0;
  for (const FileBuffer& buffer : intermediates)
    bytes = std::max(bytes, int64_t{buffer.offset} + buffer.bytes);
  return bytes;
}

bool is_network(std::span<const uint8_t> bytes) {
  return Reader(bytes).word() == kContainerMagic;
}

Result<NetworkFile> read_network(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  if (reader.word() != kContainerMagic) return broken("it does not begin with ENCN");
  const uint32_t major = reader.word();
  reader.word(), reader.word();
  if (!reader.is_cut() && major != kContainerMajor)
    return broken(fmt::format("it is of version {}, not {}", major, kContainerMajor));
  NetworkFile network;
  network.dma_constants = reader.array();
  network.control_constants = reader.array();
  network.inputs = reader.buffers();
  network.outputs = reader.buffers();
  network.in_control_constants = reader.buffers();
  network.in_dma_constants = reader.buffers();
  network.intermediates = reader.buffers();
  if (reader.is_cut()) return broken(fmt::format("it is cut short, at {} bytes", bytes.size()));
  if (reader.at() != bytes.size())
    return broken(fmt::format("it has {} bytes behind its end", bytes.size() - reader.at()));
  return network;
}

Result<StreamFile> read_stream(const NetworkFile& network) {
  std::span<const uint8_t> bytes;
  for (const FileBuffer& buffer : network.in_control_constants)
    if (buffer.id == 0 && buffer.offset <= network.control_constants.size() &&
        buffer.bytes <= network.control_constants.size() - buffer.offset)
      bytes = network.control_constants.subspan(buffer.offset, buffer.bytes);
  Reader reader(bytes);
  if (reader.word() != kStreamMagic)
    return broken("its buffer 0 is no command stream: it does not begin with ENCS");
  const uint32_t major = reader.word();
  if (major != kStreamMajor)
    return broken(fmt::format("its command stream has version {}, not {}", major, kStreamMajor));
  // Offsets are relative to what follows the magic words.
  const auto base = static_cast<size_t>(kStreamMagicBytes);
  reader.seek(base);
  reader.word();  // total size
  const uint32_t agents_at = reader.word(), agents = reader.word();
  std::array<std::pair<uint32_t, uint32_t>, kQueues> lists;
  for (auto& [at, count] : lists) at = reader.word(), count = reader.word();
  StreamFile stream;
  const auto agent_bytes = static_cast<size_t>(kAgentWords * 4);
  for (uint32_t i = 0; i < agents && !reader.is_cut(); ++i) {
    reader.seek(base + agents_at + i * agent_bytes);
    std::vector<uint8_t> record;
    for (size_t w = 0; w < static_cast<size_t>(kAgentWords); ++w)
      for (uint32_t value = reader.word(), b = 0; b < 4; ++b)
        record.push_back(static_cast<uint8_t>(value >> (8 * b)));
    if (record[0] >= agent_names().size())
      return broken(fmt::format("its agent {} is of the unknown type {}", i, record[0]));
    stream.agents.push_back(std::move(record));
  }
  for (size_t queue = 0; queue < kQueues; ++queue) {
    reader.seek(base + lists[queue].first);
    for (uint32_t i = 0; i < lists[queue].second && !reader.is_cut(); ++i) {
      const size_t at = reader.at();
      const uint32_t type = reader.word();
      if (type >= command_rows().size())
        return broken(fmt::format("byte {} of its stream is no command", at));
      StreamFile::Command command{at, static_cast<CommandType>(type), {type}};
      const size_t words = ethos_n::words_of(command_rows()[type].shape);
      while (command.words.size() < words) command.words.push_back(reader.word());
      stream.queues[queue].push_back(std::move(command));
    }
  }
  if (reader.is_cut()) return broken("its command stream ends early");
  return stream;
}

uint32_t agent_value(std::span<const uint8_t> agent, const AgentField& field) {
  uint32_t value = 0;
  for (size_t i = 0; i < field.bytes; ++i)
    value |= static_cast<uint32_t>(agent[field.byte + i]) << (8 * i);
  return value;
}

int64_t variant_number(const StreamFile& stream) {
  for (const std::vector<uint8_t>& agent : stream.agents)
    if (agent[0] == static_cast<uint8_t>(AgentType::PLE_LOADER))
      return agent_value(agent, agent_field::PLE_LOADER_kernel) / kKernelsOfVariant;
  return -1;
}

}  // namespace intarsia::targets::ethos_n
