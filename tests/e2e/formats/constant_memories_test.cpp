// A board whose constants are in several memories: what fits there, where it is, that results do not change, and that
// other build systems can take the package.
#include <gmock/gmock.h>

#include "cross_build.h"
#include "large_models.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kExamples = INTARSIA_SOURCE_DIR "/examples/";

class ConstantMemories : public CrossBuild {
 protected:
  void SetUp() override {
    CrossBuild::SetUp();
    make_board({"bram", "sram", "ddr"});
  }

  // mps3-an547 with less memory, so that small networks need all of it.
  void make_board(const std::vector<std::string>& constants) const {
    Json board = Json::parse(*read_text_file(INTARSIA_SOURCE_DIR "/boards/mps3-an547/board.json"));
    board["name"] = "narrow";
    for (Json& memory : board["memories"]) {
      if (memory["name"] == "bram") memory["size"] = "8K", memory["reserved"] = "5K";
      if (memory["name"] == "sram") memory["size"] = "10K";
      if (memory["name"] == "dtcm") memory["size"] = "20K";
    }
    board["roles"]["constants"] = constants;
    write("narrow/board.json", board.dump());
  }

  Json report(const std::string& folder) const {
    return Json::parse(*read_text_file(path(folder + "/report.json")));
  }
  // Bytes of constants, by memory.
  std::map<std::string, int64_t> bytes_in(const std::string& folder) const {
    std::map<std::string, int64_t> bytes;
    const Json whole = report(folder);
    for (const Json& row : whole.at("constant_memories")) bytes[row.at("name")] = row.at("bytes");
    return bytes;
  }
};

TEST_F(ConstantMemories, AreFilledFromTheFastestOn) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "./narrow", "-o", "digits"})));
  const std::map<std::string, int64_t> bytes = bytes_in("digits");
  EXPECT_GT(bytes.at("bram"), 2048);
  EXPECT_LE(bytes.at("bram"), 3072);
  EXPECT_GT(bytes.at("sram"), 4096);
  EXPECT_GT(bytes.at("ddr"), 2048);
  const Json whole = report("digits");
  for (const Json& pool : whole.at("pools"))
    if (pool.at("name") == "sram") {
      EXPECT_GT(pool.at("peak").get<int64_t>(), 2048) << "activations are there as well";
      EXPECT_LE(pool.at("peak").get<int64_t>() + bytes.at("sram"), pool.at("size").get<int64_t>());
    }
  const std::string data = *read_text_file(path("digits/digits_data.h"));
  EXPECT_THAT(data, HasSubstr("] INTARSIA_WEIGHTS ="));
  EXPECT_THAT(data, HasSubstr("INTARSIA_WEIGHTS_IN_MEMORY(sram) ="));
  EXPECT_THAT(*read_text_file(path("digits/report.txt")),
              HasSubstr("Memory for constants\n  bram "));
  // Each operator's constants say where they are, and those of the classifier are read once only.
  std::map<std::string, std::string> memory;
  for (const Json& row : whole.at("operators"))
    for (const Json& constant : row.at("constants"))
      memory[constant.at("name")] = constant.at("memory");
  EXPECT_EQ(memory.at("stem_weights"), "bram");
  EXPECT_EQ(memory.at("widen_weights"), "sram");
  EXPECT_EQ(memory.at("classifier_weights"), "ddr");
  const ProcessOutcome plan =
      intarsia({"dump", digits_path(), "--board", "./narrow", "--stage", "plan"});
  EXPECT_THAT(plan.out, HasSubstr("constant classifier_weights pool=ddr bytes="));
  // Asked for by the user, and by the fastest memory alone.
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "./narrow", "--section",
                             "weights=.qspi", "-o", "asked"})));
  EXPECT_THAT(*read_text_file(path("asked/digits_data.h")), Not(HasSubstr("IN_MEMORY")));
  make_board({"bram"});
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--board", "./narrow", "-o", "one"}),
                      {"memory 'bram'", "bytes missing"}));
}

TEST_F(ConstantMemories, ThatAreTooSmallTogetherAreRefused) {
  make_board({"bram", "sram"});
  write("large.tflite", build(weights_of(1 << 20, kInt8, kInt8)));
  EXPECT_TRUE(refused(intarsia({"compile", "large.tflite", "--board", "./narrow", "-o", "large"}),
                      {"memories 'bram', 'sram'", "together they have", "bytes missing"}));
  EXPECT_FALSE(exists("large"));
}

