// overloaded{lambda, lambda, ...}: one callable for std::visit; a variant's alternative without a
// lambda does not compile.
#pragma once

namespace intarsia {

template <typename... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace intarsia
