// Generated C, built and run on this machine and on emulated cores, against recorded outputs of TFLite
// Micro's reference kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "end_to_end.h"
#include "float_values.h"
#include "needs.h"
#include "peer_figures.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

void append(std::vector<uint8_t>& to, const std::vector<uint8_t>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// ---- the digits of examples/, which need nothing from outside ----

class Digits : public testing::TestWithParam<const char*> {
 protected:
  fs::path folder_ = fs::path(INTARSIA_SOURCE_DIR) / "examples" / "digits";

  EndToEndRequest request(const std::string& board, int32_t samples) const {
    EndToEndRequest request;
    request.name = "digits";
    request.bytes = read_bytes(folder_ / "digits.tflite");
    request.board = board;
    std::vector<uint8_t> images = read_bytes(folder_ / "test_images.bin");
    images.resize(static_cast<size_t>(samples) * 64);
    request.inputs = {images};
    request.samples = samples;
    return request;
  }
  std::vector<uint8_t> golden(int32_t samples) const {
    std::vector<uint8_t> golden = read_bytes(folder_ / "golden_outputs.bin");
    golden.resize(static_cast<size_t>(samples) * 10);
    return golden;
  }
};

TEST_P(Digits, OutputsAreTheRecordedOnes) {
  if (!can_run(GetParam())) GTEST_SKIP() << board_needs(GetParam());
  EndToEndRequest asked = request(GetParam(), 12);
  asked.measure = !is_process(asked.board);
  const Result<EndToEnd> ran = run_end_to_end(asked);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->run.outputs[0], golden(12));
  const size_t pool = 0;
  EXPECT_TRUE(ran->model.program().plan.use[pool].proven_optimal);
  if (!ran->measured) return;
  EXPECT_LE(ran->measured->code_bytes, 12544);  // kernels serve every shape, used or not
  EXPECT_LE(ran->measured->stack_bytes, 576);
  EXPECT_GT(ran->run.stack_run, 0);
  EXPECT_LE(ran->run.stack_run, ran->measured->stack_bytes)
      << "the bound holds on the painted stack";
}

INSTANTIATE_TEST_SUITE_P(EveryBoard, Digits,
                         testing::Values("host", "microbit", "mps2-an385", "mps2-an386",
                                         "mps2-an500", "mps2-an505", "mps3-an547",
                                         "stm32vldiscovery", "lm3s6965evb", "netduinoplus2",
                                         "aarch64-linux", "x86_64-linux"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(Digits, AllTestImagesOnTheHost) {
  const Result<EndToEnd> ran = run_end_to_end(request("host", 360));
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->run.outputs[0], golden(360));
  const std::vector<uint8_t> labels = read_bytes(folder_ / "test_labels.bin");
  size_t correct = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto* scores = reinterpret_cast<const int8_t*>(&ran->run.outputs[0][i * 10]);
    if (std::max_element(scores, scores + 10) - scores == labels[i]) ++correct;
  }
  EXPECT_GE(static_cast<double>(correct), 0.97 * static_cast<double>(labels.size()));
}

// ---- recorded models, the repository's and those beside it ----

struct Case {
  std::string model;
  const char* board;
  const char* core = "";  // the board's first
};

// What a model may cost on a core beside TFLite Micro's figures. RAM: what its activations need when each operator
// runs by itself, and scratch.
struct Limits {
  const char *model, *name;  // in the repository of models, in the table of figures
  int64_t activations;
  // Estimated cycles on each core of `kCores` with the board's wait states: TFLite Micro's with CMSIS-NN by the same tables of
  // timings, and the least ratio.
  struct {
    double peer, faster;
  } cycles[3];
};
constexpr std::array<std::string_view, 3> kCores = {"m0", "m4f", "m55"};
constexpr int64_t kScratch = 4 * 1024, kStack = 576;
constexpr double kCodePart = 0.4;
constexpr Limits kLimits[] = {
    {"kws_ref_model", "kws", 16000, {{41.919e6, 1.9}, {8.892e6, 2.05}, {2.330e6, 2.6}}},
    {"vww_96_int8", "vww", 55296, {{125.846e6, 3.3}, {28.200e6, 3.6}, {8.119e6, 4.8}}},
    {"pretrainedResnet_quant",
     "resnet",
     49152,
     {{142.231e6, 2.4}, {35.242e6, 2.0}, {6.131e6, 2.1}}},
    {"ad01_int8", "ad01", 768, {{2.466e6, 1.6}, {0.724e6, 1.7}, {0.232e6, 1.85}}},
};

size_t core_of(std::string_view board) {
  return board == "mps3-an547" ? 2 : board == "mps2-an386" || board == "netduinoplus2" ? 1 : 0;
}

