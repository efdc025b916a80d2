// Parts of the compiler by themselves, where two of their conditions differ or a limit is met.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/commands.h"
#include "commands/waits.h"
#include "hardware/memory_systems.h"
#include "kinds.h"
#include "program/scaling.h"
#include "schedule/constant_groups.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace targets::ethos_u;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Scaling, RoundsTwiceAboveAShiftOf31) {
  const auto result = [](int64_t value, uint32_t multiplier, int shift) {
    return scaled(value, {.multiplier = multiplier, .shift = shift}, Rounding::Tfl);
  };
  EXPECT_EQ(result(-1, 1U << 30, 31), 0);   // -0.5
  EXPECT_EQ(result(-1, 1U << 31, 32), -1);  // -0.5
  EXPECT_EQ(result(1, 1U << 31, 32), 1);
  EXPECT_EQ(result(1, 3U << 29, 32), 1);  // 0.375, which the first rounding makes 0.5
  EXPECT_EQ(result(1, 3U << 28, 31), 0);  // 0.375
}

TEST(Programs, PrintPadsWhereThereAreAny) {
  Program program;
  program.tensors.resize(2);
  program.operations.resize(1);
  Operation& op = program.operations[0];
  op.ifm.tensor = 0, op.ofm.tensor = 1;
  EXPECT_THAT(print(program), Not(HasSubstr("pads")));
  op.pads = {1, 0, 0, 0};
  EXPECT_THAT(print(program), HasSubstr(" pads 1,0,0,0"));
  op.pads = {0, 2, 0, 0};
  EXPECT_THAT(print(program), HasSubstr(" pads 0,2,0,0"));
  op.pads = {0, 0, 3, 0};
  EXPECT_THAT(print(program), HasSubstr(" pads 0,0,3,0"));
  op.pads = {0, 0, 0, 4};
  EXPECT_THAT(print(program), HasSubstr(" pads 0,0,0,4"));
}

// Constants of `bytes` bytes, read one after the other by operations of one input.
Program readers_of_constants(size_t count, size_t bytes) {
  Program program;
  for (size_t i = 0; i < count; ++i) {
    NpuTensor constant;
    constant.kind = NpuTensor::Kind::Constant;
    constant.bytes.assign(bytes, static_cast<uint8_t>(i));
    program.tensors.push_back(constant);
    Operation op;
    op.kind = OperationKind::Add;
    op.ifm.tensor = static_cast<int32_t>(count);
    op.ifm2 = Operand{};
    op.ifm2->tensor = static_cast<int32_t>(i);
    program.operations.push_back(op);
  }
  program.tensors.emplace_back();
  return program;
}

std::vector<size_t> group_sizes(const Program& program) {
  std::vector<size_t> sizes;
  for (const ConstantGroup& group : constant_groups(program)) sizes.push_back(group.members.size());
  return sizes;
}

// 1024 bytes and 64 operations behind the first are in one group, more are not.
TEST(ConstantGroups, BeginWithTheFirstOperationAndEndAtTheirLimits) {
  EXPECT_THAT(group_sizes(readers_of_constants(1, 4)), ElementsAre(1));
  EXPECT_THAT(group_sizes(readers_of_constants(2, 512)), ElementsAre(2));
  EXPECT_THAT(group_sizes(readers_of_constants(3, 512)), ElementsAre(2, 1));
  EXPECT_THAT(group_sizes(readers_of_constants(2, 513)), ElementsAre(1, 1));
  // One constant at the beginning, and one `apart` operations later.
  const auto far = [](size_t apart) {
    Program program = readers_of_constants(apart + 1, 1);
    for (size_t i = 1; i < apart; ++i) program.operations[i].ifm2.reset();
    return group_sizes(program);
  };
  EXPECT_THAT(far(64), ElementsAre(2));
  EXPECT_THAT(far(65), ElementsAre(1, 1));
}

