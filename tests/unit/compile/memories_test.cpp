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

// A fully connected layer of 8 by 8 for each of 4 rows, and an addition of a constant that is as large.
graph::Module layer_and_sum(const std::string& device) {
  graph::Module module;
  module.name = "m";
  module.entry = "main";
  graph::Function main;
  main.name = "main";
  main.target = device;
  const auto tensor = [&](Shape shape, int32_t constant = -1) {
    graph::Tensor made{.name = "t", .shape = std::move(shape)};
    made.constant = ConstantId{constant};
    main.tensors.push_back(std::move(made));
    return graph::TensorId{static_cast<int32_t>(main.tensors.size()) - 1};
  };
  for (const char* name : {"weights", "addend"})
    module.constants.push_back({name, std::vector<uint8_t>(64)});
  const graph::TensorId in = tensor({4, 8}), weights = tensor({8, 8}, 0), rows = tensor({4, 8}),
                        addend = tensor({8, 8}, 1), out = tensor({8, 8});
  main.nodes.push_back({graph::OpKind::FullyConnected,
                        "layer",
                        graph::FullyConnectedAttrs{},
                        {in, weights, {}},
                        {rows}});
  main.nodes.push_back({graph::OpKind::Add, "sum", graph::BinaryAttrs{}, {out, addend}, {out}});
  module.functions.push_back(std::move(main));
  return module;
}

TEST(ExpectedConstants, OfWhatIsReadMostAreInTheFastestMemory) {
  MemoryMap memory;
  memory.pools = {{"slow", 0, false, 9}, {"fast", 64, true, 2}};
  memory.masters = {{"npu", "npu"}, {"c", "cpu"}};
  for (MemoryPool& pool : memory.pools) pool.holds_constants = true;
  using Expected = std::map<std::string, int32_t>;
  for (const char* device : {"", "c"})
    EXPECT_EQ(expected_cycles_of_constants(layer_and_sum(device), memory),
              (Expected{{"layer", 2}, {"sum", 9}}));
  // What a device takes is in its streams, and leaves the fast memory to others.
  graph::Module shared = layer_and_sum("npu");
  shared.functions.push_back(layer_and_sum("c").functions[0]);
  shared.functions[0].nodes.pop_back();
  shared.functions[1].nodes.erase(shared.functions[1].nodes.begin());
  EXPECT_EQ(expected_cycles_of_constants(shared, memory).at("sum"), 2);
  // Nothing is expected where there is no choice, nobody has said, or not all find room.
  memory.open = true;
  EXPECT_TRUE(expected_cycles_of_constants(layer_and_sum(""), memory).empty());
  memory.open = false;
  memory.pools[0].size = 16;
  EXPECT_TRUE(expected_cycles_of_constants(layer_and_sum(""), memory).empty());
  memory.pools.pop_back();
  EXPECT_TRUE(expected_cycles_of_constants(layer_and_sum(""), memory).empty());
}

}  // namespace
}  // namespace intarsia
