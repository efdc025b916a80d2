// The node tests of the `onnx` package: one operator each, with inputs and outputs. They are not part of this
// repository; INTARSIA_ONNX_TESTS names their folder (onnx/backend/test/data/node of the package).
//
// A case is applicable when all its operators are ones that the importer reads. It passes as it is, or with
// all inputs but the first given as constants: shapes, axes, scales and the like have to be known in advance.
// onnx/node_tests.txt has every applicable case that does not pass, and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "golden_testing.h"
#include "import/onnx/fold_layout.h"
#include "import/onnx/known_operators.h"
#include "import/onnx/read_onnx.h"
#include "import/onnx/tensor_values.h"
#include "intarsia/import.h"
#include "needs.h"

namespace intarsia::graph {
namespace {

namespace fs = std::filesystem;

std::optional<onnx::Values> tensor_in(const fs::path& path, std::string& problem) {
  const std::vector<uint8_t> bytes = bytes_of(path);
  onnx::format::Tensor tensor;
  if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    problem = "does not parse";
    return std::nullopt;
  }
  return onnx::read_values(tensor, path.parent_path(), problem);
}

std::vector<fs::path> numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> files;
  for (int i = 0; fs::exists(folder / (prefix + std::to_string(i) + ".pb")); ++i)
    files.push_back(folder / (prefix + std::to_string(i) + ".pb"));
  return files;
}

struct Case {
  onnx::format::Model model;
  std::vector<fs::path> inputs, outputs;
};

// The first unknown operator, or nothing.
std::string unknown_operator(const onnx::format::Model& model) {
  for (const onnx::format::Node& node : model.graph().node())
    if (onnx::find_operator(node.domain() == "ai.onnx" ? "" : node.domain(), node.type()) ==
        nullptr)
      return node.type();
  return "";
}

// All inputs but the first become initialisers with the values of the test.
bool bind_inputs(Case& test) {
  onnx::format::Graph& graph = *test.model.mutable_graph();
  if (graph.input_size() != static_cast<int>(test.inputs.size()) || graph.input_size() < 2)
    return false;
  for (int i = 1; i < graph.input_size(); ++i) {
    const std::vector<uint8_t> bytes = bytes_of(test.inputs[static_cast<size_t>(i)]);
    onnx::format::Tensor& tensor = *graph.add_initialiser();
    if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
    tensor.set_name(graph.input(i).name());
  }
  test.inputs.resize(1);
  return true;
}

// "" or what is wrong.
std::string run(const Case& test, const std::string& file) {
  const std::string text = test.model.SerializeAsString();
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const Result<Module> module = import_model(bytes, {file});
  if (!module.ok()) return module.error().items()[0].what;
  const Function& entry = module->entry_function();
  if (entry.inputs.size() != test.inputs.size() || entry.outputs.size() > test.outputs.size())
    return "has other inputs or outputs";
  std::vector<TensorValue> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    std::string problem;
    const std::optional<onnx::Values> values = tensor_in(test.inputs[i], problem);
    if (!values) return "its input " + problem;
    if (static_cast<int64_t>(values->bytes.size()) != entry.tensor(entry.inputs[i]).bytes())
      return "has an open extent that is not the batch 1";
    inputs.push_back(values->bytes);
  }
  Evaluator evaluator(*module);
  const auto outputs = evaluator.run(inputs);
  if (!outputs.ok()) return "cannot be evaluated: " + outputs.error().items()[0].what;
  for (size_t i = 0; i < outputs->size(); ++i) {
    std::string problem;
    const std::optional<onnx::Values> expected = tensor_in(test.outputs[i], problem);
    if (!expected) return "its output " + problem;
    const Tensor& output = entry.tensor(entry.outputs[i]);
    if (output.type != expected->type) return "output of another type";
    if (output.shape != expected->shape) return "output of another shape";
    const std::string wrong = difference(output.type, outputs.value()[i], expected->bytes);
    if (!wrong.empty()) return "wrong result: " + wrong;
  }
  // The proof of the layout: the same from the module with all its transpositions.
  const Result<Module> unfolded = onnx::read_onnx(bytes, file, module->name, {});
  if (!unfolded.ok()) return "is not read again";
  Evaluator straight(*unfolded);
  const auto again = straight.run(inputs);
  if (!again.ok()) return "cannot be evaluated with its transpositions";
  for (size_t i = 0; i < outputs->size(); ++i)
    if (!difference(entry.tensor(entry.outputs[i]).type, outputs.value()[i], again.value()[i])
             .empty())
      return "layout folding changes its result";
  return "";
}

