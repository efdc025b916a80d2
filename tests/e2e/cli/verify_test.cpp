// `verify`, `build` and `run --outputs`: what is compared, what is found, and what is left behind.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"

extern char** environ;

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kNpu = "cortex-m55+ethos-u55-128";

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

class Verify : public Cli {
 protected:
  Json json(std::vector<std::string> arguments, int exit_code = kDone) const {
    arguments.push_back("--json");
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    Json parsed = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << outcome.out;
    return parsed;
  }
  static bool can_emulate() {
    return have_program("arm-none-eabi-gcc") && have_program("qemu-system-arm");
  }
  // A model of one operator of two inputs, or of one.
  void write_operator(const std::string& name, const std::string& type, const std::string& kind,
                      bool binary) const {
    const std::string tensor = type + "[6]\n";
    write(name, "intarsia.graph m\nfunc @main(%0" + std::string(binary ? ", %1" : "") +
                    ") -> (%2) {\n  %0 a: " + tensor + "  %1 b: " + tensor + "  %2 y: " + tensor +
                    "  " + kind + " op(%0" + (binary ? ", %1" : "") +
                    ") -> (%2)\n}\nentry @main\n");
  }
};

// A column per program, a row per operator, on the CPU and on the NPU.
TEST_F(Verify, ThreeWays) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  const ProcessOutcome text = intarsia({"verify", digits_path(), "--board", "mps2-an386"});
  EXPECT_TRUE(done(text));
  EXPECT_TRUE(contains(text.out,
                       "reference, generated C on this machine, firmware on board mps2-an386 and "
                       "the compiled model in this process agree on 4 samples"))
      << text.out;
  const Json both =
      json({"verify", digits_path(), "--target", kNpu, "--board", "mps3-an547", "--samples", "2"});
  EXPECT_EQ(both["platforms"], Json({"host", "mps3-an547", "engine"}));
  ASSERT_GE(both["operators"].size(), 12u);
  for (const Json& row : both["operators"])
    for (const char* platform : {"host", "mps3-an547", "engine"})
      EXPECT_EQ(row[platform]["agrees"], true) << row;
}

// More results than files may be open at once.
TEST_F(Verify, OperatorsAreLookedAtHoweverManyThereAre) {
  constexpr int kOperators = 150;
  std::string graph =
      "intarsia.graph many\nfunc @main(%0) -> (%" + std::to_string(kOperators) + ") {\n";
  for (int i = 0; i <= kOperators; ++i)
    graph += "  %" + std::to_string(i) + " t" + std::to_string(i) + ": i8[6] q(0.00390625:-128)\n";
  for (int i = 0; i < kOperators; ++i)
    graph += "  logistic op" + std::to_string(i) + "(%" + std::to_string(i) + ") -> (%" +
             std::to_string(i + 1) + ")\n";
  write("many.graph", graph + "}\nentry @main\n");
  std::string line = INTARSIA_PROGRAM " verify many.graph --layers";
  if (can_emulate()) line += " --board mps2-an386";
  const ProcessOutcome outcome = program({"sh", "-c", "ulimit -n 100; exec " + line});
  EXPECT_TRUE(done(outcome));
  EXPECT_FALSE(contains(outcome.out, "not looked at")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "op149")) << outcome.out;
}

// The result of every operator at once is more than a micro:bit has: its outputs are compared.
TEST_F(Verify, OperatorsAreLookedAtWhereThereIsMemory) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  const std::vector<std::string> command = {"verify", digits_path(), "--board", "microbit"};
  const ProcessOutcome text = intarsia(command);
  EXPECT_TRUE(done(text));
  std::vector<std::string> asked = command;
  asked.push_back("--layers");
  if (contains(text.out, "microbit: operators were not looked at one by one"))
    EXPECT_TRUE(refused(intarsia(asked), {"memory"}));
  else
    EXPECT_TRUE(done(intarsia(asked)));
}

