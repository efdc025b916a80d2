// Statements of the tensor IR as C11 statements.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/c_expr.h"
#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/c_writer.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/plugin/unique_names.h"

namespace intarsia::emission {

// Where the emitted function declares the local variable that is a Register buffer.
struct RegisterDeclaration {
  bool used = false;
  bool loaded = false;                         // other than to store it again; or passed on
  const tir::StmtNode* first_store = nullptr;  // declared there, initialised; null: at the top
  int stores = 0;                              // 1 makes it const
};

// By BufferId; entries of other scopes are unused.
std::vector<RegisterDeclaration> place_registers(const tir::Func& func, const tir::Stmt& body);

// A name that no other thing in the function has.
class FreshNames {
 public:
  explicit FreshNames(UniqueNames taken) : taken_(std::move(taken)) {}
  std::string make(const std::string& wanted);

 private:
  UniqueNames taken_;
};

class StmtEmitter {
 public:
  StmtEmitter(const tir::Func& func, const Names& names,
              const std::vector<RegisterDeclaration>& registers, FreshNames& fresh,
              const CFunctionOptions& options, CWriter& out)
      : func_(func),
        names_(names),
        expr_(func, names),
        registers_(registers),
        fresh_(fresh),
        options_(options),
        out_(out) {}

  void emit(const tir::Stmt& stmt);

 private:
  void emit(const tir::StmtNode& at, const tir::Seq& node);
  void emit(const tir::StmtNode& at, const tir::For& node);
  void emit(const tir::StmtNode& at, const tir::If& node);
  void emit(const tir::StmtNode& at, const tir::Let& node);
  void emit(const tir::StmtNode& at, const tir::Store& node);
  void emit(const tir::StmtNode& at, const tir::Call& node);
  void emit(const tir::StmtNode& at, const tir::Intrinsic& node);
  // "+=" or "-=" with the other operand, when the store adds to the element itself.
  bool emit_compound(const tir::Store& node, const std::string& element);

  const tir::Func& func_;
  const Names& names_;
  ExprEmitter expr_;
  const std::vector<RegisterDeclaration>& registers_;
  // Declares the constant struct of an intrinsic; the argument that stands for it.
  std::string constant_struct(const tir::Intrinsic& node, const ConstantStruct& declared);

  FreshNames& fresh_;
  const CFunctionOptions& options_;
  CWriter& out_;
};

}  // namespace intarsia::emission
