// `intarsia sweep`: its rows are what `compile` reports for the same choice, in a table, as JSON and as CSV.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "large_models.h"
#include "needs.h"
#include "pseudo_terminal.h"
#include "support/amounts.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;
using testing::AnyOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kTargets = {"cortex-m4", "cortex-m55+ethos-u55-128"};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Cells of CSV, which may be in quotes.
std::vector<std::string> cells_of(const std::string& text) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && is_quoted && i + 1 < text.size() && text[i + 1] == '"')
      cells.back() += text[++i];
    else if (text[i] == '"')
      is_quoted = !is_quoted;
    else if (text[i] == ',' && !is_quoted)
      cells.emplace_back();
    else
      cells.back() += text[i];
  }
  return cells;
}

class Sweep : public Cli {
 protected:
  ProcessOutcome sweep(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "sweep");
    return intarsia(arguments);
  }
  // The same of the digits, for two targets with two budgets, one of which the second cannot keep to.
  static std::vector<std::string> four_rows() {
    return {digits_path(),  "--target", kTargets[0],    "--target", kTargets[1],
            "--ram-budget", "none",     "--ram-budget", "2500"};
  }
  std::vector<std::string> with(std::vector<std::string> arguments,
                                const std::vector<std::string>& more) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Json rows_of(const std::vector<std::string>& arguments) const {
    const ProcessOutcome outcome = sweep(with(arguments, {"--json"}));
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
  // What `compile` reports for a choice.
  Json report(const std::vector<std::string>& options) const {
    EXPECT_EQ(intarsia(with({"compile", digits_path(), "-o", "made"}, options)).exit_code, kDone);
    return Json::parse(read("made/report.json"), nullptr, false);
  }
  static void expect_same(const Json& row, const Json& report) {
    int64_t ram = 0, cycles = 0;
    double microseconds = 0;
    for (const Json& pool : report["pools"]) ram += pool["peak"].get<int64_t>();
    for (const Json& device : report["estimated_cycles"]["devices"]) {
      cycles += device["cycles"].get<int64_t>();
      microseconds += device["cycles"].get<double>() / device["assumed_mhz"].get<double>();
    }
    const Json& totals = report["totals"];
    EXPECT_EQ(row["target"], report["target"]);
    EXPECT_EQ(row["board"], report["board"]);
    EXPECT_EQ(row["ram"], ram);
    EXPECT_EQ(row["constants"], totals["weight_bytes"].get<int64_t>() +
                                    totals["table_bytes"].get<int64_t>() +
                                    totals["stream_bytes"].get<int64_t>());
    EXPECT_EQ(row["cycles"], cycles);
    EXPECT_DOUBLE_EQ(row["microseconds"].get<double>(), microseconds);
    EXPECT_EQ(row["macs"], totals["macs"]);
    EXPECT_EQ(row["flash"], report.contains("flash") ? report["flash"]["total_bytes"] : Json());
    EXPECT_EQ(row["stack"], report.contains("stack") ? report["stack"]["bytes"] : Json());
    EXPECT_TRUE(row["error"].is_null());
  }
};

TEST_F(Sweep, RowsAreWhatCompileReports) {
  const Json rows = rows_of(four_rows());
  ASSERT_EQ(rows.size(), 4u);
  expect_same(rows[0], report({"--target", kTargets[0]}));
  expect_same(rows[1], report({"--target", kTargets[0], "--ram-budget", "2500"}));
  expect_same(rows[2], report({"--target", kTargets[1]}));
  EXPECT_EQ(rows[0]["ram_budget"], Json());
  EXPECT_EQ(rows[1]["ram_budget"], 2500);
  EXPECT_LE(rows[1]["ram"].get<int64_t>(), 2500);
  EXPECT_LT(rows[1]["ram"].get<int64_t>(), rows[0]["ram"].get<int64_t>());
  // What cannot be had is a row with the reason that `compile` gives.
  EXPECT_EQ(rows[3]["ram"], Json());
  EXPECT_EQ(rows[3]["unbeaten"], false);
  const ProcessOutcome refusal = intarsia(
      {"compile", digits_path(), "--target", kTargets[1], "--ram-budget", "2500", "-o", "no"});
  EXPECT_EQ(rows[3]["error"].get<std::string>() + "\n", refusal.err);
  EXPECT_THAT(refusal.err, HasSubstr("RAM budget of 2500 bytes"));
}

