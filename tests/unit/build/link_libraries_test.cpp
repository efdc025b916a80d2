// A package that links a library: boards that bring it build the program, others are refused before anything is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "needs.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::test {
namespace {

bool runs(const std::vector<std::string>& command) {
  const Result<ProcessOutcome> outcome = run_process(command);
  return outcome.ok() && outcome->succeeded();
}

// The program of a package whose model is in a library, on a board whose core has these flags beside its own.
Result<std::string> built_with(const std::string& folder, const std::vector<std::string>& flags) {
  INTARSIA_TRY_VOID(write_folder(
      folder, {{"m.h",
                "#include <stdint.h>\n"
                "struct m { char unused; };\n"
                "struct m_resources { char unused; };\n"
                "#define M_INPUT_COUNT 0\n"
                "#define M_OUTPUT_COUNT 0\n"
                "#define M_DEFINE_RESOURCES(name) static struct m_resources name\n"
                "int32_t m_init(struct m* model, const struct m_resources* resources);\n"
                "void* m_input(struct m* model, int32_t index);\n"
                "const void* m_output(const struct m* model, int32_t index);\n"
                "int32_t m_run(struct m* model);\n"}}));
  INTARSIA_TRY(board::Board board, board::find_board(INTARSIA_SOURCE_DIR "/boards", "mps2-an386"));
  INTARSIA_TRY(board::Core core, board::core_for(board, "cortex-m4"));
  core.flags.insert(core.flags.end(), flags.begin(), flags.end());
  BuildSetting setting;
  setting.folder = folder;
  setting.manifest.model = "m";
  setting.manifest.include_dirs = {"."};
  setting.manifest.link_libraries = {"vendor_model", "m"};
  setting.board = board;
  setting.core = core;
  setting.resource_root = INTARSIA_SOURCE_DIR;
  return build_program(setting, folder);
}

TEST(LinkLibraries, ABoardBringsThemByItsFlags) {
  if (!runs({"arm-none-eabi-gcc", "--version"}))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string library = folder->path() + "/vendor", source = library + "/vendor_model.c",
                    object = library + "/vendor_model.o";
  ASSERT_TRUE(write_folder(library, {{"vendor_model.c",
                                      "#include \"../m.h\"\n"
                                      "static int32_t value;\n"
                                      "int32_t m_init(struct m* m, const struct m_resources* r) "
                                      "{ (void)m; (void)r; return 0; }\n"
                                      "void* m_input(struct m* m, int32_t i) "
                                      "{ (void)m; (void)i; return &value; }\n"
                                      "const void* m_output(const struct m* m, int32_t i) "
                                      "{ (void)m; (void)i; return &value; }\n"
                                      "int32_t m_run(struct m* m) { (void)m; return 0; }\n"}})
                  .ok());

  const Result<std::string> without = built_with(folder->path(), {});
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().to_string(),
              testing::HasSubstr("links vendor_model, which the board does not bring"));

  ASSERT_TRUE(runs({"arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
                    "-mfpu=fpv4-sp-d16", "-c", source, "-o", object}));
  ASSERT_TRUE(runs({"arm-none-eabi-ar", "rcs", library + "/libvendor_model.a", object}));
  const Result<std::string> with = built_with(folder->path(), {"-L" + library});
  ASSERT_TRUE(with.ok()) << with.error().to_string();
}

}  // namespace
}  // namespace intarsia::test
