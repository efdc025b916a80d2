// Whole models through our compiler: bit-exact on the simulator, and the checker has nothing to say.
#include <gtest/gtest.h>

#include "golden_models.h"
#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

constexpr const char* kConfigurations[] = {"ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128",
                                           "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"};

TEST(CompiledModels, AreBitExact) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* name : {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"})
    expect_exact(name, {});
}

TEST(CompiledModels, AreBitExactOnEveryConfiguration) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* configuration : kConfigurations)
    for (const char* name : {"kws_ref_model", "hello_world_int8"})
      expect_exact(name, {.target = configuration});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
