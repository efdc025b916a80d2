#include "disassembly/disassemble.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "commands/command_text.h"
#include "commands/cop2.h"
#include "disassembly/operation_text.h"
#include "disassembly/u85_device.h"
#include "hardware/configuration.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr uint32_t kMagic =
#define MAGIC(value) value
#define ACTION(...)
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
    ;

enum class Action : uint32_t {
#define MAGIC(value)
#define ACTION(name, id, words) name = id,
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};

struct ActionFieldRow {
  Action action;
  std::string_view name;
  uint32_t word, low_bit, bits;
};
constexpr ActionFieldRow kActionFields[] = {
#define MAGIC(value)
#define ACTION(...)
#define ACTION_FIELD(action, name, word, low_bit, bits) \
  {Action::action, #name, word, low_bit, bits},
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};

// `words` begins with the action.
uint32_t action_field(std::span<const uint32_t> words, Action action, std::string_view name) {
  for (const ActionFieldRow& row : kActionFields)
    if (row.action == action && row.name == name)
      return (words[row.word] >> row.low_bit) & ((uint32_t{1} << row.bits) - 1);
  return 0;
}

std::vector<uint32_t> words_of(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  for (size_t i = 0; i < words.size() * 4; ++i) words[i / 4] |= uint32_t{bytes[i]} << (8 * (i % 4));
  return words;
}

// Whom a stream was made for, as its payload says.
struct Device {
  std::string text;
  CommandSet commands = CommandSet::U55;
};

// `action` is OPTIMIZER_CONFIG.
Device device_of(std::span<const uint32_t> action) {
  constexpr Action kConfig = Action::OPTIMIZER_CONFIG;
  const auto field = [&](std::string_view name) { return action_field(action, kConfig, name); };
  if (field("product") == kU85Product)
    return {u85_device_text(action[1], action[2]), CommandSet::U85};
  const int64_t macs = int64_t{1} << field("macs_per_cc");
  const std::string_view product = field("product") == 0   ? "u55"
                                   : field("product") == 1 ? "u65"
                                                           : "";
  std::string device =
      fmt::format("an NPU of product number {} with {} MACs", field("product"), macs);
  for (const Configuration& row : configurations())
    if (row.product == product && row.macs == macs) device = row.tag;
  return {fmt::format("{}, {} KiB of SHRAM, architecture {}.{}.{}", device, field("shram_size"),
                      field("arch_major_rev"), field("arch_minor_rev"), field("arch_patch_rev"))};
}

std::string stream_text(std::span<const uint32_t> words, CommandSet set) {
  std::string text;
  RegisterTrail trail;
  bool is_stopped = false;
  for (size_t at = 0; at < words.size();) {
    const RawCommand command = read_command(words.subspan(at), set);
    const bool is_cut = at + command.words() > words.size();
    std::string line = fmt::format("{:06x}: {:08x} ", at * 4, command.word);
    line +=
        command.has_payload && !is_cut ? fmt::format("{:08x}  ", command.payload) : "          ";
    line += is_cut ? "cut off before its payload" : command_text(command);
    if (is_stopped) line += "  ; behind OP_STOP";
    if (const std::string operation = trail.operation_text(command); !operation.empty())
      line = fmt::format("{:<49} ; {}", line, operation);
    text += line + "\n";
    if (command.name.starts_with("OP_") && command.name != "OP_DMA_WAIT" &&
        command.name != "OP_KERNEL_WAIT")
      text += "\n";
    trail.set(command);
    is_stopped |= command.name == "OP_STOP";
    at += command.words();
  }
  return text;
}

// Where a payload's stream is, in words from the magic number on.
struct Stream {
  size_t first = 0, words = 0;
  Device device;  // whom the payload says it is for
};

Result<Stream> find_cop2_stream(std::span<const uint32_t> payload, const std::string& where) {
  const Result<Cop2Payload> read = read_cop2(payload);
  if (!read.ok())
    return Diagnostics(where, read.error().items().front().what,
                       "it was cut short or damaged; compile or copy it again");
  const uint32_t action[] = {0, read->config, read->id};
  return Stream{read->first_word, read->word_count, device_of(action)};
}

Result<Stream> find_stream(std::span<const uint32_t> payload, const std::string& where) {
  if (is_cop2(payload)) return find_cop2_stream(payload, where);
  Stream stream;
  for (size_t at = 1; at < payload.size();) {
    const std::span<const uint32_t> rest = payload.subspan(at);
    switch (static_cast<Action>(rest[0] & 0xFF)) {
      case Action::OPTIMIZER_CONFIG:
        if (rest.size() < 3)
          return Diagnostics(where, "the payload ends inside its configuration",
                             "compile it again");
        stream.device = device_of(rest);
        at += 3;
        break;
      case Action::COMMAND_STREAM: {
        const auto field = [&](std::string_view name) {
          return action_field(rest, Action::COMMAND_STREAM, name);
        };
        stream.first = at + 1;
        stream.words = size_t{field("length_high")} << 16 | field("length_low");
        if (stream.words > rest.size() - 1)
          return Diagnostics(
              where,
              fmt::format("the payload announces a stream of {} words and ends after {}",
                          stream.words, rest.size() - 1),
              "it was cut short; compile or copy it again");
        return stream;
      }
      case Action::READ_APB:
      case Action::DUMP_SHRAM:
      case Action::NOP:
        ++at;
        break;
      default:
        return Diagnostics(
            where,
            fmt::format("word {} of the payload, {:#010x}, is no action of the driver", at,
                        rest[0]),
            "it is damaged, or made for another driver");
    }
  }
  return Diagnostics(where, "the payload has no command stream",
                     "it was cut short; compile or copy it again");
}

std::string payload_text(const Stream& stream, std::span<const uint32_t> payload) {
  const std::string& device = stream.device.text;
  return fmt::format("stream of {} words for {}\n", stream.words,
                     device.empty() ? "an NPU that the payload does not name" : device) +
         stream_text(payload.subspan(stream.first, stream.words), stream.device.commands);
}

// Bytes that are nothing but commands we know, up to the end.
bool is_plain_stream(std::span<const uint32_t> words) {
  bool has_operation = false;
  std::string_view last;
  for (size_t at = 0; at < words.size();) {
    const RawCommand command = read_command(words.subspan(at));
    if (command.name.empty() || stray_bits(command) != 0) return false;
    has_operation |= command.name.starts_with("OP_");
    last = command.name;
    at += command.words();
  }
  return has_operation && last == "OP_STOP";
}

// Files of TFLite with operators that Vela made: the payload is a constant tensor. Every payload that
// is whole is found, wherever the file has it.
std::optional<Result<std::string>> tflite_text(std::span<const uint8_t> bytes) {
  std::string text;
  int found = 0;
  for (size_t at = 0; at + 12 <= bytes.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, 4);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    if (word != kMagic && !is_cop2({&word, 1})) continue;
    const std::vector<uint32_t> payload = words_of(bytes.subspan(at));
    const Result<Stream> stream = find_stream(payload, "");
    // A payload says whom it is for before anything else.
    if (!stream.ok() || stream->device.text.empty()) continue;
    text += fmt::format("{}operator {} of kind ethos-u, payload at byte {:#x}: {}",
                        found == 0 ? "" : "\n", found, at, payload_text(*stream, payload));
    ++found;
    at += (stream->first + stream->words) * 4 - 4;
  }
  if (found == 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> bytes) {
  constexpr std::string_view kTflite = "TFL3";
  if (bytes.size() >= 8 && std::memcmp(bytes.data() + 4, kTflite.data(), kTflite.size()) == 0)
    return tflite_text(bytes);
  const std::vector<uint32_t> words = words_of(bytes);
  if (!words.empty() && (words[0] == kMagic || is_cop2(words))) {
    const Result<Stream> stream = find_stream(words, "ethos-u payload");
    if (!stream.ok()) return stream.error();
    return payload_text(*stream, words);
  }
  if (bytes.size() % 4 != 0 || !is_plain_stream(words)) return std::nullopt;
  return stream_text(words, CommandSet::U55);
}

}  // namespace intarsia::targets::ethos_u
