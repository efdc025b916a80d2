// Every int8 model without state on every configuration in every memory mode, for all three aims: bit-exact
// on the simulator, and the checker has nothing to say.
#include <gtest/gtest.h>

#include "golden_models.h"
#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

TEST(EveryModel, IsBitExactEverywhere) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* name : {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
                           "hello_world_int8", "micro_speech_quantized", "simple_add_model"})
    for (const char* configuration : {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128",
                                      "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"})
      for (const char* mode : {"shared-sram", "sram-only", "dedicated-sram"})
        for (const auto optimise :
             {LoweringOptions::Optimise::Speed, LoweringOptions::Optimise::Size,
              LoweringOptions::Optimise::Balanced})
          expect_exact(name, {configuration, mode, optimise, std::nullopt});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
