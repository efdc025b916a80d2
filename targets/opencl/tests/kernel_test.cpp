// Which loops become the range of a kernel, and what stays a loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/opencl_kind.h"
#include "intarsia/gpu/kernel_text.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::targets::opencl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<gpu::Kernel> kernels(const std::string& declarations, const std::string& body) {
  const Result<tir::Module> module =
      tir::parse("module m\nfunc @f(%in: i8[4,8] read, %out: i8[4,8] write) {\n" + declarations +
                 body + "}\n");
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  return gpu::kernels_of(dialect(), module->funcs.at(0), 0);
}

TEST(Kernels, IndependentLoopsAreTheRange) {
  const auto found = kernels("",
                             "  for y in 0..4 {\n    for x in 0..8 {\n      store %out[y, x] = "
                             "%in[3 - y, x]\n    }\n  }\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].global, ElementsAre(8, 4, 1));
  EXPECT_THAT(found[0].text, HasSubstr("get_global_id(0)"));
  EXPECT_THAT(found[0].text, Not(HasSubstr("for (")));
}

TEST(Kernels, BlocksOfElementsAreApart) {
  const auto found =
      kernels("",
              "  for y in 0..4 {\n    for x in 0..4 {\n      store %out[y, x * 2] = %in[y, x]\n"
              "      store %out[y, x * 2 + 1] = %in[y, x]\n    }\n  }\n");
  EXPECT_THAT(found.at(0).global, ElementsAre(4, 4, 1));
}

TEST(Kernels, OverlappingBlocksAreNot) {
  const auto found =
      kernels("",
              "  for y in 0..4 {\n    for x in 0..3 {\n      store %out[y, x * 2] = %in[y, x]\n"
              "      store %out[y, x * 2 + 2] = %in[y, x]\n    }\n  }\n");
  EXPECT_THAT(found.at(0).global, ElementsAre(4, 1, 1));
  EXPECT_THAT(found.at(0).text, HasSubstr("for ("));
}

TEST(Kernels, WhatReadsItsOwnResultsStaysALoop) {
  const auto found = kernels("",
                             "  for y in 0..4 {\n    for x in 0..7 {\n      store %out[y, x + 1] = "
                             "%out[y, x]\n    }\n  }\n");
  EXPECT_THAT(found.at(0).global, ElementsAre(4, 1, 1));
}

TEST(Kernels, SumsOverAllIterationsStayALoop) {
  const auto found =
      kernels("  register %sum: i32\n",
              "  store %sum = 0\n  for y in 0..4 {\n    store %sum = %sum + i32(%in[y, 0])\n  }\n"
              "  store %out[0, 0] = i8(%sum)\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].global, ElementsAre(1, 1, 1));
}

TEST(Kernels, SumsOfOneIterationAreItsOwn) {
  const auto found = kernels(
      "  register %sum: i32\n",
      "  for y in 0..4 {\n    store %sum = 0\n    for x in 0..8 {\n"
      "      store %sum = %sum + i32(%in[y, x])\n    }\n    store %out[y, 0] = i8(%sum)\n  }\n");
  EXPECT_THAT(found.at(0).global, ElementsAre(4, 1, 1));
}

TEST(Kernels, LoopsOneAfterAnotherAreKernelsOneAfterAnother) {
  const auto found = kernels("",
                             "  for y in 0..4 {\n    store %out[y, 0] = %in[y, 0]\n  }\n  for x in "
                             "0..8 {\n    store %out[0, x] = %in[0, x]\n  }\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].text, HasSubstr("void k0("));
  EXPECT_THAT(found[1].text, HasSubstr("void k1("));
}

}  // namespace
}  // namespace intarsia::targets::opencl
