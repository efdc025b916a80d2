// The body of one function of the tensor IR as text of LLVM's IR.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "ir_text.h"
#include "vector_sums.h"

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

// "add nsw", of values of one type; not of comparisons, minima and maxima.
std::string instruction_of(tir::BinaryOp op, DataType type);

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

  // Loops of the body that are written over vectors, where the machine has them: before buffers get their places.
  void find_vector_sums(const tir::Stmt& body);
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

  // Registers whose sums are one vector lie side by side.
  void place_vector_sums();
  // Whether it is such a loop, which is written.
  bool emit_vector_sums(const tir::For& node);
  LaneOrder order_of(const VectorSums& found, const tir::For& node) const;
  std::string summing_loop(const tir::For& node, int step, const std::string& type,
                           const std::string& start, std::string& variable,
                           const std::function<std::string()>& term, const std::string& add);
  std::string terms_value(const VectorSums& found, const LaneOrder& order);
  // As vectors of elements of this type, which may be narrower: the low bits.
  std::string vector_value(const Lanes& lanes, const LaneOrder& order, DataType as);
  std::string elements(const ElementLanes& run, DataType type, const LaneOrder& order);
  std::string converted_lanes(const std::string& vector, DataType from, DataType to, size_t lanes);
  std::string shuffled(const std::string& vector, const std::string& type,
                       const std::vector<int>& mask);

  ModuleIr& shared_;
  const tir::Func& func_;
  IrWriter& out_;
  std::vector<std::string> bytes_, elements_;  // by BufferId: the address as i8*, and of its type
  std::vector<std::string> vars_;              // by VarId
  std::map<const tir::For*, VectorSums> vector_sums_;
  std::map<size_t, std::string> vectors_;  // by the BufferId of its first sum: its address
};

// "define internal void @kws_conv_3(...) {...}". Refuses what has no such form.
Result<std::string> kernel_text(ModuleIr& shared, const tir::Func& func);

}  // namespace intarsia::targets::llvm
