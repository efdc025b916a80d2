#include <bit>
#include <string>

#include "intarsia/targets/ethos_u/feature_map.h"
#include "intarsia/targets/ethos_u85/arithmetic.h"
#include "intarsia/targets/ethos_u85/execute.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

Fault elementwise_fault(std::string what) {
  return {Cause::Operand, 0, "", std::move(what)};
}

// An operand's values minus its zero point, and how far the next one is along each axis: 0 where it is broadcast.
struct Values {
  Results values;
  size_t step_y = 0, step_x = 0, step_c = 0;

  size_t index(int32_t y, int32_t x) const {
    return static_cast<size_t>(y) * step_y + static_cast<size_t>(x) * step_x;
  }
};

std::optional<Fault> read_values(const Operand& operand, const Memory& memory,
                                 const Machine& machine, Values& read) {
  const FeatureMap& map = operand.map;
  if (operand.is_scalar) {
    read.values = {operand.scalar};
    return std::nullopt;
  }
  if (operand.place == Place::Chained) {
    const auto found = machine.chained.find(operand.buffer);
    if (found == machine.chained.end())
      return elementwise_fault("no operation of this chain wrote buffer " +
                               std::to_string(operand.buffer));
    read.values = found->second;
    if (static_cast<int64_t>(read.values.size()) != ethos_u::element_count(map))
      return elementwise_fault("buffer " + std::to_string(operand.buffer) + " of the chain holds " +
                               std::to_string(read.values.size()) + " elements, the operand has " +
                               std::to_string(ethos_u::element_count(map)));
    for (int64_t& value : read.values) value -= map.zero_point;
  } else {
    read.values = ethos_u::gather<int64_t>(map, memory);
  }
  if (map.depth > 1) read.step_c = 1;
  if (map.width > 1) read.step_x = static_cast<size_t>(map.depth);
  if (map.height > 1) read.step_y = static_cast<size_t>(map.width) * static_cast<size_t>(map.depth);
  return std::nullopt;
}

bool is_identity(const Scale& scale) {
  return scale.multiplier == 1 && scale.shift == 0;
}

// Modes whose operands are scaled, and modes whose result is.
bool scales_operands(int32_t mode) {
  switch (mode) {
    case value::elementwise_mode_ADD:
    case value::elementwise_mode_SUB:
    case value::elementwise_mode_MIN:
    case value::elementwise_mode_MAX:
    case value::elementwise_mode_ABS:
    case value::elementwise_mode_CMP_EQ:
    case value::elementwise_mode_CMP_NE:
    case value::elementwise_mode_CMP_GE:
    case value::elementwise_mode_CMP_GT:
      return true;
    default:
      return false;
  }
}
bool scales_result(int32_t mode) {
  switch (mode) {
    case value::elementwise_mode_MUL:
    case value::elementwise_mode_ADD:
    case value::elementwise_mode_SUB:
    case value::elementwise_mode_MIN:
    case value::elementwise_mode_MAX:
    case value::elementwise_mode_LRELU:
    case value::elementwise_mode_ABS:
      return true;
    default:
      return false;
  }
}

std::optional<Fault> check_modes(const Operation& op) {
  const int32_t bits = 8 * element_bytes(op.ifm.map.type);
  if (op.has_ifm2 && element_bytes(op.ifm2.map.type) * 8 != bits)
    return elementwise_fault("operands of different widths are not simulated");
  const bool scaled = !is_identity(op.ifm_scale) || (op.has_ifm2 && !is_identity(op.ifm2_scale));
  if (scaled && bits == 32 && scales_operands(op.elementwise))
    return elementwise_fault("IFM_SCALE of operands of 32 bits is not simulated");
  if (!scales_result(op.elementwise) && !is_identity(op.ofm_scale))
    return elementwise_fault("OFM_SCALE in this mode is not simulated");
  const bool wide_alone = op.elementwise == value::elementwise_mode_CLZ ||
                          op.elementwise == value::elementwise_mode_DIV;
  if (wide_alone && bits != 32)
    return elementwise_fault("this mode is simulated for 32 bits alone");
  if (op.elementwise == value::elementwise_mode_LRELU && bits == 32)
    return elementwise_fault("LRELU of 32 bits is not simulated");
  return std::nullopt;
}

// Calls `combine(a, b)` for all pairs; false stops.
template <typename Combine>
bool for_pairs(const Operation& op, const Values& a, const Values& b, Results& results,
               const Combine& combine) {
  int64_t* to = results.data();
  for (int32_t y = 0; y < op.ofm_height; ++y)
    for (int32_t x = 0; x < op.ofm_width; ++x) {
      size_t ia = a.index(y, x), ib = b.index(y, x);
      for (int32_t c = 0; c < op.ofm_depth; ++c, ia += a.step_c, ib += b.step_c)
        if (!combine(a.values[ia], b.values[ib], *to++)) return false;
    }
  return true;
}

