#include "intarsia/targets/arm_acl/layer_functions.h"

#ifdef INTARSIA_HAS_ARM_ACL

// All that the library's headers include of the standard library's, before what is a word of C++20 becomes another name: the
// headers have a namespace that is called so.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
#define requires arm_compute_requires
#include <arm_compute/runtime/NEON/functions/NEActivationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticAddition.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticSubtraction.h>
#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEElementwiseOperations.h>
#include <arm_compute/runtime/NEON/functions/NEElementwiseUnaryLayer.h>
#include <arm_compute/runtime/NEON/functions/NEFullyConnectedLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPixelWiseMultiplication.h>
#include <arm_compute/runtime/NEON/functions/NEPoolingLayer.h>
#include <arm_compute/runtime/NEON/functions/NESoftmaxLayer.h>
#include <arm_compute/runtime/Tensor.h>
#undef requires

namespace intarsia::targets::arm_acl {
namespace {

namespace acl = arm_compute;
using rt::LayerFields;
using rt::LayerFunction;
using rt::LayerKind;
using Activation = acl::ActivationLayerInfo;

size_t extent(int32_t word) {
  return static_cast<size_t>(word);
}

acl::TensorInfo image(int32_t batch, int32_t h, int32_t w, int32_t c) {
  acl::TensorInfo info(acl::TensorShape(extent(c), extent(w), extent(h), extent(batch)), 1,
                       acl::DataType::F32);
  info.set_data_layout(acl::DataLayout::NHWC);
  return info;
}

acl::TensorInfo matrix(int32_t rows, int32_t columns) {
  return {acl::TensorShape(extent(columns), extent(rows)), 1, acl::DataType::F32};
}

// A step and a zero point, as the library's tensors of int8 have them; of float32 it stays what it is.
acl::TensorInfo quantised(acl::TensorInfo info, const LayerFields &layer, int32_t scale,
                          int32_t zero_point) {
  if (!layer.is_int8()) return info;
  info.set_data_type(acl::DataType::QASYMM8_SIGNED);
  info.set_quantization_info(acl::QuantizationInfo(LayerFields::number(scale), zero_point));
  return info;
}

// Weights with a scale for each output are of a type of their own. Where the scales are not there the library is only asked, and
// any will do.
acl::TensorInfo quantised_weights(acl::TensorInfo info, const LayerFields &layer,
                                  const float *scales) {
  if (!layer.is_int8()) return info;
  std::vector<float> values(extent(layer.weight_scales));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scales != nullptr ? scales[i]
                                  : LayerFields::number(layer.result_scale) /
                                        LayerFields::number(layer.source_scale) / 64;
  info.set_data_type(values.size() == 1 ? acl::DataType::QASYMM8_SIGNED
                                        : acl::DataType::QSYMM8_PER_CHANNEL);
  info.set_quantization_info(values.size() == 1 ? acl::QuantizationInfo(values[0], 0)
                                                : acl::QuantizationInfo(values));
  return info;
}

// Nothing where the library's activation layer has no such function.
bool activation_of(int32_t function, int32_t alpha_word, int32_t beta_word, Activation &made) {
  using Function = Activation::ActivationFunction;
  const float alpha = LayerFields::number(alpha_word), beta = LayerFields::number(beta_word);
  switch (static_cast<LayerFunction>(function)) {
    case LayerFunction::relu:
      made = alpha == 0 ? Activation(Function::RELU) : Activation(Function::LEAKY_RELU, alpha);
      return true;
    case LayerFunction::clip:
      made = Activation(Function::LU_BOUNDED_RELU, beta, alpha);
      return true;
    case LayerFunction::logistic:
      made = Activation(Function::LOGISTIC);
      return true;
    case LayerFunction::tanh:
      made = Activation(Function::TANH, 1, 1);
      return true;
    case LayerFunction::elu:
      made = Activation(Function::ELU, alpha);
      return true;
    case LayerFunction::hard_swish:
      made = Activation(Function::HARD_SWISH);
      return true;
    case LayerFunction::abs:
      made = Activation(Function::ABS);
      return true;
    case LayerFunction::square:
      made = Activation(Function::SQUARE);
      return true;
    case LayerFunction::sqrt:
      made = Activation(Function::SQRT);
      return true;
    case LayerFunction::linear:
      made = Activation(Function::LINEAR, alpha, beta);
      return true;
    default:
      return false;
  }
}

}  // namespace

struct LayerFunctions::State {
  struct Operand {
    acl::Tensor tensor;
    rt::LayerPlace place;
    bool is_copied = false;  // the library wants room between rows, which ours do not have

