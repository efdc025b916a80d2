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
  const auto define_pair = [&](const char* name, float (*function)(float, float)) {
    t.define(name, [function](const Args& a) {
      return Scalar{DataType::Float32, 0, function(a.at(0).f, a.at(1).f)};
    });
  };
  define_pair("intarsia_pow_f32", intarsia_pow_f32);
  define_pair("intarsia_floor_mod_f32", intarsia_floor_mod_f32);
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
  t.define_intrinsic("intarsia_softmax_f32", [](std::vector<Operand>& o) {
    intarsia_softmax_f32(elements<float>(o.at(0)), elements<float>(o.at(1)), arg(o, 2),
                         o.at(3).scalar.f);
  });
}

}  // namespace intarsia::testing
