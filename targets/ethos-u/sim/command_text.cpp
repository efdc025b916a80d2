#include "intarsia/targets/ethos_u/command_text.h"

#include <cinttypes>
#include <cstdio>

namespace intarsia::simulators::ethos_u {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

std::string command_text(const DecodedCommand& command) {
  const CommandRow& row = row_of(command.command);
  std::string text = row.name;
  const auto append = [&text](const std::string& operand) { (text += ' ') += operand; };
  if (row.form == Form::Address) append(hex(command.address()));
  if (row.form == Form::Length || row.form == Form::Multiplier)
    append(std::to_string(command.payload));
  for (const FieldRow& field : field_table()) {
    if (field.command != command.command) continue;
    append(field.name);
    (text += '=') += std::to_string(command.get(field));
  }
  return text;
}

}  // namespace intarsia::simulators::ethos_u
