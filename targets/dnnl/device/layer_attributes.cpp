// What happens to a result before it is written.
#include "intarsia/targets/dnnl/layer_attributes.h"

#ifdef INTARSIA_HAS_DNNL

#include <stdlib.h>

namespace intarsia::targets::dnnl {
namespace {

using rt::LayerFields;
using rt::LayerKind;

// A zero point and the size of a step.
struct Steps {
  float scale;
  int32_t zero_point;
};

// One operation after the other; the first refusal stays.
class PostOperations {
 public:
  PostOperations() : status_(dnnl_post_ops_create(&operations_)) {}
  ~PostOperations() {
    if (operations_ != nullptr) (void)dnnl_post_ops_destroy(operations_);
  }
  PostOperations(const PostOperations &) = delete;
  PostOperations &operator=(const PostOperations &) = delete;

  void apply(dnnl_alg_kind_t algorithm, float alpha, float beta) {
    if (status_ == dnnl_success)
      status_ = dnnl_post_ops_append_eltwise(operations_, 1, algorithm, alpha, beta);
  }
  void apply_function(int32_t function, int32_t alpha, int32_t beta) {
    if (static_cast<LayerFunction>(function) == LayerFunction::none) return;
    apply(algorithm_of(static_cast<LayerFunction>(function)), LayerFields::number(alpha),
          LayerFields::number(beta));
  }
  // The only function that results of int8 have, on steps counted from `zero_point`.
  void clip(dnnl_alg_kind_t algorithm, int32_t function, int32_t alpha, int32_t beta, float scale,
            int32_t zero_point) {
    if (static_cast<LayerFunction>(function) == LayerFunction::none) return;
    const auto steps = [&](int32_t word) {
      return LayerFields::number(word) / scale + static_cast<float>(zero_point);
    };
    if (static_cast<LayerFunction>(function) == LayerFunction::clip)
      apply(algorithm, steps(alpha), steps(beta));
    else
      status_ = dnnl_unimplemented;
  }
  void add(const dnnl_memory_desc_t &addend) {
    if (status_ == dnnl_success)
      status_ = dnnl_post_ops_append_binary(operations_, dnnl_binary_add, &addend);
  }

  dnnl_status_t set(dnnl_primitive_attr_t attributes) const {
    return status_ == dnnl_success ? dnnl_primitive_attr_set_post_ops(attributes, operations_)
                                   : status_;
  }

 private:
  dnnl_post_ops_t operations_ = nullptr;
  dnnl_status_t status_;
};

void float_operations(const rt::Layer &layer, const LayerMemory &memory,
                      PostOperations &operations) {
  // An element-wise layer is its function.
  if (layer.what() != LayerKind::eltwise)
    operations.apply_function(layer.function, layer.alpha, layer.beta);
  if (layer.addend.is_there() && !is_binary(layer)) operations.add(memory.addend);
  operations.apply_function(layer.second_function, layer.second_alpha, layer.second_beta);
}

// Layers of int8. A float product or sum is brought to the result's steps, and rounded when it is written.
class Int8Attributes {
 public:
  Int8Attributes(const rt::Layer &layer, const LayerMemory &memory, const float *weight_scales,
                 dnnl_primitive_attr_t attributes, PostOperations &operations)
      : layer_(layer),
        memory_(memory),
        weight_scales_(weight_scales),
        attributes_(attributes),
        operations_(operations) {}

  dnnl_status_t run() {
    if (is_weighted(layer_)) return weighted();
    switch (layer_.what()) {
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        pool();
        return dnnl_success;
      case LayerKind::eltwise:  // the greater of a number and itself
        clip_first(result_.scale, result_.zero_point);
        return dnnl_success;
      case LayerKind::add:
        return sum(1);
      case LayerKind::sub:
        return sum(-1);
      case LayerKind::minimum:
      case LayerKind::maximum:
        clip_second(result_.zero_point);
        return dnnl_success;
      default:
        return dnnl_unimplemented;
    }
  }

 private:
  static Steps steps(int32_t scale, int32_t zero_point) {
    return {LayerFields::number(scale), zero_point};
  }
  // Of one algorithm oneDNN 2.6 computes every use with the numbers of one of them: the second clip is another algorithm that
  // does the same, and so is a factor beside a linear function.
  void clip_first(float scale, int32_t zero_point) {
    operations_.clip(dnnl_eltwise_clip, layer_.function, layer_.alpha, layer_.beta, scale,
                     zero_point);
  }
  void clip_second(int32_t zero_point) {
    operations_.clip(dnnl_eltwise_clip_v2, layer_.second_function, layer_.second_alpha,
                     layer_.second_beta, result_.scale, zero_point);
  }
  void multiply(float factor) { operations_.apply(dnnl_eltwise_pow, factor, 1); }

  dnnl_status_t set_zero_point(int argument, int32_t zero_point) {
    if (zero_point == 0) return dnnl_success;
    return dnnl_primitive_attr_set_zero_points(attributes_, argument, 1, 0, &zero_point);
  }