std::optional<Fault> shift(const Operation& op, const Values& a, const Values& b, int32_t bits,
                           Results& results) {
  int64_t wrong = 0;
  const uint64_t mask = UINT64_MAX >> (64 - bits);
  const bool done = for_pairs(op, a, b, results, [&](int64_t x, int64_t by, int64_t& to) {
    if (by < 0 || by >= bits) {
      wrong = by;
      return false;
    }
    if (op.elementwise == value::elementwise_mode_SHR)
      to = shift_round<int64_t>(x, static_cast<int32_t>(by), op.ofm_scale.rounding);
    else if (op.elementwise == value::elementwise_mode_SHL)
      to = wrap(static_cast<int64_t>(static_cast<uint64_t>(x) << by), bits);
    else
      to = wrap(static_cast<int64_t>((static_cast<uint64_t>(x) & mask) >> by), bits);
    return true;
  });
  if (done) return std::nullopt;
  return elementwise_fault("what a shift by " + std::to_string(wrong) + " of " +
                           std::to_string(bits) + " bits gives is not known");
}

std::optional<Fault> divide(const Operation& op, const Values& a, const Values& b,
                            Results& results) {
  if (for_pairs(op, a, b, results, [&](int64_t x, int64_t y, int64_t& to) {
        if (y == 0) return false;
        to = x / y;
        return true;
      }))
    return std::nullopt;
  return elementwise_fault("what a division by 0 gives is not known");
}

int64_t combined(int32_t mode, int64_t a, int64_t b) {
  constexpr int64_t kTrue = -1;
  switch (mode) {
    case value::elementwise_mode_ADD:
      return a + b;
    case value::elementwise_mode_SUB:
      return a - b;
    case value::elementwise_mode_MIN:
      return a < b ? a : b;
    case value::elementwise_mode_MAX:
      return a > b ? a : b;
    case value::elementwise_mode_ABS:
      return a < 0 ? -a : a;
    case value::elementwise_mode_CLZ:
      return std::countl_zero(static_cast<uint32_t>(a));
    case value::elementwise_mode_CMP_EQ:
      return a == b ? kTrue : 0;
    case value::elementwise_mode_CMP_NE:
      return a != b ? kTrue : 0;
    case value::elementwise_mode_CMP_GE:
      return a >= b ? kTrue : 0;
    case value::elementwise_mode_CMP_GT:
      return a > b ? kTrue : 0;
    case value::elementwise_mode_AND:
      return a & b;
    case value::elementwise_mode_OR:
      return a | b;
    case value::elementwise_mode_XOR:
      return a ^ b;
    case value::elementwise_mode_NOT:
      return ~a;
    case value::elementwise_mode_AND_NOT:
      return a & ~b;
    default:
      return 0;
  }
}

}  // namespace

std::optional<Fault> do_elementwise(const Operation& op, const Memory& memory,
                                    const Machine& machine, Results& results) {
  if (auto fault = check_modes(op)) return fault;
  Values a, b;
  if (auto fault = read_values(op.ifm, memory, machine, a)) return fault;
  if (op.has_ifm2) {
    if (auto fault = read_values(op.ifm2, memory, machine, b)) return fault;
  } else {
    b.values = {0};
  }
  const int32_t bits = 8 * element_bytes(op.ifm.map.type);
  const int32_t mode = op.elementwise;
  switch (mode) {
    case value::elementwise_mode_SHR:
    case value::elementwise_mode_SHL:
    case value::elementwise_mode_LSR:
      return shift(op, a, b, bits, results);
    case value::elementwise_mode_DIV:
      return divide(op, a, b, results);
    case value::elementwise_mode_LRELU:
      for_pairs(op, a, b, results, [&](int64_t x, int64_t, int64_t& to) {
        to = scale_round(scale_round(x, x < 0 ? op.ifm2_scale : op.ifm_scale), op.ofm_scale);
        return true;
      });
      return std::nullopt;
    case value::elementwise_mode_MUL: {
      // A product of 32 bits is shifted, and not multiplied.
      Scale scale = op.ofm_scale;
      if (bits == 32) scale.multiplier = 1;
      for_pairs(op, a, b, results, [&](int64_t x, int64_t y, int64_t& to) {
        to = scale_round(x * y, scale);
        return true;
      });
      return std::nullopt;
    }
    default:
      break;
  }
  if (scales_operands(mode)) {
    if (!is_identity(op.ifm_scale))
      for (int64_t& value : a.values) value = scale_round(value, op.ifm_scale);
    if (op.has_ifm2 && !is_identity(op.ifm2_scale))
      for (int64_t& value : b.values) value = scale_round(value, op.ifm2_scale);
  }
  const bool scaled = scales_result(mode) && !is_identity(op.ofm_scale);
  for_pairs(op, a, b, results, [&](int64_t x, int64_t y, int64_t& to) {
    to = combined(mode, x, y);
    if (scaled) to = scale_round(to, op.ofm_scale);
    return true;
  });
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