    // Row by row between our memory and the library's.
    void copy(uint8_t *ours, bool to_ours) const {
      const acl::ITensorInfo &info = *tensor.info();
      const size_t row = info.dimension(0) * info.element_size();
      for (size_t n = 0; n < info.dimension(3); ++n)
        for (size_t z = 0; z < info.dimension(2); ++z)
          for (size_t y = 0; y < info.dimension(1); ++y, ours += row) {
            uint8_t *theirs = tensor.ptr_to_element(
                acl::Coordinates(0, static_cast<int>(y), static_cast<int>(z), static_cast<int>(n)));
            std::memcpy(to_ours ? ours : theirs, to_ours ? theirs : ours, row);
          }
    }
  };
  Operand source, weights, bias, addend, result;
  Operand middle;  // the result's memory, before an addend is added
  std::vector<std::unique_ptr<acl::IFunction>> functions;
  std::string problem;
  void *const *bases = nullptr;  // of the run that is now

  uint8_t *at(const Operand &operand) const {
    return static_cast<uint8_t *>(bases[operand.place.region]) + operand.place.offset;
  }

  // What the kind's function writes.
  acl::Tensor &written() { return middle.place.is_there() ? middle.tensor : result.tensor; }

  static const acl::ITensorInfo *info(acl::ITensor *tensor) {
    return tensor == nullptr ? nullptr : tensor->info();
  }

  // Asks the function's own validate() first; its configure() may end the program.
  template <typename Function, typename... Options>
  void add(acl::ITensor *in, acl::ITensor *out, const Options &...options) {
    if (!problem.empty()) return;
    const acl::Status status = Function::validate(info(in), info(out), options...);
    if (!take<Function>(status)) return;
    static_cast<Function &>(*functions.back()).configure(in, out, options...);
  }
  template <typename Function, typename... Options>
  void add_binary(acl::ITensor *a, acl::ITensor *b, acl::ITensor *out, const Options &...options) {
    if (!problem.empty()) return;
    const acl::Status status = Function::validate(info(a), info(b), info(out), options...);
    if (!take<Function>(status)) return;
    static_cast<Function &>(*functions.back()).configure(a, b, out, options...);
  }
  template <typename Function, typename... Options>
  void add_weighted(const Options &...options) {
    if (!problem.empty()) return;
    acl::ITensor *with = bias.place.is_there() ? &bias.tensor : nullptr;
    const acl::Status status = Function::validate(info(&source.tensor), info(&weights.tensor),
                                                  info(with), info(&written()), options...);
    if (!take<Function>(status)) return;
    static_cast<Function &>(*functions.back())
        .configure(&source.tensor, &weights.tensor, with, &written(), options...);
  }
  template <typename Function>
  bool take(const acl::Status &status) {
    if (status.error_code() != acl::ErrorCode::OK) {
      problem = status.error_description();
      if (problem.empty()) problem = "it says no more";
      return false;
    }
    functions.push_back(std::make_unique<Function>());
    return true;
  }

  void add_activation(int32_t function, int32_t alpha, int32_t beta, acl::Tensor &in,
                      acl::Tensor *out) {
    if (function == 0 || !problem.empty()) return;
    Activation activation;
    const auto which = static_cast<LayerFunction>(function);
    if (activation_of(function, alpha, beta, activation))
      add<acl::NEActivationLayer>(&in, out, activation);
    else if (which == LayerFunction::exp && out != nullptr)
      add<acl::NEExpLayer>(&in, out);
    else if (which == LayerFunction::log && out != nullptr)
      add<acl::NELogLayer>(&in, out);
    else
      problem = "it has no such function of one number";
  }

