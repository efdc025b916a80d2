// The functions of the device runtime's C library that lowered functions call, by their names.
#pragma once

#include <array>
#include <string>

#include "engine/lanes.h"

namespace intarsia::engine {

// A pure function of numbers.
struct ScalarFunction {
  static constexpr size_t kMostArguments = 6;

  Value (*call)(const Value* arguments) = nullptr;
  void (*call_lanes)(int count, const LaneOperand* arguments, Lanes& results) = nullptr;
  size_t arguments = 0;
  std::array<DataType, kMostArguments> parameters = {};
  DataType result = DataType::Int32;
};
const ScalarFunction* find_scalar_function(const std::string& name);  // null: there is none

// A function on runs of elements.
const KernelFunction* find_library_kernel(const std::string& name);  // null: there is none

}  // namespace intarsia::engine
