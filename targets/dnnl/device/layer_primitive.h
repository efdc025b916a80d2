// A layer as oneDNN describes it. The driver makes primitives of it; the compiler asks oneDNN by it what it takes.
#pragma once

#include "intarsia/core/layer_stream.h"
#include "intarsia/targets/dnnl/library.h"

#ifdef INTARSIA_HAS_DNNL
namespace intarsia::targets::dnnl {

// The operands as they lie in our memory, channels last. Those that the layer does not have are empty.
struct LayerMemory {
  dnnl_memory_desc_t source = {}, weights = {}, bias = {}, addend = {}, result = {};
};

inline bool is_weighted(const rt::LayerFields &layer) {
  return layer.what() <= rt::LayerKind::inner_product;
}
inline bool is_binary(const rt::LayerFields &layer) {
  return layer.what() >= rt::LayerKind::add;
}

// What oneDNN will do, or the status by which it refuses. Weights are in whatever form it likes best; the caller brings its
// scratch memory, and destroys the descriptor.
dnnl_status_t describe(dnnl_engine_t engine, const rt::Layer &layer, LayerMemory &memory,
                       dnnl_primitive_desc_t &primitive);

// The argument of a primitive's execution that is the layer's addend.
int addend_argument(const rt::LayerFields &layer);

}  // namespace intarsia::targets::dnnl
#endif