  void describe(const rt::Layer &layer, const float *weight_scales) {
    const auto is = [&](LayerKind kind) { return layer.what() == kind; };
    source.place = layer.source, weights.place = layer.weights, bias.place = layer.bias;
    addend.place = layer.addend, result.place = layer.result;
    if (layer.addend.is_there() && layer.what() < LayerKind::add) middle.place = layer.result;
    const bool rows = is(LayerKind::inner_product) || is(LayerKind::softmax);
    const auto set = [&](Operand &operand, const acl::TensorInfo &info, int32_t scale,
                         int32_t zero_point) {
      operand.tensor.allocator()->init(quantised(info, layer, scale, zero_point));
    };
    const acl::TensorInfo written = rows
                                        ? matrix(layer.batch, layer.out_c)
                                        : image(layer.batch, layer.out_h, layer.out_w, layer.out_c);
    set(source,
        rows ? matrix(layer.batch, layer.in_c)
             : image(layer.batch, layer.in_h, layer.in_w, layer.in_c),
        layer.source_scale, layer.source_zero_point);
    set(middle, written, layer.middle_scale, layer.middle_zero_point);
    set(result, written, layer.result_scale, layer.result_zero_point);
    set(addend,
        rows ? matrix(layer.b_batch, layer.b_c)
             : image(layer.b_batch, layer.b_h, layer.b_w, layer.b_c),
        layer.addend_scale, layer.addend_zero_point);
    bias.tensor.allocator()->init(
        acl::TensorInfo(acl::TensorShape(extent(layer.out_c)), 1,
                        layer.is_int8() ? acl::DataType::S32 : acl::DataType::F32));
    const auto set_weights = [&](const acl::TensorInfo &info) {
      weights.tensor.allocator()->init(quantised_weights(info, layer, weight_scales));
    };
    if (is(LayerKind::inner_product)) {
      set_weights(matrix(layer.out_c, layer.in_c));
    } else if (is(LayerKind::depthwise)) {
      set_weights(image(1, layer.kernel_h, layer.kernel_w, layer.out_c));
    } else if (is(LayerKind::convolution)) {
      set_weights(image(layer.out_c, layer.kernel_h, layer.kernel_w, layer.in_c));
    }
  }

  void add_kind(const rt::Layer &layer) {
    const auto number = [](int32_t word) { return static_cast<unsigned>(word); };
    const acl::PadStrideInfo window(number(layer.stride_w), number(layer.stride_h),
                                    number(layer.pad_left), number(layer.pad_right),
                                    number(layer.pad_top), number(layer.pad_bottom),
                                    acl::DimensionRoundingType::FLOOR);
    const acl::Size2D dilation(extent(layer.dilation_w), extent(layer.dilation_h));
    const acl::Size2D kernel(extent(layer.kernel_w), extent(layer.kernel_h));
    acl::Tensor &a = source.tensor, &b = addend.tensor, &out = result.tensor;
    constexpr auto kPolicy = acl::ConvertPolicy::SATURATE;
    switch (layer.what()) {
      case LayerKind::convolution:
        if (layer.groups != 1) problem = "it has no convolution of groups";
        return add_weighted<acl::NEConvolutionLayer>(window, acl::WeightsInfo(), dilation);
      case LayerKind::depthwise:
        return add_weighted<acl::NEDepthwiseConvolutionLayer>(
            window, number(layer.out_c / layer.in_c), Activation(), dilation);
      case LayerKind::inner_product:
        return add_weighted<acl::NEFullyConnectedLayer>();
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        return add<acl::NEPoolingLayer>(
            &a, &out,
            acl::PoolingLayerInfo(
                layer.what() == LayerKind::max_pool ? acl::PoolingType::MAX : acl::PoolingType::AVG,
                kernel, acl::DataLayout::NHWC, window, true));
      case LayerKind::softmax:
        return add<acl::NESoftmaxLayer>(&a, &out);
      case LayerKind::eltwise:
        return add_activation(layer.function, layer.alpha, layer.beta, a, &out);
      case LayerKind::add:
        return add_binary<acl::NEArithmeticAddition>(&a, &b, &out, kPolicy);
      case LayerKind::sub:
        return add_binary<acl::NEArithmeticSubtraction>(&a, &b, &out, kPolicy);
      case LayerKind::mul:
        return add_binary<acl::NEPixelWiseMultiplication>(&a, &b, &out, 1.0f, kPolicy,
                                                          acl::RoundingPolicy::TO_ZERO);
      case LayerKind::div:
        return add_binary<acl::NEElementwiseDivision>(&a, &b, &out);
      case LayerKind::minimum:
        return add_binary<acl::NEElementwiseMin>(&a, &b, &out);
      case LayerKind::maximum:
        return add_binary<acl::NEElementwiseMax>(&a, &b, &out);
    }
    problem = "there is no such layer";
  }