  // Sums of products become steps of this scale.
  dnnl_status_t set_output_scales(float scale) {
    const int32_t count = layer_.weight_scales;
    if (count != 1 && count != layer_.out_c) return dnnl_invalid_arguments;
    auto *scales = static_cast<float *>(malloc(static_cast<size_t>(count) * sizeof(float)));
    if (scales == nullptr) return dnnl_out_of_memory;
    for (int32_t i = 0; i < count; ++i)
      scales[i] = source_.scale * (weight_scales_ == nullptr ? 1.0f : weight_scales_[i]) / scale;
    const dnnl_status_t status =
        dnnl_primitive_attr_set_output_scales(attributes_, count, count == 1 ? 0 : 1 << 1, scales);
    free(scales);
    return status;
  }

  dnnl_status_t weighted() {
    const bool adds = layer_.addend.is_there();
    const Steps written = adds ? middle_ : result_;
    dnnl_status_t status = set_output_scales(written.scale);
    if (status == dnnl_success) status = set_zero_point(DNNL_ARG_SRC, source_.zero_point);
    if (adds)
      clip_as_written();
    else
      clip_first(written.scale, 0);
    operations_.apply(dnnl_eltwise_round, 0, 0);
    if (adds) {
      add_addend(middle_.scale);
      return status;
    }
    clip_second(0);
    if (status == dnnl_success) status = set_zero_point(DNNL_ARG_DST, result_.zero_point);
    return status;
  }

  // To what the function leaves of the steps there are.
  void clip_as_written() {
    float low = static_cast<float>(-128 - middle_.zero_point);
    float high = static_cast<float>(127 - middle_.zero_point);
    if (static_cast<LayerFunction>(layer_.function) == LayerFunction::clip) {
      const float alpha = LayerFields::number(layer_.alpha) / middle_.scale;
      const float beta = LayerFields::number(layer_.beta) / middle_.scale;
      low = alpha > low ? alpha : low;
      high = beta < high ? beta : high;
    }
    operations_.apply(dnnl_eltwise_clip, low, high);
  }

  // To steps of `scale` without a zero point. A layer that only adds does the same, so that both round alike.
  void add_addend(float scale) {
    const float factor = addend_.scale / result_.scale;
    multiply(scale / addend_.scale);
    operations_.add(memory_.addend);
    operations_.apply(
        dnnl_eltwise_linear, factor,
        static_cast<float>(result_.zero_point) - factor * static_cast<float>(addend_.zero_point));
    clip_second(result_.zero_point);
  }

  void pool() {
    if (source_.scale != result_.scale || source_.zero_point != result_.zero_point) {
      const float factor = source_.scale / result_.scale;
      operations_.apply(
          dnnl_eltwise_linear, factor,
          static_cast<float>(result_.zero_point) - factor * static_cast<float>(source_.zero_point));
    }
    clip_first(result_.scale, result_.zero_point);
  }

  dnnl_status_t sum(float sign) {
    if (subtracts_zero_point_first(layer_)) {
      add_addend(source_.scale);
      return dnnl_success;
    }
    // In steps of the addend first.
    const float factor = source_.scale / addend_.scale;
    const float offset = (source_.scale * static_cast<float>(source_.zero_point) +
                          sign * addend_.scale * static_cast<float>(addend_.zero_point)) /
                         result_.scale;
    operations_.apply(dnnl_eltwise_linear, addend_.scale / result_.scale,
                      static_cast<float>(result_.zero_point) - offset);
    clip_second(result_.zero_point);
    return dnnl_primitive_attr_set_scales(attributes_, DNNL_ARG_SRC_0, 1, 0, &factor);
  }

  const rt::Layer &layer_;
  const LayerMemory &memory_;
  const float *weight_scales_;
  dnnl_primitive_attr_t attributes_;
  PostOperations &operations_;
  const Steps source_ = steps(layer_.source_scale, layer_.source_zero_point);
  const Steps middle_ = steps(layer_.middle_scale, layer_.middle_zero_point);
  const Steps addend_ = steps(layer_.addend_scale, layer_.addend_zero_point);
  const Steps result_ = steps(layer_.result_scale, layer_.result_zero_point);
};

}  // namespace

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

dnnl_status_t set_attributes(const rt::Layer &layer, const LayerMemory &memory,
                             const float *weight_scales, dnnl_primitive_attr_t attributes) {
  PostOperations operations;
  dnnl_status_t status =
      dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
  if (status != dnnl_success) return status;
  if (layer.is_int8())
    status = Int8Attributes(layer, memory, weight_scales, attributes, operations).run();
  else
    float_operations(layer, memory, operations);
  return status == dnnl_success ? operations.set(attributes) : status;
}

int addend_argument(const LayerFields &layer) {
  // Behind the factor.
  if (subtracts_zero_point_first(layer)) return DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1;
  if (is_binary(layer)) return DNNL_ARG_SRC_1;
  // Of int8: behind clip, round and factor.
  const int before = layer.is_int8() ? 3 : layer.function == 0 ? 0 : 1;
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(before) | DNNL_ARG_SRC_1;
}

}  // namespace intarsia::targets::dnnl
#endif
