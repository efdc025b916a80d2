// CUDA C of kernels: how work items are numbered, and what ends those beyond the range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/cuda_kind.h"
#include "intarsia/gpu/kernel_text.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::targets::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

gpu::Kernel kernel(const std::string& body) {
  const Result<tir::Module> module =
      tir::parse("module m\nfunc @f(%in: i8[4,8] read, %out: i8[4,8] write) {\n" + body + "}\n");
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  const std::vector<gpu::Kernel> kernels = gpu::kernels_of(dialect(), module->funcs.at(0), 0);
  INTARSIA_CHECK(kernels.size() == 1, "one kernel");
  return kernels[0];
}

TEST(CudaKernels, NumberTheirItemsInnermostLoopFirst) {
  const gpu::Kernel found = kernel(
      "  for y in 0..4 {\n    for x in 2..8 {\n      store %out[y, x] = %in[3 - y, x]\n    }\n  "
      "}\n");
  EXPECT_THAT(found.global, ElementsAre(6, 4, 1));
  EXPECT_THAT(found.text, HasSubstr("extern \"C\" __global__ void k0(uint8_t *m0, uint8_t *m1) {"));
  EXPECT_THAT(found.text, HasSubstr("if (intarsia_item() >= 24u) return;"));
  EXPECT_THAT(found.text, HasSubstr("v_y = intarsia_index(6, 4);"));
  EXPECT_THAT(found.text, HasSubstr("v_x = intarsia_index(1, 6) + 2;"));
  EXPECT_THAT(found.text, Not(HasSubstr("for (")));
}

TEST(CudaKernels, WithoutParallelLoopsHaveOneItem) {
  const gpu::Kernel found = kernel("  store %out[0, 0] = %in[1, 1]\n");
  EXPECT_THAT(found.global, ElementsAre(1, 1, 1));
  EXPECT_THAT(found.text, HasSubstr("if (intarsia_item() >= 1u) return;"));
}

TEST(CudaKernels, HelpersAreFunctionsOfTheDevice) {
  const std::string text = gpu::prelude(dialect());
  EXPECT_THAT(text, HasSubstr("static __device__ inline int32_t intarsia_requantize("));
  EXPECT_THAT(text, Not(HasSubstr("static inline")));
}

}  // namespace
}  // namespace intarsia::targets::cuda
