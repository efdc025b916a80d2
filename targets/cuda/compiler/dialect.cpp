#include "intarsia/gpu/dialect.h"

#include <fmt/format.h>

#include "cuda_kind.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::cuda {
namespace {

constexpr const char* kTypes =
    R"(/* Integers as the C sources name them: no header is needed to compile this. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_C(number) number##LL
#define UINT32_C(number) number##u
#define UINT64_C(number) number##uLL

/* The work items of a kernel are numbered from 0, its innermost dimension first. */
static __device__ inline uint32_t intarsia_item(void) {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
/* This item's index in a dimension of `extent`; `inner` items differ in the dimensions inside of it alone. */
static __device__ inline int32_t intarsia_index(uint32_t inner, uint32_t extent) {
  return (int32_t)(intarsia_item() / inner % extent);
}

)";

int64_t items(const gpu::Extents& extents, size_t dimensions) {
  int64_t product = 1;
  for (size_t d = 0; d < dimensions; ++d) product *= extents[d];
  return product;
}

tir::Expr index(size_t dimension, const gpu::Extents& extents) {
  return tir::call(DataType::Int32, "intarsia_index",
                   {tir::int_imm(items(extents, dimension)), tir::int_imm(extents[dimension])});
}

// The last block is full, whatever the range.
std::string guard(const gpu::Extents& extents) {
  return fmt::format("if (intarsia_item() >= {}u) return;", items(extents, extents.size()));
}

}  // namespace

const gpu::Dialect& dialect() {
  static constexpr gpu::Dialect kDialect = {.kind = "cuda",
                                            .types = kTypes,
                                            .helper = "static __device__ inline",
                                            .has_declarations = false,
                                            .kernel = "extern \"C\" __global__ void",
                                            .global = "",
                                            .parameter = "uint8_t *m{0}",
                                            .address = "m{0}",
                                            .index = index,
                                            .guard = guard,
                                            .refuses_floats = "",
                                            .most_arguments = static_cast<size_t>(kMaxArguments)};
  return kDialect;
}

}  // namespace intarsia::targets::cuda
