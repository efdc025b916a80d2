// CMSIS-Packs and layers of csolution projects: the files that they list are a program; the pack is a zip that others
// read; and the descriptions are valid where the schemas are at hand.
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "cross_build.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Csolution : public CrossBuild {
 protected:
  std::string text(const std::string& name) const { return *read_text_file(path(name)); }

  // The files of a layer or project, by their paths from the test's folder.
  std::vector<std::string> files_of(const std::string& description) const {
    std::vector<std::string> files;
    const fs::path folder = fs::path(description).parent_path();
    for (const std::string& file : listed(text(description), "- file: ", "\n"))
      files.push_back((folder / file).lexically_normal().generic_string());
    return files;
  }
  // The sources of a pack's component.
  std::vector<std::string> sources_of_pack(const std::string& folder,
                                           const std::string& name) const {
    std::vector<std::string> files;
    for (const std::string& file :
         listed(text(folder + "/Intarsia." + name + ".pdsc"), "category=\"sourceC\" name=\"", "\""))
      files.push_back(folder + "/" + file);
    return files;
  }
  void compile_all(const std::vector<std::string>& files, std::vector<std::string> options) {
    for (const std::string& file : files)
      if (file.ends_with(".c")) compile(file, options);
  }
  // As csolution compiles: the sample's folder and the add-paths are include folders; "optimize: speed" is -O2.
  static std::vector<std::string> options(std::vector<std::string> flags,
                                          const std::vector<std::string>& folders) {
    flags.insert(flags.end(), {"-O2", "-std=gnu11"});
    for (const std::string& folder : folders) flags.push_back("-I" + folder);
    return flags;
  }
  void expect_exact(const ProcessOutcome& outcome) const {
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
  }
};

TEST_F(Csolution, ALayersFilesAreAProgram) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("clayer", "mps2-an385", "m");
  const auto flags = core_flags("m");
  EXPECT_THAT(text("m/sample/digits_sample.csolution.yml"), HasSubstr("device: ARMCM3\n"));
  EXPECT_THAT(text("m/sample/digits_sample.cproject.yml"),
              HasSubstr("- layer: ../digits.clayer.yml\n"));
  compile_all(files_of("m/digits.clayer.yml"), options(flags, {"m"}));
  compile_all(files_of("m/sample/digits_sample.cproject.yml"),
              options(flags, {"m", "m/sample", "."}));
  expect_exact(link_and_run("mps2-an385", flags));
}

TEST_F(Csolution, APacksComponentIsAProgram) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("cmsis-pack", "mps2-an386", "m");
  const auto flags = core_flags("m");
  const std::string pdsc = text("m/Intarsia.digits.pdsc");
  EXPECT_THAT(pdsc, HasSubstr("<require Dcore=\"Cortex-M4\"/>"));
  for (const std::string& file : listed(pdsc, "name=\"", "\"")) EXPECT_TRUE(exists("m/" + file));
  // Unpacked by somebody else's program, in a folder of its own.
  ASSERT_TRUE(program({"python3", "-m", "zipfile", "-e", "m/Intarsia.digits.1.0.0.pack", "pack"})
                  .succeeded());
  const auto packed = read_folder("pack");
  const auto folder = read_folder("m");
  for (const auto& [name, content] : packed) EXPECT_EQ(content, folder.at(name)) << name;
  EXPECT_FALSE(packed.contains("sample/main.c"));
  compile_all(sources_of_pack("pack", "digits"), options(flags, {"pack"}));
  compile_all(files_of("m/sample/digits_sample.cproject.yml"),
              options(flags, {"pack", "m/sample"}));
  expect_exact(link_and_run("mps2-an386", flags));
}

TEST_F(Csolution, APackOfPlainCIsForEveryCore) {
  ASSERT_TRUE(
      intarsia({"compile", digits_path(), "--target", "c", "--format", "cmsis-pack", "-o", "m"})
          .succeeded());
  EXPECT_THAT(text("m/Intarsia.digits.pdsc"), Not(HasSubstr("<require")));
  const ProcessOutcome outcome =
      intarsia({"compile", digits_path(), "--target", "c", "--format", "clayer", "-o", "l"});
  EXPECT_THAT(outcome.err, HasSubstr("write your device in sample/digits_sample.csolution.yml"));
  EXPECT_THAT(text("l/sample/digits_sample.csolution.yml"), HasSubstr("device: DEVICE\n"));
}

// What the schema asks of a component's Csub: at most 32 characters, a letter or a digit first. The project of the sample
// names the same component, and DescriptionsAreValidByTheirSchemas asks the schema itself.
TEST_F(Csolution, ComponentsHaveNamesThatPacksAllow) {
  for (const std::string& model : {std::string("_digits"), std::string(100, 'm')}) {
    const ProcessOutcome outcome = intarsia({"compile", digits_path(), "--board", "mps2-an386",
                                             "--name", model, "--format", "cmsis-pack", "-o", "m"});
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("note: CMSIS-Pack allows no component of the name '" +
                                       model + "': it is '"));
    const std::vector<std::string> components =
        listed(text("m/Intarsia." + model + ".pdsc"), " Csub=\"", "\"");
    ASSERT_EQ(components.size(), 1u);
    EXPECT_LE(components[0].size(), 32u);
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(components[0].front())) != 0);
    EXPECT_THAT(text("m/sample/" + model + "_sample.cproject.yml"),
                HasSubstr("- component: Intarsia::Machine Learning:Model:" + components[0] + "\n"));
  }
}

