// Memories that a target brings along where the board leaves it open.
#include <gtest/gtest.h>

#include "intarsia/compile.h"

namespace intarsia {
namespace {

TargetKind kind_with_sram() {
  TargetKind kind;
  kind.spec.name = "quick";
  kind.spec.summary = "for tests";
  kind.spec.role = Role::Cpu;
  kind.spec.attributes = {AttributeSpec::integer("sram", 4096, 1, 65536, "bytes")};
  kind.memories = [](const Target& target) -> std::vector<MemoryPool> {
    return {{"sram", target.get_int("sram")}, {"ram", 7}};
  };
  return kind;
}

class Memories : public testing::Test {
 protected:
  void SetUp() override { registry_.add(kind_with_sram()); }
  MemoryMap planned(bool open, const std::string& target = "quick") const {
    MemoryMap board;
    board.pools = {{"ram", 0}};
    board.open = open;
    return planning_memory(board, registry_, *parse_target(registry_.catalogue(), target));
  }
  TargetRegistry registry_;
};

TEST_F(Memories, JoinThoseOfAnOpenBoard) {
  const MemoryMap memory = planned(true);
  ASSERT_EQ(memory.pools.size(), 2u);
  EXPECT_EQ(memory.pools[0].size, 0);  // the board's own "ram" stays
  EXPECT_EQ(memory.pools[1].name, "sram");
  EXPECT_EQ(memory.pools[1].size, 4096);
  EXPECT_EQ(planned(true, "quick -sram=512").pools[1].size, 512);
}

TEST_F(Memories, AreLeftOutWhereTheBoardKnowsItsOwn) {
  EXPECT_EQ(planned(false).pools.size(), 1u);
}

// A program that has no board yet sets nothing.
TEST_F(Memories, WithoutABoardAreUnlimited) {
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph sum
func @main(%0, %1) -> (%2) {
  %0 left: i8[1,8] q(0.5:0)
  %1 right: i8[1,8] q(0.5:0)
  %2 total: i8[1,8] q(0.5:0)
  add total(%0, %1) -> (%2) {}
}
entry @main
)");
  ASSERT_TRUE(module.ok());
  const TargetSpec target = *parse_target(registry_.catalogue(), "quick");
  const Result<CompiledModel> model = compile_module(*module, registry_, target, {});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->program().plan.memory.pools[0].name, "ram");
  EXPECT_EQ(model->program().plan.memory.pools[0].size, 0);

  CompileOptions none;
  none.memory = {};
  const Result<CompiledModel> refused = compile_module(*module, registry_, target, none);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(),
            "sum: memory: there is none that can be written, and the activations need some; name a "
            "RAM under 'activations' in board.json; in a program, unlimited_memory() or "
            "board::memory_map() gives one\n");
}

}  // namespace
}  // namespace intarsia