// Nothing where the ratio is as it should be, of a run that may take `slower` times as long.
std::string too_slow(const Limits& limits, const EndToEnd& ran, std::string_view board,
                     double slower = 1) {
  const auto [peer, faster] = limits.cycles[core_of(board)];
  const double cycles = ran.run.cycles.at(0).cycles.nominal, ratio = peer / cycles;
  if (ratio * slower >= faster) return "";
  return fmt::format("{} cycles: {:.2f} times as fast as {}, where {:.2f} is expected", cycles,
                     ratio, peer, faster / slower);
}

void expect_within_limits(const Case& which, const EndToEnd& ran) {
  const auto limits = std::find_if(std::begin(kLimits), std::end(kLimits),
                                   [&](const Limits& l) { return l.model == which.model; });
  if (limits == std::end(kLimits)) return;
  const std::string core(kCores[core_of(which.board)]);
  int64_t ram = 0;
  for (size_t p = 0; p < ran.model.program().plan.use.size(); ++p)
    if (!ran.model.program().plan.memory.pools[p].read_only)
      ram += ran.model.program().plan.use[p].peak;
  EXPECT_LE(ram, limits->activations + kScratch);
  EXPECT_LE(ran.measured->stack_bytes, kStack);
  const std::optional<PeerFigures> peer = peer_figures(limits->name, core);
  ASSERT_TRUE(peer.has_value()) << "no figures of " << limits->name << " on " << core;
  EXPECT_LE(static_cast<double>(ran.measured->code_bytes),
            kCodePart * static_cast<double>(peer->code_bytes));
  EXPECT_EQ(too_slow(*limits, ran, which.board), "");
}

class Recorded : public testing::TestWithParam<Case> {};

TEST_P(Recorded, OutputsAreEqual) {
  const auto [model, board, core] = GetParam();
  if (!can_run(board)) GTEST_SKIP() << board_needs(board);
  const fs::path folder = recorded_folder(model);
  const nlohmann::json meta = nlohmann::json::parse(read_bytes(folder / "meta.json"));
  EndToEndRequest request;
  request.name = model;
  request.bytes = read_bytes(folder / "model.tflite");
  request.board = board;
  request.target = core;
  // The samples of models with state are recorded from a fresh start each.
  const bool has_state = model.starts_with("lstm_") || model == "keyword_scrambled_8bit" ||
                         model == "trained_lstm_int8" || model == "dtln_noise_suppression";
  request.samples = has_state ? 1 : static_cast<int32_t>(meta["samples"].size());
  request.measure = request.count_instructions = !is_process(request.board);
  request.count_cycles = request.measure;
  request.optimise = is_process(request.board) ? "-O2" : "-Os";
  request.inputs.resize(meta["inputs"].size());
  std::vector<std::vector<uint8_t>> expected(meta["outputs"].size());
  for (int32_t sample = 0; sample < request.samples; ++sample) {
    for (size_t t = 0; t < request.inputs.size(); ++t)
      append(request.inputs[t], read_bytes(folder / ("in" + std::to_string(sample) + "_" +
                                                     std::to_string(t) + ".bin")));
    for (size_t t = 0; t < expected.size(); ++t)
      append(expected[t], read_bytes(folder / ("out" + std::to_string(sample) + "_" +
                                               std::to_string(t) + ".bin")));
  }
  const Result<EndToEnd> ran = run_end_to_end(request);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  ASSERT_EQ(ran->run.outputs.size(), expected.size());
  for (size_t t = 0; t < expected.size(); ++t) {
    if (meta["outputs"][t]["dtype"] == "FLOAT32")
      EXPECT_EQ(float_difference(ran->run.outputs[t], expected[t], kOtherLibrary), "");
    else
      EXPECT_EQ(ran->run.outputs[t], expected[t]);
  }
  for (const PoolUse& use : ran->model.program().plan.use) EXPECT_TRUE(use.proven_optimal);
  if (!ran->measured) return;
  RecordProperty("code_bytes", std::to_string(ran->measured->code_bytes));
  EXPECT_LE(ran->measured->code_bytes, 16 * 1024);
  EXPECT_LE(ran->run.stack_run, ran->measured->stack_bytes);
  // The kernels that the limits are for are made for Cortex-M.
  if (!is_riscv(board)) expect_within_limits(GetParam(), *ran);
}

// ---- less RAM than a network needs operator by operator ----

struct TiledCase {
  const char *model, *board;
  int64_t needs, budget, too_little;  // bytes
};

class Tiled : public testing::TestWithParam<TiledCase> {
 protected:
  fs::path folder_ = recorded_folder(GetParam().model);
  EndToEndRequest request(int64_t budget) const {
    EndToEndRequest request;
    request.name = "tiled";
    request.bytes = read_bytes(folder_ / "model.tflite");
    request.board = GetParam().board;
    request.inputs = {read_bytes(folder_ / "in0_0.bin")};
    request.ram_budget = budget;
    request.count_instructions = request.count_cycles = request.board != "host";
    return request;
  }
};

