// The kernels for Cortex-M as this machine's compiler made them: their portable twins, with the same results.
#include "intarsia/targets/cortex_m/kernels.h"
#include "intarsia/builtin_targets.h"

namespace intarsia::targets::cortex_m {
namespace {

using engine::Value;

// A function that makes the struct from its fields, and how many there are.
#define FIELD(name) made.name = static_cast<decltype(made.name)>((fields++)->i);
#define STRUCT(name)                                        \
  struct intarsia_##name make_##name(const Value* fields) { \
    struct intarsia_##name made = {};

STRUCT(window)
#include "intarsia/targets/cortex_m/window.def"
return made;
}
STRUCT(add)
#include "intarsia/targets/cortex_m/add.def"
return made;
}
STRUCT(sum)
#include "intarsia/targets/cortex_m/sum.def"
return made;
}
STRUCT(lanes_sum)
#include "intarsia/targets/cortex_m/lanes_sum.def"
return made;
}
STRUCT(mean)
#include "intarsia/targets/cortex_m/mean.def"
return made;
}
STRUCT(matmul)
#include "intarsia/targets/cortex_m/matmul.def"
return made;
}
STRUCT(mul)
#include "intarsia/targets/cortex_m/mul.def"
return made;
}
STRUCT(prelu)
#include "intarsia/targets/cortex_m/prelu.def"
return made;
}
STRUCT(wide)
#include "intarsia/targets/cortex_m/wide.def"
return made;
}
STRUCT(staged)
#include "intarsia/targets/cortex_m/staged.def"
return made;
}
STRUCT(svdf)
#include "intarsia/targets/cortex_m/svdf.def"
return made;
}
STRUCT(lstm)
#include "intarsia/targets/cortex_m/lstm.def"
return made;
}
#undef STRUCT
#undef FIELD

#define FIELD(name) +1
constexpr size_t kWindowFields = 0
#include "intarsia/targets/cortex_m/window.def"
    ;
constexpr size_t kAddFields = 0
#include "intarsia/targets/cortex_m/add.def"
    ;
constexpr size_t kSumFields = 0
#include "intarsia/targets/cortex_m/sum.def"
    ;
constexpr size_t kLanesSumFields = 0
#include "intarsia/targets/cortex_m/lanes_sum.def"
    ;
constexpr size_t kMeanFields = 0
#include "intarsia/targets/cortex_m/mean.def"
    ;
constexpr size_t kMatmulFields = 0
#include "intarsia/targets/cortex_m/matmul.def"
    ;
constexpr size_t kMulFields = 0
#include "intarsia/targets/cortex_m/mul.def"
    ;
constexpr size_t kPreluFields = 0
#include "intarsia/targets/cortex_m/prelu.def"
    ;
constexpr size_t kWideFields = 0
#include "intarsia/targets/cortex_m/wide.def"
    ;
constexpr size_t kStagedFields = 0
#include "intarsia/targets/cortex_m/staged.def"
    ;
constexpr size_t kSvdfFields = 0
#include "intarsia/targets/cortex_m/svdf.def"
    ;
constexpr size_t kLstmFields = 0
#include "intarsia/targets/cortex_m/lstm.def"
    ;
#undef FIELD

}  // namespace

