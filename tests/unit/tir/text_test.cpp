#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"
#include "random_nest.h"

namespace intarsia::tir {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = R"(module kws entry=@main

constant @conv_weights: i8[2,3] weights = x"010203fffefd"
constant @scale: f32 table = x"0000803f"

func @conv(%input: i8[4,3] read, %output: i8[4,2] write align=16) target="m55" origin="conv: \"x\"" node="conv" macs=24 {
  constant %weights: i8[2,3] = @conv_weights
  constant %scale: f32 = @scale
  register %acc: i32
  local %scratch: i64[2] align=16
  // rows
  for y in 0..4 {
    let first = max(0, y - 2)
    let last = min(3, i32(%input[y, 0]) & 3)
    for c in 0..2 {
      store %acc = -5
      for k in first .. last {
        store %acc = %acc + i32(%input[y, k]) * i32(%weights[c, k])
      }
      if %acc < 0 && !(y == 3) || %scale > 0.5:f32 {
        store %output[y, c] = i8(select(c == 0, i32 @intarsia_scale(%acc, -(7), 1), %acc >> 2))
      } else {
        seq {
          store %output[y, c] = -1:i8
        }
      }
    }
    let big = 5000000000:i64 - (i64(y) - 1:i64) {
      store %scratch[0] = -big * 2:i64 % 7:i64
    }
    intrinsic example.norm(read %input[y, 0] count 3, readwrite %scratch[0] count 2, y + 1, true)
  }
}

func @copy(%a: i8[4,2] read, %b: i8[4,2] write) in_place=[0 -> 1] {
  vars j: i32, i: i32
  for i in 0..4 {
    for j in 0..2 {
      store %b[i, j] = %a[i, j]
    }
  }
}

func @main(%x: i8[4,3] read, %y: i8[8] write) {
  local %between: i8[4,2] align=16
  local %flat: i8[8] alias=%between align=16
  // the only operator
  call @conv(%x, %between)
  call @copy(%flat, %y)
}

func @device(%in: i8[4] read, %out: i8[4] write) target="npu" stepwise=1 {
  local %half: i8[2] alias=%whole at=2
  local %whole: i8[4] memory="sram" align=4
  intrinsic npu.move(read %in[0] count 4, write %whole[0] count 4)
  intrinsic npu.move(read %half[0] count 2, write %out[0] count 2)
}

func @tile(%x: i8[3] read, %last: i8[1] write, %y: i8[2] write) {
  store %last[0] = %x[0]
  for i in 0..2 {
    store %y[i] = %x[i + 1]
  }
}

func @rows(%x: i8[14] read, %y: i8[4,2] write) overlaps=[0 -> 1 at 16] tiled=1 {
  local %line: i8[2]
  for s in 0..4 {
    call @tile(%x[s * 3 + 1], %line[1], %y[s * 2])
    intrinsic intarsia_move_back(write %line[0] count 1, read %line[1] count 1, 1)
  }
}

func @arena(%in: i8[4] read alias=%all at=4, %out: i8[4] write alias=%all) {
  local %all: i8[8]
  call @device(%in, %out)
}
)";

TEST(Text, PrintIsTheInverseOfParse) {
  const auto module = parse(kText, "kws.tir");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(print(*module), kText);
  const auto valid = verify(*module);
  EXPECT_TRUE(valid.ok()) << valid.error().to_string();
  EXPECT_TRUE(equal(*parse(print(*module)), *module));
}

TEST(Text, RandomModulesSurvive) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const Module module = NestGenerator(seed).make();
    const std::string text = print(module);
    const auto again = parse(text);
    ASSERT_TRUE(again.ok()) << again.error().to_string() << text;
    ASSERT_TRUE(equal(*again, module)) << text << print(*again);
  }
}

