// Models whose invocations may end early: operators behind some place run in every n-th invocation only, as those behind TFLite
// Micro's CIRCULAR_BUFFER do that collects several inputs before the model goes on.
#pragma once

#include <optional>
#include <string>

#include "import/tflite/model_reader.h"

namespace intarsia::tflite {

// What lies behind node `last` of the model, which makes a bool, runs where that is true: it becomes a branch that has the name. Where it is
// false, state that it assigns or keeps stays, and outputs of the model that it makes are what the last whole invocation left, at first
// zero points. Where programs of another compiler are behind, which can be in no branch, all of it runs in every invocation, and its results
// are chosen. Gives the name of a layer that keeps state of its own beside such programs; the model is as it was then.
std::optional<std::string> end_early(ModelReader& reader, graph::Function& model, size_t last,
                                     const std::string& name);

}  // namespace intarsia::tflite
