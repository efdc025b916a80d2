#include "import/tflite/read_tflite.h"

#include "import/tflite/model_reader.h"

namespace intarsia::tflite {

namespace {

Result<ModelFile> opened(std::span<const uint8_t> bytes, const std::string& file,
                         const ImportOptions& options) {
  INTARSIA_TRY(ModelFile model, ModelFile::open(bytes, file, options.foreign.operators));
  const auto* subgraphs = model.model().subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0)
    return Diagnostics(file, "holds no subgraph, so no model", "convert the model again");
  return model;
}

}  // namespace

Result<graph::Module> read_tflite(std::span<const uint8_t> bytes, const std::string& file,
                                  const std::string& module_name, const ImportOptions& options) {
  INTARSIA_TRY(const ModelFile model, opened(bytes, file, options));
  return ModelReader(model, options).read(module_name);
}

Result<std::vector<import::ListedOperator>> listed_operators(std::span<const uint8_t> bytes,
                                                             const ImportOptions& options) {
  INTARSIA_TRY(const ModelFile model, opened(bytes, options.file, options));
  return ModelReader(model, options).listed();
}

}  // namespace intarsia::tflite
