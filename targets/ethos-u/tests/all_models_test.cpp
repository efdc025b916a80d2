// Every model without state that the NPU takes whole, on every configuration in every memory mode, for all three aims:
// bit-exact on the simulator, and the checker has nothing to say.
#include <gtest/gtest.h>

#include "golden_models.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {
namespace {

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, IsBitExactEverywhere) {
  for (const char* configuration : {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128",
                                    "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"})
    for (const char* mode : {"shared-sram", "sram-only", "dedicated-sram"})
      for (const auto optimise : {LoweringOptions::Optimise::Speed, LoweringOptions::Optimise::Size,
                                  LoweringOptions::Optimise::Balanced})
        expect_exact(GetParam(), {configuration, mode, optimise, std::nullopt});
}

INSTANTIATE_TEST_SUITE_P(Recorded, EveryModel,
                         testing::ValuesIn(with_beside(
                             {"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                              "autoencoder_s8", "autoencoder_s16"},
                             {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
                              "hello_world_int8", "micro_speech_quantized", "simple_add_model"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace intarsia::test::ethos_u