// A package shows what its operators compute, on this machine and in the emulator, of devices what leaves them.
TEST_F(Verify, APackageOperatorByOperator) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "here"})));
  const Json here = json({"verify", "here", "--reference", digits_path(), "--samples", "3"});
  EXPECT_EQ(here["platforms"], Json({"host"}));
  ASSERT_EQ(here["operators"].size(), 13u);
  for (const Json& row : here["operators"]) {
    if (row["kind"] == "reshape") continue;  // nothing is computed
    EXPECT_EQ(row["host"]["agrees"], true) << row;
  }
  const Json whole = json({"verify", "here", "--reference", digits_path(), "--no-layers"});
  EXPECT_FALSE(whole["operators"][0].contains("host"));

  if (!can_emulate()) return;
  ASSERT_TRUE(done(intarsia(
      {"compile", digits_path(), "--target", kNpu, "--board", "mps3-an547", "-o", "there"})));
  const ProcessOutcome there = intarsia({"verify", "there", "--reference", digits_path()});
  EXPECT_TRUE(done(there));
  EXPECT_TRUE(contains(there.out, "scores")) << there.out;
  const Json shown = json({"verify", "there", "--reference", digits_path(), "--samples", "1"});
  EXPECT_EQ(shown["operators"].back()["operator"], "scores");
  EXPECT_EQ(shown["operators"].back()["mps3-an547"]["agrees"], true);
  EXPECT_FALSE(shown["operators"].front().contains("mps3-an547")) << "inside of the NPU's region";
}

// Parts run at the same time: what they compute is not in one order.
TEST_F(Verify, AMulticorePackageIsComparedAsAWhole) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--target", "a: c; b: c", "--pin", "stem=a",
                             "--pin", "scores=b", "-o", "parts"})));
  EXPECT_TRUE(done(intarsia({"verify", "parts", "--reference", digits_path()})));
  EXPECT_TRUE(refused(intarsia({"verify", "parts", "--reference", digits_path(), "--layers"}),
                      {"parts: ", "at the same time"}));
}

// One weight of the package is another one: the first operator that shows it is named, with both values.
TEST_F(Verify, APackageThatDiffers) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "package"})));
  EXPECT_TRUE(refused(intarsia({"verify", "package"}), {"package: ", "--reference FILE"}));
  EXPECT_TRUE(done(intarsia({"verify", "package", "--reference", digits_path()})));
  std::string data = *read_text_file(path("package/digits_data.h"));
  const size_t brace = data.find('{', data.rfind("block2_depthwise_weights["));
  const size_t digit = data.find_first_of("123456789", brace);
  ASSERT_NE(digit, std::string::npos);
  data[digit] = data[digit] == '1' ? '7' : '1';
  write("package/digits_data.h", data);
  const ProcessOutcome outcome = intarsia({"verify", "package", "--reference", digits_path()});
  EXPECT_EQ(outcome.exit_code, kUserError);
  for (const char* word : {"differ, first at operator 'block2_depthwise'", "sample ", "element ",
                           ": reference ", ", program "})
    EXPECT_TRUE(contains(outcome.err, word)) << outcome.err;
  EXPECT_TRUE(refused(intarsia({"verify", "package", "--reference", "package/digits.h"}), {}));
}

// Values that a comparison may trip over: bools, infinities, NaN.
TEST_F(Verify, AwkwardValues) {
  write_operator("and.graph", "bool", "logical_and", true);
  write_operator("log.graph", "f32", "log", false);    // of 0 and of -1
  write_operator("sqrt.graph", "f32", "sqrt", false);  // NaN
  write_operator("div.graph", "f32", "div", true);     // 0 / 0
  for (const char* name : {"and.graph", "log.graph", "sqrt.graph", "div.graph"})
    EXPECT_TRUE(done(intarsia({"verify", name, "--samples", "8"}))) << name;
}

