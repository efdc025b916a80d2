#include "commands/commands.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr uint32_t kTwoWords = 1 << 14;
constexpr bool Signed = true, Unsigned = false;

struct FieldRow {
  std::string_view command, field;
  uint32_t low_bit, bits;
  bool is_signed;
};
struct EnumeratorRow {
  std::string_view of, name;
  int64_t value;
};

constexpr bool Any = false, U65 = true;  // products

constexpr CommandRow kCommands[] = {
#define COMMAND0(name, code, products) {#name, code, Payload::None, products},
#define COMMAND1(name, code, payload, products) \
  {#name, code | kTwoWords, Payload::payload, products},
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
};

constexpr FieldRow kFields[] = {
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(command, field, low_bit, bits, sign, enum_name) \
  {#command, #field, low_bit, bits, sign},
#include "intarsia/targets/ethos_u/commands.def"
#undef FIELD
#undef ENUMERATOR
};

constexpr EnumeratorRow kEnumerators[] = {
#define FIELD(...)
#define ENUMERATOR(of, name, value) {#of, #name, value},
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
};

const FieldRow& find_field(std::string_view command, std::string_view field) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields), [&](const FieldRow& row) {
    return row.command == command && row.field == field;
  });
  INTARSIA_CHECK(found != std::end(kFields), fmt::format("{} has a field {}", command, field));
  return *found;
}

}  // namespace

std::span<const CommandRow> command_table() {
  return kCommands;
}

const CommandRow& command_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const CommandRow& row) { return row.name == name; });
  INTARSIA_CHECK(found != std::end(kCommands), fmt::format("{} is a command of the table", name));
  return *found;
}

const CommandRow& command_of_code(uint32_t code) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const CommandRow& row) { return row.code == code; });
  INTARSIA_CHECK(found != std::end(kCommands), "codes are those of the table");
  return *found;
}

uint32_t field_bits(std::string_view command, std::string_view field, int64_t value) {
  const FieldRow& row = find_field(command, field);
  const int64_t range = int64_t{1} << row.bits;
  // Zero points, clamps and scalars are signed or unsigned with their feature map.
  const int64_t least = row.is_signed ? -range / 2 : 0;
  INTARSIA_CHECK(value >= least && value < range,
                 fmt::format("{} fits field {} of {}", value, field, command));
  return (static_cast<uint32_t>(value) & static_cast<uint32_t>(range - 1)) << row.low_bit;
}

int64_t field_value(std::string_view command, std::string_view field, uint32_t parameter) {
  const FieldRow& row = find_field(command, field);
  return parameter >> row.low_bit & ((uint32_t{1} << row.bits) - 1);
}

int64_t enumerator(std::string_view of, std::string_view name) {
  const auto found =
      std::find_if(std::begin(kEnumerators), std::end(kEnumerators),
                   [&](const EnumeratorRow& row) { return row.of == of && row.name == name; });
  INTARSIA_CHECK(found != std::end(kEnumerators), fmt::format("{} has a value {}", of, name));
  return found->value;
}

}  // namespace intarsia::targets::ethos_u
