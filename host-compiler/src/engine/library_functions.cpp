#include "engine/library_functions.h"

#include <map>
#include <type_traits>
#include <utility>

#include "intarsia/kernels/kernels.h"

namespace intarsia::engine {
namespace {

template <typename T>
constexpr DataType data_type() {
  if constexpr (std::is_same_v<T, float>)
    return DataType::Float32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DataType::Int64;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DataType::UInt32;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DataType::Int16;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DataType::Int8;
  else
    return DataType::Int32;
}

template <typename T>
Value given(T value) {
  if constexpr (std::is_same_v<T, float>)
    return of_float(value);
  else
    return of_int(value);
}

template <typename T>
T lane(const LaneOperand& operand, int at) {
  if (operand.lanes == nullptr) return host_kernels::number<T>(operand.same);
  if constexpr (std::is_same_v<T, float>)
    return operand.lanes->f32[at];
  else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint32_t>)
    return static_cast<T>(operand.lanes->i64[at]);
  else
    return static_cast<T>(operand.lanes->i32[at]);
}

template <typename T>
void put(Lanes& lanes, int at, T value) {
  if constexpr (std::is_same_v<T, float>)
    lanes.f32[at] = value;
  else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint32_t>)
    lanes.i64[at] = value;
  else
    lanes.i32[at] = value;
}

template <auto function>
struct Scalar;
template <typename Answer, typename... Parameters, Answer (*function)(Parameters...)>
struct Scalar<function> {
  static_assert(sizeof...(Parameters) <= ScalarFunction::kMostArguments);
  static Value call(const Value* arguments) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return given(function(host_kernels::number<Parameters>(arguments[i])...));
    }
    (std::index_sequence_for<Parameters...>());
  }
  static void call_lanes(int count, const LaneOperand* arguments, Lanes& results) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      for (int at = 0; at < count; ++at)
        put<Answer>(results, at, function(lane<Parameters>(arguments[i], at)...));
    }
    (std::index_sequence_for<Parameters...>());
  }
  static constexpr ScalarFunction made() {
    return {
        call, call_lanes, sizeof...(Parameters), {data_type<Parameters>()...}, data_type<Answer>()};
  }
};

#define SCALAR(name) \
  { #name, Scalar < name> ::made() }
#define KERNEL(name) \
  { #name, kernel_function < name>() }

const std::map<std::string, ScalarFunction>& scalar_functions() {
  static const std::map<std::string, ScalarFunction> kFunctions = {
      SCALAR(intarsia_clamp_i32),
      SCALAR(intarsia_divide_round_i32),
      SCALAR(intarsia_square_i32),
      SCALAR(intarsia_add_wrapping_i32),
      SCALAR(intarsia_divide_f32),
      SCALAR(intarsia_divide_q),
      SCALAR(intarsia_mul_q31),
      SCALAR(intarsia_shift_right_round),
      SCALAR(intarsia_requantize_right),
      SCALAR(intarsia_requantize),
      SCALAR(intarsia_requantize_wide),
      SCALAR(intarsia_exp_q5),
      SCALAR(intarsia_reciprocal_of_one_plus_q31),
      SCALAR(intarsia_exp_f32),
      SCALAR(intarsia_logistic_f32),
      SCALAR(intarsia_tanh_f32),
      SCALAR(intarsia_log_f32),
      SCALAR(intarsia_sqrt_f32),
      SCALAR(intarsia_floor_f32),
      SCALAR(intarsia_ceil_f32),
      SCALAR(intarsia_round_even_f32),
      SCALAR(intarsia_sin_f32),
      SCALAR(intarsia_cos_f32),
      SCALAR(intarsia_erf_f32),
      SCALAR(intarsia_gelu_f32),
      SCALAR(intarsia_gelu_tanh_f32),
      SCALAR(intarsia_pow_f32),
      SCALAR(intarsia_atan2_f32),
      SCALAR(intarsia_floor_mod_f32),
      SCALAR(intarsia_divide_i32),
      SCALAR(intarsia_floor_div_i32),
      SCALAR(intarsia_floor_mod_i32),
      SCALAR(intarsia_truncate_f32),
      SCALAR(intarsia_quantize_f32),
      SCALAR(intarsia_rsqrt_s16),
      SCALAR(intarsia_sigmoid_s16),
      SCALAR(intarsia_tanh_s16),
  };
  return kFunctions;
}

const std::map<std::string, KernelFunction>& library_kernels() {
  static const std::map<std::string, KernelFunction> kFunctions = {
      KERNEL(intarsia_move_back),
      KERNEL(intarsia_l2_normalize_s8),
      KERNEL(intarsia_l2_normalize_f32),
      KERNEL(intarsia_log_softmax_f32),
      KERNEL(intarsia_log_softmax_s8),
      KERNEL(intarsia_softmax_s8),
      KERNEL(intarsia_softmax_s8_s16),
      KERNEL(intarsia_softmax_s16),
      KERNEL(intarsia_softmax_f32),
      KERNEL(intarsia_quantize_row),
      KERNEL(intarsia_quantize_row_asymmetric),
      KERNEL(intarsia_quantize_rows_together),
      KERNEL(intarsia_signal_auto_scale),
      KERNEL(intarsia_signal_rfft_s16),
      KERNEL(intarsia_signal_irfft_s16),
      KERNEL(intarsia_signal_energy),
      KERNEL(intarsia_signal_filter_bank),
      KERNEL(intarsia_signal_square_root),
      KERNEL(intarsia_signal_spectral_subtraction),
      KERNEL(intarsia_signal_pcan),
      KERNEL(intarsia_signal_log),
      KERNEL(intarsia_decode_boxes),
      KERNEL(intarsia_detect_boxes),
      KERNEL(intarsia_detect_boxes_by_class),
  };
  return kFunctions;
}

template <typename Functions>
auto found(const Functions& functions, const std::string& name) {
  const auto at = functions.find(name);
  return at == functions.end() ? nullptr : &at->second;
}

}  // namespace

const ScalarFunction* find_scalar_function(const std::string& name) {
  return found(scalar_functions(), name);
}

const KernelFunction* find_library_kernel(const std::string& name) {
  return found(library_kernels(), name);
}

}  // namespace intarsia::engine
