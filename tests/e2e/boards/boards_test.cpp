// Every board from its board.json to a finished run: linker script, build, QEMU, outputs, stack,
// instruction counts, and failures that are reported as failures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "board/board_firmware.h"
#include "needs.h"
#include "support/process.h"

namespace intarsia::board {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kRoot = INTARSIA_ROOT;
const std::string kModels = kRoot + "/tests/e2e/boards/models/";

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool can_start(const std::string& program) {
  return run_process({program, "--version"}).ok();
}

// Holds the builds of all tests. A space and a comma in its path: both mean something to the
// programs that paths are handed to.
std::string scratch_folder() {
  return (fs::temp_directory_path() / fmt::format("intarsia boards, {}", getpid())).string() + "/";
}

class ScratchFolder : public testing::Environment {
 public:
  void TearDown() override { fs::remove_all(scratch_folder()); }
};
const testing::Environment* const kScratchFolder =
    testing::AddGlobalTestEnvironment(new ScratchFolder);

// An array over all that a memory offers a model, so that linking also proves that `reserved` is
// enough. The largest memory is only sampled: a C array is below 2 GB.
std::string pools_source(const Board& board) {
  std::string text = "#include \"pools.h\"\n#include \"intarsia/contract/placement.h\"\n";
  std::string table;
  for (const std::string& name : board.roles.activations) {
    const Memory& memory = *board.find_memory(name);
    const uint64_t bytes = std::min<uint64_t>(available(board, memory), 16u << 20);
    text += fmt::format("static uint8_t pool_{0}[{1}] INTARSIA_IN_MEMORY({0});\n", name, bytes);
    table += fmt::format("{{pool_{0}, (int32_t)sizeof pool_{0}}}, ", name);
  }
  return text + fmt::format("const struct pool pools[] = {{{}}};\nconst int32_t pool_count = {};\n",
                            table, board.roles.activations.size());
}

constexpr const char* kPoolsHeader =
    "#include <stdint.h>\nstruct pool { volatile uint8_t *start; int32_t bytes; };\n"
    "extern const struct pool pools[];\nextern const int32_t pool_count;\n";

class BoardsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Board> found = find_board(kRoot + "/boards", GetParam());
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    board_ = *found;
    if (!can_start(board_.compiler))
      GTEST_SKIP() << test::needs(toolchain()) << board_.compiler << " is not installed";
    if (board_.emulator && !can_start(board_.emulator->program))
      GTEST_SKIP() << test::needs(toolchain()) << board_.emulator->program << " is not installed";
    folder_ = scratch_folder() + board_.name + "/";
    fs::create_directories(folder_);
  }

  // Builds `source` for `core`, once; fails the test with the compiler's words.
  void build(const std::string& source, const Core& core) {
    program_ = folder_ + source + "-" + core.name;
    if (fs::exists(program_)) return;
    BuildRequest request;
    request.sources = {kModels + source};
    request.flags = {"-Os", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I" + folder_};
    if (source == "add_one.c") {
      write_file(folder_ + "pools.h", kPoolsHeader);
      write_file(folder_ + "pools.c", pools_source(board_));
      request.sources.push_back(folder_ + "pools.c");
    }
    request.output = program_;
    if (!board_.native()) {
      request.linker_script_path = folder_ + "board.ld";
      write_file(request.linker_script_path, linker_script(board_));
    }
    const auto command = build_command(board_, core, kRoot, request);
    const Result<ProcessOutcome> built = run_process(command);
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    ASSERT_TRUE(built->succeeded()) << command_line_text(command) << "\n" << built->err;
    EXPECT_EQ(built->err, "");
  }

  ProcessOutcome run(const RunRequest& request, std::optional<CountRequest> count = {}) {
    const Result<std::string> text = run_file_text(request);
    EXPECT_TRUE(text.ok());
    write_file(folder_ + "run.txt", *text);
    StartRequest start;
    start.program = program_;
    start.run_file = folder_ + "run.txt";
    start.count = std::move(count);
    start.shared_memory_file = shared_memory_file_;
    const Result<std::vector<std::string>> command = run_command(board_, start);
    EXPECT_TRUE(command.ok());
    ProcessOptions options;
    options.timeout = std::chrono::seconds(60);
    const Result<ProcessOutcome> outcome = run_process(*command, options);
    EXPECT_TRUE(outcome.ok()) << command_line_text(*command);
    return *outcome;
  }

  RunRequest request(const std::string& input_bytes, int32_t repeat) {
    write_file(folder_ + "in0.bin", input_bytes);
    RunRequest request;
    request.repeat = repeat;
    request.inputs = {folder_ + "in0.bin"};
    request.outputs = {folder_ + "out0.bin"};
    request.report = folder_ + "report.json";
    return request;
  }

  std::string toolchain() const {
    if (board_.native()) return "linux-toolchain";
    return board_.is_riscv() ? "riscv-toolchain" : "cross-toolchain";
  }
  Core main_core() const { return board_.cores.empty() ? Core{} : board_.cores.front(); }

  Board board_;
  std::string folder_;
  std::string program_;
  std::string shared_memory_file_;
};

