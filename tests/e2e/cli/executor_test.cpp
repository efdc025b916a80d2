// `firmware`, `compile --format executor` and `run --firmware`: one program, several packages, in emulators and here.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli.h"
#include "intarsia/contract/package.h"
#include "needs.h"
#include "package_writer/header.h"
#include "tflite_builder.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int8_t kFloat32 = 0, kInt8 = 9;  // element types of the format

const std::string kDenoiser =
    std::string(INTARSIA_SOURCE_DIR) + "/examples/streaming-denoiser/denoiser.tflite";
const std::string kAnomaly =
    std::string(INTARSIA_SOURCE_DIR) + "/tests/golden/models/separable_s8/model.tflite";

// The digits' network with other weights and scales, as if it had been trained again.
std::vector<uint8_t> trained_again() {
  std::vector<uint8_t> bytes = digits_bytes();
  const format::Model* model = format::GetModel(bytes.data());
  for (const format::Tensor* tensor : *model->subgraphs()->Get(0)->tensors()) {
    const auto* data = model->buffers()->Get(tensor->buffer())->data();
    if (tensor->type() != kInt8 || data == nullptr) continue;
    std::reverse(const_cast<uint8_t*>(data->data()),
                 const_cast<uint8_t*>(data->data()) + data->size());
  }
  return bytes;
}

class Executor : public Cli {
 protected:
  void package(const std::string& model, const std::string& name,
               const std::vector<std::string>& options) const {
    std::vector<std::string> command = {"compile", model, "--format", "executor", "-o", name};
    command.insert(command.end(), options.begin(), options.end());
    EXPECT_TRUE(done(intarsia(command)));
  }
  void firmware(const std::vector<std::string>& models,
                const std::vector<std::string>& options) const {
    std::vector<std::string> command = {"firmware", "-o", "fw"};
    command.insert(command.end(), models.begin(), models.end());
    command.insert(command.end(), options.begin(), options.end());
    EXPECT_TRUE(done(intarsia(command)));
  }
  // What the package computes on the firmware, and what the model does that it was made from, on the same board.
  void compare(const std::string& model, const std::string& name, const std::string& input,
               const std::vector<std::string>& options, int repeat = 1) const {
    const std::vector<std::string> inputs = {"--input", input, "--repeat", std::to_string(repeat),
                                             "--keep-all"};
    std::vector<std::string> command = {"run", model, "--output-dir", "expected"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), inputs.begin(), inputs.end());
    ASSERT_EQ(intarsia(command).exit_code, kDone);
    for (const char* where : {"", "--in-flash"}) {
      command = {"run", name, "--firmware", "fw", "--output-dir", "got"};
      command.insert(command.end(), inputs.begin(), inputs.end());
      if (*where != '\0') command.emplace_back(where);
      const ProcessOutcome outcome = intarsia(command);
      ASSERT_EQ(outcome.exit_code, kDone) << outcome.err;
      EXPECT_EQ(read("got/out0.bin"), read("expected/out0.bin")) << name << " " << where;
    }
  }
};

const std::vector<std::string> kM4 = {"--board", "mps2-an386"};
const std::vector<std::string> kNpu = {"--board", "mps3-an547", "--target",
                                       "cortex-m55+ethos-u55-128"};

std::vector<uint8_t> pattern(size_t bytes) {
  std::vector<uint8_t> all(bytes);
  for (size_t i = 0; i < bytes; ++i) all[i] = static_cast<uint8_t>(i * 37 + i / 5);
  return all;
}

int64_t input_bytes(const std::string& model) {
  const Result<std::vector<uint8_t>> bytes = read_file(model);
  const format::Model* read = format::GetModel(bytes->data());
  const format::Subgraph* graph = read->subgraphs()->Get(0);
  const format::Tensor* input =
      graph->tensors()->Get(static_cast<uint32_t>(graph->inputs()->Get(0)));
  int64_t count = input->type() == kFloat32 ? 4 : 1;
  for (const int32_t extent : *input->shape()) count *= extent;
  return count;
}