void add_engine(EngineRegistry& registry) {
#define ADD(name, what, fields) \
  registry.add_kernel(#name, engine::kernel_function_with_struct<&name, make_##what>(fields))
#define KERNEL(name) ADD(name, window, kWindowFields);
#include "intarsia/targets/cortex_m/kernels.def"
#undef KERNEL
#define KERNEL(name) ADD(name, staged, kStagedFields);
#include "intarsia/targets/cortex_m/staged_kernels.def"
#undef KERNEL
  ADD(intarsia_each_add_s8, add, kAddFields);
  ADD(intarsia_each_add_s16, add, kAddFields);
  ADD(intarsia_each_sub_s16, add, kAddFields);
  ADD(intarsia_each_squared_difference_s8, add, kAddFields);
  ADD(intarsia_each_squared_difference_s16, add, kAddFields);
  ADD(intarsia_each_lanes_add_s8, add, kAddFields);
  ADD(intarsia_each_sum_s8, sum, kSumFields);
  ADD(intarsia_each_lanes_sum_s8, lanes_sum, kLanesSumFields);
  ADD(intarsia_mean_s8, mean, kMeanFields);
  ADD(intarsia_mean_s16, mean, kMeanFields);
  ADD(intarsia_lanes_mean_s8, mean, kMeanFields);
  ADD(intarsia_matmul_s8, matmul, kMatmulFields);
  ADD(intarsia_matmul_s16, matmul, kMatmulFields);
  ADD(intarsia_matmul_f32, matmul, kMatmulFields);
  ADD(intarsia_mve_matmul_s8, matmul, kMatmulFields);
  ADD(intarsia_each_product_s8, mul, kMulFields);
  ADD(intarsia_each_product_s16, mul, kMulFields);
  ADD(intarsia_each_lanes_product_s8, mul, kMulFields);
  ADD(intarsia_each_prelu_s8, prelu, kPreluFields);
  ADD(intarsia_each_prelu_s16, prelu, kPreluFields);
  ADD(intarsia_each_leaky_relu_s16, prelu, kPreluFields);
  ADD(intarsia_dsp_short_conv_s16, wide, kWideFields);
  ADD(intarsia_dsp_wide_conv_s16, wide, kWideFields);
  ADD(intarsia_dsp_wide_depthwise_s16, wide, kWideFields);
  ADD(intarsia_mve_wide_conv_s16, wide, kWideFields);
  ADD(intarsia_mve_wide_depthwise_s16, wide, kWideFields);
  ADD(intarsia_mve_depthwise_s16, wide, kWideFields);
  ADD(intarsia_mve_depthwise_shared_s16, wide, kWideFields);
  ADD(intarsia_dsp_svdf_s8, svdf, kSvdfFields);
  ADD(intarsia_dsp_svdf_s16, svdf, kSvdfFields);
  ADD(intarsia_mve_svdf_s8, svdf, kSvdfFields);
  ADD(intarsia_mve_svdf_s16, svdf, kSvdfFields);
  ADD(intarsia_dsp_lstm_s8, lstm, kLstmFields);
  ADD(intarsia_dsp_lstm_s16, lstm, kLstmFields);
  ADD(intarsia_dsp_lstm_s16_short, lstm, kLstmFields);
  ADD(intarsia_mve_lstm_s8, lstm, kLstmFields);
  ADD(intarsia_mve_lstm_s16, lstm, kLstmFields);
  ADD(intarsia_mve_lstm_s16_short, lstm, kLstmFields);
#undef ADD
  registry.add_kernel("intarsia_softmax_table_s8",
                      engine::kernel_function<&intarsia_softmax_table_s8>());
  registry.add_kernel("intarsia_softmax_rows_s8",
                      engine::kernel_function<&intarsia_softmax_rows_s8>());
  registry.add_kernel("intarsia_log_softmax_table_s8",
                      engine::kernel_function<&intarsia_log_softmax_table_s8>());
  registry.add_kernel("intarsia_l2_normalize_rows_s8",
                      engine::kernel_function<&intarsia_l2_normalize_rows_s8>());
  registry.add_kernel("intarsia_each_lookup_s8",
                      engine::kernel_function<&intarsia_each_lookup_s8>());
  registry.add_kernel("intarsia_each_above_s8", engine::kernel_function<&intarsia_each_above_s8>());
  registry.add_kernel("intarsia_each_between_s8",
                      engine::kernel_function<&intarsia_each_between_s8>());
  registry.add_kernel("intarsia_each_quotient_s8",
                      engine::kernel_function<&intarsia_each_quotient_s8>());
  registry.add_kernel("intarsia_each_clamp_s8", engine::kernel_function<&intarsia_each_clamp_s8>());
  registry.add_kernel("intarsia_each_clamp_s16",
                      engine::kernel_function<&intarsia_each_clamp_s16>());
  registry.add_kernel("intarsia_each_larger_s8",
                      engine::kernel_function<&intarsia_each_larger_s8>());
  registry.add_kernel("intarsia_each_larger_s16",
                      engine::kernel_function<&intarsia_each_larger_s16>());
  registry.add_kernel("intarsia_each_smaller_s8",
                      engine::kernel_function<&intarsia_each_smaller_s8>());
  registry.add_kernel("intarsia_each_smaller_s16",
                      engine::kernel_function<&intarsia_each_smaller_s16>());
  registry.add_kernel("intarsia_each_sigmoid_s16",
                      engine::kernel_function<&intarsia_each_sigmoid_s16>());
  registry.add_kernel("intarsia_quantize_f32_s8",
                      engine::kernel_function<&intarsia_quantize_f32_s8>());
  registry.add_kernel("intarsia_quantize_f32_s16",
                      engine::kernel_function<&intarsia_quantize_f32_s16>());
  registry.add_kernel("intarsia_dequantize_s8_f32",
                      engine::kernel_function<&intarsia_dequantize_s8_f32>());
  registry.add_kernel("intarsia_dequantize_s16_f32",
                      engine::kernel_function<&intarsia_dequantize_s16_f32>());
  registry.add_kernel("intarsia_row_to_steps", engine::kernel_function<&intarsia_row_to_steps>());
  registry.add_kernel("intarsia_row_to_steps_asymmetric",
                      engine::kernel_function<&intarsia_row_to_steps_asymmetric>());
  registry.add_kernel("intarsia_rows_to_steps_together",
                      engine::kernel_function<&intarsia_rows_to_steps_together>());
  registry.add_kernel("intarsia_each_sum_f32", engine::kernel_function<&intarsia_each_sum_f32>());
  registry.add_kernel("intarsia_each_difference_f32",
                      engine::kernel_function<&intarsia_each_difference_f32>());
  registry.add_kernel("intarsia_each_product_f32",
                      engine::kernel_function<&intarsia_each_product_f32>());
  registry.add_kernel("intarsia_copy_rows_s8", engine::kernel_function<&intarsia_copy_rows_s8>());
  registry.add_kernel("intarsia_copy_rows_s16", engine::kernel_function<&intarsia_copy_rows_s16>());
  registry.add_kernel("intarsia_copy_rows_s32", engine::kernel_function<&intarsia_copy_rows_s32>());
  registry.add_kernel("intarsia_copy_rows_f32", engine::kernel_function<&intarsia_copy_rows_f32>());
  registry.add_kernel("intarsia_pick_rows_s8", engine::kernel_function<&intarsia_pick_rows_s8>());
  registry.add_kernel("intarsia_pick_rows_s16", engine::kernel_function<&intarsia_pick_rows_s16>());
  registry.add_kernel("intarsia_spread_s8", engine::kernel_function<&intarsia_spread_s8>());
  registry.add_kernel("intarsia_spread_s16", engine::kernel_function<&intarsia_spread_s16>());
  registry.add_kernel("intarsia_spread_f32", engine::kernel_function<&intarsia_spread_f32>());
  registry.add_kernel("intarsia_turn_s8", engine::kernel_function<&intarsia_turn_s8>());
  registry.add_kernel("intarsia_turn_s16", engine::kernel_function<&intarsia_turn_s16>());
  registry.add_kernel("intarsia_turn_f32", engine::kernel_function<&intarsia_turn_f32>());
  registry.add_kernel("intarsia_resize_bilinear_s8",
                      engine::kernel_function<&intarsia_resize_bilinear_s8>());
  registry.add_kernel("intarsia_resize_bilinear_s16",
                      engine::kernel_function<&intarsia_resize_bilinear_s16>());
  registry.add_kernel("intarsia_each_hard_swish_f32",
                      engine::kernel_function<&intarsia_each_hard_swish_f32>());
  registry.add_kernel("intarsia_each_elu_f32", engine::kernel_function<&intarsia_each_elu_f32>());
  registry.add_kernel("intarsia_each_gelu_tanh_f32",
                      engine::kernel_function<&intarsia_each_gelu_tanh_f32>());
  registry.add_kernel("intarsia_each_gelu_f32", engine::kernel_function<&intarsia_each_gelu_f32>());
  registry.add_kernel("intarsia_each_exp_f32", engine::kernel_function<&intarsia_each_exp_f32>());
  registry.add_kernel("intarsia_each_logistic_f32",
                      engine::kernel_function<&intarsia_each_logistic_f32>());
  registry.add_kernel("intarsia_each_tanh_f32", engine::kernel_function<&intarsia_each_tanh_f32>());
  registry.add_kernel("intarsia_each_rescale_s16",
                      engine::kernel_function<&intarsia_each_rescale_s16>());
  registry.add_kernel("intarsia_each_relu_s16", engine::kernel_function<&intarsia_each_relu_s16>());
  registry.add_kernel("intarsia_softmax_rows_s16",
                      engine::kernel_function<&intarsia_softmax_rows_s16>());
  registry.add_kernel("intarsia_softmax_rows_f32",
                      engine::kernel_function<&intarsia_softmax_rows_f32>());
  registry.add_kernel("intarsia_each_requantize_s16",
                      engine::kernel_function<&intarsia_each_requantize_s16>());
  registry.add_kernel("intarsia_each_requantize_s8_s16",
                      engine::kernel_function<&intarsia_each_requantize_s8_s16>());
  registry.add_kernel("intarsia_each_requantize_s16_s8",
                      engine::kernel_function<&intarsia_each_requantize_s16_s8>());
  registry.add_kernel("intarsia_each_hard_swish_s16",
                      engine::kernel_function<&intarsia_each_hard_swish_s16>());
  registry.add_kernel("intarsia_each_tanh_s16", engine::kernel_function<&intarsia_each_tanh_s16>());
}

}  // namespace intarsia::targets::cortex_m
