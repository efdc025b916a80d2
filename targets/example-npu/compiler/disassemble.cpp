#include <algorithm>

#include <fmt/format.h>

#include "commands.h"
#include "npu_kind.h"

namespace intarsia::targets::example_npu {
namespace {

Words words_at(std::span<const uint8_t> bytes, size_t at) {
  Words words = {};
  for (size_t i = 0; i < static_cast<size_t>(kCommandBytes); ++i)
    words[i / 4] |= static_cast<uint32_t>(bytes[at + i]) << (8 * (i % 4));
  return words;
}

std::string command_text(const Words& words) {
  const auto commands = command_table();
  const auto command = std::find_if(commands.begin(), commands.end(), [&](const CommandRow& row) {
    return row.opcode == (words[0] & 255);
  });
  if (command == commands.end()) return fmt::format("unknown opcode {}", words[0] & 255);
  std::string text(command->name);
  for (const FieldRow& field : field_table()) {
    if (field.command != command->name) continue;
    const int64_t value = get_field(words, field);
    // Regions that the stream does not have.
    if (field.command == "begin" && field.name.starts_with("region") && value == 0) continue;
    const bool is_address = field.name.starts_with("offset");
    text += is_address ? fmt::format(" {}={:#x}", field.name, value)
                       : fmt::format(" {}={}", field.name, value);
  }
  return text;
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) {
  const size_t size = static_cast<size_t>(kCommandBytes);
  if (stream.size() < size) return std::nullopt;
  const Words begin = words_at(stream, 0);
  const auto is = [&](std::string_view field, int64_t value) {
    return get_field(begin, *find_field("begin", field)) == value;
  };
  if (begin[0] % 256 != opcode_of("begin") || !is("stream_version", kStreamVersion) ||
      !is("lanes", kLanes))
    return std::nullopt;
  if (stream.size() % size != 0)
    return Diagnostics(
        "example-npu stream",
        fmt::format("{} bytes are no whole number of commands of {} bytes", stream.size(), size));
  std::string text;
  for (size_t at = 0; at < stream.size(); at += size)
    text += fmt::format("{:>5}  {}\n", at / size, command_text(words_at(stream, at)));
  return text;
}

}  // namespace intarsia::targets::example_npu
