// Of which machine an object file is, and for which a compiler makes code.
#include "build/object_machine.h"

#include <gtest/gtest.h>

#include "support/files.h"

namespace intarsia::build {
namespace {

std::string elf_of(unsigned machine) {
  std::string bytes(64, '\0');
  bytes.replace(0, 4,
                "\x7f"
                "ELF");
  bytes[18] = static_cast<char>(machine & 255);
  bytes[19] = static_cast<char>(machine >> 8);
  return bytes;
}

TEST(ObjectMachine, IsReadFromTheHeader) {
  EXPECT_EQ(elf_machine(elf_of(40)), "Arm");
  EXPECT_EQ(elf_machine(elf_of(62)), "x86-64");
  EXPECT_EQ(elf_machine(elf_of(183)), "AArch64");
  EXPECT_EQ(elf_machine(elf_of(258)), "machine 258 of ELF");
  EXPECT_EQ(elf_machine(elf_of(40).substr(0, 19)), "");
  EXPECT_EQ(elf_machine("!<arch>"), "");
}

TEST(ObjectMachine, IsTheFirstPartOfATriple) {
  EXPECT_EQ(machine_of_triple("arm-none-eabi\n"), "Arm");
  EXPECT_EQ(machine_of_triple("x86_64-linux-gnu"), "x86-64");
  EXPECT_EQ(machine_of_triple("riscv64-unknown-elf"), "RISC-V");
  EXPECT_EQ(machine_of_triple("m68k-elf"), "");
}

TEST(ObjectMachine, AnotherMachinesObjectIsRefusedInOneLine) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/model.o";
  board::Board board;
  board.name = "bench";
  board.compiler = "cc";
  ASSERT_TRUE(write_file(path, std::string_view(elf_of(2))).ok());  // SPARC
  const Result<void> refused = check_machine(board, path);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find(
                "model.o: is code for machine 2 of ELF, and board 'bench' runs "),
            std::string::npos);
  // A compiler that does not say for what it compiles, and a file that is no ELF file, are the linker's affair.
  board.compiler = "false";
  EXPECT_TRUE(check_machine(board, path).ok());
  board.compiler = "cc";
  ASSERT_TRUE(write_file(path, std::string_view("text")).ok());
  EXPECT_TRUE(check_machine(board, path).ok());
}

}  // namespace
}  // namespace intarsia::build
