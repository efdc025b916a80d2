#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "board/board_firmware.h"
#include "sample_board.h"

namespace intarsia::board {
namespace {

// Builds an ELF file of a few sections by hand.
class ElfText {
 public:
  ElfText() : bytes_(52, '\0') {
    bytes_.replace(0, 6,
                   "\x7f"
                   "ELF\x01\x01");
  }

  // Returns the offset.
  uint32_t add(const std::string& contents) {
    const uint32_t at = static_cast<uint32_t>(bytes_.size());
    bytes_ += contents;
    return at;
  }
  static std::string words(std::initializer_list<uint32_t> values) {
    std::string text;
    for (const uint32_t value : values) {
      for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(value >> shift & 0xFF);
    }
    return text;
  }
  void patch16(size_t at, uint32_t value) {
    bytes_[at] = static_cast<char>(value & 0xFF);
    bytes_[at + 1] = static_cast<char>(value >> 8);
  }
  void patch32(size_t at, uint32_t value) { bytes_.replace(at, 4, words({value})); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr uint32_t kProgramBits = 1, kSymbols = 2, kStrings = 3, kNoBits = 8;
constexpr uint32_t kAllocated = 2;

std::string sample_elf() {
  ElfText elf;
  // Offsets of the names: 1 .text, 7 .data, 13 .bss, 18 .names, 25 intarsia_mark_begin,
  // 45 __intarsia_data_load
  const std::string names(
      "\0.text\0.data\0.bss\0.names\0intarsia_mark_begin\0__intarsia_data_load\0", 66);
  const uint32_t name_offset = elf.add(names);
  const uint32_t symbol_offset =
      elf.add(ElfText::words({0, 0, 0, 0}) + ElfText::words({25, 0x41, 4, 1u << 16}) +
              ElfText::words({45, 0x100, 0, 1u << 16}));
  const uint32_t table =
      elf.add(ElfText::words({0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) +
              ElfText::words({1, kProgramBits, kAllocated, 0, 0, 0x100, 0, 0, 4, 0}) +
              ElfText::words({7, kProgramBits, kAllocated, 0x20001000, 0, 0x20, 0, 0, 4, 0}) +
              ElfText::words({13, kNoBits, kAllocated, 0x20001020, 0, 0x40, 0, 0, 4, 0}) +
              ElfText::words({18, kStrings, 0, 0, name_offset, 66, 0, 0, 1, 0}) +
              ElfText::words({18, kSymbols, 0, 0, symbol_offset, 48, 4, 0, 4, 16}));
  elf.patch32(32, table);
  elf.patch16(48, 6);
  elf.patch16(50, 4);
  return elf.bytes();
}

TEST(ElfImage, SectionsAndSymbols) {
  const Result<ElfImage> image = parse_elf(sample_elf(), "x.elf");
  ASSERT_TRUE(image.ok()) << image.error().to_string();
  ASSERT_EQ(image->sections.size(), 3u);
  EXPECT_EQ(image->sections[0].name, ".text");
  EXPECT_EQ(image->sections[2].address, 0x20001020u);
  EXPECT_EQ(image->symbols.at("intarsia_mark_begin"), 0x41u);
}

// The sample with program headers: {type, offset, virtual, physical, size in the file, size in memory, flags, alignment}.
std::string loaded_elf(const std::string& headers) {
  const std::string sample = sample_elf();
  ElfText elf;
  elf.add(sample.substr(52));
  const uint32_t table = elf.add(headers);
  std::string bytes = sample.substr(0, 52) + elf.bytes().substr(52);
  bytes.replace(28, 4, ElfText::words({table}));
  bytes[44] = static_cast<char>(headers.size() / 32);
  return bytes;
}

TEST(ElfImage, WhatIsLoaded) {
  const std::string bytes =
      loaded_elf(ElfText::words({1, 53, 0x20001000, 0x100, 5, 64, 6, 4}) +
                 ElfText::words({1, 53, 0x20002000, 0x20002000, 0, 64, 6, 4}) +
                 ElfText::words({2, 53, 0, 0, 5, 5, 6, 4}));
  const Result<ElfImage> image = parse_elf(bytes, "x.elf");
  ASSERT_TRUE(image.ok()) << image.error().to_string();
  ASSERT_EQ(image->segments.size(), 1u) << "memory that is only cleared is not loaded";
  EXPECT_EQ(image->segments[0].address, 0x100u) << "where it lies, not where it is copied to";
  EXPECT_EQ(std::string(image->segments[0].bytes.begin(), image->segments[0].bytes.end()), ".text");
}

TEST(ElfImage, SegmentsThatAreNotThere) {
  for (const auto& header : {ElfText::words({1, 0x10000, 0, 0, 5, 5, 6, 4}),
                             ElfText::words({1, 0xFFFFFFFF, 0, 0, 0xFFFFFFFF, 5, 6, 4}),
                             ElfText::words({1, 52, 0, 0xFFFFFFFE, 5, 5, 6, 4})}) {
    const Result<ElfImage> image = parse_elf(loaded_elf(header), "x.elf");
    ASSERT_FALSE(image.ok());
    EXPECT_THAT(image.error().to_string(), testing::HasSubstr("is a damaged ELF file"));
  }
  std::string bytes = loaded_elf(ElfText::words({1, 52, 0, 0, 5, 5, 6, 4}));
  bytes.replace(28, 4, ElfText::words({0x10000}));
  EXPECT_FALSE(parse_elf(bytes, "x.elf").ok()) << "no table";
}

TEST(ElfImage, InitialisedDataCountsTwice) {
  const Result<ElfImage> image = parse_elf(sample_elf(), "x.elf");
  ASSERT_TRUE(image.ok());
  const std::vector<MemoryUse> use = memory_use(sample_board(), *image);
  ASSERT_EQ(use.size(), 4u);
  EXPECT_EQ(use[0].memory, "flash");
  EXPECT_EQ(use[0].used, 0x120u);
  EXPECT_EQ(use[0].size, 512u << 10);
  EXPECT_EQ(use[1].used, 0u);
  EXPECT_EQ(use[2].used, 0x60u);
}

TEST(ElfImage, RefusesOtherFiles) {
  EXPECT_FALSE(parse_elf("", "x").ok());
  EXPECT_FALSE(parse_elf(std::string(100, 'x'), "x").ok());
  std::string wide = sample_elf();
  wide[4] = 2;  // 64-bit
  EXPECT_FALSE(parse_elf(wide, "x").ok());
  EXPECT_FALSE(read_elf("/nowhere/at/all").ok());
}

// Every truncation and every single damaged byte: a result or a diagnostic, never a read outside
// (which the sanitizer build turns into a failure).
TEST(ElfImage, SurvivesDamage) {
  const std::string good = sample_elf();
  int refused = 0;
  for (size_t length = 0; length < good.size(); ++length) {
    if (!parse_elf(std::string_view(good).substr(0, length), "x").ok()) ++refused;
  }
  EXPECT_EQ(refused, static_cast<int>(good.size()));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xFF);
    const Result<ElfImage> image = parse_elf(damaged, "x");
    if (!image.ok()) ++refused;
  }
  EXPECT_GT(refused, static_cast<int>(good.size()));
}

}  // namespace
}  // namespace intarsia::board
