// The parts of the module, each in a file of its own. All of it is private to the package `intarsia`, whose Python files
// give it its shape; what has a structure passes between them as JSON, with the keys of `intarsia ... --json`.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "requests/environment.h"

namespace intarsia::python {

void bind_options(nanobind::module_& module);    // ModelOptions
void bind_compiled(nanobind::module_& module);   // compile, Compiled, formats
void bind_explain(nanobind::module_& module);    // explain
void bind_lists(nanobind::module_& module);      // targets, boards
void bind_offload(nanobind::module_& module);    // offload, Offloaded, bare_networks
void bind_placement(nanobind::module_& module);  // place, Placement
void bind_reference(nanobind::module_& module);  // Reference, TensorFacts
void bind_simulator(nanobind::module_& module);  // Simulator, verify

// One for each call: loading a user's tags changes nothing for others.
requests::Environment make_environment(const std::string& resource_root);

}  // namespace intarsia::python