// Single elements of 32 bits lie side by side, what has more begins where 16 bytes do, and so ends the group.
TEST(ConstantGroups, KeepSingleElementsTogether) {
  Program program = readers_of_constants(3, 4);
  for (size_t i = 0; i < 3; ++i) program.tensors[i].type = DataType::Int32;
  program.tensors[2].extent = {1, 1, 5};
  program.tensors[2].bytes.resize(20);
  const std::vector<ConstantGroup> groups = constant_groups(program);
  ASSERT_EQ(groups.size(), 1u);
  std::vector<int64_t> offsets;
  for (const ConstantGroup::Member& member : groups[0].members) offsets.push_back(member.offset);
  EXPECT_THAT(offsets, ElementsAre(0, 4, 16));
  EXPECT_EQ(groups[0].bytes.size(), 48u);
}

// One group is fetched for an operation: what it reads beside that lies where constants are.
TEST(ConstantGroups, OfAnOperationAreOne) {
  const auto reads = [](Program& program, size_t operation, int32_t first, int32_t second) {
    program.operations[operation].ifm.tensor = first;
    program.operations[operation].ifm2->tensor = second;
  };
  const auto members = [](const Program& program) {
    std::vector<std::vector<int32_t>> result;
    for (const ConstantGroup& group : constant_groups(program)) {
      result.emplace_back();
      for (const ConstantGroup::Member& member : group.members)
        result.back().push_back(member.tensor);
    }
    return result;
  };
  using Groups = std::vector<std::vector<int32_t>>;
  // Both are new, and the group before has room for one of them.
  Program program = readers_of_constants(3, 400);
  reads(program, 1, 1, 2);
  EXPECT_EQ(members(program), (Groups{{0}, {1, 2}}));
  // One is in a group that has no room for the other, which another operation reads too.
  program = readers_of_constants(3, 400);
  reads(program, 2, 0, 2);
  program.operations.push_back(program.operations[1]);
  program.operations.back().ifm2->tensor = 2;
  EXPECT_EQ(members(program), (Groups{{0, 1}}));
  // Both are in groups.
  program = readers_of_constants(4, 512);
  program.operations.push_back(program.operations[0]);
  reads(program, 4, 3, 0);
  EXPECT_EQ(members(program), (Groups{{1, 2}, {3}}));
  // The same twice.
  program = readers_of_constants(1, 512);
  reads(program, 0, 0, 0);
  EXPECT_EQ(members(program), (Groups{{0}}));
}

// An operation of one element after the other on a map of 8 rows, two in a block, at `begin`.
StreamOperation rows_at(int64_t read, int64_t written, int32_t rows) {
  StreamOperation operation;
  const auto map = [&](int64_t begin) {
    PlacedMap map;
    map.region = 1;
    map.bases = {begin, kNoTile, kNoTile, kNoTile};
    map.tile_height = rows, map.tile_width = 4;
    map.stride_y = 16, map.stride_x = 4, map.stride_c = 1;
    map.extent = {rows, 4, 4};
    map.range = {1, begin, begin + rows * 16};
    return map;
  };
  operation.ifm = map(read), operation.ofm = map(written);
  operation.ofm_block = {2, 4, 4};
  operation.elementwise = true;
  return operation;
}

TEST(BlockDependency, CountsTheBlocksThatAreFree) {
  const Hardware& hardware = hardware_named("ethos-u55-128");
  // What is read first was written first: three blocks may be under way behind it.
  EXPECT_EQ(block_dependency(hardware, rows_at(0, 1000, 8), rows_at(1000, 2000, 8)), 3);
  EXPECT_EQ(block_dependency(hardware, rows_at(0, 1000, 6), rows_at(1000, 2000, 6)), 2);
  EXPECT_EQ(block_dependency(hardware, rows_at(0, 1000, 4), rows_at(1000, 2000, 4)), 1);
  EXPECT_EQ(block_dependency(hardware, rows_at(0, 1000, 2), rows_at(1000, 2000, 2)), 0);
  // Another map.
  EXPECT_EQ(block_dependency(hardware, rows_at(0, 1000, 2), rows_at(3000, 2000, 2)), 3);
}

