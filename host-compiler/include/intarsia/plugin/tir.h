// The tensor IR: loops, buffers, loads and stores, and target intrinsics.
//
// Semantics. A Module holds Funcs (a name is a GlobalVar) and the constants they read. A Func has a
// table of Buffers; its parameters are the first of them, in order. Statements run in order.
//  * Integer arithmetic is two's complement of the expression's type; i32 and i64 must not overflow
//    (C's signed overflow is undefined; lowering chooses a type that is wide enough). Operands of a
//    Binary have one type; comparisons give bool. Casts are explicit; a narrowing cast keeps the
//    low bits, one from f32 rounds toward zero. Div and Mod of integers round toward zero as in C
//    and need a positive constant divisor. Shr of a signed value is arithmetic. And, Or of bool
//    evaluate their right side only when it decides, Select only the arm it chooses.
//  * A Load or Store names one index per extent of the buffer, each of type i32, zero-based; a
//    buffer of rank 0 is a scalar (`Scope::Register`: a local variable of the emitted function).
//  * For runs var over lo <= var < hi, ascending, step 1; no iteration when hi <= lo. Both bounds
//    are evaluated once, before the first iteration.
//  * What a Write parameter, a Local or a Register holds at first is not defined.
//  * ExprCall names a pure scalar function of the C helper library (device-runtime/kernels).
//  * Intrinsic is an operation with buffer operands: a helper that works on a contiguous run of
//    elements, or a command of an accelerator. Its operands say what it reads and writes, which is
//    all that the planner and the verifier know of it.
//  * Two different buffers never overlap, except an `alias` and its root, a parameter pair that
//    the function declares as in-place, and parameters of a stepwise function that its caller lets
//    overlap: such a function is commands on bytes, run one after another.
//  * A Call hands over whole buffers, except in a tiled function: there the callee sees the
//    elements of an argument from an offset on, as many as its parameter has.
//
// A schedule function's body is Calls in Seqs, in Ifs whose condition is the only element of a bool
// buffer, and in Fors with constant bounds whose variable nobody reads; the module after lowering has
// one schedule, the entry, whose local buffers are what the planner places. A tiled function runs
// several operators alternately, some rows of each: loops with constant bounds over calls of kernels. Every
// other Func is a kernel. To a schedule a tiled function is a function like any other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "intarsia/graph/data_type.h"
#include "intarsia/graph/shared_bytes.h"
#include "intarsia/result.h"

namespace intarsia::tir {

using BufferId = Handle<struct BufferTag>;  // index into Func::buffers
using VarId = Handle<struct VarTag>;        // index into Func::vars

// ---- expressions ---------------------------------------------------------------------------------

struct ExprNode;
// A tree that expressions share; never null where one is asked for.
using Expr = std::shared_ptr<const ExprNode>;

// What is done to one operand.
enum class UnaryOp : uint8_t { Neg, Not };  // Not: of bool
// What is done to two operands of one type; comparisons give bool.
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Min,
  Max,
  And,
  Or,
  Xor,
  Shl,
  Shr,  // And, Or also of bool
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
};

// An integer of the node's type.
struct IntImm {
  int64_t value;
};
// A number of type Float32.
struct FloatImm {
  float value;
};
// The value of a variable.
struct VarRef {
  VarId var;
};
// An element of a buffer, an index for each of its extents.
struct Load {
  BufferId buffer;
  std::vector<Expr> indices;
};
// Of the operand's type.
struct Unary {
  UnaryOp op;
  Expr operand;
};
struct Binary {
  BinaryOp op;
  Expr lhs, rhs;
};
// The operand as the type of the node.
struct Cast {
  Expr operand;
};
// One of two values of one type.
struct Select {
  Expr condition, if_true, if_false;
};
// A C function of values.
struct ExprCall {
  std::string function;  // "intarsia_requantize"
  std::vector<Expr> arguments;
};

