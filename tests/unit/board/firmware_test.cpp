#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "board/board_firmware.h"
#include "sample_board.h"

namespace intarsia::board {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kRoot = INTARSIA_ROOT;

Board host_board() {
  const Result<Board> host = find_board(kRoot + "/boards", "host");
  EXPECT_TRUE(host.ok());
  return *host;
}

TEST(Firmware, BuildCommandHoldsAllParts) {
  const Board board = sample_board();
  BuildRequest request;
  request.sources = {"model.c"};
  request.flags = {"-Os"};
  request.linker_script_path = "board.ld";
  request.output = "model.elf";
  request.map_path = "model.map";
  const std::vector<std::string> command = build_command(board, board.cores[0], kRoot, request);
  EXPECT_EQ(command[0], "arm-none-eabi-gcc");
  EXPECT_THAT(command, Contains("-mcpu=cortex-m4"));
  EXPECT_THAT(command, Contains("-DINTARSIA_BOARD_MEMORIES=1"));
  EXPECT_THAT(command, Contains("-T"));
  EXPECT_THAT(command, Contains("board.ld"));
  EXPECT_THAT(command, Contains("-Wl,-Map=model.map"));
  EXPECT_THAT(command, Contains("model.c"));
}

TEST(Firmware, SupportSourcesExist) {
  for (const Board& board : {sample_board(), host_board()}) {
    for (const std::string& source : support_sources(board, kRoot)) {
      EXPECT_TRUE(std::filesystem::exists(source)) << source;
    }
  }
}

TEST(Firmware, StartupIsOfTheCoresArchitectureOrTheBoardsOwn) {
  Board board = sample_board();
  EXPECT_THAT(startup_sources(board, "/root"), ElementsAre("/root/boards/common/startup.c"));
  board.cores[0].name = "rv32imc";
  EXPECT_THAT(startup_sources(board, "/root"), ElementsAre("/root/boards/common/startup_riscv.c"));
  EXPECT_THAT(support_sources(board, "/root"), AllOf(Contains("/root/boards/common/fault_riscv.c"),
                                                     Not(Contains("/root/boards/common/fault.c"))));
  board.folder = "/hardware/sample";
  board.startup = {"start.c", "clocks.c"};
  EXPECT_THAT(startup_sources(board, "/root"),
              ElementsAre("/hardware/sample/start.c", "/hardware/sample/clocks.c"));
  EXPECT_THAT(support_sources(board, "/root"), Contains("/hardware/sample/clocks.c"));
}

TEST(Firmware, NativeBuildsHaveNoScript) {
  const std::vector<std::string> flags = link_flags(host_board(), Core{}, "");
  EXPECT_THAT(flags, ElementsAre("-lm"));
  EXPECT_THAT(compile_flags(host_board(), Core{}), testing::IsEmpty());
}

TEST(Firmware, RunFile) {
  RunRequest request;
  request.repeat = 3;
  request.keep_all = true;
  request.inputs = {"/in 0.bin", "/in1.bin"};
  request.outputs = {"/out0.bin"};
  request.report = "/report.json";
  const Result<std::string> text = run_file_text(request);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "repeat 3\nkeep all\nreport /report.json\ninput /in 0.bin\ninput /in1.bin\n"
            "output /out0.bin\n");
}

TEST(Firmware, ARunFileJoinsTheFilesOfManyTensors) {
  RunRequest request;
  request.joined_inputs = "/in.bin";
  request.joined_outputs = "/out.bin";
  const Result<std::string> text = run_file_text(request);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "repeat 1\nkeep last\ninputs /in.bin\noutputs /out.bin\n");
}

TEST(Firmware, RunFileRefusesWhatTheFirmwareCannotTake) {
  RunRequest request;
  request.repeat = 0;
  request.inputs = {"two\nlines", std::string(501, 'x')};
  const Result<std::string> text = run_file_text(request);
  ASSERT_FALSE(text.ok());
  const std::string said = text.error().to_string();
  EXPECT_THAT(said, HasSubstr("--repeat: 0 is not between"));
  EXPECT_THAT(said, HasSubstr("is no path the firmware can take as input"));
  EXPECT_THAT(said, HasSubstr("is longer than the 500 characters"));
}

TEST(Firmware, RunCommandStartsTheEmulator) {
  StartRequest request;
  request.program = "model.elf";
  request.run_file = "/a,b/run.txt";
  request.count = CountRequest{"/x/count.so", 0x41, 0x43, "/a,b/counts"};
  const Result<std::vector<std::string>> command = run_command(sample_board(), request);
  ASSERT_TRUE(command.ok());
  EXPECT_THAT(*command, ElementsAre("qemu-system-arm", "-M", "none", "-d", "unimp", "-nographic",
                                    "-monitor", "none", "-serial", "null", "-semihosting-config",
                                    "enable=on,target=native,arg=intarsia,arg=/a,,b/run.txt",
                                    "-kernel", "model.elf", "-plugin",
                                    "file=/x/count.so,begin=0x41,end=0x43,out=/a,,b/counts"));
}

