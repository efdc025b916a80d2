// The body of one function of the tensor IR as text of LLVM's IR.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "ir_text.h"

namespace intarsia::targets::llvm {

// Functions that a module calls and does not define: name -> "i32 (i32, i32)" as a declaration writes it.
using Declarations = std::map<std::string, std::string>;

// What all functions of a module share.
struct ModuleIr {
  const tir::Module& module;
  IrDialect dialect;
  std::string prefix;  // of symbols: "kws_"
  Declarations helpers = {};
  const char* kernel_linkage = "internal";  // "hidden" where C calls the kernels
};

std::string constant_symbol(const ModuleIr& shared, ConstantId id);

// Writes statements. Every buffer has an address first, a value of type i8* that is known in all blocks.
class FunctionIr {
 public:
  FunctionIr(ModuleIr& shared, const tir::Func& func, IrWriter& out)
      : shared_(shared),
        func_(func),
        out_(out),
        bytes_(func.buffers.size()),
        elements_(func.buffers.size()),
        vars_(func.vars.size()) {}

  // Addresses of what is the function's own: constants and registers.
  void place_own_buffers();
  void place(tir::BufferId buffer, const std::string& address);
  void emit(const tir::Stmt& stmt);

 private:
  std::string value(const tir::Expr& expr);
  std::string value(const tir::IntImm& node, DataType type);
  std::string value(const tir::FloatImm& node, DataType type);
  std::string value(const tir::VarRef& node, DataType type);
  std::string value(const tir::Load& node, DataType type);
  std::string value(const tir::Unary& node, DataType type);
  std::string value(const tir::Binary& node, DataType type);
  std::string value(const tir::Cast& node, DataType type);
  std::string value(const tir::Select& node, DataType type);
  std::string value(const tir::ExprCall& node, DataType type);
  std::string logical(const tir::Binary& node);
  std::string comparison(const tir::Binary& node);
  std::string least_or_greatest(const tir::Binary& node, DataType type);
  // One of two values, of which the other is not computed.
  std::string branch_value(const std::string& condition, const std::string& type,
                           const tir::Expr* if_true, const tir::Expr* if_false,
                           const std::string& otherwise);
  std::string converted(const std::string& operand, DataType from, DataType to);
  // "i32 %v4": as C hands it to a helper, which takes nothing narrower than 32 bits.
  std::string helper_argument(const tir::Expr& expr);

  std::string element_address(tir::BufferId buffer, const std::vector<tir::Expr>& indices);
  std::string offset_address(tir::BufferId buffer, const tir::Expr& element);
  std::string byte_address(tir::BufferId buffer, const tir::Expr& element);

  void emit(const tir::Seq& node);
  void emit(const tir::For& node);
  void emit(const tir::If& node);
  void emit(const tir::Let& node);
  void emit(const tir::Store& node);
  void emit(const tir::Call& node);
  void emit(const tir::Intrinsic& node);

  ModuleIr& shared_;
  const tir::Func& func_;
  IrWriter& out_;
  std::vector<std::string> bytes_, elements_;  // by BufferId: the address as i8*, and of its type
  std::vector<std::string> vars_;              // by VarId
};

// "define internal void @kws_conv_3(...) {...}". Refuses what has no such form.
Result<std::string> kernel_text(ModuleIr& shared, const tir::Func& func);

}  // namespace intarsia::targets::llvm
