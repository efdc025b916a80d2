// Which cores have kernels of this folder.
#include <gtest/gtest.h>

#include "intarsia/builtin_targets.h"
#include "kernel_program.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

class Kernels : public ::testing::Test {
 protected:
  Kernels() {
    targets::c::add_kinds(registry_);
    targets::cortex_m::add_kinds(registry_);
  }
  bool has_kernels(const std::string& text) {
    const Result<TargetSpec> target = parse_target(registry_.catalogue(), text);
    INTARSIA_CHECK(target.ok(), text);
    return registry_.kind_of(target->host()).kernels_for(target->host()) != nullptr;
  }
  TargetRegistry registry_;
};

TEST_F(Kernels, TakesCoresByAnySpelling) {
  EXPECT_TRUE(has_kernels("cortex-m4"));
  EXPECT_TRUE(has_kernels("c -mcpu=cortex-m7"));
  EXPECT_TRUE(has_kernels("cortex-m55"));
  EXPECT_TRUE(has_kernels(R"({"kind":"c","mcpu":"cortex-m0"})"));
}

TEST_F(Kernels, LeavesOtherMachinesToPlainC) {
  EXPECT_FALSE(has_kernels("c"));
}

TEST_F(Kernels, CanBeTurnedOff) {
  EXPECT_FALSE(has_kernels("c -mcpu=cortex-m4 -kernels=portable"));
}

// The portable kind knows the cores, this target what their kernels are: one list.
TEST_F(Kernels, TakesEveryCoreOfThePortableKind) {
  for (const char* name : {
#define CORE(name, ...) name,
#include "intarsia/targets/c/cores.def"
#undef CORE
       }) {
    const std::string core = name;
    EXPECT_EQ(has_kernels("c -mcpu=" + core), core != "native") << core;
  }
  for (const char* name : {
#define CORE(name, ...) name,
#include "intarsia/targets/cortex_m/cores.def"
#undef CORE
       })
    EXPECT_TRUE(has_kernels(std::string("c -mcpu=") + name)) << name;
}

// What build systems are told of a core, and of the instructions that its kernels use.
TEST_F(Kernels, HaveNamesInBuildSystems) {
  const auto names_of = [&](const std::string& text) -> std::optional<CoreNames> {
    const Result<TargetSpec> target = parse_target(registry_.catalogue(), text);
    INTARSIA_CHECK(target.ok(), text);
    for (const KernelLibrary& library : registry_.kind_of(target->host()).kernel_libraries)
      if (const auto names = library.core_names(target->host())) return names;
    return std::nullopt;
  };
  EXPECT_FALSE(names_of("c"));
  EXPECT_EQ(names_of("cortex-m0plus")->cmsis, "Cortex-M0+");
  EXPECT_EQ(names_of("cortex-m0plus")->zephyr_condition, "CPU_CORTEX_M");
  EXPECT_EQ(names_of("cortex-m3")->rust, "thumbv7m-none");
  EXPECT_EQ(names_of("cortex-m4")->zephyr_condition,
            "CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP");
  EXPECT_EQ(names_of("cortex-m33 -mattr=-dsp")->zephyr_condition, "ARMV7_M_ARMV8_M_MAINLINE");
  EXPECT_EQ(names_of("cortex-m55")->zephyr_condition, "ARMV8_1_M_MVEI");
  EXPECT_EQ(names_of("cortex-m55 -mattr=-mve")->zephyr_condition,
            "CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP");
  const auto portable = names_of("c -mcpu=cortex-m55 -kernels=portable");
  EXPECT_EQ(portable->rust, "thumbv8m.main-none");
  EXPECT_EQ(portable->zephyr_condition + portable->instructions, "");
}

// -mattr takes a core without an extension to the kernels that it has all instructions of.
TEST(Extensions, ThatAreMissingChooseOtherKernels) {
  for (const auto& [core, kernel] : std::initializer_list<std::pair<const char*, const char*>>{
           {"cortex-m23", "intarsia_thumb_conv_s8"},
           {"cortex-m33", "intarsia_dsp_conv_by_four_s8"},
           {"cortex-m33 -mattr=-dsp", "intarsia_thumb_conv_s8"},
           {"cortex-m33 -mattr=+nodsp", "intarsia_thumb_conv_s8"},
           {"cortex-m33 -mattr=+dsp", "intarsia_dsp_conv_by_four_s8"},
           {"cortex-m35p", "intarsia_dsp_conv_by_four_s8"},
           {"star-mc1", "intarsia_dsp_conv_by_four_s8"},
           {"cortex-m52", "intarsia_mve_conv_s8"},
           {"cortex-m55", "intarsia_mve_conv_s8"},
           {"cortex-m55 -mattr=-mve.fp", "intarsia_mve_conv_s8"},
           {"cortex-m55 -mattr=+nomve.fp", "intarsia_mve_conv_s8"},
           {"cortex-m55 -mattr=-mve", "intarsia_dsp_conv_by_four_s8"},
           {"cortex-m55 -mattr=+nomve", "intarsia_dsp_conv_by_four_s8"},
           {"cortex-m55 -mattr=-dsp", "intarsia_thumb_conv_s8"},
           {"cortex-m85 -mattr=-mve,-dsp", "intarsia_thumb_conv_s8"},
           {"cortex-m4 -mattr=-fp", "intarsia_dsp_conv_by_four_s8"}}) {
    KernelProgram kernels(core);
    Random random(8);
    kernels.add(window_module(random, {graph::OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1}));
    EXPECT_TRUE(kernels.calls(kernel)) << core;
  }
}

TEST(Extensions, TakeFloatingPointAlong) {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  for (const auto& [text, abi] : std::initializer_list<std::pair<const char*, const char*>>{
           {"c -mcpu=cortex-m33", "hard"},
           {"c -mcpu=cortex-m33 -mattr=-fp", "soft"},
           {"c -mcpu=cortex-m33 -mattr=+nofp", "soft"}}) {
    const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
    ASSERT_TRUE(target.ok()) << text;
    EXPECT_EQ(target->host().get_string("mfloat-abi"), abi) << text;
  }
}

TEST(Extensions, ThatACoreNeverHasAreRefused) {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"c -mcpu=cortex-m3 -mattr=-dsp", "cortex-m3 has nothing to leave out for -mattr=-dsp"},
           {"c -mcpu=cortex-m4 -mattr=-mve", "cortex-m4 has nothing to leave out for -mattr=-mve"},
           {"c -mcpu=cortex-m4 -mattr=+mve", "cortex-m4 has no extension for -mattr=+mve"},
           {"c -mcpu=cortex-m4 -mattr=dsp", "-mattr cannot be 'dsp'"},
           {"c -mcpu=cortex-m4 -mattr=+dsp,-dsp", "-mattr says both"}}) {
    const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_NE(target.error().to_string().find(message), std::string::npos)
        << target.error().to_string();
  }
}

}  // namespace
}  // namespace intarsia::test::cortex_m
