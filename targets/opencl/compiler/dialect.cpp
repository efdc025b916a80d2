#include "intarsia/gpu/dialect.h"

#include "intarsia/plugin/tir_build.h"
#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

constexpr const char* kTypes = R"(/* Integers as the C sources name them. */
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807L - 1)
#define INT64_C(number) number##L
#define UINT32_C(number) number##u
#define UINT64_C(number) number##uL
#pragma OPENCL FP_CONTRACT OFF
#define half half_ /* a type here, a name in the helpers */

)";

tir::Expr global_id(size_t dimension, const gpu::Extents&) {
  return tir::call(DataType::Int32, "get_global_id",
                   {tir::int_imm(static_cast<int64_t>(dimension))});
}

}  // namespace

const gpu::Dialect& dialect() {
  static constexpr gpu::Dialect kDialect = {
      .kind = "opencl",
      .types = kTypes,
      .helper = "static inline",
      .kernel = "__kernel void",
      .global = "__global ",
      .parameter = "__global uchar *m{0}, ulong o{0}",
      .address = "(m{0} + o{0})",
      .index = global_id,
      .guard = nullptr,
      .refuses_floats =
          "it computes with floats; those of OpenCL may round differently from the host's"};
  return kDialect;
}

}  // namespace intarsia::targets::opencl