// In C, infinities and what is not a number have names of a header.
TEST_F(Verify, ConstantsThatAreNotFinite) {
  for (const auto& [shape, bytes] :
       {std::pair("[1]", "000080ff"), {"[3]", "0000807f000080ff0000c07f"}})
    for (const char* kind : {"maximum", "sub"}) {
      write("m.graph", std::string("intarsia.graph m\nconst @0 k = x\"") + bytes +
                           "\"\nfunc @main(%0) -> (%2) {\n  %0 x: f32[3]\n  %1 k: f32" + shape +
                           " = @0\n  %2 y: f32[3]\n  " + kind +
                           " op(%0, %1) -> (%2)\n}\nentry @main\n");
      EXPECT_TRUE(done(intarsia({"verify", "m.graph", "--samples", "4"}))) << kind << shape;
    }
}

// What frameworks put around indices.
TEST_F(Verify, CastsFromAndTo64Bits) {
  const std::vector<std::string> others = {"i32", "i16", "i8", "u8", "bool"};
  std::string tensors = "  %0 wide: i64[9]\n", nodes, inputs = "%0", outputs;
  size_t id = 0;
  const auto tensor = [&](const std::string& type) {
    const std::string text = "%" + std::to_string(++id);
    tensors += "  " + text + " t" + std::to_string(id) + ": " + type + "[9]\n";
    return text;
  };
  const auto cast = [&](const std::string& from, const std::string& to) {
    nodes += "  cast c" + std::to_string(id) + "(" + from + ") -> (" + to + ")\n";
    outputs += (outputs.empty() ? "" : ", ") + to;
  };
  for (const std::string& type : others) {
    const std::string given = tensor(type);
    inputs += ", " + given;
    cast(given, tensor("i64"));
    cast("%0", tensor(type));
  }
  cast("%0", tensor("f32"));
  write("casts.graph", "intarsia.graph casts\nfunc @main(" + inputs + ") -> (" + outputs + ") {\n" +
                           tensors + nodes + "}\nentry @main\n");
  const ProcessOutcome outcome = intarsia({"verify", path("casts.graph"), "--target", "c"});
  EXPECT_TRUE(done(outcome));
  EXPECT_TRUE(contains(outcome.out,
                       "reference, generated C on this machine and the compiled model in this "
                       "process agree on 4 samples"))
      << outcome.out;
}

// An NPU that is asked to round sums itself: results a step away from the reference's are within what was asked, and the line says
// so; without the attribute every result is the reference's. `explain` names the sums.
TEST_F(Verify, SumsThatTheNpuRounds) {
  for (const auto& [type, file] : {std::pair("i8", "bytes.graph"), {"i16", "words.graph"}}) {
    const std::string tensor = std::string(type) + "[1,16,16,24] ";
    write(file,
          "intarsia.graph m\nfunc @main(%0, %1) -> (%2, %3) {\n  %0 a: " + tensor +
              "q(0.0187:0)\n  %1 b: " + tensor + "q(0.0524:0)\n  %2 y: " + tensor +
              "q(0.0322:0)\n  %3 z: " + tensor +
              "q(0.0411:0)\n  add first(%0, %1) -> (%2) {activation=none}\n  sub second(%2, %0) -> "
              "(%3) {activation=none}\n}\nentry @main\n");
    const std::string rounds = "ethos-u55-128 -sums=npu";
    const ProcessOutcome exact = intarsia({"verify", file, "--target", "ethos-u55-128"});
    EXPECT_TRUE(done(exact));
    EXPECT_FALSE(contains(exact.out, "is allowed")) << exact.out;
    const ProcessOutcome rounded = intarsia({"verify", file, "--target", rounds, "--samples", "8"});
    EXPECT_TRUE(done(rounded));
    EXPECT_TRUE(contains(rounded.out, "(1 at most is allowed)")) << rounded.out;
    const ProcessOutcome said = intarsia({"explain", file, "--target", rounds});
    EXPECT_TRUE(contains(said.out, "at most a step from TFLite's results (-sums=npu): first"))
        << said.out;
  }
}

