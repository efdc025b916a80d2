// The layers of a stream as oneDNN's primitives, with weights in the form that they want: made once, run often.
#pragma once

#include "intarsia/targets/dnnl/layer_primitive.h"

#ifdef INTARSIA_HAS_DNNL
namespace intarsia::targets::dnnl {

struct PreparedLayers;

// What oneDNN refused: a status that is not a success, of the layer of that number, and what was tried.
struct Refusal {
  const char *what = "";
  uint32_t layer = 0;
  dnnl_status_t status = dnnl_success;
};

// Null where there is no memory, or with the refusal.
PreparedLayers *prepare(const rt::LayerStream &stream, dnnl_engine_t engine, dnnl_stream_t queue,
                        void *const *bases, Refusal &refusal);
dnnl_status_t execute(PreparedLayers &prepared, dnnl_stream_t queue, void *const *bases,
                      uint32_t &layer);
// Takes null as well.
void destroy(PreparedLayers *prepared);

}  // namespace intarsia::targets::dnnl
#endif
