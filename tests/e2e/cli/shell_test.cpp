// Shell completion, man pages and docs/command-line.md, which come from the options themselves.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class Shell : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    for (const char* shell : {"bash", "zsh", "fish"}) {
      const ProcessOutcome script = intarsia({"completion", shell});
      ASSERT_TRUE(done(script));
      write(std::string("completion.") + shell, script.out);
    }
    // For scripts, which call the program by its name.
    std::filesystem::create_directories(path("bin"));
    std::filesystem::create_symlink(INTARSIA_PROGRAM, path("bin/intarsia"));
  }
  bool has_shell(const std::string& name) const {
    return program({"sh", "-c", "command -v " + name}).succeeded();
  }

  // What bash offers for the words of a command line, the last of which is being typed.
  std::vector<std::string> in_bash(const std::vector<std::string>& words) const {
    std::string script = "set -u; . ./completion.bash; COMP_WORDS=(./bin/intarsia";
    for (const std::string& word : words) script += " '" + word + "'";
    script += "); COMP_CWORD=" + std::to_string(words.size()) +
              "; _intarsia; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const ProcessOutcome outcome = program({"bash", "-c", script});
    EXPECT_TRUE(done(outcome));
    return lines(outcome.out);
  }
  // "completed" when zsh, typed to, shows the word behind the line; else how the program that types ended.
  std::string in_zsh(const std::string& line, const std::string& word) const {
    std::filesystem::create_directories(path("functions"));
    write("functions/_intarsia", *read_text_file(path("completion.zsh")));
    write("type.zsh",
          "zmodload zsh/zpty\nzpty z zsh -f -i\n"
          "zpty -w z 'PS1=; PATH=" +
              path("bin") + ":$PATH; fpath=(" + path("functions") +
              " $fpath); autoload -U compinit; compinit -u -D; " +
              "print rea\"\"dy'\n"
              "zpty -r z shown '*ready*'\n"
              "zpty -w -n z '" +
              line +
              "'$'\\t'\n"
              "zpty -r z shown '*" +
              word +
              "*' && print -n completed\n"
              "zpty -d z\n");
    const ProcessOutcome outcome = program({"timeout", "60", "zsh", "-f", "type.zsh"});
    return outcome.out + outcome.err;
  }
  std::vector<std::string> in_fish(const std::string& line) const {
    const ProcessOutcome outcome =
        program({"fish", "--no-config", "-c",
                 "set -x PATH " + path("bin") + " $PATH; source completion.fish; complete -C '" +
                     line + "'"});
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    std::vector<std::string> found = lines(outcome.out);
    for (std::string& each : found) each = each.substr(0, each.find('\t'));
    return found;
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    for (std::string line; std::getline(stream, line);)
      if (!line.empty()) found.push_back(line);
    return found;
  }
  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    for (const std::string& line : lines(intarsia({"--help"}).out))
      if (line.starts_with("  ") && line[2] != ' ' && line[2] != '-' && line.size() > 26 &&
          line[25] == ' ' && line[2] >= 'a' && line[2] <= 'z')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    std::erase(names, "intarsia");
    return names;
  }
};