class EmulatedBoardsTest : public BoardsTest {};
class Armv6BoardsTest : public BoardsTest {};
class SharingBoardsTest : public BoardsTest {};

// Three slices of 16 bytes; their first bytes, which set how long the model spins, are 0, 16, 32.
std::string three_slices() {
  std::string bytes;
  for (char i = 0; i < 48; ++i) bytes += i;
  return bytes;
}

std::string plus_one(std::string bytes) {
  for (char& byte : bytes) ++byte;
  return bytes;
}

// Without what QEMU itself says of a machine: that no program has set a timer of the Stellaris yet.
std::string said_by_the_program(const ProcessOutcome& outcome) {
  constexpr std::string_view kNotice = "Timer with period zero, disabling\n";
  std::string text = outcome.err + outcome.out;
  if (const size_t at = text.find(kNotice); at != std::string::npos) text.erase(at, kNotice.size());
  return text;
}

// Where nothing is, QEMU's Stellaris ignores accesses.
bool faults_on_bad_addresses(const Board& board) {
  return board.name != "lm3s6965evb";
}

// Of a board whose programs are processes of this machine.
bool this_machine_runs(const Core& core) {
#if defined(__x86_64__)
  if (core.name == "x86-64-v2") return __builtin_cpu_supports("sse4.2");
  if (core.name == "x86-64-v3") return __builtin_cpu_supports("avx2");
  if (core.name == "x86-64-v4") return __builtin_cpu_supports("avx512vl");
  if (core.name == "cascadelake") return __builtin_cpu_supports("avx512vnni");
#endif
  return true;
}

TEST_P(BoardsTest, RunsAModelOverSlices) {
  std::vector<Core> cores = board_.cores.empty() ? std::vector<Core>{Core{}} : board_.cores;
  cores.insert(cores.end(), board_.also_runs.begin(), board_.also_runs.end());
  for (const Core& core : cores) {
    SCOPED_TRACE(core.name);
    if (board_.native() && !board_.emulator && !this_machine_runs(core)) continue;
    ASSERT_NO_FATAL_FAILURE(build("add_one.c", core));
    RunRequest wanted = request(three_slices(), 3);
    ProcessOutcome outcome = run(wanted);
    ASSERT_TRUE(outcome.succeeded()) << outcome.ending() << outcome.err << outcome.out;
    EXPECT_EQ(file_bytes(wanted.outputs[0]), plus_one(three_slices().substr(32)));

    wanted.keep_all = true;
    outcome = run(wanted);
    ASSERT_TRUE(outcome.succeeded()) << outcome.ending() << outcome.err << outcome.out;
    EXPECT_EQ(file_bytes(wanted.outputs[0]), plus_one(three_slices()));
    EXPECT_EQ(said_by_the_program(outcome), "");

    const Result<RunReport> report = read_run_report(wanted.report);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_EQ(report->exit_status, 0);
    EXPECT_EQ(report->model_status, 0);
    EXPECT_EQ(report->runs, 3);
    if (board_.native()) {
      EXPECT_EQ(report->stack_run, -1);
    } else {
      // The model's 600 bytes of scratch and a few registers.
      EXPECT_GE(report->stack_run, 600);
      EXPECT_LE(report->stack_run, 720);
      EXPECT_GT(report->stack_total, report->stack_run);
      EXPECT_LE(report->stack_total, 1200);
      EXPECT_EQ(report->stack_size, static_cast<int64_t>(board_.stack_size));
    }
  }
}

