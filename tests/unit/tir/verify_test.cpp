// The verifier's rules, by the words of their refusals. Functions are written as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "intarsia/plugin/tir.h"
#include "intarsia/plugin/tir_build.h"
#include "support/tir_interpreter.h"

namespace intarsia::tir {
namespace {

using ::testing::HasSubstr;

std::string verdict(const std::string& text) {
  const auto module = parse("module m\n" + text);
  if (!module.ok()) return "does not parse: " + module.error().to_string();
  const auto result = verify(*module);
  return result.ok() ? "" : result.error().to_string();
}

// A kernel with a few buffers and the statements.
std::string kernel(const std::string& statements) {
  return verdict(
      "constant @c: i8[4] weights = x\"01020304\"\n"
      "func @f(%in: i8[4] read, %out: i8[4] write, %both: i32[4] readwrite) {\n"
      "constant %table: i8[4] = @c\nregister %acc: i32\nlocal %tmp: i8[4]\n" +
      statements + "}\n");
}

TEST(Verify, AcceptsWhatIsRight) {
  EXPECT_EQ(kernel("for i in 0..4 { store %out[i] = %in[i] + %table[i] }"), "");
  EXPECT_EQ(kernel("store %acc = 0 for i in 0..4 { store %acc = %acc + %both[i] } "
                   "store %both[0] = %acc"),
            "");
}

TEST(Verify, Access) {
  EXPECT_EQ(kernel("store %in[0] = 1:i8"), "function 'f': store %in[0]: 'in' is read-only here\n");
  EXPECT_THAT(kernel("store %table[0] = 1:i8"), HasSubstr("'table' is read-only here"));
  EXPECT_THAT(kernel("intrinsic k(write %in[0] count 4)"), HasSubstr("'in' is read-only here"));
  EXPECT_EQ(kernel("let x = %out[0]"),
            "function 'f': load %out[0]: 'out' may be read before it is written\n");
  EXPECT_THAT(kernel("intrinsic k(read %tmp[0] count 4)"),
              HasSubstr("'tmp' may be read before it is written"));
  EXPECT_EQ(kernel("store %out[0] = 1:i8 let x = %out[0] let y = %both[0]"), "");
}

// Rows of four: out[i] = f(in[i], in[i + 1]) through a line of two rows, for eight rows of the output.
std::string tiled(const std::string& first, const std::string& body,
                  const std::string& attributes = "") {
  return verdict(
      "func @row(%from: i8[4] read, %to: i8[4] write) {\nfor i in 0..4 { store %to[i] = %from[i] "
      "}\n}\n"
      "func @two(%from: i8[8] read, %to: i8[4] write) {\nfor i in 0..4 { store %to[i] = %from[i] + "
      "%from[i + 4] }\n}\n"
      "func @f(%in: i8[36] read, %out: i8[32] write)" +
      attributes + " tiled=1 {\nlocal %line: i8[8]\n" + first + "\nfor s in 0..8 {\n" + body +
      "\n}\n}\n");
}

TEST(Verify, TilesAreRunInThought) {
  const std::string first = "call @row(%in[0], %line[0])";
  const std::string turn =
      "call @row(%in[s * 4 + 4], %line[4])\ncall @two(%line[0], %out[s * 4])\n";
  const std::string move = "intrinsic move(write %line[0] count 4, read %line[4] count 4)";
  EXPECT_EQ(tiled(first, turn + move), "");
  EXPECT_THAT(tiled("", turn + move), HasSubstr("two reads bytes of 'line' that nobody wrote"));
  EXPECT_THAT(
      tiled(first,
            "call @row(%in[s * 4 + 8], %line[4])\ncall @two(%line[0], %out[s * 4])\n" + move),
      HasSubstr("call of 'row': elements 36..39 of 'in', which has 36"));
  EXPECT_THAT(
      tiled(first,
            "call @row(%in[s * 4 + 4], %line[4])\ncall @two(%line[0], %out[s * 3])\n" + move),
      HasSubstr("leaves bytes of 'out' unwritten"));
  EXPECT_THAT(tiled(first, "call @row(%line[0], %in[s * 4])"),
              HasSubstr("'in' is read-only but would be written"));
  EXPECT_THAT(tiled(first, "call @row(%line[0], %line[2])"),
              HasSubstr("what it writes to 'line' is also another argument"));
  EXPECT_THAT(tiled(first, "call @row(%in[s * 4], %line)"),
              HasSubstr("an offset for each argument or for none"));
  EXPECT_THAT(tiled(first, "call @none(%in[0])"), HasSubstr("the module has no such function"));
  EXPECT_THAT(tiled(first, "store %line[0] = 1:i8"),
              HasSubstr("statements other than loops, calls and intrinsics"));
}

TEST(Verify, OverlapsOfTilesAreProven) {
  const std::string first = "call @row(%in[0], %line[0])";
  const std::string body =
      "call @row(%in[s * 4 + 4], %line[4])\ncall @two(%line[0], %out[s * 4])\n"
      "intrinsic move(write %line[0] count 4, read %line[4] count 4)";
  // Row s + 1 of the input has been read when row s of the output is written: a row is to spare.
  EXPECT_EQ(tiled(first, body, " overlaps=[0 -> 1 at 0]"), "");
  // Read again from the input, every row of the output needs the rows s and s + 1 while it is written.
  const std::string direct = "call @two(%in[s * 4], %out[s * 4])";
  EXPECT_EQ(tiled("", direct, " overlaps=[0 -> 1 at 4]"), "");
  EXPECT_THAT(
      tiled("", direct, " overlaps=[0 -> 1 at 3]"),
      HasSubstr("two writes byte 31 of the output where byte 28 of the input is still to be read"));
  EXPECT_THAT(tiled("", direct, " overlaps=[1 -> 0 at 4]"),
              HasSubstr("the input is not read or the output not written"));
  EXPECT_THAT(tiled("", direct, " overlaps=[0 -> 2 at 4]"), HasSubstr("names no two parameters"));
  EXPECT_THAT(
      kernel("") + verdict("func @f(%a: i8[4] read, %b: i8[4] write) overlaps=[0 -> 1 at 0] {\n"
                           "for i in 0..4 { store %b[i] = %a[i] }\n}\n"),
      HasSubstr("which only tiled functions have"));
}

TEST(Verify, ScalarsAreWrittenOnEveryWay) {
  const std::string unwritten = "'acc' may be read before it is written";
  const std::string use = " store %both[0] = %acc";
  EXPECT_THAT(kernel("if %in[0] > 0:i8 { store %acc = 1 }" + use), HasSubstr(unwritten));
  EXPECT_EQ(kernel("if %in[0] > 0:i8 { store %acc = 1 } else { store %acc = 2 }" + use), "");
  EXPECT_THAT(kernel("for i in 0..%both[0] { store %acc = i }" + use), HasSubstr(unwritten));
  EXPECT_EQ(kernel("for i in 0..3 { store %acc = i }" + use), "");
  EXPECT_THAT(kernel("for i in 0..3 { store %acc = %acc + i }"), HasSubstr(unwritten));
}

TEST(Verify, Types) {
  EXPECT_THAT(kernel("store %out[0] = 1"), HasSubstr("a value stored to 'out' has type i32"));
  EXPECT_THAT(kernel("store %out[1:i8] = 1:i8"), HasSubstr("an index of 'out' has type i8"));
  EXPECT_THAT(kernel("store %out[0, 0] = 1:i8"), HasSubstr("2 indices for 1 extents"));
  EXPECT_THAT(kernel("let x = 1 + 1:i8"), HasSubstr("binary operation have types i32 and i8"));
  EXPECT_THAT(kernel("let x = 1 / 0"), HasSubstr("not a positive constant"));
  EXPECT_THAT(kernel("let x = 7 % %both[0]"), HasSubstr("not a positive constant"));
  EXPECT_THAT(kernel("let x = true + false"), HasSubstr("not defined for type bool"));
  EXPECT_THAT(kernel("let x = 1:f32 << 1:f32"), HasSubstr("not defined for type f32"));
  EXPECT_THAT(kernel("let x = bool(1)"), HasSubstr("a cast to bool"));
  EXPECT_THAT(kernel("if 1 { store %acc = 1 }"), HasSubstr("the condition of an if has type i32"));
  EXPECT_THAT(kernel("let x = select(true, 1, 1:i8)"), HasSubstr("an arm of a select"));
  EXPECT_THAT(kernel("for i in 0..4:i64 { store %acc = i }"),
              HasSubstr("a loop's end has type i64"));
  EXPECT_THAT(kernel("let x = !1"), HasSubstr("the operand of a unary operation"));
}

TEST(Verify, Scopes) {
  EXPECT_THAT(kernel("for i in 0..4 { store %acc = i } store %acc = i"),
              HasSubstr("variable 'i' is used outside its scope"));
  EXPECT_THAT(kernel("vars i: i32, j: i32\nfor i in 0..4 { store %acc = j }"),
              HasSubstr("variable 'j' is used outside its scope"));
  EXPECT_THAT(kernel("vars i: i32\nfor i in 0..4 { for i in 0..4 { store %acc = i } }"),
              HasSubstr("variable 'i' is defined twice"));
  EXPECT_THAT(kernel("vars i: i8\nlet i = 3 store %acc = 1"),
              HasSubstr("variable 'i' has type i8 but holds i32"));
}

TEST(Verify, Declarations) {
  EXPECT_THAT(verdict("func @f(%a: i8[4] read, %a: i8[4] read) {}"),
              HasSubstr("two buffers or variables are called 'a'"));
  EXPECT_THAT(verdict("func @f(%int: i8[4] read) {}"), HasSubstr("reserved in C"));
  EXPECT_THAT(verdict("func @f(%a: i32[4] read align=2) {}"), HasSubstr("alignment 2"));
  EXPECT_THAT(verdict("func @f(%a: i8[65536,65536] read) {}"), HasSubstr("more elements"));
  EXPECT_THAT(verdict("constant @c: i8[4] table = x\"00\""), HasSubstr("has 1 bytes"));
  EXPECT_THAT(verdict("constant @c: i8[1] table = x\"00\"\nfunc @f() { constant %t: i8[2] = @c }"),
              HasSubstr("does not fit constant 'c'"));
  EXPECT_THAT(verdict("func @f() {}\nfunc @f() {}"), HasSubstr("the name is taken"));
  EXPECT_THAT(verdict("func @f(%a: i8[4] read) in_place=[0 -> 1] {}"),
              HasSubstr("in-place pair 0 -> 1 names no two parameters"));
  const auto no_entry = verify(*parse("module m entry=@f"));
  EXPECT_THAT(no_entry.error().to_string(), HasSubstr("the entry 'f' is not a function"));
}

std::string schedule(const std::string& body) {
  return verdict(
      "func @f(%a: i8[4] read, %b: i8[4] write) {}\n"
      "func @g(%a: i8[4] read, %b: i8[4] write) in_place=[0 -> 1] {}\n"
      "func @main(%x: i8[4] read, %y: i8[2,2] write) {\n"
      "local %t: i8[4]\nlocal %u: i8[4]\nlocal %view: i8[4,1] alias=%t\nlocal %big: i8[5]\n" +
      body + "}\n");
}

std::string aliases(const std::string& locals, const std::string& parameters = "%x: i8[8] read") {
  return verdict("func @f(%a: i8[8] read) {}\nfunc @main(" + parameters + ") {\n" + locals +
                 "\ncall @f(%x)}\n");
}

TEST(Verify, Aliases) {
  EXPECT_EQ(aliases("local %part: i8[4] alias=%all at=4\nlocal %all: i8[8]"), "");
  EXPECT_EQ(aliases("local %all: i8[16]", "%x: i8[8] read alias=%all at=8"), "");
  EXPECT_THAT(aliases("local %part: i8[4] alias=%all at=5\nlocal %all: i8[8]"),
              HasSubstr("does not lie within it: 4 bytes at 5 of 8"));
  EXPECT_THAT(aliases("local %part: i8[4] alias=%all at=2 align=4\nlocal %all: i8[8]"),
              HasSubstr("at 2, which its alignment of 4 forbids"));
  EXPECT_THAT(aliases("local %a: i8[4] alias=%b\nlocal %b: i8[4] alias=%a"),
              HasSubstr("is an alias of no buffer"));
  EXPECT_THAT(aliases("local %a: i8[4] at=4"), HasSubstr("has an offset but is no alias"));
  EXPECT_THAT(aliases("", "%x: i8[8] read alias=%y, %y: i8[8] write"),
              HasSubstr("and 'y' are parameters of the same bytes"));
  EXPECT_THAT(verdict("func @f(%a: i8[8] read) {local %b: i8[8] alias=%a\n}"),
              HasSubstr("which only schedules and stepwise functions have"));
}

TEST(Verify, StepwiseFunctions) {
  const auto device = [](const std::string& body) {
    return verdict(
        "func @f(%a: i8[8] read, %b: i8[8] write) stepwise=1 {\nlocal %t: i8[4] alias=%a at=4\n" +
        body +
        "}\nfunc @main(%x: i8[8] read, %y: i8[8] write) {\n"
        "local %u: i8[8]\nlocal %v: i8[8] alias=%u\ncall @f(%x, %u) call @f(%u, %v) call @f(%v, "
        "%y)}\n");
  };
  EXPECT_EQ(device("intrinsic n.m(read %t[0] count 4, write %b[0] count 4)"), "");
  EXPECT_THAT(device("intrinsic n.m(write %t[0] count 4)"), HasSubstr("'t' is read-only here"));
  EXPECT_THAT(device("for i in 0..2 { intrinsic n.m(write %b[i] count 1) }"),
              HasSubstr("is stepwise but not a sequence of intrinsics"));
}

TEST(Verify, Schedules) {
  EXPECT_EQ(schedule("call @f(%x, %t) call @g(%view, %t) call @f(%view, %y)"), "");
  EXPECT_THAT(schedule("call @h(%x)"), HasSubstr("the module has no such function"));
  EXPECT_THAT(schedule("call @f(%x)"), HasSubstr("has 1 arguments for 2 parameters"));
  EXPECT_THAT(schedule("call @f(%x, %big)"), HasSubstr("argument 'big' has 5 bytes of i8"));
  EXPECT_THAT(schedule("call @f(%x, %x)"), HasSubstr("argument 'x' is read-only"));
  EXPECT_THAT(schedule("call @f(%t, %y)"), HasSubstr("'t' is read before any call wrote it"));
  EXPECT_THAT(schedule("call @f(%y, %t)"), HasSubstr("'y' is read before any call wrote it"));
  EXPECT_THAT(schedule("call @f(%x, %t) call @f(%view, %t)"),
              HasSubstr("'t' is written and also passed as argument 0"));
  EXPECT_THAT(schedule("call @f(%x, %t) store %t[0] = i8(1)"),
              HasSubstr("statements other than calls"));
  EXPECT_THAT(schedule("call @main(%x, %y)"), HasSubstr("calls 'main' in a cycle"));
}

// Parts of one buffer, as tensors in an arena are: a call may read one and write another.
TEST(Verify, PartsOfOneBuffer) {
  const auto parts = [](const std::string& body) {
    return verdict(
        "func @f(%a: i8[4] read, %b: i8[4] write) {}\n"
        "func @main(%x: i8[4] read, %y: i8[4] write) {\n"
        "local %arena: i8[12]\nlocal %first: i8[4] alias=%arena\n"
        "local %second: i8[4] alias=%arena at=4\nlocal %between: i8[4] alias=%arena at=2\n" +
        body + "call @f(%second, %y)}\n");
  };
  EXPECT_EQ(parts("call @f(%x, %first) call @f(%first, %second)"), "");
  EXPECT_THAT(parts("call @f(%x, %first) call @f(%first, %between)"),
              HasSubstr("'between' is written and also passed as argument 0"));
  EXPECT_THAT(parts("call @f(%x, %second) call @f(%between, %second)"),
              HasSubstr("'second' is written and also passed as argument 0"));
}

// Branches on one flag: `e` writes it.
std::string decided(const std::string& body) {
  return verdict(
      "func @e(%a: bool[1] write) {}\n"
      "func @f(%a: i8[4] read, %b: i8[4] write) {}\n"
      "func @main(%x: i8[4] read, %y: i8[4] write) {\n"
      "local %c: bool[1]\nlocal %d: bool[1]\nlocal %t: i8[4]\n" +
      body + "}\n");
}

TEST(Verify, WhatOneBranchWroteHasAValueInTheSameBranchOfTheSameFlag) {
  const std::string first = "call @e(%c) call @e(%d) if %c[0] { call @f(%x, %t) } ";
  const auto unwritten = HasSubstr("'t' is read before any call wrote it");
  EXPECT_EQ(decided(first + "if %c[0] { call @f(%t, %y) }"), "");
  EXPECT_EQ(decided("call @e(%c) if %c[0] { } else { call @f(%x, %t) } if %c[0] { } else { call "
                    "@f(%t, %y) }"),
            "");
  EXPECT_THAT(decided(first + "if %c[0] { } else { call @f(%t, %y) }"), unwritten);
  EXPECT_THAT(decided(first + "if %d[0] { call @f(%t, %y) }"), unwritten);
  EXPECT_THAT(decided(first + "call @f(%t, %y)"), unwritten);
  EXPECT_THAT(decided(first + "call @e(%c) if %c[0] { call @f(%t, %y) }"), unwritten);
  EXPECT_THAT(decided("call @e(%c) if %c[0] { call @f(%x, %t) call @e(%c) } if %c[0] { call @f(%t, "
                      "%y) }"),
              unwritten);
  // What is learned in a branch is of no use outside of it, nor in a later iteration.
  EXPECT_THAT(
      decided("call @e(%c) call @e(%d) if %d[0] { if %c[0] { call @f(%x, %t) } } if %c[0] { "
              "call @f(%t, %y) }"),
      unwritten);
  EXPECT_THAT(decided(first + "for i in 0..2 { if %c[0] { call @f(%t, %y) } call @e(%c) }"),
              unwritten);
  EXPECT_EQ(
      decided("for i in 0..2 { call @e(%c) if %c[0] { call @f(%x, %t) } if %c[0] { call @f(%t, "
              "%y) } }"),
      "");
}

std::string in_place(const std::string& statements, const std::string& extents = "[4,3]") {
  return verdict("func @f(%a: i8[4,3] read, %b: i8" + extents + " write) in_place=[0 -> 1] {\n" +
                 statements + "}\n");
}

TEST(Verify, InPlace) {
  const std::string nest = "for i in 0..4 { for j in 0..3 { ";
  EXPECT_EQ(in_place(nest + "store %b[i, j] = %a[i, j] } }"), "");
  EXPECT_EQ(in_place(nest + "let x = %a[i, j] if x > 0:i8 { store %b[i, j] = x } "
                            "else { store %b[i, j] = -x } } }"),
            "");
  EXPECT_EQ(in_place("for i in 0..4 { let k = 3 - i for j in 0..3 { "
                     "store %b[k, j] = %a[3 - i, j] } }"),
            "");
  EXPECT_THAT(in_place(nest + "store %b[i, j] = %a[i, 2 - j] } }"), HasSubstr("different indices"));
  EXPECT_THAT(in_place(nest + "store %b[i, j] = %a[i, j] } } let x = %a[0, 0]"),
              HasSubstr("not accessed in one innermost loop"));
  EXPECT_THAT(in_place(nest + "store %b[i, j] = 1:i8 let x = %a[i, j] } }"),
              HasSubstr("loaded after the output was stored to"));
  EXPECT_THAT(in_place(nest + "for k in 0..2 { store %b[i, j] = %a[i, j] + 1:i8 } } }"),
              HasSubstr("do not tell every iteration apart"));
  EXPECT_THAT(in_place("for i in 0..2 { for j in 0..3 { store %b[i / 2, j] = %a[i / 2, j] } }"),
              HasSubstr("do not tell every iteration apart"));
  EXPECT_THAT(in_place("intrinsic k(read %a[0, 0] count 12, write %b[0, 0] count 12)"),
              HasSubstr("whose order is not known"));
  const std::string each =
      "intrinsic intarsia_each_k(read %a[0, 0] count 12, write %b[0, 0] count 12)";
  EXPECT_EQ(in_place(each), "");
  EXPECT_THAT(in_place(each + "\n" + each), HasSubstr("calls work on the same elements"));
  EXPECT_THAT(in_place("for i in 0..2 { " + each + " }"),
              HasSubstr("different iterations work on the same elements"));
  EXPECT_THAT(in_place(each + "\nlet x = %a[0, 0]"), HasSubstr("accessed beside calls"));
  EXPECT_THAT(in_place(nest + "store %b[i, j] = %a[i, j] } }\n" + each),
              HasSubstr("accessed beside calls"));
  EXPECT_THAT(in_place(nest + "store %b[j, i] = %a[i, j] } }", "[3,4]"),
              HasSubstr("extents or element sizes differ"));
}

TEST(Verify, InPlaceByRuns) {
  const auto each = [](const std::string& read, const std::string& written, int count) {
    return "intrinsic intarsia_each_k(read %a[" + read + "] count " + std::to_string(count) +
           ", write %b[" + written + "] count " + std::to_string(count) + ")\n";
  };
  const auto same = [&](const std::string& at, int count) { return each(at, at, count); };
  EXPECT_EQ(in_place("for i in 0..4 { " + same("i, 0", 3) + "}"), "");
  EXPECT_EQ(in_place("for i in 0..4 { let k = 3 - i " + same("k, 0", 3) + "}"), "");
  EXPECT_EQ(in_place("for i in 0..2 { for j in 0..2 { " + same("i * 2 + j, 0", 3) + "} }"), "");
  EXPECT_EQ(in_place("for i in 0..2 { " + same("2 * i, 0", 2) + same("2 * i, 2", 4) + "}"), "");
  EXPECT_EQ(in_place(same("1, 1", 8) + "for i in 0..2 { " + same("0, 2 - i * 2", 2) + "}"), "");
  EXPECT_EQ(in_place("for i in 1..4 { " + same("i, 0", 3) + "}\nfor j in 0..1 { " +
                     same("0, j", 3) + "}"),
            "");
  EXPECT_EQ(in_place("for i in 0..4 { if i > 1 { " + same("i, 0", 3) + "} else { " +
                     same("i, 1", 2) + "} }"),
            "");
  const auto other = HasSubstr("reads other elements than it writes");
  EXPECT_THAT(in_place(each("1, 0", "0, 0", 9)), other);
  EXPECT_THAT(in_place("for i in 0..4 { " + each("i, 0", "3 - i, 0", 3) + "}"), other);
  EXPECT_THAT(in_place("for i in 0..4 { intrinsic intarsia_each_k(read %a[i, 0] count 2, write "
                       "%b[i, 0] count 3) }"),
              other);
  EXPECT_THAT(in_place("for i in 0..4 { " + same("i, 0", 3) +
                       "intrinsic intarsia_each_l(read %a[i, 0] count 3) }"),
              other);
  EXPECT_THAT(in_place("for i in 0..4 { intrinsic intarsia_each_k(read %a[i, 0] count 1, write "
                       "%b[i, 0] count 1, write %b[i, 1] count 1) }"),
              HasSubstr("does not write one run of the output alone"));
  const auto iterations = HasSubstr("different iterations work on the same elements");
  EXPECT_THAT(in_place("for i in 0..4 { " + same("0, i", 3) + "}"), iterations);
  EXPECT_THAT(in_place("for i in 0..3 { for j in 0..2 { " + same("i, j * 3", 3) + "} }"),
              iterations);
  EXPECT_THAT(in_place("for i in 0..2 { for j in 0..2 { " + same("j, 0", 3) + "} }"), iterations);
  EXPECT_THAT(in_place("for i in 0..2 { if i > 0 { " + same("i, 0", 3) + "} else { " +
                       same("i + 1, 0", 3) + "} }"),
              iterations);
  EXPECT_THAT(in_place(same("0, 0", 4) + same("1, 0", 3)),
              HasSubstr("calls work on the same elements"));
  EXPECT_THAT(in_place("for i in 0..4 { let k = i / 2 " + same("k, 0", 3) + "}"),
              HasSubstr("no sum of multiples of loop variables"));
  EXPECT_THAT(in_place("for i in 0..2 { for j in 0..i { " + same("j, 0", 3) + "} }"),
              HasSubstr("a loop whose ends are not known"));
  EXPECT_THAT(in_place("for i in 0..2 { " + same("i, 0", 3) + same("3 - i, 0", 3) + "}"),
              HasSubstr("do not take one step after the other"));
}

// Whatever is accepted as in-place computes the same when both are one buffer.
class InPlaceGenerator {
 public:
  explicit InPlaceGenerator(uint32_t seed) : f_("f"), random_(seed) {}