// Random samples of a model that takes places along an axis name places that there are.
TEST_F(Verify, PlacesAreWithinTheirAxis) {
  write("m.graph",
        std::string("intarsia.graph m\nfunc @main(%0, %1) -> (%2) {\n  %0 x: f32[3,4]\n"
                    "  %1 i: i32[5]\n  %2 y: f32[5,4]\n"
                    "  gather g(%0, %1) -> (%2) {axis=0, batch_dims=0}\n}\nentry @main\n"));
  EXPECT_TRUE(done(intarsia({"verify", "m.graph", "--samples", "20"})));
}

TEST_F(Verify, InputsFromFilesAndFolders) {
  write_image("a.bin", 1);
  std::vector<uint8_t> three = read("a.bin");
  for (const int image : {2, 3}) {
    write_image("b.bin", image);
    const std::vector<uint8_t> more = read("b.bin");
    three.insert(three.end(), more.begin(), more.end());
  }
  write("three.bin", three);
  EXPECT_EQ(json({"verify", digits_path(), "--input", "three.bin", "--no-layers"})["samples"], 3);
  write_image("recorded/0.bin", 4);
  write_image("recorded/1.bin", 5);
  write("recorded/notes.txt", std::string("not a sample"));
  EXPECT_EQ(json({"verify", digits_path(), "--input", "recorded", "--no-layers"})["samples"], 2);
  three.pop_back();
  write("three.bin", three);
  EXPECT_TRUE(refused(intarsia({"verify", digits_path(), "--input", "three.bin"}),
                      {"three.bin: has 191 bytes", "or a multiple of that"}));
  fs::create_directories(path("empty"));
  EXPECT_TRUE(
      refused(intarsia({"verify", digits_path(), "--input", "empty"}), {"empty: holds 0 files"}));
}

// Intermediate results on any board are those of the reference, which verify has compared.
TEST_F(Verify, RunWritesIntermediateResults) {
  write_image("in.bin", 3);
  ASSERT_TRUE(done(intarsia(
      {"run", digits_path(), "--input", "in.bin", "--output-dir", "all", "--outputs", "all"})));
  EXPECT_EQ(read("all/out0.bin"), recorded_scores(3));
  const std::map<std::string, std::string> every = read_folder("all");
  EXPECT_GE(every.size(), 12u);
  ASSERT_TRUE(every.contains("block1_depthwise.bin"));
  const std::string board = can_emulate() ? "mps2-an386" : "host";
  ASSERT_TRUE(done(intarsia({"run", digits_path(), "--input", "in.bin", "--output-dir", "one",
                             "--outputs", "block1_depthwise", "--board", board})));
  const std::map<std::string, std::string> one = read_folder("one");
  EXPECT_EQ(one.size(), 2u);
  EXPECT_EQ(one.at("block1_depthwise.bin"), every.at("block1_depthwise.bin"));
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--input", "in.bin", "--output-dir", "none",
                                "--outputs", "block1_depthwis"}),
                      {"no operator or tensor 'block1_depthwis'", "'block1_depthwise'"}));
}

// A board without an emulator: the program is the user's to load, and is named only where it stays.
// Neither as a program, nor in this process: the reference alone agrees with nothing.
TEST_F(Verify, NothingThatCouldBeCompared) {
#ifdef __aarch64__
  GTEST_SKIP() << "this machine runs programs of its own core";
#endif
  const ProcessOutcome outcome = intarsia({"verify", digits_path(), "--target", "acl"});
  EXPECT_TRUE(refused(outcome, {"digits: nothing could be compared with the reference",
                                "is code for AArch64", "arm_acl is not simulated", "--board"}));
  EXPECT_FALSE(contains(outcome.out, "agree"));
}