// The other compiler's warnings. Syntax only: it has no C library for these cores.
TEST_P(BoardsTest, SupportIsCleanForClang) {
  if (!can_start("clang")) GTEST_SKIP() << test::needs("clang") << "it is not installed";
  std::vector<std::string> command = {"clang",   "-std=c11",     "-fsyntax-only", "-Wall",
                                      "-Wextra", "-Wconversion", "-Werror"};
  const auto add = [&command](const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  if (!board_.native())
    add({board_.is_riscv() ? "--target=riscv32-unknown-elf" : "--target=arm-none-eabi",
         "-ffreestanding"});
  if (board_.native() && !board_.cores.empty())
    add({"--target=" + board_.compiler.substr(0, board_.compiler.rfind("-gcc"))});
  for (const std::string& flag : compile_flags(board_, main_core()))
    if (!flag.starts_with("--specs=")) command.push_back(flag);
  add(include_flags(kRoot));
  add(support_sources(board_, kRoot));
  if (board_.native()) add({count_plugin_command(kRoot, "count.so")[5]});
  const Result<ProcessOutcome> outcome = run_process(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->succeeded()) << outcome->err;
}

TEST_P(BoardsTest, OneSliceServesAllRuns) {
  ASSERT_NO_FATAL_FAILURE(build("add_one.c", main_core()));
  RunRequest wanted = request(three_slices().substr(0, 16), 2);
  wanted.keep_all = true;
  const ProcessOutcome outcome = run(wanted);
  ASSERT_TRUE(outcome.succeeded()) << outcome.ending() << outcome.err;
  const std::string once = plus_one(three_slices().substr(0, 16));
  EXPECT_EQ(file_bytes(wanted.outputs[0]), once + once);
}

TEST_P(EmulatedBoardsTest, CountsInstructionsExactly) {
  ASSERT_NO_FATAL_FAILURE(build("add_one.c", main_core()));
  const Result<ProcessOutcome> plugin =
      run_process(count_plugin_command(kRoot, folder_ + "count.so"));
  ASSERT_TRUE(plugin.ok() && plugin->succeeded()) << plugin->err;
  const Result<ElfImage> image = read_elf(program_);
  ASSERT_TRUE(image.ok()) << image.error().to_string();
  CountRequest count;
  count.plugin = folder_ + "count.so";
  count.begin = image->symbols.at("intarsia_mark_begin");
  count.end = image->symbols.at("intarsia_mark_end");
  std::vector<std::vector<uint64_t>> both;
  for (const char* name : {"first.txt", "second.txt"}) {
    count.output = folder_ + name;
    const ProcessOutcome outcome = run(request(three_slices(), 3), count);
    ASSERT_TRUE(outcome.succeeded()) << outcome.ending() << outcome.err;
    const Result<std::vector<uint64_t>> counts = read_counts(count.output);
    ASSERT_TRUE(counts.ok()) << counts.error().to_string();
    both.push_back(*counts);
  }
  EXPECT_EQ(both[0], both[1]);
  ASSERT_EQ(both[0].size(), 3u);
  // 16 more in the first byte is 16000 more turns of two instructions.
  EXPECT_EQ(both[0][1] - both[0][0], 32000u);
  EXPECT_EQ(both[0][2] - both[0][1], 32000u);
  EXPECT_GE(both[0][0], 2000u);
  EXPECT_LE(both[0][0], 5000u);
}

TEST_P(EmulatedBoardsTest, FirmwareStaysWithinWhatIsReserved) {
  ASSERT_NO_FATAL_FAILURE(build("broken.c", main_core()));
  const Result<ElfImage> image = read_elf(program_);
  ASSERT_TRUE(image.ok()) << image.error().to_string();
  for (const MemoryUse& use : memory_use(board_, *image)) {
    const Memory& memory = *board_.find_memory(use.memory);
    const uint64_t stack = memory.name == board_.roles.stack ? board_.stack_size : 0;
    EXPECT_LE(use.used - stack, memory.reserved) << memory.name;
    EXPECT_TRUE(memory.name != board_.roles.code || use.used > 1000) << use.used;
  }
}

TEST_P(BoardsTest, AModelsStatusIsReported) {
  ASSERT_NO_FATAL_FAILURE(build("broken.c", main_core()));
  const RunRequest wanted = request("s", 1);
  const ProcessOutcome outcome = run(wanted);
  EXPECT_EQ(outcome.exit_code, 13) << outcome.ending();
  EXPECT_THAT(outcome.err + outcome.out, HasSubstr("run returned status 7"));
  const Result<RunReport> report = read_run_report(wanted.report);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->exit_status, 13);
  EXPECT_EQ(report->model_status, 7);
  EXPECT_EQ(report->runs, 0);
}

TEST_P(EmulatedBoardsTest, FaultsEndTheRun) {
  ASSERT_NO_FATAL_FAILURE(build("broken.c", main_core()));
  for (const std::string how : {"a", "i", "o"}) {
    SCOPED_TRACE(how);
    if (how == "a" && !faults_on_bad_addresses(board_)) continue;
    const ProcessOutcome outcome = run(request(how, 1));
    EXPECT_EQ(outcome.exit_code, 14) << outcome.ending() << outcome.err;
    EXPECT_THAT(outcome.err + outcome.out, HasSubstr("intarsia: fault: "));
    EXPECT_THAT(outcome.err + outcome.out, HasSubstr(how == "o" ? "stack overflow" : "at pc 0x"));
  }
}