  // What follows is done in place, on the result.
  void add_rest(const rt::Layer &layer) {
    acl::Tensor &out = result.tensor;
    if (layer.what() != LayerKind::eltwise)
      add_activation(layer.function, layer.alpha, layer.beta, written(), nullptr);
    if (layer.addend.is_there() && layer.what() < LayerKind::add)
      add_binary<acl::NEArithmeticAddition>(&middle.tensor, &addend.tensor, &out,
                                            acl::ConvertPolicy::SATURATE);
    add_activation(layer.second_function, layer.second_alpha, layer.second_beta, out, nullptr);
  }

  template <typename Do>
  void for_each_operand(const Do &act) {
    for (Operand *operand : {&source, &weights, &bias, &addend, &middle, &result})
      if (operand->place.is_there()) act(*operand);
  }
};

LayerFunctions::LayerFunctions() : state_(std::make_unique<State>()) {}
LayerFunctions::~LayerFunctions() = default;

std::string LayerFunctions::configure(const rt::Layer &layer, const float *weight_scales) {
  State &state = *state_;
  if (layer.is_int8() && layer.what() <= LayerKind::inner_product && layer.weight_scales != 1 &&
      layer.weight_scales != layer.out_c)
    return "the weights have neither one scale nor one for each output";
  state.describe(layer, weight_scales);
  state.add_kind(layer);
  state.add_rest(layer);
  state.for_each_operand([&](State::Operand &operand) {
    const acl::ITensorInfo &info = *operand.tensor.info();
    operand.is_copied = info.has_padding();
    if (state.problem.empty() && operand.is_copied && state.middle.place.is_there())
      state.problem = "it wants room between the rows of a tensor that a sum is made in";
    const size_t bytes = info.tensor_shape().total_size() * info.element_size();
    if (state.problem.empty() && bytes > operand.place.bytes && operand.place.bytes > 0)
      state.problem = "an operand is too short";
  });
  if (!state.problem.empty()) return state.problem;
  state.for_each_operand([](State::Operand &operand) {
    if (operand.is_copied) operand.tensor.allocator()->allocate();
  });
  return "";
}

bool LayerFunctions::bind(void *const *bases) {
  bool bound = true;
  state_->bases = bases;
  state_->for_each_operand([&](State::Operand &operand) {
    if (operand.is_copied) return;
    bound = bound && operand.tensor.allocator()->import_memory(state_->at(operand)).error_code() ==
                         acl::ErrorCode::OK;
  });
  return bound;
}

void LayerFunctions::run() {
  State &state = *state_;
  state.for_each_operand([&](State::Operand &operand) {
    if (operand.is_copied && &operand != &state.result) operand.copy(state.at(operand), false);
  });
  for (const std::unique_ptr<acl::IFunction> &function : state.functions) function->run();
  if (state.result.is_copied) state.result.copy(state.at(state.result), true);
}

}  // namespace intarsia::targets::arm_acl
#endif
