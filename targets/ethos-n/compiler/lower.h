// A region to a compiled network of its own.
#pragma once

#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_n {

// One for every operator, so that each says why it stays with another member.
std::vector<Pattern> operator_patterns(const Target& member);

// Which operators of a region run together, a line each.
std::vector<std::string> streaming_notes(const Target& member, const graph::Module& module,
                                         const graph::Function& function);

Result<tir::LoweredFunction> lower(const Target& member, const graph::Module& module,
                                   const graph::Function& function);

}  // namespace intarsia::targets::ethos_n
