// Streams that cannot run, and models that an NPU can do nothing for: what the user sees.
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>

#include "cli.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

// A file for ethos-u55-128 whose last convolution has its weights in the constants, up to their end.
struct KnownFile {
  fs::path path;
  std::vector<uint8_t> weights;  // their offset, 16 bits
  std::string refused;           // when it is 0x9000000 more
};

class NpuStream : public Cli {};

class KnownStream : public NpuStream, public testing::WithParamInterface<KnownFile> {
 protected:
  // The recorded file with bytes changed from the beginning of the driver's payload on.
  void write_damaged(
      const std::function<void(std::vector<uint8_t>::iterator payload)>& damage) const {
    std::vector<uint8_t> bytes = read_bytes(GetParam().path);
    const std::string magic = "COP1";
    const auto payload = std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end());
    ASSERT_NE(payload, bytes.end());
    damage(payload);
    write("vela.tflite", bytes);
  }
  void expect_refused(const std::string& target, const std::vector<std::string>& words) const {
    EXPECT_TRUE(
        refused(intarsia({"compile", "vela.tflite", "--target", target, "-o", "out"}), words));
    EXPECT_FALSE(exists("out"));
  }
};

TEST_P(KnownStream, IsRefusedWithTheReason) {
  using Place = std::vector<uint8_t>::iterator;
  write_damaged([](Place) {});
  expect_refused("ethos-u55-256",
                 {"it was compiled for ethos-u55-128, the device is ethos-u55-256"});
  write_damaged([](Place payload) { payload[15] = 0x20; });
  expect_refused("ethos-u55-128", {"it was compiled for architecture 2.0.6"});
  write_damaged([](Place payload) { payload[11] = 0x20; });
  expect_refused("ethos-u55-128",
                 {"it was compiled for ethos-u85-128, the device is ethos-u55-128"});
  write_damaged([](Place payload) { payload[28 + 3] = 0x7F; });
  expect_refused("ethos-u55-128", {"its payload is cut short"});
  write_damaged([](Place payload) { payload[32 + 2] = 5; });
  expect_refused("ethos-u55-128", {"names region 5, for which there is no memory"});
  write_damaged([&](Place payload) {
    std::vector<uint8_t> base = {0x20, 0x40, 0, 0};
    base.insert(base.end(), GetParam().weights.begin(), GetParam().weights.end());
    const auto at = std::search(payload, payload + 4096, base.begin(), base.end());
    ASSERT_NE(at, payload + 4096);
    at[7] = 9;
  });
  expect_refused("ethos-u55-128", {GetParam().refused});
}

std::vector<KnownFile> known_files() {
  constexpr char kName[] = "ethos-u55-128-Shared_Sram-Performance";
  std::vector<KnownFile> files = {
      {vela_stream(golden_folder(), std::string("separable_s8/") + kName),
       {0xF0, 0x3F, 0, 0},
       "OP_CONV at byte 0x9d4 of its stream has its weights in 0x9003ff0..0x90042e0 of region 0, "
       "which has 0x42e0 bytes"}};
  const fs::path kws = vela_stream(shared_folder(), std::string("kws_ref_model/") + kName);
  if (fs::exists(kws))
    files.push_back({kws,
                     {0x50, 0x8C, 0, 0},
                     "OP_CONV at byte 0x65c of its stream has its weights in 0x9008c50..0x9008fe0 "
                     "of region 0, which has 0x8fe0 bytes"});
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, KnownStream, testing::ValuesIn(known_files()),
                         [](const auto& info) { return stream_test_name(info.param.path); });

// It runs on the host, and a note says so.
TEST_F(NpuStream, AModelThatTheNpuCannotTakeRunsOnTheHost) {
  write("floats.graph",
        "intarsia.graph floats\nfunc @main(%0) -> (%1) {\n  %0 x: f32[1,4]\n  %1 y: f32[1,4]\n"
        "  relu cut(%0) -> (%1) {activation=relu}\n}\nentry @main\n");
  write("x.bin", std::vector<uint8_t>{0, 0, 0x80, 0x3F, 0, 0, 0x80, 0xBF, 0, 0, 0, 0, 0, 0, 0x20,
                                      0x41});  // 1, -1, 0, 10
  const ProcessOutcome outcome = intarsia({"run", "floats.graph", "--target", "ethos-u55-128",
                                           "--input", "x.bin", "--output-dir", "out"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("note: ethos-u runs nothing of floats; 'intarsia explain' says why"));
  EXPECT_EQ(read("out/out0.bin"),
            (std::vector<uint8_t>{0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x41}));
  const ProcessOutcome explained =
      intarsia({"explain", "floats.graph", "--target", "ethos-u55-128"});
  EXPECT_THAT(explained.out,
              HasSubstr("not ethos-u: the input is f32, the NPU takes i8 and i16 here"));
}

// What Vela made for an Ethos-U85 runs here, and nowhere else; networks are not compiled for it.
TEST_F(NpuStream, OfAnEthosU85IsSimulated) {
  const RecordedSample sample = recorded_samples(recorded_folder("separable_s8")).at(0);
  write("vela.tflite",
        read_bytes(golden_folder() / "npu-streams/ethos-u85/separable_s8/"
                                     "ethos-u85-256-Shared_Sram-Performance.tflite"));
  write("x.bin", sample.inputs.at(0));
  const std::vector<std::string> run = {"run",     "vela.tflite", "--target",     "ethos-u85-256",
                                        "--input", "x.bin",       "--output-dir", "out"};
  const ProcessOutcome outcome = intarsia(run);
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(read("out/out0.bin"), sample.outputs.at(0));
  EXPECT_TRUE(refused(intarsia({"run", "vela.tflite", "--target", "ethos-u85-512", "--input",
                                "x.bin", "--output-dir", "out"}),
                      {"it was compiled for ethos-u85-256, the device is ethos-u85-512"}));
  for (const char* format : {"plain", "zephyr"})
    EXPECT_TRUE(refused(intarsia({"compile", "vela.tflite", "--target", "ethos-u85-256", "--format",
                                  format, "-o", "package"}),
                        {"there is no driver for it", "'intarsia run' executes the model here"}))
        << format;

  write("model.tflite", read_bytes(recorded_folder("separable_s8") / "model.tflite"));
  const ProcessOutcome network = intarsia({"run", "model.tflite", "--target", "ethos-u85-256",
                                           "--input", "x.bin", "--output-dir", "host"});
  EXPECT_EQ(network.exit_code, kDone) << network.err;
  EXPECT_THAT(network.err, HasSubstr("note: ethos-u85 runs nothing of model: networks are not "
                                     "compiled for an Ethos-U85"));
  EXPECT_EQ(read("host/out0.bin"), sample.outputs.at(0));
}

}  // namespace
}  // namespace intarsia::test
