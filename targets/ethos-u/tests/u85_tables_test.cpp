// The tables of the Ethos-U85 say nothing twice, and agree with themselves.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace intarsia::test::ethos_u {
namespace {

enum class SecondWord : uint8_t { None, Address, Length, Fields };

struct U85Command {
  std::string name;
  uint32_t code;
  SecondWord second;
};

std::vector<U85Command> u85_commands() {
  return {
#define COMMAND0(name, code) {#name, code, SecondWord::None},
#define COMMAND1(name, code, payload) {#name, code, SecondWord::payload},
#include "intarsia/targets/ethos_u/u85_commands.def"
  };
}

struct U85Field {
  std::string command, name;
  bool is_of_second_word;
  uint32_t low_bit, bits;
  std::string values;
};

std::vector<U85Field> u85_fields() {
  return {
#define FIELD(command, name, low_bit, bits, sign, values) \
  {#command, #name, false, low_bit, bits, #values},
#define PAYLOAD_FIELD(command, name, low_bit, bits, sign, values) \
  {#command, #name, true, low_bit, bits, #values},
#include "intarsia/targets/ethos_u/u85_commands.def"
  };
}

TEST(U85CommandTable, CodesDifferWithinAForm) {
  std::set<std::pair<bool, uint32_t>> codes;
  std::set<std::string> names;
  for (const U85Command& command : u85_commands()) {
    EXPECT_TRUE(codes.insert({command.second != SecondWord::None, command.code}).second)
        << command.name;
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_LT(command.code, 1024u) << command.name;
    EXPECT_TRUE(command.name.starts_with("SET_") || command.name.starts_with("OP_"))
        << command.name;
  }
}

TEST(U85CommandTable, FieldsOfAWordDoNotOverlap) {
  std::map<std::pair<std::string, bool>, uint64_t> taken;
  std::map<std::string, SecondWord> second;
  for (const U85Command& command : u85_commands()) {
    taken[{command.name, false}] = command.second == SecondWord::Address ? 0xFF : 0;
    second[command.name] = command.second;
  }
  std::set<std::string> seen;
  for (const U85Field& field : u85_fields()) {
    ASSERT_TRUE(second.contains(field.command)) << field.command;
    EXPECT_TRUE(seen.insert(field.command + "." + field.name).second) << field.name;
    ASSERT_GE(field.bits, 1u);
    ASSERT_LE(field.low_bit + field.bits, field.is_of_second_word ? 32u : 16u) << field.command;
    EXPECT_TRUE(!field.is_of_second_word || second.at(field.command) == SecondWord::Fields)
        << field.command;
    const uint64_t mask = ((uint64_t{1} << field.bits) - 1) << field.low_bit;
    uint64_t& word = taken[{field.command, field.is_of_second_word}];
    EXPECT_EQ(word & mask, 0u) << field.command << "." << field.name;
    word |= mask;
  }
}

TEST(U85CommandTable, EveryRegisterHasAField) {
  std::set<std::string> with_fields, with_second_word;
  for (const U85Field& field : u85_fields())
    (field.is_of_second_word ? with_second_word : with_fields).insert(field.command);
  for (const U85Command& command : u85_commands()) {
    const bool is_register = command.second == SecondWord::None && command.name.starts_with("SET_");
    EXPECT_TRUE(!is_register || with_fields.contains(command.name)) << command.name;
    EXPECT_EQ(command.second == SecondWord::Fields, with_second_word.contains(command.name))
        << command.name;
  }
}

TEST(U85CommandTable, EnumeratorsFitTheirFieldsAndDiffer) {
  std::map<std::string, std::set<uint32_t>> values;
  std::set<std::pair<std::string, std::string>> names;
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(...)
#define PAYLOAD_FIELD(...)
#define ENUMERATOR(group, name, value)                                     \
  EXPECT_TRUE(values[#group].insert(value).second) << #group << "." #name; \
  EXPECT_TRUE(names.insert({#group, #name}).second) << #group << "." #name;
#include "intarsia/targets/ethos_u/u85_commands.def"
  std::set<std::string> used;
  for (const U85Field& field : u85_fields()) {
    if (field.values == "None") continue;
    used.insert(field.values);
    ASSERT_TRUE(values.contains(field.values)) << field.values;
    EXPECT_LT(*values.at(field.values).rbegin(), 1u << field.bits)
        << field.command << " " << field.values;
  }
  for (const auto& [group, all] : values) EXPECT_TRUE(used.contains(group)) << group;
}

TEST(U85ConfigurationTable, CountsFitTheFieldsOfTheConfiguration) {
  std::map<std::string, uint32_t> bits;
  uint32_t taken = 0;
#define U85_ARCHITECTURE(...)
#define U85_CONFIG_FIELD(name, low_bit, width)                        \
  EXPECT_EQ(taken&(((1u << (width)) - 1) << (low_bit)), 0u) << #name; \
  taken |= ((1u << (width)) - 1) << (low_bit);                        \
  bits[#name] = width;
#define U85_CONFIGURATION(...)
#include "intarsia/targets/ethos_u/u85_configurations.def"
#undef U85_CONFIG_FIELD
#undef U85_CONFIGURATION
  std::set<std::string> tags;
  const auto most = [&](const char* field) { return 1u << ((1u << bits.at(field)) - 1); };
#define U85_CONFIG_FIELD(...)
#define U85_CONFIGURATION(tag, macs, sram_ports, other_ports, decoders) \
  EXPECT_TRUE(tags.insert(tag).second) << tag;                          \
  EXPECT_EQ(std::string(tag), "ethos-u85-" + std::to_string(macs));     \
  EXPECT_LE(macs, most("macs_per_cc")) << tag;                          \
  EXPECT_LE(sram_ports, most("num_axi_sram")) << tag;                   \
  EXPECT_LE(other_ports, most("num_axi_ext")) << tag;                   \
  EXPECT_LE(decoders, most("num_wd")) << tag;
#include "intarsia/targets/ethos_u/u85_configurations.def"
#undef U85_ARCHITECTURE
#undef U85_CONFIG_FIELD
#undef U85_CONFIGURATION
  EXPECT_EQ(tags.size(), 5u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
