// libintarsia_dnnl.so: the driver, and what oneDNN answers when it is asked for a layer, for the compiler and its engine.
#include "intarsia/targets/dnnl/component.h"

#include "intarsia/targets/dnnl/layer_primitive.h"

namespace {

using namespace intarsia;

rt::LayerPlace place_if(uint32_t operands, int number) {
  rt::LayerPlace place;
  if ((operands >> number & 1) != 0) place.region = 0;
  return place;
}

}  // namespace

const char* intarsia_dnnl_refuses(const int32_t* fields, uint32_t operands) {
  static dnnl_engine_t engine = nullptr;
  if (engine == nullptr && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
    return "there is no engine for this processor";
  rt::Layer layer;
  int32_t* words[] = {
#define LAYER_FIELD(name) &layer.name,
#include "intarsia/contract/layers.def"
  };
  for (int32_t* word : words) *word = *fields++;
  int number = 0;
#define LAYER_OPERAND(name) layer.name = place_if(operands, number++);
#include "intarsia/contract/layers.def"
  if (targets::dnnl::multiplies_int8(layer) && targets::dnnl::sums_saturate())
    return "this processor sums products of int8 with saturation (it has neither AVX512-VNNI nor "
           "AVX-VNNI), and what oneDNN has besides is no faster than the host";
  targets::dnnl::LayerMemory memory;
  dnnl_primitive_desc_t primitive = nullptr;
  const dnnl_status_t status = targets::dnnl::describe(engine, layer, nullptr, memory, primitive);
  if (primitive != nullptr) (void)dnnl_primitive_desc_destroy(primitive);
  if (status == dnnl_success) return nullptr;
  return status == dnnl_unimplemented ? "it has no implementation of it for this processor"
                                      : dnnl_status2str(status);
}
