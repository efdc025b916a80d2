#include "import/onnx/read_onnx.h"

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

}  // namespace intarsia::onnx
