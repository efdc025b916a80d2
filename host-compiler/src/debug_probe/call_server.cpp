#include "debug_probe/call_server.h"

#include <fmt/format.h>

#include <algorithm>

namespace intarsia::debug_probe {
namespace {

constexpr uint32_t kFailed = UINT32_MAX;
constexpr uint32_t kLongestName = 4096, kMostPrinted = 1 << 20;
constexpr uint64_t kMostWritten = uint64_t{1} << 30;
constexpr uint32_t kFirstWritingMode = 4;  // of fopen's modes, in semihosting's order

// As boards/common/port_semihosting.c has them.
enum class Operation : uint32_t {
  Open = 0x01,
  Close = 0x02,
  Print = 0x04,
  Write = 0x05,
  Read = 0x06,
  Seek = 0x0A,
  Length = 0x0C,
  CommandLine = 0x15,
  Exit = 0x20,
};

Diagnostics lost(const std::string& what) {
  return Diagnostics("the program on the board", what,
                     "its memory or its stack may be overwritten: 'intarsia verify' runs it on "
                     "this machine as well");
}

}  // namespace

Result<uint32_t> CallServer::serve(uint32_t operation, uint32_t arguments) {
  switch (static_cast<Operation>(operation)) {
    case Operation::Open:
      return open(arguments);
    case Operation::Close:
      return close(arguments);
    case Operation::Print:
      return print(arguments);
    case Operation::Write:
      return write(arguments);
    case Operation::Read:
      return read(arguments);
    case Operation::Seek:
      return seek(arguments);
    case Operation::Length:
      return length(arguments);
    case Operation::CommandLine:
      return command_line(arguments);
    case Operation::Exit:
      return exit(arguments);
  }
  return lost(fmt::format("asks for operation {:#x}, which there is not", operation));
}

Result<CallServer::Words> CallServer::words(uint32_t address, uint32_t count) {
  INTARSIA_TRY(const std::vector<uint8_t> bytes, memory_.read(address, count * 4));
  Words all(count);
  for (size_t i = 0; i < bytes.size() && i / 4 < count; ++i)
    all[i / 4] |= static_cast<uint32_t>(bytes[i]) << (i % 4 * 8);
  return all;
}

CallServer::OpenFile* CallServer::file_of(uint32_t handle) {
  if (handle == 0 || handle > open_.size() || !open_[handle - 1].is_open) return nullptr;
  return &open_[handle - 1];
}

std::string& CallServer::content_of(const OpenFile& file) {
  return file.writes ? files_.written[file.name] : files_.read[file.name];
}

Result<uint32_t> CallServer::command_line(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 2));
  const std::string& line = files_.command_line;
  if (line.size() + 1 > block[1]) return kFailed;
  INTARSIA_TRY_VOID(memory_.write(
      block[0], std::span(reinterpret_cast<const uint8_t*>(line.c_str()), line.size() + 1)));
  return 0u;
}

Result<uint32_t> CallServer::open(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 3));
  if (block[2] > kLongestName) return lost("opens a file whose name does not end");
  INTARSIA_TRY(const std::vector<uint8_t> name, memory_.read(block[0], block[2]));
  OpenFile file{std::string(name.begin(), name.end()), block[1] >= kFirstWritingMode, true, 0};
  if (file.writes ? !files_.written.contains(file.name) : !files_.read.contains(file.name))
    return kFailed;
  if (file.writes) content_of(file).clear();
  open_.push_back(std::move(file));
  return static_cast<uint32_t>(open_.size());
}

Result<uint32_t> CallServer::close(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 1));
  OpenFile* file = file_of(block[0]);
  if (file == nullptr) return kFailed;
  file->is_open = false;
  return 0u;
}

Result<uint32_t> CallServer::print(uint32_t address) {
  constexpr uint32_t kPart = 32;  // to the end of an aligned part: memory may end behind the text
  for (;;) {
    const uint32_t count = kPart - address % kPart;
    INTARSIA_TRY(const std::vector<uint8_t> bytes, memory_.read(address, count));
    const auto end = std::find(bytes.begin(), bytes.end(), 0);
    console_.append(bytes.begin(), end);
    if (console_.size() > kMostPrinted) return lost("prints without end");
    if (end != bytes.end()) return 0u;
    address += count;
  }
}

Result<uint32_t> CallServer::write(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 3));
  OpenFile* file = file_of(block[0]);
  if (file == nullptr || !file->writes) return block[2];
  std::string& content = content_of(*file);
  if (content.size() + block[2] > kMostWritten) return lost("writes without end");
  INTARSIA_TRY(const std::vector<uint8_t> bytes, memory_.read(block[1], block[2]));
  content.append(bytes.begin(), bytes.end());
  return 0u;
}

Result<uint32_t> CallServer::read(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 3));
  OpenFile* file = file_of(block[0]);
  if (file == nullptr || file->writes) return kFailed;
  const std::string& content = content_of(*file);
  const auto count = static_cast<uint32_t>(std::min<size_t>(block[2], content.size() - file->at));
  const auto* from = reinterpret_cast<const uint8_t*>(content.data()) + file->at;
  if (count > 0) INTARSIA_TRY_VOID(memory_.write(block[1], std::span(from, count)));
  file->at += count;
  return block[2] - count;
}

Result<uint32_t> CallServer::seek(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 2));
  OpenFile* file = file_of(block[0]);
  if (file == nullptr || block[1] > content_of(*file).size()) return kFailed;
  file->at = block[1];
  return 0u;
}

Result<uint32_t> CallServer::length(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 1));
  const OpenFile* file = file_of(block[0]);
  return file == nullptr ? kFailed : static_cast<uint32_t>(content_of(*file).size());
}

Result<uint32_t> CallServer::exit(uint32_t arguments) {
  INTARSIA_TRY(const Words block, words(arguments, 2));
  exit_status_ = static_cast<int32_t>(block[1]);
  return 0u;
}

}  // namespace intarsia::debug_probe
