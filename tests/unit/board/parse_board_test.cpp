#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "board/process_board.h"
#include "sample_board.h"

namespace intarsia::board {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBoards = INTARSIA_ROOT "/boards";

std::string complaint(const std::string& text) {
  const Result<Board> board = parse_board(text, "sample.json");
  return board.ok() ? "no complaint" : board.error().to_string();
}

TEST(ParseBoard, ReadsEveryField) {
  const Board board = sample_board();
  EXPECT_EQ(board.name, "sample");
  EXPECT_EQ(board.summary, "a board for tests");
  EXPECT_EQ(board.compiler, "arm-none-eabi-gcc");
  EXPECT_FALSE(board.native());
  ASSERT_EQ(board.cores.size(), 1u);
  EXPECT_THAT(board.cores[0].flags, ElementsAre("-mcpu=cortex-m4", "-mthumb"));
  ASSERT_EQ(board.also_runs.size(), 1u);
  EXPECT_EQ(board.also_runs[0].name, "cortex-m3");
  ASSERT_EQ(board.memories.size(), 4u);
  EXPECT_EQ(board.memories[0].kind, MemoryKind::Flash);
  EXPECT_EQ(board.memories[0].size, 512u << 10);
  EXPECT_EQ(board.memories[0].cycles_per_access, 1);
  EXPECT_EQ(board.memories[1].size, 65536u);
  EXPECT_EQ(board.memories[2].base, 0x20000000u);
  EXPECT_EQ(board.memories[2].reserved, 1024u);
  EXPECT_EQ(board.memories[3].size, 1u << 30);
  EXPECT_EQ(board.memories[3].end(), 0xA0000000u);
  EXPECT_THAT(board.memories[3].accessible_by, ElementsAre("cpu", "ethos-u"));
  EXPECT_THAT(board.roles.constants, ElementsAre("rom"));
  EXPECT_THAT(board.roles.activations, ElementsAre("ram", "ddr"));
  EXPECT_EQ(board.stack_size, 4096u);
  ASSERT_TRUE(board.emulator.has_value());
  EXPECT_EQ(board.emulator->program, "qemu-system-arm");
  EXPECT_THAT(board.emulator->arguments, ElementsAre("-d", "unimp"));
  EXPECT_EQ(board.emulator->shared_memory, "ddr");
}

TEST(ParseBoard, BlocksBeginAtLinesOfTheCache) {
  for (const MemoryPool& pool : memory_map(sample_board()).pools) EXPECT_EQ(pool.alignment, 16);
  const std::string text =
      with("\"stack_size\": \"4K\",", "\"stack_size\": \"4K\", \"cache_line\": 32,");
  const Result<Board> board = parse_board(text, "sample.json");
  ASSERT_TRUE(board.ok()) << board.error().to_string();
  EXPECT_EQ(board->cache_line, 32u);
  for (const MemoryPool& pool : memory_map(*board).pools) EXPECT_EQ(pool.alignment, 32);
  EXPECT_THAT(linker_script(*board), testing::HasSubstr(".pool.ddr (NOLOAD) : ALIGN(32)"));
  EXPECT_THAT(linker_script(sample_board()), testing::HasSubstr(".pool.ddr (NOLOAD) : ALIGN(16)"));
}

// The sample with another value of `run`.
std::string run_by(const std::string& run) {
  const size_t begin = kSample.find("{\"emulator\"");
  return std::string(kSample).replace(begin, kSample.find('}', begin) + 1 - begin, run);
}

TEST(ParseBoard, ADebugProbe) {
  EXPECT_FALSE(sample_board().probe);
  const auto probe_of = [](const std::string& run) {
    const Result<Board> board = parse_board(run_by(run), "sample.json");
    EXPECT_TRUE(board.ok()) << board.error().to_string();
    EXPECT_FALSE(board->emulator);
    EXPECT_TRUE(board->can_run());
    return board->probe.value_or(Probe());
  };
  const Probe probe = probe_of(R"({"gdb": "bench.local:3333", "reset": ["reset halt", "$R00"]})");
  EXPECT_EQ(probe.host, "bench.local");
  EXPECT_EQ(probe.port, 3333);
  EXPECT_THAT(probe.reset, ElementsAre("reset halt", "$R00"));
  EXPECT_EQ(probe_of(R"({"gdb": ":65535"})").host, "localhost");
  EXPECT_EQ(probe_of(R"({"gdb": "[::1]:1"})").host, "::1");
  EXPECT_EQ(probe_of(R"({"gdb": "[::1]:1"})").port, 1);
}

TEST(ParseBoard, ADebugProbeThatCannotBe) {
  for (const char* place :
       {"localhost", "3333", "localhost:", ":0", "localhost:65536", "::1:3333", "localhost:33x",
        "localhost:-1", "my host:3333", "http://x:3333", "localhost:99999999999999999999"})
    EXPECT_THAT(complaint(run_by(std::string(R"({"gdb": ")") + place + "\"}")),
                HasSubstr("sample.json: run: 'gdb' is '" + std::string(place) +
                          "', which is not HOST:PORT; write where"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ""})")), HasSubstr("which is not HOST:PORT"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": 3333})")), HasSubstr("sample.json: run: "));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ":1", "reset": "halt"})")), HasSubstr("'reset'"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ":1", "reset": [""]})")),
              HasSubstr("a command in 'reset' is empty"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ":1", "machine": "none"})")), HasSubstr("'machine'"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ":1", "emulator": "x", "machine": "none"})")),
              HasSubstr("both 'gdb' and 'emulator' are there"));
  EXPECT_THAT(complaint(run_by(R"({"reset": ["halt"]})")), HasSubstr("'emulator'"));
  EXPECT_THAT(complaint(run_by(R"({"gdb": ":1"})")), HasSubstr("no complaint"));
  std::string riscv = run_by(R"({"gdb": ":1"})");
  riscv.replace(riscv.find("\"cortex-m4\""), 11, "\"rv32imc\"");
  EXPECT_THAT(complaint(riscv), HasSubstr("run: gdb: a debug probe runs programs on Arm's cores"));
}

