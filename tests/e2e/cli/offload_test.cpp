// compile --format tflite: a model as a .tflite file whose operators an Ethos-U runs. What it computes is what the model computed; how it is laid out is
// looked at by code that shares nothing with the writer.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "cli.h"
#include "needs.h"
#include "recorded_data.h"
#include "support/process.h"
#include "tflite_builder.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A written file, as its readers see it.
class Written {
 public:
  explicit Written(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
    EXPECT_TRUE(format::VerifyModelBuffer(verifier));
  }
  const format::Model& model() const { return *format::GetModel(bytes_.data()); }
  const format::Subgraph& graph() const { return *model().subgraphs()->Get(0); }
  const format::Tensor& tensor(int32_t id) const {
    return *graph().tensors()->Get(static_cast<uint32_t>(id));
  }
  const format::OperatorCode& code(const format::Operator& op) const {
    return *model().operator_codes()->Get(op.opcode_index());
  }
  bool is_on_npu(const format::Operator& op) const {
    const auto* name = code(op).custom_code();
    return name != nullptr && name->str() == "ethos-u";
  }
  int on_npu() const {
    int count = 0;
    for (const format::Operator* op : *graph().operators()) count += is_on_npu(*op);
    return count;
  }
  std::span<const uint8_t> data(int32_t id) const {
    const auto* data = model().buffers()->Get(tensor(id).buffer())->data();
    return data == nullptr ? std::span<const uint8_t>() : std::span(data->data(), data->size());
  }
  std::vector<int32_t> addresses() const {
    for (const format::Metadata* entry : *model().metadata()) {
      if (entry->name()->str() != "OfflineMemoryAllocation") continue;
      const auto* data = model().buffers()->Get(entry->buffer())->data();
      std::vector<int32_t> words(data->size() / 4);
      std::memcpy(words.data(), data->data(), data->size());
      EXPECT_EQ(words.at(0), 0);
      EXPECT_EQ(words.at(2), static_cast<int32_t>(graph().tensors()->size()));
      return {words.begin() + 3, words.end()};
    }
    ADD_FAILURE() << "the file says nowhere where its tensors are";
    return {};
  }
  int64_t bytes_of(int32_t id) const {
    static const std::map<int, int> kSizes = {{0, 4}, {2, 4}, {3, 1}, {4, 8},
                                              {6, 1}, {7, 2}, {9, 1}};
    int64_t bytes = kSizes.at(tensor(id).type());
    for (const int32_t extent : *tensor(id).shape()) bytes *= extent;
    return bytes;
  }
  size_t size() const { return bytes_.size(); }
  const uint8_t* begin() const { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
};

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

class Offload : public Cli {
 protected:
  ProcessOutcome offload(const std::string& model, const std::string& target,
                         std::vector<std::string> more = {}) const {
    std::vector<std::string> command = {"compile",  model,    "--target", target,
                                        "--format", "tflite", "-o",       "out.tflite"};
    command.insert(command.end(), more.begin(), more.end());
    return intarsia(command);
  }
  Written written(const std::string& name = "out.tflite") const { return Written(read(name)); }