TEST_F(Executor, OneFirmwareRunsTwoNetworksAndOneThatWasTrainedAgain) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "none is installed";
  firmware({digits_path(), kAnomaly}, kM4);
  package(digits_path(), "digits.intarsia", kM4);
  package(kAnomaly, "anomaly.intarsia", kM4);
  write("again.tflite", trained_again());
  package(path("again.tflite"), "again.intarsia", kM4);
  write_image("image.bin", 3);
  compare(digits_path(), "digits.intarsia", "image.bin", kM4);
  EXPECT_EQ(read("got/out0.bin"), recorded_scores(3));
  compare(path("again.tflite"), "again.intarsia", "image.bin", kM4);
  EXPECT_NE(read("got/out0.bin"), recorded_scores(3)) << "other weights";
  write("anomaly.bin", pattern(static_cast<size_t>(input_bytes(kAnomaly))));
  compare(kAnomaly, "anomaly.intarsia", "anomaly.bin", kM4);
}

// The NPU has the dense layers, the CPU the LSTM with its state.
TEST_F(Executor, RegionsOfAnNpuAndOfTheCpu) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "none is installed";
  firmware({kDenoiser, digits_path()}, kNpu);
  package(kDenoiser, "denoiser.intarsia", kNpu);
  package(digits_path(), "digits.intarsia", kNpu);
  const auto bytes = static_cast<size_t>(input_bytes(kDenoiser));
  write("frames.bin", pattern(3 * bytes));
  compare(kDenoiser, "denoiser.intarsia", "frames.bin", kNpu, 3);
  write_image("image.bin", 5);
  compare(digits_path(), "digits.intarsia", "image.bin", kNpu);
  EXPECT_EQ(read("got/out0.bin"), recorded_scores(5));
}

TEST_F(Executor, RefusesAnNpuOfAnotherConfiguration) {
  firmware({digits_path()}, {"--target", "ethos-u55-128"});
  package(digits_path(), "digits.intarsia", {"--target", "ethos-u55-256"});
  write_image("image.bin", 0);
  const ProcessOutcome outcome = intarsia({"run", "digits.intarsia", "--firmware", "fw", "--input",
                                           "image.bin", "--output-dir", "out"});
  EXPECT_EQ(outcome.exit_code, kUserError);
  EXPECT_THAT(outcome.err, HasSubstr("status 33"));
  EXPECT_THAT(outcome.err, HasSubstr("'ethos-u -macs=256"));
}

