// Hosts by LLVM with devices beside them: what such a composite computes is what the same devices compute beside C, in the
// process and as programs; who takes what, and what cannot go together.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "cli.h"
#include "needs_llvm.h"
#include "support/mixed_network.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

// An int8 convolution, which NPUs take, and float layers behind it, which libraries take.
std::string mixed_graph() {
  std::string weights, dense;
  for (int i = 0; i < 288; ++i) weights += fmt::format("{:02x}", (i * 73 + 11) & 255);
  for (int i = 0; i < 48; ++i) {
    const float value = static_cast<float>(i * 29 % 97) / 97.0f - 0.5f;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) dense += fmt::format("{:02x}", bits >> shift & 255);
  }
  return fmt::format(R"(intarsia.graph mixed
const @0 weights = x"{}"
const @1 dense = x"{}"
func @main(%0) -> (%6) {{
  %0 image: i8[1,7,6,4] q(0.05)
  %1 weights: i8[8,3,3,4] q(0.004) = @0
  %2 dense: f32[6,8] = @1
  %3 sums: i8[1,7,6,8] q(0.05)
  %4 numbers: f32[1,7,6,8]
  %5 products: f32[1,7,6,6]
  %6 result: f32[1,7,6,6]
  conv2d first(%0, %1) -> (%3) {{padding={{top=1,left=1,bottom=1,right=1}}}}
  dequantize number(%3) -> (%4)
  fully_connected product(%4, %2) -> (%5) {{keep_dims=true}}
  logistic result(%5) -> (%6)
}}
entry @main
)",
                     weights, dense);
}

constexpr const char* kAarch64 = "aarch64-linux";

class Composites : public Cli {
 protected:
  void SetUp() override {
    INTARSIA_NEEDS_LLVM();
    Cli::SetUp();
    write("mixed.graph", mixed_graph());
    std::vector<uint8_t> image;
    for (int i = 0; i < 168; ++i) image.push_back(static_cast<uint8_t>(i * 37 + 5));
    write("mixed.bin", image);
    write_image("digits.bin", 3);
  }
  void TearDown() override {
    if (kHasLlvm) Cli::TearDown();
  }

  // Of "mixed" or "digits"; nothing where the program was told that there is no device.
  std::vector<uint8_t> result(const std::string& model, const std::vector<std::string>& choice) {
    const bool mixed = model == "mixed";
    std::vector<std::string> command = {"run",          mixed ? "mixed.graph" : digits_path(),
                                        "--input",      model + ".bin",
                                        "--output-dir", "out"};
    command.insert(command.end(), choice.begin(), choice.end());
    const ProcessOutcome ran = intarsia(command);
    if (ran.succeeded()) return read("out/out0.bin");
    absent_ |= ran.err.find("no platform has a device") != std::string::npos;
    if (!absent_) ADD_FAILURE() << ran.err;
    return {};
  }
  std::string explained(const std::vector<std::string>& choice) {
    std::vector<std::string> command = {"explain", "mixed.graph"};
    command.insert(command.end(), choice.begin(), choice.end());
    const ProcessOutcome outcome = intarsia(command);
    EXPECT_TRUE(done(outcome)) << outcome.err;
    return outcome.out;
  }
  bool absent() const { return absent_; }

  static std::vector<std::string> with(std::vector<std::string> choice,
                                       const std::vector<std::string>& more) {
    choice.insert(choice.end(), more.begin(), more.end());
    return choice;
  }

 private:
  bool absent_ = false;
};

// ---- devices that are simulated or run on this machine ------------------------------------------

struct Beside {
  const char *name, *devices;  // "ethosn + opencl"
  const char* pin;             // an operator of the digits, to the host
};

class EveryDevice : public Composites, public testing::WithParamInterface<Beside> {};

