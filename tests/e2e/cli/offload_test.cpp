// compile --format tflite: a model as a .tflite file whose operators an Ethos-U runs. What it computes is what the model computed; how it is laid out is
// looked at by code that shares nothing with the writer.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "offload_testing.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The form that Arm's driver and the interpreters around it ask for.
void expect_streams(const Written& file) {
  const std::vector<int32_t> addresses = file.addresses();
  ASSERT_EQ(addresses.size(), file.graph().tensors()->size());
  for (const format::Operator* op : *file.graph().operators()) {
    if (!file.is_on_npu(*op)) continue;
    EXPECT_EQ(file.code(*op).code(), kCustom);
    EXPECT_EQ(std::vector<uint8_t>(op->custom_options()->begin(), op->custom_options()->end()),
              (std::vector<uint8_t>{1, 4, 1}));
    const auto& inputs = *op->inputs();
    ASSERT_GE(inputs.size(), 5u);
    const std::span<const uint8_t> payload = file.data(inputs.Get(0)),
                                   constants = file.data(inputs.Get(1));
    ASSERT_GE(payload.size(), 32u);
    EXPECT_EQ(std::string(payload.begin(), payload.begin() + 4), "COP1");
    EXPECT_EQ((payload.data() - file.begin()) % 16, 0);
    EXPECT_EQ((constants.data() - file.begin()) % 16, 0);
    for (const size_t arena : {2, 3}) {
      EXPECT_TRUE(file.data(inputs.Get(static_cast<uint32_t>(arena))).empty());
      EXPECT_GE(addresses[static_cast<size_t>(inputs.Get(static_cast<uint32_t>(arena)))], 0);
    }
    // Its tensors are in the arena, where a driver may read them.
    const int32_t arena = inputs.Get(2);
    std::vector<int32_t> operands(inputs.begin() + 4, inputs.end());
    operands.insert(operands.end(), op->outputs()->begin(), op->outputs()->end());
    for (const int32_t id : operands) {
      const int64_t address = addresses[static_cast<size_t>(id)];
      EXPECT_GE(address, 0);
      EXPECT_EQ(address % 16, 0);
      EXPECT_LE(address + file.bytes_of(id), file.bytes_of(arena));
    }
  }
}

// Values that are needed at the same time lie apart. Within an operator of the NPU its stream says when it reads what.
void expect_apart(const Written& file) {
  struct Life {
    int first = -1, last = -1;
  };
  std::map<int32_t, Life> lives;
  const std::vector<int32_t> addresses = file.addresses();
  const auto use = [&](int32_t id, int step) {
    if (id < 0 || addresses[static_cast<size_t>(id)] < 0 || !file.data(id).empty()) return;
    Life& life = lives[id];
    if (life.first < 0) life.first = step;
    life.last = step;
  };
  int step = 0;
  std::set<int> npu_steps;
  for (const int32_t id : *file.graph().inputs()) use(id, 0);
  for (const format::Operator* op : *file.graph().operators()) {
    ++step;
    const bool on_npu = file.is_on_npu(*op);
    if (on_npu) npu_steps.insert(step);
    for (uint32_t i = on_npu ? 4 : 0; i < op->inputs()->size(); ++i)
      use(op->inputs()->Get(i), step);
    for (const int32_t id : *op->outputs()) use(id, step);
  }
  for (const int32_t id : *file.graph().outputs()) use(id, step + 1);
  for (const auto& [a, of_a] : lives) {
    for (const auto& [b, of_b] : lives) {
      if (a >= b) continue;
      const int first = std::max(of_a.first, of_b.first), last = std::min(of_a.last, of_b.last);
      if (first > last || (first == last && npu_steps.contains(first))) continue;
      const int64_t begin_a = addresses[static_cast<size_t>(a)],
                    begin_b = addresses[static_cast<size_t>(b)];
      EXPECT_TRUE(begin_a + file.bytes_of(a) <= begin_b || begin_b + file.bytes_of(b) <= begin_a)
          << file.tensor(a).name()->str() << " at " << begin_a << ", "
          << file.tensor(b).name()->str() << " at " << begin_b;
    }
  }
}

