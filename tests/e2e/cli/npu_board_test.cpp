// `build` for boards with an NPU: the program has the driver, and the registers are where the board says.
#include <algorithm>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

class NpuBoard : public Cli {};

TEST_F(NpuBoard, TheProgramReachesTheBoardsOwnRegisters) {
  if (!have_program("arm-none-eabi-g++"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++";
  ASSERT_TRUE(done(intarsia({"build", digits_path(), "--board", "mps3-an547", "--target",
                             "cortex-m55+ethos-u55-128", "-o", "npu.elf"})));
  const std::vector<uint8_t> program = read("npu.elf");
  EXPECT_EQ(std::string(program.begin() + 1, program.begin() + 4), "ELF");
  // The address in AN547's map, as a constant of the code.
  const std::vector<uint8_t> registers = {0x00, 0x20, 0x10, 0x48};
  EXPECT_NE(std::search(program.begin(), program.end(), registers.begin(), registers.end()),
            program.end());
}

TEST_F(NpuBoard, ABoardWithoutOneIsRefused) {
  EXPECT_TRUE(refused(intarsia({"build", digits_path(), "--board", "mps2-an386", "--target",
                                "cortex-m4 + ethos-u", "-o", "npu.elf"}),
                      {"--board mps2-an386", "no device for ethos-u", "--board host"}));
  EXPECT_FALSE(exists("npu.elf"));
}

}  // namespace
}  // namespace intarsia::test