  std::vector<std::vector<uint8_t>> results(const std::string& model, const std::string& target,
                                            const std::vector<std::string>& inputs) const {
    std::vector<std::string> command = {"run",          model,     "--target", target,
                                        "--output-dir", "results", "--repeat", "2"};
    for (const std::string& input : inputs) {
      command.emplace_back("--input");
      command.push_back(input);
    }
    const ProcessOutcome outcome = intarsia(command);
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    std::vector<std::vector<uint8_t>> outputs;
    for (int i = 0; exists("results/out" + std::to_string(i) + ".bin"); ++i) {
      outputs.push_back(read("results/out" + std::to_string(i) + ".bin"));
      std::filesystem::remove(path("results/out" + std::to_string(i) + ".bin"));
    }
    EXPECT_FALSE(outputs.empty());
    return outputs;
  }
};

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

// State goes on from one inference to the next where the interpreter keeps it: those operators stay, and the others need not.
TEST_F(Offload, StateGoesOn) {
  struct Case {
    const char* name;
    size_t bytes;  // of an inference's input
    int on_npu;
  };
  for (const auto& [name, bytes, on_npu] :
       {Case{"svdf_network_s8", 16, 1}, Case{"variable_delays_s8", 2, 1},
        Case{"variable_counts", 12, 0}}) {
    SCOPED_TRACE(name);
    const std::filesystem::path folder = golden_folder() / "operators" / name;
    for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
      const ProcessOutcome outcome = offload((folder / "model.tflite").string(), target);
      ASSERT_TRUE(outcome.succeeded()) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("is on the CPU: what keeps state stays on the CPU"));
      EXPECT_EQ(written().on_npu(), on_npu);
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

// Of the first virtual environment in INTARSIA_PEERS that has the package; empty: none has.
std::string python_with(const std::string& package) {
  const char* folders = std::getenv("INTARSIA_PEERS");
  std::istringstream list(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    std::string python = folder + "/bin/python";
    const Result<ProcessOutcome> ran = run_process({python, "-c", "import " + package});
    if (ran.ok() && ran->succeeded()) return python;
  }
  return "";
}

TEST_F(Offload, WhatIsOnTheCpuRunsInTfliteMicro) {
  const std::string python = python_with("tflite_micro");
  if (python.empty())
    GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has tflite-micro";
  ModelSpec m = softmax_model();
  m.tensors[0].type = m.tensors.back().type = kFloat32;
  for (TensorSpec& tensor : m.tensors) tensor.scale = {}, tensor.zero_point = {};
  write("model.tflite", build(m));
  ASSERT_TRUE(done(offload("model.tflite", "ethos-u55-128")));
  write("run.py", std::string(R"(
import sys
import numpy
from tflite_micro import runtime
results = []
for name in ("model.tflite", "out.tflite"):
    interpreter = runtime.Interpreter.from_file(name, arena_size=100000)
    interpreter.set_input(numpy.arange(10, dtype=numpy.float32).reshape(1, 10), 0)
    interpreter.invoke()
    results.append(interpreter.get_output(0).tobytes())
sys.exit(0 if results[0] == results[1] else 1)
)"));
  const ProcessOutcome ran = program({python, "run.py"});
  EXPECT_TRUE(ran.succeeded()) << ran.err;
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
}

// ---- summaries --------------------------------------------------------------------------------------

TEST_F(Offload, TheSummaryHasVelasColumns) {
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128", {"--summary-csv", "summary.csv"})));
  const std::vector<uint8_t> bytes = read("summary.csv");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::string header, row;
  ASSERT_TRUE(std::getline(lines, header) && std::getline(lines, row));
  EXPECT_THAT(header,
              testing::StartsWith("experiment,network,accelerator_configuration,"
                                  "system_config,memory_mode,core_clock,arena_cache_size,"));
  EXPECT_THAT(header, HasSubstr(",sram_memory_used,dram_memory_used,on_chip_flash_memory_used,"
                                "off_chip_flash_memory_used,"));
  EXPECT_THAT(header, testing::EndsWith(",nn_macs,nn_tops,cycles_npu,cycles_sram_access,"
                                        "cycles_dram_access,cycles_on_chip_flash_access,"
                                        "cycles_off_chip_flash_access,cycles_total"));
  EXPECT_EQ(std::ranges::count(header, ','), 51);
  EXPECT_EQ(std::ranges::count(row, ','), 51);
  EXPECT_THAT(row, testing::StartsWith("default,digits,Ethos_U55_128,Ethos_U55_High_End_Embedded,"
                                       "Shared_Sram,500000000,"));
  EXPECT_THAT(row, HasSubstr(",Off-chip Flash,SRAM,"));
}

// A table of one file: rows of cells by column.
using Table = std::vector<std::map<std::string, std::string>>;

Table table_of(const std::vector<uint8_t>& bytes) {
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  const auto cells = [&]() -> std::vector<std::string> {
    std::string line, cell;
    std::vector<std::string> result;
    if (!std::getline(lines, line)) return result;
    for (std::istringstream row(line); std::getline(row, cell, ',');) result.push_back(cell);
    return result;
  };
  const std::vector<std::string> header = cells();
  Table table;
  for (std::vector<std::string> row = cells(); !row.empty(); row = cells()) {
    EXPECT_EQ(row.size(), header.size());
    auto& named = table.emplace_back();
    for (size_t i = 0; i < std::min(row.size(), header.size()); ++i) named[header[i]] = row[i];
  }
  return table;
}

// Every byte of an operand goes over a way once at least, and the rows of the layers are those that the sums are of.
TEST_F(Offload, TrafficAndCyclesAddUp) {
  for (const char* target :
       {"ethos-u55-32", "ethos-u55-128", "ethos-u55-256 -memory-mode=sram-only", "ethos-u65-256",
        "ethos-u65-512 -memory-mode=dedicated-sram-512k",
        "ethos-u55-128 -system=400:8/32/32/32:0.5/128/64/64"}) {
    SCOPED_TRACE(target);
    const ProcessOutcome outcome = offload(
        digits_path(), target, {"--summary-csv", "summary.csv", "--layers-csv", "layers.csv"});
    ASSERT_TRUE(done(outcome));
    auto figures = table_of(read("summary.csv")).at(0);
    const auto number = [&](const std::string& column) { return std::stod(figures.at(column)); };
    double slowest = number("cycles_npu"), moved = 0;
    for (const char* memory : {"sram", "dram", "on_chip_flash", "off_chip_flash"}) {
      const std::string name = memory;
      const double bytes = number(name + "_total_bytes");
      EXPECT_NEAR(bytes,
                  number(name + "_feature_map_read_bytes") +
                      number(name + "_feature_map_write_bytes") +
                      number(name + "_weight_read_bytes") + number(name + "_weight_write_bytes"),
                  4);
      EXPECT_EQ(bytes > 0, number("cycles_" + name + "_access") > 0);
      // No way is faster than its memory.
      EXPECT_LE(bytes, number(name + "_bandwidth") * (1 << 30) *
                               number("cycles_" + name + "_access") / number("core_clock") * 1.01 +
                           64);
      moved += bytes;
      slowest = std::max(slowest, number("cycles_" + name + "_access"));
    }
    EXPECT_GE(moved, number("total_npu_encoded_weights"));
    // Nothing is over before the busiest part is, and it takes no longer than all of them one after the other.
    EXPECT_GE(number("cycles_total"), 0.7 * slowest);
    EXPECT_LE(number("cycles_total"), 3 * slowest);
    EXPECT_NEAR(number("inference_time"), number("cycles_total") / number("core_clock"), 1e-6);

    const Table layers = table_of(read("layers.csv"));
    ASSERT_GT(layers.size(), 5u);
    EXPECT_EQ(std::ssize(layers), std::stol(figures.at("passes_after_fusing")));
    const auto sum = [&](const std::string& column) {
      double all = 0;
      for (const auto& row : layers) all += std::stod(row.at(column));
      return all;
    };
    const auto rows = static_cast<double>(layers.size());
    EXPECT_NEAR(sum("NPU"), number("cycles_npu"), rows);
    EXPECT_NEAR(sum("SRAM AC"), number("cycles_sram_access"), rows);
    EXPECT_NEAR(sum("DRAM AC"), number("cycles_dram_access"), rows);
    EXPECT_NEAR(sum("OnFlash AC"), number("cycles_on_chip_flash_access"), rows);
    EXPECT_NEAR(sum("OffFlash AC"), number("cycles_off_chip_flash_access"), rows);
    EXPECT_NEAR(sum("Network% (cycles)"), 100, 0.01);
    for (const auto& row : layers) {
      EXPECT_LE(std::stod(row.at("Util% (MAC)")), 100) << row.at("Name");
      EXPECT_LE(std::stod(row.at("Staging Usage")), 1024 * number("sram_memory_used"))
          << row.at("Name");
      EXPECT_FALSE(row.at("Original Operator").empty());
    }
  }
}

TEST_F(Offload, TheRowOfFiguresIsAFormatOfItsOwn) {
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128", {"--summary-csv", "summary.csv"})));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--target", "ethos-u55-128", "--format",
                             "csv", "-o", "only.csv"})));
  EXPECT_EQ(read("only.csv"), read("summary.csv"));
}

