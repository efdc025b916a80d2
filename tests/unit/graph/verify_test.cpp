// Every promise of the semantics page, broken once.
#include <gtest/gtest.h>

#include "graph_testing.h"

namespace intarsia::graph {
namespace {

TEST(Verify, AcceptsASoundModule) {
  EXPECT_EQ(complaints(with_main(R"((%0) -> (%3) {
  %0 x: i8[1,4,4,1] q(0.5:-3)
  %1 w: i8[2,1,1,1] q(axis=0; 0.1, 0.2) = @0
  %2 b: i32[2] = @1
  %3 y: i8[1,4,4,2] q(0.25)
  conv2d c(%0, %1, %2) -> (%3)
})",
                                 "const @0 w = i8[1, 2] const @1 b = i32[3, 4]")),
            "");
}

TEST(Verify, Order) {
  EXPECT_EQ(complaints(with_main(R"((%0) -> (%2) {
  %0 x: f32[2]
  %1 m: f32[2]
  %2 y: f32[2]
  relu late(%1) -> (%2)
  relu early(%0) -> (%1)
})")),
            "function 'main': operator 'late' (relu): reads tensor %1 before it is made; move "
            "operator 'early', which "
            "makes it, before this one, unless it waits for this one in turn\n");
  EXPECT_EQ(complaints(with_main(
                "(%0) -> (%2) { %0 x: f32[2] %1 m: f32[2] %2 y: f32[2] add a(%0, %1) -> (%2) }")),
            "function 'main': operator 'a' (add): reads tensor %1 before it is made; no operator "
            "makes it; declare it "
            "an input, a constant or a variable of the function\n");
  EXPECT_EQ(complaints(with_main(R"((%0) -> (%1) {
  %0 x: f32[2]
  %1 y: f32[2]
  relu a(%0) -> (%1)
  relu b(%0) -> (%1)
  relu c(%1) -> (%0)
})")),
            "function 'main': operator 'b' (relu): writes tensor %1, which is written already\n"
            "function 'main': operator 'c' (relu): writes tensor %0, which is an input or a "
            "constant\n");
  EXPECT_EQ(complaints(with_main("(%0, %0, %5) -> (%1, %6) { %0 x: f32[2] %1 y: f32[2] }")),
            "function 'main': input 1: is tensor %0, which is a constant, a variable or an earlier "
            "input\n"
            "function 'main': input 2: is tensor %5, which does not exist\n"
            "function 'main': output 0: is tensor %1, which no operator makes\n"
            "function 'main': output 1: is tensor %6, which does not exist\n");
}

TEST(Verify, VariablesAreReadAndWrittenOnce) {
  EXPECT_EQ(complaints(with_main(R"((%0) -> (%2) {
  %0 x: f32[2]
  %1 state: f32[2] variable
  %2 y: f32[2]
  add sum(%0, %1) -> (%2)
  relu keep(%2) -> (%1)
})")),
            "");
}

TEST(Verify, Constants) {
  EXPECT_EQ(complaints(with_main("() -> (%0, %1, %2) { %0 a: i8[3] = @0 %1 b: i8[2] = @4 "
                                 "%2 c: i8[2] variable = @0 }",
                                 "const @0 k = i8[1, 2]")),
            "function 'main': tensor %0 'a': has 3 bytes, but constant @0 has 2\n"
            "function 'main': tensor %1 'b': is constant @4, which does not exist\n"
            "function 'main': tensor %2 'c': is a constant and a variable\n");
}

TEST(Verify, Quantization) {
  const auto tensor = [](std::string_view text) {
    return complaints(with_main("(%0) -> () { %0 a: " + std::string(text) + " }"));
  };
  EXPECT_EQ(tensor("i8[2] q(axis=0; 1, 2)"), "");
  EXPECT_EQ(tensor("i32[2] q(1e-5)"), "");
  const std::string place = "function 'main': tensor %0 'a': ";
  EXPECT_EQ(tensor("f32[2] q(1)"), place + "is quantised, but f32 is no integer type\n");
  EXPECT_EQ(tensor("i8[2] q(0)"), place + "has the scale 0, which is not a positive number\n");
  EXPECT_EQ(tensor("i8[2] q(-1)"), place + "has the scale -1, which is not a positive number\n");
  EXPECT_EQ(tensor("i8[2] q(inf)"), place + "has the scale inf, which is not a positive number\n");
  EXPECT_EQ(tensor("i8[2] q(nan)"), place + "has the scale nan, which is not a positive number\n");
  EXPECT_EQ(tensor("i8[2] q(1:128)"), place + "has the zero point 128, which is outside i8\n");
  EXPECT_EQ(tensor("u8[2] q(1:-1)"), place + "has the zero point -1, which is outside u8\n");
  EXPECT_EQ(tensor("i4[2] q(1:-9)"), place + "has the zero point -9, which is outside i4\n");
  EXPECT_EQ(tensor("i8[2] q(axis=1; 1, 2)"),
            place + "is quantised along axis 1, which does not exist\n");
  EXPECT_EQ(tensor("i8[3] q(axis=0; 1, 2)"), place + "has 2 scales for an extent of 3\n");
  EXPECT_EQ(tensor("i8[3] q(axis=1)"), place + "has 0 scales and 0 zero points\n");
  EXPECT_EQ(tensor("i8[1,1,1,1,1,1,1]"), place + "rank 7 is more than 6\n");
  EXPECT_EQ(tensor("i8[3,0]"), place + "extent 0 is less than 1\n");
}

