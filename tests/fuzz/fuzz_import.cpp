// Any bytes: the importer refuses them in words or makes a module that survives printing.
// Models as seeds: make_import_seeds FOLDER, and tests/golden/onnx*/*/model.onnx, which are read for their content.
#include <cstdint>
#include <cstdlib>

#include "aborting_checks.h"
#include "import/listed_operators.h"
#include "intarsia/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace intarsia;
  const auto module = import_model({data, size}, {"fuzz.tflite"});
  const auto listed = import::listed_operators({data, size}, {"fuzz.tflite"});
  if (!module.ok()) return 0;
  if (!listed.ok()) std::abort();
  const auto again = graph::parse(graph::print(*module));
  if (!again.ok() || !(*again == *module)) std::abort();
  return 0;
}
