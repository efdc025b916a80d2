#include <algorithm>
#include <bit>

#include "intarsia/targets/ethos_u/arithmetic.h"
#include "intarsia/targets/ethos_u/execute_families.h"
#include "intarsia/targets/ethos_u/feature_map.h"

namespace intarsia::simulators::ethos_u {
namespace {

// The second operand at (y, x, c), whatever of it is broadcast.
class SecondOperand {
 public:
  SecondOperand(const Operation& op, const Memory& memory) {
    if (op.has_ifm2)
      values_ = gather<int32_t>(op.ifm2, memory);
    else
      values_ = {op.has_scalar ? op.scalar - op.ifm2.zero_point : 0};
    const bool whole = op.has_ifm2;
    step_c_ = whole && op.ifm2.depth > 1 ? 1 : 0;
    step_x_ = whole && op.ifm2.width > 1 ? static_cast<size_t>(op.ifm2.depth) : 0;
    step_y_ = whole && op.ifm2.height > 1
                  ? static_cast<size_t>(op.ifm2.depth) * static_cast<size_t>(op.ifm2.width)
                  : 0;
  }
  const int32_t* at(int32_t y, int32_t x) const {
    return values_.data() + static_cast<size_t>(y) * step_y_ + static_cast<size_t>(x) * step_x_;
  }
  size_t step_c() const { return step_c_; }

 private:
  std::vector<int32_t> values_;
  size_t step_c_, step_x_, step_y_;
};

// Calls f(IFM element, second operand) for every element of the OFM.
template <typename Function>
void for_each_element(const Operation& op, const Memory& memory, OfmValues& ofm,
                      const Function& function) {
  const std::vector<int32_t> ifm = gather<int32_t>(op.ifm, memory);
  const SecondOperand second(op, memory);
  const auto depth = static_cast<size_t>(op.ofm.depth);
  const int32_t* from = ifm.data();
  int32_t* to = ofm.data();
  for (int32_t y = 0; y < op.ofm.height; ++y)
    for (int32_t x = 0; x < op.ofm.width; ++x) {
      const int32_t* other = second.at(y, x);
      for (size_t c = 0; c < depth; ++c) *to++ = function(*from++, other[c * second.step_c()]);
    }
}

// The operand that is not scaled gains the bits that TFLite's kernels give both: 2^20 / 2 for 8-bit
// operands, 2^15 / 2 for 16-bit ones.
constexpr int32_t unscaled_shift(ElementType type) {
  return element_bytes(type) == 1 ? 19 : 14;
}

class Sum {
 public:
  explicit Sum(const Operation& op)
      : op_(op), sign_(op.elementwise == ElementwiseMode::Sub ? -1 : 1) {}

  int64_t operator()(int64_t a, int64_t b) const {
    const int32_t shift = unscaled_shift(op_.ifm.type);
    switch (op_.operand_scale) {
      case OperandScale::A32:
        a = scale_round(a, op_.opa_scale, op_.operand_rounding);
        b *= int64_t{1} << shift;
        break;
      case OperandScale::B32:
        a *= int64_t{1} << shift;
        b = scale_round(b, op_.opa_scale, op_.operand_rounding);
        break;
      case OperandScale::Both16:
        a *= op_.opa_scale.multiplier & 0xFFFF;
        b *= op_.opb_scale.multiplier & 0xFFFF;
        break;
    }
    return a + sign_ * b;
  }

 private:
  const Operation& op_;
  int32_t sign_;
};

int64_t shifted_left(int64_t value, int64_t shift) {
  return shift < 0 || shift > 31
             ? 0
             : wrap32(static_cast<int64_t>(static_cast<uint64_t>(value) << shift));
}

int64_t shifted_right(int64_t value, int64_t shift, Rounding rounding) {
  return shift_round<int64_t>(value, static_cast<int32_t>(std::clamp<int64_t>(shift, 0, 62)),
                              rounding);
}

}  // namespace

std::optional<Fault> execute_elementwise(const Operation& op, const Memory& memory,
                                         const OutputStage& output, OfmValues& ofm) {
  const bool wide = op.ifm.type == ElementType::S32 ||
                    ((op.has_ifm2 || op.has_scalar) && op.ifm2.type == ElementType::S32);
  const auto scaled = [&](int64_t value) {
    return op.global_scale ? scale_round(value, op.ofm_scale, op.rounding) : value;
  };
  const auto binary = [&](const auto& function) {
    if (op.reversed)
      for_each_element(op, memory, ofm,
                       [&](int64_t ifm, int64_t ifm2) { return output(function(ifm2, ifm)); });
    else
      for_each_element(op, memory, ofm,
                       [&](int64_t ifm, int64_t ifm2) { return output(function(ifm, ifm2)); });
  };
  switch (op.elementwise) {
    case ElementwiseMode::Add:
    case ElementwiseMode::Sub: {
      if (wide && op.operand_scale != OperandScale::Both16)
        return Fault{Cause::Operand, 0, "", "operands of 32 bits are not scaled by OPA_SCALE"};
      const Sum sum(op);
      binary([&](int64_t a, int64_t b) { return scaled(sum(a, b)); });
      break;
    }
    case ElementwiseMode::Mul:
      // Products of 32-bit operands are shifted; the multiplier takes no part.
      if (wide && op.global_scale)
        binary([&](int64_t a, int64_t b) {
          return shift_round<Int128>(a * b, op.ofm_scale.shift, op.rounding);
        });
      else
        binary([&](int64_t a, int64_t b) { return scaled(a * b); });
      break;
    case ElementwiseMode::Min:
      binary([&](int64_t a, int64_t b) { return scaled(std::min(a, b)); });
      break;
    case ElementwiseMode::Max:
      binary([&](int64_t a, int64_t b) { return scaled(std::max(a, b)); });
      break;
    case ElementwiseMode::LeakyRelu:
      binary([&](int64_t a, int64_t) { return a < 0 ? scaled(a) : a; });
      break;
    case ElementwiseMode::Abs:
      binary([&](int64_t a, int64_t) { return scaled(a < 0 ? -a : a); });
      break;
    case ElementwiseMode::Clz:
      binary(
          [&](int64_t a, int64_t) { return int64_t{std::countl_zero(static_cast<uint32_t>(a))}; });
      break;
    case ElementwiseMode::Shr:
      binary([&](int64_t a, int64_t b) { return shifted_right(a, b, op.rounding); });
      break;
    case ElementwiseMode::Shl:
      binary([&](int64_t a, int64_t b) { return shifted_left(a, b); });
      break;
  }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
