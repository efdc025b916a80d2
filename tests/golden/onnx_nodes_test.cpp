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

// All inputs but the first become initialisers with the values of the test; of what is made of sizes alone, all.
bool bind_inputs(Case& test) {
  onnx::format::Graph& graph = *test.model.mutable_graph();
  const std::string& type = graph.node(0).type();
  const int kept = type.ends_with("Window") || type == "MelWeightMatrix" ? 0 : 1;
  if (graph.input_size() != static_cast<int>(test.inputs.size()) || graph.input_size() <= kept)
    return false;
  for (int i = kept; i < graph.input_size(); ++i) {
    const std::vector<uint8_t> bytes = bytes_of(test.inputs[static_cast<size_t>(i)]);
    onnx::format::Tensor& tensor = *graph.add_initialiser();
    if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
    tensor.set_name(graph.input(i).name());
  }
  test.inputs.resize(static_cast<size_t>(kept));
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
    // Results of RoiAlign are recorded with four decimals, half of the last of which they may be beside.
    constexpr test::FloatTolerance kFourDecimals = {5e-5f + test::kOtherLibrary.part,
                                                    test::FloatTolerance::Of::Value};
    const std::string wrong =
        file.find("roialign") != std::string::npos
            ? test::float_difference(outputs.value()[i], expected->bytes, kFourDecimals)
            : difference(output.type, outputs.value()[i], expected->bytes);
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

// Why cases do not pass, in the words of the documentation, by what the importer says: the first row whose words occur in
// the message counts. Operators that are not read stand in `kNotRead`.
struct Reason {
  const char* words;
  const char* why;
};
constexpr Reason kReasons[] = {
    {"string", "strings"},
    {"float8", "floats of 8 and 4 bits"},
    {"element type", "floats of 8 and 4 bits"},
    {"int4", "inputs, outputs and arithmetic of 4-bit and 2-bit integers (constants are read)"},
    {"i4", "inputs, outputs and arithmetic of 4-bit and 2-bit integers (constants are read)"},
    {"int2", "inputs, outputs and arithmetic of 4-bit and 2-bit integers (constants are read)"},
    {"complex", "complex numbers"},
    {"is no tensor", "sequences and optional values"},
    {"training mode", "training"},
    {"gives its mask", "training"},
    {"known only when the model runs", "shapes, places and sizes that depend on data"},
    {"only the running model knows", "shapes, places and sizes that depend on data"},
    {"open extent", "shapes, places and sizes that depend on data"},
    {"has no element", "empty tensors"},
    {"of no element", "empty tensors"},
    {"0]", "empty tensors"},
    {"empty tensor", "empty tensors"},
    {"rank 5", "volumes (images of three axes) and tensors of more than 6 axes"},
    {"rank 7", "volumes (images of three axes) and tensors of more than 6 axes"},
    {"has 7 axes", "volumes (images of three axes) and tensors of more than 6 axes"},
    {"in blocks", "scales in blocks"},
    {"arithmetic for the types", "arithmetic on integers of the running model without scales"},
    {"a power of whole numbers", "arithmetic on integers of the running model without scales"},
    {"divides integers", "arithmetic on integers of the running model without scales"},
    {"not quantised", "arithmetic on integers of the running model without scales"},
    {"the bits of", "arithmetic on integers of the running model without scales"},
    {"fmod", "arithmetic on integers of the running model without scales"},
    {"u16", "arithmetic on integers of the running model without scales"},
    {"uint64", "arithmetic on integers of the running model without scales"},
    {"places of its maxima", "indices of maxima of pooling"},
    {"is dilated", "dilated pooling and dilated transposed convolutions"},
    {"the reduction", "scattering with a reduction"},
    {"wraps around", "recorded results that wrap around where QuantizeLinear saturates"},
    {"empty tensor", "empty tensors"},
    {"instead of", "rounding to half precision: floats of 16 and 64 bits are computed as f32"},
};
constexpr Reason kNotRead[] = {
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss Adam Adagrad Momentum Gradient",
     "training"},
    {"Bernoulli RandomUniformLike RandomNormalLike RandomUniform RandomNormal Multinomial",
     "random numbers"},
    {"StringNormalizer StringSplit StringConcat RegexFullMatch TfIdfVectorizer LabelEncoder",
     "strings"},
    {"OptionalHasElement OptionalGetElement Optional SequenceMap SequenceLength SequenceInsert "
     "SplitToSequence SequenceErase SequenceAt SequenceEmpty SequenceConstruct ConcatFromSequence "
     "ReverseSequence",
     "sequences and optional values"},
    {"TreeEnsemble Binarizer ArrayFeatureExtractor Normalizer Scaler",
     "classical machine learning (ai.onnx.ml)"},
    {"Unique NonZero NonMaxSuppression", "shapes, places and sizes that depend on data"},
    {"BitCast", "arithmetic on integers of the running model without scales"},
    {"ImageDecoder", "decoding of image files"},
};

