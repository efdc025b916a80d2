// Import: the bytes of a model file become a verified graph::Module.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "intarsia/graph.h"

namespace intarsia {

struct ImportOptions {
  std::string file;  // for messages; its stem names the module
};

// Picks the reader by content: .tflite (identifier "TFL3"), a compiled Ethos-N network ("ENCN") or our
// own graph text. Every problem of the model is reported together: each unknown operator with its
// version, place and readers.
Result<graph::Module> import_model(std::span<const uint8_t> bytes, const ImportOptions& options);

}  // namespace intarsia