// Immutable, shared. `type` is the type of the value.
struct ExprNode {
  DataType type;
  std::variant<IntImm, FloatImm, VarRef, Load, Unary, Binary, Cast, Select, ExprCall> node;
};

// ---- statements ----------------------------------------------------------------------------------

struct StmtNode;
// A tree that statements share; null stands for none where that is said.
using Stmt = std::shared_ptr<const StmtNode>;

// How a statement or a parameter uses a buffer.
enum class Access : uint8_t { Read, Write, ReadWrite };

// `count` consecutive elements (row-major) of a buffer from the element at `start`.
struct BufferRun {
  BufferId buffer;
  std::vector<Expr> start;
  int64_t count;
  Access access;
};

// One after another.
struct Seq {
  std::vector<Stmt> statements;
};
// For each value of the variable from `lo` to `hi` - 1, rising.
struct For {
  VarId var;
  Expr lo, hi;
  Stmt body;
};
// One of two statements.
struct If {
  Expr condition;
  Stmt then_body, else_body;  // else_body may be null
};
struct Let {  // the variable keeps its value in `body`
  VarId var;
  Expr value;
  Stmt body;
};
// Writes an element of a buffer, an index for each of its extents.
struct Store {
  BufferId buffer;
  std::vector<Expr> indices;
  Expr value;
};
struct Call {                       // only in a schedule or a tiled function
  std::string function;             // GlobalVar
  std::vector<BufferId> arguments;  // one per parameter of the callee
  // Of tiled functions: the first element that the callee sees, per argument; empty: all are 0.
  std::vector<Expr> offsets = {};
};
// A C function, or a command of an accelerator, that reads and writes runs of buffers.
struct Intrinsic {
  std::string name;  // "intarsia_softmax_s8", "my_npu.add"
  std::vector<std::variant<BufferRun, Expr>> operands;
};

// A statement. Immutable, shared.
struct StmtNode {
  std::variant<Seq, For, If, Let, Store, Call, Intrinsic> node;
  std::string comment;  // printed above the statement in text and C; one line; may be empty
};

// ---- functions -----------------------------------------------------------------------------------

// Where a buffer's bytes are.
enum class Scope : uint8_t {
  Parameter,  // memory of the caller
  Constant,   // the module's constant `constant`
  Local,  // needs memory while the function runs: a planned buffer of a schedule, scratch of a kernel
  Register,  // a scalar or a handful of elements; the emitted function's own variables (stack)
};

// Memory that a function works on, or has the use of.
struct Buffer {
  std::string name;  // a C identifier, unique in the function
  DataType type = DataType::Int8;
  Shape extents;
  Scope scope = Scope::Local;
  ConstantId constant;  // Scope::Constant only
  // The bytes of another buffer of the function from `alias_offset` on: a reshape, a slice, a tensor
  // at its place in an arena. Only of schedules (where parameters may have one as well, whose root is
  // a local buffer) and of stepwise functions.
  BufferId alias;
  int32_t alignment = 1;     // bytes; a power of two; at least the element's size
  int64_t alias_offset = 0;  // bytes
  // The memory pool it should be in; the planner takes another one that its users reach when there is
  // no such pool or no room. Empty: the fastest.
  std::string memory;
  // State, of schedules only: a local buffer that keeps its bytes from one run to the next; every
  // element is this number at first and after a reset, or has its value in this constant.
  std::optional<int64_t> initial = {};
  ConstantId initial_values = {};

  // Of all elements, densely packed.
  int64_t bytes() const { return byte_size(type, extents); }
  bool operator==(const Buffer&) const = default;
};

// A variable: of a loop, or a value that was given a name.
struct Var {
  std::string name;  // a C identifier, unique in the function
  DataType type = DataType::Int32;
  bool operator==(const Var&) const = default;
};

// What a function does with a buffer of its caller.
struct Parameter {
  Access access = Access::Read;
  bool operator==(const Parameter&) const = default;
};

