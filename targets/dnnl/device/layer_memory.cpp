// Operands as they lie in our memory, channels last, in oneDNN's order of extents.
#include "intarsia/targets/dnnl/layer_primitive.h"

#ifdef INTARSIA_HAS_DNNL

namespace intarsia::targets::dnnl {
namespace {

using rt::LayerFields;
using rt::LayerKind;

dnnl_status_t image(dnnl_memory_desc_t &desc, dnnl_data_type_t type, int32_t batch, int32_t h,
                    int32_t w, int32_t c) {
  const dnnl_dims_t dims = {batch, c, h, w};
  return dnnl_memory_desc_init_by_tag(&desc, 4, dims, type, dnnl_nhwc);
}

dnnl_status_t matrix(dnnl_memory_desc_t &desc, dnnl_data_type_t type, int32_t rows,
                     int32_t columns) {
  const dnnl_dims_t dims = {rows, columns};
  return dnnl_memory_desc_init_by_tag(&desc, 2, dims, type, dnnl_ab);
}

bool is_matrix(const LayerFields &layer) {
  return layer.what() == LayerKind::inner_product || layer.what() == LayerKind::softmax;
}

// Weights as layers.def has them: group, output and input of the group, height, width.
dnnl_status_t kernel(const LayerFields &layer, dnnl_data_type_t type, dnnl_memory_desc_t &desc) {
  if (is_matmul(layer)) {  // inputs before outputs
    const dnnl_dims_t dims = {layer.in_c, layer.out_c}, strides = {1, layer.in_c};
    return dnnl_memory_desc_init_by_strides(&desc, 2, dims, type, strides);
  }
  if (layer.what() == LayerKind::inner_product) return matrix(desc, type, layer.out_c, layer.in_c);
  const int64_t groups = layer.groups, h = layer.kernel_h, w = layer.kernel_w;
  if (groups <= 0) return dnnl_invalid_arguments;
  const int64_t inputs = layer.in_c / groups, outputs = layer.out_c / groups;
  const dnnl_dims_t dims = {groups, outputs, inputs, h, w};
  if (layer.what() == LayerKind::depthwise) {
    const dnnl_dims_t strides = {outputs, 1, 1, w * layer.out_c, layer.out_c};
    return dnnl_memory_desc_init_by_strides(&desc, 5, dims, type, strides);
  }
  const dnnl_dims_t strides = {outputs * h * w * inputs, h * w * inputs, 1, w * inputs, inputs};
  if (groups == 1) return dnnl_memory_desc_init_by_strides(&desc, 4, dims + 1, type, strides + 1);
  return dnnl_memory_desc_init_by_strides(&desc, 5, dims, type, strides);
}

dnnl_status_t biases(const LayerFields &layer, dnnl_memory_desc_t &desc) {
  const dnnl_data_type_t type = layer.is_int8() ? dnnl_s32 : dnnl_f32;
  if (is_matmul(layer)) return matrix(desc, type, 1, layer.out_c);
  const dnnl_dims_t dims = {layer.out_c};
  return dnnl_memory_desc_init_by_tag(&desc, 1, dims, type, dnnl_a);
}

}  // namespace

dnnl_status_t describe_operands(const rt::Layer &layer, LayerMemory &memory) {
  const bool rows = is_matrix(layer);
  const dnnl_data_type_t type = layer.is_int8() ? dnnl_s8 : dnnl_f32;
  dnnl_status_t status =
      rows ? matrix(memory.source, type, layer.batch, layer.in_c)
           : image(memory.source, type, layer.batch, layer.in_h, layer.in_w, layer.in_c);
  if (status == dnnl_success)
    status = rows ? matrix(memory.result, type, layer.batch, layer.out_c)
                  : image(memory.result, type, layer.batch, layer.out_h, layer.out_w, layer.out_c);
  if (status == dnnl_success && is_weighted(layer)) status = kernel(layer, type, memory.weights);
  if (status == dnnl_success && layer.bias.is_there()) status = biases(layer, memory.bias);
  if (status == dnnl_success && layer.addend.is_there())
    status = rows ? matrix(memory.addend, type, layer.b_batch, layer.b_c)
                  : image(memory.addend, type, layer.b_batch, layer.b_h, layer.b_w, layer.b_c);
  if (status == dnnl_success && subtracts_zero_point_first(layer))
    status = image(memory.zero_point, type, 1, 1, 1, 1);
  return status;
}

}  // namespace intarsia::targets::dnnl
#endif