TEST(BlockDependency, IsNoneWhereTheLastBlockIsReadFirst) {
  const Hardware& hardware = hardware_named("ethos-u55-128");
  for (int32_t height = 1; height <= 8; ++height)
    for (int64_t read = 1000 - 16 * 10; read <= 1000 + 16 * 10; read += 16)
      for (const bool has_table : {false, true})
        for (const bool has_second : {false, true}) {
          StreamOperation before = rows_at(0, 1000, height),
                          operation = rows_at(read, 3000, height);
          before.uses_lut = has_table;
          if (has_second) operation.ifm2 = rows_at(1000, 3000, height).ifm;
          EXPECT_EQ(waits_for_last_block(hardware, before, operation),
                    block_dependency(hardware, before, operation) == 0)
              << height << " rows, read from " << read << " on";
        }
}

// An element-wise operation with a table of slot 1, as the stream writer sees it.
StreamOperation look_up(std::string_view from, std::string_view to, int32_t region) {
  Intrinsic intrinsic;
  intrinsic.operation = command_named("OP_ELEMENTWISE").code;
  const auto set = [&](const std::string& name, int64_t value) {
    intrinsic.registers.push_back({command_named("SET_" + name).code, value});
  };
  std::vector<PlacedOperand> operands;
  for (const std::string map : {"IFM", "OFM"}) {
    const int64_t begin = map == "IFM" ? 0x100 : 0x900;
    operands.push_back({command_named("SET_" + map + "_BASE0").code, {region, begin, begin + 64}});
    for (const std::string tile : {"0", "1", "2", "3"})
      set(map + "_BASE" + tile, tile == "0" ? 0 : kNoTile);
    for (const char* rest : {"_HEIGHT0_M1", "_WIDTH0_M1", "_DEPTH_M1"}) set(map + rest, 1);
    for (const char* rest : {"_STRIDE_Y", "_STRIDE_X", "_STRIDE_C"}) set(map + rest, 4);
    set(map + "_PRECISION",
        field_bits("SET_" + map + "_PRECISION", "activation_precision",
                   enumerator("activation_precision", map == "IFM" ? from : to)));
  }
  for (const char* rest : {"_HEIGHT_M1", "_WIDTH_M1"}) set(std::string("OFM") + rest, 1);
  for (const char* rest : {"HEIGHT", "WIDTH", "DEPTH"})
    set(std::string("OFM_BLK_") + rest + "_M1", 1);
  set("ACTIVATION", field_bits("SET_ACTIVATION", "activation_function",
                               enumerator("activation_function", "TABLE_0") + 1));
  return view_operation(hardware_named("ethos-u55-128"), intrinsic, operands);
}

TEST(StreamOperations, ReadTablesInTheirWholeLength) {
  const int64_t begin = hardware_named("ethos-u55-128").lut_address() + kLutSlotBytes;
  const auto bytes = [&](std::string_view from, std::string_view to) {
    const AddressRange table = look_up(from, to, 1).reads.back();
    EXPECT_EQ(table.region, AddressRange::kShram);
    EXPECT_EQ(table.begin, begin);
    return table.end - table.begin;
  };
  EXPECT_EQ(bytes("B8", "B8"), 256);
  EXPECT_EQ(bytes("B16", "B16"), 2048);
  EXPECT_EQ(bytes("B8", "B32"), 1024);
  EXPECT_EQ(bytes("B32", "B8"), 256);
}

TEST(StreamOperations, MapsLieInTheRegionOfTheirOperand) {
  for (const int32_t region : {0, 2}) {
    const StreamOperation operation = look_up("B8", "B8", region);
    EXPECT_EQ(operation.ifm.region, region);
    EXPECT_EQ(operation.ofm.region, region);
    const AddressRange row = operation.ofm.row(1, 0, 1, 0, 1);
    EXPECT_EQ(row.region, region);
    EXPECT_EQ(row.begin, 0x904);
    EXPECT_EQ(row.end, 0x90A);
  }
}