// Output parameter `output` may be the same bytes as input parameter `input`: every element is read
// for the last time before the element at its place is written. Proven by `verify`.
struct InPlace {
  int32_t input, output;
  bool operator==(const InPlace&) const = default;
};

// Output parameter `output` may share bytes with input parameter `input` if it begins `distance` >= 0
// bytes before it, or earlier still: whatever is written then, the input's bytes at its place were read
// for the last time. Of tiled functions; proven by `verify`.
struct Overlap {
  int32_t input, output;
  int64_t distance = 0;
  bool operator==(const Overlap&) const = default;
};

// A kernel, a tiled function, a program of an accelerator, or the schedule, which calls the others.
struct Func {
  std::string name;                   // GlobalVar; a C identifier
  std::string target;                 // device of the composite target; empty: the host
  std::string origin;                 // for people: "conv_3: conv2d i8[1,49,10,1] -> i8[1,25,5,64]"
  std::vector<Parameter> parameters;  // of buffers 0 .. parameters.size()-1
  std::vector<Buffer> buffers;
  std::vector<Var> vars;
  std::vector<InPlace> in_place;
  std::vector<Overlap> overlaps;
  // A program of an accelerator: the body is a sequence of intrinsics, and each is a step of the
  // memory plan, so that a parameter needs its bytes only from the first to the last that mentions it.
  bool stepwise = false;
  bool tiled = false;  // see the top of the file
  Stmt body;
  int64_t macs = 0;  // for reports
  // Which operator of the model this function came from, by Node::name; empty for the schedule.
  std::string node;

  // The buffer of a valid id.
  const Buffer& buffer(BufferId id) const { return buffers.at(id.at()); }
  // The variable of a valid id.
  const Var& var(VarId id) const { return vars.at(id.at()); }
};

// The buffer whose bytes `id` names, and where in it. The aliases are sound (verify).
struct AliasRoot {
  BufferId buffer;
  int64_t offset = 0;
};
// `id` itself where it is no alias.
AliasRoot alias_root(const Func& func, BufferId id);

// Whether the body is nothing but a sequence of intrinsics, which `stepwise` asks for.
bool is_intrinsics_only(const Func& func);

// What a constant is for: weights are counted apart from tables in reports.
enum class ConstantUse : uint8_t { Weights, Table, Stream };

// Values that are known when a model is compiled.
struct Constant {
  std::string name;  // a C identifier, unique in the module
  DataType type = DataType::Int8;
  Shape extents;
  SharedBytes bytes;  // little-endian, dense
  ConstantUse use = ConstantUse::Weights;
  bool operator==(const Constant&) const = default;
};

// The functions and constants of a program.
struct Module {
  std::string name;  // a C identifier: prefix of every emitted symbol
  std::vector<Func> funcs;
  std::vector<Constant> constants;
  std::string entry;  // GlobalVar of the schedule; empty in a module that a target returns in parts

  // The constant of a valid id.
  const Constant& constant(ConstantId id) const { return constants.at(id.at()); }
  const Func* find(std::string_view func) const;  // null when absent
  const Func& entry_func() const;                 // checked to exist
};

// What the GraphToTir hook returns: the functions that implement one graph function, and which of
// them is called with its inputs followed by its outputs. Constants are the module's own; names need
// to be unique only within the module, the compiler resolves conflicts when it merges.
struct LoweredFunction {
  Module module;
  std::string entry;
};

// Structural equality of everything, expressions included.
bool equal(const Module& a, const Module& b);

// Text form. `parse(print(m))` equals m for every verified module.
std::string print(const Module& module);
std::string print(const Func& func);
// Fails with the line and what was expected there; what is read is not verified yet.
Result<Module> parse(std::string_view text, std::string_view file = "text");

// Types, scopes, single definition of variables before use, calls that match their callee, and a
// proof for every Load, Store and BufferRun that it stays inside its buffer, and for every InPlace
// that it is legal. What cannot be proven is refused, with the access and the reason.
Result<void> verify(const Module& module);

}  // namespace intarsia::tir
