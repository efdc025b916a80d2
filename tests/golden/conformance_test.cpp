// The reference evaluator against the conformance cases of the operators that the graph IR has:
// one operator (or a small network) each, with types and shapes that the models do not use.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "golden_testing.h"
#include "intarsia/import.h"

namespace intarsia::graph {
namespace {

const std::set<std::string> kOperators = {"ADD",         "AVERAGE_POOL_2D",
                                          "CONV_2D",     "DEPTHWISE_CONV_2D",
                                          "DEQUANTIZE",  "FULLY_CONNECTED",
                                          "MAX_POOL_2D", "MEAN",
                                          "MUL",         "PAD",
                                          "QUANTIZE",    "RELU",
                                          "RELU6",       "RESHAPE",
                                          "SOFTMAX"};

// What is known not to hold, and why. A case of this list that starts to hold is an error.
const std::map<std::string, std::string> kExceptions = {
    {"int16xint8xint32_1",
     "states 32-bit accumulation without a bias, which has no place in the IR"},
    {"int16xint8xint32_2",
     "states 32-bit accumulation without a bias, which has no place in the IR"},
};

bool has_only_our_operators(const nlohmann::json& meta) {
  return std::all_of(meta["op"].begin(), meta["op"].end(),
                     [](const auto& name) { return kOperators.contains(name); });
}

// "" when the outputs are as recorded, else what is wrong.
std::string run_case(const std::filesystem::path& folder, const nlohmann::json& meta) {
  const std::string file = folder.filename().string() + ".tflite";
  const Result<Module> module = import_model(bytes_of(folder / "model.tflite"), {file});
  if (!module.ok()) return module.error().to_string();
  const Function& entry = module.value().entry_function();
  std::vector<TensorValue> inputs;
  for (const auto& input : meta["inputs"])
    inputs.push_back(bytes_of(folder / input["file"].get<std::string>()));
  Evaluator evaluator(module.value());
  const Result<std::vector<TensorValue>> outputs = evaluator.run(inputs);
  if (!outputs.ok()) return outputs.error().to_string();
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const std::string found =
        difference(entry.tensor(entry.outputs[i]).type, outputs.value()[i],
                   bytes_of(folder / meta["outputs"][i]["file"].get<std::string>()));
    if (!found.empty()) return "output " + std::to_string(i) + ": " + found;
  }
  return "";
}

TEST(Conformance, EveryCaseOfOurOperators) {
  const std::filesystem::path root = shared_folder() / "conformance";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "no conformance cases at " << root;
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const nlohmann::json meta = nlohmann::json::parse(bytes_of(entry.path() / "meta.json"));
    const std::string name = entry.path().filename().string();
    if (!has_only_our_operators(meta) || meta.value("optional", false)) continue;
    ++cases;
    const std::string found = run_case(entry.path(), meta);
    if (kExceptions.contains(name))
      EXPECT_NE(found, "") << name << " holds now: remove the exception";
    else
      EXPECT_EQ(found, "") << name;
  }
  RecordProperty("cases", cases);
  EXPECT_GE(cases, 100);
}

}  // namespace
}  // namespace intarsia::graph
