// Result<T>: a value, or the Diagnostics that say why there is none. Nothing here throws.
//
//   Result<Plan> plan_memory(...);
//   INTARSIA_TRY(const Plan plan, plan_memory(...));   // passes the diagnostics on
//
// std::expected arrives with C++23; this has the shape we need of it.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "intarsia/diagnostics.h"
#include "intarsia/plugin/check.h"

namespace intarsia {

// A value, or why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostics error) : state_(std::in_place_index<1>, std::move(error)) {
    INTARSIA_CHECK(!std::get<1>(state_).empty(), "a failed Result says why");
  }

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    INTARSIA_CHECK(ok(), "value() is asked only of a Result that is ok");
    return std::get<0>(state_);
  }
  T& value() & {
    INTARSIA_CHECK(ok(), "value() is asked only of a Result that is ok");
    return std::get<0>(state_);
  }
  T&& value() && {
    INTARSIA_CHECK(ok(), "value() is asked only of a Result that is ok");
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }

  const Diagnostics& error() const {
    INTARSIA_CHECK(!ok(), "error() is asked only of a Result that failed");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Diagnostics> state_;
};

// Success, or why there was none.
template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;

  Result() = default;
  Result(Diagnostics error) : error_(std::move(error)) {
    INTARSIA_CHECK(!error_->empty(), "a failed Result says why");
  }

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Diagnostics& error() const {
    INTARSIA_CHECK(!ok(), "error() is asked only of a Result that failed");
    return *error_;
  }

  // Success when nothing was collected, failure otherwise: the usual end of a collecting stage.
  static Result from(Diagnostics collected) {
    return collected.empty() ? Result() : Result(std::move(collected));
  }

 private:
  std::optional<Diagnostics> error_;
};

}  // namespace intarsia

#define INTARSIA_CONCAT_(a, b) a##b
#define INTARSIA_CONCAT(a, b) INTARSIA_CONCAT_(a, b)
#define INTARSIA_TRY_(result, declaration, expression) \
  auto result = (expression);                          \
  if (!result.ok()) return result.error();             \
  declaration = std::move(result).value()

// Declares a variable from a Result's value, or returns the Result's diagnostics.
#define INTARSIA_TRY(declaration, expression) \
  INTARSIA_TRY_(INTARSIA_CONCAT(try_result_, __LINE__), declaration, expression)

// The same for Result<void>.
#define INTARSIA_TRY_VOID(expression)                               \
  do {                                                              \
    if (auto try_void_result = (expression); !try_void_result.ok()) \
      return try_void_result.error();                               \
  } while (false)
