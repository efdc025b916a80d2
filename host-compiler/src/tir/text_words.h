// Words of the text form, shared by printer and parser.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

// Binary operations that are written between their operands, with how tightly they bind: larger is
// tighter; all associate to the left. And, Or of bool are "&&", "||".
struct InfixText {
  BinaryOp op;
  bool of_bools;  // only And and Or have two texts
  std::string_view text;
  int precedence;
};

inline constexpr int kUnaryPrecedence = 20;

inline constexpr std::array<InfixText, 18> kInfix = {{
    {BinaryOp::Or, true, "||", 1},
    {BinaryOp::And, true, "&&", 2},
    {BinaryOp::Or, false, "|", 3},
    {BinaryOp::Xor, false, "^", 4},
    {BinaryOp::And, false, "&", 5},
    {BinaryOp::Eq, false, "==", 6},
    {BinaryOp::Ne, false, "!=", 6},
    {BinaryOp::Lt, false, "<", 7},
    {BinaryOp::Le, false, "<=", 7},
    {BinaryOp::Gt, false, ">", 7},
    {BinaryOp::Ge, false, ">=", 7},
    {BinaryOp::Shl, false, "<<", 8},
    {BinaryOp::Shr, false, ">>", 8},
    {BinaryOp::Add, false, "+", 9},
    {BinaryOp::Sub, false, "-", 9},
    {BinaryOp::Mul, false, "*", 10},
    {BinaryOp::Div, false, "/", 10},
    {BinaryOp::Mod, false, "%", 10},
}};

inline constexpr std::string_view kAccessText[] = {"read", "write", "readwrite"};  // by Access
inline constexpr std::string_view kUseText[] = {"weights", "table", "stream"};     // by ConstantUse
inline constexpr std::string_view kScopeText[] = {"parameter", "constant", "local", "register"};

// "iy0 + ky", "%input[0, iy0 + ky, c]": with the names of the function.
std::string print(const Func& func, const Expr& expr);
std::string print_access(const Func& func, BufferId buffer, const std::vector<Expr>& indices);
std::string print(const Func& func, const BufferRun& run);

int32_t natural_alignment(DataType type);  // of one element

// Variables in the order in which the text defines them.
std::vector<VarId> definition_order(const Func& func);

}  // namespace intarsia::tir
