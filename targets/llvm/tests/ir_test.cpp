// The text of LLVM's IR that functions of the tensor IR become, without LLVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/function_ir.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::llvm {
namespace {

using testing::HasSubstr;
using testing::Not;

tir::Func doubled() {
  tir::FuncBuilder builder("doubled");
  const tir::BufferId in = builder.parameter("in", DataType::Int16, {8}, tir::Access::Read, 2);
  const tir::BufferId out = builder.parameter("out", DataType::Int32, {8}, tir::Access::Write, 4);
  return builder.finish(builder.loop("i", 8, [&](const tir::Expr& i) {
    return builder.store(out, {i}, tir::cast(DataType::Int32, builder.load(in, {i})) * 2);
  }));
}

std::string text_of(const tir::Func& func, const IrDialect& dialect) {
  tir::Module module;
  module.name = "m";
  ModuleIr shared{module, dialect, "m_"};
  const Result<std::string> text = kernel_text(shared, func);
  return text.ok() ? *text : text.error().to_string();
}

TEST(KernelText, PointersHaveTypesWhereLlvmWantsThem) {
  EXPECT_THAT(text_of(doubled(), {true, 64}), HasSubstr("load i16, i16* "));
  const std::string opaque = text_of(doubled(), {false, 64});
  EXPECT_THAT(opaque, HasSubstr("load i16, ptr "));
  EXPECT_THAT(opaque, Not(HasSubstr("*")));
}

TEST(KernelText, IndicesAreAsWideAsPointers) {
  EXPECT_THAT(text_of(doubled(), {false, 64}), HasSubstr("to i64"));
  EXPECT_THAT(text_of(doubled(), {false, 32}), Not(HasSubstr("to i64")));
}

TEST(KernelText, BuffersThatMayOverlapAreNotPromisedApart) {
  tir::Func func = doubled();
  EXPECT_THAT(text_of(func, {false, 64}), HasSubstr("noalias"));
  func.in_place = {{0, 1}};
  EXPECT_THAT(text_of(func, {false, 64}), Not(HasSubstr("noalias")));
}

TEST(KernelText, ARightSideThatLoadsIsEvaluatedOnlyWhereItDecides) {
  tir::FuncBuilder builder("guarded");
  const tir::BufferId in = builder.parameter("in", DataType::Int32, {4}, tir::Access::Read, 4);
  const tir::BufferId out = builder.parameter("out", DataType::Bool, {4}, tir::Access::Write, 1);
  const tir::Func func = builder.finish(builder.loop("i", 4, [&](const tir::Expr& i) {
    const tir::Expr inside = tir::binary(tir::BinaryOp::Lt, i, tir::int_imm(3));
    const tir::Expr large = tir::binary(tir::BinaryOp::Gt, builder.load(in, {i}), tir::int_imm(0));
    return builder.store(out, {i}, tir::binary(tir::BinaryOp::And, inside, large));
  }));
  EXPECT_THAT(text_of(func, {false, 64}), HasSubstr("phi i1"));
}

TEST(KernelText, SingleElementsOfPackedTensorsAreRefused) {
  tir::FuncBuilder builder("packed");
  const tir::BufferId in = builder.parameter("in", DataType::Int4, {4}, tir::Access::Read, 1);
  const tir::BufferId out = builder.parameter("out", DataType::Int32, {4}, tir::Access::Write, 4);
  const tir::Func func = builder.finish(builder.loop("i", 4, [&](const tir::Expr& i) {
    return builder.store(out, {i}, tir::cast(DataType::Int32, builder.load(in, {i})));
  }));
  EXPECT_THAT(text_of(func, {false, 64}), HasSubstr("reads or writes single i4 elements of 'in'"));
}

// Sums side by side: acc_k += (x[i] - zero) * w[i * sums + k], with `apart` elements between weights of an iteration.
tir::Func side_by_side(int64_t sums, int64_t zero, DataType type = DataType::Int8,
                       int64_t apart = 1) {
  tir::FuncBuilder b("sums");
  const tir::BufferId x = b.parameter("x", type, {64}, tir::Access::Read, 4);
  const tir::BufferId w = b.parameter("w", type, {64, sums * apart}, tir::Access::Read, 4);
  const DataType sum = type == DataType::Float32 ? type : DataType::Int32;
  const tir::BufferId out = b.parameter("out", sum, {sums}, tir::Access::Write, 4);
  std::vector<tir::BufferId> acc;
  std::vector<tir::Stmt> body, results;
  for (int64_t k = 0; k < sums; ++k) {
    acc.push_back(b.register_("acc", sum));
    body.push_back(b.store(acc.back(), {}, tir::cast(sum, tir::int_imm(0))));
    results.push_back(b.store(out, {tir::int_imm(k)}, b.load(acc.back())));
  }
  body.push_back(b.loop("i", 64, [&](const tir::Expr& i) {
    tir::Expr input = tir::cast(sum, b.load(x, {i}));
    if (zero != 0) input = input - zero;
    return b.let("in", input, [&](const tir::Expr& in) {
      std::vector<tir::Stmt> added;
      for (int64_t k = 0; k < sums; ++k)
        added.push_back(b.store(acc[static_cast<size_t>(k)], {},
                                b.load(acc[static_cast<size_t>(k)]) +
                                    in * tir::cast(sum, b.load(w, {i, tir::int_imm(k * apart)}))));
      return tir::seq(added);
    });
  }));
  body.insert(body.end(), results.begin(), results.end());
  return b.finish(tir::seq(body));
}

constexpr IrDialect kNoVectors{false, 64}, kVectors{false, 64, false, 128},
    kPermutes{false, 64, false, 128, true}, kPairs{false, 64, false, 256, true, 256};

TEST(VectorLoops, AreOverTheSumsOfAnIteration) {
  EXPECT_THAT(text_of(side_by_side(4, 0), kNoVectors), Not(HasSubstr("<")));
  const std::string text = text_of(side_by_side(4, 128), kVectors);
  EXPECT_THAT(text, HasSubstr("load <4 x i8>, ptr "));
  EXPECT_THAT(text, HasSubstr("phi <4 x i32>"));
  EXPECT_THAT(text, Not(HasSubstr("<16 x")));
  EXPECT_THAT(text_of(side_by_side(4, 0), {true, 64, false, 128}),
              HasSubstr("load <4 x i8>, <4 x i8>* "));
}

TEST(VectorLoops, AreOverSeveralIterationsWhereElementsChangePlacesAtOnce) {
  const std::string text = text_of(side_by_side(4, 128), kPermutes);
  EXPECT_THAT(text, HasSubstr("load <16 x i8>, ptr "));
  EXPECT_THAT(text, HasSubstr("phi <16 x i32>"));
}

TEST(VectorLoops, MultiplyInPairsWhatFitsInto16Bits) {
  EXPECT_THAT(text_of(side_by_side(4, 128), kPairs), HasSubstr("@llvm.x86.avx2.pmadd.wd"));
  const std::string wide = text_of(side_by_side(4, 40000), kPairs);
  EXPECT_THAT(wide, Not(HasSubstr("pmadd")));
  EXPECT_THAT(wide, HasSubstr("phi <16 x i32>"));
}

// One iteration after another, in every lane: the order in which C rounds.
TEST(VectorLoops, OfFloatsKeepTheirOrder) {
  const std::string text = text_of(side_by_side(4, 0, DataType::Float32), kPairs);
  EXPECT_THAT(text, HasSubstr("phi <4 x float>"));
  EXPECT_THAT(text, Not(HasSubstr("<16 x")));
}

TEST(VectorLoops, AreNotOverElementsApartOrSumsOfNoPowerOfTwo) {
  EXPECT_THAT(text_of(side_by_side(4, 0, DataType::Int8, 2), kPairs), Not(HasSubstr("<")));
  EXPECT_THAT(text_of(side_by_side(3, 0), kPairs), Not(HasSubstr("<")));
}

TEST(VectorLoops, AreNotOfTermsThatReadASum) {
  tir::FuncBuilder b("running");
  const tir::BufferId w = b.parameter("w", DataType::Int32, {16}, tir::Access::Read, 4);
  const tir::BufferId out = b.parameter("out", DataType::Int32, {1}, tir::Access::Write, 4);
  const tir::BufferId first = b.register_("first", DataType::Int32);
  const tir::BufferId second = b.register_("second", DataType::Int32);
  const tir::Func func = b.finish(
      tir::seq({b.store(first, {}, tir::int_imm(0)), b.store(second, {}, tir::int_imm(0)),
                b.loop("i", 16,
                       [&](const tir::Expr&) {
                         return tir::seq({b.store(first, {}, b.load(first) + b.load(second)),
                                          b.store(second, {}, b.load(second) + b.load(second))});
                       }),
                b.store(out, {tir::int_imm(0)}, b.load(first) + b.load(w, {tir::int_imm(0)}))}));
  EXPECT_THAT(text_of(func, kPairs), Not(HasSubstr("<")));
}

TEST(IrText, FloatsAreWrittenAsDoubles) {
  EXPECT_EQ(float_literal(1.0f), "0x3FF0000000000000");
  EXPECT_EQ(float_literal(-0.0f), "0x8000000000000000");
}

}  // namespace
}  // namespace intarsia::targets::llvm
