#include "hardware/configuration.h"

#include <algorithm>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr std::string_view U55 = "u55", U65 = "u65";  // the words of the attribute `product`

constexpr Configuration kConfigurations[] = {
#define PRODUCT(...)
#define CONFIGURATION(name, tag, product, macs, cores, ofm_w, ofm_h, ofm_c, ifm_w, ifm_h, ifm_c, \
                      elementwise_units, shram_kib)                                              \
  {tag, product, macs, cores, shram_kib},
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

}  // namespace

std::span<const Configuration> configurations() {
  return kConfigurations;
}

const Configuration& configuration_of(const Target& device) {
  const Configuration* row = find_configuration(device.attributes);
  INTARSIA_CHECK(row != nullptr, "the kind admits only configurations of the table");
  return *row;
}

bool rounds_sums(const Target& device) {
  return device.get_string("sums") == "npu" && !device.get_bool("confirmed-only");
}

const Configuration* find_configuration(const Attributes& attributes) {
  const auto found = std::find_if(std::begin(kConfigurations), std::end(kConfigurations),
                                  [&](const Configuration& row) {
                                    return row.product == attributes.get_string("product") &&
                                           row.macs == attributes.get_int("macs");
                                  });
  return found == std::end(kConfigurations) ? nullptr : found;
}

}  // namespace intarsia::targets::ethos_u
