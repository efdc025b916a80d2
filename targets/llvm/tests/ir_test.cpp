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

TEST(IrText, FloatsAreWrittenAsDoubles) {
  EXPECT_EQ(float_literal(1.0f), "0x3FF0000000000000");
  EXPECT_EQ(float_literal(-0.0f), "0x8000000000000000");
}

}  // namespace
}  // namespace intarsia::targets::llvm