std::string reason_of(const std::string& name, const std::string& message) {
  if (name.find("_scales_") != std::string::npos &&
      name.find("_align_corners") != std::string::npos)
    return "corners of an extent that is no whole number: as onnxruntime and PyTorch have them";
  for (const Reason& reason : kReasons)
    if (message.find(reason.words) != std::string::npos) return reason.why;
  return "others";
}

std::string reason_not_read(const std::string& type) {
  for (const Reason& reason : kNotRead)
    if ((std::string(" ") + reason.words + " ").find(" " + type + " ") != std::string::npos)
      return reason.why;
  return "operators that are not read";
}

// What docs/onnx.md says between its marks.
struct Summary {
  int all = 0, as_they_are = 0, with_constants = 0;
  std::map<std::string, std::pair<int, int>> by_operator;  // passing, cases
  std::map<std::string, int> why;
  std::map<std::string, int> not_read;  // of the reason "operators that are not read"

  std::string text() const {
    std::string out = std::to_string(all) + " cases; " +
                      std::to_string(as_they_are + with_constants) +
                      " pass: " + std::to_string(as_they_are) + " as they are, " +
                      std::to_string(with_constants) + " with constant operands.\n\n";
    out += "| why not | cases |\n|---|---|\n";
    std::vector<std::pair<std::string, int>> rows(why.begin(), why.end());
    std::ranges::stable_sort(rows,
                             [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [reason, count] : rows)
      out += "| " + reason + " | " + std::to_string(count) + " |\n";
    out +=
        "\nOperators of standard domains that are not read and that no row above has by another "
        "reason:";
    for (const auto& [type, count] : not_read)
      out += " " + type + " " + std::to_string(count) + ",";
    out.back() = '.';
    const auto list = [&](const char* title, auto&& shown) {
      out += std::string("\n\n") + title;
      for (const auto& [type, counts] : by_operator)
        if (shown(counts))
          out += " " + type + " " + std::to_string(counts.first) +
                 (counts.first == counts.second ? "" : "/" + std::to_string(counts.second)) + ",";
      out.back() = '.';
    };
    list("By their first operator, all pass:", [](const auto& c) { return c.first == c.second; });
    list("Some pass:", [](const auto& c) { return c.first != c.second && c.first > 0; });
    list("None:", [](const auto& c) { return c.first == 0; });
    return out + "\n";
  }
};

// Lines of at most 120 characters; tables stay as they are.
std::string wrapped(const std::string& text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    while (line.size() > 120 && !line.starts_with('|')) {
      const size_t space = line.rfind(' ', 120);
      out += line.substr(0, space) + "\n";
      line = line.substr(space + 1);
    }
    out += line + "\n";
    at = end + 1;
  }
  return out;
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
  Summary summary;
  auto& [all, as_they_are, with_constants, by_operator, why, not_read] = summary;
  std::map<std::string, std::string> failing;
  std::map<std::string, int> missing;
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
      const std::string reason = reason_not_read(unknown);
      ++why[reason];
      if (reason == "operators that are not read") ++not_read[unknown];
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
      ++why[reason_of(name, still)];
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
  // The list and the page are of one release of the package: this many cases.
  std::ifstream page(INTARSIA_ONNX_PAGE);
  std::string document{std::istreambuf_iterator<char>(page), {}};
  const std::string begin = "<!-- node tests: begin -->\n", end = "<!-- node tests: end -->\n";
  const size_t first = document.find(begin) + begin.size(), last = document.find(end);
  ASSERT_NE(last, std::string::npos) << INTARSIA_ONNX_PAGE;
  if (std::getenv("INTARSIA_UPDATE_DOCS") != nullptr) {
    document.replace(first, last - first, wrapped(summary.text()));
    std::ofstream(INTARSIA_ONNX_PAGE) << document;
    std::ifstream old(INTARSIA_ONNX_TABLE);
    std::string comment;
    for (std::string line; std::getline(old, line) && line.starts_with('#');)
      comment += line + "\n";
    std::ofstream list(INTARSIA_ONNX_TABLE);
    list << comment;
    for (const auto& [name, reason] : failing) list << name << ": " << reason << "\n";
    return;
  }
  if (document.find("\n" + std::to_string(all) + " cases; ") != std::string::npos) {
    EXPECT_EQ(document.substr(first, last - first), wrapped(summary.text()))
        << "run with INTARSIA_UPDATE_DOCS=1 to write it anew";
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