TEST_F(Verify, ABoardWithoutAnEmulator) {
  if (!can_emulate()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::string root = path("root");
  fs::create_directories(root + "/boards");
  for (const char* folder : {"device-runtime", "targets"})
    fs::create_directory_symlink(std::string(INTARSIA_SOURCE_DIR) + "/" + folder,
                                 root + "/" + folder);
  for (const char* folder : {"common", "host"})
    fs::create_directory_symlink(std::string(INTARSIA_SOURCE_DIR) + "/boards/" + folder,
                                 root + "/boards/" + folder);
  Json board = Json::parse(*read_text_file(INTARSIA_SOURCE_DIR "/boards/mps2-an386/board.json"),
                           nullptr, false);
  board["name"] = "mine";
  board.erase("run");
  write("root/boards/mine/board.json", board.dump());
  setenv("INTARSIA_ROOT", root.c_str(), 1);
  write_image("in.bin", 3);
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "mine", "--input", "in.bin",
                                "--output-dir", "out"}),
                      {"neither an emulator nor a debug probe is known for this board",
                       "intarsia build", "--board mine"}));
  const ProcessOutcome built =
      intarsia({"build", digits_path(), "--board", "mine", "-o", "firmware.elf"});
  EXPECT_TRUE(done(built));
  EXPECT_TRUE(read_text_file(path("firmware.elf"))
                  ->starts_with("\x7f"
                                "ELF"));
  const ProcessOutcome verified =
      intarsia({"verify", digits_path(), "--board", "mine", "--samples", "1", "--no-layers"});
  EXPECT_EQ(verified.exit_code, kDone) << verified.err;
  EXPECT_TRUE(
      contains(verified.err, "note: neither an emulator nor a debug probe is known for board mine"))
      << verified.err;
  unsetenv("INTARSIA_ROOT");
}

// A program that does not end.
constexpr const char* kSpin = "_run(struct digits *model) {\n";

// A constant that is an output: nothing computes it but the copy that the compiler adds.
TEST_F(Verify, OutputsThatNoOperatorMakesAreCompared) {
  write("pass.graph", std::string("intarsia.graph pass\nconst @0 one = f32[1, -2]\n"
                                  "func @main(%0) -> (%1, %2) {\n  %0 x: f32[2]\n  %1 y: f32[2]\n"
                                  "  %2 c: f32[2] = @0\n  relu first(%0) -> (%1)\n}\n"
                                  "entry @main\n"));
  ASSERT_TRUE(done(intarsia({"compile", "pass.graph", "-o", "package"})));
  EXPECT_TRUE(done(intarsia({"verify", "package", "--reference", "pass.graph"})));
  std::string data = *read_text_file(path("package/pass_data.h"));
  const size_t at = data.find("-2.0f");
  ASSERT_NE(at, std::string::npos);
  write("package/pass_data.h", data.replace(at, 5, "-3.0f"));
  const ProcessOutcome outcome = intarsia({"verify", "package", "--reference", "pass.graph"});
  EXPECT_EQ(outcome.exit_code, kUserError);
  EXPECT_TRUE(contains(outcome.err, "differ, first at output 'c', sample 0")) << outcome.err;
}

class Stuck : public Verify {
 protected:
  void SetUp() override {
    Verify::SetUp();
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "package"})));
    std::string source = *read_text_file(path("package/digits.c"));
    const size_t body = source.find(kSpin);
    ASSERT_NE(body, std::string::npos);
    source.insert(body + std::string(kSpin).size(),
                  "  static volatile int forever = 1;\n  while (forever) {\n  }\n");
    write("package/digits.c", source);
    write_image("in.bin", 1);
  }
};

TEST_F(Stuck, TheTimeLimitEndsIt) {
  EXPECT_TRUE(refused(
      intarsia({"run", "package", "--input", "in.bin", "--output-dir", "out", "--timeout", "4"}),
      {"the program was stopped after 4 s", "--timeout SECONDS"}));
}

// The process that runs a program of our package, or none.
std::vector<std::string> running_below(const std::string& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    std::error_code error;
    const fs::path program = fs::read_symlink(process.path() / "exe", error);
    if (!error && program.string().starts_with(folder)) found.push_back(process.path().string());
  }
  return found;
}