// The board's room is each row's budget, in every form in which rows are read.
TEST_F(Sweep, ABoardsOwnRoomIsABudget) {
  const std::vector<std::string> choices = {
      digits_path(), "--no-measure",     "--target",     "c",    "--board",      "host",
      "--board",     "stm32vldiscovery", "--ram-budget", "none", "--ram-budget", "auto"};
  const Json rows = rows_of(choices);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["ram_budget"], Json());
  EXPECT_EQ(rows[1]["ram_budget"], "auto");
  EXPECT_THAT(rows[1]["error"].get<std::string>(), HasSubstr("board host has no limit"));
  EXPECT_EQ(rows[3]["ram_budget"], "auto");
  const Json made =
      report({"--target", "c", "--board", "stm32vldiscovery", "--ram-budget", "auto"});
  int64_t ram = 0;
  for (const Json& pool : made["pools"]) ram += pool["peak"].get<int64_t>();
  EXPECT_EQ(rows[3]["ram"], ram);
  EXPECT_THAT(sweep(with(choices, {"--csv"})).out, HasSubstr(",stm32vldiscovery,auto,"));
  EXPECT_THAT(sweep(choices).out, HasSubstr(" auto "));
  ASSERT_EQ(sweep(with(choices, {"--plot", "page.html"})).exit_code, kDone);
  const std::vector<uint8_t> page = read("page.html");
  EXPECT_THAT(std::string(page.begin(), page.end()), HasSubstr("budget auto"));
}

TEST_F(Sweep, FlashAndStackOfBoards) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::vector<std::string> boards = {digits_path(), "--board", "mps2-an385", "--board",
                                           "mps2-an386"};
  const Json rows = rows_of(boards);
  ASSERT_EQ(rows.size(), 2u);
  expect_same(rows[0], report({"--board", "mps2-an385"}));
  expect_same(rows[1], report({"--board", "mps2-an386"}));
  EXPECT_GT(rows[0]["flash"].get<int64_t>(), rows[0]["constants"].get<int64_t>());
  EXPECT_THAT(sweep(boards).out, HasSubstr("in RAM, flash and time"));
  const Json quick = rows_of(with(boards, {"--no-measure"}));
  EXPECT_EQ(quick[0]["flash"], Json());
  EXPECT_EQ(quick[0]["ram"], rows[0]["ram"]);
  EXPECT_THAT(sweep(with(boards, {"--no-measure"})).out, HasSubstr("in RAM, constants and time"));
  // A flash budget that one of them keeps to, and the other does not.
  const int64_t least = std::min(rows[0]["flash"].get<int64_t>(), rows[1]["flash"].get<int64_t>());
  const Json within = rows_of(with(boards, {"--flash-budget", std::to_string(least)}));
  EXPECT_EQ(within[0]["error"].is_null() + within[1]["error"].is_null(), 1);
}

// A core that a board has not is a row with the reason; all boards, each with its core, where nothing is named.
TEST_F(Sweep, BoardsAndTheirCores) {
  const Json rows = rows_of({digits_path(), "--no-measure", "--target", "cortex-m4", "--board",
                             "microbit", "--board", "mps2-an386"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0]["error"].get<std::string>(), HasSubstr("cortex-m4"));
  EXPECT_EQ(rows[0]["board"], "microbit");
  EXPECT_TRUE(rows[1]["error"].is_null());
  const Json all = rows_of({digits_path(), "--no-measure"});
  const Json boards = Json::parse(intarsia({"boards", "--json"}).out, nullptr, false);
  ASSERT_EQ(all.size() + 3, boards.size());  // but for those whose programs are processes
  for (const Json& row : all) {
    EXPECT_THAT(row["board"].get<std::string>(), Not(AnyOf("host", EndsWith("-linux"))));
    EXPECT_TRUE(row["error"].is_null()) << row;
  }
}

