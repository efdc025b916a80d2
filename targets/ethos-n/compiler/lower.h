// A region to a compiled network of its own.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/pattern.h"
#include "intarsia/target.h"
#include "intarsia/tir.h"

namespace intarsia::targets::ethos_n {

// One for every operator, so that each says why it stays with another member.
std::vector<Pattern> operator_patterns(const Target& member);

Result<tir::LoweredFunction> lower(const Target& member, const graph::Module& module, const graph::Function& function);

}  // namespace intarsia::targets::ethos_n
