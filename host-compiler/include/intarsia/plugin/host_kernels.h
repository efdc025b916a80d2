// C functions that lowered functions call, as the engine calls them inside this process: numbers and addresses that it
// found in the tensor IR become the arguments that a function declares. A target that brings kernels of its own names them
// with kernel_function<&my_kernel>().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace intarsia::engine {

// A number: integers and bools in `i`, extended as their type says.
union Value {
  int64_t i;
  float f;
};

// Addresses and numbers, each in the order of the function's parameters.
struct KernelFunction {
  void (*call)(void* const* addresses, const Value* numbers) = nullptr;
  size_t addresses = 0, numbers = 0;
};

namespace host_kernels {

template <typename T>
T number(const Value& value) {
  if constexpr (std::is_same_v<T, float>)
    return value.f;
  else
    return static_cast<T>(value.i);
}

template <auto function>
struct Bound;

template <typename... Parameters, void (*function)(Parameters...)>
struct Bound<function> {
  static constexpr size_t kCount = sizeof...(Parameters);
  static constexpr std::array<bool, kCount> kIsAddress = {std::is_pointer_v<Parameters>...};

  // How many parameters before `at` are addresses.
  static constexpr size_t addresses_before(size_t at) {
    size_t count = 0;
    for (size_t i = 0; i < at; ++i) count += kIsAddress[i] ? 1 : 0;
    return count;
  }

  template <typename T, size_t at>
  static T argument(void* const* addresses, const Value* numbers) {
    if constexpr (std::is_pointer_v<T>)
      return static_cast<T>(addresses[addresses_before(at)]);
    else
      return number<T>(numbers[at - addresses_before(at)]);
  }

  static void call(void* const* addresses, const Value* numbers) {
    [&]<size_t... at>(std::index_sequence<at...>) {
      function(argument<Parameters, at>(addresses, numbers)...);
    }
    (std::index_sequence_for<Parameters...>());
  }
};

// The first parameter is a constant struct that all numbers are the fields of.
template <auto function, auto make_struct>
struct BoundWithStruct;

template <typename Struct, typename... Parameters, void (*function)(const Struct*, Parameters...),
          auto make_struct>
struct BoundWithStruct<function, make_struct> {
  static_assert((std::is_pointer_v<Parameters> && ...), "numbers are the fields of the struct");
  static constexpr size_t kAddresses = sizeof...(Parameters);

  static void call(void* const* addresses, const Value* numbers) {
    const Struct fields = make_struct(numbers);
    [&]<size_t... at>(std::index_sequence<at...>) {
      function(&fields, static_cast<Parameters>(addresses[at])...);
    }
    (std::index_sequence_for<Parameters...>());
  }
};

}  // namespace host_kernels

template <auto function>
constexpr KernelFunction kernel_function() {
  using Bound = host_kernels::Bound<function>;
  return {Bound::call, Bound::addresses_before(Bound::kCount),
          Bound::kCount - Bound::addresses_before(Bound::kCount)};
}

// `make_struct`: Struct f(const Value* fields), the fields in order. `numbers` is how many there are.
template <auto function, auto make_struct>
constexpr KernelFunction kernel_function_with_struct(size_t numbers) {
  using Bound = host_kernels::BoundWithStruct<function, make_struct>;
  return {Bound::call, Bound::kAddresses, numbers};
}

}  // namespace intarsia::engine