// Two models with the runtime as a layer, or a pack, of its own, which grows with each model: every file of all three
// in one program.
TEST_F(Csolution, ModelsShareARuntimeOfItsOwn) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("clayer", "mps2-an386", "a/m", {"--runtime", "runtime"});
  package("clayer", "mps2-an386", "a/other",
          {"--runtime", "runtime", "--name", "other", "--optimise", "size"});
  EXPECT_THAT(text("a/m/sample/digits_sample.cproject.yml"),
              HasSubstr("- layer: ../../../runtime/intarsia_runtime.clayer.yml\n"));
  const auto flags = core_flags("a/m");
  const auto of_both = files_of("runtime/intarsia_runtime.clayer.yml");
  for (const char* layer :
       {"a/m/digits.clayer.yml", "a/other/other.clayer.yml", "runtime/intarsia_runtime.clayer.yml"})
    compile_all(files_of(layer), options(flags, {"a/m", "a/other", "runtime"}));
  compile_all(files_of("a/m/sample/digits_sample.cproject.yml"),
              options(flags, {"a/m", "a/m/sample", "runtime"}));
  expect_exact(link_and_run("mps2-an386", flags));

  package("cmsis-pack", "mps2-an386", "p/m", {"--runtime", "packs"});
  package("cmsis-pack", "mps2-an386", "p/other",
          {"--runtime", "packs", "--name", "other", "--optimise", "size"});
  EXPECT_THAT(text("p/m/Intarsia.digits.pdsc"),
              HasSubstr("<require Cclass=\"Machine Learning\" Cgroup=\"Runtime\" "
                        "Csub=\"Intarsia\"/>"));
  EXPECT_THAT(text("p/m/sample/digits_sample.csolution.yml"),
              HasSubstr("    - pack: Intarsia::intarsia_runtime\n      path: ../../../packs\n"));
  std::vector<std::string> in_pack = sources_of_pack("packs", "intarsia_runtime");
  EXPECT_EQ(in_pack.size(), of_both.size());
  EXPECT_EQ(sources_of_pack("p/m", "digits"), std::vector<std::string>{"p/m/digits.c"});
  EXPECT_EQ(sources_of_pack("p/other", "other"), std::vector<std::string>{"p/other/other.c"});
  EXPECT_TRUE(
      program({"python3", "-m", "zipfile", "-t", "packs/Intarsia.intarsia_runtime.1.0.0.pack"})
          .succeeded());
}

// The schemas of Open-CMSIS-Pack (PACK.xsd of its specification, *.schema.json of its devtools) are not part of this
// repository: INTARSIA_CMSIS_SCHEMAS names a folder that holds them.
TEST_F(Csolution, DescriptionsAreValidByTheirSchemas) {
  const char* schemas = std::getenv("INTARSIA_CMSIS_SCHEMAS");
  if (schemas == nullptr || !have_program("xmllint"))
    GTEST_SKIP() << needs("cmsis-schemas") << "INTARSIA_CMSIS_SCHEMAS and xmllint";
  for (const std::string& model : {std::string("_digits"), std::string(100, 'm')}) {
    ASSERT_TRUE(intarsia({"compile", digits_path(), "--board", "mps2-an386", "--name", model,
                          "--format", "cmsis-pack", "-o", "named"})
                    .succeeded());
    const ProcessOutcome valid =
        program({"xmllint", "--noout", "--schema", std::string(schemas) + "/PACK.xsd",
                 "named/Intarsia." + model + ".pdsc"});
    EXPECT_TRUE(valid.succeeded()) << valid.err;
  }
  for (const std::string board : {"mps2-an385", "mps3-an547"})
    for (const bool apart : {false, true}) {
      const std::string place = board + (apart ? "_apart" : "_whole");
      const std::vector<std::string> more =
          apart ? std::vector<std::string>{"--runtime", place + "/runtime"}
                : std::vector<std::string>{};
      package("cmsis-pack", board, place + "/pack", more);
      std::vector<std::string> files = {place + "/pack/sample/digits_sample.csolution.yml",
                                        place + "/pack/sample/digits_sample.cproject.yml"};
      std::vector<std::string> xml = {place + "/pack/Intarsia.digits.pdsc"};
      if (apart) xml.push_back(place + "/runtime/Intarsia.intarsia_runtime.pdsc");
      for (const std::string& file : xml) {
        const ProcessOutcome valid =
            program({"xmllint", "--noout", "--schema", std::string(schemas) + "/PACK.xsd", file});
        EXPECT_TRUE(valid.succeeded()) << valid.err;
      }
      package("clayer", board, place + "/layer", more);
      files.insert(files.end(), {place + "/layer/digits.clayer.yml",
                                 place + "/layer/sample/digits_sample.csolution.yml",
                                 place + "/layer/sample/digits_sample.cproject.yml"});
      if (apart) files.push_back(place + "/runtime/intarsia_runtime.clayer.yml");
      std::vector<std::string> command = {
          "python3", INTARSIA_SOURCE_DIR "/tests/e2e/formats/check_schemas.py", schemas};
      command.insert(command.end(), files.begin(), files.end());
      const ProcessOutcome valid = program(command);
      EXPECT_TRUE(valid.succeeded()) << valid.out << valid.err;
    }
}

}  // namespace
}  // namespace intarsia::test
