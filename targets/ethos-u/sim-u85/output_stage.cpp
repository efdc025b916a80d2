#include "intarsia/targets/ethos_u85/output_stage.h"

#include <algorithm>
#include <cstring>

namespace intarsia::simulators::ethos_u85 {
namespace {

// The functions with a table: what indexes it, how long it is, and of which type the OFM is.
struct TableRow {
  int32_t function;
  ElementType index;
  uint32_t bytes;
  ElementType result;
};
constexpr TableRow kTables[] = {
    {value::activation_function_TABLE_U8_U8, ElementType::U8, 256, ElementType::U8},
    {value::activation_function_TABLE_S8_S8, ElementType::S8, 256, ElementType::S8},
    {value::activation_function_TABLE_S8_S16, ElementType::S8, 512, ElementType::S16},
    {value::activation_function_TABLE_S8_S32, ElementType::S8, 1024, ElementType::S32},
    // 512 entries of base and slope.
    {value::activation_function_TABLE_S16_S16, ElementType::S16, 2048, ElementType::S16},
    {value::activation_function_TABLE_S16_S32, ElementType::S16, 2048, ElementType::S32},
    {value::activation_function_TANH, ElementType::S16, 2048, ElementType::S16},
    {value::activation_function_SIGMOID, ElementType::S16, 2048, ElementType::S16},
};

const TableRow* table_row(int32_t function) {
  for (const TableRow& row : kTables)
    if (row.function == function) return &row;
  return nullptr;
}

bool is_unit(int32_t function) {
  return function == value::activation_function_TANH ||
         function == value::activation_function_SIGMOID;
}

}  // namespace

std::optional<Fault> OutputStage::check(const Operation& op) {
  const auto fault = [](std::string what) { return Fault{Cause::Operand, 0, "", std::move(what)}; };
  if (op.clips && op.minimum > op.maximum)
    return fault("ACTIVATION_MIN " + std::to_string(op.minimum) + " is above ACTIVATION_MAX " +
                 std::to_string(op.maximum));
  if (op.activation == value::activation_function_NO_FUNCTION) return std::nullopt;
  const TableRow* row = table_row(op.activation);
  if (row == nullptr) return fault("an activation_function without a meaning");
  if (row->result != op.ofm.map.type)
    return fault("the activation function makes results of another type than the OFM's");
  if (table_of(op).base + row->bytes > kTableMemoryBytes)
    return fault("the table lies beyond the end of the memory of tables");
  return std::nullopt;
}

Range OutputStage::table_of(const Operation& op) {
  const TableRow* row = table_row(op.activation);
  if (row == nullptr) return {};
  return {static_cast<uint64_t>(op.table) * row->bytes, row->bytes};
}

OutputStage::OutputStage(const Operation& op, const Memory& memory)
    : function_(op.activation), zero_point_(op.ofm.map.zero_point) {
  const TableRow* row = table_row(function_);
  const ElementType fits = row != nullptr ? row->index : op.ofm.map.type;
  low_ = lowest(fits);
  high_ = highest(fits);
  if (op.clips) {
    low_ = std::max(low_, op.minimum);
    high_ = std::min(high_, op.maximum);
  }
  if (row != nullptr) table_ = memory.shram().data() + table_of(op).base;
}

int64_t OutputStage::activated(int64_t value) const {
  // The units have more bits than the OFM: they saturate by themselves, and what they give is clamped.
  if (is_unit(function_)) return std::clamp(unit(value), low_, high_);
  const int64_t index = std::clamp(value, low_, high_);
  const auto entry = [&](auto type, int64_t at) {
    decltype(type) result;
    std::memcpy(&result, table_ + static_cast<size_t>(at) * sizeof result, sizeof result);
    return static_cast<int64_t>(result);
  };
  constexpr int64_t kFirst = -128;  // the value of the first entry
  switch (function_) {
    case value::activation_function_TABLE_U8_U8:
      return entry(uint8_t{}, index);
    case value::activation_function_TABLE_S8_S8:
      return entry(int8_t{}, index - kFirst);
    case value::activation_function_TABLE_S8_S16:
      return entry(int16_t{}, index - kFirst);
    case value::activation_function_TABLE_S8_S32:
      return entry(int32_t{}, index - kFirst);
    default:
      return interpolated(index);
  }
}

int64_t OutputStage::interpolated(int64_t value) const {
  constexpr int64_t kStepBits = 7;
  const int64_t from_lowest = value + 32768;
  int16_t base, slope;
  const uint8_t* entry = table_ + 4 * (from_lowest >> kStepBits);
  std::memcpy(&base, entry, 2);
  std::memcpy(&slope, entry + 2, 2);
  const int64_t rest = from_lowest & ((1 << kStepBits) - 1);
  if (function_ == value::activation_function_TABLE_S16_S32)
    return base * (int64_t{1} << kStepBits) + slope * rest;
  const int64_t between = base + ((slope * rest + (1 << (kStepBits - 1))) >> kStepBits);
  return std::clamp<int64_t>(between, INT16_MIN, INT16_MAX);
}

// Of x in units of 1 / (3 * 4096): the table holds sigmoid, at points whose distance is 2^bits, and slopes. tanh(x) is
// 2 sigmoid(2x) - 1, whence its points are half as far apart.
int64_t OutputStage::unit(int64_t value) const {
  const bool is_tanh = function_ == value::activation_function_TANH;
  const int32_t bits = is_tanh ? 8 : 9;
  const int64_t end = int64_t{1} << (8 + bits);
  const int64_t x = std::clamp(value, -end, end - 1);
  int16_t base;
  uint16_t slope;
  const uint8_t* entry = table_ + 4 * ((x >> bits) + 256);
  std::memcpy(&base, entry, 2);
  std::memcpy(&slope, entry + 2, 2);
  const int64_t at = base * (int64_t{1} << bits) + slope * (x & ((int64_t{1} << bits) - 1));
  const int64_t below = x < 0 ? 1 : 0;  // halves away from zero
  return is_tanh ? (at + 128 - below) >> 8 : (at + (1 << 24) + 512 - below) >> 10;
}

}  // namespace intarsia::simulators::ethos_u85
