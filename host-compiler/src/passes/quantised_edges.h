// Inputs and outputs as the quantised network inside has them: conversions at the edges of the model are dropped.
//
//   func(%0 f32) -> (%3 f32) { %1 = quantize(%0), %2 = relu(%1), %3 = dequantize(%2) }
//       =>      func(%1 i8) -> (%2 i8) { %2 = relu(%1) }
//
// The application converts in its place, by the scale and zero point that the tensor has: q = round(real / scale) +
// zero point, and back. Unsigned bytes become signed ones where the conversion only subtracts 128 from the bytes.
#pragma once

#include "intarsia/diagnostics.h"
#include "intarsia/graph.h"

namespace intarsia::passes {

struct QuantisedEdges {
  graph::Module module;
  Diagnostics kept;  // inputs and outputs that are not of signed bytes, one line each, and why
};

// Signed bytes for the inputs and outputs of the entry, wherever that changes no result. They keep their names, and have
// the quantisation of the conversion's other side. A module that is so already comes back as it is.
QuantisedEdges quantised_edges(const graph::Module& module);

}  // namespace intarsia::passes
