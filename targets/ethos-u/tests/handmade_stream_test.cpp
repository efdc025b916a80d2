// What recorded outputs of Arm's compiler do not have, in a model made here: variables in the arena, no
// constants, a fast arena of no bytes, and operators of the CPU before and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulator.h"
#include "stream_writer.h"
#include "tflite_builder.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

constexpr int32_t kState = 0, kInput = 16, kOutput = 32, kArena = 48;  // bytes of the arena
constexpr int64_t kStateZero = 7;

void set_map(StreamWriter& stream, const std::string& map, int32_t base) {
  for (const char* tile : {"0", "1", "2", "3"})
    stream.address("SET_" + map + "_BASE" + tile, *tile == '0' ? static_cast<uint64_t>(base) : 0);
  stream.address("SET_" + map + "_STRIDE_X", 16).address("SET_" + map + "_STRIDE_Y", 16);
  stream.address("SET_" + map + "_STRIDE_C", 1).set("SET_" + map + "_REGION", 1);
  for (const char* extent : {"HEIGHT0_M1", "HEIGHT1_M1", "WIDTH0_M1"})
    stream.set("SET_" + map + "_" + extent, 0);
}

// state += input; output = state. Sixteen elements of 8 bits.
std::vector<uint8_t> accumulate() {
  StreamWriter stream;
  set_map(stream, "IFM", kState);
  set_map(stream, "IFM2", kInput);
  set_map(stream, "OFM", kState);
  stream.set("SET_IFM_DEPTH_M1", 15).set("SET_OFM_DEPTH_M1", 15);
  stream.set("SET_OFM_HEIGHT_M1", 0).set("SET_OFM_WIDTH_M1", 0);
  stream.set("SET_IFM_PRECISION", 1).set("SET_IFM2_PRECISION", 1).set("SET_OFM_PRECISION", 0x101);
  stream.set("SET_IFM_ZERO_POINT", kStateZero)
      .set("SET_IFM2_ZERO_POINT", 0)
      .set("SET_OFM_ZERO_POINT", kStateZero);
  stream.set("SET_IFM_UPSCALE", 0).set("SET_IFM2_BROADCAST", 0);
  stream.set("SET_ACTIVATION", 0).set("SET_ACTIVATION_MIN", -128).set("SET_ACTIVATION_MAX", 127);
  stream.scale("SET_OFM_SCALE", 1, 0).scale("SET_OPA_SCALE", 1, 0).scale("SET_OPB_SCALE", 1, 0);
  stream.set("SET_OFM_BLK_HEIGHT_M1", 0)
      .set("SET_OFM_BLK_WIDTH_M1", 1)
      .set("SET_OFM_BLK_DEPTH_M1", 15);
  stream.set("SET_IFM_IB_END", 22).set("SET_AB_START", 22).set("SET_IFM2_IB_START", 12);
  stream.set("SET_ACC_FORMAT", 0).set("SET_BLOCKDEP", 0).set("OP_ELEMENTWISE", 1);
  stream.set("SET_DMA0_SRC_REGION", 1).address("SET_DMA0_SRC", kState);
  stream.set("SET_DMA0_DST_REGION", 1).address("SET_DMA0_DST", kOutput).address("SET_DMA0_LEN", 16);
  stream.set("OP_KERNEL_WAIT", 0)
      .set("OP_DMA_START", 0)
      .set("OP_DMA_WAIT", 0)
      .set("OP_STOP", 0xFFFF);
  return payload_of_u55_128(stream);
}

TensorSpec tensor(const std::string& name, float scale, int64_t zero_point) {
  return {name, {1, 16}, kInt8, {scale}, {zero_point}};
}

TensorSpec bytes(const std::string& name, std::vector<int32_t> shape,
                 std::vector<uint8_t> data = {}) {
  return {name, std::move(shape), kUInt8, {}, {}, std::move(data)};
}

// Floats that the CPU quantises, and what the device sums up of them.
ModelSpec model() {
  ModelSpec m;
  m.add({"x", {1, 16}, kFloat32, {}, {}});
  m.add(tensor("q", 0.5f, 0));
  const std::vector<uint8_t> payload = accumulate();
  m.add(bytes("stream", {static_cast<int32_t>(payload.size())}, payload));
  m.add(bytes("flash", {0}));
  m.add(bytes("scratch", {kArena}));
  m.add(bytes("scratch_fast", {0}));
  TensorSpec state = tensor("state", 0.5f, kStateZero);
  state.variable = true;
  m.add(state);
  m.add(tensor("sum", 0.5f, kStateZero));
  m.operators.push_back({kQuantize, {0}, {1}});
  OperatorSpec npu{kCustom, {2, 3, 4, 5, 6, 1}, {7}};
  npu.custom_code = "ethos-u";
  m.operators.push_back(npu);
  m.inputs = {0};
  m.outputs = {7};
  m.arena_addresses = {-1, kInput, -1, -1, 0, 0, kState, kOutput};
  return m;
}

int8_t at(const graph::TensorValue& value, size_t i) {
  return static_cast<int8_t>(value.at(i));
}

TEST(HandmadeStream, KeepsItsVariables) {
  const Result<graph::Module> imported = import_stream(build(model()), "made.tflite");
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, "ethos-u55-128");
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const intarsia_register_bus bus = intarsia_ethos_u_simulator("ethos-u55-128");
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu, &bus), INTARSIA_OK);
  Program program(*compiled, &npu.device);
  std::vector<float> x(16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 2.5f - 20;
  std::vector<graph::TensorValue> first, second;
  ASSERT_EQ(program.run({bytes_of(x)}, first), INTARSIA_OK);
  ASSERT_EQ(program.run({bytes_of(x)}, second), INTARSIA_OK);
  for (size_t i = 0; i < x.size(); ++i) {
    const int step = static_cast<int>(x[i] / 0.5f);
    EXPECT_EQ(at(first.at(0), i), kStateZero + step) << i;
    EXPECT_EQ(at(second.at(0), i), kStateZero + 2 * step) << i;
  }
}

// The NPU fetches commands by sixteen bytes. A stream that begins between them is refused, with its place.
TEST(HandmadeStream, BeginsWhereTheNpuFetches) {
  ModelSpec m = model();
  TensorSpec& stream = m.tensors.at(2);
  stream.data.erase(stream.data.begin() + 16, stream.data.begin() + 20);  // one NOP of three
  stream.shape = {static_cast<int32_t>(stream.data.size())};
  const Result<graph::Module> imported = import_stream(build(m), "made.tflite");
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, "ethos-u55-128");
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(
      compiled.error().to_string(),
      ::testing::HasSubstr("its stream begins at byte 28 of the payload, no multiple of 16"));
}

// The emitted model sets them where the stream reads them.
TEST(HandmadeStream, ResetsItsVariables) {
  const Result<graph::Module> imported = import_stream(build(model()), "made.tflite");
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, "ethos-u55-128");
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const tir::Func& schedule = compiled->program().lowered.entry_func();
  const auto state =
      std::find_if(schedule.buffers.begin(), schedule.buffers.end(),
                   [](const tir::Buffer& buffer) { return buffer.initial.has_value(); });
  ASSERT_NE(state, schedule.buffers.end());
  EXPECT_EQ(*state->initial, kStateZero);
  const Placement* place = compiled->program().plan.find(
      tir::BufferId{static_cast<int32_t>(state - schedule.buffers.begin())});
  const std::vector<StreamRegion>& regions = compiled->program().emitted.streams.at(0).regions;
  ASSERT_NE(place, nullptr);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(place->offset, regions[1].offset + kState);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