  Module make() {
    in_ = f_.parameter("a", DataType::Int8, {5, 5}, Access::Read);
    out_ = f_.parameter("b", DataType::Int8, {5, 5}, Access::Write);
    f_.func().in_place = {{0, 1}};
    const Stmt body = f_.loop("i", 5, [&](Expr i) {
      return f_.loop("j", 5, [&](Expr j) {
        vars_ = {i, j};
        if (pick(4) == 0)
          return f_.loop("k", 2, [&](Expr k) {
            if (pick(2)) vars_[1] = min(j + k, int_imm(4));
            return statements();
          });
        return statements();
      });
    });
    const Stmt after = pick(5) ? nullptr : f_.store(out_, {int_imm(0), int_imm(0)}, value());
    Module module;
    module.funcs.push_back(f_.finish(seq({body, after})));
    return module;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Stmt statements() {
    fixed_ = {index(0), index(1)};
    std::vector<Stmt> list;
    for (int n = 1 + pick(2); n > 0; --n) {
      list.push_back(f_.let("x", value(), [&](Expr x) {
        return f_.store(out_, pick(6) ? fixed_ : std::vector<Expr>{index(0), index(1)},
                        x + value());
      }));
    }
    return seq(list);
  }

  Expr index(size_t d) {
    const Expr& v = vars_[pick(8) ? d : 1 - d];
    return pick(4) ? v : pick(2) ? int_imm(4) - v : pick(2) ? int_imm(2) : max(v, int_imm(1));
  }

  Expr value() {
    if (pick(3) == 0) return int_imm(pick(9), DataType::Int8);
    if (vars_.empty() || fixed_.empty()) return f_.load(in_, {int_imm(0), int_imm(1)});
    return f_.load(in_, pick(6) ? fixed_ : std::vector<Expr>{index(0), index(1)});
  }

  FuncBuilder f_;
  std::mt19937 random_;
  BufferId in_, out_;
  std::vector<Expr> vars_, fixed_;
};

TEST(Verify, InPlaceFunctionsMayShareTheirBuffer) {
  int accepted = 0;
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    const Module module = InPlaceGenerator(seed).make();
    if (!verify(module).ok()) continue;
    ++accepted;
    std::vector<uint8_t> input(25), output(25);
    std::mt19937 random(seed);
    for (size_t i = 0; i < 25; ++i) output[i] = input[i] = static_cast<uint8_t>(random());
    std::vector<uint8_t> shared = input;
    intarsia::testing::TirInterpreter interpreter(module);
    ASSERT_TRUE(interpreter.run("f", {input, output}).ok());
    ASSERT_TRUE(interpreter.run("f", {shared, shared}).ok());
    ASSERT_EQ(output, shared) << print(module);
  }
  EXPECT_GT(accepted, 300);
}

// The same of calls that work on runs.
class RunGenerator {
 public:
  explicit RunGenerator(uint32_t seed) : f_("f"), random_(seed) {}