// On the emulated core, with and without an NPU, with state, as arrays and as a file.
TEST_F(ConstantMemories, DoNotChangeResults) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  struct Case {
    std::string model, target, weights_file, policy;
  };
  for (const Case& each :
       {Case{"digits/digits", "cortex-m55", "never", "priority"},
        Case{"keyword-stream/keyword", "cortex-m55", "always", "priority"},
        Case{"keyword-stream/keyword", "cortex-m55+ethos-u55-128", "never", "cost"},
        Case{"streaming-denoiser/denoiser", "cortex-m55+ethos-u55-32", "always", "priority"},
        Case{"streaming-denoiser/denoiser", "cortex-m55", "never", "priority"}}) {
    const ProcessOutcome verified =
        intarsia({"verify", kExamples + each.model + ".tflite", "--board", "./narrow", "--target",
                  each.target, "--policy", each.policy, "--weights-file", each.weights_file});
    EXPECT_TRUE(verified.succeeded()) << each.model << each.target << verified.out << verified.err;
  }
}

// Three times what bram holds, and more than bram and sram together.
TEST_F(ConstantMemories, MakeRoomForNetworksOfMegabytes) {
  write("net.tflite", build(weights_of(7 << 20, kInt8, kInt8)));
  ASSERT_TRUE(done(intarsia({"compile", "net.tflite", "--board", "mps3-an547", "-o", "net"})));
  const std::map<std::string, int64_t> bytes = bytes_in("net");
  for (const char* memory : {"bram", "sram", "ddr"}) EXPECT_GT(bytes.at(memory), 1 << 20) << memory;
  EXPECT_THAT(*read_text_file(path("net/net_weights.S")),
              HasSubstr("  intarsia_weights_in_memory ddr, net_"));
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  for (const char* target : {"cortex-m55", "cortex-m55+ethos-u55-128"}) {
    const ProcessOutcome verified =
        intarsia({"verify", "net.tflite", "--board", "mps3-an547", "--target", target});
    EXPECT_TRUE(verified.succeeded()) << target << verified.out << verified.err;
  }
  // What is linked is measured in all of them.
  const int64_t linked = report("net").at("flash").at("constant_bytes_linked");
  EXPECT_GE(linked, 7 << 20);
}

// Without the board's linker script everything is where weights are, and one macro moves all of it.
TEST_F(ConstantMemories, AreOneSectionForOtherBuildSystems) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  for (const char* when : {"never", "always"}) {
    ASSERT_TRUE(done(intarsia(
        {"compile", digits_path(), "--board", "./narrow", "--weights-file", when, "-o", when})));
    const std::string source =
        std::string(when) + (std::string(when) == "never" ? "/digits.c" : "/digits_weights.S");
    const auto sections = [&](const std::vector<std::string>& options) {
      std::vector<std::string> command = {
          "arm-none-eabi-gcc", "-O2", std::string("-I") + when, "-c", source, "-o", "object.o"};
      for (const std::string& flag : core_flags(when)) command.push_back(flag);
      command.insert(command.end(), options.begin(), options.end());
      EXPECT_TRUE(done(program(command)));
      return program({"arm-none-eabi-objdump", "-h", "object.o"}).out;
    };
    EXPECT_THAT(sections({}), Not(HasSubstr(".intarsia")));
    const std::string asked = sections(
        {source.ends_with(".S") ? "-DINTARSIA_WEIGHTS_SECTION=.qspi"
                                : "-DINTARSIA_WEIGHTS=__attribute__((section(\".qspi\")))"});
    EXPECT_THAT(asked, HasSubstr(".qspi"));
    EXPECT_THAT(asked, Not(HasSubstr(".intarsia")));
    const std::string placed = sections({"-DINTARSIA_BOARD_MEMORIES=1"});
    EXPECT_THAT(placed, HasSubstr(".intarsia.weights"));
    EXPECT_THAT(placed, HasSubstr(".intarsia.constants.sram"));
  }
}

}  // namespace
}  // namespace intarsia::test
