// Every recorded output of Arm's compiler as a model: import to simulator, CPU operators included, against
// what TFLite's reference kernels gave for the model that was compiled.
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ethos_u/driver.h"
#include "ethos_u/simulator.h"
#include "shared_data.h"
#include "vela_faults.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

std::string tag_of(const std::string& stem) {
  return stem.substr(0, stem.find('-', stem.find('-', 6) + 1));
}

struct Sample {
  std::vector<std::vector<uint8_t>> inputs, outputs;
};

// Of a model ("in0_1.bin": sample 0, input 1) or of a case ("in1.bin").
std::vector<Sample> samples_of(const std::string& model) {
  const std::filesystem::path cases = shared_folder() / "conformance" / model;
  const bool is_case = std::filesystem::exists(cases);
  const std::filesystem::path folder = is_case ? cases : shared_folder() / "models" / model;
  std::vector<Sample> samples;
  for (int k = 0; !is_case || k == 0; ++k) {
    const auto all = [&](const char* what) {
      std::vector<std::vector<uint8_t>> values;
      for (int i = 0;; ++i) {
        const auto path = folder / (is_case ? fmt::format("{}{}.bin", what, i)
                                            : fmt::format("{}{}_{}.bin", what, k, i));
        if (!std::filesystem::exists(path)) return values;
        values.push_back(read_bytes(path));
      }
    };
    Sample sample{all("in"), all("out")};
    if (sample.outputs.empty()) break;
    samples.push_back(std::move(sample));
  }
  return samples;
}

// The inputs may hold several invocations on one state; the last one's outputs are returned.
std::vector<graph::TensorValue> run_sample(Program& program, const CompiledModel& compiled,
                                           const Sample& sample) {
  const auto& inputs = compiled.emitted.inputs;
  if (inputs.empty() || sample.inputs.size() != inputs.size()) return {};
  const size_t times = sample.inputs[0].size() / static_cast<size_t>(inputs[0].bytes);
  std::vector<graph::TensorValue> outputs;
  for (size_t t = 0; t < times; ++t) {
    std::vector<graph::TensorValue> slices;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto bytes = static_cast<ptrdiff_t>(inputs[i].bytes);
      const auto first = sample.inputs[i].begin() + static_cast<ptrdiff_t>(t) * bytes;
      slices.emplace_back(first, first + bytes);
    }
    if (program.run(slices, outputs) != INTARSIA_OK) return {};
  }
  return outputs;
}

struct Tally {
  int files = 0, samples = 0, with_cpu = 0, known = 0;
};

void run_file(const std::filesystem::path& path, Tally& tally) {
  const std::string model = path.parent_path().filename().string(),
                    tag = tag_of(path.stem().string());
  SCOPED_TRACE(model + "/" + path.stem().string());
  const Result<graph::Module> imported = import_model(read_bytes(path), {path.filename().string()});
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, tag);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const intarsia_register_bus bus = intarsia_ethos_u_simulator(tag.c_str());
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu, &bus), INTARSIA_OK);
  const std::vector<Sample> samples = samples_of(model);
  EXPECT_FALSE(samples.empty());
  ++tally.files;
  const tir::Module& lowered = compiled->lowered;
  tally.with_cpu +=
      std::any_of(lowered.funcs.begin(), lowered.funcs.end(), [&](const tir::Func& func) {
        return func.target != "ethos-u" && func.name != lowered.entry;
      });
  for (size_t k = 0; k < samples.size(); ++k, ++tally.samples) {
    Program program(*compiled, &npu.device);
    const std::vector<graph::TensorValue> outputs = run_sample(program, *compiled, samples[k]);
    if (vela_fault(model) != nullptr && outputs != samples[k].outputs)
      ++tally.known;
    else
      EXPECT_EQ(outputs, samples[k].outputs) << "sample " << k;
  }
}

TEST(VelaModels, GiveTheGoldens) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-u");
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(shared_folder() / "npu-streams/ethos-u"))
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Tally tally;
  for (const auto& path : files) run_file(path, tally);
  std::cout << fmt::format(
      "{} files, {} of them with operators of the CPU, {} samples; {} with a known fault of the "
      "compiler\n",
      tally.files, tally.with_cpu, tally.samples, tally.known);
  EXPECT_GE(tally.files, 100);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
