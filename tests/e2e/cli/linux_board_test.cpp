// Boards with Linux: programs and shared libraries, for this machine and for an emulated one.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

struct LinuxBoard {
  const char* name;
  const char* core;  // one that every machine of its kind, or its emulator, has
  const char* compiler;
  std::vector<std::string> emulator;
};

const LinuxBoard kLinuxBoards[] = {
    {"aarch64-linux",
     "cortex-a55",
     "aarch64-linux-gnu-gcc",
     {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
    {"x86_64-linux", "x86-64-v2", "x86_64-linux-gnu-gcc", {}},
};

// Reads an image, writes scores, with nothing but the model's header: linked to the library, or with the library's file as
// its argument, which it loads.
constexpr const char* kUser = R"(#include <dlfcn.h>
#include <stdio.h>
#include "digits.h"
DIGITS_DEFINE_RESOURCES(memory);
#ifdef LOADED
static intarsia_status (*init)(struct digits *, struct digits_resources *);
static intarsia_status (*run)(struct digits *);
static void *(*input)(struct digits *, int32_t);
static void *(*output)(struct digits *, int32_t);
static int find_functions(const char *library) {
  void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) return 0;
  *(void **)&init = dlsym(loaded, "digits_init");
  *(void **)&run = dlsym(loaded, "digits_run");
  *(void **)&input = dlsym(loaded, "digits_input");
  *(void **)&output = dlsym(loaded, "digits_output");
  return init && run && input && output;
}
#else
#define init digits_init
#define run digits_run
#define input digits_input
#define output digits_output
#define find_functions(library) 1
#endif
int main(int count, char **words) {
  static struct digits model;
  if (!find_functions(words[count - 1])) return 1;
  if (init(&model, &memory) != 0) return 2;
  if (fread(input(&model, 0), 1, DIGITS_INPUT0_BYTES, stdin) != DIGITS_INPUT0_BYTES) return 3;
  if (run(&model) != 0) return 4;
  return fwrite(output(&model, 0), 1, DIGITS_OUTPUT0_BYTES, stdout) != DIGITS_OUTPUT0_BYTES;
}
)";

class LinuxBoards : public Cli {
 protected:
  bool can_build(const LinuxBoard& board) const {
    return have_program(board.compiler) &&
           (board.emulator.empty() || have_program(board.emulator.front()));
  }

  // What user.c writes for in.bin, built with `flags` beside the board's package.
  std::vector<uint8_t> scores_of_user(const LinuxBoard& board, const std::string& name,
                                      const std::vector<std::string>& flags) {
    const std::string folder = path(board.name), program = folder + "/" + name;
    std::vector<std::string> build = {
        board.compiler, "-std=c11", path("user.c"), "-I" + folder + "/package", "-o", program};
    build.insert(build.end(), flags.begin(), flags.end());
    const Result<ProcessOutcome> built = run_process(build);
    EXPECT_TRUE(built.ok() && built->succeeded()) << (built.ok() ? built->err : "");
    std::string start;
    for (const std::string& word : board.emulator) start += word + " ";
    const Result<ProcessOutcome> ran =
        run_process({"sh", "-c",
                     fmt::format("{0}'{1}' '{2}/lib/libdigits.so' < '{3}' > '{1}.scores'", start,
                                 program, folder, path("in.bin"))});
    EXPECT_TRUE(ran.ok() && ran->succeeded()) << (ran.ok() ? ran->ending() + ran->err : "");
    return read(std::string(board.name) + "/" + name + ".scores");
  }
};

TEST_F(LinuxBoards, RunProgramsOfEachCore) {
  write_image("in.bin", 5);
  bool ran = false;
  for (const LinuxBoard& board : kLinuxBoards) {
    if (!can_build(board)) continue;
    for (const std::string& target : {std::string(), std::string(board.core)}) {
      std::vector<std::string> command = {"run",     digits_path(), "--board",      board.name,
                                          "--input", "in.bin",      "--output-dir", "out"};
      if (!target.empty()) command.insert(command.end(), {"--target", target});
      EXPECT_TRUE(done(intarsia(command))) << board.name << " " << target;
      EXPECT_EQ(read("out/out0.bin"), recorded_scores(5)) << board.name << " " << target;
      ran = true;
    }
  }
  if (!ran) GTEST_SKIP() << needs("linux-toolchain") << "no compiler of a board with Linux";
}

