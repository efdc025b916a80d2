#include "intarsia/targets/ethos_n/container.h"

#include <cstring>

#include "intarsia/targets/ethos_n/isa.h"

namespace intarsia::simulators::ethos_n {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool u32(uint32_t& value) {
    if (bytes_.size() - at_ < 4) return false;
    value = static_cast<uint32_t>(bytes_[at_]) | static_cast<uint32_t>(bytes_[at_ + 1]) << 8 |
            static_cast<uint32_t>(bytes_[at_ + 2]) << 16 |
            static_cast<uint32_t>(bytes_[at_ + 3]) << 24;
    at_ += 4;
    return true;
  }
  bool array(std::span<const uint8_t>& values) {
    uint32_t count = 0;
    if (!u32(count) || bytes_.size() - at_ < count) return false;
    values = bytes_.subspan(at_, count);
    at_ += count;
    return true;
  }
  size_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

bool read_buffers(Reader& reader, std::vector<Buffer>& buffers) {
  uint32_t count = 0;
  if (!reader.u32(count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Buffer buffer;
    std::span<const uint8_t> name;
    if (!reader.u32(buffer.id) || !reader.u32(buffer.offset) || !reader.u32(buffer.bytes) ||
        !reader.array(name))
      return false;
    buffer.name.assign(name.begin(), name.end());
    buffers.push_back(std::move(buffer));
  }
  return true;
}

}  // namespace

std::span<const uint8_t> Network::command_stream() const {
  for (const Buffer& buffer : in_control_constants)
    if (buffer.id == 0 && buffer.offset <= control_constants.size() &&
        buffer.bytes <= control_constants.size() - buffer.offset)
      return std::span(control_constants).subspan(buffer.offset, buffer.bytes);
  return {};
}

std::optional<Fault> read_network(std::span<const uint8_t> bytes, Network& network) {
  if (bytes.size() < 16 || std::memcmp(bytes.data(), "ENCN", 4) != 0)
    return Fault{Cause::Container, "", "this is no compiled network: it does not begin with ENCN"};
  Reader reader(bytes.subspan(4));
  uint32_t major = 0, minor = 0, patch = 0;
  std::span<const uint8_t> dma, control;
  reader.u32(major), reader.u32(minor), reader.u32(patch);
  if (major != kContainerMajor)
    return Fault{
        Cause::Container, "",
        "ENCN version " + std::to_string(major) + " is not " + std::to_string(kContainerMajor)};
  if (!reader.array(dma) || !reader.array(control) || !read_buffers(reader, network.inputs) ||
      !read_buffers(reader, network.outputs) ||
      !read_buffers(reader, network.in_control_constants) ||
      !read_buffers(reader, network.in_dma_constants) ||
      !read_buffers(reader, network.intermediates))
    return Fault{Cause::Container, "",
                 "the compiled network ends early, at byte " + std::to_string(4 + reader.at()) +
                     " of " + std::to_string(bytes.size())};
  if (!reader.done())
    return Fault{
        Cause::Container, "",
        "bytes follow the end of the compiled network, at byte " + std::to_string(4 + reader.at())};
  network.dma_constants.assign(dma.begin(), dma.end());
  network.control_constants.assign(control.begin(), control.end());
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_n
