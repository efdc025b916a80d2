// Streams of other compilers as part of a model: operators `compiled` for "ethos-u", which is what
// Vela's .tflite files hold. They are checked, and handed through as they are.
//
// The stream addresses three regions: 0 its constants, 1 its arena, 2 its arena in fast memory. The
// lowering makes buffers of the arenas and aliases of the tensors in them.
#pragma once

#include <vector>

#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_u {

// Refuses streams for another configuration or architecture, damaged ones, and those that reach
// beyond the memory that they announce.
Pattern compiled_stream_pattern(const Target& device);
// The same for an Ethos-U85 of so many MACs.
Pattern u85_stream_pattern(int64_t macs);

bool is_compiled_stream(const graph::Function& function);
tir::LoweredFunction lower_compiled_stream(const graph::Module& module,
                                           const graph::Function& function);

bool is_compiled_stream(const tir::Func& func);
CommandStream write_compiled_stream(const Target& device, const tir::Module& module,
                                    const Plan& plan, const tir::Func& func);

}  // namespace intarsia::targets::ethos_u