// What a script that reads Vela's tables by their columns needs: the same columns, and numbers where there are numbers.
TEST_F(Offload, ScriptsThatReadVelasTablesReadOurs) {
  const std::string python = python_with("ethosu.vela");
  if (python.empty()) GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has Vela";
  write("digits.tflite", digits_bytes());
  const ProcessOutcome vela = program(
      {std::filesystem::path(python).replace_filename("vela").string(), "digits.tflite",
       "--accelerator-config", "ethos-u55-128", "--output-dir", "vela", "--verbose-performance"});
  ASSERT_TRUE(vela.succeeded()) << vela.err;
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128",
                           {"--summary-csv", "summary.csv", "--layers-csv", "layers.csv"})));
  write("compare.py", std::string(R"(
import csv, sys
def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False
for ours, theirs in (("summary.csv", "vela/digits_summary_Ethos_U55_High_End_Embedded.csv"),
                     ("layers.csv", "vela/digits_per-layer.csv")):
    mine, other = csv.DictReader(open(ours)), csv.DictReader(open(theirs))
    assert mine.fieldnames == other.fieldnames, (mine.fieldnames, other.fieldnames)
    row, model = next(mine), next(other)
    for column in mine.fieldnames:
        assert is_number(row[column]) or not is_number(model[column]), (column, row[column])
    if ours == "summary.csv":
        for same in ("accelerator_configuration", "system_config", "memory_mode", "core_clock",
                     "weights_storage_area", "feature_map_storage_area", "sram_bandwidth",
                     "off_chip_flash_bandwidth"):
            assert row[same] == model[same] or float(row[same]) == float(model[same]), same
)"));
  const ProcessOutcome compared = program({python, "compare.py"});
  EXPECT_TRUE(compared.succeeded()) << compared.err;
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
