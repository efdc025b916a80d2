// Commands as names and numbers, from the table in isa/.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::example_npu {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/example_npu/constants.def"
#undef CONSTANT

struct FieldRow {
  std::string_view command, name;
  uint32_t word, low_bit, bits;
  bool is_signed;

  int64_t least() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t most() const { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
};

struct CommandRow {
  std::string_view name;
  uint32_t opcode;
};

std::span<const FieldRow> field_table();
std::span<const CommandRow> command_table();
uint32_t opcode_of(std::string_view command);  // of the table (checked)
const FieldRow* find_field(std::string_view command, std::string_view name);  // null when absent

using Words = std::array<uint32_t, kCommandWords>;

int64_t get_field(const Words& words, const FieldRow& field);

// One command being written. Every field is set at most once and to what it can hold (checked).
class Command {
 public:
  explicit Command(std::string_view name);
  Command& set(std::string_view field, int64_t value);
  void append_to(std::vector<uint8_t>& bytes) const;

 private:
  std::string_view name_;
  Words words_ = {};
  Words written_ = {};  // bits that have been set
};

}  // namespace intarsia::targets::example_npu