// Whether rows are marked is what comparing each with each says.
TEST_F(Sweep, NoOtherRowBeatsAMarkedOne) {
  std::vector<std::string> arguments = {digits_path(), "--ram-budget", "none", "--ram-budget",
                                        "2500"};
  for (const char* target : {"cortex-m0", "cortex-m4", "cortex-m55", "cortex-m55+ethos-u55-32",
                             "cortex-m55+ethos-u55-256"})
    arguments.insert(arguments.end(), {"--target", target});
  const auto expect_marks = [](const Json& rows, const std::vector<std::string>& by) {
    for (const Json& row : rows) {
      if (row["ram"].is_null()) {
        EXPECT_EQ(row["unbeaten"], false);
        continue;
      }
      bool is_beaten = false;
      for (const Json& other : rows) {
        if (other["ram"].is_null() || other["model"] != row["model"]) continue;
        bool is_as_good = true, is_better = false;
        for (const std::string& figure : by) {
          is_as_good &= other[figure] <= row[figure];
          is_better |= other[figure] < row[figure];
        }
        is_beaten |= is_as_good && is_better;
      }
      EXPECT_EQ(row["unbeaten"], !is_beaten) << row;
    }
  };
  const Json rows = rows_of(arguments);
  expect_marks(rows, {"ram", "constants", "microseconds"});
  EXPECT_GT(
      std::count_if(rows.begin(), rows.end(), [](const Json& row) { return row["unbeaten"]; }), 1);
  const Json by_two = rows_of(with(arguments, {"--by", "ram,cycles"}));
  expect_marks(by_two, {"ram", "cycles"});
  EXPECT_NE(rows, by_two);
  // Nobody's stack is known on this machine.
  for (const Json& row : rows_of(with(arguments, {"--by", "stack"})))
    EXPECT_EQ(row["unbeaten"], false);
}

TEST_F(Sweep, TableJsonAndCsvSayTheSame) {
  const Json rows = rows_of(four_rows());
  const ProcessOutcome csv =
      sweep(with(four_rows(), {"--csv", "-o", "rows.json", "--plot", "rows.svg"}));
  ASSERT_TRUE(done(csv));
  EXPECT_EQ(Json::parse(read("rows.json"), nullptr, false), rows);
  const std::vector<std::string> lines = lines_of(csv.out);
  ASSERT_EQ(lines.size(), rows.size() + 1);
  const std::vector<std::string> columns = cells_of(lines[0]);
  EXPECT_EQ(columns.size(), rows[0].size());
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::vector<std::string> cells = cells_of(lines[r + 1]);
    ASSERT_EQ(cells.size(), columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
      const Json& value = rows[r].at(columns[c]);
      EXPECT_EQ(cells[c], value.is_null()     ? ""
                          : value.is_string() ? value.get<std::string>()
                                              : value.dump())
          << columns[c];
    }
  }
  ASSERT_TRUE(done(sweep(with(four_rows(), {"-o", "rows.csv"}))));
  EXPECT_EQ(*read_text_file(path("rows.csv")), csv.out);

  const ProcessOutcome table = sweep(four_rows());
  ASSERT_TRUE(done(table));
  const std::vector<std::string> shown = lines_of(table.out);
  for (size_t r = 0; r < 3; ++r) {
    std::istringstream cells(shown[r + 1]);
    std::vector<std::string> words{std::istream_iterator<std::string>(cells), {}};
    EXPECT_EQ(words.front(), std::to_string(r + 1));
    EXPECT_EQ(words[1] == "*", rows[r]["unbeaten"].get<bool>()) << shown[r + 1];
    EXPECT_THAT(words, Contains(kTargets[r / 2]));
    for (const char* bytes : {"ram", "constants"})
      EXPECT_THAT(words, Contains(readable_bytes(rows[r][bytes].get<int64_t>())));
    EXPECT_THAT(words, Contains(readable_count(rows[r]["cycles"].get<int64_t>())));
    EXPECT_THAT(words, Contains("-"));  // flash
  }
  EXPECT_EQ(shown[5], "      " + rows[3]["error"].get<std::string>());
  EXPECT_THAT(table.out, HasSubstr("- flash is not measured: host: "));
}

