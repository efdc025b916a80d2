// Whole models through our compiler: bit-exact on the simulator, and the checker has nothing to say.
#include <gtest/gtest.h>

#include "golden_models.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {
namespace {

constexpr const char* kConfigurations[] = {"ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128",
                                           "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"};

TEST(CompiledModels, AreBitExact) {
  for (const std::string& name :
       with_beside({"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                    "autoencoder_s8", "autoencoder_s16"},
                   {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"}))
    expect_exact(name, {});
}

TEST(CompiledModels, AreBitExactOnEveryConfiguration) {
  for (const char* configuration : kConfigurations)
    for (const std::string& name :
         with_beside({"separable_s8", "residual_s16"}, {"kws_ref_model", "hello_world_int8"}))
      expect_exact(name, {.target = configuration});
}

TEST(CompiledModels, AreBitExactInEveryMemoryModeForEveryAim) {
  for (const char* name : {"separable_s8", "autoencoder_s8"})
    for (const char* configuration : {"ethos-u55-64", "ethos-u65-512"})
      for (const char* mode : {"shared-sram", "sram-only", "dedicated-sram"})
        for (const auto optimise :
             {LoweringOptions::Optimise::Speed, LoweringOptions::Optimise::Size,
              LoweringOptions::Optimise::Balanced})
          expect_exact(name, {configuration, mode, optimise, std::nullopt});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