TEST(ParseBoard, HowFastDevicesMoveBytes) {
  EXPECT_FALSE(sample_board().memories[3].speed);
  EXPECT_TRUE(sample_board().clocks_mhz.empty());
  EXPECT_EQ(memory_map(sample_board()).streams->name, "rom");
  const Result<Board> board = parse_board(
      with("\"stack_size\"", "\"clocks_mhz\": {\"ethos-u\": 400}, \"stack_size\"")
          .replace(kSample.find("\"cycles_per_access\": 9"), 22,
                   "\"speed\": {\"bytes_per_second\": 256000000, \"read_latency_ns\": 500, "
                   "\"write_latency_ns\": 90, \"burst_bytes\": 64}"),
      "sample.json");
  ASSERT_TRUE(board.ok()) << board.error().to_string();
  const Memory* ddr = board->find_memory("ddr");
  ASSERT_TRUE(ddr != nullptr && ddr->speed);
  EXPECT_EQ(*ddr->speed, (MemorySpeed{256'000'000, 500, 90, 64}));
  const MemoryMap map = memory_map(*board);
  EXPECT_EQ(map.pools[1].speed, ddr->speed);
  EXPECT_EQ(map.clocks_mhz.at("ethos-u"), 400);
}

// Its programs are processes, its emulator runs one.
TEST(ParseBoard, AProcess) {
  const auto process = [](const std::string& more, const std::string& run) {
    std::string text = run_by(run);
    const std::string port = "\"semihosting\"";
    return text.replace(text.find(port), port.size(), "\"stdio\"" + more);
  };
  const std::string run = R"({"emulator": "qemu-user"})";
  const Result<Board> board = parse_board(process("", run), "sample.json");
  ASSERT_TRUE(board.ok()) << board.error().to_string();
  EXPECT_TRUE(board->native());
  EXPECT_FALSE(is_this_machine(*board));
  ASSERT_TRUE(board->emulator);
  StartRequest start;
  start.program = "program";
  start.run_file = "run.txt";
  EXPECT_THAT(run_command(*board, start).value(), ElementsAre("qemu-user", "program", "run.txt"));
  EXPECT_TRUE(memory_map(*board).open);
  EXPECT_THAT(complaint(process(R"(, "linker_script": "a.ld")", run)),
              HasSubstr("linker_script: a process is linked by its system's own script"));
  EXPECT_THAT(complaint(process(R"(, "startup": ["a.c"])", run)),
              HasSubstr("startup: a process is started by its system, without code of the board"));
  EXPECT_THAT(complaint(process("", R"({"gdb": ":1"})")),
              HasSubstr("run: a process needs no debug probe"));
}

