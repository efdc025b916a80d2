// What `measure` counts as code and as constants, on sources whose sizes are known.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "support/files.h"

namespace intarsia {
namespace {

bool have_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/" + name)) return true;
  return false;
}

Result<Measurements> measured(int table, int weights, const std::string& more = "",
                              const std::string& section = ".intarsia.weights") {
  INTARSIA_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string source = fmt::format(
      "#include <stdint.h>\n"
      "int32_t m_init(void);\nint32_t m_run(int32_t i);\nvoid *m_input(int32_t i);\n"
      "const void *m_output(int32_t i);\n"
      "static const int32_t table[{}] = {{1, 2, 3}};\n"
      "__attribute__((section(\"{}\"))) const int8_t m_weights[{}] = {{1}};\n"
      "int32_t m_init(void) {{ return 0; }}\n"
      "void *m_input(int32_t i) {{ (void)i; return 0; }}\n"
      "const void *m_output(int32_t i) {{ return i == 0 ? m_weights : 0; }}\n"
      "#define MORE\n{}int32_t m_run(int32_t i) {{ return table[i] + m_weights[i] MORE; }}\n",
      table, section, weights, more);
  INTARSIA_TRY_VOID(write_folder(folder.path(), {{"m.c", source}}));
  INTARSIA_TRY(const board::Board board,
               board::find_board(INTARSIA_SOURCE_DIR "/boards", "mps2-an386"));
  INTARSIA_TRY(const board::Core core, board::core_for(board, "cortex-m4"));
  PackageManifest manifest;
  manifest.model = "m";
  manifest.sources = {"m.c"};
  manifest.include_dirs = {"."};
  return measure({folder.path(), manifest, board, core, INTARSIA_SOURCE_DIR});
}

TEST(Measure, CodeIsInstructionsAndTheirConstants) {
  if (!have_program("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc";
  const Result<Measurements> small = measured(64, 100), large = measured(164, 100),
                             heavy = measured(64, 356);
  ASSERT_TRUE(small.ok()) << small.error().to_string();
  ASSERT_TRUE(large.ok() && heavy.ok());
  EXPECT_GT(small->code_bytes, 64 * 4);
  EXPECT_EQ(small->constant_bytes, 100);
  EXPECT_EQ(large->code_bytes, small->code_bytes + 100 * 4) << "tables beside the code count";
  EXPECT_EQ(large->constant_bytes, 100);
  EXPECT_EQ(heavy->code_bytes, small->code_bytes) << "weights are counted apart";
  EXPECT_EQ(heavy->constant_bytes, 356);
}

TEST(Measure, WhatNobodyReachesIsNotCounted) {
  if (!have_program("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc";
  const Result<Measurements> small = measured(64, 100);
  const Result<Measurements> more = measured(
      64, 100, "int32_t unused(int32_t i);\nint32_t unused(int32_t i) { return 7 * i; }\n");
  ASSERT_TRUE(small.ok() && more.ok());
  EXPECT_EQ(more->code_bytes, small->code_bytes);
}

TEST(Measure, ConstantsOfASectionOfTheUsersCount) {
  if (!have_program("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc";
  const Result<Measurements> usual = measured(64, 100);
  const std::string streams =
      "extern const uint8_t m_package[48];\n"
      "__attribute__((section(\".ospi\"))) const uint8_t m_package[48] = {1};\n"
      "static uint8_t scratch[500];\n"
      "#undef MORE\n#define MORE + m_package[i] + ++scratch[i]\n";
  const Result<Measurements> sent = measured(64, 100, "", ".qspi");
  const Result<Measurements> both = measured(64, 100, streams, ".qspi");
  for (const Result<Measurements>* each : {&usual, &sent, &both})
    ASSERT_TRUE(each->ok()) << each->error().to_string();
  EXPECT_EQ(sent->constant_bytes, 100);
  EXPECT_EQ(sent->code_bytes, usual->code_bytes);
  EXPECT_EQ(both->constant_bytes, 100) << "without memory that is only set aside";
  EXPECT_EQ(both->stream_bytes, 48);
}

}  // namespace
}  // namespace intarsia
