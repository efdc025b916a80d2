// Scales, zero points and what happens to a layer's result before it is written, as attributes of its primitive.
#pragma once

#include "intarsia/targets/dnnl/layer_primitive.h"

#ifdef INTARSIA_HAS_DNNL
namespace intarsia::targets::dnnl {

using rt::LayerFunction;

dnnl_alg_kind_t algorithm_of(LayerFunction function);

// `weight_scales` of a layer of int8 may be null: oneDNN is only asked whether it has the primitive. Scratch memory is ours.
dnnl_status_t set_attributes(const rt::Layer &layer, const LayerMemory &memory,
                             const float *weight_scales, dnnl_primitive_attr_t attributes);

}  // namespace intarsia::targets::dnnl
#endif