// What streams find and leave is in the arena, and apart from all other values whatever these live for: an interpreter sees no reader of it behind
// the last stream. Returns how many there are.
int expect_kept(const Written& file) {
  const std::vector<int32_t> addresses = file.addresses();
  std::set<int32_t> kept, others;
  const auto& operators = *file.graph().operators();
  for (const format::Operator* op : operators) {
    const bool on_npu = file.is_on_npu(*op);
    for (uint32_t i = on_npu ? 4 : 0; i < op->inputs()->size(); ++i)
      if (const int32_t id = op->inputs()->Get(i); id >= 0 && file.data(id).empty())
        (on_npu && file.tensor(id).is_variable() ? kept : others).insert(id);
    for (const int32_t id : *op->outputs()) others.insert(id);
  }
  EXPECT_TRUE(kept.empty() || file.is_on_npu(*operators.Get(operators.size() - 1)));
  others.insert(kept.begin(), kept.end());
  for (const int32_t a : kept) {
    const int64_t begin = addresses[static_cast<size_t>(a)];
    EXPECT_GE(begin, 0);
    for (const int32_t b : others) {
      const int64_t other = addresses[static_cast<size_t>(b)];
      if (a == b || other < 0) continue;
      EXPECT_TRUE(begin + file.bytes_of(a) <= other || other + file.bytes_of(b) <= begin)
          << file.tensor(a).name()->str() << " at " << begin << ", " << file.tensor(b).name()->str()
          << " at " << other;
    }
  }
  return static_cast<int>(kept.size());
}

// ---- what it computes -----------------------------------------------------------------------------

class OffloadedModel : public Offload, public testing::WithParamInterface<std::string> {};

TEST_P(OffloadedModel, GivesTheRecordedResultsOnEveryConfiguration) {
  const std::filesystem::path folder = recorded_folder(GetParam());
  ASSERT_FALSE(folder.empty());
  for (const char* target :
       {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-128 -memory-mode=sram-only",
        "ethos-u55-256", "ethos-u65-256", "ethos-u65-256 -memory-mode=shared-sram", "ethos-u65-512",
        "ethos-u65-512 -memory-mode=dedicated-sram-512k"}) {
    SCOPED_TRACE(target);
    const ProcessOutcome outcome = offload((folder / "model.tflite").string(), target);
    ASSERT_TRUE(done(outcome));
    const Written file = written();
    EXPECT_GE(file.on_npu(), 1);
    expect_streams(file);
    expect_apart(file);
    std::vector<std::string> inputs;
    for (int i = 0; std::filesystem::exists(folder / ("in1_" + std::to_string(i) + ".bin")); ++i)
      inputs.push_back((folder / ("in1_" + std::to_string(i) + ".bin")).string());
    EXPECT_EQ(results("out.tflite", target, inputs),
              results((folder / "model.tflite").string(), target, inputs));
  }
}

std::vector<std::string> offloaded_models() {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : recorded_models()) {
    const std::string name = folder.filename().string();
    if (is_own(folder) || name == "kws_ref_model" || name == "keyword_scrambled_8bit" ||
        name == "micro_speech_quantized" || name == "trained_lstm_int8")
      names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Recorded, OffloadedModel, testing::ValuesIn(offloaded_models()),
                         [](const auto& tested) { return tested.param; });

// State goes on from one inference to the next, in the arena where the NPU works on it, and where the interpreter keeps it for those that stay.
TEST_F(Offload, StateGoesOn) {
  struct Case {
    const char* name;
    size_t bytes;  // of an inference's input
    int on_npu;
    int kept;            // variable tensors in the arena
    const char* reason;  // empty: nothing stays
  };
  for (const auto& [name, bytes, on_npu, kept, reason] :
       {Case{"svdf_network_s8", 16, 1, 0, "is kept by the host between invocations"},
        Case{"variable_delays_s8", 2, 1, 1, ""},
        Case{"variable_counts", 12, 0, 0, "it begins with other values than the zero point"},
        Case{"circular_buffer_s8", 3, 0, 0, "custom operators stay on the CPU"}}) {
    SCOPED_TRACE(name);
    const std::filesystem::path folder = golden_folder() / "operators" / name;
    for (const char* target :
         {"ethos-u55-32", "ethos-u55-128", "ethos-u55-256 -memory-mode=sram-only", "ethos-u65-256",
          "ethos-u65-512", "ethos-u65-512 -memory-mode=dedicated-sram-512k"}) {
      SCOPED_TRACE(target);
      const ProcessOutcome outcome = offload((folder / "model.tflite").string(), target);
      ASSERT_TRUE(outcome.succeeded()) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr(reason));
      const Written file = written();
      EXPECT_EQ(file.on_npu(), on_npu);
      expect_streams(file);
      expect_apart(file);
      EXPECT_EQ(expect_kept(file), kept);
      const std::string input = (folder / "in0.bin").string();
      const size_t inferences = read_bytes(input).size() / bytes;
      ASSERT_GT(inferences, 1u);
      ASSERT_TRUE(intarsia({"run", "out.tflite", "--target", target, "--input", input,
                            "--output-dir", "results", "--repeat", std::to_string(inferences)})
                      .succeeded());
      EXPECT_EQ(read("results/out0.bin"), read_bytes(folder / "out0.bin"));
    }
  }
}

