// Colours, widths, tables, the line of progress, and what is left out of long texts.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_profile.h"
#include "dumped_constants.h"
#include "package_operators.h"
#include "progress_line.h"
#include "support/files.h"
#include "terminal.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Colours, OnTerminalsUnlessSomebodySaysNo) {
  EXPECT_TRUE(wants_colours(true, nullptr, nullptr, "xterm"));
  EXPECT_TRUE(wants_colours(true, "", nullptr, "xterm")) << "an empty NO_COLOR says nothing";
  EXPECT_FALSE(wants_colours(true, "1", nullptr, "xterm"));
  EXPECT_FALSE(wants_colours(true, nullptr, nullptr, "dumb"));
  EXPECT_FALSE(wants_colours(true, nullptr, nullptr, nullptr));
  EXPECT_FALSE(wants_colours(false, nullptr, nullptr, "xterm")) << "a pipe";
  EXPECT_TRUE(wants_colours(false, nullptr, "1", nullptr));
  EXPECT_FALSE(wants_colours(false, nullptr, "0", "xterm"));
  EXPECT_FALSE(wants_colours(false, "1", "1", "xterm")) << "no colours is the stronger word";
}

TEST(Colours, AreAroundTheText) {
  const Terminal plain, coloured{true, true, 80};
  EXPECT_EQ(tinted(plain, Tint::Error, "text"), "text");
  EXPECT_EQ(tinted(coloured, Tint::Plain, "text"), "text");
  EXPECT_EQ(tinted(coloured, Tint::Error, "text"), "\033[1;31mtext\033[0m");
  EXPECT_EQ(tinted(coloured, Tint::Error, ""), "");
}

TEST(Widths, AreCharactersNotBytes) {
  EXPECT_EQ(columns_of("Grüße"), 5u);
  EXPECT_EQ(clipped("Grüße", 5), "Grüße");
  EXPECT_EQ(clipped("Grüße aus", 8), "Grüße...");
  EXPECT_EQ(clipped("abc", 2), "..");
  EXPECT_EQ(clipped("abc", 0), "");
}

TEST(Widths, TextIsWrappedBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 8, 0), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 8, 2, 6), "one\n  two\n  three");
  EXPECT_EQ(wrapped("one\ntwo", 80, 2), "one\n  two");
  EXPECT_EQ(wrapped("longerthanthat is", 5, 1), "longerthanthat\n is");
  EXPECT_EQ(wrapped("", 5, 1), "");
}

TEST(TextTable, AlignsAndEndsWithoutBlanks) {
  const std::vector<TableRow> rows = {
      {{"name"}, {"bytes"}, {"what"}}, {{"a"}, {"12345678"}, {""}}, {{"longer"}, {"1"}}};
  EXPECT_THAT(table_lines(rows, {}, {.indent = 1, .right = {1}}),
              ElementsAre(" name       bytes  what", " a       12345678", " longer         1"));
}

// Colours take no columns.
TEST(TextTable, LooksTheSameInColours) {
  const std::vector<TableRow> rows = {{{"a", Tint::Name}, {"b"}}, {{"long", Tint::Name}, {"c"}}};
  std::string text = table_text(rows, {true, true, 80});
  for (const char* code : {"\033[36m", "\033[0m"})
    for (size_t at; (at = text.find(code)) != std::string::npos;) text.erase(at, strlen(code));
  EXPECT_EQ(text, table_text(rows, {}));
}

TEST(TextTable, WrapsTheLastColumnOnTerminalsOnly) {
  const std::vector<TableRow> rows = {{{"name"}, {"words that are more than one line of it has"}}};
  EXPECT_THAT(table_lines(rows, {true, false, 30}),
              ElementsAre("name  words that are more than\n      one line of it has"));
  EXPECT_THAT(table_lines(rows, {false, false, 30}),
              ElementsAre("name  words that are more than one line of it has"));
}

TEST(ProgressText, HasABarWhereTheTotalIsKnown) {
  EXPECT_EQ(progress_text({"compiling sources", 5, 20}, 0.2, 80),
            "compiling sources [=====               ] 5 of 20");
  EXPECT_EQ(progress_text({"compiling sources", 20, 20}, 3.2, 80),
            "compiling sources [====================] 20 of 20  3 s");
  EXPECT_EQ(progress_text({"reading"}, 12, 80), "reading  12 s");
  EXPECT_EQ(progress_text({"found", 7}, 0, 80), "found 7");
  // More than there is, and numbers whose product is none.
  EXPECT_THAT(progress_text({"a", 30, 20}, 0, 80), HasSubstr("] 20 of 20"));
  EXPECT_THAT(progress_text({"a", int64_t{1} << 62, int64_t{1} << 62}, 0, 200),
              HasSubstr("[====================]"));
}

