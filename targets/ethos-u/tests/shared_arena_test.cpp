// Several programs of one model in one arena, as newer releases of Arm's compiler write them: values that are no tensors
// of the model, a tensor written by two of them, operators of the CPU from one place of the arena to another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulation.h"
#include "stream_writer.h"
#include "tflite_builder.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

using ::testing::HasSubstr;
namespace sim = simulators::ethos_u;

constexpr char kSharedTag[] = "ethos-u55-128";
// Bytes of the arena.
constexpr int32_t kRectified = 0, kSource = 16, kMiddle = 32, kKept = 48, kResult = 64,
                  kScratch = 96;

struct Copy {
  int32_t from, to;
};

// A driver payload that moves sixteen bytes within region 1 for each copy.
std::vector<uint8_t> copies_payload(const std::vector<Copy>& copies) {
  StreamWriter stream;
  stream.set("SET_DMA0_SRC_REGION", 1).set("SET_DMA0_DST_REGION", 1);
  stream.address("SET_DMA0_LEN", 16);
  for (const Copy& copy : copies)
    stream.address("SET_DMA0_SRC", static_cast<uint64_t>(copy.from))
        .address("SET_DMA0_DST", static_cast<uint64_t>(copy.to))
        .set("OP_DMA_START", 0)
        .set("OP_DMA_WAIT", 0);
  stream.set("OP_STOP", 0xFFFF);
  return payload_of_u55_128(stream);
}

// x -> first -> middle -> relu -> second -> result: x, then relu(x).
struct Programs {
  std::vector<Copy> first = {{kSource, kMiddle}, {kSource, kKept}};
  std::vector<Copy> second = {{kKept, kResult}, {kRectified, kResult + 16}};
  bool both_write_result = false, one_scratch = true;
  int32_t relu_at = kRectified;
};

ModelSpec two_programs(const Programs& programs) {
  ModelSpec m;
  const auto raw = [&](const char* name, int32_t size, std::vector<uint8_t> data = {}) {
    return m.add({name, {size}, kUInt8, {}, {}, std::move(data)});
  };
  const auto program = [&](const char* name, const std::vector<Copy>& copies) {
    const std::vector<uint8_t> bytes = copies_payload(copies);
    return raw(name, static_cast<int32_t>(bytes.size()), bytes);
  };
  m.add({"x", {1, 16}});
  const int32_t first = program("first", programs.first),
                second = program("second", programs.second);
  const int32_t flash = raw("flash", 0), scratch = raw("scratch", kScratch),
                other_scratch = raw("other_scratch", kScratch);
  const int32_t middle = m.add({"middle", {1, 16}}), relu = m.add({"relu", {1, 16}}),
                result = m.add({"result", {1, 32}});
  const auto npu = [&](int32_t stream, int32_t arena, int32_t input, std::vector<int32_t> outputs) {
    OperatorSpec op{kCustom, {stream, flash, arena, arena, input}, std::move(outputs)};
    op.custom_code = "ethos-u";
    m.operators.push_back(op);
  };
  npu(first, scratch, 0,
      programs.both_write_result ? std::vector{middle, result} : std::vector{middle});
  m.operators.push_back({kRelu, {middle}, {relu}});
  npu(second, programs.one_scratch ? scratch : other_scratch, relu, {result});
  m.inputs = {0};
  m.outputs = {result};
  m.arena_addresses = {kSource, -1, -1, -1, 0, 0, kMiddle, programs.relu_at, kResult};
  return m;
}

// What the model makes of -8 to 7, or why it makes nothing.
struct Outcome {
  std::vector<int> values;
  std::string problem;
};

Outcome outcome(const Programs& programs) {
  const Result<graph::Module> imported =
      import_stream(build(two_programs(programs)), "made.tflite");
  if (!imported.ok()) return {{}, imported.error().to_string()};
  const Result<CompiledModel> compiled = compile_for(*imported, kSharedTag);
  if (!compiled.ok()) return {{}, compiled.error().to_string()};
  sim::Recording recording;
  for (const CommandStream& stream : compiled->program().emitted.streams)
    recording.marks += stream.marks;
  Outcome result;
  recording.say = [&](const std::string& line) { result.problem += line + "\n"; };
  sim::Simulation simulation(std::move(recording));
  const auto bus = simulation.add_device(kSharedTag, "", "");
  intarsia_ethos_u npu;
  if (!bus || intarsia_ethos_u_open_bus(&npu, &*bus) != INTARSIA_OK) return {{}, "no device"};
  Program program(*compiled, &npu.device);
  std::vector<int8_t> x(16);
  for (int i = 0; i < 16; ++i) x[static_cast<size_t>(i)] = static_cast<int8_t>(i - 8);
  std::vector<graph::TensorValue> outputs;
  // The second time nothing counts that the first has left behind.
  for (int time = 0; time < 2; ++time)
    if (program.run({test::bytes_of(x)}, outputs) != INTARSIA_OK) return result;
  for (const uint8_t byte : outputs.at(0)) result.values.push_back(static_cast<int8_t>(byte));
  return result;
}

const std::vector<int> kBoth = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7,
                                0,  0,  0,  0,  0,  0,  0,  0,  0, 1, 2, 3, 4, 5, 6, 7};

TEST(SharedArena, KeepsWhatIsNoTensor) {
  const Outcome found = outcome({});
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.values, kBoth);
}

TEST(SharedArena, HasATensorThatTwoProgramsWrite) {
  Programs programs;
  programs.first = {{kSource, kMiddle}, {kSource, kResult}};
  programs.second = {{kRectified, kResult + 16}};
  programs.both_write_result = true;
  const Outcome found = outcome(programs);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.values, kBoth);
  programs.one_scratch = false;
  EXPECT_THAT(outcome(programs).problem, HasSubstr("'result', which operator 0"));
}

TEST(SharedArena, DoesNotHaveWhatNobodyWrote) {
  Programs programs;
  programs.first = {{kSource, kMiddle}};
  EXPECT_THAT(outcome(programs).problem,
              HasSubstr("uninitialised-read: the source's bytes include byte 0x30 of region 1"));
}

TEST(SharedArena, IsNotSharedByScratchOfTheirOwn) {
  Programs programs;
  programs.one_scratch = false;
  EXPECT_THAT(outcome(programs).problem, HasSubstr("uninitialised-read"));
}

// The CPU writes over nothing that is still read.
TEST(SharedArena, IsNotOverwrittenByTheCpu) {
  Programs programs;
  programs.relu_at = kMiddle;
  EXPECT_THAT(outcome(programs).problem,
              HasSubstr("'relu' to bytes 32 to 48 of the arena, where tensor 6 'middle' is, which "
                        "operator 1"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
