// Runs functions of the tensor IR as its semantics say, and stops with a message at everything they
// leave undefined: an index outside its buffer, overflow of i32 or i64, a shift or a conversion out
// of range, a division by what is not positive.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::testing {

struct Scalar {
  DataType type = DataType::Int32;
  int64_t i = 0;  // integers and bool
  float f = 0;    // Float32
};

// An operand of an intrinsic: a run of elements, or a scalar when `bytes` is empty.
struct Operand {
  std::span<uint8_t> bytes;
  Scalar scalar;
};

class TirInterpreter {
 public:
  explicit TirInterpreter(const tir::Module& module) : module_(module) {}

  using ScalarFunction = std::function<Scalar(const std::vector<Scalar>&)>;
  using IntrinsicFunction = std::function<void(std::vector<Operand>&)>;
  void define(const std::string& name, ScalarFunction function);
  void define_intrinsic(const std::string& name, IntrinsicFunction function);

  // One span of exactly the parameter's bytes per parameter; an in-place pair may be one span.
  Result<void> run(const std::string& func, const std::vector<std::span<uint8_t>>& arguments);

 private:
  struct Frame {
    const tir::Func& func;
    std::vector<std::span<uint8_t>> buffers;
    std::vector<Scalar> vars;
    std::vector<std::vector<uint8_t>> owned;  // Local and Register
  };

  bool failed() const { return !failure_.empty(); }
  Scalar fail(std::string what);
  void call(const tir::Func& func, const std::vector<std::span<uint8_t>>& arguments);
  void exec(Frame& frame, const tir::Stmt& stmt);
  void exec_intrinsic(Frame& frame, const tir::Intrinsic& node);
  Scalar eval(Frame& frame, const tir::Expr& expr);
  Scalar eval_binary(Frame& frame, const tir::Binary& node, DataType type);
  Scalar convert(Scalar value, DataType type);
  // Element number of the indices, -1 on failure.
  int64_t locate(Frame& frame, tir::BufferId id, const std::vector<tir::Expr>& indices);

  const tir::Module& module_;
  std::map<std::string, ScalarFunction> scalars_;
  std::map<std::string, IntrinsicFunction> intrinsics_;
  std::string failure_;
};

// Element access in little-endian bytes, packed i4 included.
Scalar load_element(std::span<const uint8_t> bytes, DataType type, int64_t index);
void store_element(std::span<uint8_t> bytes, int64_t index, const Scalar& value);

}  // namespace intarsia::testing
