// A region to a compiled network of its own.
#pragma once

#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_n {

// One for every operator, so that each says why it stays with another device.
std::vector<Pattern> operator_patterns(const Target& device);

// Which operators of a region run together, a line each.
std::vector<std::string> streaming_notes(const Target& device, const graph::Module& module,
                                         const graph::Function& function);

Result<tir::LoweredFunction> lower(const Target& device, const graph::Module& module,
                                   const graph::Function& function);

}  // namespace intarsia::targets::ethos_n