// Of an LSTM all, its two states among the operands. The reference is the CPU's program, which goes on likewise.
TEST_F(Offload, LstmsGoOnAsOnTheCpu) {
  struct Case {
    const char* name;
    size_t bytes;  // of an inference's input
  };
  constexpr size_t kInferences = 4;
  for (const auto& [name, bytes] : {Case{"lstm_s8", 192}, Case{"lstm_s16", 384}}) {
    SCOPED_TRACE(name);
    const std::string model = (recorded_folder(name) / "model.tflite").string();
    std::vector<uint8_t> sequence;
    for (size_t i = 0; i < kInferences * bytes; ++i)
      sequence.push_back(static_cast<uint8_t>(i * i * 37 + i / 7));
    write("sequence.bin", sequence);
    const auto outputs = [&](const std::string& file, const std::string& target) {
      const ProcessOutcome ran =
          intarsia({"run", file, "--target", target, "--input", path("sequence.bin"),
                    "--output-dir", "results", "--repeat", std::to_string(kInferences)});
      EXPECT_TRUE(ran.succeeded()) << ran.err;
      return read("results/out0.bin");
    };
    const std::vector<uint8_t> expected = outputs(model, "c");
    for (const char* target :
         {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-128 -memory-mode=sram-only",
          "ethos-u55-256", "ethos-u65-256", "ethos-u65-256 -memory-mode=shared-sram",
          "ethos-u65-512", "ethos-u65-512 -memory-mode=dedicated-sram-512k"}) {
      SCOPED_TRACE(target);
      ASSERT_TRUE(done(offload(model, target)));
      const Written file = written();
      EXPECT_EQ(file.graph().operators()->size(), 1u);
      expect_streams(file);
      EXPECT_EQ(expect_kept(file), 2);
      EXPECT_EQ(outputs("out.tflite", target), expected);
    }
  }
}

// ---- what stays on the CPU -------------------------------------------------------------------------

TensorSpec values(const std::string& name, std::vector<int32_t> shape) {
  return {name, std::move(shape), kInt8, {0.5f}, {3}};
}

// relu -> an operator that nobody knows -> relu, and a float at the end.
ModelSpec with_an_unknown_operator() {
  ModelSpec m;
  m.add(values("image", {1, 4, 4, 8}));
  m.add(values("first", {1, 4, 4, 8}));
  m.add({"table", {3}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{7, 8, 9})});
  m.add(values("odd", {1, 4, 4, 8}));
  m.add(values("second", {1, 4, 4, 8}));
  m.add({"real", {1, 4, 4, 8}, kFloat32, {}, {}});
  const auto add = options_of(&format::CreateAddOptions, format::Activation::Relu);
  m.operators = {{kAdd, {0, 0}, {1}, add, 2},
                 {.code = kCustom,
                  .inputs = {1, 2},
                  .outputs = {3},
                  .version = 4,
                  .custom_code = "Mystery",
                  .custom_options = {9, 8, 7}},
                 {kAdd, {3, 1}, {4}, add, 2},
                 {kDequantize, {4}, {5}, {}, 2}};
  m.inputs = {0};
  m.outputs = {5, 1};
  return m;
}

TEST_F(Offload, OperatorsThatStayAreAsTheyWere) {
  write("model.tflite", build(with_an_unknown_operator()));
  const ProcessOutcome outcome = offload("model.tflite", "ethos-u55-128");
  ASSERT_TRUE(done(outcome));
  EXPECT_THAT(outcome.out, HasSubstr("CPU operators = 2 (50.0%)"));
  EXPECT_THAT(outcome.out, HasSubstr("custom operators stay on the CPU"));
  const Written file = written();
  EXPECT_EQ(file.on_npu(), 2);
  expect_streams(file);
  expect_apart(file);
  const auto& operators = *file.graph().operators();
  ASSERT_EQ(operators.size(), 4u);
  const format::Operator& odd = *operators.Get(1);
  EXPECT_EQ(file.code(odd).custom_code()->str(), "Mystery");
  EXPECT_EQ(file.code(odd).version(), 4);
  EXPECT_EQ(std::vector<uint8_t>(odd.custom_options()->begin(), odd.custom_options()->end()),
            (std::vector<uint8_t>{9, 8, 7}));
  EXPECT_EQ(file.tensor(odd.inputs()->Get(1)).name()->str(), "table");
  EXPECT_EQ(file.data(odd.inputs()->Get(1))[4], 8);
  // The two streams have one arena, and what both need is in it.
  EXPECT_EQ(operators.Get(0)->inputs()->Get(2), operators.Get(2)->inputs()->Get(2));
  EXPECT_EQ(file.tensor(file.graph().outputs()->Get(0)).name()->str(), "real");
  EXPECT_EQ(file.tensor(file.graph().outputs()->Get(1)).name()->str(), "first");
  EXPECT_EQ(file.tensor(file.graph().inputs()->Get(0)).quantization()->zero_point()->Get(0), 3);
}