TEST_F(Stuck, AnInterruptEndsEverything) {
  const std::string temporary = std::getenv("TMPDIR");
  // Whoever started the tests may ignore these, as a shell does for what runs in the background.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&signals, signal);
  posix_spawnattr_t as_from_a_terminal;
  ASSERT_EQ(posix_spawnattr_init(&as_from_a_terminal), 0);
  ASSERT_EQ(posix_spawnattr_setsigdefault(&as_from_a_terminal, &signals), 0);
  ASSERT_EQ(posix_spawnattr_setflags(&as_from_a_terminal, POSIX_SPAWN_SETSIGDEF), 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string package = path("package"), input = path("in.bin"), output = path("out");
    std::vector<const char*> words = {INTARSIA_PROGRAM, "run",          package.c_str(), "--input",
                                      input.c_str(),    "--output-dir", output.c_str(),  nullptr};
    pid_t process = 0;
    ASSERT_EQ(posix_spawn(&process, words[0], nullptr, &as_from_a_terminal,
                          const_cast<char* const*>(words.data()), environ),
              0);
    for (int i = 0; i < 6000 && running_below(temporary).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(running_below(temporary).size(), 1u);
    kill(process, signal);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_TRUE(fs::is_empty(temporary));
    for (int i = 0; i < 500 && !running_below(temporary).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(running_below(temporary).empty());
  }
  posix_spawnattr_destroy(&as_from_a_terminal);
}

// What a compiler leaves behind when it is ended by force lies in a folder that goes away.
TEST_F(Verify, CompilersHaveATemporaryFolderOfTheirOwn) {
  write("bin/cc", std::string("#!/bin/sh\necho \"$TMPDIR\" >>" + path("folders") +
                              "\nPATH=${PATH#*:} exec cc \"$@\"\n"));
  fs::permissions(path("bin/cc"), fs::perms::owner_all);
  write_image("in.bin", 3);
  const std::string before = std::getenv("PATH"), temporary = std::getenv("TMPDIR");
  setenv("PATH", (path("bin") + ":" + before).c_str(), 1);
  const ProcessOutcome outcome =
      intarsia({"run", digits_path(), "--native", "--input", "in.bin", "--output-dir", "out"});
  setenv("PATH", before.c_str(), 1);
  EXPECT_TRUE(done(outcome));
  std::istringstream folders(*read_text_file(path("folders")));
  int called = 0;
  for (std::string folder; std::getline(folders, folder); ++called)
    EXPECT_TRUE(folder.starts_with(temporary + "/intarsia-")) << folder;
  EXPECT_GT(called, 2);
}

// What the emitted C is promised to be free of is an error where tests ask for it, not at a user's.
TEST_F(Verify, WarningsAreErrorsInTestsOnly) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "package"})));
  const std::string source = *read_text_file(path("package/digits.c"));
  write("package/digits.c", source +
                                "\nchar digits_narrow(int wide);\nchar digits_narrow(int wide) "
                                "{ return wide; }\n");
  write_image("in.bin", 3);
  const std::vector<std::string> run = {"run",    "package",      "--input",
                                        "in.bin", "--output-dir", "out"};
  const char* before = std::getenv("INTARSIA_WARNINGS_ARE_ERRORS");
  setenv("INTARSIA_WARNINGS_ARE_ERRORS", "1", 1);
  const ProcessOutcome strict = intarsia(run);
  EXPECT_EQ(strict.exit_code, kUserError);
  EXPECT_TRUE(contains(strict.err, "-Werror=conversion")) << strict.err;
  unsetenv("INTARSIA_WARNINGS_ARE_ERRORS");
  EXPECT_TRUE(done(intarsia(run)));
  if (before != nullptr) setenv("INTARSIA_WARNINGS_ARE_ERRORS", "1", 1);
}

