// Import: the bytes of a model file become a verified graph::Module.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/foreign_formats.h"
#include "intarsia/plugin/progress.h"

namespace intarsia {

// What a reader needs beside the bytes.
struct ImportOptions {
  std::string
      file;  // for messages; its stem names the module, and data outside of it lie in its folder
  Diagnostics* notes =
      nullptr;       // what was decided for the user (an open batch becomes 1); may be null
  std::string name;  // of the module, instead of the stem or of what graph text says; empty: those
  ForeignFormats foreign = {};        // those of the targets: TargetRegistry::foreign_formats()
  ProgressListener on_progress = {};  // operators, as they are read
  // .tflite: integer weights that meet float activations become floats, instead of the activations being quantised as
  // the model runs.
  bool widen_weights = false;
  // Of inputs, by the file's names, whose extents the file leaves open.
  std::map<std::string, Shape> shapes = {};
  // Of inputs, by the file's names, that become constants: one number for all elements, or one for each. Quantised inputs have
  // the integers that the file stores.
  std::map<std::string, std::vector<double>> input_values = {};
  // .tflite: which of the file's networks, by the name of its signature; empty: the first one.
  std::string signature = {};
};

// Picks the reader by content: .tflite (identifier "TFL3"), a file of options.foreign, our own
// graph text, or ONNX (by its beginning, or because the file is named .onnx). Every problem of the model is reported together: each unknown operator with its
// version, place and readers.
Result<graph::Module> import_model(std::span<const uint8_t> bytes, const ImportOptions& options);

}  // namespace intarsia