TEST_F(Offload, WhatTheNpuDoesNotTakeStaysWithItsOptions) {
  ModelSpec m;
  m.add({"x", {1, 2, 6}, kFloat32, {}, {}});
  m.add({"shape", {2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{1, 12})});
  m.add({"flat", {1, 12}, kFloat32, {}, {}});
  m.add({"scores", {1, 12}, kFloat32, {}, {}});
  m.operators = {
      {kReshape,
       {0, 1},
       {2},
       [](flatbuffers::FlatBufferBuilder& b) {
         return std::pair(
             format::Options::ReshapeOptions,
             format::CreateReshapeOptions(b, b.CreateVector(std::vector<int32_t>{1, 12})).Union());
       }},
      {kSoftmax, {2}, {3}, options_of(&format::CreateSoftmaxOptions, 0.25f)}};
  m.inputs = {0};
  m.outputs = {3};
  write("model.tflite", build(m));
  for (const char* target : {"ethos-u55-128", "ethos-u65-256"}) {
    ASSERT_TRUE(done(offload("model.tflite", target)));
    const Written file = written();
    EXPECT_EQ(file.on_npu(), 0);
    expect_apart(file);
    ASSERT_EQ(file.graph().operators()->size(), 2u);
    const auto* shape = file.graph().operators()->Get(0)->options_as_ReshapeOptions()->shape();
    EXPECT_EQ(std::vector<int32_t>(shape->begin(), shape->end()), (std::vector<int32_t>{1, 12}));
    EXPECT_EQ(file.graph().operators()->Get(1)->options_as_SoftmaxOptions()->beta(), 0.25f);
    EXPECT_EQ(file.graph().tensors()->size(), 4u);  // no arena without a stream
  }
}

TEST_F(Offload, PinnedOperatorsStay) {
  write("model.tflite", build(chain_model()));
  const ProcessOutcome all = offload("model.tflite", "ethos-u55-128");
  ASSERT_TRUE(done(all));
  const int before = written().on_npu();
  const ProcessOutcome pinned = offload("model.tflite", "ethos-u55-128", {"--pin", "softmax=c"});
  ASSERT_TRUE(done(pinned));
  EXPECT_THAT(pinned.out, HasSubstr("'softmax' (SOFTMAX v2) is on the CPU: pinned to"));
  EXPECT_EQ(before, 1);
  const Written file = written();
  EXPECT_EQ(file.graph().operators()->Get(file.graph().operators()->size() - 1)->options_type(),
            format::Options::SoftmaxOptions);
}

