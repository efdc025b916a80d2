// A function of the tensor IR made ready to be executed: names are slots, indices are one number, and loops whose
// iterations are computed side by side are marked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/lane_course.h"
#include "engine/library_functions.h"
#include "engine/value.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::engine {

struct ExprCode {
  enum class Kind : uint8_t { Number, Slot, Load, Negate, Not, Binary, Cast, Select, Call };
  Kind kind = Kind::Number;
  tir::BinaryOp op = tir::BinaryOp::Add;
  DataType type = DataType::Int32;
  DataType operand_type = DataType::Int32;  // of Binary and Cast
  Course course;                            // in a loop of lanes
  int32_t slot = 0;                         // of Slot; of Load: the buffer
  Value number = {};
  const ScalarFunction* function = nullptr;
  std::vector<ExprCode> operands;  // of Load: the element's number
};

struct FunctionCode;

struct AddressCode {
  int32_t buffer = 0;
  ExprCode element;
  int32_t bits = 8;  // of an element
};

struct StmtCode {
  enum class Kind : uint8_t {
    Sequence,
    Loop,
    LaneLoop,
    Branch,
    Assign,    // a slot: of a variable or of a register
    Reduce,    // a register by all lanes
    Store,     // an element in memory
    Function,  // another function, of a tiled one
    Kernel,
  };
  Kind kind = Kind::Sequence;
  tir::BinaryOp op = tir::BinaryOp::Add;  // of Reduce
  DataType type = DataType::Int32;        // of Assign, Reduce and Store
  int32_t slot = 0;                       // of Loop, LaneLoop, Assign, Reduce; of Store: the buffer
  bool by_lane = false;                   // of Assign: each lane has a value of its own
  // Loop: from, to. Branch: condition. Assign, Reduce: the value. Store: element, value. Kernel: its numbers.
  std::vector<ExprCode> exprs;
  std::vector<StmtCode> inner;
  std::vector<AddressCode> addresses;  // of Function and Kernel
  const FunctionCode* function = nullptr;
  KernelFunction kernel;
};

struct FunctionCode {
  std::string name;
  int32_t slots = 0;    // variables, then plain registers
  int32_t buffers = 0;  // those of the function, in its order
  // Buffers that are not given by the caller.
  struct Own {
    int32_t buffer = 0;
    int64_t bytes = 0;
  };
  std::vector<Own> own;
  struct Constant {
    int32_t buffer = 0;
    const uint8_t* bytes = nullptr;
  };
  std::vector<Constant> constants;
  int32_t parameters = 0;
  StmtCode body;
};

}  // namespace intarsia::engine
