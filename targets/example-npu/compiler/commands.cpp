#include "commands.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia::targets::example_npu {
namespace {

constexpr bool Signed = true, Unsigned = false;

constexpr FieldRow kFields[] = {
#define COMMAND(name, opcode)
#define FIELD(command, name, word, low_bit, bits, sign) \
  {#command, #name, word, low_bit, bits, sign},
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
};

constexpr CommandRow kCommands[] = {
#define COMMAND(name, opcode) {#name, opcode},
#define FIELD(command, name, word, low_bit, bits, sign)
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
};

uint32_t mask_of(const FieldRow& field) {
  return static_cast<uint32_t>(((uint64_t{1} << field.bits) - 1) << field.low_bit);
}

}  // namespace

std::span<const FieldRow> field_table() {
  return kFields;
}
std::span<const CommandRow> command_table() {
  return kCommands;
}

uint32_t opcode_of(std::string_view command) {
  const auto row =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const CommandRow& candidate) { return candidate.name == command; });
  INTARSIA_CHECK(row != std::end(kCommands), "commands are those of the table");
  return row->opcode;
}

const FieldRow* find_field(std::string_view command, std::string_view name) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields), [&](const FieldRow& row) {
    return row.command == command && row.name == name;
  });
  return found == std::end(kFields) ? nullptr : found;
}

int64_t get_field(const Words& words, const FieldRow& field) {
  const auto value = static_cast<int64_t>((words[field.word] & mask_of(field)) >> field.low_bit);
  return value > field.most() ? value - (int64_t{1} << field.bits) : value;
}

Command::Command(std::string_view name) : name_(name) {
  words_[0] = opcode_of(name);
}

Command& Command::set(std::string_view field, int64_t value) {
  const FieldRow* row = find_field(name_, field);
  INTARSIA_CHECK(row != nullptr, fmt::format("{} has a field {}", name_, field));
  INTARSIA_CHECK(value >= row->least() && value <= row->most(),
                 fmt::format("{} fits field {} of {}", value, field, name_));
  INTARSIA_CHECK((written_[row->word] & mask_of(*row)) == 0, "a field is set once");
  words_[row->word] |= static_cast<uint32_t>(value) << row->low_bit & mask_of(*row);
  written_[row->word] |= mask_of(*row);
  return *this;
}

void Command::append_to(std::vector<uint8_t>& bytes) const {
  for (const uint32_t word : words_)
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(word >> (8 * byte)));
}

}  // namespace intarsia::targets::example_npu