TEST(Text, LiteralsOfEveryKind) {
  FuncBuilder f("literals");
  const BufferId out = f.parameter("out", DataType::Float32, {1}, Access::Write);
  const BufferId wide = f.parameter("wide", DataType::Int64, {1}, Access::Write);
  std::vector<Stmt> statements;
  for (const float value : {0.1f, -0.0f, 3e38f, -INFINITY, 1.0f})
    statements.push_back(f.store(out, {int_imm(0)}, float_imm(value)));
  for (const int64_t value : {INT64_MIN, INT64_MAX, int64_t{-1}})
    statements.push_back(f.store(wide, {int_imm(0)}, int_imm(value, DataType::Int64)));
  Module module;
  module.funcs.push_back(f.finish(seq(statements)));
  const auto again = parse(print(module));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_TRUE(equal(*again, module)) << print(*again);
}

std::string error_of(const std::string& body) {
  const auto result = parse("module m\nfunc @f(%a: i8[4] read) {\n" + body + "\n}\n", "m.tir");
  return result.ok() ? "" : result.error().to_string();
}

TEST(Text, ErrorsNameThePlace) {
  EXPECT_THAT(error_of("store %b[0] = 1"), HasSubstr("m.tir:3:8: no buffer is called 'b'"));
  EXPECT_THAT(error_of("store %a[0] = q"), HasSubstr("m.tir:3:15: no variable is called 'q'"));
  EXPECT_THAT(error_of("let v = 300:i8"), HasSubstr("300 is out of the range of i8"));
  EXPECT_THAT(error_of("let v = i9(3)"), HasSubstr("'i9' is not a type"));
  EXPECT_THAT(error_of("let v = min(3)"), HasSubstr("2 arguments are wanted"));
  EXPECT_THAT(error_of("jump v"), HasSubstr("m.tir:3:1: 'jump' begins no statement"));
  EXPECT_THAT(error_of("let v = 1 let v = 2"), HasSubstr("'v' is defined already"));
  EXPECT_EQ(error_of("local %c: i8[4] align=1048576"), "");
  EXPECT_THAT(error_of("local %c: i8[4] align=2097152"), HasSubstr("an alignment"));
  EXPECT_THAT(error_of("vars w: i32 let v = 1"), HasSubstr("'v' is missing after vars"));
  EXPECT_THAT(error_of("for i in 0..4 {"), HasSubstr("m.tir"));
  EXPECT_THAT(error_of("let v = " + std::string(5000, '(')), HasSubstr("nested too deeply"));
  std::string chain = "let v = 1";
  for (int i = 0; i < 5000; ++i) chain += " + 1";
  EXPECT_THAT(error_of(chain), HasSubstr("too long"));
  EXPECT_THAT(parse("module m\nfunk", "m.tir").error().to_string(),
              HasSubstr("m.tir:2:1: 'funk' begins no part of a module"));
}

TEST(Equal, SeesEveryDifference) {
  const Module module = *parse(kText);
  const std::string text = kText;
  const auto differs = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    const auto other = parse(changed);
    ASSERT_TRUE(other.ok()) << other.error().to_string();
    EXPECT_FALSE(equal(*other, module)) << from << " -> " << to;
  };
  differs("macs=24", "macs=25");
  differs("// rows", "// columns");
  differs("0.5:f32", "0.25:f32");
  differs("c == 0", "c != 0");
  differs("%acc >> 2", "%acc >> 3");
  differs("in_place=[0 -> 1]", "");
  differs("count 2", "count 1");
  differs("read %input[y, 0]", "readwrite %input[y, 0]");
  differs("%flat, %y", "%between, %y");
  differs("x\"01", "x\"02");
  differs("alias=%between", "");
  differs("-(7)", "-7");
  differs(" at=2", "");
  differs(" memory=\"sram\"", "");
  differs(" stepwise=1", "");
  differs(" tiled=1", "");
  differs("1 at 16", "1 at 17");
  differs("s * 3 + 1", "s * 3 + 2");
}

}  // namespace
}  // namespace intarsia::tir
