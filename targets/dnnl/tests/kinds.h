// A registry with this target and plain C; an opened device, or none; how results are compared.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include "intarsia/compile.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/dnnl/driver.h"
#include "support/opened_driver.h"
#include "support/parsed.h"

namespace intarsia::targets::dnnl {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::dnnl {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::dnnl::add_kinds);
}

struct OpenDevice : OpenedDriver<intarsia_dnnl, intarsia_dnnl_open, intarsia_dnnl_close> {
  intarsia_dnnl& dnnl = driver;
};

// Whether layers of int8 are taken on this machine: oneDNN is there, and the processor sums products in 32 bits.
inline bool multiplies_int8(const OpenDevice& device) {
#if defined(__x86_64__)
  return device.answers &&
         (__builtin_cpu_supports("avx512vnni") || __builtin_cpu_supports("avxvnni"));
#else
  return device.answers;
#endif
}

inline CompileOptions one_memory() {
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  return options;
}

// Where two floats are further apart than `tolerance` of the reference's magnitude, or of 1 where that is below; or "".
inline std::string float_difference(const graph::TensorValue& expected,
                                    const graph::TensorValue& actual, float tolerance) {
  if (expected.size() != actual.size()) return "sizes differ";
  for (size_t at = 0; at < expected.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, expected.data() + at, sizeof a);
    std::memcpy(&b, actual.data() + at, sizeof b);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::abs(a - b) <= tolerance * std::max(1.0f, std::abs(a))))
      return fmt::format("element {}: reference {:.9g}, oneDNN {:.9g}", at / sizeof(float), a, b);
  }
  return "";
}

}  // namespace intarsia::test::dnnl
