// The networks of which there are streams of Arm's compiler, through our own: the reference is an integer
// model of the documented arithmetic, and is met exactly on every variant.
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encn_files.h"
#include "ethos_n/run.h"
#include "ethos_n/stream.h"
#include "intarsia/import.h"
#include "road.h"
#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;

// What stayed on the host, with the reason of the NPU.
std::string left_on_host(const CompiledModel& model) {
  std::string text;
  for (const auto& row : model.partitioned.explanation.operators)
    if (row.member != "ethosn") {
      text += row.name + " (" + row.kind + ")";
      for (const Offer& offer : row.offers) text += " [" + offer.member + ": " + offer.reason.value_or("") + "]";
      text += "; ";
    }
  return text;
}

// Empty when every byte is the expected one.
std::string difference(const std::vector<uint8_t>& got, const std::vector<uint8_t>& expected) {
  if (got.size() != expected.size()) return "sizes differ";
  size_t different = 0, first = 0;
  int most = 0;
  for (size_t i = got.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++different, first = i;
    most = std::max(most, std::abs(static_cast<int8_t>(got[i]) - static_cast<int8_t>(expected[i])));
  }
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(got.size()) + " bytes differ by up to " +
         std::to_string(most) + ", the first at " + std::to_string(first);
}

TEST(OurNetworks, MeetTheReferenceOfArms) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  std::set<std::string> done;
  for (const EncnFile& file : encn_files()) {
    const std::string tag(file.variant->tag), name = file.path.parent_path().filename().string();
    if (!done.insert(name + tag).second) continue;  // forced strategies of the same network
    SCOPED_TRACE(name + " on " + tag);
    const Result<graph::Module> module = import_model(read_bytes(file.path.parent_path() / "model.tflite"), {"model.tflite"});
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const Result<CompiledModel> compiled = compile_for(*module, tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    EXPECT_EQ(left_on_host(*compiled), "");
    for (size_t k = 0; k < file.samples; ++k) {
      std::vector<graph::TensorValue> outputs;
      // The model's order of inputs and outputs, which the container's list states.
      std::vector<graph::TensorValue> inputs(file.inputs.size());
      const std::vector<graph::TensorValue> of_container = file.inputs_of(k);
      for (size_t i = 0; i < inputs.size(); ++i) inputs[file.inputs[i]] = of_container[i];
      const std::string problem = run_on(tag, *compiled, inputs, outputs);
      ASSERT_EQ(problem, "");
      ASSERT_EQ(outputs.size(), file.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(difference(outputs[file.outputs[i]], file.expected(k, i)), "") << "sample " << k << ", output " << i;
    }
  }
  EXPECT_GE(done.size(), 60u);
}

}  // namespace
}  // namespace intarsia::test::ethos_n
