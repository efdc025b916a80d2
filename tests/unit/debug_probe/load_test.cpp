#include "debug_probe/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_stub.h"

namespace intarsia::debug_probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint8_t> counted(size_t count, uint8_t first) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(first + i * 5);
  return bytes;
}

class LoadTest : public testing::Test {
 protected:
  LoadTest() : client(stub, {Milliseconds(500), Milliseconds(500)}) {}
  void SetUp() override {
    ASSERT_TRUE(client.start().ok());
    ASSERT_TRUE(client.describe().ok());
    stub.asked.clear();
  }
  std::vector<uint8_t> held(uint64_t address, size_t count) {
    const FakeStub::Memory& memory = *stub.memory_at(address);
    const auto begin = memory.bytes.begin() + static_cast<std::ptrdiff_t>(address - memory.base);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  std::string trouble(const std::vector<board::ElfSegment>& segments) {
    const Result<void> loaded = load(client, segments);
    return loaded.ok() ? "" : loaded.error().to_string();
  }

  FakeStub stub;
  Client client;
};

const StubMemory kSmallBlocks{0x08000000, 0x4000, true, false, 0x400};
const StubMemory kLargeBlocks{0x08004000, 0x20000, true, false, 0x10000};

TEST(RangesToErase, AreBlocksThatTheProgramTouches) {
  const auto ranges = [](std::vector<board::ElfSegment> segments) {
    return ranges_to_erase({kLargeBlocks, kSmallBlocks}, segments);
  };
  EXPECT_TRUE(ranges({{0x20000000, counted(10, 1)}}).empty()) << "RAM";
  EXPECT_THAT(ranges({{0x08000000, counted(1, 1)}}), ElementsAre(ErasedRange{0x08000000, 0x400}));
  EXPECT_THAT(ranges({{0x080003FF, counted(2, 1)}}), ElementsAre(ErasedRange{0x08000000, 0x800}));
  EXPECT_THAT(ranges({{0x08000410, counted(16, 1)}, {0x08000420, counted(0x400, 1)}}),
              ElementsAre(ErasedRange{0x08000400, 0x800}))
      << "two segments in one block";
  EXPECT_THAT(ranges({{0x08001000, counted(4, 1)}, {0x08000000, counted(4, 1)}}),
              ElementsAre(ErasedRange{0x08000000, 0x400}, ErasedRange{0x08001000, 0x400}));
  EXPECT_THAT(ranges({{0x08003FF0, counted(0x20, 1)}}),
              ElementsAre(ErasedRange{0x08003C00, 0x400}, ErasedRange{0x08004000, 0x10000}))
      << "over the edge of two flashes";
}

TEST_F(LoadTest, FlashAndRam) {
  const auto code = counted(0x900, 3), data = counted(100, 9);
  std::fill_n(stub.memory_at(0x08000000)->bytes.begin(), 0x2000, uint8_t{0});
  ASSERT_EQ(trouble({{0x20000010, data}, {0x08000400, code}}), "");
  EXPECT_EQ(held(0x08000400, code.size()), code);
  EXPECT_EQ(held(0x20000010, data.size()), data);
  EXPECT_EQ(held(0x080003FF, 1)[0], 0) << "the block before is another's";
  EXPECT_EQ(held(0x08001000, 1)[0], 0) << "so is the one behind";
  EXPECT_TRUE(stub.was_asked("vFlashErase:8000400,c00"));
  EXPECT_TRUE(stub.was_asked("vFlashDone"));
}

TEST_F(LoadTest, FlashIsWrittenOnce) {
  const std::vector<board::ElfSegment> program = {{0x08000000, counted(0x500, 3)},
                                                  {0x20000000, counted(8, 1)}};
  ASSERT_EQ(trouble(program), "");
  stub.asked.clear();
  stub.memory_at(0x20000000)->bytes[3] = 77;
  ASSERT_EQ(trouble(program), "");
  EXPECT_FALSE(stub.was_asked("vFlash")) << "it holds the program";
  EXPECT_EQ(held(0x20000000, 8), counted(8, 1));
}

TEST_F(LoadTest, WithoutAMemoryMap) {
  stub.files.erase("memory-map:");
  Client other(stub, {Milliseconds(500), Milliseconds(500)});
  ASSERT_TRUE(other.start().ok());
  ASSERT_TRUE(other.describe().ok());
  ASSERT_TRUE(load(other, {{0x20000000, counted(300, 1)}}).ok());
  EXPECT_EQ(held(0x20000000, 300), counted(300, 1));
  // Flash that nobody says is one takes what is written, and loses it.
  const Result<void> loaded = load(other, {{0x08000000, counted(300, 1)}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().to_string(),
              HasSubstr("what was written at 0x08000000 does not read back: it is no RAM there"));
}

TEST_F(LoadTest, FlashThatFails) {
  stub.memory_at(0x08000000)->is_fixed = true;
  EXPECT_THAT(trouble({{0x08000000, counted(300, 1)}}),
              HasSubstr("it is no flash that can be written there; it may be protected"));
  for (const char* packet : {"vFlashErase", "vFlashWrite", "vFlashDone"}) {
    stub.on_packet = [&](const std::string& asked) -> std::optional<std::string> {
      if (asked.starts_with(packet)) return "E.flash is locked";
      return std::nullopt;
    };
    EXPECT_THAT(trouble({{0x08000000, counted(300, 1)}}),
                HasSubstr("it answers 'E.flash is locked'"))
        << packet;
  }
}

TEST_F(LoadTest, MemoryThatTheChipDoesNotHave) {
  EXPECT_THAT(trouble({{0x30000000, counted(300, 1)}}), HasSubstr("at 0x30000000"));
}

TEST_F(LoadTest, TheConnectionIsLostAnywhere) {
  for (int packets = 0; packets < 30; ++packets) {
    FakeStub own;
    Client other(own, {Milliseconds(500), Milliseconds(500)});
    ASSERT_TRUE(other.start().ok());
    ASSERT_TRUE(other.describe().ok());
    own.packets_until_lost = packets;
    const Result<void> loaded =
        load(other, {{0x08000000, counted(900, 1)}, {0x20000000, counted(300, 1)}});
    if (loaded.ok()) {
      EXPECT_GT(packets, 12);
      return;
    }
    EXPECT_THAT(loaded.error().to_string(), HasSubstr("the connection is lost")) << packets;
  }
  ADD_FAILURE() << "it never came to its end";
}

}  // namespace
}  // namespace intarsia::debug_probe