TEST(Memories, TheSlowPoolIsTheFastestBesideTheFastOne) {
  const TargetRegistry registry = make_registry();
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "ethos-u65-256");
  ASSERT_TRUE(target.ok());
  const Target& npu = target->beside_host()[0];
  // Its feature maps lie in two memories.
  const auto memory = [&](const std::vector<int32_t>& cycles) {
    MemoryMap map;
    map.masters[npu.name] = "npu";
    for (const int32_t access : cycles)
      map.pools.push_back({.name = "ram" + std::to_string(map.pools.size()),
                           .cycles_per_access = access,
                           .accessible_by = {"npu"}});
    return map;
  };
  EXPECT_EQ(fast_pool(npu, memory({5, 9, 1})), 2);
  EXPECT_EQ(slow_pool(npu, memory({5, 9, 1})), 0);
  EXPECT_EQ(slow_pool(npu, memory({9, 5, 1})), 1);
  EXPECT_EQ(slow_pool(npu, memory({1, 9, 5, 7})), 2);
  EXPECT_EQ(slow_pool(npu, memory({})), -1);
}

// Clock, bandwidth and latency of the memories that the maps and the constants lie in become the attribute -system.
TEST(Memories, TheBoardDecidesTheSystem) {
  const TargetRegistry registry = make_registry();
  MemoryMap board;
  board.pools = {{.name = "sram", .accessible_by = {"ethos-u"}},
                 {.name = "dram", .cycles_per_access = 4, .accessible_by = {"ethos-u"}},
                 {.name = "tcm", .accessible_by = {"cpu"}}};
  board.streams = MemoryPool{.name = "flash", .read_only = true};
  const auto system = [&](const std::string& text) -> std::string {
    const auto target = parse_target(registry.catalogue(), text);
    MemoryMap memory = board;
    const Target& npu = target->beside_host()[0];
    memory.masters[npu.name] = "ethos-u";
    const auto value = system_on_board(npu, memory);
    return !value.ok() ? value.error().to_string() : value->value_or("as named");
  };
  EXPECT_EQ(system("ethos-u55-128"), "as named");
  board.clocks_mhz["ethos-u"] = 250;
  EXPECT_EQ(system("ethos-u55-128"), "250:8/32/32/32:1/128/64/64");
  board.pools[0].speed = MemorySpeed{1'000'000'000, 100, 50, 64};
  EXPECT_EQ(system("ethos-u55-128"), "250:4/64/25/13:1/128/64/64");
  board.streams->speed = MemorySpeed{50'000'000, 400, 0, 128};
  EXPECT_EQ(system("ethos-u55-128"), "250:4/64/25/13:0.2/128/100/0");
  EXPECT_EQ(system("ethos-u55-128 -memory-mode=sram-only"), "250:4/64/25/13:0.2/128/100/0");
  // What is written stays, as does the clock of a device that the board does not name.
  EXPECT_EQ(system("ethos-u55-128 -system=Ethos_U55_Deep_Embedded"), "as named");
  board.clocks_mhz.clear();
  EXPECT_EQ(system("ethos-u55-128"), "500:2/64/50/25:0.1/128/200/0");
  // In a dedicated mode maps and constants share a port, of the maps' memory where its speed is known.
  EXPECT_EQ(system("ethos-u65-256"), "1000:1/64/100/50:0.05/128/400/0");
  board.pools[1].speed = MemorySpeed{2'000'000'000, 60, 70, 32};
  EXPECT_EQ(system("ethos-u65-256"), "1000:1/64/100/50:2/32/60/70");
  // No port moves more than its bus.
  board.pools[0].speed->bytes_per_second = 100'000'000'000;
  EXPECT_EQ(system("ethos-u55-32"), "500:8/64/50/25:0.1/128/200/0");
  EXPECT_EQ(system("ethos-u65-256"), "1000:16/64/100/50:2/32/60/70");
  // Maps and constants in one memory.
  board.streams = board.pools[0];
  EXPECT_EQ(system("ethos-u55-32"), "500:8/64/50/25");
  board.streams->accessible_by = {"cpu"};
  EXPECT_THAT(
      system("ethos-u55-32"),
      HasSubstr("keeps its command streams and weights in 'sram', which it does not reach"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