  Module make() {
    in_ = f_.parameter("a", DataType::Int8, {kElements}, Access::Read);
    out_ = f_.parameter("b", DataType::Int8, {kElements}, Access::Write);
    f_.func().in_place = {{0, 1}};
    const Stmt body = statement(int_imm(pick(3)), 0);
    Module module;
    module.funcs.push_back(f_.finish(pick(3) ? body : seq({body, statement(int_imm(pick(9)), 1)})));
    return module;
  }

 private:
  static constexpr int64_t kElements = 40;
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Stmt statement(const Expr& at, int depth) {
    if (depth < 2 && pick(4) != 0)
      return f_.loop("i", 1 + pick(3), [&](const Expr& i) {
        const Expr further = at + i * (pick(4) ? int64_t{1 + pick(10)} : int64_t{-pick(3)});
        return pick(2) ? statement(further, depth + 1)
                       : seq({statement(further, depth + 1), call(at + i * 12 + pick(8))});
      });
    return call(at);
  }

  Stmt call(const Expr& at) {
    const int64_t count = 1 + pick(6);
    const Expr from = pick(8) ? at : at + 1;
    return intrinsic("intarsia_each_k", {BufferRun{in_, {from}, count, Access::Read},
                                         BufferRun{out_, {at}, count, Access::Write}});
  }