TEST_F(Shell, BashCompletesCommandsAndOptions) {
  EXPECT_THAT(in_bash({"comp"}), ElementsAre("compile", "completion"));
  EXPECT_THAT(in_bash({""}), IsSupersetOf(commands()));
  EXPECT_THAT(in_bash({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(in_bash({"compile", "--ram"}), ElementsAre("--ram-budget"));
  EXPECT_THAT(in_bash({"boards", "--ram"}), IsEmpty());
  EXPECT_THAT(in_bash({"completion", "--v"}), IsEmpty()) << "not for people";
}

TEST_F(Shell, BashCompletesValues) {
  EXPECT_THAT(in_bash({"compile", "--policy", ""}), ElementsAre("priority", "cost"));
  EXPECT_THAT(in_bash({"compile", "--policy", "=", "c"}), ElementsAre("cost"));
  EXPECT_THAT(in_bash({"compile", "--policy", "="}), ElementsAre("priority", "cost"));
  EXPECT_THAT(in_bash({"compile", "m.tflite", "--format", "z"}), ElementsAre("zephyr"));
  EXPECT_THAT(in_bash({"dump", "--stage", "p"}), ElementsAre("partition", "plan"));
  EXPECT_THAT(in_bash({"run", "--board", "mps3"}), ElementsAre("mps3-an547"));
  EXPECT_THAT(in_bash({"boards", "micro"}), ElementsAre("microbit"));
  EXPECT_THAT(in_bash({"run", "--target", "cortex-m55"}), Contains("cortex-m55"));
  EXPECT_THAT(in_bash({"run", "--target", "cortex-m5"}), Contains("cortex-m52"));
  EXPECT_THAT(in_bash({"run", "--target", "cortex-m55+ethos-u65-2"}),
              ElementsAre("cortex-m55+ethos-u65-256"));
  EXPECT_THAT(in_bash({"targets", "opencl"}), Contains("opencl"));
  EXPECT_THAT(in_bash({"explain-error", "INTARSIA_ERROR_PACKAGE_V"}),
              ElementsAre("INTARSIA_ERROR_PACKAGE_VERSION"));
  EXPECT_THAT(in_bash({"completion", "f"}), ElementsAre("fish"));
  EXPECT_THAT(in_bash({"compile", "--name", ""}), IsEmpty());
}

TEST_F(Shell, BashCompletesFilesAndFolders) {
  write("my model.tflite", std::string("x"));
  write("mine/board.json", std::string("x"));
  EXPECT_THAT(in_bash({"compile", "my"}), ElementsAre("my model.tflite"));
  EXPECT_THAT(in_bash({"compile", "--tags", "my"}), ElementsAre("my model.tflite"));
  EXPECT_THAT(in_bash({"compile", "-o", "mi"}), ElementsAre("mine"));
  EXPECT_THAT(in_bash({"compile", "--board", "./mi"}), ElementsAre("./mine"));
}

TEST_F(Shell, OtherShellsReadTheScripts) {
  if (!has_shell("zsh") || !has_shell("fish"))
    GTEST_SKIP() << needs("zsh-and-fish") << "one of them is not installed";
  EXPECT_TRUE(done(program({"zsh", "-n", "completion.zsh"})));
  EXPECT_TRUE(done(program({"fish", "--no-execute", "completion.fish"})));
  EXPECT_EQ(in_zsh("intarsia compile --policy c", "cost"), "completed");
  EXPECT_EQ(in_zsh("intarsia run --board mps3", "mps3-an547"), "completed");
  EXPECT_EQ(in_zsh("intarsia run --target cortex-m55+ethos-u65-2", "ethos-u65-256"), "completed");
  EXPECT_THAT(in_fish("intarsia comp"), ElementsAre("compile", "completion"));
  EXPECT_THAT(in_fish("intarsia compile --policy "), ElementsAre("cost", "priority"));
  EXPECT_THAT(in_fish("intarsia compile --ram"), ElementsAre("--ram-budget"));
  EXPECT_THAT(in_fish("intarsia run --target cortex-m55+ethos-u65-2"),
              ElementsAre("cortex-m55+ethos-u65-256"));
  EXPECT_THAT(in_fish("intarsia boards micro"), Contains("microbit"));
}

TEST_F(Shell, HelpHasExamplesAndEveryOption) {
  for (const std::string& command : commands()) {
    const std::string help = intarsia({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("\nUsage: intarsia " + command)) << command;
    EXPECT_THAT(help, HasSubstr("\nExamples:\n")) << command;
    for (const std::string& option : in_bash({command, "-"}))
      EXPECT_THAT(help, HasSubstr(option)) << command;
  }
}

TEST_F(Shell, ManPagesAreInOrder) {
  ASSERT_TRUE(done(intarsia({"manual", "--man", "man1"})));
  for (const std::string& command : commands())
    EXPECT_TRUE(exists("man1/intarsia-" + command + ".1")) << command;
  EXPECT_TRUE(exists("man1/intarsia.1"));
  bool is_checked = false;
  for (const auto& [name, text] : read_folder("man1")) {
    if (has_shell("man")) {
      is_checked = true;
      const ProcessOutcome shown = program(
          {"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-P", "cat", "man1/" + name});
      EXPECT_TRUE(done(shown)) << name;
      EXPECT_THAT(shown.out, HasSubstr("INTARSIA"));
    }
    if (has_shell("mandoc")) {
      is_checked = true;
      const ProcessOutcome lint =
          program({"mandoc", "-T", "lint", "-W", "warning", "man1/" + name});
      // A date would be that of the build.
      for (const std::string& line : lines(lint.out + lint.err))
        EXPECT_THAT(line, HasSubstr("missing date")) << name;
    }
  }
  if (!is_checked) GTEST_SKIP() << needs("man") << "neither man nor mandoc is installed";
}

TEST_F(Shell, TheReferenceIsUpToDate) {
  const Result<std::string> page = read_text_file(INTARSIA_SOURCE_DIR "/docs/command-line.md");
  ASSERT_TRUE(page.ok());
  const ProcessOutcome printed = intarsia({"manual", "--markdown"});
  ASSERT_TRUE(done(printed));
  EXPECT_EQ(*page, printed.out) << "intarsia manual --markdown > docs/command-line.md";
}

TEST_F(Shell, ManualAndCompletionSayWhatTheyNeed) {
  EXPECT_TRUE(usage_error(intarsia({"manual"}), "--man, --markdown and --completion"));
  EXPECT_TRUE(usage_error(intarsia({"completion"}), "bash, zsh or fish"));
  EXPECT_TRUE(usage_error(intarsia({"completion", "csh"}), "SHELL"));
  write("file", std::string("x"));
  EXPECT_TRUE(refused(intarsia({"manual", "--man", "file/man1"}), {"file", "cannot be made"}));
}

}  // namespace
}  // namespace intarsia::test
