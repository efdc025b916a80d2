// The networks that a device runs of a model, each as a file of the device's own tools: `compile --format encn`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "requests/compile_model.h"

namespace intarsia::requests {

struct BareNetwork {
  std::string file;  // its name: "main_0.encn"
  std::vector<uint8_t> bytes;
  int64_t operators = 0;  // of the model's own
};

struct BareNetworks {
  Selection selection;
  std::vector<BareNetwork> networks;  // in the order in which they run
  int64_t others = 0;                 // operators that no network has
  // All steps of the model in their order, with what each reads and makes: the buffers of the files, which have no names.
  std::string json;
};

// Extensions of files that some kind of device has written, without the dot; what `--format` takes.
std::vector<std::string> network_formats(const Environment& environment);

// Refuses targets without such a device, and options that such files cannot keep.
Result<BareNetworks> bare_networks(Environment& environment, const ModelOptions& options,
                                   const std::string& format, std::span<const uint8_t> bytes,
                                   const NoteSink& on_note,
                                   const ProgressListener& on_progress = {});

}  // namespace intarsia::requests
