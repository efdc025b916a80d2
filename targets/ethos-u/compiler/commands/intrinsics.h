// The NPU's intrinsics in TIR: "ethos_u.conv", ".depthwise", ".pool", ".elementwise", ".dma". Operands
// come in pairs that begin with the code of a command of isa/commands.def:
//   BASE code, buffer run    what lies there; region and address are known when memory is planned
//   SET code, value          a register's value (commands.h: with_payload)
//   OP code, parameter       last: the operation
// A destination of DMA among the operands of an operation is memory that a later transfer may already
// write. A feature map's run is all that it may touch; the bases of its tiles are values from there on.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::ethos_u {

struct MemoryOperand {
  uint32_t base = 0;  // code of the BASE command: IFM_BASE0, WEIGHT_BASE, DMA0_SRC ...
  tir::BufferRun run;
};
// In place of the base of a tile that is not used.
inline constexpr int64_t kNoTile = -1;

struct RegisterValue {
  uint32_t code = 0;
  int64_t value = 0;
  bool operator==(const RegisterValue&) const = default;
};

// One operation or transfer with everything that it depends on.
struct Intrinsic {
  std::vector<MemoryOperand> memory;
  std::vector<RegisterValue> registers;
  uint32_t operation = 0;  // code
  uint32_t parameter = 0;
};

// The statements of one function. Few of its numbers are there once, and nodes are never changed: they are shared.
class Statements {
 public:
  tir::Stmt of(const Intrinsic& intrinsic, std::string comment);

 private:
  const tir::Expr& number(int64_t value);

  std::unordered_map<int64_t, tir::Expr> numbers_;
};
// The inverse; `statement` is one of ours (checked).
Intrinsic from_statement(const tir::Stmt& statement);

}  // namespace intarsia::targets::ethos_u
