// What people see who sit at a terminal, and scripts do not.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>

#include "cli.h"
#include "pseudo_terminal.h"

namespace intarsia::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

MATCHER_P(IsAtMost, columns, "") {
  return std::string(arg).size() <= static_cast<size_t>(columns);
}

class AtATerminal : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"}) unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
    Cli::TearDown();
  }

  ShownOnTerminal at_terminal(std::vector<std::string> arguments, int columns = 80,
                              std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), INTARSIA_PROGRAM);
    environment.insert(environment.begin(), "TERM=xterm");
    return run_on_terminal(arguments, path("."), columns, environment);
  }
  // A C compiler that takes its time: what is built with it takes over a second.
  std::string slow_compiler_first() const {
    write("slow/cc", std::string("#!/bin/sh\nsleep 1\nPATH=${PATH#*:} exec cc \"$@\"\n"));
    std::filesystem::permissions(path("slow/cc"), std::filesystem::perms::owner_all);
    return "PATH=" + path("slow") + ":" + std::getenv("PATH");
  }
};

TEST_F(AtATerminal, HelpIsAsWideAsTheTerminal) {
  const size_t at_50 = at_terminal({"compile", "--help"}, 50).screen.size();
  const size_t at_100 = at_terminal({"compile", "--help"}, 100).screen.size();
  EXPECT_GT(at_50, at_100);
  for (const int columns : {40, 50, 80, 100, 200})
    for (const char* command : {"compile", "run", "check", "completion"})
      // Examples are commands to copy: they stay in one line.
      for (const std::string& line : at_terminal({command, "--help"}, columns).screen) {
        const bool is_example = line.find("intarsia ") != std::string::npos;
        EXPECT_THAT(is_example ? "" : line, IsAtMost(columns));
      }
  for (const std::string& line : lines_of(intarsia({"run", "--help"}).out)) {
    const bool is_example = line.find("  intarsia ") == 0;
    EXPECT_THAT(is_example ? "" : line, IsAtMost(80));
  }
}

TEST_F(AtATerminal, ColoursAreForTerminals) {
  const std::vector<std::string> command = {"boards", "microbit"};
  const std::string plain = intarsia(command).out;
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  EXPECT_THAT(at_terminal(command).bytes, HasSubstr("\033[1mmicrobit\033[0m"));
  EXPECT_EQ(at_terminal(command, 200).screen, lines_of(plain));
  for (const char* no : {"NO_COLOR=1", "TERM=dumb", "TERM="})
    EXPECT_THAT(at_terminal(command, 80, {no}).bytes, Not(HasSubstr("\033"))) << no;
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_THAT(intarsia(command).out, HasSubstr("\033[1mmicrobit\033[0m"));
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(intarsia(command).out, plain);
}

TEST_F(AtATerminal, WhatDecidesACheckStandsOut) {
  const ShownOnTerminal shown =
      at_terminal({"check", digits_path(), "--max-ram", "1K", "--max-cycles", "500M"}, 300);
  EXPECT_EQ(shown.exit_code, kUserError);
  EXPECT_THAT(shown.bytes, HasSubstr("\033[1;31mEXCEEDED\033[0m"));
  EXPECT_THAT(shown.bytes, HasSubstr("\033[32mwithin\033[0m"));
  EXPECT_THAT(shown.bytes, HasSubstr("\033[1;31mFAILED\033[0m"));
  EXPECT_EQ(
      shown.screen,
      lines_of(intarsia({"check", digits_path(), "--max-ram", "1K", "--max-cycles", "500M"}).out));
}