// Buffers change hands in both directions, whoever decides on the placement.
TEST_P(EveryDevice, ComputesWhatItComputesBesideC) {
  const Beside beside = GetParam();
  const std::string c = fmt::format("c + {}", beside.devices),
                    llvm = fmt::format("llvm + {}", beside.devices);
  const std::vector<std::vector<std::string>> choices = {
      {}, {"--policy", "cost"}, {"--pin", fmt::format("{}=@", beside.pin)}};
  for (const std::vector<std::string>& choice : choices) {
    const auto for_host = [&](const std::string& target, const char* host) {
      std::vector<std::string> words = {"--target", target};
      for (std::string word : choice) {
        if (word.ends_with("@")) word.replace(word.size() - 1, 1, host);
        words.push_back(word);
      }
      return words;
    };
    const auto expected = result("digits", for_host(c, "c"));
    if (absent()) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
    EXPECT_EQ(result("digits", for_host(llvm, "llvm")), expected);
    EXPECT_EQ(result("digits", with(for_host(llvm, "llvm"), {"--native"})), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDevice,
                         testing::Values(Beside{"EthosU", "ethos-u55-128", "block1_add"},
                                         Beside{"EthosN", "ethosn", "block1_add"},
                                         Beside{"ExampleNpu", "example-npu", "max_pool"},
                                         Beside{"OpenCl", "opencl", "block1_add"},
                                         Beside{"EthosNAndOpenCl", "ethosn + opencl",
                                                "block1_add"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(Composites, TheDesignsJsonIsTakenAsItIs) {
  const auto of = [&](const std::string& target) {
    const ProcessOutcome outcome =
        intarsia({"explain", digits_path(), "--target", target, "--pin", "block1_add=opencl"});
    EXPECT_TRUE(done(outcome));
    return outcome.out;
  };
  const std::string text = of(R"({"target_host":"llvm","devices":["ethosn","opencl"]})");
  EXPECT_THAT(text, HasSubstr("2 on opencl (block1_add, average_pool), 1 on llvm (scores)"));
  EXPECT_THAT(text, HasSubstr("transfers between devices"));
  EXPECT_EQ(text, of("llvm + ethosn + opencl"));
}

TEST_F(Composites, ConstantsInAnObjectFileAreNotPlaced) {
  for (const char* target : {"llvm + ethosn", "llvm"})
    EXPECT_TRUE(refused(intarsia({"compile", "mixed.graph", "--target", target, "-o", "p",
                                  "--section", "weights=.flash2"}),
                        {"--section weights=.flash2", "are in an object file", "kind c"}));
  EXPECT_TRUE(done(intarsia({"compile", "mixed.graph", "--target", "llvm + ethosn", "-o", "p",
                             "--section", "streams=.flash2"})));
}

TEST_F(Composites, AreVerifiedOperatorByOperator) {
  const ProcessOutcome outcome =
      intarsia({"verify", "mixed.graph", "--target", "llvm + ethosn", "--layers"});
  ASSERT_TRUE(outcome.succeeded()) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("agree on"));
}

// Constants that only kernels read are in their object file and nowhere else.
TEST_F(Composites, HoldTheKernelsAsAnObjectFileBesideTheScheduleInC) {
  ASSERT_TRUE(done(intarsia({"compile", "mixed.graph", "--target", "llvm + ethosn", "-o", "p"})));
  const auto files = read_folder("p");
  EXPECT_TRUE(files.contains("mixed_kernels.o"));
  EXPECT_THAT(files.at("mixed.c"), HasSubstr("void mixed_product(const float *"));
  EXPECT_THAT(files.at("mixed_data.h"), testing::Not(HasSubstr("dense")));
  EXPECT_THAT(files.at("CMakeLists.txt"), HasSubstr("mixed_kernels.o"));
  EXPECT_THAT(files.at("mixed.mk"), HasSubstr("mixed_kernels.o"));
  EXPECT_TRUE(refused(intarsia({"compile", "mixed.graph", "--target", "llvm + ethosn", "-o", "q",
                                "--format", "zephyr"}),
                      {"takes sources in C", "--format plain"}));
  EXPECT_FALSE(exists("q"));
}

// ---- libraries of kernels -----------------------------------------------------------------------

TEST_F(Composites, OneDnnStandsBesideIt) {
  EXPECT_THAT(explained({"--target", "llvm + dnnl"}),
              HasSubstr("3 operators on dnnl, 1 on llvm (number)"));
  const std::string floats = "llvm + dnnl -int8=false";
  const std::string text = explained({"--target", floats});
  EXPECT_THAT(text, HasSubstr("2 operators on llvm, 2 on dnnl (product, result)"));
  EXPECT_THAT(text, HasSubstr("2 transfers between devices"));
  const ProcessOutcome probe = intarsia({"run", "mixed.graph", "--target", "c + dnnl", "--input",
                                         "mixed.bin", "--output-dir", "probe"});
  if (!probe.succeeded() || !probe.err.empty())
    GTEST_SKIP() << needs("dnnl") << "streams of oneDNN are not run in this process";
  const auto expected = result("mixed", {"--target", "c"});
  for (const std::vector<std::string>& choice : std::vector<std::vector<std::string>>{
           {}, {"--policy", "cost"}, {"--pin", "result=llvm"}, {"--native"}}) {
    const auto got = result("mixed", with({"--target", floats}, choice));
    EXPECT_LE(float_distance(expected, got), 1e-5f);
  }
  EXPECT_EQ(result("mixed", {"--target", floats, "--pin", "product=llvm", "--pin", "result=llvm"}),
            expected);
}

// The Arm Compute Library, with the compiler and the emulator that it takes.
class OnCortexA : public Composites {
 protected:
  void SetUp() override {
    Composites::SetUp();
    if (IsSkipped()) return;
    if (!INTARSIA_ASKS_ARM_ACL)
      GTEST_SKIP() << needs("arm-acl")
                   << "CMake found no Arm Compute Library, compiler or emulator";
  }
  std::vector<uint8_t> there(const std::string& model, const std::string& target,
                             const std::vector<std::string>& more = {}) {
    return result(model, with({"--board", kAarch64, "--target", target}, more));
  }
};

TEST_F(OnCortexA, TheTagIsTheDesignsComposite) {
  const std::string json =
      R"({"kind":"composite","target_host":"llvm","devices":[{"kind":"arm_acl"}]})";
  const auto expected = result("mixed", {"--target", "c"});
  const auto got = there("mixed", "acl");
  EXPECT_LE(float_distance(expected, got), 1e-4f);
  EXPECT_EQ(there("mixed", "cortex-a55-llvm + arm_acl", {"--policy", "cost"}), got);
  EXPECT_EQ(there("mixed", json, {"--pin", "product=llvm", "--pin", "result=llvm"}), expected);
  EXPECT_EQ(explained({"--board", kAarch64, "--target", json}),
            explained({"--board", kAarch64, "--target", "acl"}));
}

TEST_F(OnCortexA, AnNpuStandsBesideTheLibrary) {
  const std::string target = "llvm + arm_acl -int8=false + ethos-n78-4tops-4ple";
  const auto expected = result("mixed", {"--target", "c + ethosn"});
  for (const char* policy : {"priority", "cost"}) {
    const std::string text =
        explained({"--board", kAarch64, "--target", target, "--policy", policy});
    EXPECT_THAT(text, HasSubstr("2 operators on arm_acl, 1 on ethosn (first), 1 on llvm (number)"));
    EXPECT_THAT(text, HasSubstr("4 transfers between devices"));
    const auto got = there("mixed", target, {"--policy", policy});
    EXPECT_LE(float_distance(expected, got), 1e-4f);
  }
  EXPECT_EQ(there("mixed", target, {"--pin", "product=llvm", "--pin", "result=llvm"}), expected);
}

// ---- what cannot go together --------------------------------------------------------------------

TEST_F(Composites, AHostOfAnotherMachineThanTheLibrarysIsRefused) {
  for (const char* host : {"llvm -mtriple=x86_64-linux-gnu", "cortex-m4-llvm"})
    for (const char* command : {"explain", "compile"}) {
      std::vector<std::string> words = {command, "mixed.graph", "--target",
                                        fmt::format("{} + arm_acl", host)};
      if (command == std::string("compile")) words.insert(words.end(), {"-o", "p"});
      EXPECT_TRUE(refused(intarsia(words), {"arm_acl works on the host's processor",
                                            "has to be aarch64", "leave -mtriple out"}));
    }
  EXPECT_FALSE(exists("p"));
}

// Without a triple the host beside the library is what the library wants, wherever it is compiled.
TEST_F(Composites, AHostWithoutATripleIsTheLibrarysMachine) {
  ASSERT_TRUE(done(intarsia({"compile", "mixed.graph", "--target", "acl", "-o", "p"})));
  const std::string object = read_folder("p").at("mixed_kernels.o");
  ASSERT_GT(object.size(), 64u);
  EXPECT_EQ(object[18], static_cast<char>(183)) << "e_machine of AArch64";
#ifndef __aarch64__
  EXPECT_TRUE(refused(intarsia({"run", "mixed.graph", "--target", "acl", "--input", "mixed.bin",
                                "--output-dir", "out"}),
                      {"is code for AArch64, and board 'host' runs"}));
  EXPECT_FALSE(exists("out"));
#endif
}

TEST_F(Composites, ATripleWithoutACodeGeneratorIsRefused) {
  EXPECT_TRUE(refused(intarsia({"compile", "mixed.graph", "--target",
                                "llvm -mtriple=z80-none-elf + ethosn", "-o", "p"}),
                      {"has no code generator for 'z80-none-", "-mtriple"}));
  EXPECT_FALSE(exists("p"));
}

class WithoutLlvm : public Cli {};

TEST_F(WithoutLlvm, ACompositeSaysWhatToInstall) {
  if (kHasLlvm) return;  // Refused.WithoutLlvmItSaysWhatToInstall asks for the words there
  write("mixed.graph", mixed_graph());
  EXPECT_TRUE(refused(intarsia({"compile", "mixed.graph", "--target", "llvm + ethosn", "-o", "p"}),
                      {"was built without LLVM", "install llvm-14-dev and clang-14"}));
  EXPECT_FALSE(exists("p"));
}

}  // namespace
}  // namespace intarsia::test
