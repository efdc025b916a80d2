#include "debug_probe/call_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::debug_probe {
namespace {

using testing::HasSubstr;

constexpr uint32_t kBase = 0x20000000, kFailed = UINT32_MAX;

class Ram : public TargetMemory {
 public:
  std::vector<uint8_t> bytes = std::vector<uint8_t>(4096, 0);

  Result<std::vector<uint8_t>> read(uint32_t address, uint32_t count) override {
    if (!holds(address, count)) return Diagnostics("ram", "nothing is there");
    const auto begin = bytes.begin() + (address - kBase);
    return std::vector<uint8_t>(begin, begin + count);
  }
  Result<void> write(uint32_t address, std::span<const uint8_t> from) override {
    if (!holds(address, from.size())) return Diagnostics("ram", "nothing is there");
    std::copy(from.begin(), from.end(), bytes.begin() + (address - kBase));
    return {};
  }
  void put(uint32_t address, const std::string& text) {
    std::copy(text.begin(), text.end(), bytes.begin() + (address - kBase));
  }
  std::string text(uint32_t address, size_t count) const {
    const auto begin = bytes.begin() + (address - kBase);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  bool holds(uint64_t address, uint64_t count) const {
    return address >= kBase && address + count <= kBase + bytes.size();
  }
};

class CallServerTest : public testing::Test {
 protected:
  CallServerTest() : server(files, ram) {
    files.command_line = "intarsia run";
    files.read["in0"] = "0123456789";
    files.written["out0"] = "old";
  }

  // The call with these words as its arguments.
  Result<uint32_t> call(uint32_t operation, std::initializer_list<uint32_t> words) {
    uint32_t at = kBase;
    for (const uint32_t word : words)
      for (int i = 0; i < 4; ++i) ram.bytes[at++ - kBase] = static_cast<uint8_t>(word >> (8 * i));
    return server.serve(operation, kBase);
  }
  Result<uint32_t> open(const std::string& name, uint32_t mode) {
    ram.put(kBase + 0x100, name);
    return call(1, {kBase + 0x100, mode, static_cast<uint32_t>(name.size())});
  }

  HostFiles files;
  Ram ram;
  CallServer server;
};

TEST_F(CallServerTest, CommandLine) {
  EXPECT_EQ(*call(0x15, {kBase + 0x100, 13}), 0u);
  EXPECT_EQ(ram.text(kBase + 0x100, 13), std::string("intarsia run\0", 13));
  EXPECT_EQ(*call(0x15, {kBase + 0x100, 12}), kFailed);
}

TEST_F(CallServerTest, ReadsInParts) {
  const uint32_t file = *open("in0", 1);
  EXPECT_EQ(*call(0xC, {file}), 10u);
  EXPECT_EQ(*call(6, {file, kBase + 0x200, 4}), 0u);
  EXPECT_EQ(*call(6, {file, kBase + 0x204, 8}), 2u) << "those that it did not read";
  EXPECT_EQ(ram.text(kBase + 0x200, 10), "0123456789");
  EXPECT_EQ(*call(6, {file, kBase + 0x204, 8}), 8u);
  EXPECT_EQ(*call(0xA, {file, 8}), 0u);
  EXPECT_EQ(*call(6, {file, kBase + 0x200, 2}), 0u);
  EXPECT_EQ(ram.text(kBase + 0x200, 2), "89");
  EXPECT_EQ(*call(0xA, {file, 11}), kFailed);
  EXPECT_EQ(*call(5, {file, kBase, 4}), 4u) << "it is not there to be written";
  EXPECT_EQ(*call(2, {file}), 0u);
  EXPECT_EQ(*call(2, {file}), kFailed);
  EXPECT_EQ(*call(6, {file, kBase, 4}), kFailed);
}

TEST_F(CallServerTest, Writes) {
  const uint32_t file = *open("out0", 5);
  EXPECT_EQ(files.written["out0"], "");
  ram.put(kBase + 0x200, "scores");
  EXPECT_EQ(*call(5, {file, kBase + 0x200, 6}), 0u);
  EXPECT_EQ(*call(5, {file, kBase + 0x200, 2}), 0u);
  EXPECT_EQ(files.written["out0"], "scoressc");
  EXPECT_EQ(*call(6, {file, kBase, 4}), kFailed);
}

TEST_F(CallServerTest, NoOtherFileOfTheHost) {
  for (const char* name : {"/etc/passwd", "in1", "", "../in0", "out0"})
    EXPECT_EQ(*open(name, 1), kFailed) << name;
  for (const char* name : {"in0", "/tmp/new", "run"}) EXPECT_EQ(*open(name, 5), kFailed) << name;
  EXPECT_EQ(files.read.size(), 1u);
  EXPECT_EQ(files.written.size(), 1u);
}

TEST_F(CallServerTest, HandlesThatAreNone) {
  for (const uint32_t handle : {0u, 1u, 7u, kFailed}) {
    EXPECT_EQ(*call(2, {handle}), kFailed);
    EXPECT_EQ(*call(5, {handle, kBase, 4}), 4u);
    EXPECT_EQ(*call(6, {handle, kBase, 4}), kFailed);
    EXPECT_EQ(*call(0xA, {handle, 0}), kFailed);
    EXPECT_EQ(*call(0xC, {handle}), kFailed);
  }
}

TEST_F(CallServerTest, ConsoleAndExit) {
  ram.put(kBase + 0x213, std::string("a line that is longer than a part of what is read\n\0", 51));
  EXPECT_EQ(*server.serve(4, kBase + 0x213), 0u);
  ram.put(kBase + 4095, std::string(1, '\0'));
  EXPECT_EQ(*server.serve(4, kBase + 4095), 0u) << "at the end of the memory";
  EXPECT_EQ(server.console(), "a line that is longer than a part of what is read\n");
  EXPECT_FALSE(server.exit_status());
  EXPECT_TRUE(call(0x20, {0x20026, 14}).ok());
  EXPECT_EQ(server.exit_status(), 14);
}

// What a program does that has overwritten itself.
TEST_F(CallServerTest, ArgumentsThatAreDamaged) {
  EXPECT_THAT(call(0x77, {}).error().to_string(),
              HasSubstr("the program on the board: asks for operation 0x77"));
  EXPECT_THAT(call(1, {kBase, 1, kFailed}).error().to_string(),
              HasSubstr("whose name does not end"));
  for (const uint32_t operation : {1u, 2u, 4u, 5u, 6u, 0xAu, 0xCu, 0x15u, 0x20u})
    EXPECT_FALSE(server.serve(operation, 0x40000000).ok()) << operation;
  const uint32_t in = *open("in0", 1), out = *open("out0", 5);
  EXPECT_FALSE(call(6, {in, 0x40000000, 4}).ok());
  EXPECT_FALSE(call(5, {out, 0x40000000, 4}).ok());
  EXPECT_THAT(call(5, {out, kBase, kFailed}).error().to_string(), HasSubstr("writes without end"));
  ram.bytes.assign(4096, 'x');
  EXPECT_FALSE(server.serve(4, kBase).ok()) << "a text that goes on to the end of the memory";
}

}  // namespace
}  // namespace intarsia::debug_probe
