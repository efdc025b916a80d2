// Vela's files as models: where their memory is, and what is refused, with the reason.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end.h"
#include "recorded_data.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

using ::testing::HasSubstr;

// Of models with one input and no state; vela_models_test.cpp says what they compute.
TEST(CompiledStream, TheArenaIsVelas) {
  int files = 0;
  for (const VelaFile& file :
       read_vela_files({"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                        "autoencoder_s8", "kws_ref_model", "ad01_int8"})) {
    const VelaOperator& op = file.operators.at(0);
    if (!op.cache_is_arena) continue;
    SCOPED_TRACE(file.path);
    const Result<graph::Module> imported = import_stream(read_bytes(file.path), "vela.tflite");
    ASSERT_TRUE(imported.ok()) << imported.error().to_string();
    const Result<CompiledModel> compiled = compile_for(*imported, file.tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    // Inputs and outputs are inside of it.
    EXPECT_EQ(compiled->program().plan.use.at(0).peak, static_cast<int64_t>(op.arena_bytes));
    EXPECT_EQ(compiled->program().plan.find(tir::BufferId{0})->offset,
              static_cast<int64_t>(op.inputs.at(0).offset));
    EXPECT_EQ(compiled->program().emitted.streams.at(0).regions.size(), 2u);
    ++files;
  }
  EXPECT_GE(files, 12);
}

// A file for ethos-u55-128 whose stream begins with a transfer of constants, and where its last convolution is: it has
// its weights in the constants, up to their end.
struct KnownFile {
  std::filesystem::path path;
  std::string transfer;             // where that of constants begins with one bit more
  uint32_t weights = 0, bytes = 0;  // of the constants; their end is that of the weights
  std::string convolution;          // in the stream
};

class RefusedStream : public ::testing::TestWithParam<KnownFile> {
 protected:
  // The reason why the device does not take the file's operator, after `change` to its payload.
  template <typename Change>
  std::string refusal(const std::string& target, const Change& change) {
    const Result<CompiledModel> compiled = compiled_after(target, change);
    return compiled.ok() ? "taken" : compiled.error().to_string();
  }

  template <typename Change>
  Result<CompiledModel> compiled_after(const std::string& target, const Change& change) {
    Result<graph::Module> imported = import_stream(read_bytes(GetParam().path), "vela.tflite");
    if (!imported.ok()) return imported.error();
    graph::Module module = *imported;
    for (const graph::Node& node : module.functions[0].nodes)
      if (node.kind == graph::OpKind::Compiled) {
        const auto bytes_of = [&](size_t operand) -> SharedBytes& {
          const graph::Tensor& tensor = module.functions[0].tensor(node.inputs[operand]);
          return module.constants.at(tensor.constant.at()).bytes;
        };
        std::vector<uint8_t> payload = bytes_of(0), constants = bytes_of(1);
        change(payload, constants);
        graph::Tensor& of_payload = module.functions[0].tensors.at(node.inputs[0].at());
        of_payload.shape = {static_cast<int64_t>(payload.size())};
        bytes_of(0) = std::move(payload);
        bytes_of(1) = std::move(constants);
      }
    return compile_for(module, target);
  }
};

// The stream of a recorded payload in the driver's second form, as `vela --cop-format COP2` writes it.
std::vector<uint8_t> cop2_payload(const std::vector<uint8_t>& cop1, uint32_t features) {
  constexpr size_t kConfig = 8, kArchitecture = 12, kStream = 32;
  constexpr uint32_t kHead = 64, kUncounted = 24;
  const auto word_at = [&](size_t at) {
    return cop1[at] | cop1[at + 1] << 8 | cop1[at + 2] << 16 |
           static_cast<uint32_t>(cop1[at + 3]) << 24;
  };
  const auto bytes = static_cast<uint32_t>(cop1.size() - kStream);
  const uint32_t head[] = {0x32504F43,
                           1,
                           bytes + 48,
                           0,
                           1,
                           bytes + kHead - kUncounted,
                           36,
                           0x4D554556,
                           1,
                           20,
                           word_at(kConfig),
                           word_at(kArchitecture) | 0x6001,
                           features,
                           0x22C0,
                           0,
                           0xFFFFFFFF};
  std::vector<uint8_t> payload;
  for (const uint32_t word : head)
    for (int i = 0; i < 4; ++i) payload.push_back(static_cast<uint8_t>(word >> (8 * i)));
  payload.insert(payload.end(), cop1.begin() + kStream, cop1.end());
  return payload;
}

// The driver gets what it gets of the first form.
TEST_P(RefusedStream, TheSecondFormOfAPayloadIsTaken) {
  using Bytes = std::vector<uint8_t>;
  const auto compiled_as = [&](const auto& change) {
    return compiled_after("ethos-u55-128", [&](Bytes& payload, Bytes&) {
      payload = cop2_payload(payload, 1);
      change(payload);
    });
  };
  const auto refusal_as = [&](const auto& change) {
    const Result<CompiledModel> compiled = compiled_as(change);
    return compiled.ok() ? "taken" : compiled.error().to_string();
  };
  const Result<CompiledModel> first = compiled_after("ethos-u55-128", [](Bytes&, Bytes&) {}),
                              second = compiled_as([](Bytes&) {});
  ASSERT_TRUE(first.ok() && second.ok()) << second.error().to_string();
  EXPECT_EQ(second->program().emitted.streams.at(0).commands,
            first->program().emitted.streams.at(0).commands);
  EXPECT_EQ(second->program().emitted.streams.at(0).marks,
            first->program().emitted.streams.at(0).marks);
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[48] = 2; }),
              HasSubstr("its stream has inputs and outputs in regions of their own"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[43] = 0x20; }),
              HasSubstr("it was compiled for ethos-u85-128"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[40] = 9; }),
              HasSubstr("the device is ethos-u55-128"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[32] = 7; }),
              HasSubstr("of a version of COP2 that is not known"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[16] = 3; }),
              HasSubstr("begins with an entry of type 3"));
  for (const size_t length : {8, 20})
    EXPECT_THAT(refusal_as([&](Bytes& payload) { payload[length + 2] = 1; }),
                HasSubstr("its payload is cut short: it announces"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload.resize(40); }),
              HasSubstr("its payload is cut short: it ends before it says"));
  EXPECT_THAT(refusal_as([](Bytes& payload) { payload[24] = 0xFF, payload[25] = 0xFF; }),
              HasSubstr("has no command stream"));
}

