#include "import/onnx/read_onnx.h"

#include "import/onnx/known_operators.h"
#include "import/onnx/model_file.h"
#include "import/onnx/onnx_graph.h"
#include "import/onnx/reader.h"

namespace intarsia::onnx {

bool has_onnx_beginning(std::span<const uint8_t> bytes) {
  return looks_like_onnx(bytes);
}

Result<graph::Module> read_onnx(std::span<const uint8_t> bytes, const std::string& file,
                                const std::string& module_name, const ImportOptions& options) {
  INTARSIA_TRY(const ModelFile model, ModelFile::open(bytes, file));
  Diagnostics problems;
  Graph graph = list_graph(model, problems);
  if (!problems.empty()) return problems;
  graph::Module module = Reader(model, std::move(graph), problems, options).read(module_name);
  if (!problems.empty()) return problems;
  return module;
}

Result<std::vector<import::ListedOperator>> listed_operators(std::span<const uint8_t> bytes,
                                                             const std::string& file) {
  INTARSIA_TRY(const ModelFile model, ModelFile::open(bytes, file));
  std::vector<import::ListedOperator> result;
  for (const Node& node : nodes_of(model))
    result.push_back({node.index, node.shown_name(), tflite::printable(node.full_type()),
                      node.label(), find_operator(node.domain, node.type) != nullptr});
  return result;
}

}  // namespace intarsia::onnx
