// The folder that `compile` writes: the same bytes everywhere, and whole or not at all.
#include <filesystem>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using CompileFolder = Cli;

TEST_F(CompileFolder, SameBytesInEveryFolderAndEveryTime) {
  write("elsewhere/digits.tflite", digits_bytes());
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "first"})));
  ASSERT_TRUE(done(intarsia({"compile", "elsewhere/digits.tflite", "-o", path("deep/er/second")})));
  const auto first = read_folder("first");
  EXPECT_TRUE(first.contains("digits.c") && first.contains("CMakeLists.txt") &&
              first.contains("report.json"));
  EXPECT_EQ(first, read_folder("deep/er/second"));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "first"})));
  EXPECT_EQ(first, read_folder("first")) << "compiling again changes nothing";
  for (const auto& [name, text] : first) {
    EXPECT_EQ(text.find(path("")), std::string::npos) << name << " names the folder";
    EXPECT_EQ(text.find(INTARSIA_SOURCE_DIR), std::string::npos)
        << name << " names the source tree";
  }
}

TEST_F(CompileFolder, SameBytesForABoard) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  for (const char* folder : {"first", "second"})
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "mps2-an386", "-o", folder})));
  EXPECT_EQ(read_folder("first"), read_folder("second"));
}

TEST_F(CompileFolder, WhatIsInTheWayIsFoundBeforeAnythingIsWritten) {
  fs::create_directories(path("out/manifest.json"));
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "-o", "out"}),
                      {"out/manifest.json: cannot be written: is a folder"}));
  EXPECT_TRUE(read_folder("out").empty());
  fs::remove_all(path("out"));
  write("out/intarsia", std::string("a file"));
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "-o", "out"}),
                      {"out/intarsia: cannot be made: is a file"}));
  EXPECT_EQ(read_folder("out").size(), 1u);
}

TEST_F(CompileFolder, HoldsTheFilesOfOneCompilation) {
  write("other.tflite", digits_bytes());
  ASSERT_TRUE(done(intarsia({"compile", "other.tflite", "-o", "fresh"})));
  ASSERT_TRUE(
      done(intarsia({"compile", digits_path(), "--target", "example-npu-16", "-o", "out"})));
  ASSERT_TRUE(done(intarsia({"compile", "other.tflite", "-o", "out"})));
  EXPECT_EQ(read_folder("out"), read_folder("fresh"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 3) << "nothing aside";
}

// Where no file may be longer than the shell allows: said, and nothing is left.
TEST_F(CompileFolder, AFileThatMayNotBeSoLongLeavesNothing) {
  const auto limited = [&](const std::string& words) {
    return program({"bash", "-c", "ulimit -f 1; exec " INTARSIA_PROGRAM " " + words});
  };
  EXPECT_TRUE(refused(limited("compile " + digits_path() + " -o in/out"),
                      {"in/out: cannot be written: File too large"}));
  EXPECT_TRUE(refused(limited("compile " + digits_path() +
                              " --format tflite --target ethos-u55-128 -o in/out.tflite"),
                      {"in/out.tflite: cannot be written: File too large"}));
  EXPECT_TRUE(fs::is_empty(path("in")));
}

// As /dev/stdout is: the link stays one, and what is open gets the model and then what is printed.
TEST_F(CompileFolder, OneFileMayGoToWhatIsOpen) {
  const std::vector<std::string> model = {"compile", digits_path(), "--format",
                                          "tflite",  "--target",    "ethos-u55-128"};
  std::string words = INTARSIA_PROGRAM;
  for (const std::string& word : model) words += " " + word;
  ASSERT_TRUE(done(program({"sh", "-c", words + " -o out.tflite"})));
  fs::create_symlink("/proc/self/fd/1", path("stdout"));
  ASSERT_TRUE(done(program({"sh", "-c", words + " -o stdout >piped"})));
  EXPECT_TRUE(fs::is_symlink(path("stdout")));
  const std::vector<uint8_t> alone = read("out.tflite"), piped = read("piped");
  ASSERT_GT(piped.size(), alone.size());
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), piped.begin()));
}

// Each finds what another has put there, and replaces it; the folder is that of one of them.
TEST_F(CompileFolder, SeveralCompileIntoItAtOnce) {
  write("other.tflite", digits_bytes());
  ASSERT_TRUE(done(intarsia({"compile", "other.tflite", "-o", "other"})));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "digits"})));
  const auto one = read_folder("other"), two = read_folder("digits");
  std::string script;
  for (int i = 0; i < 3; ++i)
    for (const std::string& model : {path("other.tflite"), digits_path()})
      script += "(" INTARSIA_PROGRAM " compile " + model + " -o deep/er/out >log" +
                model.substr(model.size() - 12, 5) + std::to_string(i) +
                " 2>&1 || echo failed) &\n";
  const ProcessOutcome outcome = program({"sh", "-c", script + "wait"});
  EXPECT_EQ(outcome.out, "");
  const auto made = read_folder("deep/er/out");
  EXPECT_TRUE(made == one || made == two);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("deep/er")), {}), 1) << "nothing aside";
}

// The folder that one stands in keeps its identity.
TEST_F(CompileFolder, IsReplacedWhereOneStands) {
  fs::create_directories(path("here"));
  for (const char* name : {"one", "two"})
    ASSERT_TRUE(done(
        program({INTARSIA_PROGRAM, "compile", digits_path(), "--name", name, "-o", "."}, "here")));
  EXPECT_TRUE(exists("here/two.h") && exists("here/manifest.json") && !exists("here/one.h"));
  write_image("a.bin", 1);
  EXPECT_TRUE(intarsia({"run", "here", "--input", "a.bin", "--output-dir", "out"}).succeeded());
}

TEST_F(CompileFolder, FilesOfOthersAreNotOverwritten) {
  write("out/digits.c", std::string("mine"));
  EXPECT_TRUE(
      refused(intarsia({"compile", digits_path(), "-o", "out"}),
              {"out/digits.c: is not of an earlier 'intarsia compile' and would be overwritten"}));
  EXPECT_EQ(read_folder("out").size(), 1u);
}

TEST_F(CompileFolder, OtherFilesOfTheFolderStay) {
  write("out/notes.txt", std::string("mine"));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "out"})));
  EXPECT_EQ(read_folder("out")["notes.txt"], "mine");
}

}  // namespace
}  // namespace intarsia::test