TEST(Firmware, RunCommandSharesAMemory) {
  StartRequest request;
  request.program = "model.elf";
  request.run_file = "run.txt";
  request.shared_memory_file = "/dev/shm/x";
  const Result<std::vector<std::string>> command = run_command(sample_board(), request);
  ASSERT_TRUE(command.ok());
  EXPECT_THAT(*command,
              AllOf(Contains("none,memory-backend=ddr"), Contains("1024M"),
                    Contains("memory-backend-file,id=ddr,size=1073741824,mem-path=/dev/shm/x,"
                             "share=on")));
  Board board = sample_board();
  board.emulator->shared_memory.clear();
  EXPECT_FALSE(run_command(board, request).ok());
}

TEST(Firmware, RunCommandOfTheHostIsTheProgram) {
  StartRequest request;
  request.program = "/x/model";
  request.run_file = "run.txt";
  const Result<std::vector<std::string>> command = run_command(host_board(), request);
  ASSERT_TRUE(command.ok());
  EXPECT_THAT(*command, ElementsAre("/x/model", "run.txt"));
}

TEST(Firmware, ABoardWithoutAnEmulatorSaysSo) {
  Board board = sample_board();
  board.emulator.reset();
  const Result<std::vector<std::string>> command = run_command(board, {});
  ASSERT_FALSE(command.ok());
  EXPECT_THAT(command.error().to_string(),
              HasSubstr("neither an emulator nor a debug probe is known for this board"));
}

class WrittenFile {
 public:
  explicit WrittenFile(const std::string& text)
      : path_(testing::TempDir() + "intarsia_firmware_test.txt") {
    std::ofstream(path_) << text;
  }
  ~WrittenFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Firmware, ReadsCounts) {
  const Result<std::vector<uint64_t>> counts = read_counts(WrittenFile("5\n5000000000\n").path());
  ASSERT_TRUE(counts.ok());
  EXPECT_THAT(*counts, ElementsAre(5u, 5000000000u));
  EXPECT_FALSE(read_counts(WrittenFile("5\nfive\n").path()).ok());
  EXPECT_FALSE(read_counts("/nowhere/at/all").ok());
}

TEST(Firmware, ReadsReports) {
  const Result<RunReport> report = read_run_report(
      WrittenFile(R"({"exit_status": 0, "model_status": 0, "runs": 2, "stack_run": 844,
                      "stack_total": -1, "stack_size": 4096})")
          .path());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->runs, 2);
  EXPECT_EQ(report->stack_run, 844);
  EXPECT_EQ(report->stack_total, -1);
  for (const char* bad : {"", "[1]", R"({"runs": 2})", R"({"exit_status": "0", "runs": 2})"}) {
    EXPECT_FALSE(read_run_report(WrittenFile(bad).path()).ok()) << bad;
  }
}

TEST(Firmware, EveryExitStatusOfTheFirmwareHasWords) {
  std::ifstream header(kRoot + "/boards/common/include/intarsia_board/port.h");
  const std::string text{std::istreambuf_iterator<char>(header), std::istreambuf_iterator<char>()};
  size_t at = 0;
  int found = 0;
  while ((at = text.find("  INTARSIA_EXIT_", at)) != std::string::npos) {
    at = text.find(" = ", at) + 3;
    const int status = std::stoi(text.substr(at));
    EXPECT_THAT(exit_status_meaning(status), Not(HasSubstr("ended with status"))) << status;
    ++found;
  }
  EXPECT_GE(found, 6);
  EXPECT_EQ(exit_status_meaning(99), "the program ended with status 99");
}

// The emulator shares one memory with simulated devices.
TEST(Firmware, MemoriesThatDevicesReachButCannotShare) {
  const Result<void> checked = check_memories_of_devices(sample_board());
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(
      checked.error().to_string(),
      testing::HasSubstr("sample: devices reach 'ram' too, and the emulator shares 'ddr' alone "
                         "with them; give 'ram' \"accessible_by\": [\"cpu\"]"));
  Board board = sample_board();
  for (Memory& memory : board.memories)
    if (memory.name != "ddr") memory.accessible_by = {"cpu"};
  EXPECT_TRUE(check_memories_of_devices(board).ok());
}

}  // namespace
}  // namespace intarsia::board
