// The tables of isa/ say nothing twice: no two fields of a command share a bit, no two registers an
// offset, no two commands an opcode.
#include <set>

#include <gtest/gtest.h>

#include "stream.h"

namespace intarsia::test::example_npu {
namespace {

TEST(CommandTable, FieldsOfACommandDoNotOverlap) {
  std::map<std::string, std::vector<uint64_t>> taken;
  for (const auto& [name, place] : places()) {
    const std::string command = name.substr(0, name.find('.'));
    auto& words = taken.try_emplace(command, kCommandWords, 0).first->second;
    words[0] |= 0xFF;  // the opcode
    ASSERT_GE(place.word, 0) << name;
    ASSERT_LT(place.word, kCommandWords) << name;
    ASSERT_GE(place.bits, 1) << name;
    ASSERT_LE(place.low_bit + place.bits, 32) << name;
    const uint64_t mask = ((uint64_t{1} << place.bits) - 1) << place.low_bit;
    uint64_t& word = words[static_cast<size_t>(place.word)];
    EXPECT_EQ(word & mask, 0u) << name << " overlaps another field";
    word |= mask;
  }
}

TEST(CommandTable, EveryFieldBelongsToACommandAndIsThere) {
  size_t lines = 0;
#define COMMAND(name, opcode)
#define FIELD(command, name, word, low_bit, bits, sign) ++lines;
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
  EXPECT_EQ(places().size(), lines) << "a field is listed twice";
  for (const auto& [name, place] : places())
    EXPECT_TRUE(opcodes().contains(name.substr(0, name.find('.')))) << name;
}

TEST(CommandTable, OpcodesDiffer) {
  std::set<uint32_t> seen;
  for (const auto& [name, opcode] : opcodes()) {
    EXPECT_TRUE(seen.insert(opcode).second) << name;
    EXPECT_GT(opcode, 0u) << name << ": cleared memory is no command";
    EXPECT_LT(opcode, 256u) << name;
  }
}

TEST(CommandTable, EveryAddressIsARegionAndAnOffset) {
  for (const auto& [name, place] : places()) {
    const size_t dot = name.find('.');
    if (!name.substr(dot + 1).starts_with("region_") || name == "begin.region_count") continue;
    EXPECT_TRUE(places().contains(name.substr(0, dot) + ".offset_" + name.substr(dot + 8))) << name;
  }
}

TEST(RegisterTable, OffsetsDifferAndRegionsAreEvenlySpaced) {
  std::map<std::string, uint32_t> offsets;
  std::set<uint32_t> seen;
  size_t lines = 0;
#define REGISTER(name, offset, access, reset) \
  ++lines;                                    \
  offsets[#name] = offset;                    \
  EXPECT_TRUE(seen.insert(offset).second) << #name;
#include "intarsia/targets/example_npu/registers.def"
#undef REGISTER
  EXPECT_EQ(offsets.size(), lines);
  for (const auto& [name, offset] : offsets) EXPECT_EQ(offset % 4, 0u) << name;
  EXPECT_EQ(offsets.at("CommandsHigh"), offsets.at("CommandsLow") + 4);
  for (uint32_t i = 0; i < kRegions; ++i) {
    const std::string base = "Base" + std::to_string(i);
    EXPECT_EQ(offsets.at(base + "Low"), offsets.at("Base0Low") + 8 * i);
    EXPECT_EQ(offsets.at(base + "High"), offsets.at("Base0Low") + 8 * i + 4);
  }
}

}  // namespace
}  // namespace intarsia::test::example_npu