// Functions of one value are one table under the name of the last, and the CPU is cheaper for so few bytes.
TEST_F(Offload, TablesThatTheCpuComputesStayAsTheirOperators) {
  constexpr int32_t kLogistic = 14, kTanh = 28;
  ModelSpec m;
  m.add({"x", {1, 2, 2, 2}, kInt8, {0.05f}, {0}});
  m.add({"gate", {1, 2, 2, 2}, kInt8, {1.0f / 256}, {-128}});
  m.add({"curve", {1, 2, 2, 2}, kInt8, {1.0f / 128}, {0}});
  m.operators = {{kLogistic, {0}, {1}}, {kTanh, {1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  write("model.tflite", build(m));
  const ProcessOutcome compiled = offload("model.tflite", "ethos-u65-256", {"--policy", "cost"});
  ASSERT_TRUE(done(compiled));
  EXPECT_THAT(compiled.out, HasSubstr("'gate' (LOGISTIC v1) is on the CPU: "));
  const Written file = written();
  EXPECT_EQ(file.on_npu(), 0);
  EXPECT_EQ(file.graph().operators()->size(), 2u);
}

// ---- models of other formats -------------------------------------------------------------------------

// As graph text: there is no operator of TensorFlow Lite to keep.
TEST_F(Offload, ModelsOfOtherFormatsAreWrittenWhereNothingStays) {
  const ProcessOutcome text = intarsia({"dump", digits_path(), "--stage", "import"});
  ASSERT_TRUE(text.succeeded()) << text.err;
  write("model.txt", text.out);
  for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
    ASSERT_TRUE(done(offload("model.txt", target)));
    const Written file = written();
    EXPECT_EQ(file.graph().operators()->size(), 1u);
    expect_streams(file);
    write_image("image.bin", 3);
    EXPECT_EQ(results("out.tflite", target, {"image.bin"})[0], recorded_scores(3));
  }
}

TEST_F(Offload, ModelsOfOtherFormatsAreRefusedWhereTheCpuWouldRunSomething) {
  write("model.txt", std::string(R"(intarsia.graph sum
func @main(%0) -> (%1) {
  %0 x: f32[1,4]
  %1 y: f32[1,4]
  add twice(%0, %0) -> (%1)
}
entry @main
)"));
  EXPECT_TRUE(refused(offload("model.txt", "ethos-u55-128"),
                      {"sum: operator 'twice' (add)", "cannot be in a .tflite file"}));
  EXPECT_FALSE(exists("out.tflite"));
  // Of a quantised model with floats outside only the conversions are in the way.
  write("model.txt", std::string(R"(intarsia.graph edges
func @main(%0) -> (%3) {
  %0 x: f32[1,8,8,16]
  %1 q: i8[1,8,8,16] q(0.05:3)
  %2 r: i8[1,8,8,16] q(0.05:3)
  %3 y: f32[1,8,8,16]
  quantize first(%0) -> (%1)
  relu inside(%1) -> (%2)
  dequantize last(%2) -> (%3)
}
entry @main
)"));
  EXPECT_TRUE(refused(offload("model.txt", "ethos-u55-128"),
                      {"edges: operator 'first' (quantize)", "--io int8"}));
  EXPECT_TRUE(done(offload("model.txt", "ethos-u55-128", {"--io", "int8"})));
}

// ---- bad input --------------------------------------------------------------------------------------

TEST_F(Offload, WhatCannotBeKeptIsRefusedByName) {
  const auto refuses = [&](std::vector<std::string> more, const std::vector<std::string>& words) {
    EXPECT_TRUE(refused(offload(digits_path(), "ethos-u55-128", more), words));
    EXPECT_FALSE(exists("out.tflite"));
  };
  refuses({"--board", "mps3-an547"}, {"--board", "--format tflite", "give --target"});
  refuses({"--io", "int8"}, {"--io", "--format tflite"});
  refuses({"--ram-budget", "20K"}, {"--ram-budget"});
  refuses({"--pin", "nobody=c"}, {"--pin nobody", "names no operator"});
  refuses({"--single-file"}, {"--single-file", "leave it out"});
  refuses({"--runtime", "there"}, {"--runtime"});
  EXPECT_TRUE(refused(offload(digits_path(), "c"), {"--format tflite", "an NPU"}));
  EXPECT_TRUE(refused(offload(digits_path(), "c + ethosn"), {"--format tflite", "ethosn"}));
  for (const char* option : {"--summary-csv", "--layers-csv"})
    EXPECT_TRUE(
        refused(intarsia({"compile", digits_path(), "--target", "c", "-o", "out", option, "s.csv"}),
                {option, "--format tflite"}));
  write("not.tflite", std::string("this is no model at all"));
  EXPECT_TRUE(refused(offload("not.tflite", "ethos-u55-128"), {"not.tflite"}));
}

TEST_F(Offload, WhatIsCompiledAlreadyIsRefused) {
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128")));
  write("once.tflite", read("out.tflite"));
  EXPECT_TRUE(refused(offload("once.tflite", "ethos-u55-128"), {"holds a command stream already"}));
  EXPECT_TRUE(refused(
      intarsia({"run", "once.tflite", "--target", "ethos-u55-256", "--output-dir", "results"}),
      {"was compiled for ethos-u55-128"}));
}

// Each byte of the tables in turn is another one: refused, or a file that can be read.
TEST_F(Offload, DamagedFilesAreRefusedOrWritten) {
  const std::vector<uint8_t> good = build(with_an_unknown_operator());
  for (size_t i = 0; i < 60; ++i) {
    std::vector<uint8_t> bad = good;
    const size_t at = 8 + (i * 7919) % (bad.size() - 8);
    bad[at] ^= static_cast<uint8_t>(1u << (i % 8));
    write("bad.tflite", bad);
    const ProcessOutcome outcome = offload("bad.tflite", "ethos-u55-128");
    ASSERT_TRUE(outcome.exit_code == kDone || outcome.exit_code == kUserError)
        << "byte " << at << ": " << outcome.err;
    if (outcome.exit_code == kDone) written();
  }
}

}  // namespace
}  // namespace intarsia::test
