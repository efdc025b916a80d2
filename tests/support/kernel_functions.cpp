#include "support/kernel_functions.h"

#include "intarsia_kernels/kernels.h"

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
  t.define("intarsia_requantize",
           [](const Args& a) { return i32(intarsia_requantize(arg(a, 0), arg(a, 1), arg(a, 2))); });
  t.define("intarsia_requantize_right", [](const Args& a) {
    return i32(intarsia_requantize_right(arg(a, 0), arg(a, 1), arg(a, 2)));
  });
  t.define("intarsia_quantize_f32", [](const Args& a) {
    return i32(intarsia_quantize_f32(a.at(0).f, a.at(1).f, arg(a, 2), arg(a, 3), arg(a, 4)));
  });
  t.define_intrinsic("intarsia_softmax_s8", [](std::vector<Operand>& o) {
    intarsia_softmax_s8(elements<int8_t>(o.at(0)), elements<int8_t>(o.at(1)), arg(o, 2), arg(o, 3),
                        arg(o, 4), arg(o, 5));
  });
  t.define_intrinsic("intarsia_softmax_f32", [](std::vector<Operand>& o) {
    intarsia_softmax_f32(elements<float>(o.at(0)), elements<float>(o.at(1)), arg(o, 2),
                         o.at(3).scalar.f);
  });
}

}  // namespace intarsia::testing