TEST_P(Tiled, OutputsAreTheRecordedOnes) {
  if (!can_run(GetParam().board))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  const Result<EndToEnd> ran = run_end_to_end(request(GetParam().budget));
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->run.outputs[0], read_bytes(folder_ / "out0_0.bin"));
  int64_t peak = 0;
  for (size_t p = 0; p < ran->model.program().plan.use.size(); ++p)
    if (!ran->model.program().plan.memory.pools[p].read_only)
      peak += ran->model.program().plan.use[p].peak;
  EXPECT_LE(peak, GetParam().budget);
  ASSERT_TRUE(ran->model.program().ram_budget.has_value());
  EXPECT_FALSE(ran->model.program().ram_budget->tiled.empty());
  EXPECT_GE(ran->model.program().ram_budget->before, GetParam().needs);
  // At most 1.3 times what the build without a budget may take, where there are figures; on the M55 1.5 times, as constants
  // are not copied to faster memory then.
  const std::string_view board = GetParam().board;
  const auto limits = std::find_if(std::begin(kLimits), std::end(kLimits), [](const Limits& l) {
    return std::string_view(l.model) == GetParam().model;
  });
  if (limits == std::end(kLimits)) return;
  if (board == "mps2-an386" || board == "mps3-an547") {
    EXPECT_EQ(too_slow(*limits, *ran, board, board == "mps2-an386" ? 1.3 : 1.5), "");
  }
}

TEST_P(Tiled, TooLittleIsRefused) {
  const Result<EndToEnd> ran = run_end_to_end(request(GetParam().too_little));
  ASSERT_FALSE(ran.ok());
  const std::string message = ran.error().to_string();
  EXPECT_NE(message.find("RAM budget of " + std::to_string(GetParam().too_little) +
                         " bytes: cannot be met: the least found is "),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("' decides"), std::string::npos) << message;
}

std::vector<TiledCase> tiled_cases() {
  std::vector<TiledCase> cases;
  for (const char* board : {"host", "mps2-an385", "mps2-an386", "mps3-an547"}) {
    cases.push_back({"residual_s8", board, 19200, 8 * 1024, 4 * 1024});
    if (!recorded_folder("vww_96_int8").empty())
      cases.push_back({"vww_96_int8", board, 55296, 32 * 1024, 24 * 1024});
  }
  return cases;
}

std::string name_of(const std::string& model, const std::string& board) {
  std::string name = model + "_on_" + board;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, Tiled, testing::ValuesIn(tiled_cases()), [](const auto& info) {
  return name_of(info.param.model, info.param.board);
});

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* board, const char* core, std::vector<std::string> own,
                       const std::vector<std::string>& beside) {
    for (const std::string& model : with_beside(std::move(own), beside))
      cases.push_back({model, board, core});
  };
  for (const char* board : {"host", "mps2-an386", "mps3-an547", "aarch64-linux", "x86_64-linux"})
    add(board, "",
        {"separable_s8", "separable_s16", "residual_s8", "residual_s16", "autoencoder_s8",
         "autoencoder_s16", "lstm_s8", "lstm_s16"},
        {"ad01_int8", "hello_world_int8", "kws_ref_model", "micro_speech_quantized",
         "pretrainedResnet_quant", "simple_add_model", "vww_96_int8", "keyword_scrambled_8bit",
         "trained_lstm_int8", "dtln_noise_suppression"});
  add("mps2-an385", "cortex-m0", {"separable_s8", "residual_s16"},
      {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"});
  // What they have room for, nothing larger: 59 kB and 248 kB of flash, 119 kB and 1 MB.
  add("lm3s6965evb", "", {"separable_s8"}, {"vww_96_int8", "micro_speech_quantized"});
  add("netduinoplus2", "", {"lstm_s8"}, {"ad01_int8", "pretrainedResnet_quant", "vww_96_int8"});
  add("riscv32-virt", "", {"separable_s8", "residual_s16", "lstm_s8"},
      {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
       "keyword_scrambled_8bit", "trained_lstm_int8", "dtln_noise_suppression"});
  add("riscv32-virt", "rv32imac", {"separable_s16"}, {});
  add("riscv32-virt", "rv32imafc", {}, {"hello_world_float"});
  add("host", "", {}, {"hello_world_float", "pretrainedResnet"});
  for (const char* board : {"aarch64-linux", "x86_64-linux"})
    add(board, "", {}, {"hello_world_float", "pretrainedResnet"});
  add("aarch64-linux", "cortex-a55", {"separable_s8", "separable_s16", "residual_s8"},
      {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"});
  add("mps2-an386", "", {}, {"hello_world_float"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, Recorded, testing::ValuesIn(all_cases()), [](const auto& info) {
  const std::string core = info.param.core;
  return name_of(info.param.model, info.param.board + (core.empty() ? "" : "_" + core));
});

}  // namespace
}  // namespace intarsia::test
