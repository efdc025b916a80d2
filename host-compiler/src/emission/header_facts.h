// What <model>.h says of the model beside its functions: where it comes from, its inputs and outputs as macros, memory for
// it in one line, and typed access with conversion from and to real numbers.
#pragma once

#include "emission/model_text.h"
#include "intarsia/plugin/c_writer.h"

namespace intarsia::emission {

// Refuses, at compile time, headers of another version of the runtime.
void version_check(CWriter& out, const std::string& model);

// <MODEL>_COMPILER, _TARGET, _BOARD, _MODEL_SHA256.
void origin_macros(CWriter& out, const ModelContext& context);

// <MODEL>_INPUT_COUNT; of each <MODEL>_INPUT<i> the macros _NAME, _TYPE, _RANK, _DIMS, _DIM<d>, _ELEMENTS, _BYTES and, where
// one scale holds for all elements, _SCALE and _ZERO_POINT; outputs alike. _CLASS_COUNT of an output that is one vector.
void tensor_macros(CWriter& out, const std::string& prefix, const EmittedModel& model);

// What the macros above claim, where the C compiler can see it.
void size_assertions(CWriter& out, const std::string& prefix, const EmittedModel& model);

// <MODEL>_<MEMORY>_BYTES of each block, and the same by number: <MODEL>_MEMORY_COUNT, _MEMORY<i>_BYTES.
void memory_macros(CWriter& out, const ModelContext& context);

// <MODEL>_DEFINE_RESOURCES(name).
void resources_macro(CWriter& out, const ModelContext& context);

// <model>_input<i>() and <model>_output<i>(), and for quantised ones <model>_input<i>_quantize() and
// <model>_output<i>_dequantize().
void typed_access(CWriter& out, const std::string& model, const EmittedModel& emitted);

}  // namespace intarsia::emission