// The function that the macro names gets every operator's result; without the macro nothing of it is there.
TEST_F(Verify, TheTraceHook) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "package"})));
  write_image("in.bin", 3);
  ASSERT_TRUE(done(intarsia({"run", digits_path(), "--input", "in.bin", "--output-dir", "all",
                             "--outputs", "block1_depthwise", "--keep-dead-channels"})));
  write("main.c", std::string(R"(#include <stdio.h>
#include <string.h>
#include "digits.h"
void show(int32_t index, const char *name, const void *tensor, int32_t bytes);
void show(int32_t index, const char *name, const void *tensor, int32_t bytes) {
  char path[80];
  FILE *file;
  (void)snprintf(path, sizeof path, "traced/%02d_%s.bin", (int)index, name);
  file = fopen(path, "wb");
  if (file == NULL) return;
  (void)fwrite(tensor, 1, (size_t)bytes, file);
  (void)fclose(file);
}
static _Alignas(DIGITS_ALIGNMENT) uint8_t ram[DIGITS_RAM_BYTES];
int main(void) {
  static struct digits model;
  const struct digits_resources resources = {.ram = ram};
  FILE *file = fopen("in.bin", "rb");
  if (file == NULL || digits_init(&model, &resources) != 0) return 1;
  if (fread(digits_input(&model, 0), 1, DIGITS_INPUT0_BYTES, file) != DIGITS_INPUT0_BYTES) return 1;
  (void)fclose(file);
  return digits_run(&model) == 0 ? 0 : 1;
}
)"));
  fs::create_directories(path("traced"));
  std::vector<std::string> command = {
      "cc",           "-std=c11",        "-Wall",     "-Wextra",
      "-Wconversion", "-Werror",         "-Ipackage", "-DDIGITS_TRACE=show",
      "main.c",       "package/digits.c"};
  for (const auto& [file, text] : read_folder("package/intarsia"))
    if (file.ends_with(".c")) command.push_back("package/intarsia/" + file);
  command.insert(command.end(), {"-lm", "-o", "traced_program"});
  ASSERT_TRUE(done(program(command)));
  ASSERT_TRUE(done(program({path("traced_program")})));
  const std::map<std::string, std::string> traced = read_folder("traced");
  EXPECT_GE(traced.size(), 11u);
  int found = 0;
  for (const auto& [file, bytes] : traced) {
    if (contains(file, "block1_depthwise")) {
      ++found;
      EXPECT_FALSE(bytes.empty());
    }
    if (file == traced.rbegin()->first) {
      const std::vector<uint8_t> scores = recorded_scores(3);
      EXPECT_EQ(bytes, std::string(scores.begin(), scores.end()));
    }
  }
  EXPECT_EQ(found, 1);
}

// Size and speed of code are steps: the first that keeps to the budget is taken, and tags are loaded once.
TEST_F(Verify, TheFlashBudgetTakesTheFirstStepThatFits) {
  if (!can_emulate()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  write("tags.json", std::string(R"({"my-core": "cortex-m55 + ethos-u55-128"})"));
  std::map<std::string, int64_t> flash;
  for (const char* optimise : {"speed", "balanced", "size"}) {
    const Json report = json({"compile", digits_path(), "--target", kNpu, "--board", "mps3-an547",
                              "--optimise", optimise, "-o", optimise});
    flash[optimise] = report["flash"]["total_bytes"].get<int64_t>();
  }
  ASSERT_LT(flash["balanced"], flash["speed"]);
  ASSERT_NE(read("balanced/digits.intarsia"), read("size/digits.intarsia"));
  const std::vector<std::string> command = {"compile",
                                            digits_path(),
                                            "--tags",
                                            "tags.json",
                                            "--target",
                                            "my-core",
                                            "--board",
                                            "mps3-an547",
                                            "--optimise",
                                            "speed",
                                            "-o",
                                            "chosen",
                                            "--flash-budget",
                                            std::to_string(flash["balanced"])};
  EXPECT_TRUE(done(intarsia(command)));
  EXPECT_EQ(read("chosen/digits.c"), read("balanced/digits.c"));
  EXPECT_EQ(read("chosen/digits.intarsia"), read("balanced/digits.intarsia"));
}

}  // namespace
}  // namespace intarsia::test
