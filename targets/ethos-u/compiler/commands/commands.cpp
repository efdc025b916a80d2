#include "commands/commands.h"

#include <array>
#include <bit>
#include <iterator>

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

constexpr size_t mixed(std::string_view text, size_t seed = 0) {
  for (const char letter : text) seed = seed * 31 + static_cast<unsigned char>(letter);
  return seed;
}

// Where rows stand, by a hash of their names: every register of every operation is looked up several times.
template <size_t kRows>
class RowIndex {
 public:
  template <class Row, class Hash>
  constexpr RowIndex(const Row (&rows)[kRows], const Hash& hash) {
    for (size_t i = 0; i < kRows; ++i) {
      size_t slot = slot_of(hash(rows[i]));
      while (slots_[slot] != kNone) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<uint16_t>(i);
    }
  }

  // The row that `is_it` says of; null: none.
  template <class Row, class IsIt>
  const Row* find(const Row (&rows)[kRows], size_t hash, const IsIt& is_it) const {
    for (size_t slot = slot_of(hash); slots_[slot] != kNone; slot = (slot + 1) % kSlots)
      if (const Row& row = rows[slots_[slot]]; is_it(row)) return &row;
    return nullptr;
  }

 private:
  static constexpr size_t kSlots = std::bit_ceil(2 * kRows);
  static constexpr uint16_t kNone = 0xFFFF;

  static constexpr size_t slot_of(size_t hash) { return (hash ^ hash >> 16) % kSlots; }
  static constexpr std::array<uint16_t, kSlots> empty() {
    std::array<uint16_t, kSlots> slots = {};
    for (uint16_t& slot : slots) slot = kNone;
    return slots;
  }

  std::array<uint16_t, kSlots> slots_ = empty();
};

constexpr RowIndex<std::size(kCommands)> kCommandsByName(kCommands, [](const CommandRow& row) {
  return mixed(row.name);
});
constexpr RowIndex<std::size(kCommands)> kCommandsByCode(kCommands, [](const CommandRow& row) {
  return size_t{row.code};
});
constexpr RowIndex<std::size(kFields)> kFieldsByName(kFields, [](const FieldRow& row) {
  return mixed(row.field, mixed(row.command));
});
constexpr RowIndex<std::size(kEnumerators)> kEnumeratorsByName(
    kEnumerators, [](const EnumeratorRow& row) { return mixed(row.name, mixed(row.of)); });

const FieldRow& find_field(std::string_view command, std::string_view field) {
  const FieldRow* found = kFieldsByName.find(
      kFields, mixed(field, mixed(command)),
      [&](const FieldRow& row) { return row.field == field && row.command == command; });
  INTARSIA_CHECK(found != nullptr, fmt::format("{} has a field {}", command, field));
  return *found;
}

}  // namespace

std::span<const CommandRow> command_table() {
  return kCommands;
}

const CommandRow& command_named(std::string_view name) {
  const CommandRow* found = kCommandsByName.find(
      kCommands, mixed(name), [&](const CommandRow& row) { return row.name == name; });
  INTARSIA_CHECK(found != nullptr, fmt::format("{} is a command of the table", name));
  return *found;
}

const CommandRow& command_of_code(uint32_t code) {
  const CommandRow* found = kCommandsByCode.find(
      kCommands, code, [&](const CommandRow& row) { return row.code == code; });
  INTARSIA_CHECK(found != nullptr, "codes are those of the table");
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
  const EnumeratorRow* found = kEnumeratorsByName.find(
      kEnumerators, mixed(name, mixed(of)),
      [&](const EnumeratorRow& row) { return row.name == name && row.of == of; });
  INTARSIA_CHECK(found != nullptr, fmt::format("{} has a value {}", of, name));
  return found->value;
}

}  // namespace intarsia::targets::ethos_u