TEST(Verify, NamesAndPins) {
  Module module = parsed(R"(intarsia.graph "1x"
func @a(%0) -> (%2) [target=npu, pin=cpu] {
  %0 x: f32[2]
  %1 m: f32[2]
  %2 y: f32[2]
  relu r(%0) -> (%1) [pin=cpu]
  relu r(%1) -> (%2)
}
func @a() -> () { }
func @""() -> () { }
entry @b)");
  EXPECT_EQ(
      complaints(module),
      "module '1x': the name is not a C identifier; a name is letters, digits and '_', no digit "
      "first, at most 128 characters, and no keyword, type, macro or header of C or C++\n"
      "module '1x': the entry 'b' is not one of its functions\n"
      "function 'a': operator 'r' (relu): is pinned to 'cpu' in a function of 'npu'\n"
      "function 'a': operator 'r' (relu): has the name of an earlier operator\n"
      "function 'a': is pinned to 'cpu' but belongs to 'npu'\n"
      "module '1x': two functions have the name 'a'\n"
      "module '1x': a function has no name\n");
}

constexpr std::string_view kCalled = R"(
func @half(%0) -> (%1) { %0 x: f32[2] %1 y: f32[2] relu r(%0) -> (%1) }
)";

std::string call(std::string_view body) {
  return complaints(parsed("intarsia.graph m" + std::string(kCalled) + "func @main(%0) -> () {" +
                           std::string(body) + "} entry @main"));
}

TEST(Verify, Calls) {
  const std::string place = "function 'main': operator 'c' (call): ";
  EXPECT_EQ(call("%0 x: f32[2] %1 y: f32[2] call c(%0) -> (%1) {callee=half}"), "");
  EXPECT_EQ(call("%0 x: f32[2] %1 y: f32[2] call c(%0) -> (%1) {callee=hall}"),
            place + "calls 'hall', which does not exist; did you mean 'half'?\n");
  EXPECT_EQ(
      call("%0 x: f32[2] %1 y: f32[2] call c(%0, %0) -> () {callee=half}"),
      place + "has 2 operands, but 'half' has 1\n" + place + "has 0 outputs, but 'half' has 1\n");
  EXPECT_EQ(call("%0 x: f32[2] %1 y: f32[3] call c(%0) -> (%1) {callee=half}"),
            place + "output 0 has the shape [2], but is declared as [3]\n");
  EXPECT_EQ(call("%0 x: f32[3] %1 y: f32[2] call c(%0) -> (%1) {callee=half}"),
            place + "operand 0 has the shape [3], but 'half' takes [2]\n");
  EXPECT_EQ(call("%0 x: f32[2] %1 y: i8[2] q(1) call c(%0) -> (%1) {callee=half}"),
            place + "output 0 differs from that of 'half' in type or quantisation\n");
}

TEST(Verify, Recursion) {
  const std::string text = complaints(parsed(R"(intarsia.graph m
func @a(%0) -> (%1) { %0 x: f32[2] %1 y: f32[2] call c(%0) -> (%1) {callee=b} }
func @b(%0) -> (%1) { %0 x: f32[2] %1 y: f32[2] call c(%0) -> (%1) {callee=a} }
entry @a)"));
  EXPECT_EQ(text,
            "function 'a': calls itself, directly or not; function 'b': operator 'c' (call) closes "
            "a cycle of calls; "
            "a function cannot run one that runs it\n");
}

TEST(Verify, ReportsRulesOfOperators) {
  EXPECT_EQ(complaints(with_main(R"((%0) -> (%1) {
  %0 x: f32[2]
  %1 y: f32[3]
  relu a(%0) -> (%1)
  add b(%0) -> (%1)
})")),
            "function 'main': operator 'a' (relu): output 0 has the shape [2], but is declared as "
            "[3]\n"
            "function 'main': operator 'b' (add): writes tensor %1, which is written already\n"
            "function 'main': operator 'b' (add): has 1 operands, needs 2\n");
}

}  // namespace
}  // namespace intarsia::graph