TEST(ParseBoard, DevicesBesideTheEmulator) {
  EXPECT_FALSE(sample_board().takes_simulated_devices());
  const Result<Board> board = load_board(kBoards + "/mps3-an547/board.json");
  ASSERT_TRUE(board.ok()) << board.error().to_string();
  EXPECT_TRUE(board->takes_simulated_devices());
  EXPECT_EQ(board->roles.streams, "ddr");
  EXPECT_THAT(board->zephyr_names, ElementsAre("mps3_an547", "mps3/corstone300/an547"));
  EXPECT_TRUE(sample_board().zephyr_names.empty());
}

struct Complaint {
  const char* from;
  const char* to;
  const char* expected;
};

class ParseBoardComplaints : public testing::TestWithParam<Complaint> {};

TEST_P(ParseBoardComplaints, SayWhereAndWhat) {
  EXPECT_THAT(complaint(with(GetParam().from, GetParam().to)), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseBoardComplaints,
    testing::Values(
        Complaint{"\"summary\": \"a board for tests\",", "",
                  "sample.json: the key 'summary' is missing"},
        Complaint{"\"stack_size\"", "\"stacksize\"",
                  "sample.json: unknown key 'stacksize'; did you mean 'stack_size'?"},
        Complaint{"\"reserved\": \"8K\"", "\"reserve\": \"8K\"",
                  "sample.json: memories[0]: unknown key 'reserve'; did you mean 'reserved'?"},
        Complaint{"\"machine\": \"none\"", "\"machine\": 3",
                  "sample.json: run: 'machine' is not a text"},
        Complaint{"\"512K\"", "\"512 kB\"", "sample.json: memories[0]: 'size' is not a number"},
        Complaint{"\"512K\"", "-1", "sample.json: memories[0]: 'size' is not a number"},
        Complaint{"\"512K\"", "\"0x\"", "sample.json: memories[0]: 'size' is not a number"},
        Complaint{"\"512K\"", "\"99999999999999G\"", "'size' is not a number"},
        Complaint{"\"512K\"", "0", "sample.json: memory 'flash': the size is 0"},
        Complaint{"\"512K\"", "\"5G\"", "memory 'flash': reaches beyond the 4 GB"},
        Complaint{"\"512K\"", "1001", "base and size are not multiples of 16"},
        Complaint{"\"8K\"", "\"1M\"", "memory 'flash': reserves more than its size"},
        Complaint{"\"kind\": \"flash\", \"base\": 0", "\"kind\": \"rom\", \"base\": 0",
                  "memories[0]: unknown kind 'rom'; write flash or ram"},
        Complaint{
            "\"0x10000000\"", "\"0x70000\"",
            "memories: 'flash' (0x00000000 to 0x00080000) and 'rom' (0x00070000 to 0x00080000) "
            "overlap"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"ram\"", "two memories have this name"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"Rom-1\"", "the name is not lower-case"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"weights\"", "this name is taken"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"data\"",
                  "memory 'data': this name is taken by a section of the linker script; call it "
                  "'data_memory'"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"org\"", "this name is taken"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"extern\"",
                  "memory 'extern': this name has another meaning in the code that is generated; "
                  "call it 'extern_memory'"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"model\"", "another meaning"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"input0\"", "another meaning"},
        Complaint{"\"base\": \"0x20000000\", \"size\": \"64K\"",
                  "\"base\": \"0x20000000\", \"size\": \"5K\"",
                  "roles: activations: 'ram' has nothing left for a model: all of it is for "
                  "'reserved' and the stack; leave the memory out of this role"},
        Complaint{"\"size\": 65536, \"cycles_per_access\": 4",
                  "\"size\": 65536, \"reserved\": 65536",
                  "roles: constants: 'rom' has nothing left for a model: all of it is for "
                  "'reserved'"},
        Complaint{"\"data\": \"ram\"", "\"data\": \"rams\"",
                  "roles: data: there is no memory 'rams'; did you mean 'ram'?"},
        Complaint{"\"data\": \"ram\"", "\"data\": \"rom\"",
                  "'rom' is of kind flash, but this role "
                  "needs ram"},
        Complaint{"[\"ram\", \"ddr\"]", "[]", "roles: activations: the list is empty"},
        Complaint{"[\"ram\", \"ddr\"]", "[\"ddr\", \"ddr\"]", "'ddr' is listed twice"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": []",
                  "roles: constants: the list is empty"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": 7", "'constants' is not a text"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": [\"rom\", 7]",
                  "'constants' is not a list of texts"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": [\"rom\", \"flush\"]",
                  "roles: constants: there is no memory 'flush'; did you mean 'flash'?"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": [\"rom\", \"flash\", \"rom\"]",
                  "roles: constants: 'rom' is listed twice"},
        Complaint{"\"constants\": \"rom\"", "\"constants\": [\"rom\", \"ddr\"]",
                  "roles: constants: 'ddr' is of kind ram, but this role needs flash; or RAM with "
                  "\"loaded\": true"},
        Complaint{"\"cycles_per_access\": 4",
                  "\"cycles_per_access\": 4, \"accessible_by\": [\"ethos-u\"]",
                  "roles: constants: the CPU does not reach 'rom'"},
        Complaint{"\"cycles_per_access\": 4", "\"loaded\": true",
                  "memory 'rom': 'loaded' is for RAM"},
        Complaint{"\"cycles_per_access\": 9", "\"loaded\": 1", "'loaded' is not true or false"},
        Complaint{"{\"name\": \"rom\"", "{\"name\": \"constants\"", "this name is taken"},
        Complaint{"\"4K\"", "0", "stack_size: is not a multiple of 16 above 0"},
        Complaint{"\"4K\"", "\"1M\"", "stack_size: 1048576 bytes are more than memory 'ram' has"},
        Complaint{"\"name\": \"cortex-m3\"", "\"name\": \"cortex-m4\"",
                  "cores: 'cortex-m4' is listed twice"},
        Complaint{"\"semihosting\"", "\"uart\"", "unknown port 'uart'"},
        Complaint{"\"semihosting\"", "\"stdio\"", "unknown key 'machine'"},
        Complaint{"\"semihosting\"", "\"semihosting\", \"startup\": \"a.c\"",
                  "'startup' is not a list of texts"},
        Complaint{"\"cycles_per_access\": 4",
                  "\"speed\": {\"bytes_per_second\": 1, \"read_latency_ns\": 5, "
                  "\"write_latency_ns\": 5, \"burst_bytes\": 5000}",
                  "memories[1]: speed: 'bytes_per_second' is not between 1000 and 1000000000000"},
        Complaint{"\"cycles_per_access\": 4", "\"speed\": {\"bytes_per_second\": \"1G\"}",
                  "memories[1]: speed: "},
        Complaint{"\"stack_size\"", "\"clocks_mhz\": {\"ethos-u\": 0}, \"stack_size\"",
                  "clocks_mhz: 'ethos-u' is not between 1 and 10000"},
        Complaint{"\"cycles_per_access\": 4", "\"cycles_per_access\": 0",
                  "memories[1]: 'cycles_per_access' is not between 1 and 10000"},
        Complaint{"\"stack_size\": \"4K\",", "\"stack_size\": \"4K\", \"cache_line\": 24,",
                  "cache_line: 24 is not a power of two from 16 to 1024"},
        Complaint{"\"stack_size\": \"4K\",", "\"stack_size\": \"4K\", \"cache_line\": 8,",
                  "cache_line: 8 is not a power of two from 16 to 1024"},
        Complaint{"\"shared_memory\": \"ddr\"", "\"shared_memory\": \"dram\"",
                  "run: shared_memory: there is no memory 'dram'"},
        Complaint{"\"data\": \"ram\"", "\"data\": \"ram\", \"streams\": \"dram\"",
                  "roles: streams: there is no memory 'dram'"},
        Complaint{"\"shared_memory\": \"ddr\"",
                  "\"shared_memory\": \"ddr\", \"device_window\": \"0x9FFF0000\", "
                  "\"device_window_size\": \"64K\"",
                  "run: device_window: 0x9fff0000 and 0x10000 bytes from there are not in the "
                  "reserved end"},
        Complaint{"\"shared_memory\": \"ddr\"",
                  "\"shared_memory\": \"ddr\", \"device_window\": \"0xDFFF0000\", "
                  "\"device_window_size\": \"64K\"",
                  "run: device_window: 0xdfff0000 and 0x10000 bytes from there are not in the "
                  "reserved end"},
        Complaint{"[\"cpu\", \"ethos-u\"]", "\"cpu\"", "'accessible_by' is not a list of texts"},
        Complaint{"\"stack_size\": \"4K\",", "\"stack_size\": \"4K\"",
                  "sample.json: is not JSON: parse error at line 18"}));

// The sample with constants in two flashes and in RAM that a loader fills.
Board board_with_constants_anywhere() {
  std::string text =
      with("\"constants\": \"rom\"", "\"constants\": [\"rom\", \"ddr\", \"flash\", \"pool\"]");
  const std::string ddr = "{\"name\": \"ddr\",";
  text.replace(text.find(ddr), ddr.size(),
               "{\"name\": \"pool\", \"kind\": \"ram\", \"base\": \"0x30000000\", \"size\": "
               "\"1M\", \"loaded\": true},\n" +
                   ddr + " \"loaded\": true,");
  const Result<Board> board = parse_board(text, "sample.json");
  EXPECT_TRUE(board.ok()) << board.error().to_string();
  return *board;
}

TEST(ParseBoard, ConstantsMayBeInSeveralMemories) {
  const Board board = board_with_constants_anywhere();
  EXPECT_THAT(board.roles.constants, ElementsAre("rom", "ddr", "flash", "pool"));
  EXPECT_EQ(board.roles.streams, "rom");
  std::map<std::string, MemoryPool> pools;
  for (const MemoryPool& pool : memory_map(board).pools) pools[pool.name] = pool;
  EXPECT_EQ(pools.size(), 5u) << "each once";
  EXPECT_FALSE(pools["ram"].holds_constants);
  for (const char* name : {"rom", "ddr", "flash", "pool"})
    EXPECT_TRUE(pools[name].holds_constants) << name;
  EXPECT_EQ(pools["rom"].constants_order, 0);
  EXPECT_EQ(pools["flash"].constants_order, 2);
  EXPECT_FALSE(pools["ddr"].read_only) << "has activations as well";
  EXPECT_TRUE(pools["pool"].read_only) << "has no activations";
}

TEST(ParseBoard, StreamsAreWhereNotOnlyTheCpuReaches) {
  const std::string two = with("\"constants\": \"rom\"", "\"constants\": [\"rom\", \"flash\"]");
  std::string text = two;
  const std::string cycles = "\"cycles_per_access\": 4";
  text.replace(text.find(cycles), cycles.size(), "\"accessible_by\": [\"cpu\"]");
  EXPECT_EQ(parse_board(two, "sample.json")->roles.streams, "rom");
  EXPECT_EQ(parse_board(text, "sample.json")->roles.streams, "flash");
}

TEST(ParseBoard, ReportsAllProblemsTogether) {
  std::string text = with("\"512K\"", "\"big\"");
  text.replace(text.find("\"port\": \"semihosting\",\n"), 23, "\"ports\": 1,\n");
  const std::string said = complaint(text);
  EXPECT_THAT(said, HasSubstr("the key 'port' is missing"));
  EXPECT_THAT(said, HasSubstr("'size' is not a number"));
  EXPECT_THAT(said, HasSubstr("unknown key 'ports'; did you mean 'port'?"));
}

TEST(ParseBoard, RefusesWhatIsNoObject) {
  EXPECT_THAT(complaint("[]"), HasSubstr("a JSON object is expected here"));
  EXPECT_THAT(complaint(""), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint("{}"), HasSubstr("the key 'name' is missing"));
}

TEST(Boards, AllOfTheRepositoryLoad) {
  const std::vector<std::string> names = list_boards(kBoards);
  EXPECT_THAT(names, testing::IsSupersetOf({"host", "lm3s6965evb", "microbit", "mps2-an385",
                                            "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547",
                                            "netduinoplus2", "stm32vldiscovery"}));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    const Result<Board> board = find_board(kBoards, name);
    ASSERT_TRUE(board.ok()) << board.error().to_string();
    EXPECT_EQ(board->name, name);
  }
}