TEST_F(AtATerminal, ErrorsAndNotesAreToldApart) {
  const std::vector<std::string> wrong = {"boards", "absent"};
  EXPECT_THAT(intarsia(wrong).err, StartsWith("boards: there is no board 'absent'"));
  const ShownOnTerminal error = at_terminal(wrong);
  EXPECT_EQ(error.exit_code, kUserError);
  EXPECT_THAT(error.bytes, StartsWith("\033[1;31merror:\033[0m \033[1mboards\033[0m: there is"));
  EXPECT_THAT(at_terminal(wrong, 80, {"NO_COLOR=1"}).bytes, StartsWith("error: boards: there is"));
  EXPECT_THAT(at_terminal({"frobnicate"}).screen, Contains(StartsWith("error: ")));
  EXPECT_THAT(at_terminal({"compile"}).screen, Contains("error: MODEL is required"));

  write("m.graph", std::string(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 x: f32[1,4]
  %1 y: f32[1,4]
  relu r(%0) -> (%1)
}
entry @main
)"));
  const std::vector<std::string> idle = {
      "compile", "m.graph", "--target", "cortex-m55+ethos-u55-128", "-o", "out"};
  EXPECT_THAT(intarsia(idle).err, StartsWith("note: ethos-u runs nothing of m"));
  const ShownOnTerminal note = at_terminal(idle);
  EXPECT_EQ(note.exit_code, kDone);
  EXPECT_THAT(note.bytes, HasSubstr("\033[1;36mnote:\033[0m ethos-u runs nothing of m"));
}

TEST_F(AtATerminal, ProgressIsGoneAtTheEnd) {
  write_image("in.bin", 3);
  const std::vector<std::string> command = {"run",    "--native",     digits_path(), "--input",
                                            "in.bin", "--output-dir", "out"};
  const std::string slow = slow_compiler_first();
  const ShownOnTerminal shown = at_terminal(command, 200, {slow});
  EXPECT_EQ(shown.exit_code, kDone);
  EXPECT_THAT(shown.bytes, HasSubstr("compiling sources ["));
  EXPECT_THAT(shown.bytes, HasSubstr("linking"));
  const ProcessOutcome piped = intarsia(command);
  EXPECT_TRUE(done(piped)) << "nothing on standard error";
  EXPECT_EQ(shown.screen, lines_of(piped.out));
}

TEST_F(AtATerminal, ProgressIsGoneBeforeAnError) {
  write("slow/cc", std::string("#!/bin/sh\nsleep 1\necho no such luck >&2\nexit 1\n"));
  std::filesystem::permissions(path("slow/cc"), std::filesystem::perms::owner_all);
  write_image("in.bin", 3);
  const ShownOnTerminal shown =
      at_terminal({"run", "--native", digits_path(), "--input", "in.bin", "--output-dir", "out"},
                  80, {"PATH=" + path("slow") + ":" + std::getenv("PATH")});
  EXPECT_EQ(shown.exit_code, kUserError);
  ASSERT_THAT(shown.screen, SizeIs(testing::Ge(1u)));
  EXPECT_THAT(shown.screen[0], StartsWith("error: "));
  EXPECT_THAT(shown.screen, Each(Not(HasSubstr("compiling sources"))));
}

TEST_F(AtATerminal, CompileFitsAScreen) {
  const ShownOnTerminal shown = at_terminal({"compile", digits_path(), "-o", "out"});
  EXPECT_EQ(shown.exit_code, kDone);
  EXPECT_LE(shown.screen.size(), 24u);
  EXPECT_THAT(shown.screen, Each(IsAtMost(80)));
  EXPECT_THAT(shown.screen, Contains(StartsWith("Written   out")));
}

TEST_F(AtATerminal, DumpShortensConstants) {
  const std::vector<std::string> command = {"dump", digits_path(), "--stage", "import"};
  const std::string all = intarsia(command).out;
  EXPECT_THAT(all, Not(HasSubstr(" bytes)")));
  write("all.graph", all);
  EXPECT_TRUE(done(intarsia({"explain", "all.graph"}))) << "it can be read again";
  const ShownOnTerminal shown = at_terminal(command, 200);
  EXPECT_THAT(shown.bytes, HasSubstr("... (1280 bytes)"));
  const auto with = [&](const char* how) {
    std::vector<std::string> asked = command;
    asked.insert(asked.end(), {"--constants", how});
    return asked;
  };
  EXPECT_EQ(shown.screen, lines_of(intarsia(with("short")).out));
  EXPECT_EQ(intarsia(with("all")).out, all);
  EXPECT_LT(intarsia(with("none")).out.size(), intarsia(with("short")).out.size());
  EXPECT_TRUE(usage_error(intarsia(with("few")), "--constants"));
}

}  // namespace
}  // namespace intarsia::test