TEST(ProgressText, StaysInItsLine) {
  for (size_t columns = 10; columns < 90; ++columns)
    EXPECT_LE(columns_of(progress_text({std::string(100, 'x'), 3, 4}, 100, columns)), columns);
}

TEST(ProgressText, IsALineForListenersOfText) {
  const std::function<void(const std::string&)> old_listener = [](const std::string& line) {
    EXPECT_EQ(line, "compiling sources: 3 of 12");
  };
  const ProgressListener listener = old_listener;
  listener({"compiling sources", 3, 12});
}

TEST(DumpedConstants, LongOnesAreShortened) {
  const std::string digits(400, 'a');
  const std::string text = "const @0 w = x\"" + digits + "\"\nconst @1 b = i32[1, 2]\nfunc @main\n";
  EXPECT_EQ(with_constants(text, true),
            "const @0 w = x\"" + std::string(46, 'a') +
                "... (200 bytes)\nconst @1 b = i32[1, 2]\nfunc @main\n");
  EXPECT_EQ(with_constants(text, false),
            "const @0 w = ... (200 bytes)\nconst @1 b = i32[1, 2]\nfunc @main\n");
}

TEST(DumpedConstants, ArraysOfSourcesToo) {
  const std::string text =
      "==== m.c\nconst int8_t w[6] = {\n  1, 2,\n  3, 4,\n  5, 6,\n};\nint main(void) {\n  x;\n}\n";
  EXPECT_EQ(with_constants(text, true),
            "==== m.c\nconst int8_t w[6] = {\n  1, 2,\n  3, 4,\n  /* 1 lines more */\n};\nint "
            "main(void) {\n  x;\n}\n");
  EXPECT_THAT(with_constants(text, false), Not(HasSubstr("1, 2")));
}

TEST(DumpedConstants, ArraysAreKnownWithWhatIsAroundTheirNames) {
  const std::string rows = "  1, 2,\n  3, 4,\n  5, 6,\n};\n";
  for (const std::string head :
       {"static const int8_t w[6] INTARSIA_WEIGHTS = {\n",
        "_Alignas(4) static const int8_t w[6] INTARSIA_WEIGHTS = {\n",
        "_Alignas(16) const uint8_t w[6]\n    INTARSIA_SECTION(\".a_long_name\") = {\n"}) {
    EXPECT_EQ(with_constants(head + rows, false), head + "  /* 3 lines more */\n};\n");
    EXPECT_EQ(with_constants(head + rows, true),
              head + "  1, 2,\n  3, 4,\n  /* 1 lines more */\n};\n");
  }
  const std::string function =
      "const void *m_output(const struct m *model) {\n  static const struct s sum = {\n    1,\n"
      "  };\n  return 0;\n}\n";
  EXPECT_EQ(with_constants(function, false), function);
}

// Commands of others between two of one operator do not make it two rows.
TEST(DeviceProfile, HasOneRowForEachOperator) {
  const nlohmann::ordered_json profile = nlohmann::ordered_json::parse(R"([{
    "device": "npu", "system": "s", "memory_mode": "m", "clock_mhz": 500, "cycles": 100,
    "commands": [{"offset": 0, "work": "dma", "node": "second", "cycles": 30, "macs": 0},
                 {"offset": 8, "work": "conv", "node": "first", "cycles": 50, "macs": 7},
                 {"offset": 16, "work": "conv", "node": "second", "cycles": 20, "macs": 5},
                 {"offset": 24, "work": "dma", "node": "", "cycles": 1, "macs": 0},
                 {"offset": 32, "work": "dma", "node": "", "cycles": 1, "macs": 0}]}])");
  const std::string text = device_profile_text(profile);
  EXPECT_THAT(
      text, HasSubstr("second                                           50   50.0%            5"));
  EXPECT_EQ(text.find("second"), text.rfind("second"));
  EXPECT_LT(text.find("second"), text.find("first"));
  EXPECT_THAT(text, HasSubstr("dma at 0x18"));
  EXPECT_THAT(text, HasSubstr("dma at 0x20"));
}

TEST(PackageOperators, AreTheReports) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(operators_of_package(folder->path()).empty());
  const std::string path = folder->path() + "/report.json";
  ASSERT_TRUE(write_file(path, R"({"operators": [{"name": "a", "member": "npu"}, 3, {"name": 4}],
    "stages": [{"operators": [{"name": "b", "member": "c"}]}, 5]})")
                  .ok());
  const std::vector<Explanation::Operator> operators = operators_of_package(folder->path());
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(operators[0].name + " " + operators[0].device, "a npu");
  EXPECT_EQ(operators[1].name + " " + operators[1].device, "b c");
  for (const char* broken : {"", "[", "[]", R"({"operators": 1})"}) {
    ASSERT_TRUE(write_file(path, broken).ok());
    EXPECT_TRUE(operators_of_package(folder->path()).empty()) << broken;
  }
}

}  // namespace
}  // namespace intarsia::cli
