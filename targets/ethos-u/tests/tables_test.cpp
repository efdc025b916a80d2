// The tables of isa/ say nothing twice and contradict neither themselves nor Arm's numbers.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace intarsia::test::ethos_u {
namespace {

struct Command {
  std::string name;
  uint32_t code;
  bool has_payload;
  bool is_address;
};

std::vector<Command> commands() {
  enum Payload { Address, Length, Multiplier };
  return {
#define COMMAND0(name, code, products) {#name, code, false, false},
#define COMMAND1(name, code, payload, products) {#name, code, true, payload == Address},
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
  };
}

struct Field {
  std::string command, name;
  uint32_t low_bit, bits;
  std::string values;
};

std::vector<Field> fields() {
  return {
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(command, name, low_bit, bits, sign, values) {#command, #name, low_bit, bits, #values},
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
  };
}

TEST(CommandTable, CodesDifferWithinAForm) {
  std::set<std::pair<bool, uint32_t>> codes;
  std::set<std::string> names;
  for (const Command& command : commands()) {
    EXPECT_TRUE(codes.insert({command.has_payload, command.code}).second) << command.name;
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_LT(command.code, 1024u) << command.name;
    EXPECT_TRUE(command.name.starts_with("SET_") || command.name.starts_with("OP_"))
        << command.name;
  }
}

TEST(CommandTable, FieldsOfACommandDoNotOverlap) {
  std::map<std::string, uint32_t> taken;
  for (const Command& command : commands()) taken[command.name] = command.is_address ? 0xFF : 0;
  std::set<std::string> seen;
  for (const Field& field : fields()) {
    ASSERT_TRUE(taken.contains(field.command)) << field.command;
    EXPECT_TRUE(seen.insert(field.command + "." + field.name).second) << field.name;
    ASSERT_GE(field.bits, 1u);
    ASSERT_LE(field.low_bit + field.bits, 16u) << field.command << "." << field.name;
    const uint32_t mask = ((1u << field.bits) - 1) << field.low_bit;
    EXPECT_EQ(taken[field.command] & mask, 0u) << field.command << "." << field.name;
    taken[field.command] |= mask;
  }
}

TEST(CommandTable, EveryRegisterHasAField) {
  std::set<std::string> with_fields;
  for (const Field& field : fields()) with_fields.insert(field.command);
  for (const Command& command : commands()) {
    if (command.has_payload || command.name.starts_with("OP_")) continue;
    EXPECT_TRUE(with_fields.contains(command.name)) << command.name;
  }
}

TEST(CommandTable, EnumeratorsFitTheirFieldsAndDiffer) {
  std::map<std::string, std::set<uint32_t>> values;
  std::set<std::string> names;
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(...)
#define ENUMERATOR(group, name, value)                                     \
  EXPECT_TRUE(values[#group].insert(value).second) << #group << "." #name; \
  EXPECT_TRUE(names.insert(#group "." #name).second) << #group "." #name;
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
  std::set<std::string> used;
  for (const Field& field : fields()) {
    if (field.values == "None") continue;
    used.insert(field.values);
    ASSERT_TRUE(values.contains(field.values)) << field.values;
    for (const uint32_t value : values[field.values])
      EXPECT_LT(value, 1u << field.bits) << field.values;
  }
  for (const auto& [group, all] : values) EXPECT_TRUE(used.contains(group)) << group;
}

TEST(RegisterTable, OffsetsDifferPairsAreAdjacentFieldsDoNotOverlap) {
  std::map<std::string, uint32_t> offsets, taken;
  std::set<uint32_t> seen;
#define REGISTER(name, offset, access, reset)       \
  offsets[#name] = offset;                          \
  EXPECT_TRUE(seen.insert(offset).second) << #name; \
  EXPECT_EQ(offset % 4, 0) << #name;
#define REGISTER_FIELD(name, field, low_bit, bits)                                           \
  {                                                                                          \
    ASSERT_TRUE(offsets.contains(#name)) << #name;                                           \
    const uint32_t mask = static_cast<uint32_t>(((uint64_t{1} << (bits)) - 1) << (low_bit)); \
    EXPECT_EQ(taken[#name] & mask, 0u) << #name "." #field;                                  \
    taken[#name] |= mask;                                                                    \
  }
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
  for (const auto& [name, offset] : offsets) {
    if (!name.ends_with("_LO")) continue;
    EXPECT_EQ(offsets.at(name.substr(0, name.size() - 2) + "HI"), offset + 4) << name;
  }
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(offsets.at("BASEP" + std::to_string(i) + "_LO"),
              0x80u + 8u * static_cast<uint32_t>(i));
}

TEST(ActionTable, FieldsDoNotOverlapEachOtherOrTheId) {
  std::map<std::string, uint32_t> words;
  std::set<uint32_t> ids;
  std::map<std::pair<std::string, uint32_t>, uint32_t> taken;
  constexpr uint32_t Counted = 0;
#define MAGIC(value) EXPECT_EQ(value, 'C' | 'O' << 8 | 'P' << 16 | '1' << 24);
#undef ACTION  // of googlemock
#define ACTION(name, id, following)            \
  EXPECT_TRUE(ids.insert(id).second) << #name; \
  words[#name] = following;                    \
  taken[{#name, 0}] = 0xFF;
#define ACTION_FIELD(action, field, word, low_bit, bits)                  \
  {                                                                       \
    ASSERT_LE(word, words.at(#action)) << #action "." #field;             \
    const uint32_t mask = ((1u << (bits)) - 1) << (low_bit);              \
    EXPECT_EQ((taken[{#action, word}] & mask), 0u) << #action "." #field; \
    taken[{#action, word}] |= mask;                                       \
  }
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
}

TEST(ConfigurationTable, MacsAreWhatTheMicroBlocksMake) {
  std::set<std::string> names, granules;
  // A core multiplies eight IFM channels into every element of its OFM micro-block in a cycle.
#define PRODUCT(...)
#define CONFIGURATION(name, tag, product, macs, cores, ofm_w, ofm_h, ofm_c, ifm_w, ifm_h, ifm_c, \
                      elementwise_units, shram_kib)                                              \
  names.insert(#name);                                                                           \
  EXPECT_EQ(ofm_w* ofm_h* ofm_c* ifm_c* cores, macs) << #name;                                   \
  EXPECT_EQ(ifm_w, ofm_w) << #name;                                                              \
  EXPECT_EQ(ifm_h, ofm_h) << #name;
#define GRANULES(name, ...) granules.insert(#name);
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(names, granules);
}

// What the fields of the command table can say at most, where a limit says the same.
TEST(LimitTable, SaysNothingTwiceAndFitsTheFields) {
  std::map<std::string, int64_t> limits;
  std::map<std::string, std::pair<uint32_t, uint32_t>> types;
  std::vector<int64_t> splits;
  constexpr uint32_t U8 = 1, S8 = 2, S16 = 4, S32 = 8, Any = 0, Same = 1;
#define LIMIT(name, value) EXPECT_TRUE(limits.emplace(#name, value).second) << #name;
#define SPLIT_DEPTH(channels) splits.push_back(channels);
#define OPERAND_TYPES(operation, ifm, ofm, relation)                                \
  EXPECT_TRUE(types.emplace(#operation, std::pair(ifm, ofm)).second) << #operation; \
  EXPECT_TRUE(relation == Any || ((ifm) & ~(ofm)) == 0) << #operation " makes its IFM's";
#include "intarsia/targets/ethos_u/limits.def"
#undef LIMIT
#undef SPLIT_DEPTH
#undef OPERAND_TYPES
  EXPECT_EQ(splits, std::vector<int64_t>{16});
  // Four operations with a kernel, one of them three pools, and every element-wise mode.
  size_t modes = 0;
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(...)
#define ENUMERATOR(group, name, value) modes += std::string(#group) == "elementwise_mode";
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
  EXPECT_EQ(types.size(), 2 + 3 + modes);
  for (const auto& [name, sets] : types) {
    EXPECT_NE(sets.first, 0u) << name;
    EXPECT_NE(sets.second, 0u) << name;
  }

  const std::vector<Field> all = fields();
  const auto bits_of = [&](const std::string& command) {
    uint32_t bits = 0;
    for (const Field& field : all)
      if (field.command == command) bits = field.bits;
    return bits;
  };
  for (const char* extent : {"SET_IFM_DEPTH_M1", "SET_OFM_WIDTH_M1", "SET_OFM_HEIGHT_M1",
                             "SET_OFM_DEPTH_M1", "SET_KERNEL_WIDTH_M1", "SET_KERNEL_HEIGHT_M1"})
    EXPECT_EQ(limits.at("Extent"), int64_t{1} << bits_of(extent)) << extent;
  for (const char* side : {"SET_IFM_PAD_TOP", "SET_IFM_PAD_LEFT"})
    EXPECT_EQ(limits.at("PadBefore"), (int64_t{1} << bits_of(side)) - 1) << side;
  for (const char* side : {"SET_IFM_PAD_BOTTOM", "SET_IFM_PAD_RIGHT"})
    EXPECT_EQ(limits.at("PadAfter"), (int64_t{1} << bits_of(side)) - 1) << side;
  EXPECT_LT(limits.at("Stride"), 1 << 2);  // two bits of a stride minus 1
  EXPECT_LE(limits.at("KernelHeight"), limits.at("PoolHeight"));
  EXPECT_LE(limits.at("PaddedAverage"), limits.at("PoolHeight"));
  EXPECT_LE(limits.at("KernelElements"), limits.at("PoolElements"));
  // The largest sum of weights times the largest 8-bit value is an accumulator of 32 bits.
  EXPECT_LT(limits.at("WeightSum") * 255, int64_t{1} << 31);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