TEST_P(RefusedStream, IsRefusedWithTheReason) {
  using Bytes = std::vector<uint8_t>;
  const auto same = [](Bytes&, Bytes&) {};
  EXPECT_EQ(refusal("ethos-u55-128", same), "taken");
  EXPECT_THAT(refusal("ethos-u55-256", same),
              HasSubstr("it was compiled for ethos-u55-128, the device is ethos-u55-256"));
  EXPECT_THAT(refusal("c", same), HasSubstr("was compiled for ethos-u, and only that can run it"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[15] = 0x20; }),
              HasSubstr("it was compiled for architecture 2.0.6"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[11] = 0x20; }),
              HasSubstr("it was compiled for ethos-u85-128, the device is ethos-u55-128"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[28 + 3] = 0x7F; }),
              HasSubstr("its payload is cut short"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[0] = 0; }),
              HasSubstr("does not begin with the driver's magic number"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[32 + 2] = 5; }),
              HasSubstr("names region 5, for which there is no memory"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[32 + 4 + 6] = 1; }),
              HasSubstr("OP_DMA_START at byte 0x20 of its stream has its source in " +
                        GetParam().transfer));
  const uint32_t weights = GetParam().weights, end = weights + GetParam().bytes;
  const auto far_weights = [&](Bytes& payload, Bytes&) {
    const Bytes base = {
        0x20, 0x40, 0, 0, static_cast<uint8_t>(weights), static_cast<uint8_t>(weights >> 8), 0, 0};
    const auto at = std::search(payload.begin(), payload.end(), base.begin(), base.end());
    ASSERT_NE(at, payload.end());
    at[7] = 9;
  };
  EXPECT_THAT(
      refusal("ethos-u55-128", far_weights),
      HasSubstr(fmt::format("OP_CONV at byte {} of its stream has its weights in "
                            "{:#x}..{:#x} of region 0, which has {:#x} bytes",
                            GetParam().convolution, 0x9000000 + weights, 0x9000000 + end, end)));
}

std::vector<KnownFile> known_files() {
  constexpr char kName[] = "ethos-u55-128-Shared_Sram-Performance";
  std::vector<KnownFile> files = {
      {vela_stream(golden_folder(), std::string("separable_s8/") + kName), "0x112f0", 0x3ff0, 0x2f0,
       "0x9d4"}};
  const auto kws = vela_stream(shared_folder(), std::string("kws_ref_model/") + kName);
  if (std::filesystem::exists(kws)) files.push_back({kws, "0x11ba0", 0x8c50, 0x390, "0x65c"});
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, RefusedStream, ::testing::ValuesIn(known_files()),
                         [](const auto& info) { return stream_test_name(info.param.path); });

}  // namespace
}  // namespace intarsia::test::ethos_u
