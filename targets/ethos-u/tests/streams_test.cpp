// Streams that Arm's compiler made, executed bit for bit: expected are the outputs of TFLite's
// reference kernels for the model that was compiled.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "ethos_u/payload.h"
#include "ethos_u/run.h"
#include "import_format/tflite_generated.h"
#include "shared_data.h"
#include "vela_faults.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
namespace format = tflite::format;

std::filesystem::path streams_folder() {
  return shared_folder() / "npu-streams/ethos-u";
}

std::vector<std::filesystem::path> stream_files() {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(streams_folder())) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(streams_folder()))
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Tensors of the graph's inputs and outputs, in order; zero points of all tensors.
struct Interface {
  std::vector<int32_t> inputs, outputs;
  std::vector<int64_t> zero_points;
};

Interface interface_of(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  const auto& graph = *format::GetModel(bytes.data())->subgraphs()->Get(0);
  Interface interface {
    {graph.inputs()->begin(), graph.inputs()->end()},
        {graph.outputs()->begin(), graph.outputs()->end()}, {}
  };
  for (const format::Tensor* tensor : *graph.tensors()) {
    const auto* quantization = tensor->quantization();
    const auto* zeros = quantization == nullptr ? nullptr : quantization->zero_point();
    interface.zero_points.push_back(zeros == nullptr || zeros->size() == 0 ? 0 : zeros->Get(0));
  }
  return interface;
}

// One set of inputs and the outputs for it; the folder is that of a model or of a conformance case.
struct Sample {
  std::vector<std::vector<uint8_t>> inputs, outputs;
};

std::vector<Sample> samples_of(const std::string& model, const Interface& interface) {
  std::vector<Sample> samples;
  const std::filesystem::path cases = shared_folder() / "conformance" / model;
  const bool is_case = std::filesystem::exists(cases);
  const std::filesystem::path folder = is_case ? cases : shared_folder() / "models" / model;
  for (size_t k = 0;; ++k) {
    const auto name = [&](const char* kind, size_t tensor) {
      return folder / (is_case ? kind + std::to_string(tensor) + ".bin"
                               : kind + std::to_string(k) + "_" + std::to_string(tensor) + ".bin");
    };
    if ((is_case && k > 0) || !std::filesystem::exists(name("out", 0))) return samples;
    Sample sample;
    for (size_t i = 0; i < interface.inputs.size(); ++i)
      sample.inputs.push_back(read_bytes(name("in", i)));
    for (size_t i = 0; i < interface.outputs.size(); ++i)
      sample.outputs.push_back(read_bytes(name("out", i)));
    samples.push_back(std::move(sample));
  }
}

// The memory that one operator runs in.
class Arena {
 public:
  Arena(const VelaOperator& op, const sim::Configuration& configuration)
      : memory_(configuration),
        constants_(op.constants),
        arena_(op.arena_bytes),
        cache_(op.cache_is_arena ? 0 : op.cache_bytes) {
    memory_.regions[0] = {constants_.data(), constants_.size(), false};
    memory_.regions[1] = {arena_.data(), arena_.size()};
    memory_.regions[2] =
        op.cache_is_arena ? memory_.regions[1] : sim::Region{cache_.data(), cache_.size()};
  }

  bool write(const VelaTensor& place, const std::vector<uint8_t>& bytes) {
    if (bytes.size() != place.bytes || place.offset + place.bytes > arena_.size()) return false;
    std::memcpy(arena_.data() + place.offset, bytes.data(), bytes.size());
    return true;
  }
  std::vector<uint8_t> read(const VelaTensor& place) const {
    if (place.offset + place.bytes > arena_.size()) return {};
    const auto begin = arena_.begin() + static_cast<std::ptrdiff_t>(place.offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(place.bytes)};
  }
  sim::Memory& memory() { return memory_; }

 private:
  sim::Memory memory_;
  std::vector<uint8_t> constants_, arena_, cache_;
};

// Empty when equal.
std::string difference(const std::vector<uint8_t>& got, const std::vector<uint8_t>& expected) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " bytes, expected " + std::to_string(expected.size());
  size_t different = 0, first = 0;
  for (size_t i = got.size(); i-- > 0;)
    if (got[i] != expected[i]) ++different, first = i;
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(got.size()) +
         " bytes differ, the first at " + std::to_string(first) + ": " +
         std::to_string(got[first]) + ", expected " + std::to_string(expected[first]);
}

std::string run_sample(const VelaOperator& op, const Interface& interface, const Sample& sample) {
  sim::Payload payload;
  if (auto failure = sim::read_payload(op.payload, payload)) return *failure;
  Arena arena(op, *payload.made_for);
  for (const VelaTensor& place : op.inputs) {
    const auto found = std::find(interface.inputs.begin(), interface.inputs.end(), place.tensor);
    if (found == interface.inputs.end()) {
      // A variable; where it is not zero at first, it is a single byte's zero point.
      const int64_t zero = interface.zero_points[static_cast<size_t>(place.tensor)];
      arena.write(place, std::vector<uint8_t>(place.bytes, static_cast<uint8_t>(zero)));
      continue;
    }
    const auto index = static_cast<size_t>(found - interface.inputs.begin());
    if (!arena.write(place, sample.inputs[index])) return "an input does not fit its place";
  }
  const sim::Outcome outcome = sim::run(payload.stream, *payload.made_for, arena.memory());
  if (outcome.fault) return outcome.fault->to_string();
  for (const VelaTensor& place : op.outputs) {
    const auto found = std::find(interface.outputs.begin(), interface.outputs.end(), place.tensor);
    if (found == interface.outputs.end()) continue;  // a variable
    const auto index = static_cast<size_t>(found - interface.outputs.begin());
    if (const std::string what = difference(arena.read(place), sample.outputs[index]);
        !what.empty())
      return "output " + std::to_string(index) + ": " + what;
  }
  return "";
}

TEST(Streams, OfWholeModelsAreBitExact) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-u");
  size_t runs = 0, left_to_cpu = 0;
  for (const std::filesystem::path& path : stream_files()) {
    const VelaFile file = read_vela_file(path);
    if (!file.npu_alone || file.operators.size() != 1) {
      ++left_to_cpu;
      continue;
    }
    const Interface interface = interface_of(path);
    const std::vector<Sample> samples = samples_of(file.model, interface);
    EXPECT_FALSE(samples.empty()) << file.name;
    for (size_t k = 0; k < samples.size(); ++k, ++runs) {
      const std::string difference = run_sample(file.operators[0], interface, samples[k]);
      EXPECT_TRUE(difference.empty() || vela_fault(file.model) != nullptr)
          << file.name << ", sample " << k << ": " << difference;
    }
  }
  EXPECT_GE(runs, 179u);
  EXPECT_LE(left_to_cpu * 30, runs);  // models of which Arm's compiler gave the CPU operators too
}

}  // namespace
}  // namespace intarsia::test::ethos_u
