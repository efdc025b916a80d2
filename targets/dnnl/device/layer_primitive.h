// A layer as oneDNN describes it. The driver makes primitives of it; the compiler asks oneDNN by it what it takes.
#pragma once

#include "intarsia/core/layer_stream.h"
#include "intarsia/targets/dnnl/library.h"

#ifdef INTARSIA_HAS_DNNL
namespace intarsia::targets::dnnl {

// The operands as they lie in our memory, channels last. Those that the layer does not have are empty.
struct LayerMemory {
  dnnl_memory_desc_t source = {}, weights = {}, bias = {}, addend = {}, result = {};
  dnnl_memory_desc_t zero_point = {};  // the source's, one number
};

inline bool is_weighted(const rt::LayerFields &layer) {
  return layer.what() <= rt::LayerKind::inner_product;
}
// Which primitive it is: a function of int8 is one of two operands, and rows of int8 are multiplied as matrices, which may have
// zero points.
inline bool is_binary(const rt::LayerFields &layer) {
  return layer.what() >= rt::LayerKind::add;
}
inline bool multiplies_int8(const rt::LayerFields &layer) {
  return layer.is_int8() && is_weighted(layer);
}
inline bool is_matmul(const rt::LayerFields &layer) {
  return layer.is_int8() && layer.what() == rt::LayerKind::inner_product;
}
// A sum of int8 without broadcasting: the source's zero point is subtracted, then the addend added.
inline bool subtracts_zero_point_first(const rt::LayerFields &layer) {
  return layer.is_int8() && layer.what() == rt::LayerKind::add && layer.b_batch == layer.batch &&
         layer.b_h == layer.out_h && layer.b_w == layer.out_w && layer.b_c == layer.out_c;
}
inline bool is_int8_function(const rt::LayerFields &layer) {
  return layer.is_int8() && layer.what() == rt::LayerKind::eltwise;
}

// Whether this processor sums products of int8 in 16 bits with saturation, for want of an instruction that sums them in 32. Such
// layers are computed by oneDNN's plain loops then, which are exact anywhere.
bool sums_saturate();

dnnl_status_t describe_operands(const rt::Layer &layer, LayerMemory &memory);

// What oneDNN will do, or the status by which it refuses. Weights are in whatever form it likes best; the caller brings its
// scratch memory, and destroys the descriptor. `weight_scales` of a layer of int8 may be null where nothing is computed.
dnnl_status_t describe(dnnl_engine_t engine, const rt::Layer &layer, const float *weight_scales,
                       LayerMemory &memory, dnnl_primitive_desc_t &primitive);

// The argument of a primitive's execution that is the layer's addend.
int addend_argument(const rt::LayerFields &layer);

}  // namespace intarsia::targets::dnnl
#endif
