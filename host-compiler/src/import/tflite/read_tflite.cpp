#include "import/tflite/read_tflite.h"

#include "import/tflite/model_reader.h"

namespace intarsia::tflite {

Result<graph::Module> read_tflite(std::span<const uint8_t> bytes, const std::string& file,
                                  const std::string& module_name, const ImportOptions& options) {
  INTARSIA_TRY(const ModelFile model, ModelFile::open(bytes, file, options.foreign.operators));
  const auto* subgraphs = model.model().subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0) {
    return Diagnostics(file, "holds no subgraph, so no model");
  }
  return ModelReader(model, options).read(module_name);
}

}  // namespace intarsia::tflite