TEST_F(Sweep, JobsChangeNothing) {
  std::vector<std::string> bytes;
  for (const char* jobs : {"1", "4"}) {
    const ProcessOutcome outcome =
        sweep(with(four_rows(), {"--jobs", jobs, "--plot", "page.html", "-o", "rows.csv"}));
    ASSERT_TRUE(done(outcome));
    bytes.push_back(outcome.out + *read_text_file(path("page.html")) +
                    *read_text_file(path("rows.csv")));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST_F(Sweep, AttributesAreTriedWhereDevicesHaveThem) {
  const Json rows = rows_of({digits_path(), "--target", "cortex-m4", "--target", "ethos-u65-256",
                             "--attribute", "memory-mode=sram-only,shared-sram"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["target"], "c -mcpu=cortex-m4");
  expect_same(rows[1], report({"--target", "ethos-u65-256 -memory-mode=sram-only"}));
  expect_same(rows[2], report({"--target", "ethos-u65-256 -memory-mode=shared-sram"}));
  EXPECT_NE(rows[1]["cycles"], rows[2]["cycles"]);
  EXPECT_TRUE(
      refused(sweep({digits_path(), "--target", "cortex-m4", "--attribute", "memory-mode=a"}),
              {"--attribute: no device of any target has an attribute 'memory-mode'"}));
  EXPECT_TRUE(
      refused(sweep({digits_path(), "--target", "ethos-u65-256", "--attribute", "memory-mode=fast",
                     "--attribute", "memory-mode", "--attribute", "memory-mode=sram-only"}),
              {"'memory-mode' is not NAME=VALUE", "fast", "shared-sram",
               "'memory-mode' has values already"}));
  EXPECT_TRUE(refused(sweep({digits_path(), "--attribute", "memory-mode=sram-only"}),
                      {"--attribute: the board's own core"}));
}

TEST_F(Sweep, ModelsOfOneNameAndWhatIsNamedTwice) {
  for (const char* folder : {"a", "b"})
    write(std::string(folder) + "/net.tflite", build(chain_of(3)));
  const Json rows = rows_of({"a/net.tflite", "b/net.tflite", "a/net.tflite", "--target", "c",
                             "--target", "c", "--ram-budget", "1M", "--ram-budget", "1024K"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["model"], "net");
  EXPECT_EQ(rows[1]["model"], "b/net.tflite");
  // Each is compared with rows of its own.
  EXPECT_EQ(rows[0]["unbeaten"], true);
  EXPECT_EQ(rows[1]["unbeaten"], true);
  EXPECT_THAT(sweep({"a/net.tflite", "b/net.tflite", "--target", "c"}).out,
              HasSubstr("for the model"));
}

TEST_F(Sweep, AThousandOperatorsAreARowLikeOthers) {
  write("chain.tflite", build(chain_of(1000)));
  const Json rows = rows_of({"chain.tflite", digits_path(), "--target", "cortex-m4", "--target",
                             "cortex-m55+ethos-u55-128", "--plot", "page.html"});
  ASSERT_EQ(rows.size(), 4u);
  for (const Json& row : rows) EXPECT_TRUE(row["error"].is_null()) << row;
  EXPECT_EQ(rows[0]["model"], "chain");
  EXPECT_EQ(rows[0]["macs"], 64000);
  EXPECT_LT(read("page.html").size(), 100000u);
}

TEST_F(Sweep, ModelsThatAreNoneAreRows) {
  write("noise.tflite", std::string("this is no model"));
  const Json rows = rows_of({"noise.tflite", digits_path(), "--target", "c"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0]["error"].get<std::string>(), HasSubstr("noise.tflite"));
  EXPECT_TRUE(rows[1]["error"].is_null());
  // None at all: the table is there, and the exit status says it.
  const ProcessOutcome none = sweep({"noise.tflite", "--target", "c", "--json"});
  EXPECT_EQ(none.exit_code, kUserError);
  EXPECT_EQ(Json::parse(none.out, nullptr, false).size(), 1u);
  EXPECT_THAT(none.err, HasSubstr("none of the choices can be had"));
}

// Whatever is wrong with what was named is told together, and nothing is compiled.
TEST_F(Sweep, WrongNamesAreToldFirst) {
  EXPECT_TRUE(
      refused(sweep({digits_path(), "absent.tflite", "--target", "c", "--target", "cortex-m44",
                     "--board", "mps2", "--plot", "page.html", "-o", "rows.csv"}),
              {"absent.tflite: cannot be read", "'cortex-m44'", "there is no board 'mps2'"}));
  EXPECT_FALSE(exists("page.html"));
  EXPECT_FALSE(exists("rows.csv"));
  EXPECT_TRUE(refused(
      sweep({digits_path(), "--target", "c", "-o", "rows.txt", "--plot", "plot.png"}),
      {"rows.txt: is neither a .csv nor a .json", "plot.png: is neither a .svg nor a .html"}));
  EXPECT_TRUE(refused(sweep({digits_path(), "--target", "c", "-o", "none/rows.csv"}),
                      {"none/rows.csv: there is no folder 'none'"}));
  EXPECT_TRUE(refused(sweep({digits_path(), "--no-measure", "--flash-budget", "1M"}),
                      {"--flash-budget: needs flash to be measured"}));
  EXPECT_TRUE(usage_error(sweep({}), "MODEL"));
  EXPECT_TRUE(usage_error(sweep({digits_path(), "--target", ""}), "--target"));
  EXPECT_TRUE(usage_error(sweep({digits_path(), "--ram-budget", "much"}), "'much' is no size"));
  EXPECT_TRUE(usage_error(sweep({digits_path(), "--by", "speed"}), "speed"));
  EXPECT_TRUE(usage_error(sweep({digits_path(), "--json", "--csv"}), "--json"));
}

// A page and a picture that ask for nothing and run nothing, with a point for each row.
TEST_F(Sweep, DrawingsAreWholeFiles) {
  for (const char* name : {"page.html", "picture.svg"}) {
    ASSERT_TRUE(done(sweep(with(four_rows(), {"--plot", name}))));
    const std::string text = *read_text_file(path(name));
    for (const char* word : {"<script", "href=\"http", "src=", "@import", "url("})
      EXPECT_THAT(text, Not(HasSubstr(word))) << name;
    for (const std::string& target : kTargets) EXPECT_THAT(text, HasSubstr(target)) << name;
    EXPECT_THAT(text, HasSubstr("role=\"img\"")) << name;
    EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark")) << name;
    EXPECT_THAT(text, HasSubstr("<title>1: cortex-m4, RAM ")) << name;
    EXPECT_THAT(text, HasSubstr("<path class=\"front\"")) << name;
  }
  EXPECT_THAT(*read_text_file(path("page.html")),
              HasSubstr("RAM budget of 2500 bytes: cannot be met"));
  // Names are text, wherever they stand.
  write("<b>&.tflite", digits_bytes());
  ASSERT_TRUE(done(sweep({"<b>&.tflite", "--target", "c", "--plot", "page.html"})));
  EXPECT_THAT(*read_text_file(path("page.html")), Not(HasSubstr("<b>&.")));
  // Figures that nobody has are no reason to fail.
  ASSERT_TRUE(done(sweep(with(four_rows(), {"--by", "stack,cycles", "--plot", "page.html"}))));
  EXPECT_THAT(*read_text_file(path("page.html")), HasSubstr("there is nothing to draw"));
  ASSERT_TRUE(done(sweep(with(four_rows(), {"--by", "ram", "--plot", "page.html"}))));
  EXPECT_THAT(*read_text_file(path("page.html")), HasSubstr("--by takes two or more"));
}

// A C compiler that takes its time: the line of progress counts choices, and an interrupt ends all of them.
class SlowSweep : public Sweep {
 protected:
  void SetUp() override {
    Sweep::SetUp();
    if (!have_program("arm-none-eabi-gcc"))
      GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
    write("slow/arm-none-eabi-gcc",
          std::string("#!/bin/sh\nsleep 1\nPATH=${PATH#*:} exec arm-none-eabi-gcc \"$@\"\n"));
    std::filesystem::permissions(path("slow/arm-none-eabi-gcc"), std::filesystem::perms::owner_all);
    slow_path_ = path("slow") + ":" + std::getenv("PATH");
  }
  std::string slow_path_;
};

TEST_F(SlowSweep, ProgressCountsChoices) {
  const ShownOnTerminal shown =
      run_on_terminal({INTARSIA_PROGRAM, "sweep", digits_path(), "--board", "mps2-an385", "--board",
                       "mps2-an386", "--jobs", "1"},
                      path("."), 100, {"TERM=xterm", "PATH=" + slow_path_});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.bytes, HasSubstr("choices compiled"));
  EXPECT_THAT(shown.bytes, HasSubstr("1 of 2"));
  for (const std::string& line : shown.screen)
    EXPECT_THAT(line, Not(HasSubstr("choices compiled")));
  EXPECT_THAT(shown.screen.front(), HasSubstr("target"));
}

// At whatever moment it comes: several threads make, fill and remove folders of their own.
TEST_F(SlowSweep, AnInterruptEndsEverything) {
  const std::string temporary = std::getenv("TMPDIR");
  for (int round = 0; round < 8; ++round) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      std::signal(SIGINT, SIG_DFL);  // who started the tests may ignore it
      setenv("PATH", slow_path_.c_str(), 1);
      if (chdir(path(".").c_str()) != 0) _exit(9);
      execl(INTARSIA_PROGRAM, INTARSIA_PROGRAM, "sweep", digits_path().c_str(), "--board",
            "mps2-an385", "--board", "mps2-an386", "--jobs", "2", "-o", "rows.csv", "--plot",
            "page.html", nullptr);
      _exit(9);
    }
    for (int i = 0; i < 60000 && std::filesystem::is_empty(temporary); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(std::filesystem::is_empty(temporary));
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 5));
    kill(process, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "round " << round;
    EXPECT_FALSE(exists("rows.csv"));
    EXPECT_FALSE(exists("page.html"));
  }
}

}  // namespace
}  // namespace intarsia::test