TEST(Boards, AnUnknownNameGetsTheNearest) {
  const Result<Board> board = find_board(kBoards, "mps2-an368");
  ASSERT_FALSE(board.ok());
  EXPECT_THAT(board.error().to_string(),
              HasSubstr("--board: there is no board 'mps2-an368'; did you mean 'mps2-an3"));
  EXPECT_THAT(board.error().to_string(),
              HasSubstr("boards: aarch64-linux, host, lm3s6965evb, microbit, mps2-an385"));
  EXPECT_FALSE(find_board(kBoards, "../boards/host").ok());
  EXPECT_TRUE(list_boards(kBoards + "/nowhere").empty());
}

TEST(Boards, ACoreMustFit) {
  const Board board = sample_board();
  ASSERT_TRUE(core_for(board, "cortex-m3").ok());
  EXPECT_EQ(core_for(board, "cortex-m3")->flags[0], "-mcpu=cortex-m3");
  const Result<Core> other = core_for(board, "cortex-m55");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().to_string(),
            "--board sample: the board does not run code for cortex-m55; choose a target for "
            "cortex-m4 or cortex-m3, or another board\n");
  const Result<Board> host = find_board(kBoards, "host");
  ASSERT_TRUE(host.ok());
  EXPECT_TRUE(core_for(*host, "cortex-m55").ok());
}

TEST(Boards, MemoryMapLeavesOutWhatIsTaken) {
  const MemoryMap map = memory_map(sample_board());
  ASSERT_EQ(map.pools.size(), 4u);
  EXPECT_EQ(map.pools[0].name, "ram");
  EXPECT_EQ(map.pools[0].size, (64 << 10) - 1024 - 4096);
  EXPECT_FALSE(map.pools[0].read_only);
  EXPECT_EQ(map.pools[1].name, "ddr");
  EXPECT_EQ(map.pools[1].size, 1 << 30);
  EXPECT_EQ(map.pools[1].cycles_per_access, 9);
  EXPECT_THAT(map.pools[1].accessible_by, ElementsAre("cpu", "ethos-u"));
  EXPECT_EQ(map.pools[2].name, "flash");
  EXPECT_TRUE(map.pools[2].read_only);
  EXPECT_EQ(map.pools[2].size, (512 << 10) - 8192);
  EXPECT_EQ(map.pools[3].name, "rom");

  const Result<Board> host = find_board(kBoards, "host");
  ASSERT_TRUE(host.ok());
  for (const MemoryPool& pool : memory_map(*host).pools) EXPECT_EQ(pool.size, 0);
}

}  // namespace
}  // namespace intarsia::board
