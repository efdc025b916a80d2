#include "support/kernel_functions.h"

#include "intarsia/kernels/kernels.h"

namespace intarsia::testing {

namespace {

Scalar i32(int32_t value) {
  return {DataType::Int32, value, 0.0f};
}
int32_t arg(const std::vector<Scalar>& a, size_t i) {
  return static_cast<int32_t>(a.at(i).i);
}
int32_t arg(const std::vector<Operand>& o, size_t i) {
  return static_cast<int32_t>(o.at(i).scalar.i);
}

// Buffers of tests are aligned like those of programs: to their elements at least.
template <typename T>
T* elements(Operand& operand) {
  return reinterpret_cast<T*>(operand.bytes.data());
}

uint32_t unsigned_arg(const std::vector<Operand>& o, size_t i) {
  return static_cast<uint32_t>(o.at(i).scalar.i);
}

void define_signal_kernels(TirInterpreter& t) {
  using Operands = std::vector<Operand>;
  t.define_intrinsic("intarsia_signal_auto_scale", [](Operands& o) {
    intarsia_signal_auto_scale(elements<int16_t>(o.at(0)), elements<int16_t>(o.at(1)),
                               elements<int32_t>(o.at(2)), arg(o, 3));
  });
  t.define_intrinsic("intarsia_signal_rfft_s16", [](Operands& o) {
    intarsia_signal_rfft_s16(elements<int16_t>(o.at(0)), elements<int16_t>(o.at(1)),
                             elements<int16_t>(o.at(2)), elements<int16_t>(o.at(3)), arg(o, 4),
                             arg(o, 5));
  });
  t.define_intrinsic("intarsia_signal_irfft_s16", [](Operands& o) {
    intarsia_signal_irfft_s16(elements<int16_t>(o.at(0)), elements<int16_t>(o.at(1)),
                              elements<int16_t>(o.at(2)), elements<int16_t>(o.at(3)), arg(o, 4));
  });
  t.define_intrinsic("intarsia_signal_energy", [](Operands& o) {
    intarsia_signal_energy(elements<int16_t>(o.at(0)), elements<uint32_t>(o.at(1)), arg(o, 2),
                           arg(o, 3), arg(o, 4));
  });
  t.define_intrinsic("intarsia_signal_filter_bank", [](Operands& o) {
    intarsia_signal_filter_bank(elements<uint32_t>(o.at(0)), elements<int16_t>(o.at(1)),
                                elements<int16_t>(o.at(2)), elements<int16_t>(o.at(3)),
                                elements<int16_t>(o.at(4)), elements<int16_t>(o.at(5)),
                                elements<int64_t>(o.at(6)), arg(o, 7));
  });
  t.define_intrinsic("intarsia_signal_square_root", [](Operands& o) {
    intarsia_signal_square_root(elements<int64_t>(o.at(0)), elements<int32_t>(o.at(1)),
                                elements<uint32_t>(o.at(2)), arg(o, 3));
  });
  t.define_intrinsic("intarsia_signal_spectral_subtraction", [](Operands& o) {
    intarsia_signal_spectral_subtraction(
        elements<uint32_t>(o.at(0)), elements<uint32_t>(o.at(1)), elements<uint32_t>(o.at(2)),
        elements<uint32_t>(o.at(3)), unsigned_arg(o, 4), unsigned_arg(o, 5), unsigned_arg(o, 6),
        unsigned_arg(o, 7), arg(o, 8), arg(o, 9), unsigned_arg(o, 10), arg(o, 11), arg(o, 12));
  });
  t.define_intrinsic("intarsia_signal_pcan", [](Operands& o) {
    intarsia_signal_pcan(elements<uint32_t>(o.at(0)), elements<uint32_t>(o.at(1)),
                         elements<int16_t>(o.at(2)), elements<uint32_t>(o.at(3)), arg(o, 4),
                         arg(o, 5));
  });
  t.define_intrinsic("intarsia_signal_log", [](Operands& o) {
    intarsia_signal_log(elements<uint32_t>(o.at(0)), elements<int16_t>(o.at(1)),
                        elements<int16_t>(o.at(2)), arg(o, 3), unsigned_arg(o, 4), arg(o, 5));
  });
  const auto real = [](const Operands& o, size_t i) { return o.at(i).scalar.f; };
  t.define_intrinsic("intarsia_decode_boxes", [real](Operands& o) {
    intarsia_decode_boxes(elements<float>(o.at(0)), elements<float>(o.at(1)),
                          elements<float>(o.at(2)), real(o, 3), real(o, 4), real(o, 5), real(o, 6),
                          arg(o, 7), arg(o, 8));
  });
  t.define_intrinsic("intarsia_detect_boxes", [real](Operands& o) {
    intarsia_detect_boxes(elements<float>(o.at(0)), elements<float>(o.at(1)),
                          elements<float>(o.at(2)), elements<float>(o.at(3)),
                          elements<float>(o.at(4)), elements<float>(o.at(5)),
                          elements<uint8_t>(o.at(6)), real(o, 7), real(o, 8), arg(o, 9), arg(o, 10),
                          arg(o, 11), arg(o, 12));
  });
  t.define_intrinsic("intarsia_detect_boxes_by_class", [real](Operands& o) {
    intarsia_detect_boxes_by_class(elements<float>(o.at(0)), elements<float>(o.at(1)),
                                   elements<float>(o.at(2)), elements<float>(o.at(3)),
                                   elements<float>(o.at(4)), elements<float>(o.at(5)),
                                   elements<uint8_t>(o.at(6)), real(o, 7), real(o, 8), arg(o, 9),
                                   arg(o, 10), arg(o, 11), arg(o, 12), arg(o, 13));
  });
}

}  // namespace

void define_kernels(TirInterpreter& t) {
  using Args = std::vector<Scalar>;
  t.define("intarsia_clamp_i32",
           [](const Args& a) { return i32(intarsia_clamp_i32(arg(a, 0), arg(a, 1), arg(a, 2))); });
  t.define("intarsia_divide_round_i32",
           [](const Args& a) { return i32(intarsia_divide_round_i32(arg(a, 0), arg(a, 1))); });
  t.define("intarsia_divide_f32", [](const Args& a) {
    return Scalar{DataType::Float32, 0, intarsia_divide_f32(a.at(0).f, a.at(1).f)};
  });
  t.define("intarsia_divide_q", [](const Args& a) {
    return i32(intarsia_divide_q(arg(a, 0), arg(a, 1), arg(a, 2), arg(a, 3)));
  });
  t.define("intarsia_requantize",
           [](const Args& a) { return i32(intarsia_requantize(arg(a, 0), arg(a, 1), arg(a, 2))); });
  t.define("intarsia_requantize_right", [](const Args& a) {
    return i32(intarsia_requantize_right(arg(a, 0), arg(a, 1), arg(a, 2)));
  });
  t.define("intarsia_requantize_wide", [](const Args& a) {
    return i32(intarsia_requantize_wide(a.at(0).i, arg(a, 1), arg(a, 2)));
  });
  t.define("intarsia_square_i32",
           [](const Args& a) { return i32(intarsia_square_i32(arg(a, 0))); });
  t.define("intarsia_sigmoid_s16", [](const Args& a) {
    return i32(intarsia_sigmoid_s16(arg(a, 0), arg(a, 1), arg(a, 2)));
  });
  t.define("intarsia_rsqrt_s16",
           [](const Args& a) { return i32(intarsia_rsqrt_s16(arg(a, 0), arg(a, 1), arg(a, 2))); });
  t.define("intarsia_tanh_s16",
           [](const Args& a) { return i32(intarsia_tanh_s16(arg(a, 0), arg(a, 1), arg(a, 2))); });
  t.define("intarsia_truncate_f32",
           [](const Args& a) { return i32(intarsia_truncate_f32(a.at(0).f)); });
  const auto define_f32 = [&](const char* name, float (*function)(float)) {
    t.define(name, [function](const Args& a) {
      return Scalar{DataType::Float32, 0, function(a.at(0).f)};
    });
  };
  define_f32("intarsia_exp_f32", intarsia_exp_f32);
  define_f32("intarsia_log_f32", intarsia_log_f32);
  define_f32("intarsia_sqrt_f32", intarsia_sqrt_f32);
  define_f32("intarsia_tanh_f32", intarsia_tanh_f32);
  define_f32("intarsia_logistic_f32", intarsia_logistic_f32);
  define_f32("intarsia_floor_f32", intarsia_floor_f32);
  define_f32("intarsia_ceil_f32", intarsia_ceil_f32);
  define_f32("intarsia_round_even_f32", intarsia_round_even_f32);
  define_f32("intarsia_sin_f32", intarsia_sin_f32);
  define_f32("intarsia_cos_f32", intarsia_cos_f32);
  define_f32("intarsia_erf_f32", intarsia_erf_f32);
  define_f32("intarsia_gelu_f32", intarsia_gelu_f32);
  define_f32("intarsia_gelu_tanh_f32", intarsia_gelu_tanh_f32);
  const auto define_pair = [&](const char* name, float (*function)(float, float)) {
    t.define(name, [function](const Args& a) {
      return Scalar{DataType::Float32, 0, function(a.at(0).f, a.at(1).f)};
    });
  };
  define_pair("intarsia_pow_f32", intarsia_pow_f32);
  define_pair("intarsia_atan2_f32", intarsia_atan2_f32);
  define_pair("intarsia_floor_mod_f32", intarsia_floor_mod_f32);
  t.define("intarsia_divide_i32",
           [](const Args& a) { return i32(intarsia_divide_i32(arg(a, 0), arg(a, 1))); });
  t.define("intarsia_floor_div_i32",
           [](const Args& a) { return i32(intarsia_floor_div_i32(arg(a, 0), arg(a, 1))); });
  t.define("intarsia_floor_mod_i32",
           [](const Args& a) { return i32(intarsia_floor_mod_i32(arg(a, 0), arg(a, 1))); });
  t.define("intarsia_add_wrapping_i32",
           [](const Args& a) { return i32(intarsia_add_wrapping_i32(arg(a, 0), arg(a, 1))); });
  t.define("intarsia_quantize_f32", [](const Args& a) {
    return i32(intarsia_quantize_f32(a.at(0).f, a.at(1).f, arg(a, 2), arg(a, 3), arg(a, 4)));
  });
  t.define_intrinsic("intarsia_softmax_s8", [](std::vector<Operand>& o) {
    intarsia_softmax_s8(elements<int8_t>(o.at(0)), elements<int8_t>(o.at(1)), arg(o, 2), arg(o, 3),
                        arg(o, 4), arg(o, 5));
  });
  t.define_intrinsic("intarsia_softmax_s8_s16", [](std::vector<Operand>& o) {
    intarsia_softmax_s8_s16(elements<int8_t>(o.at(0)), elements<int16_t>(o.at(1)), arg(o, 2),
                            arg(o, 3), arg(o, 4), arg(o, 5));
  });
  t.define_intrinsic("intarsia_softmax_s16", [](std::vector<Operand>& o) {
    intarsia_softmax_s16(elements<int16_t>(o.at(0)), elements<int16_t>(o.at(1)), arg(o, 2),
                         arg(o, 3), arg(o, 4));
  });
  t.define_intrinsic("intarsia_move_back", [](std::vector<Operand>& o) {
    intarsia_move_back(o.at(0).bytes.data(), o.at(1).bytes.data(), arg(o, 2));
  });
  t.define_intrinsic("intarsia_l2_normalize_s8", [](std::vector<Operand>& o) {
    intarsia_l2_normalize_s8(elements<int8_t>(o.at(0)), elements<int8_t>(o.at(1)), arg(o, 2),
                             arg(o, 3));
  });
  t.define_intrinsic("intarsia_l2_normalize_f32", [](std::vector<Operand>& o) {
    intarsia_l2_normalize_f32(elements<float>(o.at(0)), elements<float>(o.at(1)), arg(o, 2));
  });
  t.define_intrinsic("intarsia_log_softmax_s8", [](std::vector<Operand>& o) {
    intarsia_log_softmax_s8(elements<int8_t>(o.at(0)), elements<int8_t>(o.at(1)), arg(o, 2),
                            arg(o, 3), arg(o, 4), arg(o, 5));
  });
  t.define_intrinsic("intarsia_log_softmax_f32", [](std::vector<Operand>& o) {
    intarsia_log_softmax_f32(elements<float>(o.at(0)), elements<float>(o.at(1)), arg(o, 2));
  });
  t.define_intrinsic("intarsia_quantize_row", [](std::vector<Operand>& o) {
    intarsia_quantize_row(elements<float>(o.at(0)), elements<int8_t>(o.at(1)),
                          elements<float>(o.at(2)), elements<int32_t>(o.at(3)), arg(o, 4));
  });
  t.define_intrinsic("intarsia_quantize_row_asymmetric", [](std::vector<Operand>& o) {
    intarsia_quantize_row_asymmetric(elements<float>(o.at(0)), elements<int8_t>(o.at(1)),
                                     elements<float>(o.at(2)), elements<int32_t>(o.at(3)),
                                     arg(o, 4));
  });
  t.define_intrinsic("intarsia_quantize_rows_together", [](std::vector<Operand>& o) {
    intarsia_quantize_rows_together(elements<float>(o.at(0)), elements<int8_t>(o.at(1)),
                                    elements<float>(o.at(2)), elements<int32_t>(o.at(3)), arg(o, 4),
                                    arg(o, 5));
  });
  define_signal_kernels(t);
  t.define_intrinsic("intarsia_softmax_f32", [](std::vector<Operand>& o) {
    intarsia_softmax_f32(elements<float>(o.at(0)), elements<float>(o.at(1)), arg(o, 2),
                         o.at(3).scalar.f);
  });
}

}  // namespace intarsia::testing