TEST_F(Executor, OfOneInterfaceRefusesPackagesOfOthers) {
  firmware({digits_path(), kAnomaly}, {"--same-interface"});
  package(digits_path(), "digits.intarsia", {});
  package(kAnomaly, "anomaly.intarsia", {});
  write_image("image.bin", 3);
  ASSERT_TRUE(done(intarsia({"run", "digits.intarsia", "--firmware", "fw", "--input", "image.bin",
                             "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
  write("anomaly.bin", pattern(static_cast<size_t>(input_bytes(kAnomaly))));
  const ProcessOutcome other = intarsia({"run", "anomaly.intarsia", "--firmware", "fw", "--input",
                                         "anomaly.bin", "--output-dir", "out"});
  EXPECT_EQ(other.exit_code, kUserError);
  EXPECT_THAT(other.err, HasSubstr("status 25"));
}

// A graph of so many inputs, each with an output of its own, and the same kernel for all of them.
std::string wide_graph(size_t inputs) {
  std::string from, to, tensors, nodes;
  for (size_t i = 0; i < inputs; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    from += fmt::format("{}%{}", comma, i);
    to += fmt::format("{}%{}", comma, inputs + i);
    tensors += fmt::format("  %{0} x{0}: i16[1,4] q(0.5:0)\n", i);
    nodes += fmt::format("  relu r{0}(%{0}) -> (%{1})\n", i, inputs + i);
  }
  for (size_t i = 0; i < inputs; ++i)
    tensors += fmt::format("  %{} y{}: i16[1,4] q(0.5:0)\n", inputs + i, i);
  return fmt::format("intarsia.graph wide\nfunc @main({}) -> ({}) {{\n{}{}}}\nentry @main\n", from,
                     to, tensors, nodes);
}

TEST_F(Executor, TakesAsManyInputsAsItsModelsHave) {
  constexpr size_t kMany = 20;
  write("wide.graph", wide_graph(kMany));
  write("narrow.graph", wide_graph(1));
  package(path("wide.graph"), "wide.intarsia", {});
  std::vector<std::string> run = {"run", "wide.intarsia", "--firmware",
                                  "fw",  "--output-dir",  "out"};
  for (size_t i = 0; i < kMany; ++i) {
    const std::string name = fmt::format("in{}.bin", i);
    write(name, std::vector<uint8_t>(8, static_cast<uint8_t>(i)));
    run.insert(run.end(), {"--input", name});
  }
  firmware({path("wide.graph")}, {});
  ASSERT_TRUE(done(intarsia(run)));
  for (size_t i = 0; i < kMany; ++i)
    EXPECT_EQ(read(fmt::format("out/out{}.bin", i)),
              std::vector<uint8_t>(8, static_cast<uint8_t>(i)));
  firmware({path("narrow.graph")}, {});
  EXPECT_TRUE(refused(intarsia(run), {"has 20 inputs and 20 outputs, and fw takes 16 of each"}));
}

TEST_F(Executor, RefusesWhatTheFirmwareHasNotAndSaysWhatToDo) {
  firmware({digits_path()}, {});
  package(kAnomaly, "other.intarsia", {});
  write_image("image.bin", 0);
  const auto run = [&](const std::string& name) {
    return intarsia(
        {"run", name, "--firmware", "fw", "--input", "image.bin", "--output-dir", "out"});
  };
  EXPECT_TRUE(refused(run("other.intarsia"),
                      {"calls kernels that are not in fw", "conv2d", "intarsia firmware"}));
  package(digits_path(), "digits.intarsia", {});
  std::vector<uint8_t> bytes = read("digits.intarsia");
  bytes[package_writer::kVersionAt] = INTARSIA_PACKAGE_VERSION + 1;
  write("newer.intarsia", bytes);
  EXPECT_TRUE(refused(run("newer.intarsia"), {"format version"}));
  bytes = read("digits.intarsia");
  bytes[bytes.size() / 2] ^= 1;
  write("damaged.intarsia", bytes);
  EXPECT_TRUE(refused(run("damaged.intarsia"), {"checksum"}));
  EXPECT_TRUE(refused(run("absent.intarsia"), {"absent.intarsia"}));
  EXPECT_TRUE(refused(intarsia({"run", "digits.intarsia", "--firmware", "digits.intarsia",
                                "--input", "image.bin", "--output-dir", "out"}),
                      {"intarsia firmware"}));
  EXPECT_TRUE(
      refused(intarsia({"run", "digits.intarsia", "--input", "image.bin", "--output-dir", "out"}),
              {"digits.intarsia: is a package that 'intarsia compile' wrote", "--firmware"}));
  EXPECT_TRUE(refused(intarsia({"run", "digits.intarsia", "--firmware", "fw", "--in-flash",
                                "--input", "image.bin", "--output-dir", "out"}),
                      {"--in-flash"}));
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--ram-budget", "300", "--format",
                                "executor", "-o", "tiled.intarsia"}),
                      {"--ram-budget"}));
  const ProcessOutcome tiled = intarsia({"compile", digits_path(), "--ram-budget", "2500",
                                         "--format", "executor", "-o", "tiled.intarsia"});
  EXPECT_TRUE(refused(tiled, {"runs by row tiles, which no package brings", "--ram-budget"}));
  EXPECT_THAT(tiled.err, Not(HasSubstr("line buffers")));  // where is the operators' names
}

