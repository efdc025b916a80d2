#include "intarsia/targets/dnnl/layer_primitive.h"

#include "intarsia/targets/dnnl/layer_attributes.h"

#ifdef INTARSIA_HAS_DNNL

#include <string.h>

namespace intarsia::targets::dnnl {
namespace {

using rt::LayerFields;
using rt::LayerKind;

dnnl_alg_kind_t algorithm_of_kind(LayerKind kind) {
  switch (kind) {
    case LayerKind::max_pool:
      return dnnl_pooling_max;
    case LayerKind::average_pool:
      return dnnl_pooling_avg_exclude_padding;
    case LayerKind::add:
      return dnnl_binary_add;
    case LayerKind::sub:
      return dnnl_binary_sub;
    case LayerKind::mul:
      return dnnl_binary_mul;
    case LayerKind::div:
      return dnnl_binary_div;
    case LayerKind::minimum:
      return dnnl_binary_min;
    case LayerKind::maximum:
      return dnnl_binary_max;
    default:
      return dnnl_alg_kind_undef;
  }
}

union Operation {
  dnnl_convolution_desc_t convolution;
  dnnl_inner_product_desc_t inner_product;
  dnnl_pooling_desc_t pooling;
  dnnl_softmax_desc_t softmax;
  dnnl_eltwise_desc_t eltwise;
  dnnl_binary_desc_t binary;
  dnnl_matmul_desc_t matmul;
};

dnnl_status_t describe_operation(const rt::Layer &layer, const LayerMemory &memory,
                                 Operation &operation) {
  const dnnl_dims_t strides = {layer.stride_h, layer.stride_w};
  const dnnl_dims_t dilations = {layer.dilation_h - 1, layer.dilation_w - 1};
  const dnnl_dims_t kernel_extents = {layer.kernel_h, layer.kernel_w};
  const dnnl_dims_t before = {layer.pad_top, layer.pad_left};
  const dnnl_dims_t after = {layer.pad_bottom, layer.pad_right};
  dnnl_memory_desc_t weights = memory.weights;
  weights.format_kind = dnnl_format_kind_any;
  const dnnl_memory_desc_t *bias = layer.bias.is_there() ? &memory.bias : nullptr;
  switch (layer.what()) {
    case LayerKind::convolution:
    case LayerKind::depthwise:
      return dnnl_dilated_convolution_forward_desc_init(
          &operation.convolution, dnnl_forward_inference, dnnl_convolution_direct, &memory.source,
          &weights, bias, &memory.result, strides, dilations, before, after);
    case LayerKind::inner_product:
      if (is_matmul(layer))
        return dnnl_matmul_desc_init(&operation.matmul, &memory.source, &weights, bias,
                                     &memory.result);
      return dnnl_inner_product_forward_desc_init(&operation.inner_product, dnnl_forward_inference,
                                                  &memory.source, &weights, bias, &memory.result);
    case LayerKind::max_pool:
    case LayerKind::average_pool:
      return dnnl_pooling_forward_desc_init(&operation.pooling, dnnl_forward_inference,
                                            algorithm_of_kind(layer.what()), &memory.source,
                                            &memory.result, strides, kernel_extents, before, after);
    case LayerKind::softmax:
      return dnnl_softmax_forward_desc_init(&operation.softmax, dnnl_forward_inference,
                                            &memory.source, 1);
    case LayerKind::eltwise:
      if (layer.is_int8())
        return dnnl_binary_desc_init(&operation.binary, dnnl_binary_max, &memory.source,
                                     &memory.source, &memory.result);
      return dnnl_eltwise_forward_desc_init(
          &operation.eltwise, dnnl_forward_inference,
          algorithm_of(static_cast<LayerFunction>(layer.function)), &memory.source,
          LayerFields::number(layer.alpha), LayerFields::number(layer.beta));
    default:
      if (subtracts_zero_point_first(layer))
        return dnnl_binary_desc_init(&operation.binary, dnnl_binary_sub, &memory.source,
                                     &memory.zero_point, &memory.result);
      if (algorithm_of_kind(layer.what()) == dnnl_alg_kind_undef) return dnnl_invalid_arguments;
      return dnnl_binary_desc_init(&operation.binary, algorithm_of_kind(layer.what()),
                                   &memory.source, &memory.addend, &memory.result);
  }
}

bool is_plain_loop(const_dnnl_primitive_desc_t primitive) {
  const char *name = nullptr;
  return dnnl_primitive_desc_query(primitive, dnnl_query_impl_info_str, 0,
                                   static_cast<void *>(&name)) == dnnl_success &&
         strncmp(name, "ref", 3) == 0;
}

// The first of oneDNN's implementations that is exact.
dnnl_status_t find_plain_loop(const Operation &operation, const_dnnl_primitive_attr_t attributes,
                              dnnl_engine_t engine, dnnl_primitive_desc_t &primitive) {
  dnnl_primitive_desc_iterator_t all = nullptr;
  dnnl_status_t status =
      dnnl_primitive_desc_iterator_create(&all, &operation, attributes, engine, nullptr);
  while (status == dnnl_success) {
    primitive = dnnl_primitive_desc_iterator_fetch(all);
    if (primitive != nullptr && is_plain_loop(primitive)) break;
    (void)dnnl_primitive_desc_destroy(primitive);
    primitive = nullptr;
    status = dnnl_primitive_desc_iterator_next(all);
  }
  if (all != nullptr) (void)dnnl_primitive_desc_iterator_destroy(all);
  return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
}

// oneDNN 2.6.3 takes a fused addend on 64-bit Arm and computes without it; its plain loops do not leave it away.
bool loses_addends(const rt::LayerFields &layer, const rt::LayerPlace &addend) {
#if defined(__aarch64__)
  return addend.is_there() && !is_binary(layer);
#else
  (void)layer, (void)addend;
  return false;
#endif
}

}  // namespace

bool sums_saturate() {
#if defined(__x86_64__) || defined(__i386__)
  const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
  const auto has = [&](dnnl_cpu_isa_t wanted) { return (isa & wanted) == wanted; };
  return !has(dnnl_cpu_isa_avx512_core_vnni) && !has(dnnl_cpu_isa_avx2_vnni);
#else
  return false;
#endif
}

dnnl_status_t describe(dnnl_engine_t engine, const rt::Layer &layer, const float *weight_scales,
                       LayerMemory &memory, dnnl_primitive_desc_t &primitive) {
  dnnl_primitive_attr_t attributes = nullptr;
  Operation operation;
  dnnl_status_t status = describe_operands(layer, memory);
  if (status == dnnl_success) status = describe_operation(layer, memory, operation);
  if (status == dnnl_success) status = dnnl_primitive_attr_create(&attributes);
  if (status == dnnl_success) status = set_attributes(layer, memory, weight_scales, attributes);
  if (status == dnnl_success)
    status = (multiplies_int8(layer) && sums_saturate()) || loses_addends(layer, layer.addend)
                 ? find_plain_loop(operation, attributes, engine, primitive)
                 : dnnl_primitive_desc_create(&primitive, &operation, attributes, engine, nullptr);
  if (attributes != nullptr) (void)dnnl_primitive_attr_destroy(attributes);
  return status;
}

}  // namespace intarsia::targets::dnnl
#endif