TEST_P(Armv6BoardsTest, Armv6CodeFaultsOnUnalignedAccess) {
  std::vector<Core> cores = board_.cores;
  cores.insert(cores.end(), board_.also_runs.begin(), board_.also_runs.end());
  std::erase_if(cores, [](const Core& core) { return !core.name.starts_with("cortex-m0"); });
  for (const Core& core : cores) {
    SCOPED_TRACE(core.name);
    ASSERT_NO_FATAL_FAILURE(build("broken.c", core));
    const ProcessOutcome outcome = run(request("u", 1));
    EXPECT_EQ(outcome.exit_code, 14) << outcome.ending() << outcome.err;
    EXPECT_THAT(outcome.err + outcome.out, HasSubstr("at pc 0x"));
  }
}

// A host process sees what the firmware writes, where the NPU simulators of an emulated board will
// find their operands.
TEST_P(SharingBoardsTest, SharesAMemoryWithTheHost) {
  ASSERT_NO_FATAL_FAILURE(build("add_one.c", main_core()));
  const Memory& memory = *board_.find_memory(board_.emulator->shared_memory);
  shared_memory_file_ = folder_ + "shared.bin";
  write_file(shared_memory_file_, "");
  fs::resize_file(shared_memory_file_, memory.size);  // sparse
  const ProcessOutcome outcome = run(request(three_slices(), 3));
  ASSERT_TRUE(outcome.succeeded()) << outcome.ending() << outcome.err;
  const Result<ElfImage> image = read_elf(program_);
  ASSERT_TRUE(image.ok()) << image.error().to_string();
  std::ifstream shared(shared_memory_file_, std::ios::binary);
  shared.seekg(static_cast<std::streamoff>(image->symbols.at("pool_" + memory.name) - memory.base));
  std::string bytes(16, '\0');
  shared.read(bytes.data(), 16);
  EXPECT_EQ(bytes, three_slices().substr(32));
}

TEST_P(BoardsTest, WrongFilesAreNamed) {
  ASSERT_NO_FATAL_FAILURE(build("add_one.c", main_core()));
  const auto said = [this](const RunRequest& wanted, int exit_code) {
    const ProcessOutcome outcome = run(wanted);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.ending();
    return outcome.err + outcome.out;
  };
  EXPECT_THAT(said(request(std::string(17, 'x'), 1), 11), HasSubstr("input 0: the file's size"));
  EXPECT_THAT(said(request(std::string(32, 'x'), 3), 11), HasSubstr("input 0: the file's size"));

  RunRequest missing = request(std::string(16, 'x'), 1);
  missing.inputs = {folder_ + "nowhere.bin"};
  EXPECT_THAT(said(missing, 11), HasSubstr("nowhere.bin'"));

  RunRequest none = request(std::string(16, 'x'), 1);
  none.inputs.clear();
  EXPECT_THAT(said(none, 11), HasSubstr("the number of inputs is not 1"));

  RunRequest unwritable = request(std::string(16, 'x'), 1);
  unwritable.outputs = {folder_ + "no/folder/out.bin"};
  EXPECT_THAT(said(unwritable, 12), HasSubstr("no/folder/out.bin'"));
}

// The boards of which `holds` is true. A board.json that does not load is kept: the test reports
// it.
std::vector<std::string> boards_where(bool (*holds)(const Board&)) {
  std::vector<std::string> names;
  for (const std::string& name : list_boards(kRoot + "/boards")) {
    const Result<Board> board = find_board(kRoot + "/boards", name);
    if (!board.ok() || holds(*board)) names.push_back(name);
  }
  return names;
}

bool any(const Board&) {
  return true;
}
bool is_emulated(const Board& board) {
  return board.emulator.has_value() && !board.native();
}
bool runs_armv6(const Board& board) {
  return !board.native() && core_for(board, "cortex-m0").ok();
}
bool shares_memory(const Board& board) {
  return board.emulator && !board.emulator->shared_memory.empty();
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string text = info.param;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(All, BoardsTest, testing::ValuesIn(boards_where(any)), test_name);
INSTANTIATE_TEST_SUITE_P(All, EmulatedBoardsTest, testing::ValuesIn(boards_where(is_emulated)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(All, Armv6BoardsTest, testing::ValuesIn(boards_where(runs_armv6)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(All, SharingBoardsTest, testing::ValuesIn(boards_where(shares_memory)),
                         test_name);

}  // namespace
}  // namespace intarsia::board
