#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_board.h"

namespace intarsia::board {
namespace {

using testing::HasSubstr;

// The text between `from` and the end of that section.
std::string section(const std::string& script, const std::string& from) {
  const size_t start = script.find(from);
  if (start == std::string::npos) return "no " + from;
  const size_t line = script.find("  } >", start);
  return script.substr(start, script.find('\n', line) - start);
}

TEST(LinkerScript, ListsTheMemories) {
  const std::string script = linker_script(sample_board());
  EXPECT_THAT(script, HasSubstr("flash (rx) : ORIGIN = 0x00000000, LENGTH = 0x80000"));
  EXPECT_THAT(script, HasSubstr("ram (rwx) : ORIGIN = 0x20000000, LENGTH = 0x10000"));
  EXPECT_THAT(script, HasSubstr("ddr (rwx) : ORIGIN = 0x60000000, LENGTH = 0x40000000"));
}

TEST(LinkerScript, FollowsTheRoles) {
  const std::string script = linker_script(sample_board());
  EXPECT_THAT(section(script, "  .vectors"), HasSubstr("} > flash"));
  EXPECT_THAT(section(script, "  .text"), HasSubstr("} > flash"));
  EXPECT_THAT(section(script, "  .rodata"), HasSubstr("} > rom"));
  EXPECT_THAT(section(script, "  .weights"), HasSubstr("} > rom"));
  EXPECT_THAT(section(script, "  .data"), HasSubstr("} > ram AT> flash"));
  EXPECT_THAT(section(script, "  .bss"), HasSubstr("} > ram"));
  EXPECT_THAT(section(script, "  .stack"), HasSubstr("+= 0x1000"));
  EXPECT_LT(script.find("  .stack"), script.find("  .data"));
}

TEST(LinkerScript, StreamsLieWhereDevicesReadThem) {
  EXPECT_THAT(section(linker_script(sample_board()), "  .streams"), HasSubstr("} > rom"));
  Board board = sample_board();
  board.roles.streams = "ddr";
  EXPECT_THAT(section(linker_script(board), "  .streams"), HasSubstr("} > ddr"));
  EXPECT_THAT(linker_script(board), testing::Not(HasSubstr("__intarsia_device_window")));
  board.emulator->device_window = 0x9FFF0000;
  board.emulator->device_window_size = 0x10000;
  EXPECT_THAT(linker_script(board), HasSubstr("__intarsia_device_window = 0x9fff0000;"));
}

TEST(LinkerScript, HasAPlaceForRiscVsThreadLocalStorage) {
  EXPECT_THAT(linker_script(sample_board()), testing::Not(HasSubstr(".tbss")));
  Board board = sample_board();
  board.cores[0].name = "rv32imac";
  const std::string script = linker_script(board);
  EXPECT_THAT(section(script, "  .tbss"), HasSubstr("} > ram"));
  EXPECT_THAT(script, HasSubstr("__intarsia_thread = ADDR(.tbss);"));
}

TEST(LinkerScript, GivesEveryMemoryASection) {
  const std::string script = linker_script(sample_board());
  EXPECT_THAT(section(script, "  .pool.ddr"), HasSubstr("(NOLOAD)"));
  EXPECT_THAT(section(script, "  .pool.ddr"), HasSubstr("*(.intarsia.ddr .intarsia.ddr.*)"));
  EXPECT_THAT(section(script, "  .pool.ddr"), HasSubstr("} > ddr"));
  EXPECT_THAT(section(script, "  .pool.rom"), testing::Not(HasSubstr("NOLOAD")));
}

TEST(LinkerScript, PutsConstantsIntoTheMemoriesOfTheirNames) {
  EXPECT_THAT(linker_script(sample_board()), testing::Not(HasSubstr(".constants.")));
  Board board = sample_board();
  board.roles.constants = {"rom", "flash", "ddr"};
  const std::string script = linker_script(board);
  EXPECT_THAT(section(script, "  .weights"), HasSubstr("} > rom"));
  EXPECT_THAT(section(script, "  .rodata"), HasSubstr("} > rom"));
  EXPECT_THAT(script, testing::Not(HasSubstr(".constants.rom")));
  EXPECT_THAT(section(script, "  .constants.flash"),
              HasSubstr("*(.intarsia.constants.flash .intarsia.constants.flash.*)"));
  EXPECT_THAT(section(script, "  .constants.flash"), HasSubstr("} > flash"));
  EXPECT_THAT(section(script, "  .constants.ddr"), HasSubstr("} > ddr"));
  EXPECT_THAT(section(script, "  .constants.ddr"), testing::Not(HasSubstr("NOLOAD")));
}

TEST(LinkerScript, GuardsTheStackWhereNothingLies) {
  // Nothing below 0x20000000 for more than the largest guard, 1 MB.
  EXPECT_THAT(linker_script(sample_board()), HasSubstr("__intarsia_stack_guard_log2 = 20;"));
  Board board = sample_board();
  board.memories[1].base = 0x1FFF0000;  // rom now ends where ram begins
  EXPECT_THAT(linker_script(board), HasSubstr("__intarsia_stack_guard_log2 = 0;"));
  board.memories[1].base = 0x1FFEF000;  // 4096 bytes free
  EXPECT_THAT(linker_script(board), HasSubstr("__intarsia_stack_guard_log2 = 12;"));
}

}  // namespace
}  // namespace intarsia::board