TEST_F(LinuxBoards, ProgramsUseASharedLibraryOfTheModel) {
  write_image("in.bin", 5);
  write("user.c", std::string(kUser));
  bool built = false;
  for (const LinuxBoard& board : kLinuxBoards) {
    if (!can_build(board)) continue;
    SCOPED_TRACE(board.name);
    const std::string folder = path(board.name), library = folder + "/lib/libdigits.so";
    std::filesystem::create_directories(folder + "/lib");
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", board.name, "--target",
                               board.core, "-o", std::string(board.name) + "/package"})));
    ASSERT_TRUE(done(intarsia({"build", digits_path(), "--board", board.name, "--target",
                               board.core, "-o", std::string(board.name) + "/lib/libdigits.so"})));
    const std::vector<std::string> linked = {"-L" + folder + "/lib", "-ldigits",
                                             "-Wl,-rpath," + folder + "/lib"};
    EXPECT_EQ(scores_of_user(board, "linked", linked), recorded_scores(5));
    EXPECT_EQ(scores_of_user(board, "loaded", {"-DLOADED", "-ldl"}), recorded_scores(5));
    // What the header does not promise, kernels of another model's version among it, others do not see.
    const Result<ProcessOutcome> symbols = run_process({"nm", "-D", "--defined-only", library});
    ASSERT_TRUE(symbols.ok());
    EXPECT_NE(symbols->out.find(" T digits_run"), std::string::npos) << symbols->out;
    EXPECT_EQ(symbols->out.find("intarsia_"), std::string::npos) << symbols->out;
    built = true;
  }
  if (!built) GTEST_SKIP() << needs("linux-toolchain") << "no compiler of a board with Linux";
}

// Extensions are in the compiler's flags, also where a package is built later; what there is of vectors follows them.
TEST_F(LinuxBoards, CompileForExtensionsThatMattrSays) {
  struct {
    const LinuxBoard& board;
    const char *target, *flag;
  } const cases[] = {
      {kLinuxBoards[0], "cortex-a53 -mattr=+dotprod", "-march=armv8.2-a+dotprod"},
      {kLinuxBoards[0], "cortex-a55 -mattr=-dotprod", "-mcpu=cortex-a55+nodotprod"},
      {kLinuxBoards[1], "x86-64-v3 -mattr=-avx2", "-mno-avx2"},
      {kLinuxBoards[1], "x86-64-v4 -mattr=+avx512vnni", "-mavx512vnni"},
  };
  write_image("in.bin", 5);
  for (const auto& [board, target, flag] : cases) {
    SCOPED_TRACE(target);
    ASSERT_TRUE(done(intarsia(
        {"compile", digits_path(), "--board", board.name, "--target", target, "-o", "package"})));
    const std::vector<uint8_t> manifest = read("package/manifest.json");
    EXPECT_NE(std::string(manifest.begin(), manifest.end()).find(fmt::format("\"{}\"", flag)),
              std::string::npos);
    if (!can_build(board) || board.emulator.empty()) continue;
    ASSERT_TRUE(done(intarsia({"run", "package", "--input", "in.bin", "--output-dir", "out"})));
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(5));
  }
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--board", "aarch64-linux", "--target",
                                "cortex-a53 -mattr=+avx2", "-o", "other"}),
                      {"cortex-a53 has no extension for -mattr=+avx2", "it has +dotprod"}));
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--board", "x86_64-linux", "--target",
                                "x86-64-v3 -mattr=+avx512vnni", "-o", "other"}),
                      {"x86-64-v3 has no extension for -mattr=+avx512vnni", "it has +avx2"}));
}

TEST_F(LinuxBoards, RefuseWhatIsOfOthers) {
  EXPECT_TRUE(refused(
      intarsia({"build", digits_path(), "--board", "mps2-an386", "-o", "libd.so"}),
      {"--output libd.so: board mps2-an386 has no operating system", "or a board with Linux"}));
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "aarch64-linux", "--target",
                                "cortex-m4", "--input", "in.bin", "--output-dir", "out"}),
                      {"the board does not run code for cortex-m4", "cortex-a53 or cortex-a55"}));
  for (const char* count : {"--count-instructions", "--count-cycles"})
    EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "aarch64-linux", count,
                                  "--input", "in.bin", "--output-dir", "out"}),
                        {count, "are counted in an emulator, and board aarch64-linux has none"}));
}

TEST_F(LinuxBoards, SayWhichLibraryOfADeviceTheirCompilerLacks) {
  if (!can_build(kLinuxBoards[0]))
    GTEST_SKIP() << needs("linux-toolchain") << "no compiler of a board with Linux";
  // A compiler that has no library of a device, whatever this machine has installed.
  std::filesystem::create_directories(path("bare"));
  write("bare/aarch64-linux-gnu-gcc", std::string(R"(#!/bin/sh
for word; do
  if [ "$word" = -lOpenCL ]; then
    echo "ld: cannot find -lOpenCL: No such file or directory" >&2
    exit 1
  fi
done
PATH="${PATH#*:}" exec aarch64-linux-gnu-gcc "$@"
)"));
  std::filesystem::permissions(path("bare/aarch64-linux-gnu-gcc"),
                               std::filesystem::perms::owner_all);
  write_image("in.bin", 5);
  const std::string before = getenv("PATH");
  setenv("PATH", (path("bare") + ":" + before).c_str(), 1);
  EXPECT_TRUE(
      refused(intarsia({"run", digits_path(), "--board", "aarch64-linux", "--target",
                        "cortex-a53+opencl-device", "--input", "in.bin", "--output-dir", "out"}),
              {"the program for board aarch64-linux needs the library OpenCL, which "
               "aarch64-linux-gnu-gcc does not find",
               "choose a target without the device that uses it"}));
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace intarsia::test
