// Who runs each operator, and why not another, with what was done to the model before.
#pragma once

#include <string>
#include <vector>

#include "intarsia/compiled_model.h"

namespace intarsia::requests {

struct DeviceNotes {
  std::string device, function;
  std::vector<std::string> lines;
};

// What the devices say about the functions they are given.
std::vector<DeviceNotes> notes_of(const graph::Module& partitioned, const TargetRegistry& registry,
                                  const TargetSpec& target);

// A device was asked for it and cannot take it.
bool is_refused(const Explanation::Operator& row);

// `planned`: the programs with a RAM budget, where one was given.
std::string explanation_json(const Explanation& explanation, const ReducedModule& reduced,
                             const std::vector<CompiledProgram>& planned,
                             const std::vector<DeviceNotes>& notes, bool refused_only);

}  // namespace intarsia::requests
