#include "intarsia/plugin/c_function.h"

#include <gtest/gtest.h>

#include "c_prologue.h"
#include "intarsia/plugin/tir_build.h"
#include "support/c_program.h"

namespace intarsia::emission {
namespace {

using tir::Access;
using tir::BinaryOp;
using tir::BufferRun;
using tir::Expr;
using tir::FuncBuilder;
using tir::int_imm;
using tir::Module;
using tir::Stmt;

Expr i32(const Expr& e) {
  return tir::cast(DataType::Int32, e);
}

std::string emitted(const Module& module, const tir::Func& func) {
  const auto text = emit_c_function(module, func, {"kws_", {}});
  return text.ok() ? *text : text.error().to_string();
}

void expect_compiles(const std::string& text, const std::string& declarations = {}) {
  for (const std::string& compiler : testing::c_compilers()) {
    const testing::CProgram program(compiler, testing::kPrologue + declarations + text,
                                    testing::kFlags);
    EXPECT_TRUE(program.ok()) << compiler << ":\n" << program.errors() << text;
  }
}

// A padded convolution as the portable lowering would write it.
TEST(CFunction, Convolution) {
  Module module;
  module.constants = {{"conv_weights", DataType::Int8, {64, 10, 4, 1}, {}},
                      {"conv_bias", DataType::Int32, {64}, {}}};
  FuncBuilder f("conv");
  const auto input = f.parameter("input", DataType::Int8, {1, 49, 10, 1}, Access::Read);
  const auto output = f.parameter("output", DataType::Int8, {1, 25, 5, 64}, Access::Write);
  const auto weights = f.constant("weights", DataType::Int8, {64, 10, 4, 1}, ConstantId{0});
  const auto bias = f.constant("bias", DataType::Int32, {64}, ConstantId{1});
  const auto acc = f.register_("acc", DataType::Int32);
  const Expr zero = int_imm(0);
  const auto window = [&](Expr iy0, Expr ix0, Expr oc) {
    return f.loop("ky", tir::max(zero, zero - iy0), tir::min(int_imm(10), int_imm(49) - iy0),
                  [&](Expr ky) {
                    return f.loop("kx", tir::max(zero, zero - ix0),
                                  tir::min(int_imm(4), int_imm(10) - ix0), [&](Expr kx) {
                                    const Expr x = f.load(input, {zero, iy0 + ky, ix0 + kx, zero});
                                    const Expr w = f.load(weights, {oc, ky, kx, zero});
                                    return f.store(acc, {}, f.load(acc) + (i32(x) + 128) * i32(w));
                                  });
                  });
  };
  const Stmt body = f.loop("oy", 25, [&](Expr oy) {
    return f.let("iy0", oy * 2 - 4, [&](Expr iy0) {
      return f.loop("ox", 5, [&](Expr ox) {
        return f.let("ix0", ox * 2 - 1, [&](Expr ix0) {
          return f.loop("oc", 64, [&](Expr oc) {
            const Expr scaled = tir::call(DataType::Int32, "intarsia_requantize",
                                          {f.load(acc), int_imm(1395864371), int_imm(-7)});
            const Expr clamped = tir::max(tir::min(scaled - 3, int_imm(127)), int_imm(-128));
            return tir::seq(
                {f.store(acc, {}, f.load(bias, {oc})), window(iy0, ix0, oc),
                 f.store(output, {zero, oy, ox, oc}, tir::cast(DataType::Int8, clamped))});
          });
        });
      });
    });
  });
  f.func().origin = "conv: conv2d i8[1,49,10,1] -> i8[1,25,5,64]";
  const tir::Func func = f.finish(body);
  const auto text = emit_c_function(module, func, {"kws_", {"input: sram 0x0000..0x01ea"}});
  ASSERT_TRUE(text.ok()) << text.error().to_string();
  EXPECT_EQ(*text, R"(/* conv: conv2d i8[1,49,10,1] -> i8[1,25,5,64]
 * input: sram 0x0000..0x01ea */
static void kws_conv(const int8_t *input, int8_t *restrict output) {
  for (int32_t oy = 0; oy < 25; ++oy) {
    const int32_t iy0 = oy * 2 - 4;
    for (int32_t ox = 0; ox < 5; ++ox) {
      const int32_t ix0 = ox * 2 - 1;
      for (int32_t oc = 0; oc < 64; ++oc) {
        int32_t acc = kws_conv_bias[oc];
        const int32_t ky_end = intarsia_min_i32(49 - iy0, 10);
        for (int32_t ky = intarsia_max_i32(-iy0, 0); ky < ky_end; ++ky) {
          const int32_t kx_end = intarsia_min_i32(10 - ix0, 4);
          for (int32_t kx = intarsia_max_i32(-ix0, 0); kx < kx_end; ++kx) {
            acc += (input[(iy0 + ky) * 10 + (ix0 + kx)] + 128) *
                kws_conv_weights[(oc * 10 + ky) * 4 + kx];
          }
        }
        output[(oy * 5 + ox) * 64 + oc] = (int8_t)intarsia_max_i32(
            intarsia_min_i32(intarsia_requantize(acc, 1395864371, -7) - 3, 127), -128);
      }
    }
  }
}
)");
  expect_compiles(*text,
                  "extern const int8_t kws_conv_weights[2560];\n"
                  "extern const int32_t kws_conv_bias[64];\n"
                  "int32_t intarsia_requantize(int32_t, int32_t, int32_t);\n");
}

TEST(CFunction, IntrinsicsTakePointersAndScalars) {
  FuncBuilder f("softmax");
  const auto input = f.parameter("input", DataType::Int8, {4, 10}, Access::Read);
  const auto output = f.parameter("output", DataType::Int8, {4, 10}, Access::Write);
  const auto scratch = f.local("scratch", DataType::Int32, {10});
  const auto peak = f.register_("peak", DataType::Int32);
  const Stmt body = f.loop("row", 4, [&](Expr row) {
    const BufferRun in{input, {row, int_imm(0)}, 10, Access::Read};
    return tir::seq(
        {tir::intrinsic("intarsia_peak", {in, BufferRun{peak, {}, 1, Access::Write}}),
         tir::with_comment(
             "one row", tir::intrinsic("intarsia_softmax_s8",
                                       {in, BufferRun{scratch, {int_imm(0)}, 10, Access::ReadWrite},
                                        BufferRun{output, {row, int_imm(2)}, 8, Access::Write},
                                        f.load(peak), int_imm(-248)}))});
  });
  const std::string text = emitted({}, f.finish(body));
  EXPECT_EQ(
      text,
      R"(static void kws_softmax(const int8_t *input, int8_t *restrict output, int32_t *restrict scratch) {
  int32_t peak;
  for (int32_t row = 0; row < 4; ++row) {
    intarsia_peak(&input[row * 10], &peak);
    /* one row */
    intarsia_softmax_s8(&input[row * 10], scratch, &output[row * 10 + 2], peak, -248);
  }
}
)");
  expect_compiles(
      text,
      "void intarsia_peak(const int8_t *, int32_t *);\n"
      "void intarsia_softmax_s8(const int8_t *, int32_t *, int8_t *, int32_t, int32_t);\n");
}

TEST(CFunction, BranchesCastsAndInPlace) {
  FuncBuilder f("relu");
  const auto input = f.parameter("input", DataType::Int8, {100}, Access::Read);
  const auto output = f.parameter("output", DataType::Int8, {100}, Access::Write);
  f.parameter("for", DataType::UInt8, {3}, Access::Read);
  const Stmt body = f.loop("i", 100, [&](Expr i) {
    return f.let("x", f.load(input, {i}), [&](Expr x) {
      const Expr wide = tir::cast(DataType::Int64, x) * 3;
      return f.let("dead", wide + 1, [&](Expr) {
        return tir::if_then(
            tir::binary(BinaryOp::Lt, x, int_imm(0, DataType::Int8)),
            f.store(output, {i}, int_imm(0, DataType::Int8)),
            tir::if_then(tir::binary(BinaryOp::Gt, wide, int_imm(200, DataType::Int64)),
                         f.store(output, {i}, tir::cast(DataType::Int8, wide)),
                         f.store(output, {i}, x + int_imm(1, DataType::Int8))));
      });
    });
  });
  f.func().in_place = {{0, 1}};
  const std::string text = emitted({}, f.finish(body));
  EXPECT_EQ(text,
            R"(static void kws_relu(const int8_t *input, int8_t *output, const uint8_t *for_2) {
  (void)for_2;
  for (int32_t i = 0; i < 100; ++i) {
    const int8_t x = input[i];
    if (x < 0) {
      output[i] = 0;
    } else if ((int64_t)x * 3 > 200) {
      output[i] = (int8_t)((int64_t)x * 3);
    } else {
      output[i] = (int8_t)(x + 1);
    }
  }
}
)");
  expect_compiles(text);
}

TEST(CFunction, RefusesWhatHasNoCForm) {
  FuncBuilder f("packed");
  const auto input = f.parameter("input", DataType::Int4, {8}, Access::Read);
  const auto output = f.parameter("output", DataType::Int4, {8}, Access::Write);
  const Stmt copy = f.store(output, {int_imm(0)}, f.load(input, {int_imm(1)}));
  const std::string errors =
      emitted({}, f.finish(tir::seq({copy, tir::intrinsic("example_npu.add", {})})));
  EXPECT_NE(errors.find("reads or writes single i4 elements of 'output'"), std::string::npos);
  EXPECT_NE(errors.find("reads or writes single i4 elements of 'input'"), std::string::npos);
  EXPECT_NE(errors.find("'example_npu.add' is a command of an accelerator"), std::string::npos);
}

}  // namespace
}  // namespace intarsia::emission
