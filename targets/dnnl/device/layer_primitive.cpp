#include "intarsia/targets/dnnl/layer_primitive.h"

#ifdef INTARSIA_HAS_DNNL

namespace intarsia::targets::dnnl {
namespace {

using rt::LayerFields;
using rt::LayerFunction;
using rt::LayerKind;

constexpr dnnl_data_type_t kType = dnnl_f32;

// Extents in oneDNN's order, in memory with channels last.
dnnl_status_t image(dnnl_memory_desc_t &desc, int32_t batch, int32_t h, int32_t w, int32_t c) {
  const dnnl_dims_t dims = {batch, c, h, w};
  return dnnl_memory_desc_init_by_tag(&desc, 4, dims, kType, dnnl_nhwc);
}

dnnl_status_t matrix(dnnl_memory_desc_t &desc, int32_t rows, int32_t columns) {
  const dnnl_dims_t dims = {rows, columns};
  return dnnl_memory_desc_init_by_tag(&desc, 2, dims, kType, dnnl_ab);
}

bool is_matrix(const LayerFields &layer) {
  return layer.what() == LayerKind::inner_product || layer.what() == LayerKind::softmax;
}

// Weights as layers.def has them: group, output and input of the group, height, width.
dnnl_status_t kernel(const LayerFields &layer, dnnl_memory_desc_t &desc) {
  if (layer.what() == LayerKind::inner_product) return matrix(desc, layer.out_c, layer.in_c);
  const int64_t groups = layer.groups, h = layer.kernel_h, w = layer.kernel_w;
  if (groups <= 0) return dnnl_invalid_arguments;
  const int64_t inputs = layer.in_c / groups, outputs = layer.out_c / groups;
  const dnnl_dims_t dims = {groups, outputs, inputs, h, w};
  if (layer.what() == LayerKind::depthwise) {
    const dnnl_dims_t strides = {outputs, 1, 1, w * layer.out_c, layer.out_c};
    return dnnl_memory_desc_init_by_strides(&desc, 5, dims, kType, strides);
  }
  const dnnl_dims_t strides = {outputs * h * w * inputs, h * w * inputs, 1, w * inputs, inputs};
  if (groups == 1) return dnnl_memory_desc_init_by_strides(&desc, 4, dims + 1, kType, strides + 1);
  return dnnl_memory_desc_init_by_strides(&desc, 5, dims, kType, strides);
}

dnnl_status_t describe_operands(const rt::Layer &layer, LayerMemory &memory) {
  const bool rows = is_matrix(layer);
  dnnl_status_t status =
      rows ? matrix(memory.source, layer.batch, layer.in_c)
           : image(memory.source, layer.batch, layer.in_h, layer.in_w, layer.in_c);
  if (status == dnnl_success)
    status = rows ? matrix(memory.result, layer.batch, layer.out_c)
                  : image(memory.result, layer.batch, layer.out_h, layer.out_w, layer.out_c);
  if (status == dnnl_success && is_weighted(layer)) status = kernel(layer, memory.weights);
  if (status == dnnl_success && layer.bias.is_there()) {
    const dnnl_dims_t dims = {layer.out_c};
    status = dnnl_memory_desc_init_by_tag(&memory.bias, 1, dims, kType, dnnl_a);
  }
  if (status == dnnl_success && layer.addend.is_there())
    status = rows ? matrix(memory.addend, layer.b_batch, layer.b_c)
                  : image(memory.addend, layer.b_batch, layer.b_h, layer.b_w, layer.b_c);
  return status;
}

dnnl_alg_kind_t algorithm_of(LayerFunction function) {
  switch (function) {
    case LayerFunction::relu:
      return dnnl_eltwise_relu;
    case LayerFunction::clip:
      return dnnl_eltwise_clip;
    case LayerFunction::logistic:
      return dnnl_eltwise_logistic;
    case LayerFunction::tanh:
      return dnnl_eltwise_tanh;
    case LayerFunction::elu:
      return dnnl_eltwise_elu;
    case LayerFunction::hard_swish:
      return dnnl_eltwise_hardswish;
    case LayerFunction::gelu_tanh:
      return dnnl_eltwise_gelu_tanh;
    case LayerFunction::gelu_erf:
      return dnnl_eltwise_gelu_erf;
    case LayerFunction::abs:
      return dnnl_eltwise_abs;
    case LayerFunction::square:
      return dnnl_eltwise_square;
    case LayerFunction::sqrt:
      return dnnl_eltwise_sqrt;
    case LayerFunction::exp:
      return dnnl_eltwise_exp;
    case LayerFunction::log:
      return dnnl_eltwise_log;
    case LayerFunction::linear:
      return dnnl_eltwise_linear;
    case LayerFunction::none:
      break;
  }
  return dnnl_alg_kind_undef;
}

dnnl_alg_kind_t algorithm_of(LayerKind kind) {
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

dnnl_status_t append(dnnl_post_ops_t operations, int32_t function, int32_t alpha, int32_t beta) {
  const auto which = static_cast<LayerFunction>(function);
  if (which == LayerFunction::none) return dnnl_success;
  return dnnl_post_ops_append_eltwise(operations, 1, algorithm_of(which),
                                      LayerFields::number(alpha), LayerFields::number(beta));
}

bool has_addend_operation(const rt::Layer &layer) {
  return layer.addend.is_there() && !is_binary(layer);
}

// What happens to a result before it is written; and that scratch memory is ours.
dnnl_status_t set_attributes(const rt::Layer &layer, const LayerMemory &memory,
                             dnnl_primitive_attr_t attributes) {
  dnnl_post_ops_t operations = nullptr;
  dnnl_status_t status =
      dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
  if (status == dnnl_success) status = dnnl_post_ops_create(&operations);
  // An element-wise layer is its function.
  if (status == dnnl_success && layer.what() != LayerKind::eltwise)
    status = append(operations, layer.function, layer.alpha, layer.beta);
  if (status == dnnl_success && has_addend_operation(layer))
    status = dnnl_post_ops_append_binary(operations, dnnl_binary_add, &memory.addend);
  if (status == dnnl_success)
    status = append(operations, layer.second_function, layer.second_alpha, layer.second_beta);
  if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(attributes, operations);
  if (operations != nullptr) (void)dnnl_post_ops_destroy(operations);
  return status;
}

union Operation {
  dnnl_convolution_desc_t convolution;
  dnnl_inner_product_desc_t inner_product;
  dnnl_pooling_desc_t pooling;
  dnnl_softmax_desc_t softmax;
  dnnl_eltwise_desc_t eltwise;
  dnnl_binary_desc_t binary;
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
      return dnnl_inner_product_forward_desc_init(&operation.inner_product, dnnl_forward_inference,
                                                  &memory.source, &weights, bias, &memory.result);
    case LayerKind::max_pool:
    case LayerKind::average_pool:
      return dnnl_pooling_forward_desc_init(&operation.pooling, dnnl_forward_inference,
                                            algorithm_of(layer.what()), &memory.source,
                                            &memory.result, strides, kernel_extents, before, after);
    case LayerKind::softmax:
      return dnnl_softmax_forward_desc_init(&operation.softmax, dnnl_forward_inference,
                                            &memory.source, 1);
    case LayerKind::eltwise:
      return dnnl_eltwise_forward_desc_init(
          &operation.eltwise, dnnl_forward_inference,
          algorithm_of(static_cast<LayerFunction>(layer.function)), &memory.source,
          LayerFields::number(layer.alpha), LayerFields::number(layer.beta));
    default:
      if (algorithm_of(layer.what()) == dnnl_alg_kind_undef) return dnnl_invalid_arguments;
      return dnnl_binary_desc_init(&operation.binary, algorithm_of(layer.what()), &memory.source,
                                   &memory.addend, &memory.result);
  }
}

}  // namespace

dnnl_status_t describe(dnnl_engine_t engine, const rt::Layer &layer, LayerMemory &memory,
                       dnnl_primitive_desc_t &primitive) {
  dnnl_primitive_attr_t attributes = nullptr;
  Operation operation;
  dnnl_status_t status = describe_operands(layer, memory);
  if (status == dnnl_success) status = describe_operation(layer, memory, operation);
  if (status == dnnl_success) status = dnnl_primitive_attr_create(&attributes);
  if (status == dnnl_success) status = set_attributes(layer, memory, attributes);
  if (status == dnnl_success)
    status = dnnl_primitive_desc_create(&primitive, &operation, attributes, engine, nullptr);
  if (attributes != nullptr) (void)dnnl_primitive_attr_destroy(attributes);
  return status;
}

int addend_argument(const LayerFields &layer) {
  if (is_binary(layer)) return DNNL_ARG_SRC_1;
  const int before = layer.function == 0 ? 0 : 1;
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(before) | DNNL_ARG_SRC_1;
}

}  // namespace intarsia::targets::dnnl
#endif
