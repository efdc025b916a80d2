// Text of LLVM's IR: types, numbers, names of values and of blocks.
#pragma once

#include <string>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::llvm {

// What the text depends on beside the model.
struct IrDialect {
  bool typed_pointers = false;  // LLVM 14 and before: "i8*"; after it "ptr"
  int pointer_bits = 64;
  bool runs_here = false;  // also has what the engine calls (isa/native_names.h)
  int vector_bits = 0;     // of a register of several numbers; 0: there is none
  bool permutes = false;   // whether elements of such a register change places at once
  int pair_bits =
      0;  // of the widest products of 16-bit numbers whose neighbours are added (x86); 0: none
};

std::string value_type(DataType type);   // "i32"; of a bool "i1"
std::string memory_type(DataType type);  // "i32"; of a bool "i8"
std::string pointer_type(const IrDialect& dialect, const std::string& to);
inline std::string byte_pointer(const IrDialect& dialect) {
  return pointer_type(dialect, "i8");
}
std::string float_literal(float value);
std::string int_literal(DataType type, int64_t value);
// "<8 x i16>"
std::string vector_type(size_t lanes, const std::string& element);
// LLVM's name for the sums of neighbouring products of so many 16-bit numbers.
std::string pair_products(size_t lanes);
// Bytes of one element in memory.
int element_bytes(DataType type);

// A function's text, with numbers for its values and blocks.
class IrWriter {
 public:
  // "%12", defined as what follows.
  std::string define(const std::string& instruction);
  void line(const std::string& instruction);
  std::string fresh_label() { return "b" + std::to_string(next_label_++); }
  // The block that begins here; every block before it has ended.
  void begin_block(const std::string& label);
  const std::string& block() const { return block_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_, block_ = "entry";
  int next_value_ = 0, next_label_ = 0;
};

}  // namespace intarsia::targets::llvm
