// What a model needs that there is not: operators that cannot be imported, or that no accelerator of the target takes; each kind of
// refusal once, with how often and where first.
#pragma once

#include <string>
#include <vector>

#include "requests/compile_model.h"

namespace intarsia::requests {

// Operators refused for one reason.
struct Refusals {
  std::string
      type;  // as the model's format calls it; of an accelerator's refusals, the kind of operator
  int64_t count = 0;
  std::string first;        // the first of them, by name
  int64_t first_index = 0;  // in its graph
  std::string why;          // as it is said of the first
  std::string what_to_do;   // empty where the reason says it all
  std::string device = {};  // that refuses; empty: the importer
};

struct Unsupported {
  int64_t operators = 0;           // of the model
  bool imports = false;            // whether the rest could be looked at
  std::vector<Refusals> importer;  // in the order of the file
  std::vector<Refusals> off_npu;   // of operators that stay with the host, the most frequent first
  Diagnostics problems;            // of the model, but of none of its operators

  bool empty() const { return importer.empty() && off_npu.empty() && problems.empty(); }
};

// Fails only where there is nothing to say about the model: options that are wrong, a file that is no model.
Result<Unsupported> find_unsupported(const Environment& environment, const Selection& selection,
                                     const ModelOptions& options, std::span<const uint8_t> bytes,
                                     const NoteSink& on_note);

std::string unsupported_json(const Unsupported& unsupported);

}  // namespace intarsia::requests