  FuncBuilder f_;
  std::mt19937 random_;
  BufferId in_, out_;
};

TEST(Verify, InPlaceCallsMayShareTheirBuffer) {
  int accepted = 0;
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    const Module module = RunGenerator(seed).make();
    if (!verify(module).ok()) continue;
    ++accepted;
    constexpr size_t kElements = 40;
    std::vector<uint8_t> input(kElements), output(kElements);
    std::mt19937 random(seed);
    for (size_t i = 0; i < kElements; ++i) output[i] = input[i] = static_cast<uint8_t>(random());
    std::vector<uint8_t> shared = input;
    intarsia::testing::TirInterpreter interpreter(module);
    interpreter.define_intrinsic(
        "intarsia_each_k", [](std::vector<intarsia::testing::Operand>& operands) {
          for (size_t i = 0; i < operands[1].bytes.size(); ++i)
            operands[1].bytes[i] = static_cast<uint8_t>(operands[0].bytes[i] * 3 + 1);
        });
    ASSERT_TRUE(interpreter.run("f", {input, output}).ok());
    ASSERT_TRUE(interpreter.run("f", {shared, shared}).ok());
    ASSERT_EQ(output, shared) << print(module);
  }
  EXPECT_GT(accepted, 300);
}

}  // namespace
}  // namespace intarsia::tir