// In words of the board, not of its linker, with what to do.
TEST_F(Executor, FirmwareThatDoesNotFitSaysWhatWould) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "none is installed";
  const std::vector<std::string> command = {"firmware", digits_path(), "--board",
                                            "microbit", "-o",          "fw"};
  std::vector<std::string> large = command;
  large.insert(large.end(), {"--package-bytes", "20K"});
  const ProcessOutcome outcome = intarsia(large);
  EXPECT_TRUE(refused(
      outcome, {"firmware: the program does not fit board microbit", "bytes too many in 'ram'",
                "room for a package of 20480 bytes", "--package-bytes"}));
  EXPECT_THAT(outcome.err, Not(HasSubstr("collect2")));
  std::vector<std::string> small = command;
  small.insert(small.end(), {"--package-bytes", "16"});
  EXPECT_TRUE(done(intarsia(small)));
}

TEST_F(Executor, RefusesAPackageThatNeedsMoreMemory) {
  firmware({digits_path()}, {"--ram-budget", "1M"});
  package(digits_path(), "digits.intarsia", {"--no-in-place"});
  firmware({digits_path()}, {"--arena", "ram=64K", "--package-bytes", "1K"});
  write_image("image.bin", 0);
  const ProcessOutcome outcome = intarsia({"run", "digits.intarsia", "--firmware", "fw", "--input",
                                           "image.bin", "--output-dir", "out"});
  EXPECT_EQ(outcome.exit_code, kUserError);
  EXPECT_THAT(outcome.err, HasSubstr("--package-bytes"));
  EXPECT_THAT(outcome.err, HasSubstr("status 22"));
}

// In a process that runs 10,000 damaged packages with the checksum that they have, and 10,000 with one that is right.
class DamagedPackages : public Executor,
                        public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(DamagedPackages, AreRefusedOrStayInTheirMemory) {
  std::vector<std::string> command = {"firmware", digits_path(), "--sources", "sources"};
  command.insert(command.end(), GetParam().begin(), GetParam().end());
  ASSERT_TRUE(done(intarsia(command)));
  package(digits_path(), "digits.intarsia", GetParam());
  write_image("image.bin", 7);
  write("scores.bin", recorded_scores(7));
  std::vector<std::string> objects;
  for (const auto& [name, text] : read_folder("sources")) {
    const bool cpp = name.ends_with(".cpp");
    if ((!cpp && !name.ends_with(".c")) || name == "executor_model.c") continue;
    objects.push_back(fmt::format("{}.o", objects.size()));
    const ProcessOutcome compiled = program(
        {cpp ? "c++" : "cc", cpp ? "-std=c++20" : "-std=c11", "-O1", "-fsanitize=address",
         "-I" + path("sources"), "-c", path("sources/" + name), "-o", path(objects.back())});
    ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  }
  std::vector<std::string> link = {
      "c++",
      "-std=c++20",
      "-O1",
      "-fsanitize=address",
      "-I" + path("sources"),
      std::string(INTARSIA_SOURCE_DIR) + "/tests/e2e/cli/damaged_packages.cpp"};
  for (const std::string& object : objects) link.push_back(path(object));
  link.insert(link.end(), {"-lm", "-o", path("damaged")});
  const ProcessOutcome linked = program(link);
  ASSERT_EQ(linked.exit_code, 0) << linked.err;
  const ProcessOutcome ran = program(
      {path("damaged"), path("digits.intarsia"), path("image.bin"), path("scores.bin"), "10000"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("10000 refused"));
}

INSTANTIATE_TEST_SUITE_P(Targets, DamagedPackages,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--target", "cortex-m4"},
                                         std::vector<std::string>{"--target", "cortex-m55"}));

}  // namespace
}  // namespace intarsia::test