std::map<std::string, std::string> listed() {
  std::map<std::string, std::string> table;
  std::ifstream file(INTARSIA_ONNX_TABLE);
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(": "); !line.starts_with('#') && colon != std::string::npos)
      table[line.substr(0, colon)] = line.substr(colon + 2);
  return table;
}

TEST(OnnxNodes, ApplicableCasesPassOrAreListed) {
  const char* folder = std::getenv("INTARSIA_ONNX_TESTS");
  if (folder == nullptr)
    GTEST_SKIP() << test::needs("onnx-node-tests")
                 << "INTARSIA_ONNX_TESTS does not name the node tests of the onnx package";
  int all = 0, as_they_are = 0, with_constants = 0;
  std::map<std::string, std::string> failing;
  std::map<std::string, int> missing;
  std::map<std::string, std::pair<int, int>> by_operator;  // passing, applicable
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) cases.push_back(entry.path());
  std::ranges::sort(cases);
  for (const fs::path& path : cases) {
    const std::vector<uint8_t> bytes = bytes_of(path / "model.onnx");
    Case test;
    if (bytes.empty() || !test.model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      continue;
    ++all;
    test.inputs = numbered(path / "test_data_set_0", "input_"),
    test.outputs = numbered(path / "test_data_set_0", "output_");
    if (const std::string unknown = unknown_operator(test.model);
        !unknown.empty() || test.model.graph().node().empty()) {
      ++missing[unknown.empty() ? "none" : unknown];
      continue;
    }
    const std::string name = path.filename().string();
    auto& [passing, applicable] = by_operator[test.model.graph().node(0).type()];
    ++applicable;
    const std::string wrong = run(test, name + ".onnx");
    if (wrong.empty()) {
      ++as_they_are, ++passing;
    } else if (const std::string still = bind_inputs(test) ? run(test, name + ".onnx") : wrong;
               still.empty()) {
      ++with_constants, ++passing;
    } else {
      failing[name] = still;
    }
  }
  const int applicable = as_they_are + with_constants + static_cast<int>(failing.size());
  std::cout << all << " cases, " << applicable << " of operators that are read; "
            << as_they_are + with_constants << " pass (" << as_they_are << " as they are, "
            << with_constants << " with constant operands), " << failing.size() << " do not\n";
  RecordProperty("applicable", applicable);
  RecordProperty("passing", as_they_are + with_constants);
  if (const char* report =
          std::getenv("INTARSIA_ONNX_REPORT")) {  // to look at, and to bring the table up to date
    std::ofstream file(report);
    for (const auto& [name, reason] : failing) file << name << ": " << reason << "\n";
    for (const auto& [type, counts] : by_operator)
      file << "# " << type << " " << counts.first << "/" << counts.second << "\n";
    for (const auto& [type, count] : missing) file << "# - " << type << " " << count << "\n";
  }
  const std::map<std::string, std::string> table = listed();
  for (const auto& [name, reason] : failing)
    EXPECT_TRUE(table.contains(name)) << name << " does not pass and is not listed: " << reason;
  for (const auto& [name, reason] : table) {
    if (!fs::exists(fs::path(folder) / name))
      continue;  // the package has other cases in each version
    EXPECT_TRUE(failing.contains(name)) << name << " is listed but passes";
  }
}

}  // namespace
}  // namespace intarsia::graph
