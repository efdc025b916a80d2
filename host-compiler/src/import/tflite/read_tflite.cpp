#include "import/tflite/read_tflite.h"

#include "import/tflite/model_reader.h"

namespace intarsia::tflite {

Result<graph::Module> read_tflite(std::span<const uint8_t> bytes, const std::string& file,
                                  const std::string& module_name,
                                  std::span<const ProgramOperator> programs,
                                  const ProgressListener& on_progress) {
  INTARSIA_TRY(const ModelFile model, ModelFile::open(bytes, file, programs));
  const auto* subgraphs = model.model().subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0) {
    return Diagnostics(file, "holds no subgraph, so no model");
  }
  return ModelReader(model, on_progress).read(module_name);
}

}  // namespace intarsia::tflite
