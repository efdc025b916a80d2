#include "hardware/hardware.h"

#include <algorithm>
#include <vector>

#include "hardware/configuration.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

struct Product {
  int32_t outstanding_dma, outstanding_kernels;
  bool is_u65;
};

std::vector<Hardware> make_table() {
#define PRODUCT(name, number, text, address_bits, data_bits, dma, kernels, id) \
  [[maybe_unused]] constexpr Product name = {dma, kernels, number == 1};
#define CONFIGURATION(...)
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES

#define PRODUCT(...)
#define CONFIGURATION(...)
#define GRANULES(name, ...) constexpr Granules granules_##name = {__VA_ARGS__};
#include "intarsia/targets/ethos_u/configurations.def"
#undef CONFIGURATION
#undef GRANULES

  return {
#define CONFIGURATION(name, tag, product, macs, cores, ofm_w, ofm_h, ofm_c, ifm_w, ifm_h, ifm_c, \
                      elementwise_units, shram_banks)                                            \
  Hardware{tag,                                                                                  \
           product.is_u65,                                                                       \
           macs,                                                                                 \
           cores,                                                                                \
           {ofm_h, ofm_w, ofm_c},                                                                \
           {ifm_h, ifm_w, ifm_c},                                                                \
           elementwise_units,                                                                    \
           shram_banks,                                                                          \
           granules_##name,                                                                      \
           product.outstanding_dma,                                                              \
           product.outstanding_kernels},
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
  };
}

}  // namespace

int32_t Hardware::reserved_banks() const {
  return banks > kShramBanksWithoutReserve ? static_cast<int32_t>(kShramReservedEndBanks) : 0;
}

int64_t Hardware::lut_address() const {
  return banks * kShramBankBytes - kLutBytes;
}

const Hardware& hardware_named(std::string_view tag) {
  static const std::vector<Hardware> table = make_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Hardware& row) { return row.tag == tag; });
  INTARSIA_CHECK(found != table.end(), "configurations are those of the table");
  return *found;
}

const Hardware& hardware_of(const Target& device) {
  return hardware_named(configuration_of(device).tag);
}

}  // namespace intarsia::targets::ethos_u
