#include "commands/command_text.h"

#include <iterator>

#include <fmt/format.h>

namespace intarsia::targets::ethos_u {
namespace {

enum class Payload : uint8_t { None, Address, Length, Multiplier, Fields };
enum class Sign : uint8_t { Unsigned, Signed };
enum class Word : uint8_t { Parameter, Payload };

struct CommandRow {
  std::string_view name;
  uint32_t code;
  Payload payload;
};
struct FieldRow {
  std::string_view command, name;
  Word word;
  uint32_t low_bit, bits;
  Sign sign;
  std::string_view enumeration;
  uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << bits) - 1) << low_bit; }
};
struct EnumeratorRow {
  std::string_view enumeration, name;
  uint32_t value;
};

constexpr CommandRow kCommands[] = {
#define COMMAND0(name, code, products) {#name, code, Payload::None},
#define COMMAND1(name, code, payload, products) {#name, code, Payload::payload},
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
};
constexpr FieldRow kFields[] = {
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(command, name, low_bit, bits, sign, enumeration) \
  {#command, #name, Word::Parameter, low_bit, bits, Sign::sign, #enumeration},
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
};
constexpr EnumeratorRow kEnumerators[] = {
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(...)
#define ENUMERATOR(enumeration, name, value) {#enumeration, #name, value},
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
};

constexpr CommandRow kU85Commands[] = {
#define COMMAND0(name, code) {#name, code, Payload::None},
#define COMMAND1(name, code, payload) {#name, code, Payload::payload},
#include "intarsia/targets/ethos_u/u85_commands.def"
};
constexpr FieldRow kU85Fields[] = {
#define FIELD(command, name, low_bit, bits, sign, enumeration) \
  {#command, #name, Word::Parameter, low_bit, bits, Sign::sign, #enumeration},
#define PAYLOAD_FIELD(command, name, low_bit, bits, sign, enumeration) \
  {#command, #name, Word::Payload, low_bit, bits, Sign::sign, #enumeration},
#include "intarsia/targets/ethos_u/u85_commands.def"
};
constexpr EnumeratorRow kU85Enumerators[] = {
#define ENUMERATOR(enumeration, name, value) {#enumeration, #name, value},
#include "intarsia/targets/ethos_u/u85_commands.def"
};

struct Tables {
  std::span<const CommandRow> commands;
  std::span<const FieldRow> fields;
  std::span<const EnumeratorRow> enumerators;
};
constexpr Tables kTables[] = {{kCommands, kFields, kEnumerators},
                              {kU85Commands, kU85Fields, kU85Enumerators}};

const Tables& tables_of(CommandSet set) {
  return kTables[static_cast<size_t>(set)];
}

constexpr uint32_t kCodeMask = 0x3FF, kFormShift = 14, kStrayHeadMask = 0x3C00;

const CommandRow* find_command(const RawCommand& command) {
  for (const CommandRow& row : tables_of(command.set).commands)
    if (row.name == command.name) return &row;
  return nullptr;
}

int64_t extract(const RawCommand& command, const FieldRow& field) {
  const uint32_t word = field.word == Word::Payload ? command.payload : command.parameter();
  const int64_t value = (word & field.mask()) >> field.low_bit;
  const bool is_negative = field.sign == Sign::Signed && (value >> (field.bits - 1)) != 0;
  return is_negative ? value - (int64_t{1} << field.bits) : value;
}

std::string_view enumerator(CommandSet set, std::string_view enumeration, int64_t value) {
  for (const EnumeratorRow& row : tables_of(set).enumerators)
    if (row.enumeration == enumeration && row.value == value) return row.name;
  return {};
}

// What is held minus 1 is shown as what it means.
std::string field_text(const RawCommand& command, const FieldRow& field) {
  const int64_t value = extract(command, field);
  if (field.enumeration != "None") {
    const std::string_view name = enumerator(command.set, field.enumeration, value);
    return name.empty() ? fmt::format("{}={}?", field.name, value) : std::string(name);
  }
  if (field.name.ends_with("_m1"))
    return fmt::format("{}={}", field.name.substr(0, field.name.size() - 3), value + 1);
  if (field.name.ends_with("_lsb")) {
    const std::string_view stem = field.name.substr(0, field.name.size() - 4);
    return fmt::format("{}={}", stem,
                       1 + value + 2 * field_of(command, fmt::format("{}_msb", stem)));
  }
  if (field.name.starts_with("dilation")) return fmt::format("{}={}", field.name, value + 1);
  if (field.name.starts_with("broadcast"))
    return value == 0 ? std::string() : std::string(field.name);
  return fmt::format("{}={}", field.name, value);
}

}  // namespace

uint64_t RawCommand::value() const {
  if (!has_payload) return parameter();
  const CommandRow* row = find_command(*this);
  const bool is_address = row != nullptr && row->payload == Payload::Address;
  return payload | (is_address ? uint64_t{parameter() & 0xFF} << 32 : 0);
}

RawCommand read_command(std::span<const uint32_t> words, CommandSet set) {
  RawCommand command;
  command.set = set;
  command.word = words[0];
  const uint32_t form = (command.word >> kFormShift) & 3;
  command.has_payload = form == 1;
  if (command.has_payload && words.size() > 1) command.payload = words[1];
  if (form <= 1)
    for (const CommandRow& row : tables_of(set).commands)
      if (row.code == (command.word & kCodeMask) &&
          (row.payload != Payload::None) == command.has_payload)
        command.name = row.name;
  return command;
}

int64_t field_of(const RawCommand& command, std::string_view field) {
  for (const FieldRow& row : tables_of(command.set).fields)
    if (row.command == command.name && row.name == field) return extract(command, row);
  return 0;
}

std::string_view enumerator_of(const RawCommand& command, std::string_view field) {
  for (const FieldRow& row : tables_of(command.set).fields)
    if (row.command == command.name && row.name == field)
      return enumerator(command.set, row.enumeration, extract(command, row));
  return {};
}

uint32_t stray_bits(const RawCommand& command) {
  uint32_t named = 0;
  const CommandRow* row = find_command(command);
  if (row != nullptr && row->payload == Payload::Address) named = 0xFF;
  for (const FieldRow& field : tables_of(command.set).fields)
    if (field.command == command.name && field.word == Word::Parameter) named |= field.mask();
  return (command.word & kStrayHeadMask) | ((command.parameter() & ~named) << 16);
}

uint32_t stray_payload_bits(const RawCommand& command) {
  const CommandRow* row = find_command(command);
  if (row == nullptr || row->payload != Payload::Fields) return 0;
  uint32_t named = 0;
  for (const FieldRow& field : tables_of(command.set).fields)
    if (field.command == command.name && field.word == Word::Payload) named |= field.mask();
  return command.payload & ~named;
}

std::string command_text(const RawCommand& command) {
  if (command.name.empty()) return "unknown";
  std::string operands;
  const auto append = [&](const std::string& text) {
    if (text.empty()) return;
    if (!operands.empty()) operands += ' ';
    operands += text;
  };
  const CommandRow& row = *find_command(command);
  const bool is_size = row.name.find("STRIDE") != std::string_view::npos ||
                       row.name == "SET_DMA0_LEN" ||
                       row.name.find("SKIP") != std::string_view::npos;
  // Forty bits in two's complement: rows may follow one another towards lower addresses.
  const int64_t size = static_cast<int64_t>(command.value() << 24) >> 24;
  if (row.payload == Payload::Address)
    append(is_size ? fmt::format("{}", size) : fmt::format("{:#x}", command.value()));
  if (row.payload == Payload::Length || row.payload == Payload::Multiplier)
    append(fmt::format("{}", command.payload));
  for (const FieldRow& field : tables_of(command.set).fields)
    if (field.command == command.name && !field.name.ends_with("_msb"))
      append(field_text(command, field));
  if (const uint32_t stray = stray_bits(command); stray != 0)
    append(fmt::format("; undefined bits {:#010x}", stray));
  if (const uint32_t stray = stray_payload_bits(command); stray != 0)
    append(fmt::format("; undefined bits {:#010x} of the second word", stray));
  return operands.empty() ? std::string(command.name)
                          : fmt::format("{:<22} {}", command.name, operands);
}

}  // namespace intarsia::targets::ethos_u
